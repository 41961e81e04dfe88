//! Values that run parallel to `hosts`.

use crate::values::InvalidValue;

use super::super::error::Finding;
use super::super::hostlist::HostList;
use super::super::node::{Kind, Node};
use super::super::shorten;
use super::super::source::Spot;
use super::fields::Context;

/// Entries of all parallel lists together, and hosts times interfaces and addresses: what can be
/// compared in a moment.
pub(super) const LIMIT: usize = 1 << 18;

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

/// Where a value begins that may be a list.
pub(super) fn first_spot(node: &Node) -> Spot {
    match &node.kind {
        Kind::List(list) => list.first().map_or(node.spot, |entry| entry.spot),
        _ => node.spot,
    }
}

impl Context<'_> {
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
            let message = format!("a list of {things} needs `hosts`, the profile has none");
            self.report(
                Finding::new(spot, message)
                    .help("say with `hosts` which host has which, or write a single one"),
            );
            return None;
        };
        if hosts.names.len() == count {
            self.expanded += count;
            if self.expanded <= LIMIT {
                return Some(());
            }
            let message = format!(
                "with this list there are more than {LIMIT} {things}, one for each host counted"
            );
            self.report(Finding::new(spot, message).help("split the profile by hosts"));
            return None;
        }
        let message = format!(
            "the number of {things} here is {count}, `hosts` has {} names",
            hosts.names.len()
        );
        let related = format!("`hosts` is {}", shorten::shorten(&hosts.names));
        let finding = Finding::new(spot, message)
            .related(hosts.spot, related)
            .help("both run in parallel: write one for each host, in the same order");
        self.report(finding);
        None
    }
}
