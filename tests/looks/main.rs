//! Saved looks: a folder per case with `facts.json`, `profile.yaml` (none: the general claims) and
//! `expected.txt`, which holds the exit code and the text. A new case is a new folder, no code.
//!
//! A file `arguments` names another command than `check`. With `UPDATE_LOOKS=1` the expected texts
//! are written instead of compared; read the difference before you commit it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

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
    for case in &cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        match run(case, update) {
            Ok(()) => println!("test {name} ... ok"),
            Err(why) => {
                failed += 1;
                println!("test {name} ... FAILED\n{why}");
            }
        }
    }
    let passed = cases.len() - failed;
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

fn run(case: &Path, update: bool) -> Result<(), String> {
    let file = |name: &str| case.join(name);
    let given = fs::read_to_string(file("arguments")).unwrap_or_else(|_| "check".to_owned());
    let mut command = Command::new(env!("CARGO_BIN_EXE_roce-setup"));
    command.args(given.split_whitespace()).arg("--facts").arg(file("facts.json"));
    if file("profile.yaml").exists() {
        command.arg(file("profile.yaml"));
    }
    let output = command.env_clear().output().map_err(|error| error.to_string())?;
    let code = output.status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
    let mut actual = format!("exit code {code}\n{}", String::from_utf8_lossy(&output.stdout));
    if !output.stderr.is_empty() {
        actual += &format!("--- stderr\n{}", String::from_utf8_lossy(&output.stderr));
    }
    let folder = format!("{}/", case.display());
    let actual = actual.replace(&folder, "");
    let expected_path = file("expected.txt");
    if update {
        return fs::write(&expected_path, actual).map_err(|error| error.to_string());
    }
    let expected = fs::read_to_string(&expected_path)
        .map_err(|error| format!("{}: {error}", expected_path.display()))?;
    if expected == actual {
        return Ok(());
    }
    Err(format!("--- expected\n{expected}--- actual\n{actual}"))
}
