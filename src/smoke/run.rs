//! One run from this end: find the peer, start the traffic, keep the deadline, say what came of it.

use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use nix::unistd::{gethostname, getpid};

use super::address::{netdev_mtu, socket_address};
use super::approach::{answered, control_stage, neighbour_stage, refusal, sentence};
use super::event::sysfs;
use super::job::{Endpoint, Job, Peer};
use super::outcome::{Ending, Kind, Progress, Role, SmokeOutcome, SmokeRung, Stage, Verdict};
use super::protocol::{Hello, Identity, compare};
use super::rendezvous::{Kept, Meeting, NotMet, call, meet};
use super::session::ChildJob;
use super::supervise::{End, command, supervise};

/// How much earlier than its parent's deadline a child gives up: it can still say why, and its peer
/// hears of it.
const MARGIN: Duration = Duration::from_millis(1500);

/// Runs the smoke test that `job` describes.
///
/// It ends by the sum of the job's own limits, the wait for the peer and that for the traffic, plus
/// two seconds for a process that the kernel does not let go.
pub fn run(job: &Job, progress: &mut dyn FnMut(Progress)) -> SmokeOutcome {
    let mut outcome = SmokeOutcome::begin(job);
    if let Some(why) = refusal(job) {
        return outcome.finish(Some(Ending::Refused { why }));
    }
    let own = identity(&job.endpoint);
    let kept = match job.peer {
        Peer::Loopback => return loopback(job, own, outcome, progress),
        Peer::Serving { .. } => {
            call(&meeting(job, &own), Instant::now() + job.limits.queue, progress)
        }
        Peer::Rendezvous { wait, .. } => meet(&meeting(job, &own), Instant::now() + wait, progress),
    };
    // A peer that answered has a neighbour entry or is behind a router: an unanswered one is then
    // an old one.
    if let Some(stage) =
        neighbour_stage(job).filter(|stage| kept.is_err() || stage.verdict != Verdict::Unmet)
    {
        show(&mut outcome, stage, progress);
    }
    let kept = match kept {
        Ok(kept) => kept,
        Err(NotMet::NeverCame(error)) if error.as_ref().is_none_or(|error| !answered(error)) => {
            let tried = error
                .map(|error| format!("; the last call: {}", sentence(&error)))
                .unwrap_or_default();
            let peer = job.peer_address();
            let stage = Stage::unmet(SmokeRung::Peer, format!("{peer} did not come within the wait{tried}")).because(
                "the peer's own run has not begun, or a firewall drops the control port on both ends",
                &format!("test the link later: `roce-setup serve` on the peer, then `roce-setup smoke` here (port {})", job.port),
            );
            show(&mut outcome, stage, progress);
            return outcome.finish(Some(Ending::PeerNeverCame));
        }
        Err(not_met) => {
            show(&mut outcome, control_stage(job, not_met), progress);
            return outcome.finish(None);
        }
    };
    show(
        &mut outcome,
        Stage::met(SmokeRung::Peer, format!("{} is there", job.peer_address())),
        progress,
    );
    traffic(job, own, kept, outcome, &AtomicBool::new(false), progress)
}

/// The traffic over a kept control connection, as this end's outcome.
pub(super) fn traffic(
    job: &Job,
    own: Identity,
    kept: Kept,
    mut outcome: SmokeOutcome,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> SmokeOutcome {
    let way = match kept.role {
        Role::Initiator => "connected to",
        Role::Responder => "accepted from",
    };
    let observed = format!("control connection {way} {} port {}", job.peer_address(), job.port);
    show(&mut outcome, Stage::met(SmokeRung::Control, observed), progress);
    outcome.role = Some(kept.role);
    outcome.differences = compare(&own, &kept.peer, None);
    let (child, time) = child_job(job, kept.role, own, kept.peer, kept.hello);
    let deadline = Instant::now() + time;
    let end = command(&child).and_then(|command| {
        supervise(command, kept.wire.into_socket(), deadline, stop, &mut |event| {
            if let Some(shown) = outcome.fold(event) {
                progress(shown);
            }
        })
    });
    conclude(outcome, end, progress)
}

/// Both ends on this port, each in a process of its own, over a socket pair.
fn loopback(
    job: &Job,
    own: Identity,
    mut outcome: SmokeOutcome,
    progress: &mut dyn FnMut(Progress),
) -> SmokeOutcome {
    outcome.role = Some(Role::Initiator);
    let (near, far) = match UnixStream::pair() {
        Ok(pair) => pair,
        Err(error) => {
            let stage = Stage::unmet(SmokeRung::Control, format!("making a socket pair: {error}"));
            show(&mut outcome, stage, progress);
            return outcome.finish(None);
        }
    };
    show(
        &mut outcome,
        Stage::met(SmokeRung::Control, "both ends are on this port (socket pair)"),
        progress,
    );
    let hello = Hello::new(own.clone(), job.tests.clone());
    let child = |role| child_job(job, role, own.clone(), own.clone(), hello.clone());
    let ((initiator, time), (responder, _)) = (child(Role::Initiator), child(Role::Responder));
    let deadline = Instant::now() + time;
    let stop = AtomicBool::new(false);
    let end = thread::scope(|scope| {
        // What goes wrong at the far end reaches the near one over the control connection; its
        // death closes it.
        scope.spawn(|| {
            let _ = command(&responder)
                .and_then(|command| supervise(command, far.into(), deadline, &stop, &mut |_| {}));
        });
        let end = command(&initiator).and_then(|command| {
            supervise(command, near.into(), deadline, &stop, &mut |event| {
                if let Some(shown) = outcome.fold(event) {
                    progress(shown);
                }
            })
        });
        if !matches!(end, Ok(End::Done)) {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
        end
    });
    conclude(outcome, end, progress)
}

/// Adds what the end of the traffic process says, and finishes.
fn conclude(
    mut outcome: SmokeOutcome,
    end: std::io::Result<End>,
    progress: &mut dyn FnMut(Progress),
) -> SmokeOutcome {
    let rung = outcome.under_way();
    let what = match outcome.figures.len() {
        0 => String::new(),
        count => format!(" after {count} tests"),
    };
    let stage = match end {
        Ok(End::Done) => None,
        Ok(End::Died(how)) => {
            Some(Stage::unmet(rung, format!("the traffic process ended by itself{what}: {how}")))
        }
        Ok(End::Late(stuck)) => {
            let stuck = stuck.map(|stuck| format!("; {stuck}")).unwrap_or_default();
            Some(
                Stage::unmet(
                    rung,
                    format!("the traffic process was killed at its deadline{what}{stuck}"),
                )
                .because(
                    "a verbs call did not return: the driver or the device hangs",
                    "look at the kernel log (`dmesg`) for messages of the driver",
                ),
            )
        }
        Ok(End::Stopped) => Some(Stage::unmet(
            rung,
            format!("the traffic was stopped{what} because this program ends"),
        )),
        Err(error) => Some(Stage::unmet(
            rung,
            format!("starting the traffic process /proc/self/exe: {error}"),
        )),
    };
    if let Some(stage) = stage
        && outcome.diagnosis().is_none()
    {
        outcome.stages.retain(|earlier| earlier.rung != stage.rung);
        show(&mut outcome, stage, progress);
    }
    outcome.finish(None)
}

fn show(outcome: &mut SmokeOutcome, stage: Stage, progress: &mut dyn FnMut(Progress)) {
    progress(Progress::Stage(stage.clone()));
    outcome.stages.push(stage);
}

/// What this end says of itself.
pub(super) fn identity(endpoint: &Endpoint) -> Identity {
    Identity {
        host: gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        netdev_mtu_bytes: netdev_mtu(sysfs(), &endpoint.netdev),
        endpoint: endpoint.clone(),
    }
}

fn meeting(job: &Job, own: &Identity) -> Meeting {
    let netdev = &job.endpoint.netdev;
    let address = |ip| -> SocketAddr { socket_address(ip, job.port, netdev) };
    Meeting {
        local: address(job.endpoint.local),
        peer: address(job.peer_address()),
        hello: Hello::new(own.clone(), job.tests.clone()),
    }
}

/// The child's order, with the tests of the end that called, and the time for them.
fn child_job(
    job: &Job,
    role: Role,
    own: Identity,
    peer: Identity,
    hello: Hello,
) -> (ChildJob, Duration) {
    let time = job.limits.traffic_time(&hello.tests);
    let child_time = time - MARGIN.min(time / 4);
    let child = ChildJob {
        role,
        kind: if job.peer == Peer::Loopback { Kind::Loopback } else { Kind::Link },
        own,
        peer,
        peer_address: job.peer_address(),
        port: job.port,
        tests: hello.tests,
        deadline_ms: u64::try_from(child_time.as_millis()).unwrap_or(u64::MAX),
        parent_pid: getpid().as_raw(),
    };
    (child, time)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
