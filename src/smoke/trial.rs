//! One test from the measuring end: the warm-up, the measurement, and the comparison of the data.

use std::time::{Duration, Instant};

use super::job::TestSpec;
use super::measure::Lane;
use super::outcome::{Figure, TestKind};
use super::pattern;
use super::protocol::Message;
use super::session::{ChildJob, receive};
use super::statistics::{gbit_per_s, median, microseconds};
use super::trouble::Trouble;
use crate::verbs::Transfer;

/// Operations before a latency test is measured, unless they take a quarter of its time.
const WARM_UP: u32 = 32;
/// The most samples of a latency test: enough for a median, and bounded memory.
const MAX_SAMPLES: u32 = 20_000;

/// Payload of a run, from this end.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Payload {
    pub(crate) sent_bytes: u64,
    pub(crate) received_bytes: u64,
}

/// Tells the peer that a test begins and waits until it is prepared.
fn begin(lane: &mut Lane<'_>, spec: TestSpec, seed: u64, warm_up: bool) -> Result<(), Trouble> {
    let deadline = lane.deadline;
    lane.wire.send(&Message::Begin { spec, seed, warm_up }, deadline)?;
    receive(lane.wire, deadline, |message| match message {
        Message::Go => Some(()),
        _ => None,
    })
}

/// Warms up, measures and checks one test.
pub(crate) fn measure(
    job: &ChildJob,
    lane: &mut Lane<'_>,
    spec: TestSpec,
    payload: &mut Payload,
) -> Result<Figure, Trouble> {
    let seed = pattern::fresh_seed();
    match spec.test {
        TestKind::WriteLat | TestKind::ReadLat => latency(job, lane, spec, seed, payload),
        TestKind::WriteBw | TestKind::ReadBw => bandwidth(job, lane, spec, seed, payload),
    }
}

fn latency(
    job: &ChildJob,
    lane: &mut Lane<'_>,
    spec: TestSpec,
    seed: u64,
    payload: &mut Payload,
) -> Result<Figure, Trouble> {
    let size = spec.size_bytes;
    let half = lane.half as usize;
    let budget = Duration::from_millis(u64::from(job.test_budget_ms));
    let outgoing = pattern::bytes(seed, size as usize);
    let expected = outgoing.last().copied().unwrap_or(0);
    lane.memory.write(0, &outgoing)?;
    let mut once = |lane: &mut Lane<'_>, most: u32, budget: Duration, warm_up: bool| {
        lane.memory.write(half, &vec![0; size as usize])?;
        begin(lane, spec, seed, warm_up)?;
        let samples = match spec.test {
            TestKind::WriteLat => lane.ping(size, most, budget)?,
            _ => lane.read_one_by_one(size, most, budget, expected)?,
        };
        let bytes = samples.len() as u64 * u64::from(size);
        payload.received_bytes += bytes;
        if spec.test == TestKind::WriteLat {
            payload.sent_bytes += bytes;
        }
        Ok::<_, Trouble>(samples)
    };
    once(lane, WARM_UP, budget / 4, true)?;
    let start = Instant::now();
    let mut samples = once(lane, MAX_SAMPLES, budget, false)?;
    let duration = start.elapsed();
    let checked = match spec.test {
        // The answers carry the peer's own stream; the last byte of each was its count.
        TestKind::WriteLat => {
            check_own(lane, !seed, size - 1)?;
            check_peers(lane, size - 1)?
        }
        _ => check_own(lane, seed, size)?,
    };
    Ok(Figure {
        test: spec.test,
        size_bytes: size,
        samples: samples.len() as u64,
        median_us: median(&mut samples).map(microseconds),
        mean_gbit_per_s: None,
        duration_s: duration.as_secs_f64(),
        checked,
    })
}

fn bandwidth(
    job: &ChildJob,
    lane: &mut Lane<'_>,
    spec: TestSpec,
    seed: u64,
    payload: &mut Payload,
) -> Result<Figure, Trouble> {
    let size = spec.size_bytes;
    let depth = spec.depth();
    let window = spec.window_bytes();
    let transfer = if spec.test == TestKind::WriteBw { Transfer::Write } else { Transfer::Read };
    if transfer == Transfer::Write {
        lane.memory.write(0, &pattern::bytes(seed, window as usize))?;
    }
    let mut once = |lane: &mut Lane<'_>, budget: Duration, warm_up: bool| {
        if transfer == Transfer::Read {
            lane.memory.write(lane.half as usize, &vec![0; window as usize])?;
        }
        begin(lane, spec, seed, warm_up)?;
        let (operations, duration) = lane.stream(transfer, size, depth, budget)?;
        let bytes = operations * u64::from(size);
        match transfer {
            Transfer::Write => payload.sent_bytes += bytes,
            Transfer::Read => payload.received_bytes += bytes,
        }
        Ok::<_, Trouble>((operations, duration))
    };
    once(lane, Duration::ZERO, true)?;
    let (operations, duration) =
        once(lane, Duration::from_millis(u64::from(job.test_budget_ms)), false)?;
    let checked = match transfer {
        Transfer::Write => check_peers(lane, window)?,
        Transfer::Read => check_own(lane, seed, window)?,
    };
    Ok(Figure {
        test: spec.test,
        size_bytes: size,
        samples: operations,
        median_us: None,
        mean_gbit_per_s: Some(gbit_per_s(operations * u64::from(size), duration)),
        duration_s: duration.as_secs_f64(),
        checked,
    })
}

/// Compares what this end received with the stream of `seed`.
fn check_own(lane: &Lane<'_>, seed: u64, bytes: u32) -> Result<bool, Trouble> {
    let mut found = vec![0; bytes as usize];
    lane.memory.read(lane.half as usize, &mut found)?;
    match pattern::mismatch(seed, &found) {
        None => Ok(true),
        Some(what) => Err(Trouble::Wrong(format!("data received here is wrong: {what}"))),
    }
}

/// Has the peer compare what it received.
fn check_peers(lane: &mut Lane<'_>, bytes: u32) -> Result<bool, Trouble> {
    let deadline = lane.deadline;
    lane.wire.send(&Message::Verify { bytes }, deadline)?;
    let mismatch = receive(lane.wire, deadline, |message| match message {
        Message::Verified { mismatch } => Some(mismatch.clone()),
        _ => None,
    })?;
    match mismatch {
        None => Ok(true),
        Some(what) => Err(Trouble::Wrong(format!("data received by the peer is wrong: {what}"))),
    }
}
