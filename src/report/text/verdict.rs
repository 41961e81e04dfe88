//! The first line: how it ended, and why in one clause.

use super::style::{Page, Tone};
use crate::claims::{Severity, Subject};
use crate::report::{ChangeResult, Finding, Outcome, Report, Verdict};
use crate::smoke::Kind;

pub(super) fn write(report: &Report, page: &mut Page) {
    let tone = match report.outcome {
        Outcome::Met if warnings(report).next().is_some() => Tone::Caution,
        Outcome::Met => Tone::Good,
        Outcome::NoVerdict => Tone::Caution,
        _ => Tone::Bad,
    };
    page.line(&[(sentence(report), Some(tone))]);
    for refusal in &report.refusals {
        if report.refusals.len() > 1 {
            page.particular("what", &refusal.what);
        }
        page.particular("why", &refusal.why);
        page.particular("fix", &refusal.fix);
    }
    for difference in &report.differences {
        page.particular("differs", &difference.to_string());
    }
}

/// The verdict in one sentence.
fn sentence(report: &Report) -> String {
    match report.outcome {
        Outcome::Met => met(report),
        Outcome::Unmet => with(unmet(report), diagnosis(report)),
        Outcome::Drift => {
            let verb = if report.changes.len() == 1 { "is" } else { "are" };
            let due = format!("{} {verb} due", counted(report.changes.len(), "change"));
            format!("{}: {due}", as_profile(report, false))
        }
        Outcome::Undone => with("undone, the host is as before", diagnosis(report)),
        Outcome::NoVerdict => {
            with("no verdict", unknown(report).or_else(|| report.notes.first().cloned()))
        }
        Outcome::Refused => {
            let text = match report.command.as_str() {
                "plan" => "refused, apply would change nothing",
                _ => "refused, nothing was changed",
            };
            with(text, report.refusals.first().map(|refusal| refusal.what.clone()))
        }
        Outcome::Neither => with("LEFT NEITHER AS WANTED NOR AS BEFORE", diagnosis(report)),
    }
}

fn met(report: &Report) -> String {
    let mut text = match report.command.as_str() {
        "smoke" if report.smoke.iter().any(|one| one.kind == Kind::Loopback) => {
            "the loopback test passed".to_owned()
        }
        "smoke" => "the smoke test passed".to_owned(),
        _ => as_profile(report, true),
    };
    if report.command == "plan" {
        text.push_str(", nothing to change");
    }
    if report.command == "apply" {
        match report.changes.iter().filter(|one| one.result == ChangeResult::Made).count() {
            0 => text.push_str(", nothing was changed"),
            made => text.push_str(&format!(", {} made", counted(made, "change"))),
        }
    }
    match warnings(report).count() {
        0 => text,
        number => {
            let first = warnings(report).next().map(clause).unwrap_or_default();
            format!("{text}, with {}: {first}", counted(number, "warning"))
        }
    }
}

fn unmet(report: &Report) -> &'static str {
    match report.command.as_str() {
        "smoke" if report.smoke.is_empty() => "nothing was tested",
        "smoke" => "the smoke test failed",
        _ => as_profile_str(report, false),
    }
}

fn as_profile(report: &Report, so: bool) -> String {
    as_profile_str(report, so).to_owned()
}

fn as_profile_str(report: &Report, so: bool) -> &'static str {
    match (report.profile.is_some(), so) {
        (true, true) => "as the profile says",
        (true, false) => "not as the profile says",
        (false, true) => "as RDMA hosts must be (no profile)",
        (false, false) => "not as RDMA hosts must be (no profile)",
    }
}

fn warnings(report: &Report) -> impl Iterator<Item = &Finding> {
    report.findings.iter().filter(|finding| {
        finding.severity == Severity::Warning && matches!(finding.verdict, Verdict::Unmet { .. })
    })
}

fn diagnosis(report: &Report) -> Option<String> {
    report.diagnosis().map(clause)
}

fn unknown(report: &Report) -> Option<String> {
    let is_unknown = |one: &&Finding| matches!(one.verdict, Verdict::Unknown { .. });
    let stated = |one: &&Finding| one.severity == Severity::Error;
    report.findings.iter().filter(is_unknown).find(stated).map(clause)
}

/// A finding in a clause.
fn clause(finding: &Finding) -> String {
    let name = match &finding.subject {
        Subject::Host => finding.id.clone(),
        subject => format!("{} {subject}", finding.id),
    };
    match &finding.verdict {
        Verdict::Unmet { expected, observed, .. } => {
            format!("{name}: {observed}, expected {expected}")
        }
        Verdict::Unknown { why } => format!("{name}: {why}"),
        Verdict::Met { .. } | Verdict::Skipped { .. } => name,
    }
}

fn with(text: impl Into<String>, reason: Option<String>) -> String {
    let text = text.into();
    match reason {
        Some(reason) => format!("{text}: {}", reason.lines().next().unwrap_or_default()),
        None => text,
    }
}

/// "1 change", "2 changes".
pub(super) fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
