//! What several scenarios ask of a guest, without the product where that is possible.

use crate::bed::Node;
use crate::places;

/// A shipped profile, where the guests see it.
pub(crate) fn shipped(name: &str) -> String {
    places::workspace().join("profiles").join(name).display().to_string()
}

/// The part of a look that changes can set.
#[track_caller]
pub(crate) fn state(node: &Node) -> serde_json::Value {
    node.run("roce-setup facts").exits(0).json()["state"].take()
}

/// The same by the tools of the system: addresses without their lifetimes, modules without their
/// reference counts, devlink, RDMA devices, configfs.
#[track_caller]
pub(crate) fn raw_state(node: &Node) -> String {
    node.run(
        "ip -o link | sed 's/qlen.*//'; ip -o addr; ip route show table all; lsmod | awk '{print $1}'
         devlink dev param show; rdma link; find /sys/kernel/config; ls /dev/infiniband",
    )
    .stdout
}

/// What must be true after every scenario: the Ethernet driver and its interfaces are there.
#[track_caller]
pub(crate) fn still_reachable(node: &Node, driver: &str) {
    node.run(&format!("cat /sys/module/{driver}/initstate; ls -d /sys/class/net/ens1f*"))
        .prints("live\n/sys/class/net/ens1f0\n/sys/class/net/ens1f1");
}

/// One finding of a report in JSON.
#[track_caller]
pub(crate) fn finding<'a>(report: &'a serde_json::Value, id: &str) -> &'a serde_json::Value {
    let all = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter()
        .find(|finding| finding["id"] == id)
        .unwrap_or_else(|| panic!("no finding {id} in {report:#}"))
}
