//! From what the engine found to a report.

use super::{FORMAT, Outcome, Report};
use crate::engine::{Applied, Judged, Planned, ladder};
use crate::report::Finding;
use crate::smoke::SmokeOutcome;

impl Report {
    fn empty(command: &str, profile: Option<&str>, host: &str) -> Report {
        Report {
            format: FORMAT,
            command: command.to_owned(),
            host: host.to_owned(),
            profile: profile.map(str::to_owned),
            outcome: Outcome::Met,
            findings: Vec::new(),
            changes: Vec::new(),
            refusals: Vec::new(),
            differences: Vec::new(),
            smoke: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The report of one look.
    pub fn of_check(command: &str, profile: Option<&str>, judged: Judged) -> Report {
        Report {
            outcome: ladder::outcome(&judged.findings),
            findings: judged.findings,
            ..Report::empty(command, profile, &judged.facts.host)
        }
    }

    /// The report of a plan.
    pub fn of_plan(profile: Option<&str>, planned: Planned) -> Report {
        let outcome = if !planned.refusals.is_empty() {
            Outcome::Refused
        } else if !planned.defects.is_empty() {
            Outcome::Unmet
        } else if !planned.changes.is_empty() {
            Outcome::Drift
        } else {
            ladder::outcome(&planned.now.findings)
        };
        Report {
            outcome,
            findings: planned.now.findings,
            changes: planned.changes,
            refusals: planned.refusals,
            ..Report::empty("plan", profile, &planned.now.facts.host)
        }
    }

    /// The report of an apply, before its smoke test.
    pub fn of_apply(profile: Option<&str>, applied: Applied) -> Report {
        Report {
            outcome: applied.outcome,
            findings: applied.findings,
            changes: applied.changes,
            refusals: applied.refusals,
            differences: applied.differences,
            notes: applied.notes,
            ..Report::empty("apply", profile, &applied.facts.host)
        }
    }

    /// Adds what smoke tests found. A failed test makes a report that was met unmet; it never
    /// turns an undo into something better.
    pub fn add_smoke(&mut self, smoke: Vec<SmokeOutcome>, findings: Vec<Finding>) {
        self.findings.extend(findings);
        self.findings.sort_by_key(|finding| finding.rung);
        self.smoke.extend(smoke);
        if matches!(self.outcome, Outcome::Met | Outcome::Unmet | Outcome::NoVerdict) {
            self.outcome = ladder::outcome(&self.findings);
        }
    }
}
