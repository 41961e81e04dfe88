//! Debian's own drivers: a real irdma without a card, and software devices on plain ports.

use super::common::{raw_state, shipped, state, still_reachable};
use crate::bed::{DriverSet, Lab};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let on_two = |name, body| scenario(name, DriverSet::Debian, 2, body);
    vec![
        on_two("Debian's irdma has no roce_ena, and modprobe's exit code proves nothing", roce_ena),
        on_two("soft RoCE on both hosts at once, and a second apply changes nothing", soft_roce),
        on_two("soft iWARP on both hosts at once", soft_iwarp),
        on_two("other addresses are removed where asked, link-local ones never", other_addresses),
        on_two("path-mtu raises the MTU and never lowers it", path_mtu),
    ]
}

fn roce_ena(lab: &Lab) {
    let node = lab.node(1);
    let profile = shipped("s1-grt.yaml");
    node.run("modprobe irdma roce_ena=1").exits(0);
    let before = (state(node), raw_state(node));
    for (command, end) in [("plan", "apply would change nothing"), ("apply", "nothing was changed")]
    {
        node.run(&format!("roce-setup {command} {profile}"))
            .exits(2)
            .says(&format!("refused, {end}: irdma is not loaded with roce_ena=1\n"))
            .says("this is the in-kernel irdma: it has no roce_ena")
            .says("remove `parameters: {roce_ena: ...}` from `modules`");
    }
    assert_eq!(state(node), before.0);
    assert_eq!(raw_state(node), before.1);
    // Before it is loaded, the file on disk says the same.
    node.run("rmmod irdma").exits(0);
    let ran = node.run(&format!("roce-setup apply {profile}")).says("roce_ena");
    assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
    still_reachable(node, "e1000e");
}

fn soft_roce(lab: &Lab) {
    let apply = format!("roce-setup apply {}", shipped("soft-roce.yaml"));
    lab.node(1).run("ip addr add 100.0.1.10/8 dev ens1f0").exits(0);
    for (ran, own) in lab.each(|node| node.run_within(120, &apply)).into_iter().zip(["10", "11"]) {
        ran.exits(0)
            .says("as the profile says")
            .says(&format!("changed  add 100.0.1.{own}/24 to ens1f0\n"))
            .says("link tested: connected, and all data arrived as it was sent");
    }
    lab.node(1).run("ip -4 -o addr show dev ens1f0 | awk '{print $4}'").prints("100.0.1.10/24");
    for node in lab.nodes() {
        node.run("cat /sys/class/infiniband/*/node_type /sys/class/net/ens1f0/mtu")
            .prints("1: CA\n4200");
    }
    let before = state(lab.node(1));
    for ran in lab.each(|node| node.run_within(120, &apply)) {
        ran.exits(0)
            .says("as the profile says, nothing was changed\n")
            .says("link tested: connected, and all data arrived as it was sent");
    }
    assert_eq!(state(lab.node(1)), before);
    still_reachable(lab.node(1), "e1000e");
}

fn soft_iwarp(lab: &Lab) {
    lab.each(|node| {
        node.write(
            "/run/siw.yaml",
            "version: 1\nname: soft-iwarp\nhosts: server[1-2]\ninterfaces:\n  - name: ens1f0\n    state: up\n    ipv4:\n      \
             address:\n        - {ip: \"100.0.1.[10-11]\", prefix-length: 24}\n    rdma: {mode: iwarp, software: siw}\n\
             smoke:\n  peer: pair\n  tests: [write-lat, read-lat]\n  sizes: [2]\n",
        );
    });
    for ran in lab.each(|node| node.run_within(120, "roce-setup apply /run/siw.yaml")) {
        ran.exits(0)
            .says("ok       ens1f0 is in mode iwarp\n")
            .says("link tested: connected, and all data arrived as it was sent");
    }
    for node in lab.nodes() {
        node.run("cat /sys/class/infiniband/*/node_type").prints("4: RNIC");
        still_reachable(node, "e1000e");
    }
}

fn other_addresses(lab: &Lab) {
    let node = lab.node(1);
    node.run("ip addr add 100.0.9.1/24 dev ens1f0; ip addr add 169.254.7.7/16 dev ens1f0 scope link; ip addr add fd00::9/64 dev ens1f0")
        .exits(0);
    let profile = |others: &str| {
        format!(
            "version: 1\ninterfaces:\n  - name: ens1f0\n    ipv4:\n      address:\n        - {{ip: 100.0.1.10, prefix-length: 24}}\n      \
             other-addresses: {others}\n"
        )
    };
    let shown = "ip -o addr show dev ens1f0 | awk '{print $4}' | sort";
    node.write("/run/addresses.yaml", &profile("keep"));
    node.run("roce-setup apply /run/addresses.yaml").exits(0);
    let link_local = "fe80::5054:ff:fe00:100/64";
    node.run(shown)
        .prints(&format!("100.0.1.10/24\n100.0.9.1/24\n169.254.7.7/16\nfd00::9/64\n{link_local}"));
    node.write("/run/addresses.yaml", &profile("remove"));
    node.run("roce-setup apply /run/addresses.yaml")
        .exits(0)
        .says("changed  remove 100.0.9.1/24 from ens1f0\n")
        .does_not_say("169.254.7.7");
    node.run(shown).prints(&format!("100.0.1.10/24\n169.254.7.7/16\nfd00::9/64\n{link_local}"));
    node.run("roce-setup apply /run/addresses.yaml").exits(0).says("nothing was changed\n");
    still_reachable(node, "e1000e");
}

fn path_mtu(lab: &Lab) {
    let node = lab.node(1);
    let profile = |bytes: u32| {
        format!(
            "version: 1\ninterfaces:\n  - name: ens1f0\n    rdma: {{mode: rocev2, software: rxe, path-mtu: {bytes}}}\n"
        )
    };
    node.write("/run/path.yaml", &profile(4096));
    node.run("roce-setup apply /run/path.yaml").exits(0).says("changed  set ens1f0 MTU 4192\n");
    node.run("cat /sys/class/net/ens1f0/mtu").prints("4192");
    node.run("ibv_devinfo -d rxe0").says("active_mtu:\t\t4096 (5)");
    node.write("/run/path.yaml", &profile(1024));
    node.run("roce-setup apply /run/path.yaml").exits(0).says("nothing was changed\n");
    node.run("ip link set ens1f0 mtu 9000; roce-setup apply /run/path.yaml")
        .exits(0)
        .says("nothing was changed\n");
    node.run("cat /sys/class/net/ens1f0/mtu").prints("9000");
    still_reachable(node, "e1000e");
}
