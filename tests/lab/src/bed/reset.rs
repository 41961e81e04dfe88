//! The known state in which every scenario begins, and the look that proves it.

use super::{DriverSet, Lab, Node};
use crate::message::{Ask, Script};
use crate::qemu::PORTS;

/// The longest wait for carriers and devices to come back.
const SETTLE_SECONDS: u64 = 30;

/// What guest/look.sh says of a guest in its known state.
pub(crate) fn known_state(set: DriverSet, parameters: &[&str]) -> String {
    let value = |name: &str, default: &str| {
        let given = parameters.iter().find_map(|p| p.strip_prefix(name)?.strip_prefix('='));
        given.unwrap_or(default).to_owned()
    };
    let mut lines = Vec::new();
    if set != DriverSet::Debian {
        lines.extend(["module ice live".to_owned(), "module irdma live".to_owned()]);
    }
    if set == DriverSet::OutOfTree {
        lines.push(format!("irdma roce_ena={}", value("roce_ena", "0")));
        lines.push(format!("irdma limits_sel={}", value("limits_sel", "3")));
    }
    lines.extend(PORTS.map(|port| format!("port {port} mtu 1500 carrier 1 addresses none")));
    let node_type = match set {
        DriverSet::Debian => return lines.join("\n"),
        DriverSet::OutOfTree if value("roce_ena", "0") == "0" => "4: RNIC",
        _ => "1: CA",
    };
    for (device, port) in [("irdma1", "ens1f1"), ("rdmap2s0f0", "ens1f0")] {
        lines.push(format!("rdma {device} on {port} node_type {node_type} state ACTIVE"));
    }
    lines.join("\n")
}

impl Lab {
    /// Brings all guests to the known state, irdma loaded with these parameters
    /// (`["roce_ena=1"]`; none for the other driver sets), and looks whether they are in it.
    #[track_caller]
    pub(crate) fn reset(&self, parameters: &[&str]) {
        PORTS.iter().for_each(|port| self.plug(port));
        let set = self.set;
        self.each(|node| {
            node.do_now("ending what was left running", Ask::Sweep);
            node.run(&format!("sh /run/lab/reset.sh {}", parameters.join(" ")));
            node.expect_known_state(set, parameters);
        });
    }

    /// Looks whether all guests are in the known state, as after boot.
    #[track_caller]
    pub(crate) fn expect_known_state(&self) {
        let set = self.set;
        self.each(|node| node.expect_known_state(set, &[]));
    }
}

impl Node {
    #[track_caller]
    fn expect_known_state(&self, set: DriverSet, parameters: &[&str]) {
        let expected = known_state(set, parameters);
        let script = Script {
            text: "until [ \"$(sh /run/lab/look.sh)\" = \"$EXPECTED\" ]; do sleep 0.2; done".into(),
            environment: vec![("EXPECTED".into(), expected.clone())],
            ..Script::default()
        };
        let ran = self.try_run(script, SETTLE_SECONDS).unwrap_or_else(|why| panic!("{why}"));
        if ran.code != Some(0) {
            self.run("sh /run/lab/look.sh").prints(&expected);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_out_of_tree_driver_begins_as_iwarp() {
        assert_eq!(
            known_state(DriverSet::OutOfTree, &["limits_sel=5"]),
            "module ice live\nmodule irdma live\nirdma roce_ena=0\nirdma limits_sel=5\n\
             port ens1f0 mtu 1500 carrier 1 addresses none\nport ens1f1 mtu 1500 carrier 1 addresses none\n\
             rdma irdma1 on ens1f1 node_type 4: RNIC state ACTIVE\n\
             rdma rdmap2s0f0 on ens1f0 node_type 4: RNIC state ACTIVE"
        );
    }

    #[test]
    fn the_mode_follows_roce_ena_or_devlink() {
        let roce = "rdma irdma1 on ens1f1 node_type 1: CA state ACTIVE";
        assert!(known_state(DriverSet::OutOfTree, &["roce_ena=1"]).contains(roce));
        assert!(known_state(DriverSet::InKernel, &[]).contains(roce));
    }

    #[test]
    fn debians_own_drivers_have_ports_and_no_rdma_device() {
        assert_eq!(
            known_state(DriverSet::Debian, &[]),
            "port ens1f0 mtu 1500 carrier 1 addresses none\nport ens1f1 mtu 1500 carrier 1 addresses none"
        );
    }
}
