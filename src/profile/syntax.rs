//! What is not YAML, in the words of this program.

use serde_yaml::{Error, Location, UserMessageFormatter};

use super::error::{Finding, Findings};
use super::node::{MAX_ALIASED, MAX_DEPTH, MAX_NODES};
use super::source::{Source, Spot};

/// Tabs in front of a line's content. YAML forbids them in most places and takes them in some;
/// what an editor shows is not what YAML sees, so here they are refused everywhere.
pub(super) fn find_tabs(source: &Source) -> Findings {
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
pub(super) fn explain(source: &Source, error: &Error) -> Finding {
    let mut error = error.without_snippet();
    while let Error::AliasError { error: inner, .. } = error {
        error = inner.without_snippet();
    }
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
            Finding::new(spot, format!("the aliases stand for more than {MAX_ALIASED} values"))
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
    let key = line.trim_start_matches(['-', ' ']);
    let end = key.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    if end
        .is_some_and(|end| end > 0 && key[end..].starts_with(':') && !key[end..].starts_with(": "))
    {
        return Some("a space belongs between `:` and the value".into());
    }
    if said.contains("unexpected character") && !said.contains("\\u{") {
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
