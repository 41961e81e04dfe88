//! Builds the guests' kernel modules, once per kernel and source, and keeps one prepared module
//! tree per driver set under `target/lab/modules/`.

use crate::bed::DriverSet;
use crate::drivers::{self, Form};
use crate::places::{self, Scratch};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The prepared trees of one kernel.
pub(crate) struct Modules {
    pub(crate) kernel: String,
    dir: PathBuf,
}

impl Modules {
    /// The folder with `updates/` and depmod's files of a driver set.
    pub(crate) fn tree(&self, set: DriverSet) -> PathBuf {
        self.dir.join(set.name()).join("lib/modules").join(&self.kernel)
    }
}

/// Takes the modules from `target/lab/modules`, or builds them.
pub(crate) fn prepare(kernel: &str) -> Result<Modules, String> {
    let source = std::fs::metadata(drivers::KERNEL_SOURCE)
        .map_err(|e| format!("{} (package linux-source-6.1): {e}", drivers::KERNEL_SOURCE))?;
    let mut hasher = DefaultHasher::new();
    drivers::fingerprint_texts().hash(&mut hasher);
    (source.len(), kernel).hash(&mut hasher);
    let cache = places::make(places::cache()?.join("modules"))?;
    let dir = cache.join(format!("{kernel}-{:016x}", hasher.finish()));
    if !dir.exists() {
        eprintln!("building the guests' kernel modules for {kernel}");
        let scratch = Scratch::new("modules")?;
        // Under another name until it is complete, so that an interrupted build is not taken.
        let unfinished = cache.join(format!("unfinished-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&unfinished);
        build(scratch.path(), &unfinished, kernel)?;
        std::fs::rename(&unfinished, &dir)
            .map_err(|e| format!("keeping {}: {e}", dir.display()))?;
    }
    Ok(Modules { kernel: kernel.to_owned(), dir })
}

/// Builds in `work` (modules cannot be built under a path with spaces) and leaves trees in `trees`.
fn build(work: &Path, trees: &Path, kernel: &str) -> Result<(), String> {
    let source = places::make(work.join("source"))?;
    let folders = [drivers::SIW, drivers::E1000E, drivers::NETDEVSIM];
    let mut tar = Command::new("tar");
    tar.args([
        "--extract",
        "--strip-components=1",
        "--file",
        drivers::KERNEL_SOURCE,
        "--directory",
    ])
    .arg(&source)
    .args(folders.map(|folder| format!("linux-source-6.1/{folder}")));
    finish(&mut tar, "unpacking the kernel's source")?;

    let siw = source.join(drivers::SIW);
    let netdevsim = source.join(drivers::NETDEVSIM);
    make(kernel, &siw, &["CONFIG_RDMA_SIW=m"])?;
    make(kernel, &netdevsim, &["CONFIG_NETDEVSIM=m"])?;
    let common = [siw.join("siw.ko"), netdevsim.join("netdevsim.ko")];
    tree(trees, DriverSet::Debian, kernel, &common)?;

    for (set, form) in
        [(DriverSet::OutOfTree, Form::OutOfTree), (DriverSet::InKernel, Form::InKernel)]
    {
        let ice = places::make(work.join(format!("ice-{}", set.name())))?;
        let irdma = places::make(work.join(format!("irdma-{}", set.name())))?;
        drivers::write_ice(&ice, &source.join(drivers::E1000E), form)?;
        make(kernel, &ice, &[])?;
        drivers::write_irdma(&irdma, form)?;
        make(kernel, &irdma, &[&format!("KBUILD_EXTRA_SYMBOLS={}/Module.symvers", ice.display())])?;
        let [siw, netdevsim] = &common;
        tree(
            trees,
            set,
            kernel,
            &[siw.clone(), netdevsim.clone(), ice.join("ice.ko"), irdma.join("irdma.ko")],
        )?;
    }
    Ok(())
}

fn make(kernel: &str, dir: &Path, settings: &[&str]) -> Result<(), String> {
    let mut make = Command::new("make");
    make.args(["--silent", "--jobs=2", "--directory", &format!("/lib/modules/{kernel}/build")])
        .arg(format!("M={}", dir.display()))
        .args(settings)
        .arg("modules");
    finish(&mut make, &format!("building {}", dir.display()))
}

/// A tree as depmod wants it. depmod runs here, because inside a guest it takes most of a minute.
fn tree(trees: &Path, set: DriverSet, kernel: &str, modules: &[PathBuf]) -> Result<(), String> {
    let root = trees.join(set.name());
    let dir = places::make(root.join("lib/modules").join(kernel))?;
    let updates = places::make(dir.join("updates"))?;
    let installed = Path::new("/lib/modules").join(kernel);
    let failed = |what: &Path, e: std::io::Error| format!("preparing {}: {e}", what.display());
    let link = dir.join("kernel");
    std::os::unix::fs::symlink(installed.join("kernel"), &link).map_err(|e| failed(&link, e))?;
    for name in ["modules.builtin", "modules.builtin.modinfo", "modules.order"] {
        std::fs::copy(installed.join(name), dir.join(name))
            .map_err(|e| failed(&dir.join(name), e))?;
    }
    for module in modules {
        let to = updates.join(module.file_name().unwrap_or_default());
        // Debug information is most of a module, and a guest would copy it over 9p.
        finish(
            Command::new("strip").arg("--strip-debug").arg("-o").arg(&to).arg(module),
            &format!("stripping {}", module.display()),
        )?;
    }
    finish(Command::new("/sbin/depmod").arg("--basedir").arg(&root).arg(kernel), "running depmod")
}

/// Runs a command to its end and says its last lines if it failed.
fn finish(command: &mut Command, doing: &str) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|e| format!("{doing}: {:?} did not start: {e}", command.get_program()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Err(format!("{doing}: {}\n{}", output.status, crate::tally::tail(&text, 20)))
}
