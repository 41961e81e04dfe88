//! Devices that come late, under another name, or never.

use super::common::{finding, state, still_reachable};
use crate::bed::{DriverSet, Knobs, Lab};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let on_two = |name, body| scenario(name, DriverSet::OutOfTree, 2, body);
    vec![
        on_two("apply finds a device that comes two seconds late under another name", late),
        on_two("a device that never comes is named, and the module is put back", never),
        on_two("a device that the undo does not bring back is told", lost),
    ]
}

const PROFILE: &str = "version: 1\ninterfaces:\n  - name: ens1f0\n    rdma: {mode: rocev2}\n";
const APPLY: &str = "roce-setup apply /run/p.yaml --allow-interface ens1f1";

fn late(lab: &Lab) {
    let node = lab.node(1);
    node.write("/run/p.yaml", PROFILE);
    node.rdma_knobs(&Knobs { delay: 2, name: Some("rocep2s0".into()), never: false });
    node.run(APPLY)
        .exits(0)
        .says("as the profile says, 2 changes made\n")
        .says("ok       ens1f0 has an RDMA device: rocep2s0\n")
        .says("ok       ens1f0 is in mode rocev2\n")
        .warns("wait until ");
    node.run("cat /sys/class/infiniband/rocep2s0/node_type; ls /sys/class/infiniband/rocep2s0/device 2>&1 >/dev/null; cat /sys/class/infiniband/rocep2s0/parent")
        .says("1: CA\n")
        .says("ens1f0");
    still_reachable(node, "ice");
}

fn never(lab: &Lab) {
    lab.reset(&["limits_sel=5"]);
    let node = lab.node(1);
    node.write("/run/p.yaml", PROFILE);
    // The stand-in's devices are software devices, which count as state; so none is there before.
    node.rdma_knobs(&Knobs { never: true, ..Knobs::default() });
    node.run("rmmod irdma; modprobe irdma limits_sel=5").exits(0);
    node.until(20, "test -z \"$(ls /sys/class/infiniband)\"");
    let before = state(node);
    let ran = node
        .run_within(90, "roce-setup --output json apply /run/p.yaml --allow-interface ens1f1")
        .exits(1)
        .warns("wait until ens1f0 has an RDMA device");
    let report = ran.json();
    assert_eq!(report["outcome"], "undone", "{report:#}");
    let device = finding(&report, "rdma.device");
    assert_eq!(
        (&device["verdict"], &device["expected"], &device["observed"], &device["source"]),
        (
            &"unmet".into(),
            &"an RDMA device".into(),
            &"none".into(),
            &"/sys/class/infiniband".into()
        )
    );
    assert_eq!(finding(&report, "rdma.mode")["verdict"], "skipped");
    assert_eq!(report["differences"], serde_json::json!([]));
    node.run("cd /sys/module/irdma/parameters; cat roce_ena limits_sel ../initstate")
        .prints("0\n5\nlive");
    assert_eq!(state(node), before);
    still_reachable(node, "ice");
}

/// Where a device was there before, its absence after the undo is told, and what was waited for.
fn lost(lab: &Lab) {
    let node = lab.node(1);
    node.write("/run/p.yaml", PROFILE);
    node.rdma_knobs(&Knobs { never: true, ..Knobs::default() });
    let ran = node.run_within(90, &APPLY.replace("apply", "--output json apply")).exits(3);
    let report = ran.json();
    assert_eq!(report["outcome"], "neither", "{report:#}");
    assert_eq!(finding(&report, "rdma.device")["verdict"], "unmet");
    assert_eq!(finding(&report, "rdma.mode")["verdict"], "skipped");
    let differences = report["differences"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert_eq!(
        differences.iter().map(|one| one["what"].clone()).collect::<Vec<_>>(),
        ["software RDMA device siw on ens1f0", "software RDMA device siw on ens1f1"]
    );
    node.run("cat /sys/module/irdma/parameters/roce_ena").prints("0");
    still_reachable(node, "ice");
}
