//! What can be done without root, and what a read-only command may not do even with privileges.

use super::common::{raw_state, shipped, state, still_reachable};
use crate::bed::{DriverSet, Lab};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let on_two = |name, body| scenario(name, DriverSet::InKernel, 2, body);
    vec![
        on_two("nobody can look, plan and check, and an apply is refused first", nobody),
        on_two("check changes nothing although it could", check_with_privileges),
    ]
}

fn nobody(lab: &Lab) {
    let node = lab.node(1);
    let profile = "/run/e810-rocev2.yaml";
    node.run(&format!("install -m 644 {} {profile}", shipped("e810-rocev2.yaml"))).exits(0);
    let before = (state(node), raw_state(node));
    node.run_as_nobody(&[], &format!("roce-setup check {profile}"))
        .exits(1)
        .says("not as the profile says: link.mtu ")
        .says("ok       the ice port of PCI function 0 is in mode rocev2\n");
    node.run_as_nobody(&[], "roce-setup status")
        .exits(0)
        .says("ens1f0  rdmap2s0f0 (rxe)  0000:02:00.0  ice")
        .says("rocev2");
    let facts = node.run_as_nobody(&[], "roce-setup facts").exits(0).json();
    assert_eq!(facts["state"]["links"]["value"]["ens1f0"]["mtu"], 1500);
    assert_eq!(facts["evidence"]["privilege"]["value"]["net_admin"], false, "{facts:#}");
    node.run_as_nobody(&[], &format!("roce-setup plan {profile}"))
        .exits(1)
        .says("  change   set ens1f0 MTU 4200\n");
    node.run_as_nobody(&[], &format!("roce-setup apply {profile}"))
        .exits(2)
        .says("refused, nothing was changed: drivers and interfaces are not changed\n")
        .says("this process lacks CAP_NET_ADMIN and CAP_SYS_MODULE")
        .says("run it as root: sudo roce-setup apply ...");
    // One of the two is not enough either, and said so before the first change.
    node.run_as_nobody(&["net_admin"], &format!("roce-setup apply {profile}"))
        .exits(2)
        .says("this process lacks CAP_SYS_MODULE");
    assert_eq!(state(node), before.0);
    assert_eq!(raw_state(node), before.1);
    still_reachable(node, "ice");
}

fn check_with_privileges(lab: &Lab) {
    let node = lab.node(1);
    let profile = "/run/e810-rocev2.yaml";
    node.run(&format!("install -m 644 {} {profile}", shipped("e810-rocev2.yaml"))).exits(0);
    node.run("rmmod rdma_ucm rdma_cm").exits(0);
    let before = (state(node), raw_state(node));
    for command in ["check", "status", "facts", "plan"] {
        let argument = if matches!(command, "check" | "plan") { profile } else { "" };
        let ran = node.run_as_nobody(
            &["net_admin", "sys_module"],
            &format!("roce-setup {command} {argument}"),
        );
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
    }
    node.run(&format!("roce-setup check {profile}")).exits(1);
    assert_eq!(state(node), before.0);
    assert_eq!(raw_state(node), before.1);
    still_reachable(node, "ice");
}
