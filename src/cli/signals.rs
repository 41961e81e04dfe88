//! SIGINT and SIGTERM as a question: an apply undoes what it changed before it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal, raise};

/// Set by the thread that waits for signals.
static STOP: AtomicBool = AtomicBool::new(false);
/// Set when nothing is left that would have to be undone.
static RELEASED: AtomicBool = AtomicBool::new(false);

/// Whether to go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    end: Option<Instant>,
}

impl Stop {
    /// Stops at SIGINT, SIGTERM and SIGHUP, and when the deadline has passed. The signals are taken
    /// by a thread of their own, so that no code runs in a signal handler; this must come before
    /// any other thread is started, because threads inherit the mask.
    pub(super) fn watch(deadline: Option<Duration>) -> Stop {
        let signals = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
        if signals.thread_block().is_ok() {
            // Without the thread the signals stay blocked and the deadlines end the program.
            let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
                while let Ok(signal) = signals.wait() {
                    STOP.store(true, Ordering::SeqCst);
                    if RELEASED.load(Ordering::SeqCst) && signals.thread_unblock().is_ok() {
                        // The default action ends the program, as it does without this thread.
                        let _ = raise(signal);
                    }
                }
            });
        }
        Stop { end: deadline.and_then(|deadline| Instant::now().checked_add(deadline)) }
    }

    /// From now on a signal ends the program as usual: the host is as it is to stay.
    pub(super) fn release(self) {
        RELEASED.store(true, Ordering::SeqCst);
    }

    /// What is left of the deadline, if there is one.
    pub(super) fn left(self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// True when the run must stop.
    pub(super) fn wanted(self) -> bool {
        STOP.load(Ordering::SeqCst) || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
