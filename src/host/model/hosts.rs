//! Example hosts, complete in every reading, for tests of all layers.
//!
//! They are values: take one, change what the test is about, and make a machine of it with
//! [`Model::complete`](super::Model::complete).

mod build;
mod modules;
mod ports;

use std::collections::BTreeMap;

use self::build::Host;
use self::modules::{in_kernel_pair, out_of_tree_pair, plain};
use super::Model;
use crate::change::Change;
use crate::facts::{Address, Facts, NodeType, Protocol, RdmaDevice, Seen, VerbsDevice};
use crate::host::Act;

/// A server of the first seed (`server1`, `server2`): two ports of an E810 card on the out-of-tree
/// pair ice 1.9.11 and irdma 1.11.16.6. irdma was loaded without `roce_ena`, so that both ports
/// are iWARP, under the names `rdmap2s0f0` and `irdma1`; `limits_sel` is 3. The management
/// interface `eno1` has 192.168.4.144 (or .145) and the default route. The ports are up, with MTU
/// 1500 and without IPv4 addresses.
///
/// The names are only what the devices have now: give the machine
/// [`with_device_name`](Model::with_device_name), as [`s1_machine`] does, to keep them over a reload.
pub fn s1(node: u8) -> Facts {
    let mut host = Host::new(&format!("server{node}"), "3.10.0-1127.18.2.el7.x86_64");
    host.modules(out_of_tree_pair());
    host.management(&format!("192.168.4.{}/24", 143 + u32::from(node)), "192.168.4.1");
    host.e810_ports(node, "1.9.11");
    host.names(&[("ens1f0", "rdmap2s0f0"), ("ens1f1", "irdma1")]);
    host.load("irdma", &[("limits_sel", "3")]);
    host.finish()
}

/// The machine of [`s1`], whose devices keep the names `rdmap2s0f0` and `irdma1`.
pub fn s1_machine(node: u8) -> Model {
    Model::complete(s1(node))
        .with_device_name("ens1f0", "rdmap2s0f0")
        .with_device_name("ens1f1", "irdma1")
}

/// [`s1`] with the classful address of the seed's `ifconfig ens1f0 100.0.1.10 up`.
pub fn s1_with_stale_address(node: u8) -> Facts {
    let mut facts = s1(node);
    if let Some(link) = facts.state.links.get_mut().and_then(|links| links.get_mut("ens1f0"))
        && let Ok(prefix) = format!("100.0.1.{}/8", 9 + u32::from(node)).parse()
    {
        link.addresses.insert(Address {
            broadcast: Some([100, 255, 255, 255].into()),
            ..Address::plain(prefix)
        });
    }
    facts
}

/// The same ports on the kernel's own ice and irdma: no module parameters; devlink says iWARP for
/// both ports. Names are those of udev, `iwp2s0f0` and `iwp2s0f1`.
pub fn s1_in_kernel() -> Facts {
    let mut host = Host::new("server1", "6.1.0-25-amd64");
    host.modules(in_kernel_pair());
    host.management("192.168.4.144/24", "192.168.4.1");
    host.e810_ports(1, "6.1.0-25-amd64");
    host.devlink(false, true);
    host.load("irdma", &[]);
    host.finish()
}

/// Debian's own irdma without hardware of its own: it has no parameters, nothing follows devlink,
/// and the ports are e1000e. Loading it makes no device.
pub fn s1_debian() -> Facts {
    let mut host = Host::new("server1", "6.1.0-25-amd64");
    host.modules(in_kernel_pair());
    host.management("192.168.4.144/24", "192.168.4.1");
    host.plain_ports();
    host.load("irdma", &[]);
    host.finish()
}

/// A host with two e1000e ports, `ens1f0` and `ens1f1`, and no RDMA; rdma_rxe and siw are on disk.
pub fn soft() -> Facts {
    let mut host = Host::new("server1", "6.1.0-25-amd64");
    host.modules(plain());
    host.management("192.168.4.144/24", "192.168.4.1");
    host.plain_ports();
    host.finish()
}

/// The second seed's host: a ConnectX-4 Lx port `eth4` (25G, RoCE, GIDs of both versions) as
/// `mlx5_0`, with rdma_cm's configfs settings at their defaults. irdma is on disk, as it is with
/// every distribution, and not loaded.
pub fn mlx5() -> Facts {
    let mut host = Host::new("node1", "3.10.0-514.el7.x86_64");
    host.modules(modules::mlx5());
    host.management("192.168.4.144/24", "192.168.4.1");
    host.mlx5_port();
    host.load("mlx5_ib", &[]);
    let model = Model::complete(host.finish());
    model.edit(|facts| {
        let Some(device) = facts.identity.rdma.get_mut().and_then(|all| all.get_mut("mlx5_0"))
        else {
            return;
        };
        device.node_type = read(NodeType::Ca, "/sys/class/infiniband/mlx5_0/node_type");
        device.protocol = read(Protocol::Roce, "RDMA netlink");
        for port in device.ports.values_mut() {
            port.gids = read(Vec::new(), "/sys/class/infiniband/mlx5_0/ports/1/gids");
        }
        let listed = VerbsDevice { name: "mlx5_0".to_owned(), node_type: NodeType::Ca };
        facts.evidence.verbs.get_mut().into_iter().for_each(|verbs| verbs.push(listed.clone()));
    });
    // The directory that `cma_roce_mode` makes; without it the settings cannot be read.
    let _ = model.act(&Change::MakeConfigfs { path: "rdma_cm/mlx5_0".to_owned() });
    model.facts()
}

/// The RDMA devices of a host by name, for tests; empty when they are not known.
pub fn devices(facts: &Facts) -> BTreeMap<String, RdmaDevice> {
    facts.identity.rdma.get().cloned().unwrap_or_default()
}

fn read<T>(value: T, source: &str) -> Seen<T> {
    Seen::known(value, source)
}
