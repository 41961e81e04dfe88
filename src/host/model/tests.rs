//! What the machine in memory does, held against what kernels do.

mod devices;
mod network;
mod refusals;
mod scope;

use std::collections::BTreeMap;

use super::{Model, hosts};
use crate::change::Change;
use crate::facts::{Address, Facts, GidType, LinkState, NodeType, Protocol, RdmaDevice};
use crate::host::{Act, Look};

pub(super) fn load(module: &str, parameters: &[(&str, &str)]) -> Change {
    let parameters = parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Change::LoadModule { module: module.to_owned(), parameters }
}

pub(super) fn unload(module: &str) -> Change {
    Change::RemoveModule { module: module.to_owned() }
}

pub(super) fn set_link(netdev: &str, up: bool) -> Change {
    Change::SetLink { netdev: netdev.to_owned(), up }
}

pub(super) fn set_mtu(netdev: &str, mtu: u32) -> Change {
    Change::SetMtu { netdev: netdev.to_owned(), mtu }
}

pub(super) fn plain(prefix: &str) -> Address {
    Address::plain(prefix.parse().unwrap())
}

pub(super) fn add(netdev: &str, prefix: &str) -> Change {
    Change::AddAddress { netdev: netdev.to_owned(), address: plain(prefix) }
}

pub(super) fn remove(netdev: &str, prefix: &str) -> Change {
    Change::RemoveAddress { netdev: netdev.to_owned(), address: plain(prefix) }
}

pub(super) fn devlink(parameter: &str, value: bool) -> Change {
    Change::SetDevlink {
        device: "pci/0000:02:00.0".to_owned(),
        parameter: parameter.to_owned(),
        cmode: "runtime".to_owned(),
        value,
    }
}

pub(super) fn link(model: &Model, netdev: &str) -> LinkState {
    model.facts().state.links.get().unwrap()[netdev].clone()
}

/// Global addresses of an interface as text.
pub(super) fn addresses(model: &Model, netdev: &str) -> Vec<String> {
    let link = link(model, netdev);
    let global = link.addresses.iter().filter(|address| !address.is_link_local());
    global.map(|address| address.prefix.to_string()).collect()
}

/// Name and protocol of each RDMA device.
pub(super) fn modes(facts: &Facts) -> BTreeMap<String, Option<Protocol>> {
    let all = hosts::devices(facts);
    all.into_iter().map(|(name, device)| (name, device.protocol.get().copied())).collect()
}

pub(super) fn named(all: &[(&str, Protocol)]) -> BTreeMap<String, Option<Protocol>> {
    all.iter().map(|(name, protocol)| ((*name).to_owned(), Some(*protocol))).collect()
}

/// GIDs of the device's port 1 as text with their kind.
pub(super) fn gids(device: &RdmaDevice) -> Vec<(String, GidType)> {
    let table = device.ports[&1].gids.get().unwrap();
    assert!(table.iter().zip(0..).all(|(gid, index)| gid.index == index), "{table:?}");
    table.iter().map(|gid| (gid.gid.to_string(), gid.kind)).collect()
}

pub(super) fn act(model: &Model, change: Change) {
    let said = change.to_string();
    model.act(&change).unwrap_or_else(|error| panic!("{said}: {error}"));
}

#[test]
fn the_first_seeds_host_is_as_the_seed_shows_it() {
    let facts = hosts::s1(1);
    assert_eq!(modes(&facts), named(&[("irdma1", Protocol::Iw), ("rdmap2s0f0", Protocol::Iw)]));
    let irdma = facts.state.modules["irdma"].get().unwrap();
    let shown: Vec<String> = irdma.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(shown, ["limits_sel=3", "resource_profile=0", "roce_ena=0", "roce_port_cfg=0"]);
    let build = facts.evidence.builds["irdma"].get().unwrap();
    let file = facts.evidence.module_files["irdma"].get().unwrap().clone().unwrap();
    assert_eq!(build.version.as_deref(), Some("1.11.16.6"));
    assert_eq!(build.srcversion, file.srcversion);
    assert!(file.vermagic.unwrap().starts_with("3.10.0-1127.18.2.el7.x86_64 "));
    let driver = facts.evidence.drivers["ens1f0"].get().unwrap();
    assert_eq!(driver.firmware, "3.20 0x8000d84c 1.3146.0");
    let device = &hosts::devices(&facts)["rdmap2s0f0"];
    assert_eq!(device.node_type.get(), Some(&NodeType::Rnic));
    assert_eq!(device.uverbs.get(), Some(&Some("uverbs0".to_owned())));
    assert_eq!(device.bdf.unwrap().to_string(), "0000:02:00.0");
    assert_eq!(gids(device), [("b496:91aa:100::".to_owned(), GidType::IbRoceV1)]);
    let listed: Vec<_> =
        facts.evidence.verbs.get().unwrap().iter().map(|listed| listed.name.clone()).collect();
    assert_eq!(listed, ["rdmap2s0f0", "irdma1"]);
    let nodes = &facts.evidence.userspace.get().unwrap().nodes;
    assert_eq!(
        nodes.iter().map(String::as_str).collect::<Vec<_>>(),
        ["/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0", "/dev/infiniband/uverbs1"]
    );
    let ice = facts.evidence.builds["ice"].get().unwrap();
    assert_eq!((ice.refcount, ice.holders.contains("irdma")), (Some(1), true));
}

#[test]
fn the_example_hosts_have_the_devices_they_say() {
    let iwarp = named(&[("iwp2s0f0", Protocol::Iw), ("iwp2s0f1", Protocol::Iw)]);
    assert_eq!(modes(&hosts::s1_in_kernel()), iwarp);
    assert_eq!(modes(&hosts::s1_debian()), BTreeMap::new());
    assert_eq!(modes(&hosts::soft()), BTreeMap::new());
    let mlx5 = hosts::mlx5();
    assert_eq!(modes(&mlx5), named(&[("mlx5_0", Protocol::Roce)]));
    let kinds: Vec<_> = gids(&hosts::devices(&mlx5)["mlx5_0"]);
    let (v1, v2) = (GidType::IbRoceV1, GidType::RoceV2);
    let (local, address) = ("fe80::ee0d:9aff:fe11:2233", "::ffff:10.10.10.1");
    let expected = [(local, v1), (local, v2), (address, v1), (address, v2)];
    assert_eq!(kinds, expected.map(|(gid, kind)| (gid.to_owned(), kind)));
    let configfs = mlx5.state.configfs.get().unwrap();
    let mode = &configfs["rdma_cm/mlx5_0/ports/1/default_roce_mode"];
    assert_eq!(mode.as_deref(), Some("RoCE v2"));
}

#[test]
fn looking_changes_nothing_and_only_a_pause_moves_the_clock() {
    let model = hosts::s1_machine(1);
    let before = (model.facts(), model.now());
    model.look(&Default::default()).unwrap();
    assert_eq!((model.facts(), model.now()), before);
    model.pause(std::time::Duration::from_millis(250));
    assert_eq!(model.now(), before.1 + std::time::Duration::from_millis(250));
}
