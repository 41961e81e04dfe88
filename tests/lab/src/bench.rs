//! `cargo lab bench`: commands timed in a guest, side by side.
//!
//! Emulation is slow and noisy, so only ratios mean something: the contenders run by turns after a
//! warm-up, and the median is shown with the middle half of the runs.

use crate::bed::{DriverSet, Lab, Setup};
use crate::product::{self, Profile};
use crate::{packages, scenarios};
use std::process::ExitCode;

const RUNS: usize = 20;

/// Commands that do the same job.
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) set: DriverSet,
    pub(crate) guests: usize,
    /// Brings the guests to where the commands are timed, on guest 1.
    pub(crate) prepare: fn(&Lab),
    /// The first is what the others are compared with.
    pub(crate) contenders: Vec<Contender>,
}

pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) script: String,
    /// A run that ends otherwise is no run of the same job, and fails the bench.
    pub(crate) exits: i32,
}

pub(crate) fn run(filters: &[String], build: bool) -> Result<ExitCode, String> {
    let benches: Vec<Bench> = scenarios::benches()
        .into_iter()
        .filter(|bench| {
            filters.is_empty() || filters.iter().any(|filter| bench.name.contains(filter.as_str()))
        })
        .collect();
    if benches.is_empty() {
        return Err("no bench has such a name".into());
    }
    packages::ensure()?;
    let setup = Setup::new(product::provide(Profile::Release, build)?)?;
    for bench in &benches {
        let lab = Lab::boot(&setup, bench.set, bench.guests)?;
        (bench.prepare)(&lab);
        measure(bench, &lab);
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(bench: &Bench, lab: &Lab) {
    let node = lab.node(1);
    // What every command pays before it does anything; printed apart.
    let start = Contender { name: "(process start: sh -c :)", script: ":".into(), exits: 0 };
    let all: Vec<&Contender> = bench.contenders.iter().chain([&start]).collect();
    let mut seconds = vec![Vec::new(); all.len()];
    for round in 0..=RUNS {
        for (contender, seconds) in all.iter().zip(&mut seconds) {
            let ran = node.run(&contender.script).exits(contender.exits);
            // The first round warms caches.
            if round > 0 {
                seconds.push(ran.seconds);
            }
        }
    }
    println!("{} ({RUNS} runs by turns, in the {} guest)", bench.name, bench.set.name());
    println!("{:<34} {:>9} {:>19} {:>7}", "", "median", "middle half", "ratio");
    let reference = quartiles(&seconds[0])[1];
    for (contender, seconds) in all.iter().zip(&seconds) {
        let [low, median, high] = quartiles(seconds).map(|value| value * 1000.0);
        let ratio = median / 1000.0 / reference;
        println!(
            "{:<34} {median:>6.1} ms {low:>6.1} to {high:>6.1} ms {ratio:>7.2}",
            contender.name
        );
    }
}

/// First quartile, median and third, each the nearest value below.
fn quartiles(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |part: usize| {
        sorted.get(sorted.len().saturating_sub(1) * part / 4).copied().unwrap_or(f64::NAN)
    };
    [at(1), at(2), at(3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_of_the_sorted_values() {
        assert_eq!(quartiles(&[5.0, 1.0, 4.0, 2.0, 3.0]), [2.0, 3.0, 4.0]);
        assert_eq!(quartiles(&[7.0]), [7.0, 7.0, 7.0]);
        assert!(quartiles(&[])[1].is_nan());
    }
}
