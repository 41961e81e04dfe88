//! Mounted file systems that need the network.

use std::io;
use std::net::IpAddr;

use procfs::FromRead;
use procfs::process::MountInfos;

use super::tree::Tree;

/// A mount with what tells its way through the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) kind: String,
    pub(crate) source: String,
    pub(crate) at: String,
    /// Of the mount and of its file system, joined by commas.
    pub(crate) options: String,
}

const NETWORK_KINDS: [&str; 8] =
    ["nfs", "nfs4", "cifs", "smb3", "lustre", "ceph", "beegfs", "gpfs"];

impl Mount {
    /// NFS over RDMA, SMB direct, 9p over RDMA, Lustre over o2ib.
    pub(crate) fn over_rdma(&self) -> bool {
        self.option("proto").is_some_and(|proto| proto.starts_with("rdma"))
            || self.option("trans") == Some("rdma")
            || (self.kind != "9p" && self.options.split(',').any(|option| option == "rdma"))
            || (self.kind == "lustre" && self.source.contains("@o2ib"))
    }

    /// A file system that goes away with its interface.
    pub(crate) fn over_network(&self) -> bool {
        NETWORK_KINDS.contains(&self.kind.as_str())
    }

    /// Addresses of the other end, and of this host where the mount names it.
    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        let options = ["clientaddr", "addr", "mountaddr"]
            .into_iter()
            .filter_map(|name| self.option(name)?.parse().ok());
        // lustre: 10.0.0.1@tcp:10.0.0.2@tcp:/fs, ceph: 10.0.0.1:6789,10.0.0.2:6789:/
        let source = self
            .source
            .split(['@', ':', ',', '/'])
            .filter(|_| matches!(self.kind.as_str(), "lustre" | "ceph"))
            .filter_map(|part| part.parse().ok());
        let mut all: Vec<IpAddr> =
            options.chain(source).filter(|ip: &IpAddr| !ip.is_unspecified()).collect();
        all.sort();
        all.dedup();
        all
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.options.split(',').find_map(|option| option.strip_prefix(name)?.strip_prefix('='))
    }
}

/// Mounts of this process's mount namespace.
pub(crate) fn read(proc: &Tree) -> io::Result<Vec<Mount>> {
    let text = proc.text("self/mountinfo")?;
    let infos = MountInfos::from_read(text.as_bytes())
        .map_err(|error| io::Error::other(error.to_string()))?;
    Ok(infos
        .into_iter()
        .map(|info| {
            let mut options: Vec<String> = info
                .super_options
                .into_iter()
                .map(|(name, value)| value.map_or(name.clone(), |value| format!("{name}={value}")))
                .collect();
            options.sort();
            Mount {
                kind: info.fs_type,
                source: info.mount_source.unwrap_or_default(),
                at: info.mount_point.to_string_lossy().into_owned(),
                options: options.join(","),
            }
        })
        .collect())
}
