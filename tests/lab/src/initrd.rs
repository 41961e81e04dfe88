//! The initramfs of a guest: busybox, the modules that reach the machine's file system, and the
//! programs of `guest/`.

use crate::cpio::Archive;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Modules without which the root cannot be mounted, and the one of the control channel.
const MODULES: [&str; 5] = ["virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console"];

const GUEST_FILES: [(&str, &str); 4] = [
    ("init.sh", include_str!("../guest/init.sh")),
    ("rdma-sync.sh", include_str!("../guest/rdma-sync.sh")),
    ("reset.sh", include_str!("../guest/reset.sh")),
    ("look.sh", include_str!("../guest/look.sh")),
];

/// What differs from guest to guest: lines of shell, `NAME=value`.
pub(crate) struct Settings<'a> {
    pub(crate) node: usize,
    pub(crate) set: &'a str,
    /// This program, for the guest to run as its agent.
    pub(crate) agent: &'a Path,
    /// Folder with `updates/` and depmod's files.
    pub(crate) tree: &'a Path,
    /// The program under test.
    pub(crate) product: Option<&'a Path>,
}

impl Settings<'_> {
    fn shell(&self) -> String {
        let quote =
            |path: &Path| format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
        format!(
            "NODE={}\nSET={}\nAGENT={}\nTREE={}\nPRODUCT={}\n",
            self.node,
            self.set,
            quote(self.agent),
            quote(self.tree),
            self.product.map(quote).unwrap_or_default(),
        )
    }
}

/// Writes the initramfs of one guest.
pub(crate) fn write(to: &Path, kernel: &str, settings: &Settings<'_>) -> Result<(), String> {
    let read = |path: &str| std::fs::read(path).map_err(|e| format!("reading {path}: {e}"));
    let mut archive = Archive::default();
    for dir in ["bin", "dev", "host", "lab", "modules", "proc", "root", "sys", "top"] {
        archive.dir(dir);
    }
    archive.file("bin/busybox", 0o755, &read("/bin/busybox")?);
    archive.file("init", 0o755, include_bytes!("../guest/boot.sh"));
    let mut order = String::new();
    for path in module_files(kernel)? {
        let name = path.rsplit('/').next().unwrap_or(&path);
        archive.file(&format!("modules/{name}"), 0o644, &read(&path)?);
        order += &format!("{name}\n");
    }
    archive.file("modules/order", 0o644, order.as_bytes());
    for (name, text) in GUEST_FILES {
        archive.file(&format!("lab/{name}"), 0o755, text.as_bytes());
    }
    archive.file("lab/lab.env", 0o644, settings.shell().as_bytes());
    std::fs::write(to, archive.finish()).map_err(|e| format!("writing {}: {e}", to.display()))
}

/// The files of the modules and what they depend on, in the order of loading.
fn module_files(kernel: &str) -> Result<Vec<String>, String> {
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for module in MODULES {
        let output = Command::new("/sbin/modprobe")
            .args(["--set-version", kernel, "--show-depends", module])
            .output()
            .map_err(|e| format!("modprobe did not start: {e}"))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            return Err(format!("looking up module {module} of {kernel}: {}", why.trim()));
        }
        for file in insmod_lines(&String::from_utf8_lossy(&output.stdout)) {
            if seen.insert(file.clone()) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// The files that `modprobe --show-depends` would load; lines `builtin NAME` need nothing.
fn insmod_lines(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.trim().strip_prefix("insmod "))
        .filter_map(|rest| rest.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_to_load_are_taken() {
        let text = "insmod /lib/modules/6/kernel/a.ko \nbuiltin b\ninsmod /lib/modules/6/kernel/c.ko opt=1\n";
        assert_eq!(
            insmod_lines(text),
            ["/lib/modules/6/kernel/a.ko", "/lib/modules/6/kernel/c.ko"]
        );
    }

    #[test]
    fn paths_are_quoted_for_the_shell() {
        let path = Path::new("/it's here");
        let settings = Settings { node: 2, set: "debian", agent: path, tree: path, product: None };
        assert_eq!(
            settings.shell(),
            "NODE=2\nSET=debian\nAGENT='/it'\\''s here'\nTREE='/it'\\''s here'\nPRODUCT=\n"
        );
    }
}
