//! Reading keys and values of the tree: whatever is not of the wanted kind becomes a finding.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::values::InvalidValue;

use super::super::error::{Finding, Findings};
use super::super::hostlist::{self, HostList};
use super::super::node::{Kind, Node};
use super::super::source::{Source, Spot};
use super::super::suggest::nearest;

/// What the readers of all sections share.
pub(in super::super) struct Context<'a> {
    pub(in super::super) source: &'a Source,
    pub(in super::super) findings: Findings,
    pub(in super::super) hosts: Option<Hosts>,
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

/// One value for every host, or one for each.
#[derive(Clone, Debug)]
pub(in super::super) enum PerHost<T> {
    One(T),
    Each(Vec<T>),
}

impl<T> PerHost<T> {
    /// The value of the host at a position of `hosts`.
    pub(in super::super) fn at(&self, position: usize) -> Option<&T> {
        match self {
            PerHost::One(value) => Some(value),
            PerHost::Each(values) => values.get(position),
        }
    }
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

    /// A text; a number is taken as it was written.
    pub(super) fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        match &node.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Number => Some(self.source.slice(node.spot).to_owned()),
            _ => {
                let finding =
                    Finding::new(node.spot, format!("expected {what}, found {}", node.kind_name()));
                let quote = matches!(node.kind, Kind::Bool)
                    .then(|| "put quotes around it if the word itself is meant".to_owned());
                self.report(finding.maybe_help(quote));
                None
            }
        }
    }

    /// A text that a value type reads.
    pub(super) fn value<T: FromStr<Err = InvalidValue>>(
        &mut self,
        node: &Node,
        what: &str,
    ) -> Option<T> {
        let text = self.text(node, what)?;
        self.checked(node.spot, text.parse())
    }

    /// The value, or a finding of why there is none.
    pub(super) fn checked<T>(&mut self, spot: Spot, result: Result<T, InvalidValue>) -> Option<T> {
        result.map_err(|error| self.report(invalid(spot, &error))).ok()
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        node: &Node,
        what: &str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(node, what)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let shown = InvalidValue::new("", &text, "").given;
        self.report(
            Finding::new(node.spot, format!("`{shown}` is not {what}"))
                .help(did_you_mean(&text, &known)),
        );
        None
    }

    /// A whole number in decimal digits.
    pub(super) fn integer(
        &mut self,
        node: &Node,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let (low, high) = (*range.start(), *range.end());
        let bounds = format!("a whole number from {low} to {high}");
        let written = match &node.kind {
            Kind::Number => self.source.slice(node.spot),
            Kind::Text(text) => text.as_str(),
            _ => {
                self.report(
                    Finding::new(node.spot, format!("expected {what}, found {}", node.kind_name()))
                        .help(format!("{what} is {bounds}")),
                );
                return None;
            }
        };
        let decimal = !written.is_empty()
            && written.bytes().all(|b| b.is_ascii_digit())
            && (written == "0" || !written.starts_with('0'));
        if decimal && matches!(node.kind, Kind::Text(_)) {
            self.report(
                Finding::new(node.spot, format!("expected {what}, found a text"))
                    .help(format!("write {written} without quotes")),
            );
            return None;
        }
        match written.parse() {
            Ok(value) if decimal && range.contains(&value) => Some(value),
            _ => {
                let shown = InvalidValue::new("", written, "").given;
                self.report(
                    Finding::new(node.spot, format!("`{shown}` is not {what}"))
                        .help(format!("it is {bounds}, in decimal digits")),
                );
                None
            }
        }
    }

    /// One value, or one for each host: as a YAML list, or as a host list such as
    /// `100.0.1.[10-11]` where `ranges` allows it. `things` names several of them.
    pub(super) fn per_host<T>(
        &mut self,
        node: &Node,
        what: &str,
        things: &str,
        ranges: bool,
        parse: impl Fn(&str) -> Result<T, InvalidValue>,
    ) -> Option<PerHost<T>> {
        if let Kind::List(list) = &node.kind {
            self.count_fits(node.spot, list.len(), things)?;
            let mut values = Vec::new();
            for entry in list {
                let value =
                    self.text(entry, what).and_then(|text| self.checked(entry.spot, parse(&text)));
                values.push(value);
            }
            return values.into_iter().collect::<Option<_>>().map(PerHost::Each);
        }
        let text = self.text(node, what)?;
        if !(ranges && text.contains(['[', ']', ','])) {
            return self.checked(node.spot, parse(&text)).map(PerHost::One);
        }
        let list = self.host_list(node.spot, &text)?;
        self.count_fits(node.spot, list.len(), things)?;
        let values: Result<_, _> = list.expand().iter().map(|text| parse(text)).collect();
        self.checked(node.spot, values).map(PerHost::Each)
    }

    /// A text in host-list notation; a fault is marked inside the text.
    pub(super) fn host_list(&mut self, spot: Spot, text: &str) -> Option<HostList> {
        HostList::parse(text)
            .map_err(|error| {
                // Inside quotes the text begins one byte later; with escapes it is not found at
                // all, and the whole of it is marked.
                let place = match self.source.slice(spot).find(text) {
                    Some(offset) if !text.is_empty() => Spot::new(
                        spot.start + offset + error.spot.start,
                        spot.start + offset + error.spot.end,
                    ),
                    _ => spot,
                };
                self.report(Finding::new(place, error.message));
            })
            .ok()
    }

    /// Whether a list is as long as `hosts`.
    fn count_fits(&mut self, spot: Spot, count: usize, things: &str) -> Option<()> {
        let Some(hosts) = &self.hosts else {
            let message =
                format!("this is a list of {count} {things}, but the profile has no `hosts`");
            self.report(
                Finding::new(spot, message)
                    .help("say with `hosts` which host has which, or write a single one"),
            );
            return None;
        };
        if hosts.names.len() == count {
            return Some(());
        }
        let message =
            format!("this is a list of {count} {things}, `hosts` has {} names", hosts.names.len());
        let related = format!("`hosts` is {}", hostlist::shorten(&hosts.names));
        let finding = Finding::new(spot, message)
            .related(hosts.spot, related)
            .help("both run in parallel: write one for each host, in the same order");
        self.report(finding);
        None
    }
}

/// A finding about a value that its type refused.
pub(super) fn invalid(spot: Spot, error: &InvalidValue) -> Finding {
    let help = error.suggestion.as_ref().map(|suggestion| format!("did you mean `{suggestion}`?"));
    Finding::new(spot, error.to_string()).maybe_help(help)
}

/// The nearest of the words, else all of them.
pub(super) fn did_you_mean(text: &str, known: &[&str]) -> String {
    match nearest(text, known) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("there are {}", known.join(", ")),
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
