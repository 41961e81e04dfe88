//! Help and command lines that are not understood.

use crate::support::Run;

#[test]
fn help_fits_a_screen_and_ends_with_examples() {
    let ran = Run::new().run("--help");
    assert!(ran.stdout.lines().count() <= 40, "{} lines", ran.stdout.lines().count());
    insta::assert_snapshot!(ran, @"");
}

#[test]
fn every_command_has_help_of_a_screen() {
    let mut shown = String::new();
    for command in ["apply", "plan", "check", "facts", "status", "smoke", "serve", "explain"] {
        let ran = Run::new().run(&format!("{command} --help"));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{command}");
        assert!(ran.stdout.lines().count() <= 40, "{command}");
        let own = ran.stdout.split("\nGlobal options:").next().unwrap_or_default();
        shown.push_str(own);
        shown.push_str("---\n");
    }
    insta::assert_snapshot!(shown, @"");
}

#[test]
fn a_version_is_printed() {
    let ran = Run::new().run("--version");
    assert_eq!(ran.to_string(), format!("exit code 0\nroce-setup {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_a_command_there_is_no_verdict() {
    insta::assert_snapshot!(Run::new().run(""), @"");
}

#[test]
fn an_unknown_command_is_refused() {
    insta::assert_snapshot!(Run::new().run("chekc"), @"");
}

#[test]
fn an_unknown_option_is_refused() {
    insta::assert_snapshot!(Run::new().run("check --bogus"), @"");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    insta::assert_snapshot!(Run::new().run("check --quiet --verbose"), @"");
    insta::assert_snapshot!(Run::new().run("smoke --loopback --peer 100.0.1.11"), @"");
}

#[test]
fn values_that_are_none_are_refused() {
    insta::assert_snapshot!(Run::new().run("smoke --peer server2"), @"");
    for deadline in ["0", "-1", "soon", "NaN", "inf", "1e9"] {
        let ran = Run::new().run(&format!("status --deadline={deadline}"));
        assert_eq!(
            ran.to_string(),
            format!(
                "exit code 2\n--- stderr\nerror: invalid value '{deadline}' for '--deadline <SECONDS>': \
                 it must be a number of seconds above 0, at most 86400\n\n\
                 For more information, try '--help'.\n"
            )
        );
    }
}

#[test]
fn with_json_output_a_usage_error_is_a_json_document() {
    let ran = Run::new().run("check --output json --bogus");
    let json = ran.json();
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""));
    assert_eq!(json["format"], 1);
    assert_eq!(json["error"]["kind"], "usage");
    let message = json["error"]["message"].as_str().expect("a message");
    assert!(message.starts_with("unexpected argument '--bogus' found"), "{message}");
}

#[test]
fn the_process_of_the_smoke_test_is_for_the_program_itself() {
    let ran = Run::new().run("smoke-child {}");
    assert_eq!(
        ran.to_string(),
        "exit code 2\n--- stderr\nroce-setup smoke-child: this command is for the program itself\n"
    );
}
