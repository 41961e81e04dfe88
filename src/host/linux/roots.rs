//! Where this machine's files are.

use std::path::PathBuf;

/// Where the parts of the file system are. Tests put a tree of their own in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// `/sys`
    pub sys: PathBuf,
    /// `/proc`
    pub proc: PathBuf,
    /// `/dev`
    pub dev: PathBuf,
    /// `/etc`
    pub etc: PathBuf,
    /// `/lib/modules`
    pub modules: PathBuf,
    /// `/`, to which the absolute paths of `ld.so.conf` are relative.
    pub library_root: PathBuf,
    /// The dynamic loader's own directories, after those of `ld.so.conf`.
    pub libraries: Vec<PathBuf>,
}

/// The loader's directories on the distributions that matter, in its order.
const LIBRARIES: [&str; 7] = [
    "lib/x86_64-linux-gnu",
    "usr/lib/x86_64-linux-gnu",
    "lib/aarch64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "lib64",
    "usr/lib64",
    "usr/lib",
];

impl Roots {
    /// The usual layout below a directory: `/` for this machine.
    pub fn below(root: impl Into<PathBuf>) -> Roots {
        let root = root.into();
        Roots {
            sys: root.join("sys"),
            proc: root.join("proc"),
            dev: root.join("dev"),
            etc: root.join("etc"),
            modules: root.join("lib/modules"),
            libraries: LIBRARIES.iter().map(|directory| root.join(directory)).collect(),
            library_root: root,
        }
    }
}
