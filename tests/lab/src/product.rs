//! Builds `roce-setup` and the programs that test it, by cargo.

use crate::places;
use crate::tally::{self, Tally};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Which build of the product a guest gets.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Profile {
    /// For tests: quickly built.
    Dev,
    /// For timings.
    Release,
}

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(places::workspace());
    cargo
}

/// Builds the product and gives the program for the guests. Always this package alone: a build of
/// the whole workspace unifies features and gives another program.
pub(crate) fn build(profile: Profile) -> Result<PathBuf, String> {
    let mut cargo = cargo();
    cargo.args(["build", "--quiet", "--package", "roce-setup"]);
    if profile == Profile::Release {
        cargo.arg("--release");
    }
    eprintln!("building roce-setup");
    let status = cargo.status().map_err(|e| format!("cargo did not start: {e}"))?;
    if !status.success() {
        return Err(format!("cargo build --package roce-setup: {status}"));
    }
    built(profile)?
        .ok_or_else(|| "cargo built roce-setup, but it is not in the target folder".into())
}

/// Builds the program for the guests, or takes it as it was built last, if it was.
pub(crate) fn provide(profile: Profile, now: bool) -> Result<Option<PathBuf>, String> {
    if now { build(profile).map(Some) } else { built(profile) }
}

fn built(profile: Profile) -> Result<Option<PathBuf>, String> {
    let folder = match profile {
        Profile::Dev => "debug",
        Profile::Release => "release",
    };
    let program = places::target()?.join(folder).join("roce-setup");
    if !program.exists() {
        return Ok(None);
    }
    // Without debug information, which is most of it: guests copy it over 9p.
    let slim = places::make(places::cache()?.join("bin").join(folder))?.join("roce-setup");
    let output = Command::new("strip")
        .arg("--strip-debug")
        .arg("-o")
        .arg(&slim)
        .arg(&program)
        .output()
        .map_err(|e| format!("strip did not start: {e}"))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("stripping {}: {}", program.display(), why.trim()));
    }
    Ok(Some(slim))
}

/// Holds the product's model to recordings of guests: a folder of folders as tests/model has them.
///
/// # Errors
/// What differs, as the test says it.
pub(crate) fn compare_with_model(recordings: &std::path::Path) -> Result<String, String> {
    let output = cargo()
        .args(["test", "--quiet", "--package", "roce-setup", "--test", "model"])
        .env("MODEL_RECORDINGS", recordings)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cargo did not start: {e}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Runs a package's own tests, shows what they say, and counts them.
pub(crate) fn test(package: &str) -> Result<Tally, String> {
    eprintln!("cargo test --package {package}");
    let output = cargo()
        .args(["test", "--quiet", "--no-fail-fast", "--package", package])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("cargo did not start: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let tally = tally::read_cargo(&text, output.status.success());
    if tally.failed > 0 {
        println!("{}", text.trim_end());
    }
    println!(
        "{}  cargo test --package {package}: {tally}",
        if tally.failed == 0 { "ok    " } else { "FAILED" }
    );
    Ok(tally)
}
