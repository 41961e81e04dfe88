//! Where the lab keeps things.

use std::path::{Path, PathBuf};

/// The root of the workspace, as it was when the lab was compiled.
pub(crate) fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Cargo's target folder: taken from the running program, because `CARGO_TARGET_DIR` or a
/// configuration may have moved it.
pub(crate) fn target() -> Result<PathBuf, String> {
    let program =
        std::env::current_exe().map_err(|e| format!("finding the lab's own program: {e}"))?;
    // target/debug/lab, or target/debug/deps/lab-HASH in unit tests.
    program
        .ancestors()
        .find(|dir| dir.join("CACHEDIR.TAG").exists())
        .map(Path::to_path_buf)
        .ok_or_else(|| format!("{} is in no cargo target folder", program.display()))
}

/// `target/lab`, where modules and logs are kept.
pub(crate) fn cache() -> Result<PathBuf, String> {
    make(target()?.join("lab"))
}

/// Makes a folder with its parents.
pub(crate) fn make(dir: PathBuf) -> Result<PathBuf, String> {
    std::fs::create_dir_all(&dir).map_err(|e| format!("making {}: {e}", dir.display()))?;
    Ok(dir)
}

/// A short-lived folder, removed when dropped. It stands in the system's folder for temporary
/// files, because a socket's path must be shorter than 108 bytes.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("lab-{}-{count}-{name}", std::process::id()));
        make(dir).map(Scratch)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
