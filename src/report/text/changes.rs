//! The changes of a plan or an apply, under the claim for whose sake each is made.

use super::style::{Detail, Mark, Page, Tone};
use crate::report::{ChangeRecord, ChangeResult, Report, Verdict};

pub(super) fn write(report: &Report, page: &mut Page) {
    let quiet = page.detail() == Detail::Quiet;
    let shown = |record: &&ChangeRecord| !quiet || is_trouble(&record.result);
    let records: Vec<&ChangeRecord> = report.changes.iter().filter(shown).collect();
    for (place, record) in records.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| records.get(place));
        if before
            .is_none_or(|before| before.claim != record.claim || before.subject != record.subject)
        {
            page.heading(&purpose(report, record));
        }
        let (mark, why) = result(&record.result);
        page.marked(mark, &record.change.to_string(), "");
        if let Some(why) = why {
            page.particular("why", why);
        }
    }
}

fn is_trouble(result: &ChangeResult) -> bool {
    !matches!(result, ChangeResult::Planned | ChangeResult::Made | ChangeResult::Undone)
}

/// `for link.mtu of ens1f0: 1500 -> 4200`, as far as the findings tell.
fn purpose(report: &Report, record: &ChangeRecord) -> String {
    let mine =
        |one: &&crate::report::Finding| one.id == record.claim && one.subject == record.subject;
    let name = format!("for {} of {}", record.claim, record.subject);
    match report.findings.iter().find(mine).map(|finding| &finding.verdict) {
        Some(Verdict::Unmet { expected, observed, .. }) => {
            format!("{name}: {observed} -> {expected}")
        }
        _ => name,
    }
}

fn result(result: &ChangeResult) -> (Mark, Option<&str>) {
    let mark = |word, symbol, tone| Mark { word, symbol, tone };
    match result {
        ChangeResult::Planned => (mark("change", '→', Tone::Strong), None),
        ChangeResult::Made => (mark("changed", '✓', Tone::Good), None),
        ChangeResult::Failed { why } => (mark("REFUSED", '✗', Tone::Bad), Some(why)),
        ChangeResult::Ignored => (
            mark("IGNORED", '✗', Tone::Bad),
            Some("acknowledged, but the next look does not show it"),
        ),
        ChangeResult::Undone => (mark("undone", '↶', Tone::Caution), None),
        ChangeResult::NotUndone { why } => (mark("REMAINS", '✗', Tone::Bad), Some(why)),
    }
}
