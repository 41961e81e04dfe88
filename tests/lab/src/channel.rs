//! The lab's end of the line to an agent: many requests at once, each with a deadline.

use crate::message::{Answer, Ask, Reply, Request};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub(crate) enum Silence {
    /// The guest has ended.
    Dead,
    /// It did not answer in that time.
    Late(Duration),
}

/// Requests without an answer yet. None: the guest has ended, and no answer will come.
type Waiting = Arc<Mutex<Option<HashMap<u64, Sender<Answer>>>>>;

pub(crate) struct Channel {
    writer: Mutex<UnixStream>,
    waiting: Waiting,
    next: AtomicU64,
    ready: Mutex<Receiver<Answer>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Channel {
    /// Connects to the emulator's socket, before the guest has started.
    pub(crate) fn connect(path: &Path) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("connecting to {}: {e}", path.display());
        let stream = UnixStream::connect(path).map_err(failed)?;
        let reader = BufReader::new(stream.try_clone().map_err(failed)?);
        let (sender, ready) = channel();
        // The agent's first line answers request 0.
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::from([(0, sender)]))));
        let shared = Arc::clone(&waiting);
        std::thread::spawn(move || {
            deliver(reader, &shared);
            lock(&shared).take();
        });
        Ok(Channel {
            writer: Mutex::new(stream),
            waiting,
            next: AtomicU64::new(1),
            ready: Mutex::new(ready),
        })
    }

    /// Waits for the agent's first word.
    pub(crate) fn wait_ready(&self, limit: Duration) -> Result<(), Silence> {
        receive(&lock(&self.ready), limit).map(|_| ())
    }

    pub(crate) fn ask(&self, ask: Ask, limit: Duration) -> Result<Answer, Silence> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = channel();
        match &mut *lock(&self.waiting) {
            Some(waiting) => waiting.insert(id, sender),
            None => return Err(Silence::Dead),
        };
        let mut line = serde_json::to_vec(&Request { id, ask }).map_err(|_| Silence::Dead)?;
        line.push(b'\n');
        lock(&self.writer).write_all(&line).map_err(|_| Silence::Dead)?;
        let answer = receive(&receiver, limit);
        if let Some(waiting) = &mut *lock(&self.waiting) {
            waiting.remove(&id);
        }
        answer
    }
}

fn receive(receiver: &Receiver<Answer>, limit: Duration) -> Result<Answer, Silence> {
    receiver.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => Silence::Late(limit),
        RecvTimeoutError::Disconnected => Silence::Dead,
    })
}

/// Hands out answers until the guest ends.
fn deliver(reader: BufReader<UnixStream>, waiting: &Waiting) {
    for line in reader.lines() {
        let Ok(line) = line else { return };
        let Ok(reply) = serde_json::from_str::<Reply>(&line) else {
            eprintln!("lab: a guest's reply is not understood: {line}");
            return;
        };
        let sender = match &mut *lock(waiting) {
            Some(waiting) => waiting.remove(&reply.id),
            None => return,
        };
        // Nobody waits any more for an answer that came after its deadline.
        if let Some(sender) = sender {
            let _ = sender.send(reply.answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::Scratch;
    use std::os::unix::net::UnixListener;

    /// A channel whose other end is in the test's hands.
    fn pair() -> (Channel, UnixStream, Scratch) {
        let scratch = Scratch::new("channel").expect("a folder for a socket");
        let path = scratch.path().join("socket");
        let listener = UnixListener::bind(&path).expect("a socket");
        let channel = Channel::connect(&path).expect("a connection");
        let (stream, _) = listener.accept().expect("the other end");
        (channel, stream, scratch)
    }

    #[test]
    fn answers_find_their_requests_in_any_order() {
        let (channel, mut other, _scratch) = pair();
        let limit = Duration::from_secs(10);
        std::thread::scope(|scope| {
            let first = scope.spawn(|| channel.ask(Ask::Peek { handle: 1 }, limit));
            let second = scope.spawn(|| channel.ask(Ask::Peek { handle: 2 }, limit));
            let mut reader = BufReader::new(other.try_clone().expect("a second handle"));
            let mut requests: Vec<Request> = (0..2)
                .map(|_| {
                    let mut line = String::new();
                    reader.read_line(&mut line).expect("a request");
                    serde_json::from_str(&line).expect("JSON")
                })
                .collect();
            requests.reverse();
            for request in requests {
                let Ask::Peek { handle } = request.ask else {
                    panic!("another request: {request:?}")
                };
                let answer = Answer::Spawned { handle: handle * 10 };
                let line = serde_json::to_string(&Reply { id: request.id, answer }).expect("JSON");
                writeln!(other, "{line}").expect("a reply");
            }
            assert_eq!(first.join().expect("no panic"), Ok(Answer::Spawned { handle: 10 }));
            assert_eq!(second.join().expect("no panic"), Ok(Answer::Spawned { handle: 20 }));
        });
    }

    #[test]
    fn a_guest_that_ends_ends_what_waits_for_it() {
        let (channel, other, _scratch) = pair();
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| channel.ask(Ask::Sweep, Duration::from_secs(10)));
            let mut line = String::new();
            BufReader::new(&other).read_line(&mut line).expect("a request");
            drop(other);
            assert_eq!(asked.join().expect("no panic"), Err(Silence::Dead));
        });
        assert_eq!(channel.ask(Ask::Sweep, Duration::from_secs(10)), Err(Silence::Dead));
    }

    #[test]
    fn a_silent_guest_is_late() {
        let (channel, _other, _scratch) = pair();
        let limit = Duration::from_millis(20);
        assert_eq!(channel.ask(Ask::Sweep, limit), Err(Silence::Late(limit)));
        assert_eq!(channel.wait_ready(limit), Err(Silence::Late(limit)));
    }
}
