//! Taking back what a run changed, each change only while its value is still ours.

use std::time::Duration;

use super::converge::Run;
use super::journal::Journal;
use super::ladder;
use super::watch::Event;
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
        let scope = ladder::scope(self.intent.claims);
        let mut facts = last;
        for entry in journal.entries.iter_mut().rev() {
            if entry.change.holds(&facts) == Some(false) {
                if entry.result == ChangeResult::Made && !entry.inverse.is_empty() {
                    let why = "its value is no longer the one that was set".to_owned();
                    entry.result = ChangeResult::NotUndone { why };
                }
                continue;
            }
            let mut refused = None;
            for inverse in &entry.inverse {
                for attempt in 1..=ATTEMPTS {
                    if inverse.holds(&facts) == Some(true) {
                        refused = None;
                        break;
                    }
                    if let Some(refusal) = self.intent.guard.refusal_of_undo(inverse, self.look) {
                        refused = Some(refusal.why);
                        break;
                    }
                    self.watch.see(Event::Undo(inverse));
                    let answer = self.act.act(inverse);
                    match self.look.look(&scope) {
                        Ok(seen) => facts = seen,
                        Err(error) => refused = Some(error.to_string()),
                    }
                    match (answer, inverse.holds(&facts)) {
                        (_, Some(true)) | (Ok(()), None) => {
                            refused = None;
                            break;
                        }
                        (Ok(()), _) => {
                            refused = Some(format!("{inverse}: acknowledged, but not in effect"));
                        }
                        (Err(error), _) => refused = Some(format!("{inverse}: {error}")),
                    }
                    if attempt < ATTEMPTS {
                        self.look.pause(POLL);
                    }
                }
            }
            match refused {
                Some(why) => entry.result = ChangeResult::NotUndone { why },
                None if !entry.inverse.is_empty() => entry.result = ChangeResult::Undone,
                None => {}
            }
        }
        self.settle(before, facts)
    }

    /// Looks until nothing differs or the time is up.
    fn settle(&self, before: &Facts, mut facts: Facts) -> (Facts, Vec<Difference>) {
        let scope = ladder::scope(self.intent.claims);
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
