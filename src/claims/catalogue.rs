//! Every entry in one list, and the paragraph behind each.

use super::{Entry, address, device, driver, gid, link, mode, module, smoke, verbs};

/// All entries, in the order of the ladder.
pub static ENTRIES: &[&Entry] = &[
    &module::LOADED,
    &module::VERSION,
    &module::PARAMETER,
    &device::PRESENT,
    &driver::RDMA_DRIVER,
    &device::SOFTWARE,
    &device::RDMA,
    &link::UP,
    &link::DOWN,
    &link::CARRIER,
    &link::MTU,
    &address::PRESENT,
    &address::OTHERS,
    &mode::MODE,
    &mode::ACTIVE,
    &gid::PRESENT,
    &verbs::LIBRARY,
    &verbs::PROVIDER,
    &verbs::NODE,
    &verbs::DEVICE,
    &smoke::PEER,
    &smoke::CONTROL,
    &smoke::CONNECT,
    &smoke::DATA,
    &smoke::ATTRIBUTABLE,
];

/// The paragraphs, a section per id.
const PARAGRAPHS: &str = include_str!("../../docs/claims.md");

/// The entry with this id.
pub fn entry(id: &str) -> Option<&'static Entry> {
    ENTRIES.iter().copied().find(|entry| entry.id == id)
}

/// The section of `docs/claims.md` about this id, without its heading.
pub fn explain(id: &str) -> Option<&'static str> {
    let heading = format!("\n## {id}\n");
    let start = PARAGRAPHS.find(&heading)? + heading.len();
    let rest = &PARAGRAPHS[start..];
    Some(rest[..rest.find("\n## ").unwrap_or(rest.len())].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_section_that_explains_it() {
        let missing: Vec<_> = ENTRIES
            .iter()
            .map(|entry| entry.id)
            .filter(|id| explain(id).is_none_or(|text| text.len() < 80))
            .collect();
        assert_eq!(missing, Vec::<&str>::new(), "claims without a section in docs/claims.md");
    }

    #[test]
    fn every_section_belongs_to_an_entry() {
        let ids: Vec<&str> =
            PARAGRAPHS.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let known: Vec<&str> = ENTRIES.iter().map(|entry| entry.id).collect();
        assert_eq!(ids, known, "sections stand in the order of the ladder, one per claim");
    }

    #[test]
    fn needs_name_entries_of_the_same_or_an_earlier_rung() {
        for one in ENTRIES {
            for need in one.needs {
                let needed = entry(need).unwrap_or_else(|| panic!("{} needs {need}", one.id));
                assert!(needed.rung <= one.rung, "{} needs {need}, which comes later", one.id);
            }
        }
    }
}
