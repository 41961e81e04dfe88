//! Reading the file of a profile: bounded, and never from something that does not end.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::error::ProfileError;

/// Largest file that is read, in bytes.
pub(super) const LIMIT: u64 = 1 << 20;

/// The bytes of a regular file of at most [`LIMIT`].
pub(super) fn read(path: &Path) -> Result<Vec<u8>, ProfileError> {
    let unreadable =
        |reason: String| ProfileError::Unreadable { path: path.display().to_string(), reason };
    let said = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => unreadable("there is no such file".into()),
        std::io::ErrorKind::PermissionDenied => unreadable("this user may not read it".into()),
        _ => unreadable(error.to_string()),
    };
    // Opening a FIFO without O_NONBLOCK would wait for a writer.
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY)
        .open(path)
        .map_err(said)?;
    let metadata = file.metadata().map_err(said)?;
    if metadata.is_dir() {
        return Err(unreadable("it is a folder; name the file in it".into()));
    }
    if !metadata.is_file() {
        return Err(unreadable("it is a device or a pipe, not a file".into()));
    }
    // Room for the file and for the look behind its end: one read of each.
    let mut bytes = Vec::with_capacity(metadata.len().min(LIMIT) as usize + 64);
    // One byte more than allowed tells a file that is too large, also one that grows.
    file.take(LIMIT + 1).read_to_end(&mut bytes).map_err(said)?;
    Ok(bytes)
}
