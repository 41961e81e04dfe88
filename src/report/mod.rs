//! What a command found and did, as one value; the views only render it.
//!
//! Rendering belongs to `text.rs`, `json.rs` and `status.rs`; deciding what is true to [`claims`](crate::claims).

mod build;
mod json;
mod status;
mod text;

pub use json::{ErrorDocument, ErrorText, write_document, write_json};
pub use status::{Row, rows, write_status};
pub(crate) use text::visible;
pub use text::{Detail, TextStyle, write_text};

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::claims::{Refusal, Rung, Severity, Subject};
use crate::facts::Difference;
use crate::smoke::SmokeOutcome;

/// Version of the report format.
pub const FORMAT: u32 = 1;

/// What a command found and did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of this format, [`FORMAT`].
    pub format: u32,
    /// The command (`check`, `plan`, `apply`, `smoke`).
    pub command: String,
    /// The host that was looked at. In JSON only: the default text must be equal on equal hosts.
    pub host: String,
    /// The profile's name, if there was a profile.
    pub profile: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// Every claim with its verdict, in the order of the ladder.
    pub findings: Vec<Finding>,
    /// Changes: planned (`plan`) or made (`apply`), in order.
    pub changes: Vec<ChangeRecord>,
    /// Changes that were refused on principle; nothing was changed because of them.
    pub refusals: Vec<Refusal>,
    /// What differs from the host before, after an undo that did not succeed.
    pub differences: Vec<Difference>,
    /// Smoke tests that were run.
    pub smoke: Vec<SmokeOutcome>,
    /// What else the reader must know, a sentence each.
    pub notes: Vec<String>,
}

/// How a command ended; the exit code follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As the profile says.
    Met,
    /// Not as the profile says.
    Unmet,
    /// `plan`: changes are due.
    Drift,
    /// `apply` failed and everything it changed was undone.
    Undone,
    /// No verdict: a stated claim is unknown.
    NoVerdict,
    /// `apply` refused before its first change.
    Refused,
    /// `apply` left the host neither as wanted nor as before.
    Neither,
}

/// A claim and its verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable id of the claim (`rdma.mode`).
    pub id: String,
    /// Its rung.
    pub rung: Rung,
    /// What it is said of.
    pub subject: Subject,
    /// The sentence that is true when it is met.
    pub claim: String,
    /// How much a failure weighs.
    pub severity: Severity,
    /// What was found.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What was found of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// It is so.
    Met {
        /// The observed value, if worth showing.
        observed: Option<String>,
    },
    /// It is not so.
    Unmet {
        /// What must be.
        expected: String,
        /// What is.
        observed: String,
        /// Where that was read.
        source: String,
        /// The likely cause.
        cause: String,
        /// What to do.
        fix: String,
    },
    /// It cannot be told.
    Unknown {
        /// Which reading is missing and why.
        why: String,
    },
    /// Not judged, because this other claim is not met.
    Skipped {
        /// Id of the claim that it needs.
        needs: String,
        /// The rung of that claim: what the text says.
        #[serde(rename = "needs_rung")]
        rung: Rung,
    },
}

/// A change, planned or made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRecord {
    /// Id of the claim for whose sake.
    pub claim: String,
    /// What that claim is said of.
    pub subject: Subject,
    /// The change.
    pub change: Change,
    /// What became of it.
    pub result: ChangeResult,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum ChangeResult {
    /// Would be made.
    Planned,
    /// Made, and seen by the next look.
    Made,
    /// Refused by the kernel or a tool, in its own words.
    Failed {
        /// The refusal.
        why: String,
    },
    /// Acknowledged, but the next look does not show it.
    Ignored,
    /// Made and later undone.
    Undone,
    /// Made, and not undone: its value is no longer ours, or the undo was refused.
    NotUndone {
        /// Why.
        why: String,
    },
}

impl Report {
    /// The exit code of the program (0 to 3, see the manual). `strict` makes warnings failures.
    pub fn exit_code(&self, strict: bool) -> u8 {
        match self.outcome {
            Outcome::Met if strict && self.has_warnings() => 1,
            Outcome::Met => 0,
            Outcome::Unmet | Outcome::Drift | Outcome::Undone => 1,
            Outcome::NoVerdict | Outcome::Refused => 2,
            Outcome::Neither => 3,
        }
    }

    /// The first finding that fails with this severity: the diagnosis.
    pub fn diagnosis(&self) -> Option<&Finding> {
        let failed = |f: &&Finding| matches!(f.verdict, Verdict::Unmet { .. });
        let error = |f: &&Finding| f.severity == Severity::Error;
        self.findings
            .iter()
            .filter(failed)
            .find(error)
            .or_else(|| self.findings.iter().find(failed))
    }

    fn has_warnings(&self) -> bool {
        self.findings
            .iter()
            .any(|f| f.severity == Severity::Warning && matches!(f.verdict, Verdict::Unmet { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(outcome: Outcome, severity: Severity) -> Report {
        let text = |text: &str| text.to_owned();
        let finding = Finding {
            id: "smoke.peer".to_owned(),
            rung: Rung::Neighbour,
            subject: Subject::Host,
            claim: "the peer came".to_owned(),
            severity,
            verdict: Verdict::Unmet {
                expected: text("a peer"),
                observed: text("none"),
                source: text("smoke test"),
                cause: text("it is down"),
                fix: text("start it"),
            },
        };
        let json = r#"{"format":1,"command":"apply","host":"a","profile":null,"outcome":"met",
            "findings":[],"changes":[],"refusals":[],"differences":[],"smoke":[],"notes":[]}"#;
        let empty: Report = serde_json::from_str(json).expect("a report");
        Report { outcome, findings: vec![finding], ..empty }
    }

    #[test]
    fn every_outcome_has_its_exit_code() {
        for (outcome, code) in [
            (Outcome::Met, 0),
            (Outcome::Unmet, 1),
            (Outcome::Drift, 1),
            (Outcome::Undone, 1),
            (Outcome::NoVerdict, 2),
            (Outcome::Refused, 2),
            (Outcome::Neither, 3),
        ] {
            assert_eq!(report(outcome, Severity::Warning).exit_code(false), code, "{outcome:?}");
        }
    }

    #[test]
    fn strict_makes_warnings_failures_and_nothing_else_better_or_worse() {
        assert_eq!(report(Outcome::Met, Severity::Warning).exit_code(true), 1);
        assert_eq!(report(Outcome::Refused, Severity::Warning).exit_code(true), 2);
        assert_eq!(report(Outcome::Neither, Severity::Warning).exit_code(true), 3);
    }
}
