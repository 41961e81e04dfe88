//! Taking back what a run changed, each change only while its value is still ours.

use std::time::Duration;

use super::converge::Run;
use super::journal::Journal;
use super::ladder;
use super::watch::Event;
use crate::change::Change;
use crate::facts::{Difference, Facts};
use crate::report::ChangeResult;

/// RDMA devices come back by themselves after their module.
const SETTLE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(200);
/// A change that is refused while a device is still coming or going is tried again.
const ATTEMPTS: usize = 3;

impl Run<'_> {
    /// Undoes the journal, last change first. Gives the last look and what still differs from
    /// `before`; a host that cannot be looked at any more differs by definition.
    pub(super) fn undo(
        &self,
        journal: &mut Journal,
        before: &Facts,
        last: Facts,
    ) -> (Facts, Vec<Difference>) {
        // The last look of a run may be older than its last change.
        let mut facts =
            self.look.look(&ladder::scope_to_change(self.intent.claims)).unwrap_or(last);
        for entry in journal.entries.iter_mut().rev() {
            if entry.change.holds(&facts) == Some(false) {
                if entry.result == ChangeResult::Made && !entry.inverse.is_empty() {
                    let why = "its value is no longer the one that was set".to_owned();
                    entry.result = ChangeResult::NotUndone { why };
                }
                continue;
            }
            // One inverse that is refused does not keep the others from being made.
            let mut refusals = Vec::new();
            for inverse in &entry.inverse {
                refusals.extend(self.undo_by(inverse, &mut facts).err());
            }
            if !refusals.is_empty() {
                entry.result = ChangeResult::NotUndone { why: refusals.join("; ") };
            } else if !entry.inverse.is_empty() {
                entry.result = ChangeResult::Undone;
            }
        }
        self.settle(before, facts)
    }

    /// Makes one inverse, unless it is in effect already.
    fn undo_by(&self, inverse: &Change, facts: &mut Facts) -> Result<(), String> {
        let mut refused = String::new();
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                self.look.pause(POLL);
            }
            if inverse.holds(facts) == Some(true) {
                return Ok(());
            }
            if let Some(refusal) = self.intent.guard.refusal_of_undo(inverse, self.look) {
                return Err(format!("{inverse}: {}", refusal.why));
            }
            self.watch.see(Event::Undo(inverse));
            let answer = self.act.act(inverse);
            *facts = match self.look.look(&ladder::scope_to_change(self.intent.claims)) {
                Ok(seen) => seen,
                Err(error) => return Err(format!("{inverse}: {error}")),
            };
            match (answer, inverse.holds(facts)) {
                (_, Some(true)) | (Ok(()), None) => return Ok(()),
                (Ok(()), _) => refused = format!("{inverse}: acknowledged, but not in effect"),
                (Err(error), _) => refused = format!("{inverse}: {error}"),
            }
        }
        Err(refused)
    }

    /// Looks until nothing differs or the time is up.
    fn settle(&self, before: &Facts, mut facts: Facts) -> (Facts, Vec<Difference>) {
        let scope = ladder::scope_to_change(self.intent.claims);
        let end = self.look.now() + SETTLE;
        loop {
            let differences = match self.look.look(&scope) {
                Ok(seen) => {
                    facts = seen;
                    before.state.differences(&facts.state)
                }
                Err(error) => vec![Difference {
                    what: "the host".to_owned(),
                    before: "readable".to_owned(),
                    now: error.to_string(),
                }],
            };
            if differences.is_empty() || self.look.now() >= end {
                return (facts, differences);
            }
            self.look.pause(POLL);
        }
    }
}
