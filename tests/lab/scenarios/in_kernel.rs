//! The kernel's own ice and irdma: no roce_ena, devlink decides, port by port.

use super::common::{finding, raw_state, shipped, state, still_reachable};
use crate::bed::{DriverSet, Lab, Node};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let on_two = |name, body| scenario(name, DriverSet::InKernel, 2, body);
    vec![
        on_two("roce_ena is refused, with the reason, on the kernel's own irdma", roce_ena),
        on_two("a port in iWARP becomes RoCEv2: iWARP off, then RoCE on", one_port),
        on_two("both ports in iWARP: only the profile's is switched", both_ports),
        on_two("the kernel's own words reach the user when a set is refused", extack),
        on_two("an iWARP port fails a RoCEv2 profile at rdma.mode", iwarp_is_not_roce),
        on_two("a port is found by its PCI address, its MAC, or its driver and function", matches),
    ]
}

/// In words of the administrator: this port in iWARP, its device there.
fn into_iwarp(node: &Node, function: u8, device: &str) {
    let bdf = format!("pci/0000:02:00.{function}");
    node.run(&format!(
        "devlink dev param set {bdf} name enable_roce value false cmode runtime &&
         devlink dev param set {bdf} name enable_iwarp value true cmode runtime"
    ))
    .exits(0);
    node.until(20, &format!("grep -qx '4: RNIC' /sys/class/infiniband/{device}/node_type"));
}

/// enable_roce and enable_iwarp as devlink itself shows them.
fn devlink_says(node: &Node, function: u8, roce: bool, iwarp: bool) {
    for (name, value) in [("enable_roce", roce), ("enable_iwarp", iwarp)] {
        node.run(&format!("devlink dev param show pci/0000:02:00.{function} name {name}"))
            .exits(0)
            .says(&format!("value {value}"));
    }
}

fn roce_ena(lab: &Lab) {
    let node = lab.node(1);
    let profile = shipped("s1-grt.yaml");
    let before = (state(node), raw_state(node));
    for (command, end) in [("plan", "apply would change nothing"), ("apply", "nothing was changed")]
    {
        node.run(&format!("roce-setup {command} {profile}"))
            .exits(2)
            .says(&format!("refused, {end}: irdma is not loaded with roce_ena=1\n"))
            .says("this is the in-kernel irdma: it has no roce_ena, and modprobe ignores the parameter and exits 0")
            .says("remove `parameters: {roce_ena: ...}` from `modules` and keep `rdma: {mode: rocev2}` under the interface")
            .says("observed  no such parameter (/sys/module/irdma/parameters/roce_ena)")
            .says("not applicable: the in-kernel ice of ")
            .does_not_say("as the profile says");
    }
    let report = node.run(&format!("roce-setup --output json apply {profile}")).exits(2).json();
    assert_eq!(report["outcome"], "refused");
    assert_eq!(report["changes"], serde_json::json!([]));
    assert_eq!(state(node), before.0);
    assert_eq!(raw_state(node), before.1);
    still_reachable(node, "ice");
}

fn one_port(lab: &Lab) {
    let node = lab.node(1);
    into_iwarp(node, 0, "rdmap2s0f0");
    becomes_rocev2(node);
    devlink_says(node, 1, true, false);
    still_reachable(node, "ice");
}

fn both_ports(lab: &Lab) {
    let node = lab.node(1);
    into_iwarp(node, 0, "rdmap2s0f0");
    into_iwarp(node, 1, "irdma1");
    becomes_rocev2(node);
    devlink_says(node, 1, false, true);
    node.run("cat /sys/class/infiniband/irdma1/node_type").prints("4: RNIC");
    still_reachable(node, "ice");
}

fn becomes_rocev2(node: &Node) {
    let profile = shipped("e810-rocev2.yaml");
    let off = "set devlink pci/0000:02:00.0 enable_iwarp=false (runtime)";
    let on = "set devlink pci/0000:02:00.0 enable_roce=true (runtime)";
    let before = state(node);
    node.run(&format!("roce-setup plan {profile}"))
        .exits(1)
        .says("not as the profile says: 3 changes are due\n")
        .says("of the ice port of PCI function 0: iwarp -> rocev2\n")
        .says(&format!("  change   {off}\n  change   {on}\n"));
    assert_eq!(state(node), before, "a plan changes nothing");
    node.run(&format!("roce-setup apply {profile}"))
        .exits(0)
        .says("as the profile says, 3 changes made\n")
        .says("  changed  set ens1f0 MTU 4200\n")
        .says(&format!("  changed  {off}\n  changed  {on}\n"));
    node.run("cat /sys/class/infiniband/rdmap2s0f0/node_type /sys/class/infiniband/rdmap2s0f0/ports/1/gid_attrs/types/0")
        .prints("1: CA\nRoCE v2");
    devlink_says(node, 0, true, false);
    node.run("cat /sys/class/net/ens1f0/mtu").prints("4200");
    node.run(&format!("roce-setup check {profile}"))
        .exits(0)
        .says("ok       the ice port of PCI function 0 is in mode rocev2");
    let log = node.run("cat /run/lab/rdma-sync.log").stdout;
    node.run(&format!("roce-setup apply {profile}"))
        .exits(0)
        .says("as the profile says, nothing was changed\n");
    assert_eq!(node.run("cat /run/lab/rdma-sync.log").stdout, log, "the second apply switched");
}

/// Another administrator switches iWARP on between the two sets. The apply is held at that place
/// by its progress on stderr: a full pipe takes the first line and not all of the second.
fn extack(lab: &Lab) {
    let node = lab.node(1);
    into_iwarp(node, 0, "rdmap2s0f0");
    node.run("ip link set ens1f0 mtu 4200").exits(0);
    // F_SETPIPE_SZ is 1031. 60 bytes are left: the first line has 58 with its line feed.
    node.write(
        "/run/hold.pl",
        "open my $pipe, '+<', '/run/progress' or die; fcntl $pipe, 1031, 4096 or die $!;
         syswrite $pipe, '.' x (4096 - 60); $| = 1; print \"held\\n\"; sleep 600;",
    );
    let holder = node.spawn("mkfifo /run/progress; exec perl /run/hold.pl");
    holder.until_it_says("held", 20);
    let apply = node
        .spawn(&format!("exec roce-setup apply {} 2>/run/progress", shipped("e810-rocev2.yaml")));
    let param = "devlink dev param show pci/0000:02:00.0 name enable_iwarp";
    node.until(30, &format!("{param} | grep -q 'value false'"));
    node.run("sleep 3; devlink dev param set pci/0000:02:00.0 name enable_iwarp value true cmode runtime")
        .exits(0);
    let drain = node.spawn("cat /run/progress");
    apply
        .wait_within(60)
        .says("  REFUSED  set devlink pci/0000:02:00.0 enable_roce=true (runtime)\n")
        .says(
            "iWARP is currently enabled. This device cannot enable iWARP and RoCEv2 simultaneously",
        )
        // The second attempt finds iWARP on again, and nobody in its way.
        .says("as the profile says")
        .exits(0);
    drain.kill();
    holder.kill();
    devlink_says(node, 0, true, false);
    still_reachable(node, "ice");
}

fn iwarp_is_not_roce(lab: &Lab) {
    let node = lab.node(1);
    into_iwarp(node, 0, "rdmap2s0f0");
    node.run("ip link set ens1f0 mtu 4200").exits(0);
    // What the eye is misled by:
    node.run("cd /sys/class/infiniband/rdmap2s0f0/ports/1; cat link_layer gid_attrs/types/0")
        .prints("Ethernet\nIB/RoCE v1");
    let profile = shipped("e810-rocev2.yaml");
    node.run(&format!("roce-setup check {profile}"))
        .exits(1)
        .says("not as the profile says: rdma.mode the ice port of PCI function 0: iwarp, expected rocev2\n")
        .says("observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)");
    let report = node.run(&format!("roce-setup --output json check {profile}")).exits(1).json();
    let mode = finding(&report, "rdma.mode");
    assert_eq!((&mode["verdict"], &mode["observed"]), (&"unmet".into(), &"iwarp".into()));
    assert_eq!(report["outcome"], "unmet");
    still_reachable(node, "ice");
}

fn matches(lab: &Lab) {
    let node = lab.node(1);
    let cases = [
        ("pci: \"0000:02:00.1\"", "ens1f1, ice, 0000:02:00.1"),
        ("permanent-mac: \"52:54:00:00:01:00\"", "ens1f0, ice, 0000:02:00.0"),
        ("driver: ice, pci-function: 1", "ens1f1, ice, 0000:02:00.1"),
    ];
    for (how, found) in cases {
        node.write(
            "/run/match.yaml",
            &format!("version: 1\ninterfaces:\n  - match: {{{how}}}\n    rdma: {{mode: rocev2}}\n"),
        );
        let report = node.run("roce-setup --output json check /run/match.yaml").exits(0).json();
        assert_eq!(finding(&report, "port.present")["observed"], found, "{how}");
    }
    // Two ports would fit: which one is meant is not guessed.
    node.write(
        "/run/match.yaml",
        "version: 1\ninterfaces:\n  - match: {driver: ice}\n    rdma: {mode: rocev2}\n",
    );
    let before = state(node);
    node.run("roce-setup apply /run/match.yaml")
        .exits(2)
        .warns("/run/match.yaml:3:13: `driver` alone does not say which of its ports is meant")
        .warns("`{driver: ice, pci-function: 0}`");
    assert_eq!(state(node), before);
    still_reachable(node, "ice");
}
