//! The network interfaces of the example hosts.

use std::collections::{BTreeMap, BTreeSet};

use super::build::Host;
use super::read;
use crate::facts::{Address, DriverInfo, Lifeline, LinkState, Netdev, NetdevKind, Route};
use crate::values::{Bdf, IpPrefix, MacAddr};

/// What differs from one network interface to the next.
struct Port {
    name: &'static str,
    mac: [u8; 6],
    bdf: Option<(u8, u8, u8)>,
    driver: &'static str,
    version: String,
    firmware: &'static str,
    speed: u32,
    numa: u32,
}

impl Host {
    /// `eno1` with an address and the default route.
    pub(super) fn management(&mut self, address: &str, gateway: &str) {
        let release = self.facts.evidence.kernel_release.clone();
        self.port(Port {
            name: "eno1",
            mac: [0x0c, 0xc4, 0x7a, 0x10, 0x20, 0x30],
            bdf: Some((6, 0, 0)),
            driver: "e1000e",
            version: release,
            firmware: "1.63, 0x800009fa",
            speed: 1000,
            numa: 0,
        });
        self.address("eno1", address);
        if let (Ok(destination), Ok(gateway)) = ("0.0.0.0/0".parse::<IpPrefix>(), gateway.parse()) {
            let route = Route {
                netdev: "eno1".to_owned(),
                destination,
                gateway: Some(gateway),
                source: None,
                table: 254,
                metric: 100,
                protocol: 4,
                scope: 0,
            };
            self.facts.state.routes.get_mut().into_iter().for_each(|routes| {
                routes.insert(route.clone());
            });
        }
        if let Some(lifelines) = self.facts.evidence.lifelines.get_mut() {
            let session = address.split('/').next().unwrap_or_default().to_owned();
            let reasons = [Lifeline::DefaultRoute, Lifeline::SshSession(session)];
            lifelines.insert("eno1".to_owned(), BTreeSet::from(reasons));
        }
    }

    /// `ens1f0` and `ens1f1`: 0000:02:00.0 and .1, with devlink saying RoCE as ice does by default.
    pub(super) fn e810_ports(&mut self, node: u8, version: &str) {
        for (function, name) in [(0, "ens1f0"), (1, "ens1f1")] {
            self.port(Port {
                name,
                mac: [0xb4, 0x96, 0x91, 0xaa, node, function],
                bdf: Some((2, 0, function)),
                driver: "ice",
                version: version.to_owned(),
                firmware: "3.20 0x8000d84c 1.3146.0",
                speed: 100_000,
                numa: 0,
            });
        }
        self.devlink(true, false);
    }

    /// `ens1f0` and `ens1f1` as gigabit ports.
    pub(super) fn plain_ports(&mut self) {
        let release = self.facts.evidence.kernel_release.clone();
        for (slot, name) in [(1, "ens1f0"), (2, "ens1f1")] {
            self.port(Port {
                name,
                mac: [0x52, 0x54, 0x00, 0x00, 0x01, slot],
                bdf: Some((0, slot + 3, 0)),
                driver: "e1000e",
                version: release.clone(),
                firmware: "1.8-0",
                speed: 1000,
                numa: 0,
            });
        }
    }

    /// `eth4` with `mlx5_0`, up with 10.10.10.1/24, and rdma_cm's settings.
    pub(super) fn mlx5_port(&mut self) {
        self.port(Port {
            name: "eth4",
            mac: [0xec, 0x0d, 0x9a, 0x11, 0x22, 0x33],
            bdf: Some((0x81, 0, 0)),
            driver: "mlx5_core",
            version: "4.0-2.0.0".to_owned(),
            firmware: "14.18.2030 (MT_2470110001)",
            speed: 25_000,
            numa: 1,
        });
        self.address("eth4", "10.10.10.1/24");
        self.names(&[("eth4", "mlx5_0")]);
    }

    fn port(&mut self, port: Port) {
        let at = format!("/sys/class/net/{}", port.name);
        let mac = MacAddr(port.mac);
        let bdf = port.bdf.map(|(bus, device, function)| Bdf { domain: 0, bus, device, function });
        let index = self.facts.identity.netdevs.get().map_or(1, BTreeMap::len) as u32 + 1;
        let netdev = Netdev {
            index,
            kind: NetdevKind::Physical,
            mac: Some(mac),
            permanent_mac: read(mac, "RTM_GETLINK"),
            bdf,
            driver: Some(port.driver.to_owned()),
            carrier: read(true, &format!("{at}/carrier")),
            speed_mbps: read(port.speed, &format!("{at}/speed")),
            numa_node: read(port.numa, &format!("{at}/device/numa_node")),
            ..Netdev::default()
        };
        let mut link = LinkState { up: true, mtu: 1500, addresses: BTreeSet::new() };
        let eui64 = IpPrefix::new(crate::host::model::ports::eui64(mac).into(), 64);
        link.addresses
            .extend(eui64.ok().map(|prefix| Address { scope: 253, ..Address::plain(prefix) }));
        self.netdev(port.name, netdev, link);
        let info = DriverInfo {
            driver: port.driver.to_owned(),
            version: port.version,
            firmware: port.firmware.to_owned(),
        };
        self.facts.evidence.drivers.insert(port.name.to_owned(), read(info, "ETHTOOL_GDRVINFO"));
    }
}
