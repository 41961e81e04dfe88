//! Waiting by looking: fast enough for microseconds, fair to others, and never past a deadline or a
//! peer's end.

use std::hint;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use super::session::check_peer;
use super::trouble::Trouble;
use super::wire::Wire;

/// Looks between two looks at the clock.
const LOOKS_PER_CLOCK: u64 = 64;
/// While waiting long, how often the control connection is looked at for the peer's end.
const PEER_CHECK: Duration = Duration::from_millis(20);
/// Looks after which the processor is offered to others: some microseconds' worth.
const LOOKS_BEFORE_YIELD: u64 = 4096;
/// Pause between looks where there is only one processor: on it, what is waited for (the kernel's
/// network thread, the other end of a loopback) runs only while this process sleeps. Yielding is
/// not enough: the scheduler may come back at once until the next tick, milliseconds later.
const PAUSE: Duration = Duration::from_micros(20);
/// Whether there is only one processor.
static ALONE: LazyLock<bool> =
    LazyLock::new(|| thread::available_parallelism().is_ok_and(|count| count.get() == 1));

/// What a look around found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Go on.
    Again,
    /// The deadline has passed.
    Late,
}

/// One wait.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    looks: u64,
    next_check: Option<Instant>,
}

impl Patience {
    /// To be called after each look that did not find what is waited for.
    ///
    /// # Errors
    /// The peer's end or failure.
    #[inline]
    pub(crate) fn look_around(
        &mut self,
        deadline: Instant,
        wire: &mut Wire,
    ) -> Result<Look, Trouble> {
        self.looks += 1;
        if !self.looks.is_multiple_of(LOOKS_PER_CLOCK) {
            hint::spin_loop();
            return Ok(Look::Again);
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(Look::Late);
        }
        if *self.next_check.get_or_insert(now + PEER_CHECK) <= now {
            check_peer(wire)?;
            self.next_check = Some(now + PEER_CHECK);
        }
        if *ALONE {
            thread::sleep(PAUSE);
        } else if self.looks >= LOOKS_BEFORE_YIELD {
            thread::yield_now();
        }
        Ok(Look::Again)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::super::protocol::Message;
    use super::super::wire::WireError;
    use super::*;

    fn wait(deadline: Duration, far: impl FnOnce(Wire)) -> Result<Look, Trouble> {
        let (near, other) = UnixStream::pair().expect("a socket pair");
        let mut wire = Wire::new(near.into()).expect("a wire");
        far(Wire::new(other.into()).expect("a wire"));
        let deadline = Instant::now() + deadline;
        let mut patience = Patience::default();
        loop {
            match patience.look_around(deadline, &mut wire) {
                Ok(Look::Again) => {}
                end => return end,
            }
        }
    }

    #[test]
    fn a_wait_ends_at_its_deadline() {
        let begin = Instant::now();
        let mut kept = None;
        assert_eq!(wait(Duration::from_millis(100), |far| kept = Some(far)), Ok(Look::Late));
        assert!(begin.elapsed() < Duration::from_secs(2), "took {:?}", begin.elapsed());
    }

    #[test]
    fn a_wait_ends_with_the_peer_long_before_its_deadline() {
        let begin = Instant::now();
        let long = Duration::from_secs(30);
        assert_eq!(wait(long, drop), Err(Trouble::Wire(WireError::Closed)));
        let failed = |mut far: Wire| {
            let why = "no memory".to_owned();
            far.send(&Message::Failed { why }, Instant::now() + long).expect("a message");
        };
        assert_eq!(wait(long, failed), Err(Trouble::Peer("no memory".to_owned())));
        assert!(begin.elapsed() < Duration::from_secs(2), "took {:?}", begin.elapsed());
    }
}
