//! A folder to run the program in, and what came of it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use roce_setup::facts::Facts;
use tempfile::TempDir;

/// A run of the program in a folder of its own, without environment.
pub(crate) struct Run {
    folder: TempDir,
}

/// What came of it: exit code, stdout, stderr.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn new() -> Run {
        Run { folder: tempfile::tempdir().expect("a scratch folder") }
    }

    /// A host of the library as `host.json`.
    pub(crate) fn on(facts: &Facts) -> Run {
        Run::new().file("host.json", &facts.to_json())
    }

    pub(crate) fn file(self, name: &str, content: &str) -> Run {
        fs::write(self.folder.path().join(name), content).expect("a file in the scratch folder");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs `roce-setup` with these words as arguments.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
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
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
        }
    }

    /// Stdout as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
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
