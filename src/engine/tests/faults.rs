//! Faults at every position of a plan, and looks that fail: each end is compared with the machine.

use super::*;
use crate::facts::State;
use crate::host::faulty::{Fault, Injection};
use crate::report::ChangeResult;

/// Every fault at every change of a plan: once, twice at every distance that the retry and the undo
/// can reach, and from then on for good. Each ends as wanted, as before, or with every difference named.
#[test]
fn every_fault_at_every_position_ends_in_a_named_state() {
    const REACH: usize = 6;
    let wanted = s1();
    let count = {
        let model = Model::complete(hosts::s1_with_stale_address(1));
        plan(&model, &wanted.intent()).expect("facts").changes.len()
    };
    let mut ends = std::collections::BTreeMap::new();
    for fault in Fault::ALL {
        for first in 0..count {
            let once = std::iter::once(vec![first]);
            let twice = (first + 1..=first + REACH).map(|second| vec![first, second]);
            // Both attempts of a change fail, and then some or all of the undo.
            let lasting = (first + 1..=first + REACH)
                .map(|from| [first, first + 1].into_iter().chain(from..from + 40).collect());
            for positions in once.chain(twice).chain(lasting) {
                let model = Model::complete(hosts::s1_with_stale_address(1));
                let before = model.facts();
                let what = format!("{fault:?} at {positions:?}");
                let injections = positions.into_iter().map(|at| Injection { at, fault });
                let faulty = Faulty::new(model, injections);
                let ended = apply(&faulty, &faulty, &wanted.intent(), &Silent).expect("facts");
                assert!(faulty.met() > 0, "{what}: the fault was never met");
                let what = format!("{what}: {ended:#?}");
                check_end(&ended, &before.state, faulty.host(), &wanted, &what);
                *ends.entry(format!("{:?}", ended.outcome)).or_insert(0) += 1;
            }
        }
    }
    println!("{count} changes, {} cases: {ends:?}", ends.values().sum::<i32>());
    let kinds: Vec<&str> = ends.keys().map(String::as_str).collect();
    assert_eq!(kinds, ["Met", "Neither", "Undone", "Unmet"]);
}

/// Compares what an apply says with what the machine shows.
fn check_end(ended: &Applied, before: &State, model: &Model, wanted: &Wanted, what: &str) {
    let now = model.facts();
    let changed = before.differences(&now.state);
    match ended.outcome {
        Outcome::Met => {
            let judged = check(model, &wanted.claims).expect("facts");
            assert_eq!(ladder::outcome(&judged.findings), Outcome::Met, "{what}");
        }
        Outcome::Undone | Outcome::Unmet | Outcome::Refused => {
            assert_eq!(changed, [], "{what}");
        }
        Outcome::Neither => {
            assert_eq!(ended.differences, changed, "{what}");
            assert!(!changed.is_empty(), "{what}");
        }
        other => panic!("{other:?}: {what}"),
    }
    if ended.outcome == Outcome::Undone {
        let left = ended.changes.iter().any(|record| record.result == ChangeResult::Made);
        assert!(!left, "a change is called made after the undo: {what}");
    }
}

/// A machine that cannot be looked at once, at the n-th look.
struct Blinking {
    machine: Model,
    looks: std::cell::Cell<usize>,
    blind_at: usize,
}

impl Look for Blinking {
    fn look(&self, scope: &crate::facts::Scope) -> Result<Facts, LookError> {
        let count = self.looks.get();
        self.looks.set(count + 1);
        if count == self.blind_at {
            return Err(LookError { what: "the host".to_owned(), why: "no memory".to_owned() });
        }
        self.machine.look(scope)
    }
    fn host(&self) -> Result<String, LookError> {
        self.machine.host()
    }
    fn now(&self) -> std::time::Duration {
        self.machine.now()
    }
    fn pause(&self, time: std::time::Duration) {
        self.machine.pause(time);
    }
}

#[test]
fn a_look_that_fails_after_a_change_undoes_it() {
    let mut undone = 0;
    for blind_at in 0..30 {
        let machine = Model::complete(hosts::s1_with_stale_address(1));
        let before = machine.facts().state;
        let blinking = Blinking { machine, looks: Default::default(), blind_at };
        let answer = apply(&blinking, &blinking.machine, &s1().intent(), &Silent);
        let now = blinking.machine.facts().state;
        match answer {
            Err(error) => {
                assert_eq!(error.to_string(), "cannot read the host: no memory");
                assert_eq!(before.differences(&now), [], "blind at look {blind_at}");
            }
            Ok(ended) if ended.outcome == Outcome::Met => {}
            Ok(ended) => {
                assert_eq!(ended.outcome, Outcome::Undone, "blind at look {blind_at}");
                assert_eq!(before.differences(&now), [], "blind at look {blind_at}");
                assert!(ended.notes[0].starts_with("cannot read the host: no memory"));
                undone += 1;
            }
        }
    }
    assert!(undone >= 5, "{undone} looks after a change failed");
}
