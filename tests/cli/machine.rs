//! On the machine that runs the tests, whatever it is: every command starts and answers.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use roce_setup::facts::Facts;

use crate::support::{Ran, Run};

const MODE_ONLY: &str = include_str!("../../profiles/e810-rocev2.yaml");

#[test]
fn facts_are_of_this_machine_and_can_be_read_back() {
    let ran = Run::new().run("facts");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let facts = Facts::from_json(ran.stdout.as_bytes(), "stdout").expect("facts");
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a host name");
    assert_eq!(facts.host, name.trim());
    let netdevs = facts.identity.netdevs.get().expect("network interfaces");
    assert!(netdevs.contains_key("lo"), "{netdevs:?}");
}

#[test]
fn a_saved_look_gives_the_same_status_as_the_machine() {
    let live = Run::new().run("status --output json");
    let facts = Run::new().run("facts");
    let saved =
        Run::new().file("host.json", &facts.stdout).run("status --facts host.json --output json");
    assert_eq!((live.code, live.json()), (0, saved.json()));
}

#[test]
fn check_finds_no_port_of_an_e810_where_there_is_none() {
    let run = Run::new().file("p.yaml", MODE_ONLY);
    let ran = run.run("check p.yaml --output json");
    let json = ran.json();
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let first = &json["findings"][0];
    assert_eq!(first["id"], "port.present");
    assert_eq!(first["verdict"], "unmet");
    assert_eq!(first["expected"], "exactly one interface");
    let others = json["findings"].as_array().expect("findings");
    let passed: Vec<_> =
        others.iter().filter(|one| one["subject"] != "host" && one["verdict"] == "met").collect();
    assert_eq!(passed, Vec::<&serde_json::Value>::new(), "nothing hangs in the air and passes");
}

#[test]
fn a_deadline_that_leaves_no_time_is_no_verdict() {
    let ran = Run::new().run("status --deadline 0.0000001");
    assert_eq!(
        ran.to_string(),
        "exit code 2\n--- stderr\n\
         error: cannot read the host: the deadline passed before the look was complete\n  \
         fix: give it more time with --deadline SECONDS\n"
    );
}

#[test]
fn without_a_peer_smoke_asks_for_one() {
    let run = Run::new().file("p.yaml", MODE_ONLY);
    assert_eq!(
        run.run("smoke p.yaml").to_string(),
        "exit code 2\n--- stderr\nerror: no peer is named\n  \
         fix: --peer ADDRESS, --loopback, or a profile with a `smoke` section\n"
    );
}

#[test]
fn smoke_tests_nothing_where_the_port_is_missing_and_does_not_pass() {
    let run = Run::new().file("p.yaml", MODE_ONLY);
    let ran = run.run("smoke p.yaml --loopback --output json");
    let json = ran.json();
    assert_eq!((ran.code, json["outcome"].as_str()), (1, Some("unmet")), "{ran}");
    assert_eq!(json["smoke"], serde_json::json!([]));
    let findings = json["findings"].as_array().expect("findings");
    let control = findings.iter().find(|one| one["id"] == "smoke.control").expect("smoke.control");
    assert_eq!(
        (&control["verdict"], &control["needs"]),
        (&"skipped".into(), &"port.present".into())
    );
    let text = run.run("smoke p.yaml --loopback --quiet").stdout;
    assert!(
        text.starts_with("nothing was tested: port.present the ice port of PCI function 0: "),
        "{text}"
    );
}

#[test]
fn serve_does_not_stand_on_a_port_that_is_not_there() {
    let run = Run::new().file("p.yaml", MODE_ONLY);
    assert_eq!(
        run.run("serve p.yaml").to_string(),
        "exit code 2\n--- stderr\nerror: cannot serve on the ice port of PCI function 0: \
         there is not exactly one such interface\n  fix: `roce-setup check` tells what is missing; \
         `roce-setup apply` sets it up\n"
    );
}

/// Runs the program as nobody: from a copy, because a folder above the build may be closed to
/// others. Another process makes the copy: a file that this one has open for writing would be open
/// in the programs that other tests start meanwhile, and could not be run (ETXTBSY).
fn as_nobody(run: &Run, arguments: &[&str]) -> Ran {
    let program = run.path().join("roce-setup");
    let built = assert_cmd::cargo::cargo_bin("roce-setup");
    let copied = Command::new("/usr/bin/install").arg("-m755").arg(built).arg(&program).status();
    assert_eq!(copied.expect("install").code(), Some(0));
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(run.path(), open).expect("permissions");
    let mut command = if nix::unistd::geteuid().is_root() {
        let mut command = Command::new("/usr/bin/setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
        command
    } else {
        Command::new(&program)
    };
    let output = command.current_dir(run.path()).env_clear().args(arguments).output();
    Ran::of(output.expect("a run"))
}

#[test]
fn without_privileges_apply_is_refused_before_anything_is_touched() {
    let run = Run::new().file("p.yaml", MODE_ONLY);
    let ran = as_nobody(&run, &["apply", "p.yaml", "--quiet"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{ran}");
    let head: Vec<&str> = ran.stdout.lines().take(3).collect();
    assert_eq!(
        head,
        [
            "refused, nothing was changed: drivers and interfaces are not changed",
            "      why       this process lacks CAP_NET_ADMIN and CAP_SYS_MODULE (/proc/self/status)",
            "      fix       run it as root: sudo roce-setup apply ...",
        ]
    );
}

#[test]
fn without_privileges_check_status_and_facts_answer() {
    let run = Run::new().file("p.yaml", MODE_ONLY);
    for (arguments, code) in [
        (vec!["check", "p.yaml", "--output", "json"], 1),
        (vec!["status", "--output", "json"], 0),
        (vec!["facts"], 0),
    ] {
        let ran = as_nobody(&run, &arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{arguments:?}");
        assert!(ran.json().is_object() || ran.json().is_array(), "{arguments:?}");
    }
}
