//! What brings back what a change takes away, computed from the facts before it.
//!
//! The lists are generous: they hold all that the kernel may take along, because whether it does
//! can depend on what facts do not show (`keep_addr_on_down`, `promote_secondaries`, which address
//! is the primary one). Whoever undoes therefore leaves out each change that already
//! [holds](Change::holds), and goes on when a single one is refused.

mod addresses;
mod links;
mod modules;
mod settings;

pub(crate) use addresses::{in_subnet, same_subnet};

use super::Change;
use crate::facts::Facts;

impl Change {
    /// The changes that undo this one, in the order in which they have to be made.
    ///
    /// Empty when the change was in effect before (there is nothing to undo) and when the facts do
    /// not tell what was there before: a guess could destroy what was not ours.
    ///
    /// - Loading a module is undone by removing that module, but not the modules that it pulled in:
    ///   others may have begun to use them.
    /// - Removing a module is undone by loading it with all the parameters it showed, then by
    ///   putting back what the kernel drops with its RDMA devices: configfs settings, devlink
    ///   values, software links.
    /// - A devlink parameter gets its old value; setting it replugs the RDMA device, whose configfs
    ///   settings are lost (`cma_remove_one`) and put back.
    /// - Taking a link down drops its IPv6 addresses (`addrconf_ifdown`) and all its routes
    ///   (`fib_disable_ip`, `rt6_disable_ip`), and takes its VLANs down with it (`vlan_device_event`).
    /// - An MTU below 1280 stops IPv6 on the interface, with the same loss for that family; a VLAN's
    ///   MTU is lowered to its parent's.
    /// - Removing a primary IPv4 address removes the other addresses of its subnet unless
    ///   `promote_secondaries` is set (`__inet_del_ifa`); routes that prefer the address as source go
    ///   (`fib_sync_down_addr`), and with the last address all IPv4 routes of the interface. IPv6
    ///   routes stay and lose only the preferred source (`rt6_remove_prefsrc`).
    /// - Making a software device loads its module where it is missing (`rdma-link-rxe` alias).
    pub fn inverse(&self, before: &Facts) -> Vec<Change> {
        if self.holds(before) == Some(true) {
            return Vec::new();
        }
        let state = &before.state;
        match self {
            Change::LoadModule { module, .. } => modules::load(module, before),
            Change::RemoveModule { module } => modules::remove(module, before),
            Change::SetDevlink { device, parameter, cmode, .. } => {
                settings::devlink(device, parameter, cmode, before)
            }
            Change::SetLink { netdev, up } => links::set_link(netdev, *up, before),
            Change::SetMtu { netdev, mtu } => links::set_mtu(netdev, *mtu, before),
            Change::AddAddress { netdev, address } => match super::holds::link(before, netdev) {
                Some(_) => {
                    vec![Change::RemoveAddress { netdev: netdev.clone(), address: address.clone() }]
                }
                None => Vec::new(),
            },
            Change::RemoveAddress { netdev, address } => addresses::remove(netdev, address, before),
            Change::AddRoute { route } => match state.routes.get() {
                Some(_) => vec![Change::RemoveRoute { route: route.clone() }],
                None => Vec::new(),
            },
            Change::RemoveRoute { route } => match state.routes.get() {
                Some(_) => vec![Change::AddRoute { route: route.clone() }],
                None => Vec::new(),
            },
            Change::AddSoftwareLink { name, kind, netdev } => {
                modules::add_software_link(name, *kind, netdev, before)
            }
            Change::RemoveSoftwareLink { kind, netdev, name } => {
                modules::remove_software_link(*kind, netdev, name, before)
            }
            Change::MakeConfigfs { path } => match state.configfs.get() {
                Some(_) => vec![Change::RemoveConfigfs { path: path.clone() }],
                None => Vec::new(),
            },
            Change::RemoveConfigfs { path } => settings::below(path, before),
            Change::WriteConfigfs { path, .. } => settings::old_value(path, before),
        }
    }
}
