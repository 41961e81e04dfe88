//! Which RDMA module makes the RDMA devices of which network driver.

use crate::values::Software;

/// RDMA module and the network drivers whose ports it serves, from the kernel's auxiliary device
/// tables (`ice.roce`, `mlx5_core.rdma`, ...) and, for older drivers, their registration calls.
const SERVED: &[(&str, &[&str])] = &[
    ("irdma", &["ice", "i40e"]),
    ("mlx5_ib", &["mlx5_core"]),
    ("mlx4_ib", &["mlx4_core", "mlx4_en"]),
    ("bnxt_re", &["bnxt_en"]),
    ("iw_cxgb4", &["cxgb4"]),
    ("qedr", &["qede"]),
    ("hns_roce_hw_v2", &["hns3"]),
    ("i40iw", &["i40e"]),
    ("ocrdma", &["be2net"]),
];

/// Every RDMA module of the table.
pub fn rdma_modules() -> impl Iterator<Item = &'static str> {
    SERVED.iter().map(|(module, _)| *module)
}

/// The network drivers whose RDMA devices this module makes; empty for every other module.
pub fn network_drivers_of(module: &str) -> &'static [&'static str] {
    SERVED.iter().find(|(name, _)| *name == module).map_or(&[], |(_, drivers)| drivers)
}

/// The RDMA module for a network driver; of several, today's.
pub fn rdma_module_of(network_driver: &str) -> Option<&'static str> {
    rdma_modules_of(network_driver).next()
}

/// Every RDMA module for a network driver, today's first: an X722 has irdma, before 5.14 i40iw.
pub fn rdma_modules_of(network_driver: &str) -> impl Iterator<Item = &'static str> {
    let network_driver = network_driver.to_owned();
    SERVED
        .iter()
        .filter(move |(_, drivers)| drivers.contains(&network_driver.as_str()))
        .map(|(name, _)| *name)
}

/// The kind of software device that a module makes.
pub fn software_of_module(module: &str) -> Option<Software> {
    [Software::Rxe, Software::Siw].into_iter().find(|kind| kind.module() == module)
}
