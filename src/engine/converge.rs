//! Bringing the claims about, one after the other, with a look after every change.

use std::time::Duration;

use super::journal::Journal;
use super::watch::{Event, Watch};
use super::{Intent, ladder};
use crate::change::Change;
use crate::claims::{Blame, Claim, Refusal, Remedy};
use crate::facts::{Facts, Scope};
use crate::host::{Act, ActError, Look, LookError};
use crate::report::{ChangeResult, Finding, Verdict};

/// A change for a later claim may undo an earlier one; more rounds than this mean that two claims
/// fight each other.
const ROUNDS: usize = 3;
/// udev may load a module bare between removal and loading, so a remedy is tried twice.
const ATTEMPTS: usize = 2;
/// Between two looks of a wait.
const POLL: Duration = Duration::from_millis(200);
/// A configfs directory of an RDMA device can be made once the device is back.
const CONFIGFS_PATIENCE: Duration = Duration::from_secs(10);

/// One run of the loop over a machine.
pub(super) struct Run<'a> {
    pub(super) look: &'a dyn Look,
    pub(super) act: &'a dyn Act,
    pub(super) intent: &'a Intent<'a>,
    pub(super) watch: &'a dyn Watch,
}

/// Where a run ended.
pub(super) struct Converged {
    pub(super) facts: Facts,
    pub(super) findings: Vec<Finding>,
    /// Why it did not go on.
    pub(super) stop: Option<Stop>,
}

/// Why a run stopped before all claims were judged.
pub(super) enum Stop {
    /// A change is refused on principle.
    Refused(Refusal),
    /// A local claim could not be brought about.
    Failed,
    /// The user wants it to stop.
    Interrupted,
}

impl Run<'_> {
    fn scope(&self) -> Scope {
        ladder::scope_to_change(self.intent.claims)
    }

    /// Brings about every claim that has a remedy.
    pub(super) fn converge(&self, journal: &mut Journal) -> Result<Converged, LookError> {
        let mut facts = self.look.look(&self.scope())?;
        for _ in 0..ROUNDS {
            let made = journal.entries.len();
            let mut findings: Vec<Finding> = Vec::new();
            for claim in self.intent.claims {
                let claim = claim.as_ref();
                let mut verdict = ladder::verdict(claim, &facts, &findings);
                let mut stop = None;
                if matches!(verdict, Verdict::Unmet { .. }) {
                    (verdict, stop) = self.bring_about(claim, &mut facts, &findings, journal)?;
                }
                findings.push(ladder::finding(claim, verdict));
                if stop.is_some() {
                    let findings = self.judge_at_stop(&facts, &findings);
                    return Ok(Converged { facts, findings, stop });
                }
            }
            let again = ladder::judge(self.intent.claims, &facts);
            let settled = again.iter().zip(&findings).all(|(new, old)| {
                !matches!(new.verdict, Verdict::Unmet { .. }) || old.verdict == new.verdict
            });
            if settled || journal.entries.len() == made {
                return Ok(Converged { facts, findings: again, stop: None });
            }
        }
        let findings = ladder::judge(self.intent.claims, &facts);
        Ok(Converged { facts, findings, stop: Some(Stop::Failed) })
    }

    /// All claims in the last look: a change for the claim that stopped the run may have taken
    /// away what an earlier one had found (a reload after which no device comes). Where that claim
    /// still is the one to tell, it keeps its own words, with the kernel's.
    fn judge_at_stop(&self, facts: &Facts, so_far: &[Finding]) -> Vec<Finding> {
        let mut findings = ladder::judge(self.intent.claims, facts);
        if let Some(stopped) = so_far.last()
            && let Some(place) = findings.get_mut(so_far.len() - 1)
            && matches!(place.verdict, Verdict::Unmet { .. })
        {
            *place = stopped.clone();
        }
        findings
    }

    /// Applies the remedy of one unmet claim, waits for what the kernel does by itself, and gives
    /// the verdict of the last look.
    fn bring_about(
        &self,
        claim: &dyn Claim,
        facts: &mut Facts,
        before: &[Finding],
        journal: &mut Journal,
    ) -> Result<(Verdict, Option<Stop>), LookError> {
        let mut refused_by_kernel = None;
        for _ in 0..ATTEMPTS {
            let changes = match claim.remedy(facts) {
                Remedy::Changes(changes) if !changes.is_empty() => changes,
                Remedy::Refused(refusal) => {
                    let verdict = ladder::verdict(claim, facts, before);
                    return Ok((verdict, Some(Stop::Refused(refusal))));
                }
                _ => break,
            };
            for change in changes {
                // Not even a second time: a driver may unplug the device for a value that it has.
                if change.holds(facts) == Some(true) {
                    continue;
                }
                if self.watch.wants_stop() {
                    let verdict = ladder::verdict(claim, facts, before);
                    return Ok((verdict, Some(Stop::Interrupted)));
                }
                if let Some(refusal) = self.refusal(&change)? {
                    let verdict = ladder::verdict(claim, facts, before);
                    return Ok((verdict, Some(Stop::Refused(refusal))));
                }
                if let Err(why) = self.make(claim, &change, facts, journal)? {
                    refused_by_kernel = Some(format!("{change}: {why}"));
                    break;
                }
                refused_by_kernel = None;
            }
            let verdict = self.wait(claim, facts, before)?;
            if !matches!(verdict, Verdict::Unmet { .. }) {
                return Ok((verdict, None));
            }
        }
        let mut verdict = self.wait(claim, facts, before)?;
        let unmet = matches!(verdict, Verdict::Unmet { .. });
        if let (Verdict::Unmet { cause, .. }, Some(why)) = (&mut verdict, refused_by_kernel) {
            *cause = why;
        }
        let stop = if self.watch.wants_stop() {
            Some(Stop::Interrupted)
        } else if unmet && claim.entry().blame == Blame::Local {
            Some(Stop::Failed)
        } else {
            None
        };
        Ok((verdict, stop))
    }

    /// Whether the guard refuses a change, from a look that reads what the guard wants to know.
    fn refusal(&self, change: &Change) -> Result<Option<Refusal>, LookError> {
        let guard = &self.intent.guard;
        if !guard.concerns(change) {
            return Ok(None);
        }
        let wide = self.look.look(&self.scope().and(guard.scope()))?;
        Ok(guard.refusal(change, &wide))
    }

    /// Makes one change and looks whether it is in effect.
    fn make(
        &self,
        claim: &dyn Claim,
        change: &Change,
        facts: &mut Facts,
        journal: &mut Journal,
    ) -> Result<Result<(), String>, LookError> {
        let place = journal.begin(claim, change, change.inverse(facts));
        self.watch.see(Event::Change(change));
        let answer = self.act_patiently(change);
        *facts = self.look.look(&self.scope())?;
        let (result, told) = match (answer, change.holds(facts)) {
            (_, Some(true)) | (Ok(()), None) => (ChangeResult::Made, Ok(())),
            (Ok(()), Some(false)) => (
                ChangeResult::Ignored,
                Err("acknowledged, but the next look does not show it".to_owned()),
            ),
            (Err(error), _) => {
                let why = error.to_string();
                (ChangeResult::Failed { why: why.clone() }, Err(why))
            }
        };
        journal.end(place, result);
        Ok(told)
    }

    /// Acts, and waits for the device where a configfs directory comes too early.
    fn act_patiently(&self, change: &Change) -> Result<(), ActError> {
        let early = |error: &ActError| {
            matches!(change, Change::MakeConfigfs { .. } | Change::WriteConfigfs { .. })
                && matches!(error.errno, Some(libc::ENODEV | libc::ENOENT))
        };
        let end = self.look.now() + CONFIGFS_PATIENCE;
        loop {
            match self.act.act(change) {
                Err(error) if early(&error) && self.look.now() < end => self.look.pause(POLL),
                answer => return answer,
            }
        }
    }

    /// Looks again until the claim is no longer unmet or its patience ends.
    fn wait(
        &self,
        claim: &dyn Claim,
        facts: &mut Facts,
        before: &[Finding],
    ) -> Result<Verdict, LookError> {
        let patience = claim.entry().patience;
        let end = self.look.now() + patience;
        let mut told = false;
        loop {
            let verdict = ladder::verdict(claim, facts, before);
            let decided = !matches!(verdict, Verdict::Unmet { .. });
            if decided || self.look.now() >= end || self.watch.wants_stop() {
                return Ok(verdict);
            }
            if !told {
                let sentence = claim.sentence();
                self.watch.see(Event::Wait { claim: &sentence, deadline: patience });
                told = true;
            }
            self.look.pause(POLL);
            *facts = self.look.look(&self.scope())?;
        }
    }
}
