//! Saved looks: a folder per case with `facts.json`, `profile.yaml` (none: the general claims) and
//! `expected.txt`, which holds the exit code and the text. A new case is a new folder, no code.
//!
//! A file `arguments` names another command than `check`. With `UPDATE_LOOKS=1` the expected texts
//! are written instead of compared; read the difference before you commit it.
//!
//! Each case is run with `--output json` too: the exit code must be the same, and over all cases
//! every claim of the catalogue must be met once and fail once.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use roce_setup::claims::ENTRIES;

/// Claims that no command judges on a saved look: these need the library or a test that runs.
const LIVE_ONLY: &[&str] = &["verbs.device", "smoke."];

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/looks");
    let update = std::env::var_os("UPDATE_LOOKS").is_some();
    let cases = match cases(&root) {
        Ok(cases) if !cases.is_empty() => cases,
        Ok(_) => {
            eprintln!("no case under {}", root.display());
            return ExitCode::FAILURE;
        }
        Err(error) => {
            eprintln!("{}: {error}", root.display());
            return ExitCode::FAILURE;
        }
    };
    let mut failed = 0;
    let mut seen = BTreeSet::new();
    for case in &cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        match run(case, update).and_then(|code| run_json(case, &code, &mut seen)) {
            Ok(()) => println!("test {name} ... ok"),
            Err(why) => {
                failed += 1;
                println!("test {name} ... FAILED\n{why}");
            }
        }
    }
    let mut passed = cases.len() - failed;
    match never_judged(&seen) {
        None => {
            passed += 1;
            println!("test every_claim_is_met_once_and_fails_once ... ok");
        }
        Some(missing) => {
            failed += 1;
            println!("test every_claim_is_met_once_and_fails_once ... FAILED\nno case: {missing}");
        }
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn cases(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.is_dir() {
            cases.push(path);
        }
    }
    cases.sort();
    Ok(cases)
}

/// The claims that no case shows met, or failed.
fn never_judged(seen: &BTreeSet<(String, String)>) -> Option<String> {
    let missing: Vec<String> = ENTRIES
        .iter()
        .map(|entry| entry.id)
        .filter(|id| !LIVE_ONLY.iter().any(|live| id.starts_with(live)))
        .flat_map(|id| ["met", "unmet"].map(|verdict| (id.to_owned(), verdict.to_owned())))
        .filter(|wanted| !seen.contains(wanted))
        .map(|(id, verdict)| format!("{id} {verdict}"))
        .collect();
    (!missing.is_empty()).then(|| missing.join(", "))
}

fn command(case: &Path) -> Command {
    let file = |name: &str| case.join(name);
    let given = fs::read_to_string(file("arguments")).unwrap_or_else(|_| "check".to_owned());
    let mut command = Command::new(env!("CARGO_BIN_EXE_roce-setup"));
    command.args(given.split_whitespace()).arg("--facts").arg(file("facts.json"));
    if file("profile.yaml").exists() {
        command.arg(file("profile.yaml"));
    }
    command.env_clear();
    command
}

/// Runs a case with JSON output, notes the verdicts of its claims, and holds its exit code against
/// that of the text.
fn run_json(case: &Path, code: &str, seen: &mut BTreeSet<(String, String)>) -> Result<(), String> {
    let mut command = command(case);
    // The one case that asks for JSON itself has been compared already.
    if !command.get_args().any(|argument| argument == "json") {
        command.args(["--output", "json"]);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let json_code = output.status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
    if json_code != code {
        return Err(format!("exit code {json_code} with --output json, {code} with text"));
    }
    let document: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("--output json: {error}"))?;
    let part = |finding: &serde_json::Value, key: &str| {
        finding[key].as_str().unwrap_or_default().to_owned()
    };
    let findings = document["findings"].as_array().into_iter().flatten();
    seen.extend(findings.map(|finding| (part(finding, "id"), part(finding, "verdict"))));
    Ok(())
}

/// Runs a case and compares its text; gives its exit code.
fn run(case: &Path, update: bool) -> Result<String, String> {
    let output = command(case).output().map_err(|error| error.to_string())?;
    let code = output.status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
    let mut actual = format!("exit code {code}\n{}", String::from_utf8_lossy(&output.stdout));
    if !output.stderr.is_empty() {
        actual += &format!("--- stderr\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let folder = format!("{}/", case.display());
    let actual = actual.replace(&folder, "");
    let expected_path = case.join("expected.txt");
    if update {
        return match fs::write(&expected_path, actual) {
            Ok(()) => Ok(code),
            Err(error) => Err(error.to_string()),
        };
    }
    let expected = fs::read_to_string(&expected_path)
        .map_err(|error| format!("{}: {error}", expected_path.display()))?;
    if expected == actual {
        return Ok(code);
    }
    Err(format!("--- expected\n{expected}--- actual\n{actual}"))
}
