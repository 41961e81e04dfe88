//! Help and command lines that are not understood.

use crate::support::Run;

#[test]
fn help_fits_a_screen_and_ends_with_examples() {
    let ran = Run::new().run("--help");
    assert!(ran.stdout.lines().count() <= 40, "{} lines", ran.stdout.lines().count());
    insta::assert_snapshot!(ran, @r"
    exit code 0
    Bring RDMA ports into the mode that a profile asks for, and prove it

    Usage: roce-setup [OPTIONS] <COMMAND>

    Commands:
      apply    Change this host to what the profile says, verify it, and test the link
      plan     Show what apply would change
      check    Compare this host with the profile; no traffic, no change
      facts    Print one look at this host as JSON
      status   Show the ports of this host in one table
      smoke    Test RDMA to a peer that runs serve or apply, or in loopback
      serve    Answer smoke tests until stopped
      explain  Explain a claim: meaning, causes, fixes

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
          --output <FORM>       text (default) or json
      -q, --quiet               Only the verdict and what is wrong
      -v, --verbose             Ids and sources too
          --color <WHEN>        auto (default), always or never
          --deadline <SECONDS>  Give up after this time
          --strict              Treat warnings as failures
          --host <NAME>         Act as this host of the profile

    Examples:
      roce-setup status                      the RDMA ports of this host
      roce-setup check profile.yaml          is this host as the profile says?
      roce-setup plan profile.yaml           what would apply change?
      sudo roce-setup apply profile.yaml     change it, verify it, test the link
      roce-setup explain rdma.mode           what a claim means and how to mend it

    Exit codes: 0 as the profile says, 1 not so, 2 no verdict or refused, 3 left neither
    as wanted nor as before
    ");
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
    insta::assert_snapshot!(shown, @r"
    Change this host to what the profile says, verify it, and test the link

    Usage: roce-setup apply [OPTIONS] [PROFILE]

    Arguments:
      [PROFILE]  Profile; default /etc/roce-setup/profile.yaml

    Options:
          --allow-interface <NAME>  Allow changes that interrupt this interface (repeatable)
          --force-reload            Reload a driver although it is in use or has virtual functions
          --undo-on <WHAT>          `link`: undo also when only the link or the peer fails
          --no-smoke                Skip the smoke test
      -h, --help                    Print help
    ---
    Show what apply would change

    Usage: roce-setup plan [OPTIONS] [PROFILE]

    Arguments:
      [PROFILE]  Profile; default /etc/roce-setup/profile.yaml

    Options:
          --facts <FILE>            Plan for a look saved by `roce-setup facts` instead of this host
          --allow-interface <NAME>  Allow changes that interrupt this interface (repeatable)
          --force-reload            Reload a driver although it is in use or has virtual functions
      -h, --help                    Print help
    ---
    Compare this host with the profile; no traffic, no change

    Usage: roce-setup check [OPTIONS] [PROFILE]

    Arguments:
      [PROFILE]  Profile; default /etc/roce-setup/profile.yaml

    Options:
          --facts <FILE>  Judge a look saved by `roce-setup facts` instead of this host
      -h, --help          Print help
    ---
    Print one look at this host as JSON

    Usage: roce-setup facts [OPTIONS]

    Options:
          --facts <FILE>  Print a saved look in this version's form
      -h, --help          Print help
    ---
    Show the ports of this host in one table

    Usage: roce-setup status [OPTIONS]

    Options:
          --facts <FILE>  Show a look saved by `roce-setup facts` instead of this host
      -h, --help          Print help
    ---
    Test RDMA to a peer that runs serve or apply, or in loopback

    Usage: roce-setup smoke [OPTIONS] [PROFILE]

    Arguments:
      [PROFILE]  Profile; default /etc/roce-setup/profile.yaml

    Options:
          --peer <ADDRESS>    Address of the peer; default: the profile's
          --loopback          Both ends on this host: tests the device and the library, not the cable
          --interface <NAME>  Test this interface only
      -h, --help              Print help
    ---
    Answer smoke tests until stopped

    Usage: roce-setup serve [OPTIONS] [PROFILE]

    Arguments:
      [PROFILE]  Profile; default /etc/roce-setup/profile.yaml

    Options:
          --interface <NAME>  Answer on this interface only (repeatable)
          --for <SECONDS>     Stop after this time
      -h, --help              Print help
    ---
    Explain a claim: meaning, causes, fixes

    Usage: roce-setup explain [OPTIONS] [ID]

    Arguments:
      [ID]  Id of a claim, as `check` prints it; without it all are listed

    Options:
      -h, --help  Print help
    ---
    ");
}

#[test]
fn a_version_is_printed() {
    let ran = Run::new().run("--version");
    assert_eq!(ran.to_string(), format!("exit code 0\nroce-setup {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn without_a_command_there_is_no_verdict() {
    insta::assert_snapshot!(Run::new().run(""), @r"
    exit code 2
    --- stderr
    Bring RDMA ports into the mode that a profile asks for, and prove it

    Usage: roce-setup [OPTIONS] <COMMAND>

    Commands:
      apply    Change this host to what the profile says, verify it, and test the link
      plan     Show what apply would change
      check    Compare this host with the profile; no traffic, no change
      facts    Print one look at this host as JSON
      status   Show the ports of this host in one table
      smoke    Test RDMA to a peer that runs serve or apply, or in loopback
      serve    Answer smoke tests until stopped
      explain  Explain a claim: meaning, causes, fixes

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
          --output <FORM>       text (default) or json
      -q, --quiet               Only the verdict and what is wrong
      -v, --verbose             Ids and sources too
          --color <WHEN>        auto (default), always or never
          --deadline <SECONDS>  Give up after this time
          --strict              Treat warnings as failures
          --host <NAME>         Act as this host of the profile

    Examples:
      roce-setup status                      the RDMA ports of this host
      roce-setup check profile.yaml          is this host as the profile says?
      roce-setup plan profile.yaml           what would apply change?
      sudo roce-setup apply profile.yaml     change it, verify it, test the link
      roce-setup explain rdma.mode           what a claim means and how to mend it

    Exit codes: 0 as the profile says, 1 not so, 2 no verdict or refused, 3 left neither
    as wanted nor as before
    ");
}

#[test]
fn an_unknown_command_is_refused() {
    insta::assert_snapshot!(Run::new().run("chekc"), @r"
    exit code 2
    --- stderr
    error: unrecognized subcommand 'chekc'

      tip: a similar subcommand exists: 'check'

    Usage: roce-setup [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn an_unknown_option_is_refused() {
    insta::assert_snapshot!(Run::new().run("check --bogus"), @r"
    exit code 2
    --- stderr
    error: unexpected argument '--bogus' found

      tip: to pass '--bogus' as a value, use '-- --bogus'

    Usage: roce-setup check [OPTIONS] [PROFILE]

    For more information, try '--help'.
    ");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    insta::assert_snapshot!(Run::new().run("check --quiet --verbose"), @r"
    exit code 2
    --- stderr
    error: the argument '--quiet' cannot be used with '--verbose'

    Usage: roce-setup check --quiet [PROFILE]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(Run::new().run("smoke --loopback --peer 100.0.1.11"), @r"
    exit code 2
    --- stderr
    error: the argument '--loopback' cannot be used with '--peer <ADDRESS>'

    Usage: roce-setup smoke --loopback [PROFILE]

    For more information, try '--help'.
    ");
}

#[test]
fn values_that_are_none_are_refused() {
    insta::assert_snapshot!(Run::new().run("smoke --peer server2"), @r"
    exit code 2
    --- stderr
    error: invalid value 'server2' for '--peer <ADDRESS>': invalid IP address syntax

    For more information, try '--help'.
    ");
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
