//! `check`, `plan`, `status` and `facts` on saved looks.

use roce_setup::facts::Facts;
use roce_setup::host::model::hosts;

use crate::support::Run;

const S1: &str = include_str!("../../profiles/s1-grt.yaml");
const MODE_ONLY: &str = include_str!("../../profiles/e810-rocev2.yaml");

#[test]
fn check_says_what_is_not_as_the_profile_says() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    insta::assert_snapshot!(run.run("check --facts host.json p.yaml"), @"");
    insta::assert_snapshot!(run.run("check --facts host.json p.yaml --quiet"), @"");
}

#[test]
fn equal_hosts_give_equal_text_whatever_their_names() {
    let text = |name: &str| {
        let mut facts = hosts::s1(1);
        facts.host = name.to_owned();
        let run = Run::on(&facts).file("p.yaml", MODE_ONLY);
        ["check", "plan"]
            .map(|command| run.run(&format!("{command} --facts host.json p.yaml")).to_string())
    };
    let texts = text("alpha");
    assert_eq!(texts, text("beta"));
    assert!(!texts.concat().contains("alpha"), "{}", texts.concat());
}

#[test]
fn check_in_json_is_one_whole_document_with_every_claim() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    let ran = run.run("check --facts host.json p.yaml --output json");
    let json = ran.json();
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(json["format"], 1);
    assert_eq!(json["command"], "check");
    assert_eq!(json["host"], "server1");
    assert_eq!(json["profile"], "s1-grt");
    assert_eq!(json["outcome"], "unmet");
    let findings = json["findings"].as_array().expect("findings");
    let mode = findings.iter().find(|one| one["id"] == "rdma.mode").expect("rdma.mode");
    assert_eq!(mode["subject"]["port"], "ens1f0");
    assert_eq!(mode["verdict"], "unmet");
    assert_eq!(mode["expected"], "rocev2");
    assert_eq!(mode["observed"], "iwarp");
    let skipped = findings.iter().find(|one| one["verdict"] == "skipped").expect("a skipped one");
    assert_eq!(skipped["needs"].as_str().map(str::is_empty), Some(false));
}

#[test]
fn plan_lists_the_changes_that_apply_would_make() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    insta::assert_snapshot!(
        run.run("plan --facts host.json p.yaml --allow-interface ens1f1"),
        @""
    );
}

#[test]
fn plan_refuses_to_hit_a_port_that_nobody_named() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    insta::assert_snapshot!(run.run("plan --facts host.json p.yaml --quiet"), @"");
    let ran = run.run("plan --facts host.json p.yaml --output json");
    let json = ran.json();
    assert_eq!((ran.code, json["outcome"].as_str()), (2, Some("refused")));
    assert_eq!(json["refusals"][0]["what"], "irdma is not reloaded");
}

#[test]
fn status_is_one_table() {
    let run = Run::on(&hosts::s1(1));
    insta::assert_snapshot!(run.run("status --facts host.json"), @"");
    let json = run.run("status --facts host.json --output json").json();
    let rows = json.as_array().expect("rows");
    let row = rows.iter().find(|row| row["netdev"] == "ens1f0").expect("ens1f0");
    assert_eq!(row["rdma"], "rdmap2s0f0");
    assert_eq!(row["mode"], "iwarp");
    assert_eq!(row["mtu"], 1500);
}

#[test]
fn facts_are_given_back_as_they_were_saved() {
    let facts = hosts::s1(1);
    let ran = Run::on(&facts).run("facts --facts host.json");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(Facts::from_json(ran.stdout.as_bytes(), "stdout"), Ok(facts));
}

#[test]
fn without_a_profile_a_saved_look_is_judged_by_the_general_claims() {
    insta::assert_snapshot!(Run::on(&hosts::s1(1)).run("check --facts host.json --quiet"), @"");
}

#[test]
fn colours_are_given_only_when_they_are_asked_for() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    let plain = run.run("check --facts host.json p.yaml");
    let never = run.run("check --facts host.json p.yaml --color never");
    assert_eq!(never.to_string(), plain.to_string());
    assert!(!plain.stdout.contains('\u{1b}'), "{plain}");
    let always = run.run("check --facts host.json p.yaml --color always");
    assert!(always.stdout.contains("\u{1b}["), "{always}");
}
