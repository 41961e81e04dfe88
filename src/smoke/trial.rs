//! One test from the measuring end: the warm-up, the measurement, and the comparison of the data.

use std::time::{Duration, Instant};

use super::figure::{Bandwidth, Figure, Latency, TestKind};
use super::measure::Lane;
use super::pattern;
use super::protocol::Message;
use super::session::receive;
use super::spec::{TestSpec, Until};
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
    lane: &mut Lane<'_>,
    spec: TestSpec,
    payload: &mut Payload,
) -> Result<Figure, Trouble> {
    let seed = pattern::fresh_seed();
    match spec.test {
        TestKind::WriteLat | TestKind::ReadLat => latency(lane, spec, seed, payload),
        TestKind::WriteBw | TestKind::ReadBw => bandwidth(lane, spec, seed, payload),
        other => Err(Trouble::Wrong(format!("{other} is not run by this version"))),
    }
}

fn latency(
    lane: &mut Lane<'_>,
    spec: TestSpec,
    seed: u64,
    payload: &mut Payload,
) -> Result<Figure, Trouble> {
    let size = spec.size_bytes;
    let half = lane.half as usize;
    let budget = budget(spec);
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
    let samples_count = samples.len() as u64;
    let p50_us = median(&mut samples).map(microseconds).unwrap_or(f64::NAN);
    Ok(Figure {
        samples: samples_count,
        latency: Some(Latency {
            min_us: p50_us,
            p50_us,
            p90_us: p50_us,
            p99_us: p50_us,
            p999_us: None,
            max_us: p50_us,
            mean_us: p50_us,
            stddev_us: None,
        }),
        duration_s: duration.as_secs_f64(),
        checked,
        ..Figure::nothing(spec)
    })
}

fn bandwidth(
    lane: &mut Lane<'_>,
    spec: TestSpec,
    seed: u64,
    payload: &mut Payload,
) -> Result<Figure, Trouble> {
    let size = spec.size_bytes;
    let depth = u32::from(spec.depth);
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
    let (operations, duration) = once(lane, budget(spec), false)?;
    let checked = match transfer {
        Transfer::Write => check_peers(lane, window)?,
        Transfer::Read => check_own(lane, seed, window)?,
    };
    Ok(Figure {
        samples: operations,
        bandwidth: Some(Bandwidth {
            mean_gbit_per_s: gbit_per_s(operations * u64::from(size), duration),
            window_min_gbit_per_s: None,
            window_max_gbit_per_s: None,
            window_ms: 100,
            windows: 0,
            outgoing_gbit_per_s: None,
        }),
        duration_s: duration.as_secs_f64(),
        checked,
        ..Figure::nothing(spec)
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

fn budget(spec: TestSpec) -> Duration {
    match spec.until {
        Until::Sure { budget_ms: ms } | Until::Time { ms } => Duration::from_millis(ms.into()),
        Until::Iterations { .. } => Duration::ZERO,
    }
}
