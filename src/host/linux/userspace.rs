//! The userspace half of RDMA, as files: libraries, providers, driver lists, device nodes.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{Roots, ld_cache};
use crate::facts::{Seen, Userspace};

/// `ld.so.conf` may include others; a loop of includes ends here.
const DEEPEST_INCLUDE: usize = 4;

const LIBRARIES: [&str; 2] = ["libibverbs.so.1", "librdmacm.so.1"];

/// Looks for the files. A file that is not there is known not to be there.
pub(crate) fn read(roots: &Roots) -> Seen<Userspace> {
    let Libraries { verbs, rdmacm, directories, source } =
        cached(roots).unwrap_or_else(|| searched(roots));
    let path = |path: Option<PathBuf>| path.map(|path| shown(roots, &path));
    let mut found =
        Userspace { libibverbs: path(verbs), librdmacm: path(rdmacm), ..Userspace::default() };
    for directory in &directories {
        let mut providers = names(&directory.join("libibverbs"));
        // Those of rdma-core before 13 lie beside the library; reading the whole directory is not cheap.
        if providers.is_empty() && directory.join(LIBRARIES[0]).exists() {
            providers = names(directory);
        }
        found.providers.extend(
            providers.into_iter().filter(|name| {
                name.split_once("-rdmav").is_some_and(|(_, end)| end.ends_with(".so"))
            }),
        );
    }
    for directory in [roots.etc.join("libibverbs.d"), roots.etc.join("../usr/share/libibverbs.d")] {
        for name in names(&directory).into_iter().filter(|name| name.ends_with(".driver")) {
            found.driver_files.extend(name.strip_suffix(".driver").map(str::to_owned));
        }
    }
    found.nodes = names(&roots.dev.join("infiniband")).into_iter().collect();
    Seen::known(found, format!("{source}, /etc/libibverbs.d, /dev/infiniband"))
}

/// The libraries, and where providers may be.
struct Libraries {
    verbs: Option<PathBuf>,
    rdmacm: Option<PathBuf>,
    directories: Vec<PathBuf>,
    source: &'static str,
}

/// The loader's choice: libibverbs opens its providers below the directory that it is in itself.
/// None unless both are in the loader's list and where the list says.
fn cached(roots: &Roots) -> Option<Libraries> {
    let found = ld_cache::find(&roots.etc.join("ld.so.cache"), &LIBRARIES)?;
    let library = |name: &str| {
        let path = roots.library_root.join(found.get(name)?.trim_start_matches('/'));
        path.exists().then_some(path)
    };
    let (verbs, rdmacm) = (library(LIBRARIES[0])?, library(LIBRARIES[1])?);
    let directories = vec![verbs.parent()?.to_owned()];
    let source = "/etc/ld.so.cache";
    Some(Libraries { verbs: Some(verbs), rdmacm: Some(rdmacm), directories, source })
}

/// Without the loader's list: every directory that it would search.
fn searched(roots: &Roots) -> Libraries {
    let directories = library_directories(roots);
    let library = |name: &str| {
        directories.iter().map(|directory| directory.join(name)).find(|path| path.exists())
    };
    let (verbs, rdmacm) = (library(LIBRARIES[0]), library(LIBRARIES[1]));
    let source = "/etc/ld.so.conf and the loader's directories";
    Libraries { verbs, rdmacm, directories, source }
}

/// Where the loader looks: the lists of ld.so.conf, then its own directories.
fn library_directories(roots: &Roots) -> Vec<PathBuf> {
    let mut all = Vec::new();
    configured(roots, &roots.etc.join("ld.so.conf"), 0, &mut all);
    all.extend(roots.libraries.iter().cloned());
    let mut seen = BTreeSet::new();
    // /lib64 is often the same directory as /usr/lib64.
    all.retain(|directory| {
        std::fs::metadata(directory).is_ok_and(|real| seen.insert((real.dev(), real.ino())))
    });
    all
}

fn configured(roots: &Roots, file: &Path, depth: usize, all: &mut Vec<PathBuf>) {
    let Ok(text) = std::fs::read_to_string(file) else {
        return;
    };
    for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        if let Some(pattern) = line.strip_prefix("include ") {
            if depth >= DEEPEST_INCLUDE {
                continue;
            }
            // Only ever `ld.so.conf.d/*.conf`, perhaps with /etc before it.
            let Some((directory, files)) = pattern.trim().rsplit_once('/') else {
                continue;
            };
            let directory =
                roots.etc.join(directory.trim_start_matches("/etc/").trim_start_matches('/'));
            let ending = files.trim_start_matches('*');
            let mut found = names(&directory);
            found.sort();
            for name in found.into_iter().filter(|name| name.ends_with(ending)) {
                configured(roots, &directory.join(name), depth + 1, all);
            }
        } else if let Some(path) = line.strip_prefix('/') {
            all.push(roots.library_root.join(path));
        }
    }
}

fn names(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A path as the administrator knows it.
fn shown(roots: &Roots, path: &Path) -> String {
    match path.strip_prefix(&roots.library_root) {
        Ok(below) => format!("/{}", below.display()),
        Err(_) => path.display().to_string(),
    }
}

#[cfg(test)]
#[path = "userspace_tests.rs"]
mod tests;
