//! The dynamic loader's own list of libraries, `/etc/ld.so.cache`: which file a name would open.
//!
//! The layout is `struct cache_file_new` of glibc's dl-cache.h, which since glibc 2.2 either is the
//! whole file or follows the list of an older format.

use std::collections::BTreeMap;
use std::path::Path;

const OLD: &[u8] = b"ld.so-1.7.0\0";
const NEW: &[u8] = b"glibc-ld.so.cache1.1";
/// Magic and length of the older list, and one of its entries.
const OLD_HEADER: usize = 16;
const OLD_ENTRY: usize = 12;
/// Magic, number of libraries, length of the strings, flags, extensions.
const HEADER: usize = 48;
/// Flags, name, path, version of the kernel, hardware capabilities.
const ENTRY: usize = 24;
/// FLAG_ELF_LIBC6 with the bits of the two architectures: libraries of 64 bits.
const FLAGS: [u32; 2] = [0x0303, 0x0a03];

/// The paths of these libraries for programs of 64 bits; a name that is not in the list is absent.
/// None where there is no such list, or it is none.
pub(crate) fn find<'a>(file: &Path, names: &[&'a str]) -> Option<BTreeMap<&'a str, String>> {
    let bytes = std::fs::read(file).ok()?;
    let list = newer(&bytes)?;
    let count = number(list, NEW.len())?;
    let mut found = BTreeMap::new();
    for entry in list.get(HEADER..)?.chunks_exact(ENTRY).take(count) {
        if !FLAGS.contains(&(number(entry, 0)? as u32)) {
            continue;
        }
        let name = text(list, number(entry, 4)?)?;
        if let Some(name) = names.iter().find(|wanted| wanted.as_bytes() == name) {
            let path = String::from_utf8_lossy(text(list, number(entry, 8)?)?).into_owned();
            // The first is the one that the loader takes.
            found.entry(*name).or_insert(path);
        }
    }
    Some(found)
}

/// The list in today's format; offsets count from its start.
fn newer(bytes: &[u8]) -> Option<&[u8]> {
    if bytes.starts_with(NEW) {
        return Some(bytes);
    }
    if !bytes.starts_with(OLD) {
        return None;
    }
    let entries = number(bytes, 12)?.checked_mul(OLD_ENTRY)?;
    // Aligned as its 64-bit members want it.
    let start = OLD_HEADER.checked_add(entries)?.checked_next_multiple_of(8)?;
    bytes.get(start..).filter(|list| list.starts_with(NEW))
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(four.try_into().ok()?) as usize)
}

fn text(list: &[u8], at: usize) -> Option<&[u8]> {
    list.get(at..)?.split(|byte| *byte == 0).next()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A list of (flags, name, path).
    pub(in super::super) fn cache(entries: &[(u32, &str, &str)]) -> Vec<u8> {
        let mut strings = Vec::new();
        let mut table = Vec::new();
        let base = HEADER + entries.len() * ENTRY;
        let mut keep = |text: &str| {
            let at = (base + strings.len()) as u32;
            strings.extend(text.bytes().chain([0]));
            at.to_ne_bytes()
        };
        for (flags, name, path) in entries {
            table.extend(flags.to_ne_bytes());
            table.extend(keep(name));
            table.extend(keep(path));
            table.extend([0; 12]);
        }
        let mut file = NEW.to_vec();
        file.extend((entries.len() as u32).to_ne_bytes());
        file.resize(HEADER, 0);
        [file, table, strings].concat()
    }

    fn found(bytes: &[u8]) -> Option<Vec<(&'static str, String)>> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), bytes).expect("written");
        find(file.path(), &["libibverbs.so.1", "librdmacm.so.1"])
            .map(|found| found.into_iter().collect())
    }

    #[test]
    fn the_first_path_of_64_bits_is_the_loaders_choice() {
        let list = cache(&[
            (0x0003, "libibverbs.so.1", "/usr/lib/libibverbs.so.1"),
            (0x0303, "libibverbs.so.1", "/opt/rdma/lib/libibverbs.so.1"),
            (0x0303, "libibverbs.so.1", "/usr/lib64/libibverbs.so.1"),
            (0x0303, "libc.so.6", "/usr/lib64/libc.so.6"),
        ]);
        let wanted = vec![("libibverbs.so.1", "/opt/rdma/lib/libibverbs.so.1".to_owned())];
        assert_eq!(found(&list), Some(wanted.clone()));
        // Behind the list of the older format, as EL7's ldconfig writes it.
        let mut both = OLD.to_vec();
        both.extend(1_u32.to_ne_bytes());
        both.extend([0; OLD_ENTRY]);
        both.resize(both.len().next_multiple_of(8), 0);
        both.extend(&list);
        assert_eq!(found(&both), Some(wanted));
    }

    #[test]
    fn a_file_that_is_no_list_or_is_cut_short_is_none() {
        assert_eq!(found(b"not a cache"), None);
        assert_eq!(found(b""), None);
        let list = cache(&[(0x0303, "librdmacm.so.1", "/usr/lib64/librdmacm.so.1")]);
        for length in 0..list.len() {
            let read = found(&list[..length]);
            assert!(
                read.iter()
                    .flatten()
                    .all(|(_, path)| "/usr/lib64/librdmacm.so.1".starts_with(path.as_str())),
                "{length}: {read:?}"
            );
        }
    }
}
