//! The Debian packages the lab and the product's build need, and their installation.

use std::process::{Command, Stdio};

/// Package and what it is for.
const NEEDED: &[(&str, &str)] = &[
    ("qemu-system-x86", "the guests"),
    ("linux-image-amd64", "their kernel"),
    ("linux-headers-amd64", "building modules for it"),
    ("linux-source-6.1", "e1000e, siw and netdevsim, which Debian ships as source"),
    ("gcc", "modules and the product"),
    ("make", "modules"),
    ("libc6-dev", "modules' tools and the product"),
    ("binutils", "stripping modules"),
    ("xz-utils", "unpacking the kernel's source"),
    ("kmod", "depmod here, modprobe in the guests"),
    ("busybox-static", "the initramfs"),
    ("clang", "the product's build: bindings to libibverbs"),
    ("libclang-dev", "the same"),
    ("pkgconf", "the same"),
    ("libibverbs-dev", "the same"),
    ("librdmacm-dev", "the same"),
    ("rdma-core", "in the guests: libraries and configuration"),
    ("ibverbs-providers", "in the guests: rxe and siw for libibverbs"),
    ("ibverbs-utils", "in the guests: ibv_devices, ibv_devinfo"),
    ("rdmacm-utils", "in the guests: rping"),
    ("perftest", "in the guests: ib_write_bw and others"),
    ("iproute2", "in the guests: ip, rdma, devlink"),
    ("ethtool", "in the guests"),
    ("iputils-ping", "in the guests"),
    ("procps", "in the guests: pgrep"),
    ("nftables", "in the guests: scenarios with a firewall"),
];

/// The packages of `needed` that `dpkg-query`'s lines (`name status`) do not show as installed.
fn missing<'a>(needed: &[(&'a str, &str)], statuses: &str) -> Vec<&'a str> {
    let installed = |name: &str| {
        statuses.lines().any(|line| {
            line.split_once(' ').is_some_and(|(package, status)| {
                package == name && status == "install ok installed"
            })
        })
    };
    needed.iter().map(|(name, _)| *name).filter(|name| !installed(name)).collect()
}

/// Installs what is missing, as root; else says the command that would.
pub(crate) fn ensure() -> Result<(), String> {
    let query = Command::new("dpkg-query")
        .args(["--show", "--showformat", "${Package} ${Status}\\n"])
        .args(NEEDED.iter().map(|(name, _)| name))
        .output()
        .map_err(|e| {
            format!("dpkg-query did not start ({e}): the lab needs a Debian 12 machine")
        })?;
    // It also ends with 1 when it does not know a package, which only means: not installed.
    let missing = missing(NEEDED, &String::from_utf8_lossy(&query.stdout));
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("Debian packages that are missing:");
    for (name, purpose) in NEEDED.iter().filter(|(name, _)| missing.contains(name)) {
        eprintln!("  {name:<20} {purpose}");
    }
    let install = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    // SAFETY: geteuid has no preconditions and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return Err(format!(
            "not root, so install them first:\n  sudo apt-get update && sudo {install}"
        ));
    }
    eprintln!("installing them: {install}");
    apt("update -q")?;
    apt(install.trim_start_matches("apt-get "))?;
    Ok(())
}

fn apt(arguments: &str) -> Result<(), String> {
    let output = Command::new("apt-get")
        .args(arguments.split(' '))
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("apt-get did not start: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Err(format!("apt-get {arguments}: {}\n{}", output.status, crate::tally::tail(&text, 20)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fully_installed_packages_count() {
        let needed = [("kmod", ""), ("make", ""), ("clang", ""), ("gcc", "")];
        let statuses = "kmod install ok installed\nmake deinstall ok config-files\ngcc-12 install ok installed\n";
        assert_eq!(missing(&needed, statuses), ["make", "clang", "gcc"]);
    }

    #[test]
    fn no_package_is_listed_twice() {
        let mut names: Vec<&str> = NEEDED.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
