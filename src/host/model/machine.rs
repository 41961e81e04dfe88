//! The machine's memory: facts, the clock, and what the kernel keeps that facts do not show.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{links, ports, rdma};
use crate::facts::{Address, Configfs, Facts, LinkState, Netdev, NetdevKind, RdmaDevice, Seen};

/// The state of a [`Model`](super::Model).
#[derive(Debug, Default)]
pub(super) struct Machine {
    pub(super) facts: Facts,
    /// Nothing exists beyond the facts.
    pub(super) complete: bool,
    pub(super) clock: Duration,
    pub(super) device_after: Duration,
    pub(super) carrier_after: Duration,
    pub(super) names: BTreeMap<String, String>,
    pub(super) failing: BTreeSet<String>,
    pub(super) promote_secondaries: bool,
    /// Whether a cable is in, by interface.
    cables: BTreeMap<String, bool>,
    /// IPv4 addresses in the order in which they were added: the first of a subnet is the primary.
    pub(super) order: Vec<(String, Address)>,
    pub(super) pending: Vec<(Duration, Event)>,
    /// rdma_cm's settings of devices that have no configfs directory at the moment.
    pub(super) settings: Configfs,
    /// Devices that went with their module, for drivers whose mode cannot be foretold.
    pub(super) removed: BTreeMap<String, BTreeMap<String, RdmaDevice>>,
}

/// Something that happens by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The RDMA device of an interface appears.
    Device(String),
    /// The carrier of an interface comes.
    Carrier(String),
}

impl Machine {
    pub(super) fn new(facts: Facts, complete: bool) -> Machine {
        let mut machine = Machine { facts, complete, ..Machine::default() };
        for (name, netdev) in machine.facts.identity.netdevs.get().into_iter().flatten() {
            let down = machine.link(name).is_some_and(|link| !link.up);
            let plugged = netdev.carrier.get().copied().unwrap_or(down);
            machine.cables.insert(name.clone(), plugged);
        }
        machine.remember_order();
        machine
    }

    pub(super) fn link(&self, netdev: &str) -> Option<&LinkState> {
        self.facts.state.links.get()?.get(netdev)
    }

    pub(super) fn link_mut(&mut self, netdev: &str) -> Option<&mut LinkState> {
        self.facts.state.links.get_mut()?.get_mut(netdev)
    }

    pub(super) fn netdev(&self, netdev: &str) -> Option<&Netdev> {
        self.facts.identity.netdevs.get()?.get(netdev)
    }

    pub(super) fn netdev_mut(&mut self, netdev: &str) -> Option<&mut Netdev> {
        self.facts.identity.netdevs.get_mut()?.get_mut(netdev)
    }

    pub(super) fn is_loaded(&self, module: &str) -> Option<bool> {
        match self.facts.state.modules.get(module) {
            Some(Seen::Known { value, .. }) => Some(value.loaded),
            None if self.complete => Some(false),
            _ => None,
        }
    }

    /// Names of the VLANs on an interface.
    pub(super) fn vlans_of(&self, netdev: &str) -> Vec<String> {
        let all = self.facts.identity.netdevs.get().into_iter().flatten();
        all.filter(|(_, other)| {
            other.parent.as_deref() == Some(netdev)
                && other.kind == NetdevKind::Virtual("vlan".to_owned())
        })
        .map(|(name, _)| name.clone())
        .collect()
    }

    /// An interface is up and has carrier.
    pub(super) fn is_running(&self, netdev: &str) -> bool {
        self.link(netdev).is_some_and(|link| link.up)
            && self.netdev(netdev).is_some_and(|netdev| netdev.carrier.get() == Some(&true))
    }

    pub(super) fn has_cable(&self, netdev: &str) -> bool {
        self.cables.get(netdev).copied().unwrap_or(true)
    }

    pub(super) fn set_cable(&mut self, netdev: &str, plugged: bool) {
        self.cables.insert(netdev.to_owned(), plugged);
        links::follow_cable(self, netdev);
    }

    pub(super) fn happen_after(&mut self, delay: Duration, event: Event) {
        if delay.is_zero() {
            self.happen(event);
        } else {
            self.pending.push((self.clock + delay, event));
        }
    }

    pub(super) fn cancel(&mut self, event: &Event) {
        self.pending.retain(|(_, pending)| pending != event);
    }

    /// Lets time pass; what was due happens in its order.
    pub(super) fn pass(&mut self, time: Duration) {
        let end = self.clock.saturating_add(time);
        loop {
            let due = self.pending.iter().enumerate().filter(|(_, (at, _))| *at <= end);
            let Some((index, _)) = due.min_by_key(|(_, (at, _))| *at) else {
                break;
            };
            let (at, event) = self.pending.remove(index);
            self.clock = self.clock.max(at);
            self.happen(event);
        }
        self.clock = end;
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Device(netdev) => rdma::appear(self, &netdev),
            Event::Carrier(netdev) => links::carrier(self, &netdev),
        }
    }

    /// After facts were changed from outside.
    pub(super) fn settle(&mut self) {
        self.remember_order();
        let names: Vec<String> = self
            .facts
            .identity
            .netdevs
            .get()
            .into_iter()
            .flatten()
            .map(|(n, _)| n.clone())
            .collect();
        for name in names {
            ports::follow(self, &name);
        }
    }

    fn remember_order(&mut self) {
        let links = self.facts.state.links.get();
        self.order.retain(|(netdev, address)| {
            let link = links.and_then(|links| links.get(netdev));
            link.is_some_and(|link| link.addresses.contains(address))
        });
        for (netdev, link) in links.into_iter().flatten() {
            for address in link.addresses.iter().filter(|a| a.prefix.ip().is_ipv4()) {
                let entry = (netdev.clone(), address.clone());
                if !self.order.contains(&entry) {
                    self.order.push(entry);
                }
            }
        }
    }
}
