//! The end that connects: it chooses the tests, measures, and tells the other end the results.

use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::address::socket_address;
use super::counters::Counters;
use super::event::{Event, sysfs};
use super::measure::Lane;
use super::outcome::{SmokeRung, Stage};
use super::protocol::{Message, Ready, compare};
use super::session::{Bound, CONNECT_STEP, ChildJob, bind, check_memory, receive};
use super::trial::{Payload, measure};
use super::trouble::{Emit, Trouble};
use super::wire::Wire;
use crate::verbs::{CmEventKind, CmId, QueuePair, Reason, VerbsError};

/// Pause before the second attempt where the first came too early for a device that has just
/// appeared.
const EARLY_PAUSE: Duration = Duration::from_millis(500);

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
        let figure = Box::new(
            measure(&mut lane, *spec, &mut payload)
                .map_err(|trouble| (SmokeRung::Data, trouble))?,
        );
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
        Message::Ready(ready) => Some(ready.clone()),
        _ => None,
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
        Message::Finished { attribution, .. } => Some(attribution.clone()),
        _ => None,
    })?;
    emit(Event::Peer(super::child::peer_report(job, Some(theirs))));
    Ok(())
}
