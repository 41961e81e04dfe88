//! `explain`.

use crate::support::Run;

#[test]
fn without_an_id_all_are_listed_one_a_line() {
    let ran = Run::new().run("explain");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let ids: Vec<&str> =
        lines.iter().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    let known: Vec<&str> = roce_setup::claims::ENTRIES.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, known);
    assert_eq!(lines.iter().find(|line| line.len() > 130), None);
    assert!(
        lines.contains(&"rdma.mode            The port really is in the wanted mode"),
        "{}",
        ran.stdout
    );
}

#[test]
fn an_id_is_explained() {
    let ran = Run::new().run("explain rdma.mode");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.starts_with("rdma.mode (rung mode, needs "), "{ran}");
    assert!(ran.stdout.contains("\n\nThe port really is in the wanted mode. "), "{ran}");
    assert!(ran.stdout.contains("\nusual cause: the driver was loaded in another mode\n"), "{ran}");
    assert!(ran.stdout.contains("\nusual fix:   "), "{ran}");
}

#[test]
fn a_misspelt_id_gets_the_close_ones() {
    insta::assert_snapshot!(Run::new().run("explain rdma.mod"), @r"
    exit code 2
    --- stderr
    error: there is no claim with the id `rdma.mod`
      fix: did you mean rdma.mode? `roce-setup explain` lists all ids
    ");
    insta::assert_snapshot!(Run::new().run("explain mtu"), @r"
    exit code 2
    --- stderr
    error: there is no claim with the id `mtu`
      fix: did you mean link.mtu? `roce-setup explain` lists all ids
    ");
    insta::assert_snapshot!(Run::new().run("explain xyzzy"), @r"
    exit code 2
    --- stderr
    error: there is no claim with the id `xyzzy`
      fix: `roce-setup explain` lists all ids
    ");
}

#[test]
fn json_has_the_same_as_data() {
    let ran = Run::new().run("explain rdma.mode --output json");
    let json = ran.json();
    assert_eq!(json.as_array().map(Vec::len), Some(1));
    assert_eq!(json[0]["id"], "rdma.mode");
    assert_eq!(json[0]["rung"], "mode");
    assert_eq!(json[0]["severity"], "error");
    let all = Run::new().run("explain --output json").json();
    assert_eq!(all.as_array().map(Vec::len), Some(roce_setup::claims::ENTRIES.len()));
}
