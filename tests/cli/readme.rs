//! The README shows what the program prints.

use std::path::Path;
use std::process::Command;

use crate::support::{Ran, Run};

const README: &str = include_str!("../../README.md");

/// The blocks that start with this fence, without the fences.
fn blocks(fence: &str) -> Vec<&'static str> {
    README
        .split(fence)
        .skip(1)
        .map(|rest| rest.split_once("\n```").map_or(rest, |(block, _)| block))
        .collect()
}

#[test]
fn its_tour_is_what_the_program_prints() {
    let tour = blocks("```console\n");
    assert_eq!(tour.len(), 3, "commands of the tour");
    for block in tour {
        let (command, expected) = block.split_once('\n').expect("a command and its output");
        let arguments = command.strip_prefix("$ roce-setup ").expect("a command of the program");
        let output = Command::new(assert_cmd::cargo::cargo_bin("roce-setup"))
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .env_clear()
            .args(arguments.split_whitespace())
            .output();
        let ran = Ran::of(output.expect("a run"));
        assert_eq!(ran.stdout.trim_end(), expected, "{command}");
        assert_eq!(ran.stderr, "", "{command}");
    }
}

#[test]
fn its_profile_is_one() {
    let profiles = blocks("```yaml\n");
    assert_eq!(profiles.len(), 1, "profiles in the README");
    let look = include_str!("../looks/s1-after/facts.json");
    let run = Run::new().file("host.json", look).file("p.yaml", profiles[0]);
    let ran = run.run("check --quiet --facts host.json p.yaml");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "as the profile says\n"), "{ran}");
}
