//! The command line: small enough to be read by hand.

use crate::bed::DriverSet;
use crate::{agent, bench, demo, packages, shell, suite};
use std::process::ExitCode;

pub(crate) const HELP: &str = "\
usage: cargo lab COMMAND

  demo                 boot two guests, apply profiles/soft-roce.yaml on both, check, print the reports
  test [FILTER...]     every gating test; with a filter, only the scenarios whose name contains one of them
  soak [FILTER...]     the long matrices
  bench [FILTER...]    timings in a guest, against the commands an administrator would type
  shell [SET]          a shell in guest 1 of two, cabled to guest 2
  list                 the scenarios, without running them
  packages             only install the Debian packages that the product and the lab need

SET is a driver set: out-of-tree (default), in-kernel, debian.

  --no-build           take the product as it was built last, if it was

The lab installs the Debian packages it needs (as root; else it says the command), builds the
kernel modules of its guests once, and keeps them under target/lab.";

#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    Help,
    Demo,
    Test {
        filters: Vec<String>,
        build: bool,
    },
    Soak {
        filters: Vec<String>,
        build: bool,
    },
    Bench {
        filters: Vec<String>,
        build: bool,
    },
    Shell {
        set: DriverSet,
        build: bool,
    },
    List,
    Packages,
    /// What the guest runs; not for people.
    Agent,
}

pub(crate) fn parse(arguments: &[String]) -> Result<Command, String> {
    let mut build = true;
    let mut words = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "-h" | "--help" => return Ok(Command::Help),
            "--no-build" => build = false,
            flag if flag.starts_with('-') => return Err(format!("no option {flag}")),
            word => words.push(word.to_owned()),
        }
    }
    let mut words = words.into_iter();
    let Some(name) = words.next() else {
        return Err("a command is missing".into());
    };
    let rest: Vec<String> = words.collect();
    let command = match name.as_str() {
        "test" => {
            return Ok(Command::Test { filters: rest, build });
        }
        "soak" => {
            return Ok(Command::Soak { filters: rest, build });
        }
        "bench" => {
            return Ok(Command::Bench { filters: rest, build });
        }
        "shell" => {
            let set = match rest.as_slice() {
                [] => DriverSet::OutOfTree,
                [name] => DriverSet::named(name).ok_or_else(|| {
                    format!("no driver set {name}: out-of-tree, in-kernel or debian")
                })?,
                _ => return Err("shell takes one driver set".into()),
            };
            return Ok(Command::Shell { set, build });
        }
        "help" => Command::Help,
        "demo" => Command::Demo,
        "list" => Command::List,
        "packages" => Command::Packages,
        "agent" => Command::Agent,
        other => return Err(format!("no command {other}")),
    };
    if rest.is_empty() {
        Ok(command)
    } else {
        Err(format!("{name} takes no argument {:?}", rest[0]))
    }
}

pub(crate) fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Help => {
            println!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        Command::Demo => demo::run(),
        Command::Test { filters, build } => suite::test(&filters, build),
        Command::Soak { filters, build } => suite::soak(&filters, build),
        Command::Bench { filters, build } => bench::run(&filters, build),
        Command::Shell { set, build } => shell::run(set, build),
        Command::List => suite::list(),
        Command::Packages => packages::ensure().map(|()| ExitCode::SUCCESS),
        Command::Agent => agent::run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn test_takes_filters_and_an_option_anywhere() {
        assert_eq!(
            parsed("test cable --no-build mode"),
            Ok(Command::Test { filters: vec!["cable".into(), "mode".into()], build: false })
        );
    }

    #[test]
    fn shell_names_its_driver_set() {
        assert_eq!(parsed("shell"), Ok(Command::Shell { set: DriverSet::OutOfTree, build: true }));
        assert_eq!(
            parsed("shell debian"),
            Ok(Command::Shell { set: DriverSet::Debian, build: true })
        );
        assert_eq!(
            parsed("shell rhel"),
            Err("no driver set rhel: out-of-tree, in-kernel or debian".into())
        );
    }

    #[test]
    fn what_is_not_understood_is_refused_and_named() {
        assert_eq!(parsed(""), Err("a command is missing".into()));
        assert_eq!(parsed("tset"), Err("no command tset".into()));
        assert_eq!(parsed("demo now"), Err("demo takes no argument \"now\"".into()));
        assert_eq!(parsed("test --fast"), Err("no option --fast".into()));
    }

    #[test]
    fn help_wins_over_everything_else() {
        assert_eq!(parsed("test --help --fast"), Ok(Command::Help));
    }
}
