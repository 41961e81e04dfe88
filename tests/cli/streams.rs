//! Readers that go away and disks that are full.

use std::fs::File;
use std::process::{Command, Stdio};

use roce_setup::host::model::hosts;

use crate::support::{Ran, Run};

const S1: &str = include_str!("../../profiles/s1-grt.yaml");

fn with_stdout(run: &Run, arguments: &str, stdout: Stdio) -> Ran {
    let program = assert_cmd::cargo::cargo_bin("roce-setup");
    let child = Command::new(program)
        .current_dir(run.path())
        .env_clear()
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("a run");
    Ran::of(child.wait_with_output().expect("an end"))
}

/// A pipe whose reader is gone already.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    Stdio::from(writer)
}

#[test]
fn a_reader_that_goes_away_changes_no_verdict() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    for (arguments, code) in [
        ("check --facts host.json p.yaml", 1),
        ("check --facts host.json p.yaml --output json", 1),
        ("plan --facts host.json p.yaml", 2),
        ("status --facts host.json", 0),
        ("facts --facts host.json", 0),
        ("explain", 0),
        ("--help", 0),
    ] {
        let ran = with_stdout(&run, arguments, closed_pipe());
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{arguments}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    for arguments in [
        "check --facts host.json p.yaml",
        "check --facts host.json p.yaml --output json",
        "status --facts host.json",
        "explain",
        "--help",
    ] {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let ran = with_stdout(&run, arguments, Stdio::from(full));
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (2, "error: cannot write to standard output: No space left on device (os error 28)\n"),
            "{arguments}"
        );
    }
}

#[test]
fn errors_that_nobody_can_read_end_the_same() {
    let run = Run::new();
    let program = assert_cmd::cargo::cargo_bin("roce-setup");
    for arguments in [vec!["explain", "xyzzy"], vec!["bogus"], vec!["check", "absent.yaml"]] {
        let status = Command::new(&program)
            .current_dir(run.path())
            .env_clear()
            .args(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(closed_pipe())
            .status()
            .expect("a run");
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}
