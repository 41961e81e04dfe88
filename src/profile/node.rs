//! The YAML of a profile as a tree with places, and the reader's complaints in our words.
//!
//! The schema is checked on this tree instead of by derived types: every fault of a file can then
//! be shown at once, each with its place, and a number keeps the digits it was written with
//! (`version: 1.10` is not 1.1).

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{
    DuplicateKeyPolicy, Error, Location, MergeKeyPolicy, NonFiniteFloatPolicy, Spanned,
    UserMessageFormatter,
};

use super::error::{Finding, Findings};
use super::source::{Source, Spot};

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
            max_total_replayed_events: MAX_NODES,
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
const MAX_DEPTH: usize = 24;
/// How many values a profile may have, aliases counted each time.
const MAX_NODES: usize = 200_000;

/// Reads the tree of a text.
///
/// # Errors
/// Tabs as indentation, and whatever is not YAML or exceeds the limits.
pub(super) fn read(source: &Source) -> Result<Node, Findings> {
    let mut findings = find_tabs(source);
    if !findings.is_empty() {
        return Err(findings);
    }
    serde_yaml::from_str_with_options(&source.text, options()).map_err(|error| {
        findings.push(explain(source, &error));
        findings
    })
}

/// Tabs in front of a line's content. YAML forbids them in most places and takes them in some;
/// what an editor shows is not what YAML sees, so here they are refused everywhere.
fn find_tabs(source: &Source) -> Findings {
    let mut findings = Findings::default();
    let mut start = 0;
    for line in source.text.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '\t', '\u{feff}']);
        let margin = &line[..line.len() - content.len()];
        let blank = content.trim().is_empty() || content.starts_with('#');
        if let Some(tab) = margin.find('\t').filter(|_| !blank) {
            let run = margin[tab..].len() - margin[tab..].trim_start_matches('\t').len();
            let spot = Spot::new(start + tab, start + tab + run);
            findings.push(
                Finding::new(spot, "a tab as indentation")
                    .help("YAML indents with spaces; write two for each level"),
            );
        }
        start += line.len();
    }
    findings
}

/// A complaint of the YAML reader in the words of this program.
fn explain(source: &Source, error: &Error) -> Finding {
    let error = error.without_snippet();
    let spot =
        error.location().map_or(Spot::new(source.text.len(), source.text.len()), |location| {
            place(source, location)
        });
    let line = line_of(source, spot);
    match error {
        Error::Eof { .. } => Finding::new(spot, "the file ends too early"),
        Error::MultipleDocuments { .. } => {
            Finding::new(spot, "a second document begins after `---`, a profile is one")
                .help("put the second one into a file of its own")
        }
        Error::UnknownAnchor { .. } => Finding::new(spot, "this alias has no anchor before it")
            .help("quote the text if the `*` belongs to it"),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            Finding::new(spot, "this alias contains itself")
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => {
            Finding::new(spot, format!("the aliases stand for more than {MAX_NODES} values"))
        }
        Error::Budget { breach, .. } => {
            use serde_yaml::budget::BudgetBreach;
            Finding::new(
                spot,
                match breach {
                    BudgetBreach::Depth { .. } => too_deep(),
                    BudgetBreach::Aliases { .. }
                    | BudgetBreach::Anchors { .. }
                    | BudgetBreach::AliasAnchorRatio { .. } => {
                        "there are more aliases than a profile can need".to_owned()
                    }
                    _ => format!("there are more than {MAX_NODES} values"),
                },
            )
        }
        _ => {
            let said = error.render_with_formatter(&UserMessageFormatter);
            // The reader appends the place, which stands in front of our line already.
            let said = said.split(" at line ").next().unwrap_or(&said).to_owned();
            if said.contains("nesting") || said.contains("recursion limit") {
                return Finding::new(spot, too_deep());
            }
            Finding::new(spot, format!("this is not YAML: {said}")).maybe_help(guess(line, &said))
        }
    }
}

fn too_deep() -> String {
    format!("lists and keys are nested more than {MAX_DEPTH} deep")
}

/// What was probably meant by a line that is not YAML.
fn guess(line: &str, said: &str) -> Option<String> {
    let in_braces = line.contains('{') || line.contains("- [");
    let unquoted_range = line.split(['"', '\'']).step_by(2).any(|plain| {
        plain.split('[').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    if in_braces && unquoted_range {
        return Some("inside braces a text with `[` needs quotes: ip: \"100.0.1.[10-11]\"".into());
    }
    let unquoted_comparison = line
        .split_once(':')
        .is_some_and(|(_, value)| value.trim_start().starts_with('>') && !value.contains('"'));
    if unquoted_comparison {
        return Some("a text that begins with `>` needs quotes: \">= 1.9.11\"".into());
    }
    if said.contains("mapping values are not allowed") {
        return Some("a `:` inside a text needs quotes around it; or the line is indented differently from the one it belongs to".into());
    }
    if said.contains("unexpected character") {
        return Some("put quotes around a text with special characters".into());
    }
    None
}

fn line_of(source: &Source, spot: Spot) -> &str {
    let (line, _) = source.position(spot.start);
    source.text[source.line_start(line as usize)..].lines().next().unwrap_or("")
}

fn place(source: &Source, location: Location) -> Spot {
    let span = location.span();
    let text = &source.text;
    let start = match span.byte_offset() {
        Some(offset) if offset > 0 => offset as usize,
        _ => {
            let start = source.line_start(location.line() as usize);
            let column = (location.column() as usize).saturating_sub(1);
            let rest = &text[start..];
            start + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
        }
    };
    let mut start = start.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    Spot::new(start, start + span.byte_len().unwrap_or(0) as usize)
}
