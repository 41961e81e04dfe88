//! SIGINT and SIGTERM as a question: an apply undoes what it changed before it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};

/// Set by the thread that waits for signals.
static STOP: AtomicBool = AtomicBool::new(false);

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
                while signals.wait().is_ok() {
                    STOP.store(true, Ordering::SeqCst);
                }
            });
        }
        Stop { end: deadline.and_then(|deadline| Instant::now().checked_add(deadline)) }
    }

    /// True when the run must stop.
    pub(super) fn wanted(self) -> bool {
        STOP.load(Ordering::SeqCst) || self.end.is_some_and(|end| Instant::now() >= end)
    }
}
