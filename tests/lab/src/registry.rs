//! The scenarios and what is said of each.

use crate::bed::{DriverSet, Lab};
use std::time::Duration;

/// Unless a scenario says otherwise.
const LIMIT: Duration = Duration::from_secs(180);

#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Decides whether a change is good.
    Gate(fn(&Lab)),
    /// A long matrix; gives the number of cases it ran.
    Soak(fn(&Lab) -> u64),
}

#[derive(Clone)]
pub(crate) struct Scenario {
    /// A sentence that is true when it passes.
    pub(crate) name: &'static str,
    pub(crate) set: DriverSet,
    pub(crate) guests: usize,
    pub(crate) body: Body,
    pub(crate) limit: Duration,
}

/// A gating scenario. Each begins in the known state of its driver set (see guest/reset.sh).
pub(crate) fn scenario(
    name: &'static str,
    set: DriverSet,
    guests: usize,
    body: fn(&Lab),
) -> Scenario {
    Scenario { name, set, guests, body: Body::Gate(body), limit: LIMIT }
}

/// A long one, for `cargo lab soak`.
pub(crate) fn soak(
    name: &'static str,
    set: DriverSet,
    guests: usize,
    body: fn(&Lab) -> u64,
) -> Scenario {
    Scenario { name, set, guests, body: Body::Soak(body), limit: LIMIT }
}

impl Scenario {
    /// Another time limit.
    pub(crate) fn within(mut self, seconds: u64) -> Self {
        self.limit = Duration::from_secs(seconds);
        self
    }

    fn is_soak(&self) -> bool {
        matches!(self.body, Body::Soak(_))
    }

    fn matches(&self, filters: &[String]) -> bool {
        let text = format!("{} {}", self.set.name(), self.name).to_lowercase();
        filters.is_empty() || filters.iter().any(|filter| text.contains(&filter.to_lowercase()))
    }
}

/// The scenarios of one kind that a filter leaves, those of one boot beside each other.
pub(crate) fn select(all: Vec<Scenario>, soak: bool, filters: &[String]) -> Vec<Scenario> {
    let mut selected: Vec<Scenario> = all
        .into_iter()
        .filter(|scenario| scenario.is_soak() == soak && scenario.matches(filters))
        .collect();
    selected.sort_by_key(|scenario| (scenario.set, scenario.guests));
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(soak: bool, filters: &[&str]) -> Vec<&'static str> {
        let all = vec![
            scenario("a cut cable is seen", DriverSet::Debian, 2, |_| {}),
            scenario("a late device is found", DriverSet::OutOfTree, 2, |_| {}),
            super::soak("every device name is found", DriverSet::InKernel, 1, |_| 0),
            scenario("one guest boots", DriverSet::Debian, 1, |_| {}),
        ];
        let filters: Vec<String> = filters.iter().map(|&filter| filter.to_owned()).collect();
        select(all, soak, &filters).into_iter().map(|scenario| scenario.name).collect()
    }

    #[test]
    fn scenarios_of_one_boot_stand_together() {
        assert_eq!(
            names(false, &[]),
            ["a late device is found", "one guest boots", "a cut cable is seen"]
        );
    }

    #[test]
    fn a_filter_is_a_part_of_the_name_or_the_driver_set() {
        assert_eq!(names(false, &["CABLE"]), ["a cut cable is seen"]);
        assert_eq!(names(false, &["debian", "late"]).len(), 3);
        assert_eq!(names(false, &["nothing of the kind"]), [""; 0]);
    }

    #[test]
    fn soak_is_its_own_kind() {
        assert_eq!(names(true, &[]), ["every device name is found"]);
    }

    #[test]
    fn no_two_scenarios_have_one_name() {
        let mut all: Vec<&str> =
            crate::scenarios::all().iter().map(|scenario| scenario.name).collect();
        all.sort_unstable();
        let doubles: Vec<&[&str]> = all.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(doubles.is_empty(), "{doubles:?}");
        assert!(!all.is_empty(), "the registry is empty");
    }
}
