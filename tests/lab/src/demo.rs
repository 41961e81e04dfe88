//! `cargo lab demo`: one profile on two hosts, from nothing to the reports.

use crate::bed::{DriverSet, Lab, Ran, Setup};
use crate::message::Script;
use crate::product::{self, Profile};
use crate::{packages, places};
use std::process::ExitCode;

/// A dark moment of the emulator included.
const STEP_SECONDS: u64 = 180;

pub(crate) fn run() -> Result<ExitCode, String> {
    packages::ensure()?;
    let product = product::build(Profile::Dev)?;
    let setup = Setup::new(Some(product))?;
    let profile = places::workspace().join("profiles/soft-roce.yaml");
    let text = std::fs::read_to_string(&profile)
        .map_err(|e| format!("reading {}: {e}", profile.display()))?;
    eprintln!("booting two guests, cabled back to back");
    let lab = Lab::boot(&setup, DriverSet::Debian, 2)?;
    println!("# profiles/soft-roce.yaml\n{}", text.trim_end());
    lab.each(|node| node.write("/etc/roce-setup/profile.yaml", &text));
    let mut failed = Vec::new();
    for command in ["roce-setup apply", "roce-setup status", "roce-setup check"] {
        let script = Script { text: command.into(), ..Script::default() };
        for outcome in lab.each(|node| node.try_run(script.clone(), STEP_SECONDS)) {
            let ran = outcome?;
            show(&ran);
            if ran.code != Some(0) {
                failed.push(format!("{} on {}", ran.script, ran.node));
            }
        }
    }
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!("the demo did not end as it should: {}", failed.join(", ")))
}

fn show(ran: &Ran) {
    println!("\n{}# {}", ran.node, ran.script);
    print!("{}{}", ran.stderr, ran.stdout);
    match ran.code {
        Some(code) => println!("(exit code {code})"),
        None => println!("(did not end within {STEP_SECONDS} s)"),
    }
}
