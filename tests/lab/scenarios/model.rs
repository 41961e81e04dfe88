//! The same changes on the product's model and on a guest give the same state.

use super::common::{shipped, still_reachable};
use crate::bed::{DriverSet, Lab, Node};
use crate::registry::{Scenario, scenario};
use crate::{places, product};
use std::path::Path;

pub(crate) fn scenarios() -> Vec<Scenario> {
    // Time for cargo, which may have to build the comparing program.
    vec![
        scenario(
            "model and guest agree: reload with roce_ena, link, MTU, addresses",
            DriverSet::OutOfTree,
            2,
            out_of_tree,
        )
        .within(400),
        scenario("model and guest agree: devlink", DriverSet::InKernel, 2, in_kernel).within(400),
        scenario(
            "model and guest agree: modules and software devices",
            DriverSet::Debian,
            2,
            debian,
        )
        .within(400),
    ]
}

/// Applies a profile between two looks, and holds the model to what they show.
fn record(node: &Node, name: &str, command: &str, kinds: &[&str]) {
    let folder = places::cache().expect("a cache").join("recordings").join(name);
    let case = places::make(folder.join(name)).expect("a folder");
    let before = node.run("roce-setup facts").exits(0).stdout;
    let report = node.run(command).exits(0);
    let made: Vec<String> = (report.json()["changes"].as_array().into_iter().flatten())
        .filter_map(|record| record["change"]["change"].as_str().map(str::to_owned))
        .collect();
    for kind in kinds {
        assert!(made.iter().any(|made| made == kind), "no {kind} in {made:?}");
    }
    node.run("sleep 3").exits(0);
    let after = node.run("roce-setup facts").exits(0).stdout;
    for (file, text) in
        [("before.json", &before), ("report.json", &report.stdout), ("after.json", &after)]
    {
        write(&case.join(file), text);
    }
    match product::compare_with_model(&folder) {
        Ok(said) => assert!(said.contains("1 passed; 0 failed"), "{said}"),
        Err(why) => panic!("{name}: {why}"),
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|e| panic!("writing {}: {e}", path.display()));
}

fn out_of_tree(lab: &Lab) {
    lab.reset(&["limits_sel=5"]);
    let node = lab.node(1);
    node.run(
        "ip addr add 100.0.1.10/8 dev ens1f0; ip addr add 100.0.9.1/24 dev ens1f0
         ip route add 10.9.0.0/16 via 100.0.1.99; ip route add 10.8.0.0/16 via 100.0.9.99
         ip link set ens1f1 down",
    )
    .exits(0);
    node.write(
        "/run/model.yaml",
        "version: 1\ninterfaces:\n  - name: ens1f0\n    mtu: 4200\n    ipv4:\n      \
         address: [{ip: 100.0.1.10, prefix-length: 24}]\n      other-addresses: remove\n    rdma: {mode: rocev2}\n  \
         - name: ens1f1\n    state: up\n    rdma: {mode: rocev2}\n",
    );
    let kinds =
        ["remove-module", "load-module", "set-link", "set-mtu", "remove-address", "add-address"];
    record(node, "out-of-tree", "roce-setup --output json apply /run/model.yaml", &kinds);
    still_reachable(node, "ice");
}

fn in_kernel(lab: &Lab) {
    let node = lab.node(1);
    node.run(
        "devlink dev param set pci/0000:02:00.0 name enable_roce value false cmode runtime &&
         devlink dev param set pci/0000:02:00.0 name enable_iwarp value true cmode runtime",
    )
    .exits(0);
    node.until(20, "grep -qx '4: RNIC' /sys/class/infiniband/rdmap2s0f0/node_type");
    let command = format!("roce-setup --output json apply {}", shipped("e810-rocev2.yaml"));
    record(node, "in-kernel", &command, &["set-devlink", "set-mtu"]);
    still_reachable(node, "ice");
}

fn debian(lab: &Lab) {
    let node = lab.node(1);
    node.run("rmmod rdma_rxe").exits(0);
    let command =
        format!("roce-setup --output json apply --no-smoke {}", shipped("soft-roce.yaml"));
    record(
        node,
        "debian",
        &command,
        &["load-module", "add-software-link", "set-mtu", "add-address"],
    );
    still_reachable(node, "e1000e");
}
