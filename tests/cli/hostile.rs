//! Facts files and arguments that nobody meant well: a message and exit code 2, no panic, no wait.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use roce_setup::host::model::hosts;

use crate::support::{Ran, Run};

const MODE_ONLY: &str = include_str!("../../profiles/e810-rocev2.yaml");

/// Runs the program with a pipe as standard input, which `write` fills.
fn with_stdin(run: &Run, arguments: &str, write: impl FnOnce(&mut dyn Write)) -> Ran {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("roce-setup"))
        .current_dir(run.path())
        .env_clear()
        .args(arguments.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a run");
    let mut stdin = child.stdin.take().expect("a pipe");
    write(&mut stdin);
    // The pipe stays open until the program has ended, if it ends by itself.
    let ended = Instant::now() + Duration::from_secs(3);
    while Instant::now() < ended && child.try_wait().expect("a state").is_none() {
        std::thread::sleep(Duration::from_millis(20));
        if !arguments.contains("--deadline") {
            break;
        }
    }
    drop(stdin);
    Ran::of(child.wait_with_output().expect("an end"))
}

#[test]
fn a_look_can_come_through_a_pipe() {
    let facts = hosts::s1_in_kernel();
    let run = Run::on(&facts).file("p.yaml", MODE_ONLY);
    let ran = with_stdin(&run, "check --facts - p.yaml", |pipe| {
        pipe.write_all(facts.to_json().as_bytes()).expect("written");
    });
    assert_eq!(ran.to_string(), run.run("check --facts host.json p.yaml").to_string());
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
}

#[test]
fn a_pipe_that_stays_silent_is_given_up_at_the_deadline() {
    let run = Run::new().file("p.yaml", MODE_ONLY);
    let start = Instant::now();
    let ran = with_stdin(&run, "--deadline 0.2 check --facts - p.yaml", |_| {});
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            2,
            "error: cannot read standard input: the deadline passed before the look was complete\n  \
             fix: give it more time with --deadline SECONDS\n"
        )
    );
    assert!(start.elapsed() < Duration::from_secs(3), "it waited for the writer");
}

#[test]
fn a_file_that_holds_no_look_says_where_it_goes_wrong() {
    let look = hosts::s1(1).to_json();
    let deep = format!("{{\"format\": 1, \"host\": \"a\", \"state\": {}", "[".repeat(100_000));
    for (content, expected) in [
        ("", "host.json: it is empty"),
        (&look[..look.len() / 2], "EOF while parsing"),
        (&look.replace("\"format\": 1", "\"format\": 2"), "facts format 2, and this program reads"),
        (&look.replace("\"format\": 1", "\"format\": 0"), "facts format 0, and this program reads"),
        (&look.replace("\"rnic\"", "\"cabbage\""), "unknown variant `cabbage`, expected one of"),
        (&look.replace("\"mtu\": 1500", "\"mtu\": -5"), "invalid value: integer `-5`"),
        (&look.replace("0000:02:00.0", "zz"), "`zz` is not a PCI address"),
        (&deep, "EOF while parsing a list"),
        ("{\"format\": 1}", "host.json:1:13: missing field `host`"),
    ] {
        let run = Run::new().file("host.json", content).file("p.yaml", MODE_ONLY);
        for command in ["check --facts host.json p.yaml", "plan --facts host.json p.yaml"] {
            let ran = run.run(command);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command}: {ran}");
            let first = ran.stderr.lines().next().unwrap_or_default();
            assert!(first.starts_with("error: cannot read the facts file: "), "{ran}");
            assert!(first.contains(expected), "{expected}: {ran}");
        }
    }
}

#[test]
fn nothing_was_asked_is_no_pass() {
    let nothing = r#"{"format":1,"host":"server1","state":{},"identity":{},"evidence":{}}"#;
    let run = Run::new().file("host.json", nothing).file("p.yaml", MODE_ONLY);
    for command in ["check --facts host.json p.yaml", "check --facts host.json"] {
        let ran = run.run(command);
        assert_eq!(ran.code, 2, "{ran}");
        assert!(ran.stdout.starts_with("no verdict: "), "{ran}");
        assert!(!ran.stdout.contains("  ok "), "{ran}");
    }
}

#[test]
fn names_do_not_steer_the_terminal() {
    let look = hosts::s1(1).to_json().replace("\"server1\"", r#""\u001b[2J""#);
    let profile = format!("{MODE_ONLY}hosts: server1\n");
    let run = Run::new().file("host.json", &look).file("p.yaml", &profile);
    let ran = run.run("check --facts host.json p.yaml");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains(r"the host's name is \u{1b}[2J;"), "{ran}");
    assert!(!ran.stderr.contains('\u{1b}'), "{ran}");
}

#[test]
fn the_name_of_a_host_is_one_name() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", MODE_ONLY);
    for name in ["server[1-2]", "a/b", "s\u{e9}rver"] {
        let ran = run.run(&format!("check --facts host.json p.yaml --host {name}"));
        let expected = format!(
            "error: invalid value '{name}' for '--host <NAME>': it must be one host name, not a list"
        );
        assert_eq!((ran.code, ran.stderr.lines().next()), (2, Some(expected.as_str())));
    }
}
