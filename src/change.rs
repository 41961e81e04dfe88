//! One change of a host, in the words of the domain, as data.
//!
//! The plan, the journal and the fault tests are lists of these. How a change is carried out belongs
//! to [`host`](crate::host), when it is wanted to [`claims`](crate::claims). Its inverse is computed
//! from the facts before it (`inverse.rs`), and [`Change::holds`] tells from facts whether it is in effect.

mod drivers;
mod holds;
mod inverse;
#[cfg(test)]
mod tests;

pub use drivers::{
    network_drivers_of, rdma_module_of, rdma_modules, rdma_modules_of, software_of_module,
};
pub use holds::same_parameter_value;
pub(crate) use holds::{kernel_integer, unquoted};
pub(crate) use inverse::{in_subnet, same_subnet};

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::{Address, Route};
use crate::values::Software;

/// One change of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Change {
    /// Load a module with its dependencies (`modprobe`). On a module that is loaded, the kernel
    /// ignores the parameters and reports success.
    LoadModule {
        /// Module name.
        module: String,
        /// Parameters at load time.
        parameters: BTreeMap<String, String>,
    },
    /// Remove this one module (`delete_module`), never those below it.
    RemoveModule {
        /// Module name.
        module: String,
    },
    /// Set a boolean devlink parameter.
    SetDevlink {
        /// Device handle, `pci/0000:02:00.0`.
        device: String,
        /// Parameter (`enable_roce`).
        parameter: String,
        /// `runtime`, `driverinit` or `permanent`.
        cmode: String,
        /// Wanted value.
        value: bool,
    },
    /// Set an interface up or down.
    SetLink {
        /// Interface.
        netdev: String,
        /// Up or down.
        up: bool,
    },
    /// Set an interface's MTU.
    SetMtu {
        /// Interface.
        netdev: String,
        /// Bytes.
        mtu: u32,
    },
    /// Add an address to an interface.
    AddAddress {
        /// Interface.
        netdev: String,
        /// Address with its attributes.
        address: Address,
    },
    /// Remove an address from an interface; its routes go with it.
    RemoveAddress {
        /// Interface.
        netdev: String,
        /// Address with its attributes.
        address: Address,
    },
    /// Add a route.
    AddRoute {
        /// The route.
        route: Route,
    },
    /// Remove a route.
    RemoveRoute {
        /// The route.
        route: Route,
    },
    /// Make a software RDMA device (`rdma link add`).
    AddSoftwareLink {
        /// Name of the RDMA device.
        name: String,
        /// rxe or siw.
        kind: Software,
        /// Interface below it.
        netdev: String,
    },
    /// Remove the software RDMA device of this kind on this interface, whatever its name.
    RemoveSoftwareLink {
        /// rxe or siw.
        kind: Software,
        /// Interface below it.
        netdev: String,
        /// The name it has now, to make it again under this name.
        name: String,
    },
    /// Make a configfs directory, by its path below `/sys/kernel/config`.
    MakeConfigfs {
        /// Path.
        path: String,
    },
    /// Remove a configfs directory.
    RemoveConfigfs {
        /// Path.
        path: String,
    },
    /// Write a configfs file, by its path below `/sys/kernel/config`.
    WriteConfigfs {
        /// Path.
        path: String,
        /// Value.
        value: String,
    },
}

impl fmt::Display for Change {
    /// What an administrator would say: an imperative sentence without a full stop.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::LoadModule { module, parameters } => {
                write!(f, "load {module}")?;
                parameters.iter().try_for_each(|(name, value)| write!(f, " {name}={value}"))
            }
            Change::RemoveModule { module } => write!(f, "remove {module} (that module alone)"),
            Change::SetDevlink { device, parameter, cmode, value } => {
                write!(f, "set devlink {device} {parameter}={value} ({cmode})")
            }
            Change::SetLink { netdev, up } => {
                write!(f, "set {netdev} {}", if *up { "up" } else { "down" })
            }
            Change::SetMtu { netdev, mtu } => write!(f, "set {netdev} MTU {mtu}"),
            Change::AddAddress { netdev, address } => {
                write!(f, "add {} to {netdev}", address.prefix)
            }
            Change::RemoveAddress { netdev, address } => {
                write!(f, "remove {} from {netdev}", address.prefix)
            }
            Change::AddRoute { route } => write!(f, "add route {route}"),
            Change::RemoveRoute { route } => write!(f, "remove route {route}"),
            Change::AddSoftwareLink { name, kind, netdev } => {
                write!(f, "make {kind} device {name} on {netdev}")
            }
            Change::RemoveSoftwareLink { kind, netdev, name } => {
                write!(f, "remove {kind} device {name} from {netdev}")
            }
            Change::MakeConfigfs { path } => write!(f, "make configfs directory {path}"),
            Change::RemoveConfigfs { path } => write!(f, "remove configfs directory {path}"),
            Change::WriteConfigfs { path, value } => write!(f, "write {value} to configfs {path}"),
        }
    }
}
