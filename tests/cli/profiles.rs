//! Profiles that cannot be used: always exit code 2, with the place.

use roce_setup::host::model::hosts;

use crate::support::Run;

const S1: &str = include_str!("../../profiles/s1-grt.yaml");

#[test]
fn a_profile_that_is_not_there_is_an_error_when_it_was_named() {
    let run = Run::on(&hosts::s1(1));
    insta::assert_snapshot!(run.run("check --facts host.json absent.yaml"), @r"
    exit code 2
    --- stderr
    error: cannot read the profile absent.yaml: there is no such file
    ");
    insta::assert_snapshot!(run.run("plan --facts host.json absent.yaml"), @r"
    exit code 2
    --- stderr
    error: cannot read the profile absent.yaml: there is no such file
    ");
    insta::assert_snapshot!(run.run("apply absent.yaml"), @r"
    exit code 2
    --- stderr
    error: cannot read the profile absent.yaml: there is no such file
    ");
    insta::assert_snapshot!(run.run("smoke absent.yaml"), @r"
    exit code 2
    --- stderr
    error: cannot read the profile absent.yaml: there is no such file
    ");
    insta::assert_snapshot!(run.run("serve absent.yaml"), @r"
    exit code 2
    --- stderr
    error: cannot read the profile absent.yaml: there is no such file
    ");
}

#[test]
fn a_profile_with_mistakes_is_refused_with_their_places() {
    let bad = "version: 1\nname: x\ninterfaces:\n  - name: ens1f0\n    mtuu: 4200\n";
    let run = Run::on(&hosts::s1(1)).file("bad.yaml", bad);
    insta::assert_snapshot!(run.run("check --facts host.json bad.yaml"), @r"
    exit code 2
    --- stderr
    error: bad.yaml:5:5: unknown key `mtuu` in an interface
      5 |     mtuu: 4200
        |     ^^^^
        = did you mean `mtu`?
    ");
    let ran = run.run("check --facts host.json bad.yaml --output json");
    let json = ran.json();
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""));
    assert_eq!(json["format"], 1);
    assert_eq!(json["command"], "check");
    assert_eq!(json["error"]["kind"], "profile");
    let message = json["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("bad.yaml:5:5: "), "{message}");
}

#[test]
fn a_host_that_the_profile_does_not_know_is_no_verdict() {
    let mut facts = hosts::s1(1);
    facts.host = "login".to_owned();
    let run = Run::on(&facts).file("p.yaml", S1);
    insta::assert_snapshot!(run.run("check --facts host.json p.yaml"), @r"
    exit code 2
    --- stderr
    error: the profile p.yaml is not for this host: `hosts` has server[1-2], the host's name is login; if it is one of them, say which with --host NAME
    ");
    insta::assert_snapshot!(run.run("check --facts host.json p.yaml --host server9"), @r"
    exit code 2
    --- stderr
    error: the profile p.yaml is not for this host: `hosts` has server[1-2], the host's name is server9; if it is one of them, say which with --host NAME
    ");
    let ran = run.run("check --facts host.json p.yaml --output json");
    assert_eq!(ran.json()["error"]["kind"], "host");
}

#[test]
fn the_host_may_be_named_in_full_and_in_any_case() {
    let mut facts = hosts::s1(1);
    facts.host = "login".to_owned();
    let run = Run::on(&facts).file("p.yaml", S1);
    let short = run.run("check --facts host.json p.yaml --host server1");
    assert_eq!(short.code, 1, "{short}");
    for name in ["SERVER1", "server1.cluster.example"] {
        let long = run.run(&format!("check --facts host.json p.yaml --host {name}"));
        assert_eq!(long.to_string(), short.to_string(), "{name}");
    }
}

#[test]
fn a_facts_file_that_is_none_is_an_error() {
    let run = Run::new().file("bad.json", "{\"format\": 99}").file("p.yaml", S1);
    insta::assert_snapshot!(run.run("check --facts absent.json p.yaml"), @r"
    exit code 2
    --- stderr
    error: cannot read absent.json: No such file or directory
    ");
    insta::assert_snapshot!(run.run("status --facts bad.json"), @r"
    exit code 2
    --- stderr
    error: cannot read the facts file: bad.json: facts format 99, and this program reads format 1: use the version of roce-setup that wrote the file, or a later one
    ");
    insta::assert_snapshot!(run.run("facts --facts p.yaml"), @r"
    exit code 2
    --- stderr
    error: cannot read the facts file: p.yaml:1:1: expected value
    ");
    let ran = run.run("plan --facts bad.json p.yaml --output json");
    assert_eq!((ran.code, ran.json()["error"]["kind"].as_str()), (2, Some("facts")));
}
