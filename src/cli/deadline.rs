//! `--deadline`: a look that hangs in the kernel must not hang the program.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::facts::{Facts, Scope};
use crate::host::linux::spawn_deaf;
use crate::host::{Look, LookError};

/// A [`Look`] that another thread can be waited for in.
pub(super) type SharedLook = Arc<dyn Look + Send + Sync>;

/// The text by which a passed deadline is told from other failed looks.
const PASSED: &str = "the deadline passed before the look was complete";

/// Bounds every look by one point in time. The thread of a look that is late is left behind: it
/// hangs in the kernel, where nothing can end it, and it changes nothing.
pub(super) struct Timed {
    inner: SharedLook,
    end: Instant,
}

impl Timed {
    pub(super) fn until(inner: SharedLook, end: Instant) -> Timed {
        Timed { inner, end }
    }
}

/// Whether this is the error of a passed deadline.
pub(super) fn has_passed(error: &LookError) -> bool {
    error.why == PASSED
}

/// Waits for `read` in a thread of its own, until `end`. A thread that is late is left behind.
///
/// # Errors
/// Those of `read`; the deadline passed, or no thread could be started.
pub(super) fn within<T: Send + 'static>(
    end: Instant,
    what: &str,
    read: impl FnOnce() -> Result<T, LookError> + Send + 'static,
) -> Result<T, LookError> {
    let failed = |why: String| LookError { what: what.to_owned(), why };
    let (sender, receiver) = mpsc::channel();
    spawn_deaf("look", move || {
        // Nobody listens any more when the deadline has passed.
        let _ = sender.send(read());
    })
    .map_err(|error| failed(format!("cannot start a thread: {error}")))?;
    match receiver.recv_timeout(end.saturating_duration_since(Instant::now())) {
        Ok(looked) if Instant::now() < end => looked,
        Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => Err(failed(PASSED.to_owned())),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(failed("the look ended without an answer".to_owned()))
        }
    }
}

impl Look for Timed {
    fn look(&self, scope: &Scope) -> Result<Facts, LookError> {
        let (inner, scope) = (Arc::clone(&self.inner), scope.clone());
        within(self.end, "the host", move || inner.look(&scope))
    }

    fn host(&self) -> Result<String, LookError> {
        self.inner.host()
    }

    fn now(&self) -> Duration {
        self.inner.now()
    }

    fn pause(&self, time: Duration) {
        self.inner.pause(time.min(self.end.saturating_duration_since(Instant::now())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stuck;

    impl Look for Stuck {
        fn look(&self, _scope: &Scope) -> Result<Facts, LookError> {
            std::thread::sleep(Duration::from_secs(5));
            Ok(Facts::default())
        }
        fn host(&self) -> Result<String, LookError> {
            Ok(String::new())
        }

        fn now(&self) -> Duration {
            Duration::ZERO
        }
        fn pause(&self, _time: Duration) {}
    }

    #[test]
    fn a_look_that_hangs_ends_at_the_deadline() {
        let start = Instant::now();
        let timed = Timed::until(Arc::new(Stuck), start + Duration::from_millis(50));
        let error = timed.look(&Scope::default()).expect_err("a late look");
        assert!(has_passed(&error), "{error}");
        assert_eq!(
            error.to_string(),
            "cannot read the host: the deadline passed before the look was complete"
        );
        assert!(start.elapsed() < Duration::from_secs(3));
    }
}
