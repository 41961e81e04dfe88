//! The end that connects: it chooses the tests, measures, and tells the other end the results.

use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::address::socket_address;
use super::counters::Counters;
use super::event::{Event, sysfs};
use super::job::TestSpec;
use super::measure::Lane;
use super::outcome::{Figure, SmokeRung, Stage, TestKind};
use super::pattern;
use super::protocol::{Message, Ready, compare};
use super::session::{Bound, CONNECT_STEP, ChildJob, bind, check_memory, receive};
use super::statistics::{gbit_per_s, median, microseconds};
use super::trouble::{Emit, Trouble};
use super::wire::Wire;
use crate::verbs::{CmEventKind, CmId, QueuePair, Reason, Transfer, VerbsError};

/// Operations before a latency test is measured.
const WARM_UP: u32 = 32;
/// The most samples of a latency test: enough for a median, and bounded memory.
const MAX_SAMPLES: u32 = 20_000;
/// Pause before the second attempt where the first came too early for a device that has just appeared.
const EARLY_PAUSE: Duration = Duration::from_millis(500);

/// Payload of a run, from this end.
#[derive(Debug, Default, Clone, Copy)]
struct Payload {
    sent_bytes: u64,
    received_bytes: u64,
}

/// Runs this end; returns the step that failed with its reason.
pub(crate) fn run(
    job: &ChildJob,
    wire: &mut Wire,
    deadline: Instant,
    emit: Emit<'_>,
) -> Result<(), (SmokeRung, Trouble)> {
    let bound = Bound::open(job, emit).map_err(|trouble| (SmokeRung::Device, trouble))?;
    let (ready, id, queue) = connect(job, &bound, wire, deadline, emit)
        .map_err(|trouble| (SmokeRung::Connect, trouble))?;
    let counters = Counters::read(sysfs(), &job.own.endpoint.netdev, &bound.port);
    let mut payload = Payload::default();
    for spec in &job.tests {
        emit(Event::Testing(*spec));
        let mut lane = Lane::new(&queue, &bound.memory, ready.memory, deadline, wire);
        let figure = measure(job, &mut lane, *spec, &mut payload)
            .map_err(|trouble| (SmokeRung::Data, trouble))?;
        lane.wire
            .send(&Message::Measured(figure.clone()), deadline)
            .map_err(|error| (SmokeRung::Data, error.into()))?;
        emit(Event::Figure(figure));
    }
    finish(job, wire, &counters, payload, deadline, emit)
        .map_err(|trouble| (SmokeRung::Data, trouble))?;
    id.disconnect();
    Ok(())
}

/// Exchanges what both ends opened, and connects.
fn connect(
    job: &ChildJob,
    bound: &Bound,
    wire: &mut Wire,
    deadline: Instant,
    emit: Emit<'_>,
) -> Result<(Ready, CmId, QueuePair), Trouble> {
    let own = bound.ready(0, 0);
    wire.send(&Message::Ready(own.clone()), deadline)?;
    let ready = receive(wire, deadline, |message| match message {
        Message::Ready(ready) => Ok(ready),
        other => Err(other),
    })?;
    emit(Event::Differences(compare(&job.own, &job.peer, Some((&own, &ready)))));
    check_memory(job, &ready)?;
    if own.port.iwarp != ready.port.iwarp {
        let name = |iwarp| if iwarp { "iWARP" } else { "InfiniBand or RoCE" };
        return Err(Trouble::Wrong(format!(
            "this end's device {} speaks {}, the peer's {} {}; they cannot connect",
            own.port.device,
            name(own.port.iwarp),
            ready.port.device,
            name(ready.port.iwarp)
        )));
    }
    let (id, queue) = match connect_once(job, bound, &ready, bound.id.clone(), deadline) {
        Err(error) if too_early(&error) => {
            thread::sleep(EARLY_PAUSE);
            let id = bind(&bound.channel, job, 0)?;
            connect_once(job, bound, &ready, id, deadline)?
        }
        result => result?,
    };
    emit(Event::Stage(Stage::met(
        SmokeRung::Connect,
        format!(
            "connected over rdma_cm to {} port {}, RDMA MTU {} bytes",
            job.peer_address, ready.rdma_port, own.port.active_mtu_bytes
        ),
    )));
    Ok((ready, id, queue))
}

/// One attempt to connect `id`, which is bound.
fn connect_once(
    job: &ChildJob,
    bound: &Bound,
    ready: &Ready,
    id: CmId,
    deadline: Instant,
) -> Result<(CmId, QueuePair), VerbsError> {
    let peer = socket_address(job.peer_address, ready.rdma_port, &job.own.endpoint.netdev);
    let object = format!("{} to {peer}", job.own.endpoint.local);
    let soon = || deadline.min(Instant::now() + CONNECT_STEP);
    id.resolve_address(peer, CONNECT_STEP)?;
    bound.channel.expect(CmEventKind::AddressResolved, &object, soon())?;
    id.resolve_route(CONNECT_STEP)?;
    bound.channel.expect(CmEventKind::RouteResolved, &object, soon())?;
    let queue = bound.queue(&id)?;
    id.connect(&queue, bound.limits(ready), &ready.cookie.to_be_bytes())?;
    bound.channel.expect(CmEventKind::Established, &object, soon())?;
    Ok((id, queue))
}

/// Whether an attempt failed as it does on a device that appeared a moment ago.
fn too_early(error: &VerbsError) -> bool {
    match error.reason {
        Reason::Errno(errno) => errno == Errno::EOPNOTSUPP as i32,
        Reason::Event { status, .. } => status == -(Errno::EOPNOTSUPP as i32),
        _ => false,
    }
}

/// Tells the peer that a test begins and waits until it is prepared.
fn begin(lane: &mut Lane<'_>, spec: TestSpec, seed: u64, warm_up: bool) -> Result<(), Trouble> {
    let deadline = lane.deadline;
    lane.wire.send(&Message::Begin { spec, seed, warm_up }, deadline)?;
    receive(lane.wire, deadline, |message| match message {
        Message::Go => Ok(()),
        other => Err(other),
    })
}

/// Warms up, measures and checks one test.
fn measure(
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
    let mut once = |lane: &mut Lane<'_>, most: u32, warm_up: bool| {
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
    once(lane, WARM_UP, true)?;
    let start = Instant::now();
    let mut samples = once(lane, MAX_SAMPLES, false)?;
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
    let depth = ChildJob::depth(spec);
    let window = size * depth;
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
        Message::Verified { mismatch } => Ok(mismatch),
        other => Err(other),
    })?;
    match mismatch {
        None => Ok(true),
        Some(what) => Err(Trouble::Wrong(format!("data received by the peer is wrong: {what}"))),
    }
}

/// Exchanges the payload and where it went.
fn finish(
    job: &ChildJob,
    wire: &mut Wire,
    counters: &Counters,
    payload: Payload,
    deadline: Instant,
    emit: Emit<'_>,
) -> Result<(), Trouble> {
    emit(Event::Stage(Stage::met(
        SmokeRung::Data,
        format!(
            "{} bytes written and {} bytes read or answered, all compared",
            payload.sent_bytes, payload.received_bytes
        ),
    )));
    let Payload { sent_bytes, received_bytes } = payload;
    let attribution = super::child::attribute(job, counters, sent_bytes, received_bytes, emit);
    wire.send(&Message::Finished { sent_bytes, received_bytes, attribution }, deadline)?;
    let theirs = receive(wire, deadline, |message| match message {
        Message::Finished { attribution, .. } => Ok(attribution),
        other => Err(other),
    })?;
    emit(Event::Peer(super::child::peer_report(job, Some(theirs))));
    Ok(())
}
