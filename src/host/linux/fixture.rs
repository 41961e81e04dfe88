//! A machine as a tree of files in a scratch folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{Linux, Roots};
use crate::host::linux::tree::Tree;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file with the line break that sysfs adds.
    pub(crate) fn file(&self, path: &str, text: &str) -> &Fixture {
        self.bytes(path, format!("{text}\n").as_bytes())
    }

    pub(crate) fn bytes(&self, path: &str, bytes: &[u8]) -> &Fixture {
        let place = self.root().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        fs::write(place, bytes).expect("written");
        self
    }

    pub(crate) fn directory(&self, path: &str) -> &Fixture {
        fs::create_dir_all(self.root().join(path)).expect("made");
        self
    }

    pub(crate) fn link(&self, path: &str, target: &str) -> &Fixture {
        let place = self.root().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        symlink(target, place).expect("linked");
        self
    }

    pub(crate) fn sys(&self) -> Tree {
        Tree::new(self.root().join("sys"), "/sys")
    }

    pub(crate) fn proc(&self) -> Tree {
        Tree::new(self.root().join("proc"), "/proc")
    }

    pub(crate) fn linux(&self) -> Linux {
        Linux::files(Roots::below(self.root()))
    }

    /// A NIC's interface with its PCI function and driver.
    pub(crate) fn nic(&self, netdev: &str, index: u32, bdf: &str, driver: &str) -> &Fixture {
        let function = format!("sys/devices/pci0000:00/0000:00:01.0/{bdf}");
        let class = format!("{function}/net/{netdev}");
        self.file(&format!("{class}/ifindex"), &index.to_string())
            .file(&format!("{class}/flags"), "0x1003")
            .file(&format!("{class}/type"), "1")
            .file(&format!("{class}/mtu"), "1500")
            .file(&format!("{class}/carrier"), "1")
            .file(&format!("{class}/speed"), "100000")
            .file(&format!("{class}/dev_port"), "0")
            .file(&format!("{class}/address"), "b4:96:91:00:00:0a")
            .file(&format!("{function}/numa_node"), "1")
            .file(&format!("{function}/sriov_numvfs"), "2")
            .link(&format!("{function}/driver"), &format!("../../../../bus/pci/drivers/{driver}"))
            .link(&format!("{class}/device"), "../..")
            .link(
                &format!("sys/class/net/{netdev}"),
                &format!("../../devices/pci0000:00/0000:00:01.0/{bdf}/net/{netdev}"),
            )
            .link(
                &format!("sys/bus/pci/devices/{bdf}"),
                &format!("../../../devices/pci0000:00/0000:00:01.0/{bdf}"),
            )
    }

    /// An RDMA device at a place below /sys/devices, with one port and no GIDs.
    pub(crate) fn rdma(
        &self,
        name: &str,
        below: &str,
        node_type: &str,
        link_layer: &str,
    ) -> &Fixture {
        let place = format!("sys/devices/{below}/infiniband/{name}");
        self.file(&format!("{place}/node_type"), node_type)
            .file(&format!("{place}/node_guid"), "b696:91ff:fe00:000a")
            .file(&format!("{place}/fw_ver"), "1.71")
            .file(&format!("{place}/ports/1/link_layer"), link_layer)
            .file(&format!("{place}/ports/1/state"), "4: ACTIVE")
            .file(&format!("{place}/ports/1/phys_state"), "5: LinkUp")
            .file(&format!("{place}/ports/1/rate"), "100 Gb/sec (4X EDR)")
            .directory(&format!("{place}/ports/1/gids"))
            .link(
                &format!("sys/class/infiniband/{name}"),
                &format!("../../devices/{below}/infiniband/{name}"),
            )
    }

    /// Fills a slot of port 1 of an RDMA device made before.
    pub(crate) fn gid(
        &self,
        name: &str,
        index: u32,
        gid: &str,
        kind: &str,
        netdev: &str,
    ) -> &Fixture {
        let port = format!("sys/class/infiniband/{name}/ports/1");
        self.file(&format!("{port}/gids/{index}"), gid)
            .file(&format!("{port}/gid_attrs/types/{index}"), kind)
            .file(&format!("{port}/gid_attrs/ndevs/{index}"), netdev)
    }
}
