//! Changes, their inverses and whether they hold, tried on the machine in memory.

mod holds;
mod inverse;
mod random;

use super::Change;
use crate::facts::{Address, Facts, Route, State};
use crate::host::Act;
use crate::host::model::{Model, hosts};
use crate::values::Software;

fn load(module: &str, parameters: &[(&str, &str)]) -> Change {
    let parameters = parameters.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Change::LoadModule { module: module.to_owned(), parameters }
}

fn unload(module: &str) -> Change {
    Change::RemoveModule { module: module.to_owned() }
}

fn set_link(netdev: &str, up: bool) -> Change {
    Change::SetLink { netdev: netdev.to_owned(), up }
}

fn set_mtu(netdev: &str, mtu: u32) -> Change {
    Change::SetMtu { netdev: netdev.to_owned(), mtu }
}

fn plain(prefix: &str) -> Address {
    Address::plain(prefix.parse().unwrap())
}

fn add(netdev: &str, prefix: &str) -> Change {
    Change::AddAddress { netdev: netdev.to_owned(), address: plain(prefix) }
}

fn remove(netdev: &str, prefix: &str) -> Change {
    Change::RemoveAddress { netdev: netdev.to_owned(), address: plain(prefix) }
}

fn devlink(parameter: &str, value: bool) -> Change {
    Change::SetDevlink {
        device: "pci/0000:02:00.0".to_owned(),
        parameter: parameter.to_owned(),
        cmode: "runtime".to_owned(),
        value,
    }
}

fn route(netdev: &str, destination: &str, gateway: Option<&str>, source: Option<&str>) -> Route {
    Route {
        netdev: netdev.to_owned(),
        destination: destination.parse().unwrap(),
        gateway: gateway.map(|ip| ip.parse().unwrap()),
        source: source.map(|ip| ip.parse().unwrap()),
        table: 254,
        metric: 0,
        protocol: 4,
        scope: 0,
    }
}

fn add_route(route: Route) -> Change {
    Change::AddRoute { route }
}

fn make_link(name: &str, kind: Software, netdev: &str) -> Change {
    Change::AddSoftwareLink { name: name.to_owned(), kind, netdev: netdev.to_owned() }
}

fn drop_link(name: &str, kind: Software, netdev: &str) -> Change {
    Change::RemoveSoftwareLink { name: name.to_owned(), kind, netdev: netdev.to_owned() }
}

fn mkdir(path: &str) -> Change {
    Change::MakeConfigfs { path: path.to_owned() }
}

fn rmdir(path: &str) -> Change {
    Change::RemoveConfigfs { path: path.to_owned() }
}

fn write(path: &str, value: &str) -> Change {
    Change::WriteConfigfs { path: path.to_owned(), value: value.to_owned() }
}

/// A machine on which all of these were made.
fn machine(facts: Facts, changes: &[Change]) -> Model {
    let mut model = Model::complete(facts);
    // The names of the first seed, and the second's; udev's on the other hosts.
    let named = hosts::devices(&model.facts());
    for (netdev, name) in [("ens1f0", "rdmap2s0f0"), ("ens1f1", "irdma1"), ("eth4", "mlx5_0")] {
        if named.contains_key(name) {
            model = model.with_device_name(netdev, name);
        }
    }
    for change in changes {
        model.act(change).unwrap_or_else(|error| panic!("{change}: {error}"));
    }
    model
}

/// What an undo does: leaves out what holds already, and goes on when one is refused.
fn undo(model: &Model, inverse: &[Change]) -> Vec<String> {
    let mut refused = Vec::new();
    for change in inverse {
        if change.holds(&model.facts()) != Some(true)
            && let Err(error) = model.act(change)
        {
            refused.push(error.to_string());
        }
    }
    refused
}

/// The differences between two states as text.
fn differences(before: &State, now: &State) -> Vec<String> {
    before.differences(now).iter().map(ToString::to_string).collect()
}

/// Sentences of changes.
fn said(changes: &[Change]) -> Vec<String> {
    changes.iter().map(ToString::to_string).collect()
}
