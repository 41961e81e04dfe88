//! The changes of one run, each with its inverse, written down before it is made.

use crate::change::Change;
use crate::claims::{Claim, Subject};
use crate::report::{ChangeRecord, ChangeResult};

/// The journal of a run.
#[derive(Debug, Default)]
pub(super) struct Journal {
    pub(super) entries: Vec<Entry>,
}

/// One change of the journal.
#[derive(Debug)]
pub(super) struct Entry {
    /// The id of the claim for whose sake, and what it is said of.
    pub(super) claim: String,
    pub(super) subject: Subject,
    pub(super) change: Change,
    /// What undoes it, computed from the facts before it.
    pub(super) inverse: Vec<Change>,
    pub(super) result: ChangeResult,
}

impl Journal {
    /// Writes down a change that is about to be made; its place in the journal.
    pub(super) fn begin(
        &mut self,
        claim: &dyn Claim,
        change: &Change,
        inverse: Vec<Change>,
    ) -> usize {
        self.entries.push(Entry {
            claim: claim.entry().id.to_owned(),
            subject: claim.subject(),
            change: change.clone(),
            inverse,
            result: ChangeResult::Planned,
        });
        self.entries.len() - 1
    }

    /// Writes down what became of it.
    pub(super) fn end(&mut self, place: usize, result: ChangeResult) {
        if let Some(entry) = self.entries.get_mut(place) {
            entry.result = result;
        }
    }

    /// True when a change took effect or may have: one without a result was made and not looked at.
    pub(super) fn may_have_changed(&self) -> bool {
        let open =
            |entry: &Entry| matches!(entry.result, ChangeResult::Made | ChangeResult::Planned);
        self.entries.iter().any(open)
    }

    /// The report's view of it.
    pub(super) fn records(&self) -> Vec<ChangeRecord> {
        self.with(|entry| entry.result.clone())
    }

    /// The changes as a plan, whatever the model said of them.
    pub(super) fn planned(&self) -> Vec<ChangeRecord> {
        self.with(|_| ChangeResult::Planned)
    }

    fn with(&self, result: impl Fn(&Entry) -> ChangeResult) -> Vec<ChangeRecord> {
        let record = |entry: &Entry| ChangeRecord {
            claim: entry.claim.clone(),
            subject: entry.subject.clone(),
            change: entry.change.clone(),
            result: result(entry),
        };
        self.entries.iter().map(record).collect()
    }
}
