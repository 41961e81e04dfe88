//! The kernel and this process: release, whether modules may be loaded, capabilities.

use std::ffi::OsStr;

use super::tree::Tree;
use crate::facts::{Privilege, Seen};

// linux/capability.h
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_MODULE: u32 = 16;

/// Host name and kernel release (`uname -nr`).
pub(crate) fn uname() -> (String, String) {
    let words = |text: &OsStr| text.to_string_lossy().into_owned();
    nix::sys::utsname::uname()
        .map(|uname| (words(uname.nodename()), words(uname.release())))
        .unwrap_or_default()
}

/// The same from files.
pub(crate) fn uname_in(proc: &Tree) -> (String, String) {
    let text = |file: &str| proc.text(file).unwrap_or_default();
    (text("sys/kernel/hostname"), text("sys/kernel/osrelease"))
}

/// `/proc/sys/kernel/modules_disabled`; the file is absent in a kernel without modules.
pub(crate) fn modules_disabled(proc: &Tree) -> Seen<bool> {
    proc.parsed("sys/kernel/modules_disabled", |text| match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    })
}

/// The level in brackets of `/sys/kernel/security/lockdown`.
pub(crate) fn lockdown(sys: &Tree) -> Seen<String> {
    const FILE: &str = "kernel/security/lockdown";
    match sys.text(FILE) {
        Ok(text) => {
            let level = text
                .split_once('[')
                .and_then(|(_, rest)| rest.split_once(']'))
                .map(|(level, _)| level);
            match level {
                Some(level) => Seen::known(level.to_owned(), sys.name(FILE)),
                None => Seen::unknown("no level is marked", sys.name(FILE)),
            }
        }
        // The security file system is there, and this module is not in it: nothing is locked.
        Err(error)
            if error.kind() == std::io::ErrorKind::NotFound
                && sys.exists("kernel/security/lsm") =>
        {
            Seen::known("none".to_owned(), format!("{} (absent)", sys.name(FILE)))
        }
        Err(error) => Seen::unknown(super::tree::words(&error), sys.name(FILE)),
    }
}

/// Effective capabilities and user of this process.
pub(crate) fn privilege(proc: &Tree) -> Seen<Privilege> {
    proc.parsed("self/status", |text| {
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let effective = u64::from_str_radix(field("CapEff:")?, 16).ok()?;
        let user = field("Uid:")?.split_whitespace().nth(1)?;
        Some(Privilege {
            net_admin: effective & (1 << CAP_NET_ADMIN) != 0,
            sys_module: effective & (1 << CAP_SYS_MODULE) != 0,
            root: user == "0",
        })
    })
}
