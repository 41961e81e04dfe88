//! Builds an example host reading by reading.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::Module;
use super::read;
use crate::facts::{
    Address, FORMAT, Facts, LinkState, ModuleState, Netdev, NetdevKind, Privilege, Users, Userspace,
};
use crate::host::Act;
use crate::host::model::Model;
use crate::values::IpPrefix;

/// A host in the making.
pub(super) struct Host {
    pub(super) facts: Facts,
    names: Vec<(String, String)>,
    load: Vec<(String, BTreeMap<String, String>)>,
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

    pub(super) fn netdev(&mut self, name: &str, netdev: Netdev, link: LinkState) {
        if let Some(netdevs) = self.facts.identity.netdevs.get_mut() {
            netdevs.insert(name.to_owned(), netdev);
        }
        if let Some(links) = self.facts.state.links.get_mut() {
            links.insert(name.to_owned(), link);
        }
    }

    pub(super) fn address(&mut self, netdev: &str, text: &str) {
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
