//! The traffic process: the program itself, run again under a hidden subcommand, with the control
//! connection as its standard input.
//!
//! It may die or hang at any point without harm: the parent has the deadline, and the kernel frees
//! what the process held.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::getppid;

use super::counters::Counters;
use super::event::Event;
use super::outcome::{Attribution, Kind, PeerReport, Role, SmokeRung, Stage, Verdict};
use super::protocol::Message;
use super::session::ChildJob;
use super::trouble::Emit;
use super::wire::Wire;
use super::{initiator, responder};

/// The hidden subcommand; its one argument is the job.
pub const SUBCOMMAND: &str = "smoke-child";
/// Time to tell the peer of a failure.
const FAREWELL: Duration = Duration::from_millis(500);

/// Runs one end of the traffic: `job` is the argument of [`SUBCOMMAND`], the control connection is
/// standard input, events go to standard output as JSON lines. Returns the exit code: 0 when the
/// run came to its end, 1 when it failed, 2 when it was not started by a parent.
pub fn main(job: &str) -> u8 {
    let Ok(job) = serde_json::from_str::<ChildJob>(job) else {
        eprintln!("roce-setup {SUBCOMMAND}: this command is for the program itself");
        return 2;
    };
    // The parent's end must be this process's end, also when it is killed before the request below.
    if set_pdeathsig(Signal::SIGKILL).is_err() || getppid().as_raw() != job.parent_pid {
        return 2;
    }
    raise_memlock();
    // `serve` blocks signals for its own loop, and a blocked signal is inherited.
    let _ = SigSet::all().thread_unblock();
    let deadline = Instant::now() + Duration::from_millis(job.deadline_ms);
    let mut stdout = io::stdout().lock();
    let mut emit = |event: Event| {
        if let Ok(mut line) = serde_json::to_string(&event) {
            line.push('\n');
            // A parent that does not listen any more has ended; so will this process.
            let _ = stdout.write_all(line.as_bytes()).and_then(|()| stdout.flush());
        }
    };
    let wire = io::stdin().as_fd().try_clone_to_owned().map_err(|error| error.to_string());
    let mut wire =
        match wire.and_then(|socket| Wire::new(socket).map_err(|error| error.to_string())) {
            Ok(wire) => wire,
            Err(error) => {
                emit(Event::Stage(Stage::unmet(
                    SmokeRung::Control,
                    format!("taking over the control connection: {error}"),
                )));
                emit(Event::Done);
                return 1;
            }
        };
    let result = match job.role {
        Role::Initiator => initiator::run(&job, &mut wire, deadline, &mut emit),
        Role::Responder => responder::run(&job, &mut wire, deadline, &mut emit),
    };
    let code = match result {
        Ok(()) => 0,
        Err((rung, trouble)) => {
            let mut stage = trouble.stage(rung);
            // In loopback both ends meet the same obstacle.
            let theirs = farewell(&mut wire, &trouble.sentence());
            if let Some(theirs) = theirs.filter(|theirs| *theirs != stage.observed) {
                stage.observed = format!("{}; the peer reports: {theirs}", stage.observed);
            }
            emit(Event::Stage(stage));
            emit(Event::Peer(peer_report(&job, None)));
            1
        }
    };
    emit(Event::Done);
    code
}

/// Raises the locked-memory limit as far as this user may: whether other processes have enough is
/// not what this test asks, and siw holds even root to the limit.
fn raise_memlock() {
    let raised = setrlimit(Resource::RLIMIT_MEMLOCK, RLIM_INFINITY, RLIM_INFINITY);
    if raised.is_err()
        && let Ok((_, hard)) = getrlimit(Resource::RLIMIT_MEMLOCK)
    {
        // A registration that does not fit is reported where it fails.
        let _ = setrlimit(Resource::RLIMIT_MEMLOCK, hard, hard);
    }
}

/// Tells the peer why this end gives up, and hears whether it had a reason of its own.
fn farewell(wire: &mut Wire, why: &str) -> Option<String> {
    let soon = Instant::now() + FAREWELL;
    let theirs = match wire.try_receive() {
        Ok(Some(Message::Failed { why })) => Some(why),
        _ => None,
    };
    // The peer may be gone, which is then the reason reported already.
    let _ = wire.send(&Message::Failed { why: why.to_owned() }, soon);
    theirs
}

/// Judges where the payload went, as a stage and as data.
pub(super) fn attribute(
    job: &ChildJob,
    counters: &Counters,
    sent: u64,
    received: u64,
    emit: Emit<'_>,
) -> Attribution {
    let attribution = match job.kind {
        Kind::Loopback => Attribution::NotApplicable {
            why: "loopback proves the device and the library, not the cable".to_owned(),
        },
        Kind::Link => counters.attribute(sent, received),
    };
    let (verdict, observed) = match &attribution {
        Attribution::Attributable { counters, sent_bytes, received_bytes, .. } => (
            Verdict::Met,
            format!(
                "{counters} moved by {sent_bytes} and {received_bytes} bytes, at least the payload of {sent} and {received}"
            ),
        ),
        Attribution::NotAttributable { why } => {
            (Verdict::Unknown, format!("not attributable: {why}"))
        }
        Attribution::NotApplicable { why } => (Verdict::Skipped, why.clone()),
    };
    emit(Event::Stage(Stage {
        rung: SmokeRung::Attributable,
        verdict,
        observed,
        cause: None,
        fix: None,
    }));
    emit(Event::Attribution(attribution.clone()));
    attribution
}

/// What is known of the peer.
pub(super) fn peer_report(job: &ChildJob, attribution: Option<Attribution>) -> PeerReport {
    PeerReport {
        host: job.peer.host.clone(),
        netdev: job.peer.endpoint.netdev.clone(),
        device: job.peer.endpoint.device.clone(),
        address: job.peer.endpoint.local,
        role: job.role.other(),
        attribution,
    }
}
