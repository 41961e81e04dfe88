//! Reading keys and values of the tree: whatever is not of the wanted kind becomes a finding.

use crate::values::InvalidValue;

use super::super::error::{Finding, Findings};
use super::super::node::{Kind, Node};
use super::super::source::{Source, Spot};
use super::super::suggest::nearest;

/// What the readers of all sections share.
pub(in super::super) struct Context<'a> {
    pub(in super::super) source: &'a Source,
    pub(in super::super) findings: Findings,
    pub(in super::super) hosts: Option<Hosts>,
    /// How many entries of parallel lists there are so far.
    pub(in super::super) expanded: usize,
}

/// The expanded `hosts`.
#[derive(Debug)]
pub(in super::super) struct Hosts {
    pub(in super::super) names: Vec<String>,
    pub(in super::super) spot: Spot,
}

/// A value and where it stands.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Spotted<T> {
    pub(in super::super) value: T,
    pub(in super::super) spot: Spot,
}

/// The keys of one group, all of them known and each there once.
pub(super) struct Fields<'n> {
    pub(super) spot: Spot,
    entries: Vec<(&'static str, &'n Node, &'n Node)>,
}

impl<'n> Fields<'n> {
    pub(super) fn get(&self, key: &str) -> Option<&'n Node> {
        let entry = self.entries.iter().find(|(name, ..)| *name == key)?;
        Some(entry.2)
    }

    pub(super) fn key_spot(&self, key: &str) -> Spot {
        let entry = self.entries.iter().find(|(name, ..)| *name == key);
        entry.map_or(self.spot, |(_, key, _)| key.spot)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &'n Node)> + '_ {
        self.entries.iter().map(|(name, _, value)| (*name, *value))
    }
}

/// Where keys belong that are often written one level too high or too low.
const PLACES: [(&str, &str); 16] = [
    ("mode", "`rdma`, below an interface"),
    ("path-mtu", "`rdma`, below an interface"),
    ("software", "`rdma`, below an interface"),
    ("mtu", "an interface itself"),
    ("state", "an interface itself"),
    ("match", "an interface itself"),
    ("rdma", "an interface itself"),
    ("ipv4", "an interface itself"),
    ("ipv6", "an interface itself"),
    ("ip", "`address`, below `ipv4` or `ipv6` of an interface"),
    ("prefix-length", "`address`, below `ipv4` or `ipv6` of an interface"),
    ("address", "`ipv4` or `ipv6` of an interface"),
    ("pci", "`match` of an interface"),
    ("driver", "`match` of an interface"),
    ("parameters", "an entry of `modules`"),
    ("peer", "`smoke`"),
];

impl Context<'_> {
    pub(super) fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// The keys of a group. `owner` names the group in messages.
    pub(super) fn fields<'n>(
        &mut self,
        node: &'n Node,
        owner: &str,
        known: &[&'static str],
    ) -> Option<Fields<'n>> {
        let Kind::Map(map) = &node.kind else {
            let keys = known.join(", ");
            self.report(
                Finding::new(
                    node.spot,
                    format!("{owner} is a group of keys, this is {}", node.kind_name()),
                )
                .help(format!("its keys are {keys}")),
            );
            return None;
        };
        let mut entries: Vec<(&'static str, &Node, &Node)> = Vec::new();
        for (key, value) in map {
            let Some(text) = self.key_text(key) else {
                continue;
            };
            let Some(name) = known.iter().copied().find(|name| *name == text) else {
                self.report(unknown_key(key.spot, text, owner, known));
                continue;
            };
            if let Some((_, first, _)) = entries.iter().find(|(other, ..)| *other == name) {
                let finding = duplicate_key(key.spot, name, first.spot);
                self.report(finding);
                continue;
            }
            entries.push((name, key, value));
        }
        entries.retain(|(name, key, value)| {
            let empty = matches!(value.kind, Kind::Null);
            if empty {
                self.findings.push(
                    Finding::new(key.spot, format!("`{name}` has no value"))
                        .help("give it one or take the line out"),
                );
            }
            !empty
        });
        let spot = map.first().map_or(node.spot, |(key, _)| key.spot);
        Some(Fields { spot, entries })
    }

    /// The text of a key, which a profile's keys always are.
    pub(super) fn key_text<'n>(&mut self, key: &'n Node) -> Option<&'n str> {
        if let Kind::Text(text) = &key.kind {
            return Some(text);
        }
        let finding =
            Finding::new(key.spot, format!("a key is a word, this is {}", key.kind_name()));
        self.report(finding);
        None
    }

    /// A list of at most so many entries.
    pub(super) fn list<'n>(&mut self, node: &'n Node, owner: &str, limit: usize) -> &'n [Node] {
        match &node.kind {
            Kind::List(list) if list.is_empty() => {
                self.report(
                    Finding::new(node.spot, format!("{owner} is an empty list"))
                        .help("give it an entry or take the line out"),
                );
                &[]
            }
            Kind::List(list) if list.len() > limit => {
                let message =
                    format!("{owner} has {} entries, at most {limit} are taken", list.len());
                self.report(Finding::new(node.spot, message));
                &[]
            }
            Kind::List(list) => list,
            _ => {
                self.report(
                    Finding::new(
                        node.spot,
                        format!("{owner} is a list, this is {}", node.kind_name()),
                    )
                    .help("begin each entry with `- `"),
                );
                &[]
            }
        }
    }
}

pub(super) fn duplicate_key(spot: Spot, name: &str, first: Spot) -> Finding {
    Finding::new(spot, format!("`{name}` is here a second time"))
        .related(first, "it is here already")
        .help("take one of the two out")
}

fn unknown_key(spot: Spot, text: &str, owner: &str, known: &[&'static str]) -> Finding {
    let shown = InvalidValue::new("", text, "").given;
    let finding = Finding::new(spot, format!("unknown key `{shown}` in {owner}"));
    if text == "<<" {
        return finding.help(
            "a profile has no merge keys; repeat the keys, or use an alias for a whole value",
        );
    }
    let place = PLACES.iter().find(|(key, _)| *key == text);
    finding.help(match (nearest(text, known), place) {
        (Some(word), _) => format!("did you mean `{word}`?"),
        (None, Some((key, place))) => format!("`{key}` belongs to {place}"),
        (None, None) => format!("its keys are {}", known.join(", ")),
    })
}
