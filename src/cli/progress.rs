//! What a person sees while a command waits or tests: stderr only, never part of the answer.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::{Event, Watch};
use crate::smoke;

/// Told what is going on. Nothing depends on it.
pub trait Progress {
    /// A step begins; one sentence.
    fn say(&self, text: &str);

    /// The same step begins or goes on; `rest` changes with time and is shown only where lines can
    /// be overwritten.
    fn tick(&self, text: &str, rest: &str);

    /// Clears what can be cleared, before the answer is written.
    fn clear(&self);
}

/// Says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Silent;

impl Progress for Silent {
    fn say(&self, _text: &str) {}
    fn tick(&self, _text: &str, _rest: &str) {}
    fn clear(&self) {}
}

/// One plain line per step, for logs: no times, so that equal hosts log equal lines.
struct Lines<'a> {
    out: RefCell<&'a mut dyn Write>,
    last: RefCell<String>,
}

impl Progress for Lines<'_> {
    fn say(&self, text: &str) {
        // A log that cannot be written to must not stop the work.
        let _ = writeln!(self.out.borrow_mut(), "{text}");
        text.clone_into(&mut self.last.borrow_mut());
    }
    fn tick(&self, text: &str, _rest: &str) {
        if *self.last.borrow() != text {
            self.say(text);
        }
    }
    fn clear(&self) {}
}

/// A line with a spinner and the elapsed time.
struct Spinner(ProgressBar);

impl Spinner {
    fn new() -> Spinner {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Spinner(bar)
    }
}

impl Progress for Spinner {
    fn say(&self, text: &str) {
        self.0.reset_elapsed();
        self.0.set_message(text.to_owned());
    }
    fn tick(&self, text: &str, rest: &str) {
        self.0.set_message(format!("{text}{rest}"));
    }
    fn clear(&self) {
        self.0.finish_and_clear();
    }
}

/// The progress that fits: none when quiet, a spinner on a terminal, else lines.
pub(super) fn to_stderr<'a>(quiet: bool, err: &'a mut dyn Write) -> Box<dyn Progress + 'a> {
    if !quiet && std::io::stderr().is_terminal() {
        return Box::new(Spinner::new());
    }
    lines(quiet, err)
}

/// Progress as plain lines wherever stderr goes: a server's log.
pub(super) fn lines<'a>(quiet: bool, err: &'a mut dyn Write) -> Box<dyn Progress + 'a> {
    if quiet {
        Box::new(Silent)
    } else {
        Box::new(Lines { out: RefCell::new(err), last: RefCell::default() })
    }
}

/// Follows the engine: tells its events, and stops it at a signal or at the deadline.
pub struct Follow<'a> {
    /// Where events are told.
    pub progress: &'a dyn Progress,
    /// True when the run must stop.
    pub stop: &'a dyn Fn() -> bool,
}

impl Watch for Follow<'_> {
    fn see(&self, event: Event<'_>) {
        self.progress.say(&match event {
            Event::Change(change) => change.to_string(),
            Event::Wait { claim, .. } => format!("wait until {claim}"),
            Event::Undo(change) => format!("undo: {change}"),
        });
    }

    fn wants_stop(&self) -> bool {
        (self.stop)()
    }
}

/// Tells what a smoke test of a port is doing.
pub(super) fn tell(progress: &dyn Progress, netdev: &str, event: &smoke::Progress) {
    match event {
        smoke::Progress::WaitingForPeer { peer, port, remaining_s } => {
            let text = format!("{netdev}: wait for the peer {peer}, TCP port {port}");
            progress.tick(&text, &format!(", {remaining_s} s left"));
        }
        smoke::Progress::Queued { place } => {
            progress.say(&format!("{netdev}: the peer is busy, tests before this one: {place}"));
        }
        smoke::Progress::Testing(spec) => {
            progress.say(&format!("{netdev}: test {} of {} B", spec.test, spec.size_bytes));
        }
        smoke::Progress::Client { peer, what } => progress.say(&format!("{peer}: {what}")),
        smoke::Progress::Stage(_) | smoke::Progress::Figure(_) => {}
    }
}
