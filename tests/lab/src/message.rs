//! What the lab and the agent in a guest say to each other: one JSON value a line.

use serde::{Deserialize, Serialize};

/// The name of the virtio-serial port.
pub(crate) const PORT: &str = "roce.lab";

/// From the lab. Several may be open at once; the answer carries the same `id`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) ask: Ask,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum Ask {
    /// Run to the end, or to the deadline.
    Run(Script),
    /// Start, and answer at once with a handle.
    Spawn(Script),
    /// Wait for what was spawned; its handle is gone afterwards.
    Wait { handle: u64, seconds: f64 },
    /// What a spawned command has written so far.
    Peek { handle: u64 },
    /// Send a signal to a spawned command and what it started.
    Signal { handle: u64, signal: i32 },
    /// Write a file, with its folders.
    Write { path: String, text: String },
    /// Kill every process that is not the guest's own, and wait until they are gone.
    Sweep,
}

/// A shell script and who runs it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Script {
    pub(crate) text: String,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) who: Who,
    /// After that many seconds it is killed. Not for `Spawn`.
    pub(crate) seconds: f64,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) enum Who {
    #[default]
    Root,
    /// The user nobody, with these capabilities ("net_admin") in its ambient set.
    Nobody(Vec<String>),
}

/// From the agent. The first line of a guest is an answer to request 0.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Reply {
    pub(crate) id: u64,
    pub(crate) answer: Answer,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum Answer {
    /// The agent runs.
    Ready,
    Done,
    Ran(Ending),
    Spawned {
        handle: u64,
    },
    /// The agent could not do it.
    Failed {
        why: String,
    },
}

/// How a command ended, or what it has said so far.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Ending {
    /// The exit code, or 128 + signal. None: it still runs, or was killed at its deadline.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Measured in the guest, from before the start to the end, in seconds.
    pub(crate) seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_line_whatever_is_in_it() {
        let script = Script { text: "printf 'a\nb'".into(), seconds: 1.5, ..Script::default() };
        let request = Request { id: 7, ask: Ask::Run(script) };
        let line = serde_json::to_string(&request).unwrap_or_default();
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(serde_json::from_str::<Request>(&line).ok(), Some(request));
    }
}
