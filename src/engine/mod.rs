//! The only loop: look, judge, change, look again, judge again.
//!
//! `check` judges one look. `plan` runs the whole loop on a [`Model`] of the host, `apply` first
//! does the same and then runs it on the machine. Success is what the second look shows.

mod back;
mod converge;
mod guard;
mod journal;
pub mod ladder;
mod lock;
mod reload;
#[cfg(test)]
mod removal_tests;
#[cfg(test)]
mod tests;
mod undo;
mod watch;

pub use back::{WayBack, take_back};
pub use guard::Guard;
pub use lock::{Lock, LockError};
pub use watch::{Event, Silent, Watch};

use crate::claims::{Blame, Claim, Refusal, Remedy, Severity, entry};
use crate::facts::{Difference, Facts};
use crate::host::model::Model;
use crate::host::{Act, Look, LookError};
use crate::report::{ChangeRecord, Finding, Outcome, Verdict};
use converge::{Converged, Run, Stop};
use journal::Journal;

/// What is wanted of a host, and what may be done for it.
pub struct Intent<'a> {
    /// What must be true, in the order of the ladder.
    pub claims: &'a [Box<dyn Claim>],
    /// What is not done, whichever claim asks for it.
    pub guard: Guard,
}

/// One look, judged.
#[derive(Debug)]
pub struct Judged {
    /// The look.
    pub facts: Facts,
    /// Every claim with its verdict.
    pub findings: Vec<Finding>,
}

/// What `apply` would do.
#[derive(Debug)]
pub struct Planned {
    /// The host as it is.
    pub now: Judged,
    /// The changes, in order.
    pub changes: Vec<ChangeRecord>,
    /// What is refused; then nothing is changed.
    pub refusals: Vec<Refusal>,
    /// Claims that fail and that no change mends; then nothing is changed either.
    pub defects: Vec<Finding>,
}

/// What `apply` did.
#[derive(Debug)]
pub struct Applied {
    /// The last look.
    pub facts: Facts,
    /// Every claim with its verdict in the last look before an undo.
    pub findings: Vec<Finding>,
    /// The changes and what became of each.
    pub changes: Vec<ChangeRecord>,
    /// What was refused before the first change.
    pub refusals: Vec<Refusal>,
    /// What an undo could not bring back.
    pub differences: Vec<Difference>,
    /// How it ended.
    pub outcome: Outcome,
    /// What else must be said.
    pub notes: Vec<String>,
    /// What [`take_back`] needs; none where nothing is left to be undone.
    pub way_back: Option<WayBack>,
}

/// Judges one look.
///
/// # Errors
/// When there are no facts at all.
pub fn check(look: &dyn Look, claims: &[Box<dyn Claim>]) -> Result<Judged, LookError> {
    let facts = look.look(&ladder::scope(claims))?;
    let findings = ladder::judge(claims, &facts);
    if findings.iter().all(|finding| !matches!(finding.verdict, Verdict::Unmet { .. })) {
        return Ok(Judged { facts, findings });
    }
    // A failure is looked at again, with what its explanation needs; a healthy host never pays for it.
    let facts = look.look(&ladder::scope_to_change(claims))?;
    let findings = ladder::judge(claims, &facts);
    Ok(Judged { facts, findings })
}

/// Finds the changes that would make every claim true, by making them on a model of the host.
///
/// # Errors
/// When there are no facts at all.
pub fn plan(look: &dyn Look, intent: &Intent<'_>) -> Result<Planned, LookError> {
    let scope = ladder::scope_to_change(intent.claims).and(intent.guard.scope());
    let facts = look.look(&scope)?;
    let findings = ladder::judge(intent.claims, &facts);
    let model = Model::new(facts.clone());
    let run = Run { look: &model, act: &model, intent, watch: &Silent };
    let mut journal = Journal::default();
    let end = run.converge(&mut journal)?;
    let refusals = match end.stop {
        Some(Stop::Refused(refusal)) => vec![refusal],
        _ => Vec::new(),
    };
    let defects = defects(intent, &facts, &findings, &end.findings);
    Ok(Planned { changes: journal.planned(), now: Judged { facts, findings }, refusals, defects })
}

/// Local claims that fail now, that no change mends and that time does not mend either, and those
/// that the model shows to fail after the changes for the same reasons (an old module on disk).
fn defects(intent: &Intent<'_>, facts: &Facts, now: &[Finding], after: &[Finding]) -> Vec<Finding> {
    let hopeless = |finding: &&Finding| {
        matches!(finding.verdict, Verdict::Unmet { .. })
            && finding.severity == Severity::Error
            && entry(&finding.id)
                .is_some_and(|entry| entry.blame == Blame::Local && entry.patience.is_zero())
    };
    let without_remedy = |position: usize| {
        intent.claims.get(position).is_some_and(|claim| claim.remedy(facts) == Remedy::None)
    };
    let mut found: Vec<Finding> = now
        .iter()
        .enumerate()
        .filter(|(position, finding)| hopeless(finding) && without_remedy(*position))
        .map(|(_, finding)| finding.clone())
        .collect();
    for finding in after.iter().filter(hopeless) {
        if !found.iter().any(|one| one.id == finding.id && one.subject == finding.subject) {
            found.push(finding.clone());
        }
    }
    found
}

/// Makes every claim true, or leaves the host as it was, or says what differs.
///
/// # Errors
/// When there are no facts at all before the first change.
pub fn apply(
    look: &dyn Look,
    act: &dyn Act,
    intent: &Intent<'_>,
    watch: &dyn Watch,
) -> Result<Applied, LookError> {
    let planned = plan(look, intent)?;
    if let Some(ended) = without_a_change(&planned, intent) {
        return Ok(ended);
    }
    let before = planned.now.facts;
    let run = Run { look, act, intent, watch };
    let mut journal = Journal::default();
    let mut notes = Vec::new();
    let end = match run.converge(&mut journal) {
        Ok(end) => end,
        Err(error) if journal.entries.is_empty() => return Err(error),
        // After a change, a host that cannot be looked at is a failure like any other.
        Err(error) => {
            notes.push(format!("{error}, after a change was made"));
            let (facts, findings) = (before.clone(), planned.now.findings);
            Converged { facts, findings, stop: Some(Stop::Failed) }
        }
    };
    let Some(stop) = end.stop else {
        return Ok(Applied {
            outcome: ladder::outcome(&end.findings),
            facts: end.facts,
            findings: end.findings,
            changes: journal.records(),
            refusals: Vec::new(),
            differences: Vec::new(),
            notes,
            way_back: Some(WayBack { journal, before }),
        });
    };
    let refusals = match stop {
        Stop::Refused(refusal) => vec![refusal],
        Stop::Interrupted => {
            notes.push("stopped by a signal or by --deadline".to_owned());
            Vec::new()
        }
        Stop::Failed => Vec::new(),
    };
    let changed = journal.may_have_changed();
    let (facts, differences) = run.undo(&mut journal, &before, end.facts);
    let outcome = match (differences.is_empty(), changed, refusals.is_empty()) {
        (false, _, _) => Outcome::Neither,
        (true, true, _) => Outcome::Undone,
        (true, false, false) => Outcome::Refused,
        (true, false, true) => Outcome::Unmet,
    };
    let findings = end.findings;
    Ok(Applied {
        facts,
        findings,
        changes: journal.records(),
        refusals,
        differences,
        outcome,
        notes,
        way_back: None,
    })
}

/// The end of an `apply` that does not start.
fn without_a_change(planned: &Planned, intent: &Intent<'_>) -> Option<Applied> {
    let facts = &planned.now.facts;
    let mut refusals = planned.refusals.clone();
    refusals.extend(intent.guard.missing_privilege(facts));
    let outcome = match (refusals.is_empty(), planned.defects.is_empty()) {
        (true, true) => return None,
        (false, _) => Outcome::Refused,
        (true, false) => Outcome::Unmet,
    };
    let mut findings = planned.now.findings.clone();
    // What the model shows of the time after the changes is told where the present says nothing.
    for defect in &planned.defects {
        if let Some(place) = (findings.iter_mut())
            .find(|one| one.id == defect.id && one.subject == defect.subject)
            .filter(|one| !matches!(one.verdict, Verdict::Unmet { .. }))
        {
            *place = defect.clone();
        }
    }
    Some(Applied {
        facts: facts.clone(),
        findings,
        changes: Vec::new(),
        refusals,
        differences: Vec::new(),
        outcome,
        notes: vec!["nothing was changed".to_owned()],
        way_back: None,
    })
}
