//! A folder to run the program in, and what came of it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use roce_setup::facts::Facts;
use tempfile::TempDir;

/// A run of the program in a folder of its own, without environment.
pub struct Run {
    folder: TempDir,
}

/// What came of it: exit code, stdout, stderr.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    pub fn new() -> Run {
        Run { folder: tempfile::tempdir().expect("a scratch folder") }
    }

    /// A host of the library as `host.json`.
    pub fn on(facts: &Facts) -> Run {
        Run::new().file("host.json", &facts.to_json())
    }

    pub fn file(self, name: &str, content: &str) -> Run {
        fs::write(self.folder.path().join(name), content).expect("a file in the scratch folder");
        self
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `roce-setup` with these words as arguments.
    pub fn run(&self, arguments: &str) -> Ran {
        let output = Command::cargo_bin("roce-setup")
            .expect("the program")
            .current_dir(self.path())
            .env_clear()
            .args(arguments.split_whitespace())
            .timeout(std::time::Duration::from_secs(60))
            .output()
            .expect("a run");
        Ran::of(output)
    }
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
        }
    }

    /// Stdout as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON document: {error}\n{self}"))
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}\n{}", self.code, self.stdout)?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", self.stderr)?;
        }
        Ok(())
    }
}
