//! What is timed: looks at a host that has one port in RoCEv2.

use crate::bed::{DriverSet, Lab};
use crate::bench::{Bench, Contender};

/// The commands an administrator of the first seed types to see the state of a port.
const BY_HAND: &str = "lsmod | grep irdma; ethtool -i ens1f0; ibv_devices; ibv_devinfo; rdma link; \
                       ip -j addr; devlink dev param show";

pub(crate) fn benches() -> Vec<Bench> {
    vec![Bench {
        name: "a look at the ports",
        set: DriverSet::OutOfTree,
        guests: 2,
        prepare: port_in_rocev2,
        contenders: vec![
            Contender { name: "by hand: lsmod ... devlink", script: BY_HAND.into(), exits: 0 },
            Contender { name: "ip -j addr", script: "ip -j addr".into(), exits: 0 },
            Contender { name: "roce-setup check", script: check(), exits: 0 },
        ],
    }]
}

/// Everything that the profile says of the port, judged.
fn check() -> String {
    let profile = crate::places::workspace().join("profiles/s1-grt.yaml");
    format!("roce-setup check {}", profile.display())
}

fn port_in_rocev2(lab: &Lab) {
    lab.reset(&["roce_ena=1"]);
    lab.node(1).run("ip addr add 100.0.1.10/24 dev ens1f0 && ip link set ens1f0 mtu 4200").exits(0);
}
