//! GID tables from sysfs. An empty slot holds zeros, and reading its type fails with EINVAL.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv6Addr};

use super::tree::{Tree, brief, errno_words, words};
use crate::facts::{Gid, GidScan, GidType, Seen};

/// Slots that are looked at where none of the wanted addresses can be: enough to see which types
/// of GID the port makes, little enough for a table of 1,024 that is empty.
const SAMPLE: u32 = 8;

/// Reads a port's table as far as `scan` wants. `held` are the addresses that the port's interface
/// and those stacked on it have, where that is known: no other address can have a GID here.
pub(crate) fn read(
    sys: &Tree,
    port: &str,
    scan: &GidScan,
    held: Option<&BTreeSet<IpAddr>>,
) -> Seen<Vec<Gid>> {
    let mut missing: BTreeSet<IpAddr> = match (scan, held) {
        (GidScan::None, _) => return Seen::NotAsked,
        (GidScan::Until(wanted), Some(held)) => wanted.intersection(held).copied().collect(),
        (GidScan::Until(wanted), None) => wanted.clone(),
        (GidScan::All, _) => BTreeSet::new(),
    };
    let sample = matches!(scan, GidScan::Until(_)) && missing.is_empty();
    let directory = format!("{port}/gids");
    let mut gids = Vec::new();
    // By number until there is no such file: listing a table of 1,024 costs more than most scans.
    for index in 0.. {
        // mlx5 fills the slot of v1 first: one GID alone does not tell which versions there are.
        let found = matches!(scan, GidScan::Until(_))
            && missing.is_empty()
            && gids.iter().any(|gid: &Gid| gid.kind == GidType::RoceV2);
        if found || (sample && index >= SAMPLE) {
            break;
        }
        match slot(sys, port, index) {
            Slot::Gid(gid) => {
                // The same address may stand in an earlier slot as v1: go on until the v2 one.
                if gid.kind == GidType::RoceV2 {
                    missing.remove(&gid.address());
                }
                gids.push(gid);
            }
            Slot::Empty => {}
            Slot::End if index > 0 || sys.exists(&directory) => break,
            Slot::End => {
                return Seen::unknown(errno_words(libc::ENOENT), sys.name(&directory));
            }
            Slot::Unknown(why, source) => return Seen::unknown(why, source),
        }
    }
    Seen::known(gids, sys.name(&directory))
}

enum Slot {
    Gid(Gid),
    Empty,
    /// Behind the last slot.
    End,
    /// Why, and the file.
    Unknown(String, String),
}

fn slot(sys: &Tree, port: &str, index: u32) -> Slot {
    let file = format!("{port}/gids/{index}");
    let text = match sys.text(&file) {
        Ok(text) => text,
        Err(error) if empty(&error) => return Slot::Empty,
        Err(error) if error.kind() == ErrorKind::NotFound => return Slot::End,
        Err(error) => return Slot::Unknown(words(&error), sys.name(&file)),
    };
    let Ok(gid) = text.parse::<Ipv6Addr>() else {
        return Slot::Unknown(format!("\"{}\" is no GID", brief(&text)), sys.name(&file));
    };
    if gid.is_unspecified() {
        return Slot::Empty;
    }
    let file = format!("{port}/gid_attrs/types/{index}");
    let kind = match sys.text(&file) {
        Ok(text) if text == "RoCE v2" => GidType::RoceV2,
        Ok(text) if text == "IB/RoCE v1" || text == "RoCE v1" => GidType::IbRoceV1,
        Ok(text) => {
            let why = format!("\"{}\" is no GID type", brief(&text));
            return Slot::Unknown(why, sys.name(&file));
        }
        // It went between the two reads.
        Err(error) if empty(&error) => return Slot::Empty,
        // Kernels before 4.5 have no types: there was nothing but RoCE v1.
        Err(error) if error.kind() == ErrorKind::NotFound => GidType::IbRoceV1,
        Err(error) => return Slot::Unknown(words(&error), sys.name(&file)),
    };
    let netdev = sys.optional(&format!("{port}/gid_attrs/ndevs/{index}"));
    Slot::Gid(Gid { index, gid, kind, netdev })
}

/// EINVAL in sysfs, ENODATA on some drivers: an empty slot.
fn empty(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENODATA))
}
