//! The YAML of a profile as a tree with places, and the reader's complaints in our words.
//!
//! The schema is checked on this tree instead of by derived types: every fault of a file can then
//! be shown at once, each with its place, and a number keeps the digits it was written with
//! (`version: 1.10` is not 1.1).

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy, Spanned};

use super::error::Findings;
use super::source::{Source, Spot};
use super::syntax;

/// A value with its place.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) spot: Spot,
}

/// What kind of value it is. A scalar that YAML would turn into a number or a truth value keeps
/// its text in the source.
#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Bool,
    Number,
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// The kind of value, as a sentence names it.
    pub(super) fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Bool => "a truth value",
            Kind::Number => "a number",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a group of keys",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        struct KindVisitor;

        impl<'de> Visitor<'de> for KindVisitor {
            type Value = Kind;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<Kind, E> {
                Ok(Kind::Null)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Kind, E> {
                Ok(Kind::Bool)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Kind, E> {
                Ok(Kind::Number)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Kind, E> {
                Ok(Kind::Number)
            }

            fn visit_i128<E>(self, _: i128) -> Result<Kind, E> {
                Ok(Kind::Number)
            }

            fn visit_u128<E>(self, _: u128) -> Result<Kind, E> {
                Ok(Kind::Number)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Kind, E> {
                Ok(Kind::Number)
            }

            fn visit_str<E>(self, text: &str) -> Result<Kind, E> {
                Ok(Kind::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
                let mut list = Vec::new();
                while let Some(node) = access.next_element()? {
                    list.push(node);
                }
                Ok(Kind::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Kind, A::Error> {
                let mut map = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    map.push(entry);
                }
                Ok(Kind::Map(map))
            }
        }

        struct AnyKind(Kind);

        impl<'de> Deserialize<'de> for AnyKind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AnyKind, D::Error> {
                deserializer.deserialize_any(KindVisitor).map(AnyKind)
            }
        }

        let spanned = Spanned::<AnyKind>::deserialize(deserializer)?;
        let span = spanned.defined.span();
        let start = span.byte_offset().unwrap_or(0) as usize;
        let length = span.byte_len().unwrap_or(0) as usize;
        Ok(Node { kind: spanned.value.0, spot: Spot::new(start, start.saturating_add(length)) })
    }
}

/// What a profile can need at most; the file itself is at most 1 MiB.
fn options() -> serde_yaml::Options {
    serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 2 * MAX_NODES,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_buffered_comment_events: 100_000,
        },
        alias_limits: serde_yaml::alias_limits! {
            max_total_replayed_events: MAX_ALIASED,
        },
        // Both are judged on the tree, where their places are known.
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// How deep lists and keys may be nested; a profile needs 8.
pub(super) const MAX_DEPTH: usize = 24;
/// How many values a profile may have, aliases counted each time. Hosts and addresses by the
/// thousand are written as ranges.
pub(super) const MAX_NODES: usize = 50_000;
/// How much of them may come from aliases.
pub(super) const MAX_ALIASED: usize = 10_000;

/// Reads the tree of a text.
///
/// # Errors
/// Tabs as indentation, and whatever is not YAML or exceeds the limits.
pub(super) fn read(source: &Source) -> Result<Node, Findings> {
    let mut findings = syntax::find_tabs(source);
    if !findings.is_empty() {
        return Err(findings);
    }
    serde_yaml::from_str_with_options(&source.text, options()).map_err(|error| {
        findings.push(syntax::explain(source, &error));
        findings
    })
}
