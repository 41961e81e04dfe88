//! One port of the table.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::facts::{Facts, Gid, GidType, Netdev, NetdevKind, RdmaDevice, RdmaPort, Seen};
use crate::values::Mode;

/// A port: an RDMA port with its interface, or a physical interface without RDMA. A field is none
/// when the host does not have it, or when it could not be read; then `unknown` tells why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Network interface.
    pub netdev: Option<String>,
    /// RDMA device.
    pub rdma: Option<String>,
    /// Kind of a software RDMA device: `rxe` or `siw`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// Port of the RDMA device.
    pub port: Option<u32>,
    /// PCI address.
    pub pci: Option<String>,
    /// Driver bound to the port.
    pub driver: Option<String>,
    /// The driver's version as it reports it; the kernel's release for in-kernel drivers.
    pub version: Option<String>,
    /// Firmware version.
    pub firmware: Option<String>,
    /// The mode that the RDMA port is really in.
    pub mode: Option<String>,
    /// State of the RDMA port, else of the link.
    pub state: Option<String>,
    /// MTU of the interface in bytes.
    pub mtu: Option<u32>,
    /// Index of the GID that a connection would use.
    pub gid_index: Option<u32>,
    /// Its type: `v1` or `v2`; `ib` on InfiniBand.
    pub gid_type: Option<String>,
    /// The address that it stands for.
    pub gid_address: Option<String>,
    /// Rate of the RDMA port, else speed of the link.
    pub rate: Option<String>,
    /// NUMA node of the PCI device.
    pub numa: Option<u32>,
    /// What could not be read, by column, with the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown: BTreeMap<&'static str, String>,
}

impl Row {
    /// The columns: title, and the name under which `unknown` has its reason.
    pub(super) const COLUMNS: [(&'static str, &'static str); 12] = [
        ("NETDEV", "netdev"),
        ("RDMA", "rdma"),
        ("PCI", "pci"),
        ("DRIVER", "driver"),
        ("VERSION", "version"),
        ("FIRMWARE", "firmware"),
        ("MODE", "mode"),
        ("STATE", "state"),
        ("MTU", "mtu"),
        ("GID", "gid"),
        ("RATE", "rate"),
        ("NUMA", "numa"),
    ];

    /// The cells in the order of the columns.
    pub(super) fn cells(&self) -> Vec<String> {
        let gid = match (&self.gid_index, &self.gid_type, &self.gid_address) {
            (Some(index), Some(kind), Some(address)) => Some(format!("{index} {kind} {address}")),
            _ => None,
        };
        let values = [
            self.netdev.clone(),
            self.rdma.as_ref().map(|name| match &self.software {
                Some(kind) => format!("{name} ({kind})"),
                None => name.clone(),
            }),
            self.pci.clone(),
            self.driver.clone(),
            self.version.clone(),
            self.firmware.clone(),
            self.mode.clone(),
            self.state.clone(),
            self.mtu.map(|mtu| mtu.to_string()),
            gid,
            self.rate.clone(),
            self.numa.map(|node| node.to_string()),
        ];
        let cell = |(value, (_, name)): (Option<String>, (&str, &str))| match value {
            Some(value) if !value.is_empty() => value,
            _ if self.unknown.contains_key(name) => "?".to_owned(),
            _ => "-".to_owned(),
        };
        values.into_iter().zip(Row::COLUMNS).map(cell).collect()
    }

    /// How messages call this port.
    pub(super) fn name(&self) -> &str {
        self.netdev.as_deref().or(self.rdma.as_deref()).unwrap_or("?")
    }

    /// A known value; the reason goes to `unknown` where there is none. What was outside the scope
    /// of the look is unknown too.
    fn take<T: Clone>(&mut self, column: &'static str, seen: &Seen<T>) -> Option<T> {
        if seen.get().is_none() {
            self.unknown.insert(column, seen.why_not());
        }
        seen.get().cloned()
    }

    fn of_netdev(facts: &Facts, name: &str, netdev: &Netdev) -> Row {
        let mut row = Row {
            netdev: Some(name.to_owned()),
            pci: netdev.bdf.map(|bdf| bdf.to_string()),
            driver: netdev.driver.clone(),
            ..Row::default()
        };
        match facts.evidence.drivers.get(name) {
            Some(seen) => {
                if let Some(info) = row.take("version", seen) {
                    row.driver.get_or_insert(info.driver);
                    row.version = Some(info.version);
                    row.firmware =
                        Some(info.firmware).filter(|text| !matches!(text.as_str(), "" | "N/A"));
                } else {
                    row.unknown.insert("firmware", seen.why_not());
                }
            }
            None => {
                row.unknown.insert("version", "not asked in this look".to_owned());
                row.unknown.insert("firmware", "not asked in this look".to_owned());
            }
        }
        match facts.link(name) {
            Ok(link) => {
                row.mtu = link.map(|link| link.mtu);
                row.state = link.and_then(|link| link_state(link.up, &netdev.carrier));
                if row.state.is_none() {
                    row.unknown.insert("state", netdev.carrier.why_not());
                }
            }
            Err(why) => {
                row.unknown.insert("mtu", why.clone());
                row.unknown.insert("state", why);
            }
        }
        // A link that is down or virtual has no speed; the kernel's refusal is no news then.
        row.rate = netdev.speed_mbps.get().map(|mbps| speed(*mbps));
        if netdev.bdf.is_some() {
            row.numa = row.take("numa", &netdev.numa_node);
        }
        row
    }

    fn add_rdma(&mut self, name: &str, number: u32, device: &RdmaDevice, port: &RdmaPort) {
        self.rdma =
            Some(if device.ports.len() > 1 { format!("{name}/{number}") } else { name.to_owned() });
        self.port = Some(number);
        self.pci = self.pci.take().or_else(|| device.bdf.map(|bdf| bdf.to_string()));
        // A software device's "firmware" says nothing of the card below it.
        self.software = device.software.map(|kind| kind.to_string());
        if self.software.is_none() && self.firmware.is_none() {
            self.firmware = device.firmware.get().cloned();
        }
        let mode = self.take("mode", &device.mode(number));
        self.mode = mode.map(|mode| mode.to_string());
        let no_carrier = self.state.as_deref() == Some("no carrier");
        self.unknown.remove("state");
        self.state = self.take("state", &port.state).map(|state| match no_carrier {
            true => format!("{state} (no carrier)"),
            false => state.to_string(),
        });
        self.rate = self.take("rate", &port.rate).map(|rate| brief_rate(&rate));
        if mode != Some(Mode::Iwarp)
            && let Some(gids) = self.take("gid", &port.gids)
            && let Some(gid) = best(&gids)
        {
            self.gid_index = Some(gid.index);
            self.gid_type = Some(kind_of(gid, mode).to_owned());
            self.gid_address = Some(gid.address().to_string());
        }
    }
}

/// The rows: interfaces in the order of their names, then RDMA ports without an interface.
/// Loopback and virtual interfaces have one only when an RDMA device is on them.
pub fn rows(facts: &Facts) -> Vec<Row> {
    let ports = || {
        facts.identity.rdma.get().into_iter().flatten().flat_map(|(name, device)| {
            device.ports.iter().map(move |(number, port)| (name.as_str(), device, *number, port))
        })
    };
    let on = |port: &RdmaPort, netdev: &str| {
        port.netdev.get().is_some_and(|on| on.as_deref() == Some(netdev))
    };
    let known = facts.identity.netdevs.get();
    let mut rows = Vec::new();
    for (name, netdev) in known.into_iter().flatten() {
        let plain = Row::of_netdev(facts, name, netdev);
        let before = rows.len();
        for (device_name, device, number, port) in ports().filter(|(.., port)| on(port, name)) {
            let mut row = plain.clone();
            row.add_rdma(device_name, number, device, port);
            rows.push(row);
        }
        let is_port = matches!(netdev.kind, NetdevKind::Physical | NetdevKind::Ipoib);
        if rows.len() == before && is_port {
            rows.push(plain);
        }
    }
    for (name, device, number, port) in ports() {
        let shown = known.is_some_and(|known| known.keys().any(|netdev| on(port, netdev)));
        if !shown {
            let mut row = Row::default();
            row.netdev = row.take("netdev", &port.netdev).flatten();
            row.add_rdma(name, number, device, port);
            rows.push(row);
        }
    }
    rows
}

/// None where the carrier matters and is unknown.
fn link_state(up: bool, carrier: &Seen<bool>) -> Option<String> {
    match (up, carrier.get()) {
        (false, _) => Some("down".to_owned()),
        (true, Some(true)) => Some("up".to_owned()),
        (true, Some(false)) => Some("no carrier".to_owned()),
        (true, None) => None,
    }
}

/// `100 Gb/s`, `2.5 Gb/s`, `100 Mb/s`.
fn speed(mbps: u32) -> String {
    match (mbps / 1000, mbps % 1000) {
        (0, _) => format!("{mbps} Mb/s"),
        (gbps, 0) => format!("{gbps} Gb/s"),
        _ => format!("{} Gb/s", f64::from(mbps) / 1000.0),
    }
}

/// The kernel's `100 Gb/sec (4X EDR)` as `100 Gb/s`.
fn brief_rate(rate: &str) -> String {
    let rate = rate.split(" (").next().unwrap_or(rate);
    rate.replace("Gb/sec", "Gb/s")
}

/// The GID that a connection would use: RoCEv2 with IPv4, with a global IPv6 address, with a
/// link-local one, then version 1.
fn best(gids: &[Gid]) -> Option<&Gid> {
    let rank = |gid: &&Gid| {
        let link_local = gid.gid.is_unicast_link_local();
        match (gid.kind, gid.gid.to_ipv4_mapped().is_some()) {
            (GidType::RoceV2, true) => 0,
            (GidType::RoceV2, false) if !link_local => 1,
            (GidType::RoceV2, false) => 2,
            (GidType::IbRoceV1, true) => 3,
            (GidType::IbRoceV1, false) => 4,
        }
    };
    gids.iter().min_by_key(rank)
}

fn kind_of(gid: &Gid, mode: Option<Mode>) -> &'static str {
    match (gid.kind, mode) {
        (GidType::RoceV2, _) => "v2",
        (GidType::IbRoceV1, Some(Mode::Infiniband)) => "ib",
        (GidType::IbRoceV1, _) => "v1",
    }
}
