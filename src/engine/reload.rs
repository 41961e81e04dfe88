//! What must be known before a module is removed: who uses it, and that it can come back.

use std::collections::BTreeSet;

use crate::claims::Refusal;
use crate::facts::{Facts, Users};

/// Who uses these devices, in words; none when nobody does. `rdma_cm` serves every device, so that
/// its users count whichever device they use.
pub(super) fn users_of(users: &Users, devices: &[&str]) -> Option<String> {
    let ours = |device: &str| devices.contains(&device);
    let mut found: Vec<String> = Vec::new();
    for process in &users.processes {
        if process.device.as_deref().is_none_or(ours) {
            found.push(format!(
                "{} (pid {}) has {} open",
                process.command, process.pid, process.node
            ));
        }
    }
    for user in users.kernel.iter().filter(|user| ours(&user.device)) {
        found.push(format!(
            "the kernel's {} has a {} on {}",
            user.owner, user.resource, user.device
        ));
    }
    for mount in &users.mounts {
        found.push(format!("{mount} is mounted over RDMA"));
    }
    let distinct: BTreeSet<String> = found.into_iter().collect();
    if distinct.is_empty() {
        None
    } else {
        Some(distinct.into_iter().collect::<Vec<_>>().join("; "))
    }
}

/// Before a module goes, its way back must be open.
pub(super) fn one_way(module: &str, facts: &Facts) -> Option<Refusal> {
    let evidence = &facts.evidence;
    let refuse = |why: String, fix: &str| {
        Some(Refusal { what: format!("{module} is not removed"), why, fix: fix.to_owned() })
    };
    match evidence.modules_disabled.get() {
        Some(false) => {}
        Some(true) => {
            return refuse(
                format!(
                    "no module can be loaded any more ({} is 1)",
                    evidence.modules_disabled.source()
                ),
                "set the option in /etc/modprobe.d and reboot",
            );
        }
        None => {
            let why = evidence.modules_disabled.why_not();
            return refuse(
                format!("whether it could be loaded again is unknown: {why}"),
                "run it as root",
            );
        }
    }
    let seen = evidence.builds.get(module);
    let Some(build) = seen.and_then(|seen| seen.get()) else {
        let why = seen.map_or("not asked in this look".to_owned(), |seen| seen.why_not());
        return refuse(format!("what runs is unknown: {why}"), "run it as root");
    };
    if build.builtin {
        return refuse(format!("{module} is built into the kernel"), "use its boot parameters");
    }
    if !build.holders.is_empty() {
        let holders: Vec<&str> = build.holders.iter().map(String::as_str).collect();
        return refuse(
            format!("it is held by {} (/sys/module/{module}/holders)", holders.join(", ")),
            "remove what holds it first",
        );
    }
    let seen = evidence.module_files.get(module);
    let file = match seen.and_then(|seen| seen.get()) {
        Some(Some(file)) => file,
        Some(None) => {
            return refuse(
                format!(
                    "there is no file of {module} for kernel {} to load it from again",
                    evidence.kernel_release
                ),
                "install the driver's package for the running kernel",
            );
        }
        None => {
            let why = seen.map_or("not asked in this look".to_owned(), |seen| seen.why_not());
            return refuse(format!("the module file is unknown: {why}"), "run it as root");
        }
    };
    let built_for = file.vermagic.as_deref().and_then(|magic| magic.split(' ').next());
    if built_for != Some(evidence.kernel_release.as_str()) {
        return refuse(
            format!(
                "{} was built for kernel {}, this one is {}",
                file.path,
                built_for.unwrap_or("unknown"),
                evidence.kernel_release
            ),
            "install the driver for the running kernel",
        );
    }
    let locked = evidence.lockdown.get().is_some_and(|lockdown| lockdown != "none");
    if locked && !file.signed {
        return refuse(
            format!(
                "{} is not signed and the kernel is locked down ({})",
                file.path,
                evidence.lockdown.source()
            ),
            "sign the module with a key that the kernel trusts",
        );
    }
    // Both have one or none has: the kernel writes it when it builds the module.
    let (running, disk) = (build.srcversion.as_deref(), file.srcversion.as_deref());
    if running == disk {
        return None;
    }
    refuse(
        format!(
            "{} (srcversion {}) is not the module that runs (srcversion {}); it may not fit the \
             drivers that are loaded",
            file.path,
            disk.unwrap_or("none"),
            running.unwrap_or("none")
        ),
        "reboot, so that all drivers are of the installed release",
    )
}
