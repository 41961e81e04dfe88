//! One change of the host at a time.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

/// A held lock; the kernel frees it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: Flock<File>,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("another roce-setup changes this host: {holder} holds {}", path.display())]
    Held {
        /// The lock file.
        path: PathBuf,
        /// What its content says of the holder.
        holder: String,
    },
    /// The file cannot be made or locked.
    #[error("cannot lock {}: {source}", path.display())]
    Unusable {
        /// The lock file.
        path: PathBuf,
        /// The kernel's words.
        source: std::io::Error,
    },
}

impl Lock {
    /// Where the lock of a host is.
    pub const PATH: &'static str = "/run/roce-setup.lock";

    /// Takes the lock, or says who has it. Does not wait.
    ///
    /// # Errors
    /// [`LockError`].
    pub fn take(path: &Path, command: &str) -> Result<Lock, LockError> {
        let unusable = |source| LockError::Unusable { path: path.to_owned(), source };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC)
            .open(path)
            .map_err(unusable)?;
        let mut file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => file,
            Err((mut file, nix::errno::Errno::EWOULDBLOCK)) => {
                let mut holder = String::new();
                let _ = (&mut file).take(200).read_to_string(&mut holder);
                let holder = match holder.trim() {
                    "" => "an unknown process".to_owned(),
                    text => text.to_owned(),
                };
                return Err(LockError::Held { path: path.to_owned(), holder });
            }
            Err((_, errno)) => return Err(unusable(errno.into())),
        };
        file.set_len(0).map_err(unusable)?;
        file.rewind().map_err(unusable)?;
        writeln!(file, "pid {} ({command})", std::process::id()).map_err(unusable)?;
        Ok(Lock { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_names_its_holder_and_a_dropped_one_is_free() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("lock");
        let held = Lock::take(&path, "apply").expect("a free lock");
        let refused = Lock::take(&path, "apply").expect_err("a held lock").to_string();
        assert_eq!(
            refused,
            format!(
                "another roce-setup changes this host: pid {} (apply) holds {}",
                std::process::id(),
                path.display()
            )
        );
        drop(held);
        let again = Lock::take(&path, "apply").map(|_| "taken").map_err(|error| error.to_string());
        assert_eq!(again, Ok("taken"));
    }
}
