//! Runs the scenarios: one boot for those of the same driver set and number of guests, a reset
//! before each, a verdict for every one.

use crate::bed::{DriverSet, Lab, Setup};
use crate::product::{self, Profile};
use crate::registry::{self, Body, Scenario};
use crate::tally::Tally;
use crate::{packages, scenarios};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For the reset before and the look after a scenario.
const CARE_LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn list() -> Result<ExitCode, String> {
    for soak in [false, true] {
        for scenario in registry::select(scenarios::all(), soak, &[]) {
            let kind = if soak { ", soak" } else { "" };
            println!("{} [{}, {}{kind}]", scenario.name, scenario.set.name(), scenario.guests);
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn test(filters: &[String], build: bool) -> Result<ExitCode, String> {
    let selected = selected(false, filters)?;
    let setup = setup(build)?;
    let mut tally = Tally::default();
    if filters.is_empty() {
        tally += product::test("roce-setup")?;
        tally += product::test("lab")?;
    }
    tally += run(&setup, &selected).0;
    println!("{tally}");
    Ok(verdict(tally))
}

pub(crate) fn soak(filters: &[String], build: bool) -> Result<ExitCode, String> {
    let selected = selected(true, filters)?;
    let (tally, cases) = run(&setup(build)?, &selected);
    println!("{cases} cases");
    println!("{tally}");
    Ok(verdict(tally))
}

fn verdict(tally: Tally) -> ExitCode {
    if tally.failed == 0 && tally.passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A filter that leaves nothing is an error: it would pass by absence.
fn selected(soak: bool, filters: &[String]) -> Result<Vec<Scenario>, String> {
    let selected = registry::select(scenarios::all(), soak, filters);
    match (selected.is_empty(), filters.is_empty()) {
        (false, _) => Ok(selected),
        (true, false) => Err(format!("no scenario's name contains {}", filters.join(" or "))),
        (true, true) => Err("there is no scenario of this kind".into()),
    }
}

fn setup(build: bool) -> Result<Setup, String> {
    packages::ensure()?;
    let product = product::provide(Profile::Dev, build)?;
    Setup::new(product)
}

/// The tally, and the number of soak cases.
fn run(setup: &Setup, selected: &[Scenario]) -> (Tally, u64) {
    record_panics();
    let mut tally = Tally::default();
    let mut cases = 0;
    let mut failures = Vec::new();
    for group in selected.chunk_by(|a, b| (a.set, a.guests) == (b.set, b.guests)) {
        let mut guests = Group { setup, set: group[0].set, guests: group[0].guests, lab: None };
        for scenario in group {
            let began = Instant::now();
            let outcome = guests.run(scenario);
            let seconds = began.elapsed().as_secs();
            match outcome {
                Ok(count) => {
                    tally.passed += 1;
                    cases += count;
                    println!("ok      {} [{}] ({seconds} s)", scenario.name, scenario.set.name());
                }
                Err(why) => {
                    tally.failed += 1;
                    let line = format!("FAILED  {} [{}]", scenario.name, scenario.set.name());
                    println!("{line} ({seconds} s)\n    {}", why.replace('\n', "\n    "));
                    failures.push(line);
                }
            }
        }
    }
    if !failures.is_empty() {
        println!("\nconsoles of the guests: {}\n{}\n", setup.logs().display(), failures.join("\n"));
    }
    (tally, cases)
}

/// The guests of one group, booted when needed.
struct Group<'a> {
    setup: &'a Setup,
    set: DriverSet,
    guests: usize,
    /// None before the first boot, and after a scenario that the guests did not survive.
    lab: Option<Lab>,
}

impl Group<'_> {
    fn run(&mut self, scenario: &Scenario) -> Result<u64, String> {
        let lab = self.ready()?;
        lab.limit(Some(scenario.limit));
        let outcome = guard(|| match scenario.body {
            Body::Gate(body) => {
                body(&lab);
                0
            }
            Body::Soak(body) => body(&lab),
        });
        lab.limit(Some(CARE_LIMIT));
        let survived = lab.nodes().iter().all(|node| node.runs());
        let intact = if survived { guard(|| expect_network(&lab)) } else { Ok(()) };
        if survived && intact.is_ok() {
            self.lab = Some(lab);
        }
        let cases = outcome?;
        intact.map_err(|why| format!("after the scenario: {why}"))?;
        Ok(cases)
    }

    /// Guests in the known state: those of the last scenario, or new ones.
    fn ready(&mut self) -> Result<Lab, String> {
        if let Some(lab) = self.lab.take() {
            lab.limit(Some(CARE_LIMIT));
            match guard(|| lab.reset(&[])) {
                Ok(()) => return Ok(lab),
                Err(why) => eprintln!("booting anew, because the guests could not be reset: {why}"),
            }
        }
        let lab = Lab::boot(self.setup, self.set, self.guests)?;
        lab.limit(Some(CARE_LIMIT));
        guard(|| lab.expect_known_state()).map_err(|why| format!("after boot: {why}"))?;
        Ok(lab)
    }
}

/// Whatever a scenario did: the Ethernet driver is loaded and the interfaces are there.
fn expect_network(lab: &Lab) {
    let driver = match lab.set() {
        DriverSet::Debian => "e1000e",
        DriverSet::OutOfTree | DriverSet::InKernel => "ice",
    };
    lab.each(|node| {
        node.run(&format!(
            "cat /sys/module/{driver}/initstate; cd /sys/class/net; ls -d ens1f0 ens1f1"
        ))
        .prints("live\nens1f0\nens1f1");
    });
}

/// The text of the first panic since the last [`guard`] began.
static FIRST_PANIC: Mutex<Option<String>> = Mutex::new(None);

fn first_panic() -> std::sync::MutexGuard<'static, Option<String>> {
    FIRST_PANIC.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the text of assertions instead of printing them between the verdicts.
fn record_panics() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("a panic without text");
        let place = info
            .location()
            .map(|place| format!("{}:{}: ", place.file(), place.line()))
            .unwrap_or_default();
        first_panic().get_or_insert(format!("{place}{text}"));
    }));
}

fn guard<T>(act: impl FnOnce() -> T) -> Result<T, String> {
    first_panic().take();
    catch_unwind(AssertUnwindSafe(act))
        .map_err(|_| first_panic().take().unwrap_or_else(|| "a panic without text".into()))
}
