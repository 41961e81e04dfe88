//! Settings of rdma_cm and irdma in configfs. Read only: making a directory there changes the kernel.

use super::tree::{Tree, words};
use crate::facts::{Configfs, Seen};

/// Subsystems whose settings a reload of the driver loses.
const SUBSYSTEMS: [&str; 2] = ["rdma_cm", "irdma"];
/// rdma_cm/<device>/ports/<n>/<file> is the deepest.
const DEEPEST: usize = 6;

/// All settings below `/sys/kernel/config/{rdma_cm,irdma}`.
pub(crate) fn read(sys: &Tree, proc: &Tree) -> Seen<Configfs> {
    let root = "kernel/config";
    let mut found = Configfs::new();
    let mut any = false;
    for subsystem in SUBSYSTEMS {
        let place = format!("{root}/{subsystem}");
        if !sys.exists(&place) {
            continue;
        }
        any = true;
        // The subsystem itself comes and goes with its module; no change makes it.
        if let Err(error) = walk(sys, root, subsystem, 0, &mut found) {
            return Seen::unknown(words(&error), sys.name(&place));
        }
    }
    if any {
        return Seen::known(found, sys.name(root));
    }
    let registered = proc
        .text("filesystems")
        .is_ok_and(|text| text.lines().any(|line| line.ends_with("configfs")));
    let mounted = proc
        .text("self/mounts")
        .is_ok_and(|text| text.lines().any(|line| line.split(' ').nth(2) == Some("configfs")));
    match (registered, mounted) {
        (true, false) => Seen::unknown("configfs is not mounted", sys.name(root)),
        (true, true) => Seen::known(found, sys.name(root)),
        (false, _) => {
            Seen::known(found, format!("{} (this kernel has no configfs loaded)", sys.name(root)))
        }
    }
}

fn walk(
    sys: &Tree,
    root: &str,
    path: &str,
    depth: usize,
    found: &mut Configfs,
) -> std::io::Result<()> {
    if depth > DEEPEST {
        return Ok(());
    }
    for name in sys.names(&format!("{root}/{path}"))? {
        let below = format!("{path}/{name}");
        let place = format!("{root}/{below}");
        if sys.path(&place).is_dir() {
            found.insert(below.clone(), None);
            walk(sys, root, &below, depth + 1, found)?;
        } else if let Ok(value) = sys.text(&place) {
            // Some attributes can only be written; some fail while the device is going.
            found.insert(below, Some(value));
        }
    }
    Ok(())
}
