use std::collections::BTreeMap;

use crate::facts::{Configfs, ModuleState, NetdevKind};
use crate::facts::{FORMAT, Facts, Scope, Seen};
use crate::host::Look;
use crate::host::linux::Linux;
use crate::host::linux::fixture::Fixture;
use crate::profile::Selector;

/// The first seed's host: out-of-tree irdma without roce_ena, so iWARP; a 3.10 kernel.
fn host() -> Fixture {
    let fixture = Fixture::new();
    fixture
        .nic("ens1f0", 4, "0000:02:00.0", "ice")
        .rdma("rdmap2s0f0", "pci0000:00/0000:00:01.0/0000:02:00.0", "4: RNIC", "Ethernet")
        .link("sys/class/infiniband/rdmap2s0f0/device", "../..")
        .file("sys/module/irdma/initstate", "live")
        .file("sys/module/irdma/refcnt", "0")
        .file("sys/module/irdma/version", "1.11.16.6")
        .file("sys/module/irdma/srcversion", "4EF4DC399DBC6D9ECB96EFE")
        .file("sys/module/irdma/taint", "OE")
        .file("sys/module/irdma/parameters/roce_ena", "0")
        .file("sys/module/irdma/parameters/limits_sel", "3")
        .directory("sys/module/irdma/holders")
        .directory("sys/module/ib_core/parameters")
        .file("proc/sys/kernel/hostname", "server1")
        .file("proc/sys/kernel/osrelease", "3.10.0-1127.18.2.el7.x86_64")
        .file("proc/sys/kernel/modules_disabled", "0")
        .file("proc/self/status", "Uid:\t0\t0\t0\t0\nCapEff:\t0000000000011000")
        .file("proc/filesystems", "nodev\tsysfs")
        .file("sys/kernel/security/lockdown", "none [integrity] confidentiality");
    fixture
}

fn look(fixture: &Fixture, scope: &Scope) -> Facts {
    fixture.linux().look(scope).expect("facts")
}

fn modules(names: &[&str]) -> Scope {
    let modules = names.iter().map(|name| (*name).to_owned()).collect();
    Scope { modules, details: true, ..Scope::default() }
}

#[test]
fn a_kernel_without_netlink_families_still_gets_an_answer() {
    let scope = Scope { devlink: true, configfs: true, ..modules(&["irdma", "ice"]) };
    let facts = look(&host(), &scope);
    assert_eq!((facts.host.as_str(), facts.format), ("server1", FORMAT));
    let netdev = &facts.identity.netdevs.get().expect("netdevs")["ens1f0"];
    assert_eq!(netdev.bdf.map(|bdf| bdf.to_string()).as_deref(), Some("0000:02:00.0"));
    assert_eq!((netdev.driver.as_deref(), netdev.vfs, netdev.index), (Some("ice"), 2, 4));
    assert_eq!((&netdev.kind, netdev.carrier.get()), (&NetdevKind::Physical, Some(&true)));
    assert_eq!(netdev.numa_node, Seen::known(1, "/sys/bus/pci/devices/0000:02:00.0/numa_node"));
    assert_eq!(netdev.speed_mbps.get(), Some(&100_000));
    let link = facts.link("ens1f0").expect("links").expect("the link");
    assert_eq!((link.up, link.mtu), (true, 1500));
    assert_eq!(facts.state.routes.why_not(), "rtnetlink: not asked: only files are looked at");
    let irdma = facts.module("irdma").expect("asked");
    assert_eq!(
        irdma.parameters,
        BTreeMap::from([("limits_sel".into(), "3".into()), ("roce_ena".into(), "0".into())])
    );
    assert_eq!(facts.module("ice"), Some(&ModuleState::default()));
    assert_eq!(facts.module("mlx5_core"), None);
    let build = facts.evidence.builds["irdma"].get().expect("loaded");
    assert_eq!(
        (build.version.as_deref(), build.in_tree, build.refcount),
        (Some("1.11.16.6"), false, Some(0))
    );
    assert_eq!(
        facts.state.devlink["pci/0000:02:00.0"].why_not(),
        "devlink: not asked: only files are looked at"
    );
    assert_eq!(
        facts.state.configfs,
        Seen::known(Configfs::new(), "/sys/kernel/config (this kernel has no configfs loaded)")
    );
    assert_eq!(facts.evidence.lockdown.get().map(String::as_str), Some("integrity"));
    let privilege = facts.evidence.privilege.get().expect("known");
    assert!(privilege.net_admin && privilege.sys_module && privilege.root);
    let found = facts.rdma_of("ens1f0", None);
    assert_eq!((found.len(), found[0].0, found[0].2), (1, "rdmap2s0f0", 1));
    assert_eq!(facts.mode_of("rdmap2s0f0", 1).get(), Some(&crate::values::Mode::Iwarp));
}

#[test]
fn a_link_that_is_down_has_no_known_carrier() {
    let fixture = host();
    fixture.file("sys/class/net/ens1f0/flags", "0x1002");
    let facts = look(&fixture, &modules(&[]));
    let netdev = &facts.identity.netdevs.get().expect("netdevs")["ens1f0"];
    assert_eq!(
        netdev.carrier.why_not(),
        "/sys/class/net/ens1f0/carrier: the link is down by administration"
    );
    assert_eq!(netdev.speed_mbps.why_not(), "/sys/class/net/ens1f0/speed: there is no carrier");
}

#[test]
fn modules_are_told_apart_loaded_built_in_going_and_absent() {
    let fixture = host();
    fixture.file("sys/module/siw/initstate", "going").file("sys/module/siw/refcnt", "-1");
    let facts = look(&fixture, &modules(&["ib-core", "siw", "rdma_rxe"]));
    assert!(facts.module("ib-core").expect("asked").loaded);
    assert!(facts.evidence.builds["ib-core"].get().expect("built in").builtin);
    assert!(!facts.module("siw").expect("asked").loaded);
    assert_eq!(
        facts.state.modules["rdma_rxe"],
        Seen::known(ModuleState::default(), "/sys/module/rdma_rxe (absent)")
    );
}

#[test]
fn settings_in_configfs_are_read_and_a_missing_mount_is_no_empty_one() {
    let fixture = host();
    let scope = Scope { configfs: true, ..Scope::default() };
    fixture
        .file("proc/filesystems", "nodev\tconfigfs")
        .file("proc/self/mounts", "sysfs /sys sysfs rw 0 0");
    assert_eq!(
        look(&fixture, &scope).state.configfs.why_not(),
        "/sys/kernel/config: configfs is not mounted"
    );
    fixture.file("sys/kernel/config/rdma_cm/irdma1/ports/1/default_roce_mode", "RoCE v2");
    let facts = look(&fixture, &scope);
    let settings = facts.state.configfs.get().expect("known");
    assert_eq!(settings["rdma_cm/irdma1"], None);
    assert_eq!(settings["rdma_cm/irdma1/ports/1/default_roce_mode"].as_deref(), Some("RoCE v2"));
}

#[test]
fn a_scope_bounds_what_is_read() {
    let facts = look(&host(), &Scope::default());
    assert!(facts.state.modules.is_empty() && facts.state.devlink.is_empty());
    assert!(facts.state.configfs.is_not_asked() && facts.evidence.users.is_not_asked());
    assert!(facts.evidence.userspace.is_not_asked() && facts.evidence.verbs.is_not_asked());
    assert!(facts.evidence.lifelines.is_not_asked());
}

#[test]
fn a_host_with_nothing_at_all_is_unknown_and_not_empty() {
    let facts = look(&Fixture::new(), &modules(&["ice"]));
    assert_eq!(facts.state.links.why_not(), "/sys/class/net: No such file or directory (ENOENT)");
    assert_eq!(facts.identity.netdevs.get(), None);
    assert_eq!(facts.module("ice"), None);
    let name = Selector::Name("ens1f0".parse().expect("a name"));
    let unknown = "/sys/class/net: No such file or directory (ENOENT)".to_owned();
    assert_eq!(facts.find_port(&name), crate::facts::PortLookup::Unknown(unknown));
}

#[test]
fn this_machine_is_read_without_being_changed() {
    let linux = Linux::new();
    let scope = Scope::everything(["ice", "irdma"].map(str::to_owned));
    let loaded = || std::fs::read_to_string("/proc/modules").unwrap_or_default().lines().count();
    let before = (loaded(), linux.look(&scope).expect("facts").state);
    let after = (linux.look(&scope).expect("facts").state, loaded());
    assert_eq!((before.0, before.1), (after.1, after.0));
    assert!(after_has_loopback(&linux), "no loopback interface");
}

fn after_has_loopback(linux: &Linux) -> bool {
    let facts = linux.look(&Scope::default()).expect("facts");
    facts.identity.netdevs.get().is_some_and(|netdevs| netdevs["lo"].kind == NetdevKind::Loopback)
}
