//! GID tables from sysfs. An empty slot holds zeros, and reading its type fails with EINVAL.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use super::tree::{Tree, words};
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
    let mut slots: Vec<u32> = match sys.names(&directory) {
        Ok(names) => names.iter().filter_map(|name| name.parse().ok()).collect(),
        Err(error) => return Seen::unknown(words(&error), sys.name(&directory)),
    };
    slots.sort_unstable();
    let mut gids = Vec::new();
    for index in slots {
        let found = matches!(scan, GidScan::Until(_)) && missing.is_empty() && !gids.is_empty();
        if found || (sample && index >= SAMPLE) {
            break;
        }
        match slot(sys, port, index) {
            Ok(Some(gid)) => {
                // The same address may stand in an earlier slot as v1: go on until the v2 one.
                if gid.kind == GidType::RoceV2 {
                    missing.remove(&gid.address());
                }
                gids.push(gid);
            }
            Ok(None) => {}
            Err(unknown) => return unknown,
        }
    }
    Seen::known(gids, sys.name(&directory))
}

fn slot(sys: &Tree, port: &str, index: u32) -> Result<Option<Gid>, Seen<Vec<Gid>>> {
    let file = format!("{port}/gids/{index}");
    let text = match sys.text(&file) {
        Ok(text) => text,
        Err(error) if empty(&error) => return Ok(None),
        Err(error) => return Err(Seen::unknown(words(&error), sys.name(&file))),
    };
    let gid = match text.parse::<Ipv6Addr>() {
        Ok(gid) => gid,
        Err(_) => {
            return Err(Seen::unknown(
                format!("\"{}\" is no GID", super::tree::brief(&text)),
                sys.name(&file),
            ));
        }
    };
    if gid.is_unspecified() {
        return Ok(None);
    }
    let file = format!("{port}/gid_attrs/types/{index}");
    let kind = match sys.text(&file) {
        Ok(text) if text == "RoCE v2" => GidType::RoceV2,
        Ok(text) if text == "IB/RoCE v1" || text == "RoCE v1" => GidType::IbRoceV1,
        Ok(text) => {
            let why = format!("\"{}\" is no GID type", super::tree::brief(&text));
            return Err(Seen::unknown(why, sys.name(&file)));
        }
        // It went between the two reads.
        Err(error) if empty(&error) => return Ok(None),
        // Kernels before 4.5 have no types: there was nothing but RoCE v1.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => GidType::IbRoceV1,
        Err(error) => return Err(Seen::unknown(words(&error), sys.name(&file))),
    };
    let netdev = sys.optional(&format!("{port}/gid_attrs/ndevs/{index}"));
    Ok(Some(Gid { index, gid, kind, netdev }))
}

/// EINVAL in sysfs, ENODATA on some drivers: an empty slot.
fn empty(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENODATA))
}
