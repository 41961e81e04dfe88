//! A command in the background of a guest.

use super::Ran;
use super::node::{Node, RUN_SECONDS};
use crate::message::{Answer, Ask};
use std::time::{Duration, Instant};

/// What still runs at the scenario's end is killed.
pub(crate) struct Running<'a> {
    node: &'a Node,
    handle: u64,
    script: String,
}

impl<'a> Running<'a> {
    pub(super) fn new(node: &'a Node, handle: u64, script: &str) -> Self {
        Running { node, handle, script: script.to_owned() }
    }

    /// Waits for its end. Without an end in that time, `code` is None and it runs on.
    #[track_caller]
    pub(crate) fn wait_within(&self, seconds: u64) -> Ran {
        let limit = self.node.deadline.bound(Duration::from_secs(seconds));
        self.ask(Ask::Wait { handle: self.handle, seconds: limit.as_secs_f64() }, limit)
    }

    /// What it has said so far.
    #[track_caller]
    pub(crate) fn so_far(&self) -> Ran {
        self.ask(
            Ask::Peek { handle: self.handle },
            self.node.deadline.bound(Duration::from_secs(RUN_SECONDS)),
        )
    }

    /// Waits until one of its streams has this text.
    #[track_caller]
    pub(crate) fn until_it_says(&self, text: &str, seconds: u64) -> Ran {
        let end = Instant::now() + self.node.deadline.bound(Duration::from_secs(seconds));
        loop {
            let ran = self.so_far();
            if ran.stdout.contains(text) || ran.stderr.contains(text) {
                return ran;
            }
            if ran.code.is_some() || Instant::now() > end {
                return ran.holds(false, &format!("should say {text:?} within {seconds} s"));
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Sends a signal to it and to what it started.
    #[track_caller]
    pub(crate) fn signal(&self, signal: i32) {
        let doing = format!("sending signal {signal} to `{}`", self.script);
        self.node.do_now(&doing, Ask::Signal { handle: self.handle, signal });
    }

    #[track_caller]
    pub(crate) fn kill(&self) {
        self.signal(libc::SIGKILL);
    }

    #[track_caller]
    fn ask(&self, ask: Ask, limit: Duration) -> Ran {
        match self.node.ask(&format!("waiting for `{}`", self.script), ask, limit) {
            Ok(Answer::Ran(ending)) => Ran::new(self.node.name(), &self.script, ending),
            Ok(other) => panic!("{}: another answer than asked for: {other:?}", self.node.name()),
            Err(why) => panic!("{why}"),
        }
    }
}
