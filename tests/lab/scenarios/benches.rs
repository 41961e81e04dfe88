//! What is timed: looks at a host that has one port in RoCEv2.

use crate::bed::{DriverSet, Lab};
use crate::bench::{Bench, Contender};

/// The commands an administrator of the first seed types to see the state of a port.
const BY_HAND: &str = "lsmod | grep irdma; ethtool -i ens1f0; ibv_devices; ibv_devinfo; rdma link; \
                       ip -j addr; devlink dev param show";

/// The same commands in a script that comes to a verdict, as `check` does: each answer is searched
/// for what the profile wants.
const SCRIPT: &str = r#"
fail() { echo "FAIL: $1"; exit 1; }
lsmod | grep -q '^ice ' || fail 'ice is not loaded'
lsmod | grep -q '^irdma ' || fail 'irdma is not loaded'
ethtool -i ens1f0 | grep -q '^driver: ice' || fail 'the driver is not ice'
ethtool -i ens1f0 | grep -q '^version: 1.9.11' || fail 'the version of ice'
test "$(cat /sys/module/irdma/parameters/roce_ena)" = 1 || fail 'roce_ena'
device=$(rdma link | grep 'netdev ens1f0' | sed 's/link //; s,/.*,,')
rdma link | grep 'netdev ens1f0' | grep -q 'state ACTIVE' || fail 'the port is not ACTIVE'
ibv_devices | grep -q "$device" || fail 'the verbs library does not see the device'
ibv_devinfo -d "$device" | grep -q 'PORT_ACTIVE' || fail 'the port is not ACTIVE'
ibv_devinfo -v -d "$device" | grep -q '100.0.1.10, RoCE v2' || fail 'no RoCE v2 GID'
ip -j addr show dev ens1f0 | grep -q '"mtu":4200' || fail 'the MTU'
ip -j addr show dev ens1f0 | grep -q '"local":"100.0.1.10","prefixlen":24' || fail 'the address'
devlink dev param show | grep -q enable_roce || fail 'devlink'
"#;

pub(crate) fn benches() -> Vec<Bench> {
    vec![
        Bench {
            name: "a look at the ports",
            set: DriverSet::OutOfTree,
            guests: 2,
            prepare: fixed_addresses,
            contenders: contenders(),
        },
        Bench {
            name: "a look at the ports, programs at random addresses",
            set: DriverSet::OutOfTree,
            guests: 2,
            prepare: port_in_rocev2,
            contenders: contenders(),
        },
    ]
}

fn contenders() -> Vec<Contender> {
    vec![
        Contender { name: "script that judges", script: SCRIPT.into(), exits: 0 },
        Contender { name: "the commands alone", script: BY_HAND.into(), exits: 0 },
        Contender { name: "ip -j addr", script: "exec ip -j addr".into(), exits: 0 },
        Contender { name: "roce-setup check", script: check(), exits: 0 },
    ]
}

/// Everything that the profile says of the port, judged.
fn check() -> String {
    let profile = crate::places::workspace().join("profiles/s1-grt.yaml");
    format!("exec roce-setup check {}", profile.display())
}

fn port_in_rocev2(lab: &Lab) {
    lab.reset(&["roce_ena=1"]);
    lab.node(1).run("ip addr add 100.0.1.10/24 dev ens1f0 && ip link set ens1f0 mtu 4200").exits(0);
}

/// The emulator translates a program's code anew for every address that the code is at, which no
/// processor does: at random addresses it times itself. Off for all contenders alike.
fn fixed_addresses(lab: &Lab) {
    port_in_rocev2(lab);
    lab.node(1).run("echo 0 > /proc/sys/kernel/randomize_va_space").exits(0);
}
