//! Taking an apply back after it had ended well for the host: `--undo-on link`.

use super::converge::Run;
use super::journal::Journal;
use super::watch::Watch;
use super::{Applied, Intent};
use crate::facts::Facts;
use crate::host::{Act, Look};
use crate::report::Outcome;

/// What is needed to take an apply back.
#[derive(Debug)]
pub struct WayBack {
    pub(super) journal: Journal,
    pub(super) before: Facts,
}

/// Undoes every change of an apply. One that changed nothing, or that was undone already, is given
/// back as it is.
pub fn take_back(
    mut applied: Applied,
    look: &dyn Look,
    act: &dyn Act,
    intent: &Intent<'_>,
    watch: &dyn Watch,
) -> Applied {
    let Some(mut way) = applied.way_back.take().filter(|way| way.journal.may_have_changed()) else {
        return applied;
    };
    let run = Run { look, act, intent, watch };
    let (facts, differences) = run.undo(&mut way.journal, &way.before, applied.facts);
    let outcome = if differences.is_empty() { Outcome::Undone } else { Outcome::Neither };
    Applied { facts, changes: way.journal.records(), differences, outcome, ..applied }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Depth, Port, for_host};
    use crate::engine::{Guard, Silent, apply};
    use crate::host::model::hosts;
    use crate::profile::Profile;
    use crate::report::ChangeResult;

    #[test]
    fn an_apply_that_had_ended_well_is_taken_back_whole_and_only_once() {
        let machine = hosts::s1_machine(1);
        let before = machine.facts();
        let text = include_bytes!("../../profiles/s1-grt.yaml");
        let profile = Profile::parse(text, "s1-grt.yaml")
            .and_then(|profile| profile.for_host("server1"))
            .unwrap_or_else(|error| panic!("{error}"));
        let claims = for_host(&profile, Depth::Full);
        let ports = profile.interfaces.iter().map(|wish| Port { wish: wish.clone() }).collect();
        let allowed = ["ens1f1".to_owned()].into();
        let intent =
            Intent { claims: &claims, guard: Guard { ports, allowed, force_reload: false } };
        let applied = apply(&machine, &machine, &intent, &Silent).expect("facts");
        assert_eq!(applied.outcome, Outcome::Met);
        let made = applied.changes.len();
        assert!(before.state.differences(&machine.facts().state).len() >= 3);

        let back = take_back(applied, &machine, &machine, &intent, &Silent);
        assert_eq!(back.outcome, Outcome::Undone);
        assert_eq!(back.differences, []);
        assert_eq!(before.state.differences(&machine.facts().state), []);
        let undone = back.changes.iter().filter(|one| one.result == ChangeResult::Undone).count();
        assert_eq!(undone, made);

        let again = take_back(back, &machine, &machine, &intent, &Silent);
        assert_eq!(again.outcome, Outcome::Undone);
        assert_eq!(before.state.differences(&machine.facts().state), []);
    }
}
