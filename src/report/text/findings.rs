//! The claims with their verdicts, grouped by subject, in the order of the ladder.

use super::style::{Detail, Mark, Page, Tone};
use crate::claims::{Blame, Rung, Severity, Subject, entry};
use crate::report::{Finding, Outcome, Report, Verdict};

pub(super) fn write(report: &Report, page: &mut Page) {
    let mut subjects: Vec<&Subject> = Vec::new();
    for finding in &report.findings {
        if !subjects.contains(&&finding.subject) && is_shown(finding, page.detail()) {
            subjects.push(&finding.subject);
        }
    }
    for subject in subjects {
        page.heading(&title(subject));
        for finding in report.findings.iter().filter(|finding| finding.subject == *subject) {
            if is_shown(finding, page.detail()) {
                if is_due(report, finding) && page.detail() != Detail::Verbose {
                    write_due(finding, page);
                } else {
                    write_one(finding, page);
                }
            }
        }
    }
}

fn is_shown(finding: &Finding, detail: Detail) -> bool {
    match finding.verdict {
        Verdict::Unmet { .. } | Verdict::Unknown { .. } => true,
        Verdict::Met { .. } | Verdict::Skipped { .. } => detail != Detail::Quiet,
    }
}

/// Whether the plan mends it. A plan that ends in changes has shown on the model that they mend every
/// local claim; the plan has said already what and why.
fn is_due(report: &Report, finding: &Finding) -> bool {
    report.outcome == Outcome::Drift
        && matches!(finding.verdict, Verdict::Unmet { .. })
        && entry(&finding.id).is_some_and(|entry| entry.blame == Blame::Local)
}

fn write_due(finding: &Finding, page: &mut Page) {
    let mark = Mark { word: "due", symbol: '→', tone: Tone::Caution };
    page.marked(mark, &finding.claim, &format!("({})", finding.id));
}

fn title(subject: &Subject) -> String {
    match subject {
        Subject::Host => "host".to_owned(),
        Subject::Module(name) => format!("module {name}"),
        // A port that is not named but described ("the ice port of PCI function 0").
        Subject::Port(name) if name.contains(' ') => name.clone(),
        Subject::Port(name) => format!("port {name}"),
    }
}

fn write_one(finding: &Finding, page: &mut Page) {
    let id = format!("({})", finding.id);
    match &finding.verdict {
        Verdict::Met { observed } => {
            let mark = Mark { word: "ok", symbol: '✓', tone: Tone::Good };
            let aside = if page.detail() == Detail::Verbose { id } else { String::new() };
            match observed {
                Some(observed) => {
                    page.marked(mark, &format!("{}: {observed}", finding.claim), &aside);
                }
                None => page.marked(mark, &finding.claim, &aside),
            }
        }
        Verdict::Unmet { expected, observed, source, cause, fix } => {
            page.marked(failed(finding.severity), &finding.claim, &id);
            page.particular("expected", expected);
            page.particular("observed", &read_from(observed, source));
            page.particular("cause", cause);
            page.particular("fix", fix);
        }
        Verdict::Unknown { why } => {
            let mark = Mark { word: "unknown", symbol: '?', tone: Tone::Caution };
            page.marked(mark, &finding.claim, &id);
            page.particular("why", why);
        }
        Verdict::Skipped { needs, rung } => {
            let mark = Mark { word: "skipped", symbol: '-', tone: Tone::Faint };
            let text = format!("{}: needs {}", finding.claim, needed(needs, *rung, finding.rung));
            let aside = match page.detail() {
                Detail::Verbose => format!("({}, needs {needs})", finding.id),
                _ => String::new(),
            };
            page.marked(mark, &text, &aside);
        }
    }
}

/// What a skipped claim waits for, in a word: the rung, where that says it. A claim of the same rung,
/// or one that is not the rung's namesake ("the carrier" for `link.up`), is named itself.
fn needed(id: &str, rung: Rung, own: Rung) -> String {
    let word = rung.to_string();
    let says_it = rung != own && id.split('.').any(|part| part.eq_ignore_ascii_case(&word));
    if says_it { word } else { id.to_owned() }
}

fn failed(severity: Severity) -> Mark {
    match severity {
        Severity::Error => Mark { word: "FAIL", symbol: '✗', tone: Tone::Bad },
        Severity::Warning => Mark { word: "warn", symbol: '!', tone: Tone::Caution },
    }
}

fn read_from(observed: &str, source: &str) -> String {
    if source.is_empty() { observed.to_owned() } else { format!("{observed} ({source})") }
}
