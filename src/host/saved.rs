//! A facts file in place of a machine: `check`, `plan` and `status` work offline on it.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::{Look, LookError};
use crate::facts::{Facts, Scope};

/// One byte more than the largest facts file: enough to see that a file is too large.
const LONGEST: u64 = (64 << 20) + 1;

/// A saved look. Every look gives the same facts, whatever its scope: what was not asked when they
/// were saved is still not asked.
#[derive(Debug)]
pub struct Saved {
    facts: Facts,
    clock: Mutex<Duration>,
}

impl Saved {
    /// Reads a facts file; `-` is standard input. Pipes are read as well, for the look that another
    /// program makes; one that nobody writes to is empty.
    ///
    /// # Errors
    /// The file cannot be read, or holds no facts of a format that this program knows.
    pub fn open(path: &Path) -> Result<Saved, LookError> {
        let what = Saved::name(path);
        let path = if is_stdin(path) { Path::new("/dev/stdin") } else { path };
        let mut bytes = Vec::new();
        open(path)
            .and_then(|file| file.take(LONGEST).read_to_end(&mut bytes))
            .map_err(|error| LookError { what: what.clone(), why: reason(&error) })?;
        Facts::from_json(&bytes, &what).map(Saved::new).map_err(|error| LookError {
            what: "the facts file".to_owned(),
            why: error.to_string(),
        })
    }

    /// How messages call the file.
    pub fn name(path: &Path) -> String {
        if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
    }

    /// Facts that are in memory already.
    pub fn new(facts: Facts) -> Saved {
        Saved { facts, clock: Mutex::default() }
    }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens without waiting for the writer of a named pipe, which may never come; reads wait.
fn open(path: &Path) -> std::io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

fn reason(error: &std::io::Error) -> String {
    error.raw_os_error().map_or_else(
        || error.to_string(),
        |number| nix::errno::Errno::from_raw(number).desc().to_owned(),
    )
}

impl Look for Saved {
    fn look(&self, _scope: &Scope) -> Result<Facts, LookError> {
        Ok(self.facts.clone())
    }

    fn host(&self) -> Result<String, LookError> {
        Ok(self.facts.host.clone())
    }

    fn now(&self) -> Duration {
        self.clock.lock().map_or_else(|broken| *broken.into_inner(), |clock| *clock)
    }

    /// A file does not change by waiting: only its own clock passes.
    fn pause(&self, time: Duration) {
        match self.clock.lock() {
            Ok(mut clock) => *clock += time,
            Err(broken) => *broken.into_inner() += time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_look_is_given_back_and_waiting_costs_no_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("node1.json");
        let facts = Facts { format: 1, host: "node1".to_owned(), ..Facts::default() };
        std::fs::write(&path, facts.to_json()).expect("written");
        let saved = Saved::open(&path).expect("facts");
        saved.pause(Duration::from_secs(3600));
        assert_eq!(saved.now(), Duration::from_secs(3600));
        assert_eq!(saved.look(&Scope::default()), Ok(facts));
    }

    #[test]
    fn a_pipe_without_a_writer_is_empty_and_no_wait() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        let error = Saved::open(&path).expect_err("empty");
        let expected = format!("cannot read the facts file: {}: it is empty", path.display());
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_file_that_is_not_there_and_one_that_holds_no_facts_are_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("node1.json");
        let error = Saved::open(&path).expect_err("absent");
        assert_eq!(
            error.to_string(),
            format!("cannot read {}: No such file or directory", path.display())
        );
        std::fs::write(&path, "{}").expect("written");
        let error = Saved::open(&path).expect_err("no facts");
        let expected =
            format!("cannot read the facts file: {}:1:2: missing field `format`", path.display());
        assert_eq!(error.to_string(), expected);
    }
}
