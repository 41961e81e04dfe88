//! A call into the kernel that may never return, waited for no longer than a deadline.
//!
//! Netlink requests are carried out inside `sendmsg`, and `delete_module` inside the system call: no
//! receive time-out ends them. The call runs in another thread, which is left behind if it hangs, and
//! serves the next call if it does not.

use std::io;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::{SigSet, SigmaskHow};

/// Reading: the kernel answers these in microseconds.
pub(crate) const READ: Duration = Duration::from_secs(3);
/// Changing one setting; the slowest seen is a devlink parameter that replugs RDMA devices.
pub(crate) const CHANGE: Duration = Duration::from_secs(30);

/// The call did not return in time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Late(pub(crate) Duration);

impl std::fmt::Display for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no answer from the kernel in {} s", self.0.as_secs())
    }
}

type Work = Box<dyn FnOnce() + Send>;

/// A thread that waits for work. One that hangs in a call is never put back.
static IDLE: Mutex<Option<Sender<Work>>> = Mutex::new(None);

/// Runs `call` and waits for it.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Late> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let (answer, wait) = mpsc::sync_channel(1);
    let work: Work = Box::new(move || {
        // The receiver is gone when the deadline has passed: nobody wants the answer any more.
        let _ = answer.send(call());
    });
    let waiting = idle().take();
    let Some(worker) = waiting.or_else(start) else { return Err(Late(Duration::ZERO)) };
    // A worker that panicked does not take work; its caller hears of it as of one that hangs.
    if worker.send(work).is_err() {
        return Err(Late(Duration::ZERO));
    }
    let answer = wait.recv_timeout(limit).map_err(|_| Late(limit))?;
    *idle() = Some(worker);
    Ok(answer)
}

/// A fresh thread; none when the process may not have another.
fn start() -> Option<Sender<Work>> {
    let (worker, work) = mpsc::channel::<Work>();
    let serve = move || {
        while let Ok(call) = work.recv() {
            call();
        }
    };
    spawn_deaf("kernel", serve).ok()?;
    Some(worker)
}

/// A thread that no signal is delivered to. A signal to the process goes to any thread that does not
/// block it: one that was started before the program asked for SIGTERM would end it unasked.
///
/// # Errors
/// When the process may not have another thread.
pub(crate) fn spawn_deaf<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    // The new thread inherits the mask, so that there is no moment in which it hears.
    let own = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    own.thread_set_mask()?;
    thread
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::Signal;

    use super::*;

    #[test]
    fn a_call_that_hangs_ends_at_the_deadline() {
        let late = within(Duration::from_millis(20), || thread::sleep(Duration::from_secs(5)));
        assert_eq!(late, Err(Late(Duration::from_millis(20))));
        assert_eq!(within(READ, || 7), Ok(7));
    }

    #[test]
    fn a_thread_aside_hears_no_signal_and_its_starter_still_does() {
        let before = SigSet::thread_get_mask().expect("the mask");
        let deaf = spawn_deaf("deaf", || SigSet::thread_get_mask().expect("the mask"));
        let deaf = deaf.expect("a thread").join().expect("its end");
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            assert!(deaf.contains(signal), "{signal} is delivered to the thread");
        }
        assert_eq!(SigSet::thread_get_mask().expect("the mask"), before);
        let worker = within(READ, || SigSet::thread_get_mask().expect("the mask"));
        assert!(worker.expect("an answer").contains(Signal::SIGTERM));
    }
}
