//! Builds an example host reading by reading.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Module;
use super::read;
use crate::facts::{
    Address, DriverInfo, FORMAT, Facts, Lifeline, LinkState, ModuleState, Netdev, NetdevKind,
    Privilege, Route, Users, Userspace,
};
use crate::host::Act;
use crate::host::model::Model;
use crate::values::{Bdf, IpPrefix, MacAddr};

/// A host in the making.
pub(super) struct Host {
    facts: Facts,
    names: Vec<(String, String)>,
    load: Vec<(String, BTreeMap<String, String>)>,
}

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
    pub(super) fn new(name: &str, kernel: &str) -> Host {
        let mut facts = Facts { format: FORMAT, host: name.to_owned(), ..Facts::default() };
        let evidence = &mut facts.evidence;
        evidence.kernel_release = kernel.to_owned();
        evidence.modules_disabled = read(false, "/proc/sys/kernel/modules_disabled");
        evidence.lockdown = read("none".to_owned(), "/sys/kernel/security/lockdown");
        let root = Privilege { net_admin: true, sys_module: true, root: true };
        evidence.privilege = read(root, "/proc/self/status");
        evidence.users = read(Users::default(), "/proc/*/fd");
        let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect();
        evidence.userspace = read(
            Userspace {
                libibverbs: Some("/usr/lib64/libibverbs.so.1".to_owned()),
                librdmacm: Some("/usr/lib64/librdmacm.so.1".to_owned()),
                providers: names(&[
                    "libirdma-rdmav34.so",
                    "libmlx5-rdmav34.so",
                    "librxe-rdmav34.so",
                    "libsiw-rdmav34.so",
                ]),
                driver_files: names(&["irdma", "mlx5", "rxe", "siw"]),
                nodes: names(&["/dev/infiniband/rdma_cm"]),
            },
            "/dev/infiniband",
        );
        evidence.verbs = read(Vec::new(), "ibv_get_device_list");
        evidence.lifelines = read(BTreeMap::new(), "/proc/net/route");
        let state = &mut facts.state;
        state.links = read(BTreeMap::new(), "RTM_GETLINK, RTM_GETADDR");
        state.routes = read(BTreeSet::new(), "RTM_GETROUTE");
        state.software = read(BTreeSet::new(), "RDMA netlink");
        state.configfs = read(BTreeMap::new(), "/sys/kernel/config");
        facts.identity.netdevs = read(BTreeMap::new(), "/sys/class/net");
        facts.identity.rdma = read(BTreeMap::new(), "/sys/class/infiniband");
        let mut host = Host { facts, names: Vec::new(), load: Vec::new() };
        host.loopback();
        host
    }

    fn loopback(&mut self) {
        let lo = Netdev { index: 1, kind: NetdevKind::Loopback, ..Netdev::default() };
        let addresses = ["127.0.0.1/8", "::1/128"];
        let host_scope =
            |text: &str| Some(Address { scope: 254, ..Address::plain(text.parse().ok()?) });
        let addresses = addresses.into_iter().filter_map(host_scope).collect();
        self.netdev("lo", lo, LinkState { up: true, mtu: 65536, addresses });
    }

    /// Registers module files; those that every such host has loaded get loaded.
    pub(super) fn modules(&mut self, modules: Vec<Module>) {
        let release = self.facts.evidence.kernel_release.clone();
        for Module { name, mut file, loaded } in modules {
            let folder = if file.in_tree { "kernel/drivers" } else { "updates" };
            file.path = format!("/lib/modules/{release}/{folder}/{name}.ko.xz");
            file.vermagic = Some(format!("{release} SMP mod_unload modversions"));
            let path = file.path.clone();
            self.facts.evidence.module_files.insert(name.to_owned(), read(Some(file), &path));
            let state = read(ModuleState::default(), &format!("/sys/module/{name}"));
            self.facts.state.modules.insert(name.to_owned(), state);
            if loaded {
                self.load(name, &[]);
            }
        }
    }

    /// Loads a module once the host is complete.
    pub(super) fn load(&mut self, module: &str, parameters: &[(&str, &str)]) {
        let parameters =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.load.push((module.to_owned(), parameters.collect()));
    }

    /// Names of RDMA devices by interface.
    pub(super) fn names(&mut self, names: &[(&str, &str)]) {
        self.names =
            names.iter().map(|(on, name)| ((*on).to_owned(), (*name).to_owned())).collect();
    }

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

    /// devlink's modes of the ice ports.
    pub(super) fn devlink(&mut self, roce: bool, iwarp: bool) {
        for function in 0..2 {
            let device = format!("pci/0000:02:00.{function}");
            let runtime = |value| BTreeMap::from([("runtime".to_owned(), value)]);
            let shown = BTreeMap::from([
                ("enable_iwarp".to_owned(), runtime(iwarp)),
                ("enable_roce".to_owned(), runtime(roce)),
            ]);
            self.facts.state.devlink.insert(device, read(shown, "devlink param get"));
        }
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

    fn netdev(&mut self, name: &str, netdev: Netdev, link: LinkState) {
        if let Some(netdevs) = self.facts.identity.netdevs.get_mut() {
            netdevs.insert(name.to_owned(), netdev);
        }
        if let Some(links) = self.facts.state.links.get_mut() {
            links.insert(name.to_owned(), link);
        }
    }

    fn address(&mut self, netdev: &str, text: &str) {
        let links = self.facts.state.links.get_mut();
        if let (Some(link), Ok(prefix)) =
            (links.and_then(|links| links.get_mut(netdev)), text.parse::<IpPrefix>())
        {
            link.addresses.insert(Address::plain(prefix));
        }
    }

    /// Loads what is to be loaded, so that devices, GIDs, nodes and users of modules agree with
    /// the rules of the machine.
    pub(super) fn finish(self) -> Facts {
        let mut model = Model::complete(self.facts);
        for (netdev, name) in &self.names {
            model = model.with_device_name(netdev, name);
        }
        for (module, parameters) in self.load {
            // A host without one of these files is a smaller host.
            let _ = model.act(&crate::change::Change::LoadModule { module, parameters });
        }
        model.facts()
    }
}
