//! Where the lab keeps things.

use std::path::{Path, PathBuf};

/// The root of the workspace, as it was when the lab was compiled.
pub(crate) fn workspace() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This package is in tests/lab of it.
    package.ancestors().nth(2).unwrap_or(package)
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

/// Removes the temporary folders of labs that were interrupted.
pub(crate) fn remove_left_behind() {
    let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(owner);
        if owner.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The process that made a temporary folder of this name.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(SCRATCH)?.split('-').next()?.parse().ok()
}

/// How the names of temporary folders begin: then come process id, count and purpose.
const SCRATCH: &str = "roce-lab-";

/// A short-lived folder, removed when dropped. It stands in the system's folder for temporary
/// files, because a socket's path must be shorter than 108 bytes.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let dir =
            std::env::temp_dir().join(format!("{SCRATCH}{}-{count}-{name}", std::process::id()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_labs_own_folders_have_an_owner() {
        assert_eq!(owner("roce-lab-4711-0-debian"), Some(4711));
        assert_eq!(owner("roce-lab-notes"), None);
        assert_eq!(owner("lab-4711-0-debian"), None);
    }

    #[test]
    fn the_workspace_is_where_the_product_is() {
        let manifest = std::fs::read_to_string(workspace().join("Cargo.toml")).unwrap_or_default();
        assert!(manifest.contains("name = \"roce-setup\""), "{}", workspace().display());
    }

    #[test]
    fn a_scratch_folder_goes_with_its_owner() {
        let scratch = Scratch::new("test").expect("a folder");
        let path = scratch.path().to_path_buf();
        assert_eq!(
            path.file_name().and_then(|name| owner(name.to_str()?)),
            Some(std::process::id())
        );
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }
}
