//! What claims may want to know beyond state and identity.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{NodeType, Seen};
use crate::smoke::SmokeOutcome;

/// Readings that no change sets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Kernel release (`uname -r`).
    #[serde(default)]
    pub kernel_release: String,
    /// `/proc/sys/kernel/modules_disabled`: true means that no module can be loaded until a reboot.
    #[serde(default)]
    pub modules_disabled: Seen<bool>,
    /// `/sys/kernel/security/lockdown`: `none`, `integrity` or `confidentiality`; the latter two
    /// let only signed modules load.
    #[serde(default)]
    pub lockdown: Seen<String>,
    /// What this process may do.
    #[serde(default)]
    pub privilege: Seen<Privilege>,
    /// Loaded modules that were asked for: what they were built from.
    #[serde(default)]
    pub builds: BTreeMap<String, Seen<ModuleBuild>>,
    /// Module files on disk that were asked for; known `None` means that there is no file.
    #[serde(default)]
    pub module_files: BTreeMap<String, Seen<Option<ModuleFile>>>,
    /// Driver and firmware per network interface (SIOCETHTOOL, ETHTOOL_GDRVINFO).
    #[serde(default)]
    pub drivers: BTreeMap<String, Seen<DriverInfo>>,
    /// Who uses RDMA devices. Unknown when the scan could not be completed.
    #[serde(default)]
    pub users: Seen<Users>,
    /// Libraries, providers and device nodes.
    #[serde(default)]
    pub userspace: Seen<Userspace>,
    /// The devices that the verbs library lists; unknown holds the loader's own words.
    #[serde(default)]
    pub verbs: Seen<Vec<VerbsDevice>>,
    /// Interfaces that this host must not lose, with the reasons.
    #[serde(default)]
    pub lifelines: Seen<BTreeMap<String, BTreeSet<Lifeline>>>,
    /// Smoke tests that were run, by interface.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub smoke: BTreeMap<String, SmokeOutcome>,
}

/// What this process may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Privilege {
    /// Effective CAP_NET_ADMIN: links, addresses, devlink, RDMA links.
    pub net_admin: bool,
    /// Effective CAP_SYS_MODULE: loading and removing modules.
    pub sys_module: bool,
    /// Effective user id is 0.
    pub root: bool,
}

/// What a loaded module was built from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleBuild {
    /// `/sys/module/<m>/version`; in-kernel drivers have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `/sys/module/<m>/srcversion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub srcversion: Option<String>,
    /// `/sys/module/<m>/taint` without `O`: built with the kernel.
    pub in_tree: bool,
    /// Built into the kernel image: it has no `initstate` and cannot be removed.
    #[serde(default)]
    pub builtin: bool,
    /// `/sys/module/<m>/refcnt`; none when built in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refcount: Option<u32>,
    /// `/sys/module/<m>/holders/*`: modules that use this one.
    #[serde(default)]
    pub holders: BTreeSet<String>,
}

/// A module file on disk, read from its `.modinfo` section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleFile {
    /// Path of the file that `modprobe` would load.
    pub path: String,
    /// `version=`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// `srcversion=`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub srcversion: Option<String>,
    /// `vermagic=`, whose first word is the kernel release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vermagic: Option<String>,
    /// `intree=Y`.
    pub in_tree: bool,
    /// The file carries a signature.
    pub signed: bool,
    /// Names of `parm=`.
    #[serde(default)]
    pub parameters: BTreeSet<String>,
    /// `depends=`.
    #[serde(default)]
    pub depends: BTreeSet<String>,
}

/// What `ethtool -i` shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverInfo {
    /// Driver name.
    pub driver: String,
    /// Version as the driver reports it; in-kernel drivers report the kernel's release.
    pub version: String,
    /// Firmware version.
    pub firmware: String,
}

/// Who uses RDMA devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Users {
    /// Processes that hold `/dev/infiniband/uverbs*` or `rdma_cm` open.
    #[serde(default)]
    pub processes: Vec<ProcessUser>,
    /// Queue pairs and connections that the kernel itself owns (Lustre, NFS-RDMA, nvme, SMC).
    #[serde(default)]
    pub kernel: Vec<KernelUser>,
    /// Mounts over RDMA: mount point and options.
    #[serde(default)]
    pub mounts: Vec<String>,
}

/// A process with an RDMA character device open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessUser {
    /// Process id.
    pub pid: u32,
    /// `/proc/<pid>/comm`.
    pub command: String,
    /// Path of the open device node.
    pub node: String,
    /// The RDMA device behind the node; none for `rdma_cm`, which serves all devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// A kernel-owned RDMA resource, found through RDMA netlink.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelUser {
    /// Owner as the kernel names it (`nvme_rdma`).
    pub owner: String,
    /// RDMA device.
    pub device: String,
    /// `QP` or `CM_ID`.
    pub resource: String,
}

/// The userspace half of RDMA, as files (nothing is opened or run).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Userspace {
    /// Path of `libibverbs.so.1` in the loader's directories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libibverbs: Option<String>,
    /// Path of `librdmacm.so.1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub librdmacm: Option<String>,
    /// Provider libraries (`libirdma-rdmav34.so`) found in the provider directories.
    #[serde(default)]
    pub providers: BTreeSet<String>,
    /// Drivers that have a file `/etc/libibverbs.d/*.driver`, by the file's name.
    #[serde(default)]
    pub driver_files: BTreeSet<String>,
    /// Device nodes under `/dev/infiniband`.
    #[serde(default)]
    pub nodes: BTreeSet<String>,
}

/// A device as the verbs library lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerbsDevice {
    /// Name.
    pub name: String,
    /// Node type as the library reports it.
    pub node_type: NodeType,
}

/// Why an interface must not be lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lifeline {
    /// It carries a default route.
    DefaultRoute,
    /// The SSH session of the caller comes in on this address.
    SshSession(String),
    /// A network file system is mounted over it: the mount point.
    Mount(String),
}

impl std::fmt::Display for Lifeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lifeline::DefaultRoute => f.write_str("carries the default route"),
            Lifeline::SshSession(address) => write!(f, "carries your SSH session (to {address})"),
            Lifeline::Mount(at) => write!(f, "carries the file system mounted on {at}"),
        }
    }
}
