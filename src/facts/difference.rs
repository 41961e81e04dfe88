//! What differs between two states: what a rollback reports and a test compares.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Address, LinkState, ModuleState, Route, Seen, State};
use crate::change::same_parameter_value;

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The thing: `ens1f0 MTU`, `irdma parameter roce_ena`, `ens1f0 address 100.0.1.10/24`.
    pub what: String,
    /// What it was.
    pub before: String,
    /// What it is now.
    pub now: String,
}

impl fmt::Display for Difference {
    /// One sentence without a full stop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {}, now {}", self.what, self.before, self.now)
    }
}

impl State {
    /// What is different now, sorted by kind and name.
    ///
    /// Compared is what both looks asked for. A reading that is unknown on one side only is a
    /// difference. Left out is what comes and goes by itself: dynamic and link-local addresses,
    /// routes of router advertisements and redirects, interfaces that are new.
    pub fn differences(&self, now: &State) -> Vec<Difference> {
        let mut found = Found::default();
        for (name, before) in &self.modules {
            if let Some(now) = now.modules.get(name)
                && let Some((before, now)) = found.both(name, before, now)
            {
                found.module(name, before, now);
            }
        }
        if let Some((before, now)) = found.both("the list of interfaces", &self.links, &now.links) {
            for (name, before) in before {
                match now.get(name) {
                    Some(now) => found.link(name, before, now),
                    None => found.push(format!("interface {name}"), PRESENT, ABSENT),
                }
            }
        }
        if let Some((before, now)) = found.both("the list of routes", &self.routes, &now.routes) {
            found.sets("route", before, now, |route: &Route| !matches!(route.protocol, 1 | 9));
        }
        // A look that did not ask for devlink has no device at all.
        let asked = !now.devlink.is_empty();
        for (device, before) in &self.devlink {
            let what = format!("devlink {device}");
            match now.devlink.get(device) {
                Some(now) => {
                    if let Some((before, now)) = found.both(&what, before, now) {
                        found.devlink(device, &flat(before), &flat(now));
                    }
                }
                None if asked => found.push(what, PRESENT, ABSENT),
                None => {}
            }
        }
        if let Some((before, now)) =
            found.both("the list of software RDMA devices", &self.software, &now.software)
        {
            let text = |set: &BTreeSet<super::SoftwareLink>| {
                set.iter().map(|link| format!("{} on {}", link.kind, link.netdev)).collect()
            };
            found.sets("software RDMA device", &text(before), &text(now), |_| true);
        }
        if let Some((before, now)) =
            found.both("the list of configfs settings", &self.configfs, &now.configfs)
        {
            let shown = |value: Option<&Option<String>>| match value {
                Some(Some(value)) => value.clone(),
                Some(None) => PRESENT.to_owned(),
                None => ABSENT.to_owned(),
            };
            found.maps(before, now, |path| format!("configfs {path}"), shown);
        }
        found.differences
    }
}

const PRESENT: &str = "present";
const ABSENT: &str = "absent";

#[derive(Default)]
struct Found {
    differences: Vec<Difference>,
}

impl Found {
    fn push(&mut self, what: String, before: impl Into<String>, now: impl Into<String>) {
        let (before, now) = (before.into(), now.into());
        if before != now {
            self.differences.push(Difference { what, before, now });
        }
    }

    /// Both values, when both are known. One that became known or unknown is a difference here.
    fn both<'a, T>(
        &mut self,
        what: &str,
        before: &'a Seen<T>,
        now: &'a Seen<T>,
    ) -> Option<(&'a T, &'a T)> {
        match (before, now) {
            (Seen::Known { value: before, .. }, Seen::Known { value: now, .. }) => {
                return Some((before, now));
            }
            (Seen::Known { .. }, Seen::Unknown { .. }) => {
                self.push(what.to_owned(), "known", format!("unknown: {}", now.why_not()));
            }
            (Seen::Unknown { .. }, Seen::Known { .. }) => {
                self.push(what.to_owned(), format!("unknown: {}", before.why_not()), "known");
            }
            _ => {}
        }
        None
    }

    fn module(&mut self, name: &str, before: &ModuleState, now: &ModuleState) {
        let loaded = |state: &ModuleState| if state.loaded { "loaded" } else { "not loaded" };
        self.push(name.to_owned(), loaded(before), loaded(now));
        if before.loaded && now.loaded {
            let shown = |value: Option<&String>| value.map_or(ABSENT, String::as_str).to_owned();
            for key in keys(&before.parameters, &now.parameters) {
                let (before, now) = (before.parameters.get(key), now.parameters.get(key));
                if !before.zip(now).is_some_and(|(before, now)| same_parameter_value(before, now)) {
                    self.push(format!("{name} parameter {key}"), shown(before), shown(now));
                }
            }
        }
    }

    fn link(&mut self, name: &str, before: &LinkState, now: &LinkState) {
        let up = |link: &LinkState| if link.up { "up" } else { "down" };
        self.push(name.to_owned(), up(before), up(now));
        self.push(format!("{name} MTU"), before.mtu.to_string(), now.mtu.to_string());
        let (before, now) = (compared(before), compared(now));
        for prefix in keys(&before, &now) {
            let (before, now) = (before.get(prefix), now.get(prefix));
            if before.zip(now).is_some_and(|(before, now)| before.dynamic && now.dynamic) {
                continue;
            }
            // One that is dynamic may go; one that is permanent on either side counts.
            let lone = before.xor(now);
            if lone.is_some_and(|address| address.dynamic) {
                continue;
            }
            let shown = |address: Option<&&Address>, other: Option<&&Address>| match address {
                None => ABSENT.to_owned(),
                Some(_) if other.is_none() => PRESENT.to_owned(),
                Some(address) => attributes(address),
            };
            let what = match before.or(now).and_then(|address| address.peer) {
                Some(peer) => format!("{name} address {} peer {peer}", prefix.0),
                None => format!("{name} address {}", prefix.0),
            };
            self.push(what, shown(before, now), shown(now, before));
        }
    }

    fn devlink(
        &mut self,
        device: &str,
        before: &BTreeMap<(&str, &str), bool>,
        now: &BTreeMap<(&str, &str), bool>,
    ) {
        let what =
            |(parameter, cmode): &(&str, &str)| format!("devlink {device} {parameter} ({cmode})");
        let shown = |value: Option<&bool>| value.map_or(ABSENT.to_owned(), bool::to_string);
        self.maps(before, now, what, shown);
    }

    fn maps<K: Ord, V>(
        &mut self,
        before: &BTreeMap<K, V>,
        now: &BTreeMap<K, V>,
        what: impl Fn(&K) -> String,
        shown: impl Fn(Option<&V>) -> String,
    ) {
        for key in keys(before, now) {
            self.push(what(key), shown(before.get(key)), shown(now.get(key)));
        }
    }

    fn sets<T: Ord + fmt::Display>(
        &mut self,
        kind: &str,
        before: &BTreeSet<T>,
        now: &BTreeSet<T>,
        counts: impl Fn(&T) -> bool,
    ) {
        for item in before.symmetric_difference(now).filter(|item| counts(item)) {
            let (was, is) =
                if before.contains(item) { (PRESENT, ABSENT) } else { (ABSENT, PRESENT) };
            self.push(format!("{kind} {item}"), was, is);
        }
    }
}

fn keys<'a, K: Ord, V>(one: &'a BTreeMap<K, V>, other: &'a BTreeMap<K, V>) -> BTreeSet<&'a K> {
    one.keys().chain(other.keys()).collect()
}

type AddressKey = (crate::values::IpPrefix, Option<std::net::IpAddr>);

fn compared(link: &LinkState) -> BTreeMap<AddressKey, &Address> {
    let addresses = link.addresses.iter().filter(|address| !address.is_link_local());
    addresses.map(|address| ((address.prefix, address.peer), address)).collect()
}

/// Everything about an address but the address, for two that differ in it.
fn attributes(address: &Address) -> String {
    let mut parts = vec![if address.dynamic { "dynamic" } else { "permanent" }.to_owned()];
    parts.extend(address.broadcast.map(|broadcast| format!("broadcast {broadcast}")));
    parts.extend(address.label.as_ref().map(|label| format!("label {label}")));
    parts.push(format!("scope {}", address.scope));
    if address.no_prefix_route {
        parts.push("without the subnet's route".to_owned());
    }
    parts.join(" ")
}

fn flat(parameters: &super::DevlinkParams) -> BTreeMap<(&str, &str), bool> {
    let each = parameters.iter().flat_map(|(name, values)| {
        values.iter().map(move |(cmode, value)| ((name.as_str(), cmode.as_str()), *value))
    });
    each.collect()
}

#[cfg(test)]
mod tests;
