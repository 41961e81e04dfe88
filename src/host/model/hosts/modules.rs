//! The modules of the example hosts: on disk and loaded.

use std::collections::BTreeSet;

use crate::facts::ModuleFile;

/// A module of a host: its file, and whether it is loaded from the start.
pub(super) struct Module {
    pub(super) name: &'static str,
    pub(super) file: ModuleFile,
    pub(super) loaded: bool,
}

/// Parameters of Intel's irdma 1.11 that matter here.
const IRDMA_PARAMETERS: [&str; 4] = ["limits_sel", "resource_profile", "roce_ena", "roce_port_cfg"];

/// Intel's ice and irdma, beside the kernel's RDMA core.
pub(super) fn out_of_tree_pair() -> Vec<Module> {
    let ice = Module::new("ice", "A1B2C3D4E5F60718293A4B5", &[]).intel("1.9.11", &[]).loaded();
    let irdma = Module::new("irdma", "0F1E2D3C4B5A69788796A5B", &["ice", "ib_core", "ib_uverbs"])
        .intel("1.11.16.6", &IRDMA_PARAMETERS);
    let mut modules = core();
    modules.extend([ice, irdma]);
    modules.extend(soft_devices());
    modules
}

/// The kernel's own ice and irdma.
pub(super) fn in_kernel_pair() -> Vec<Module> {
    let mut modules = core();
    modules.extend([
        Module::new("ice", "91E2D0C7B6A5F4831726354", &[]).loaded(),
        Module::new("irdma", "5D6C7B8A90F1E2D3C4B5A69", &["ice", "ib_core", "ib_uverbs"]),
    ]);
    modules.extend(soft_devices());
    modules
}

/// No hardware RDMA.
pub(super) fn plain() -> Vec<Module> {
    let mut modules = core();
    modules.extend(soft_devices());
    modules
}

/// A host with ConnectX cards, which has irdma on disk all the same.
pub(super) fn mlx5() -> Vec<Module> {
    let mut modules = core();
    modules.extend([
        Module::new("mlx5_core", "3C4D5E6F708192A3B4C5D6E", &[]).loaded(),
        Module::new("mlx5_ib", "7F8091A2B3C4D5E6F708192", &["mlx5_core", "ib_core", "ib_uverbs"]),
        Module::new("ice", "91E2D0C7B6A5F4831726354", &[]),
        Module::new("irdma", "5D6C7B8A90F1E2D3C4B5A69", &["ice", "ib_core", "ib_uverbs"]),
    ]);
    modules.extend(soft_devices());
    modules
}

fn core() -> Vec<Module> {
    vec![
        Module::new("ib_core", "11D2E3F405162738495A6B7", &[]).loaded(),
        Module::new("ib_uverbs", "22E3F405162738495A6B7C8", &["ib_core"]).loaded(),
        Module::new("ib_cm", "33F405162738495A6B7C8D9", &["ib_core"]).loaded(),
        Module::new("iw_cm", "4405162738495A6B7C8D9EA", &["ib_core"]).loaded(),
        Module::new("rdma_cm", "55162738495A6B7C8D9EAFB", &["ib_cm", "iw_cm", "ib_core"]).loaded(),
        Module::new("rdma_ucm", "662738495A6B7C8D9EAFB0C", &["rdma_cm", "ib_uverbs"]).loaded(),
        Module::new("e1000e", "7738495A6B7C8D9EAFB0C1D", &[]).loaded(),
    ]
}

fn soft_devices() -> Vec<Module> {
    vec![
        Module::new("rdma_rxe", "88495A6B7C8D9EAFB0C1D2E", &["ib_core", "ib_uverbs"]),
        Module::new("siw", "995A6B7C8D9EAFB0C1D2E3F", &["ib_core", "ib_uverbs", "iw_cm"]),
    ]
}

impl Module {
    fn new(name: &'static str, srcversion: &str, depends: &[&str]) -> Module {
        let file = ModuleFile {
            path: String::new(),
            version: None,
            srcversion: Some(srcversion.to_owned()),
            vermagic: None,
            in_tree: true,
            signed: true,
            parameters: BTreeSet::new(),
            depends: depends.iter().map(|name| (*name).to_owned()).collect(),
        };
        Module { name, file, loaded: false }
    }

    fn loaded(mut self) -> Module {
        self.loaded = true;
        self
    }

    fn intel(mut self, version: &str, parameters: &[&str]) -> Module {
        self.file.version = Some(version.to_owned());
        self.file.in_tree = false;
        self.file.signed = false;
        self.file.parameters = parameters.iter().map(|name| (*name).to_owned()).collect();
        self
    }
}
