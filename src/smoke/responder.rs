//! The end that accepts: it prepares memory, answers round trips and compares what was written.

use std::time::{Duration, Instant};

use super::counters::Counters;
use super::event::{Event, sysfs};
use super::figure::TestKind;
use super::measure::Lane;
use super::outcome::{SmokeRung, Stage};
use super::pattern;
use super::protocol::{Message, Ready, compare};
use super::session::{Bound, CONNECT_STEP, ChildJob, check_memory, check_peer, hear, receive};
use super::spec::TestSpec;
use super::trouble::{Emit, Trouble};
use super::wire::Wire;
use crate::verbs::{CmEventKind, CmId, QueuePair, Reason, VerbsError};

/// How often a wait for the connection request looks at the control connection.
const GLANCE: Duration = Duration::from_millis(200);

/// Runs this end; returns the step that failed with its reason.
pub(crate) fn run(
    job: &ChildJob,
    wire: &mut Wire,
    deadline: Instant,
    emit: Emit<'_>,
) -> Result<(), (SmokeRung, Trouble)> {
    let bound = Bound::open(job, emit).map_err(|trouble| (SmokeRung::Device, trouble))?;
    let (ready, id, queue) = accept(job, &bound, wire, deadline, emit)
        .map_err(|trouble| (SmokeRung::Connect, trouble))?;
    let counters = Counters::read(sysfs(), &job.own.endpoint.netdev, &bound.port);
    let mut lane = Lane::new(&queue, &bound.memory, ready.memory, deadline, wire);
    answer(job, &mut lane, &counters, emit).map_err(|trouble| (SmokeRung::Data, trouble))?;
    id.disconnect();
    Ok(())
}

/// Tells the peer where to connect, and accepts the one connection that shows the cookie.
fn accept(
    job: &ChildJob,
    bound: &Bound,
    wire: &mut Wire,
    deadline: Instant,
    emit: Emit<'_>,
) -> Result<(Ready, CmId, QueuePair), Trouble> {
    let cookie = pattern::fresh_seed();
    let own = bound.ready(bound.id.port(), cookie);
    let ready = receive(wire, deadline, |message| match message {
        Message::Ready(ready) => Some(ready.clone()),
        _ => None,
    })?;
    wire.send(&Message::Ready(own.clone()), deadline)?;
    emit(Event::Differences(compare(&job.own, &job.peer, Some((&own, &ready)))));
    check_memory(job, &ready)?;
    let object = format!("{} from {}", job.own.endpoint.local, job.peer_address);
    // Twice the steps that the peer takes, and its second attempt.
    let request_deadline = deadline.min(Instant::now() + CONNECT_STEP * 4);
    let id = loop {
        let event = match bound.channel.next(&object, request_deadline.min(Instant::now() + GLANCE))
        {
            Err(error) if error.reason == Reason::Deadline => {
                check_peer(wire)?;
                if Instant::now() >= request_deadline {
                    return Err(VerbsError::new(
                        "waiting for the RDMA connection request",
                        object,
                        Reason::Deadline,
                    )
                    .into());
                }
                continue;
            }
            event => event?,
        };
        // Some drivers pad private data, so only its beginning counts. A request without the cookie
        // is dropped, which rejects it.
        if event.private_data.starts_with(&cookie.to_be_bytes())
            && let Some(id) = event.requested
        {
            break id;
        }
    };
    let queue = bound.queue(&id)?;
    id.accept(&queue, bound.limits(&ready))?;
    bound.channel.expect(
        CmEventKind::Established,
        &object,
        deadline.min(Instant::now() + CONNECT_STEP),
    )?;
    emit(Event::Stage(Stage::met(
        SmokeRung::Connect,
        format!(
            "accepted over rdma_cm from {}, RDMA MTU {} bytes",
            job.peer_address, own.port.active_mtu_bytes
        ),
    )));
    Ok((ready, id, queue))
}

/// Follows the peer through its tests.
fn answer(
    job: &ChildJob,
    lane: &mut Lane<'_>,
    counters: &Counters,
    emit: Emit<'_>,
) -> Result<(), Trouble> {
    let mut current: Option<(TestSpec, u64)> = None;
    loop {
        let deadline = lane.deadline;
        match hear(lane.wire, deadline)? {
            Message::Begin { spec, seed, warm_up } => {
                if !job.tests.contains(&spec) {
                    return Err(Trouble::Wrong(format!(
                        "the peer began a test that was not agreed: {} of {} bytes",
                        spec.test, spec.size_bytes
                    )));
                }
                prepare(lane, spec, (current != Some((spec, seed))).then_some(seed))?;
                current = Some((spec, seed));
                if !warm_up {
                    emit(Event::Testing(spec));
                }
                lane.wire.send(&Message::Go, deadline)?;
                if spec.test == TestKind::WriteLat {
                    lane.pong(spec.size_bytes)?;
                }
            }
            Message::Verify { bytes } => {
                let (spec, seed) = current.ok_or(Trouble::Unexpected("verify"))?;
                if bytes > spec.window_bytes() {
                    return Err(Trouble::Wrong(format!(
                        "the peer asked to verify {bytes} bytes, more than it wrote"
                    )));
                }
                let mut found = vec![0; bytes as usize];
                lane.memory.read(lane.half as usize, &mut found)?;
                let mismatch = pattern::mismatch(seed, &found);
                lane.wire.send(&Message::Verified { mismatch: mismatch.clone() }, deadline)?;
                if let Some(what) = mismatch {
                    return Err(Trouble::Wrong(format!("data received here is wrong: {what}")));
                }
            }
            Message::Measured(figure) => emit(Event::Figure(figure)),
            Message::Finished { sent_bytes, received_bytes, attribution } => {
                emit(Event::Stage(Stage::met(
                    SmokeRung::Data,
                    format!(
                        "{sent_bytes} bytes received and {received_bytes} bytes read from here or answered, all compared"
                    ),
                )));
                let own = super::child::attribute(job, counters, received_bytes, sent_bytes, emit);
                lane.wire.send(
                    &Message::Finished { sent_bytes, received_bytes, attribution: own },
                    deadline,
                )?;
                emit(Event::Peer(super::child::peer_report(job, Some(attribution))));
                return Ok(());
            }
            other => return Err(Trouble::Unexpected(other.name())),
        }
    }
}

/// Puts into memory what the peer will read, where it is not there already, and clears what it will
/// write.
fn prepare(lane: &Lane<'_>, spec: TestSpec, seed: Option<u64>) -> Result<(), VerbsError> {
    let window = spec.window_bytes() as usize;
    if let Some(seed) = seed {
        match spec.test {
            TestKind::WriteLat => lane.memory.write(0, &pattern::bytes(!seed, window))?,
            TestKind::ReadLat | TestKind::ReadBw => {
                lane.memory.write(0, &pattern::bytes(seed, window))?
            }
            _ => {}
        }
    }
    lane.memory.write(lane.half as usize, &vec![0; window])
}
