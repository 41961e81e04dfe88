//! The parent's side of a traffic process: start it, hear it, end it in time.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::child::SUBCOMMAND;
use super::event::Event;
use super::session::ChildJob;

/// How often the stop flag is looked at.
const GLANCE: Duration = Duration::from_millis(100);
/// How long a killed process may take to go. One that takes longer is held by the kernel.
const BURIAL: Duration = Duration::from_secs(1);
/// The longest line of a child, and what is kept of its standard error.
const MAX_LINE_BYTES: u64 = 64 << 10;
const MAX_ERROR_BYTES: u64 = 4 << 10;

/// How a traffic process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It said all it had to say.
    Done,
    /// It ended without; how, and what it left on standard error.
    Died(String),
    /// It was killed at the deadline; where the kernel held it, if it did not go.
    Late(Option<String>),
    /// It was killed because this process is to stop.
    Stopped,
}

/// The command that runs one end of the traffic over `socket`.
pub(crate) fn command(job: &ChildJob) -> io::Result<Command> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(SUBCOMMAND).arg(serde_json::to_string(job)?);
    Ok(command)
}

/// Runs a traffic process to its end, `deadline` at the latest, and hands its events to `sink`.
///
/// # Errors
/// When the process could not be started.
pub(crate) fn supervise(
    mut command: Command,
    socket: OwnedFd,
    deadline: Instant,
    stop: &AtomicBool,
    sink: &mut dyn FnMut(Event),
) -> io::Result<End> {
    let mut child =
        command.stdin(Stdio::from(socket)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // The command holds the parent's copy of the socket; the peer must see the end of the
    // connection when the child ends.
    drop(command);
    let events = child.stdout.take().map(listen);
    let errors = child.stderr.take().map(collect);
    let end = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break End::Late(bury(&mut child));
        }
        if stop.load(Ordering::Relaxed) {
            bury(&mut child);
            break End::Stopped;
        }
        match events.as_ref().map(|events| events.recv_timeout(left.min(GLANCE))) {
            Some(Ok(Event::Done)) => break End::Done,
            Some(Ok(event)) => sink(event),
            Some(Err(RecvTimeoutError::Timeout)) => {}
            Some(Err(RecvTimeoutError::Disconnected)) | None => break End::Died(String::new()),
        }
    };
    match end {
        End::Done => {
            // What it does after its last word is the kernel's cleaning up, which may hang as
            // everything else may.
            if wait(&mut child, BURIAL).is_none() {
                bury(&mut child);
            }
            Ok(End::Done)
        }
        End::Died(_) => {
            let status = wait(&mut child, BURIAL);
            if status.is_none() {
                bury(&mut child);
            }
            let said =
                errors.and_then(|errors| errors.recv_timeout(GLANCE).ok()).unwrap_or_default();
            Ok(End::Died(describe(status, said.trim())))
        }
        other => Ok(other),
    }
}

/// Reads the child's events in a thread of its own: a pipe has no read with a deadline.
fn listen(stdout: impl Read + Send + 'static) -> Receiver<Event> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            match reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                // Anything that is not an event was printed by a library.
                Ok(_) => {
                    if let Ok(event) = serde_json::from_slice(&line)
                        && sender.send(event).is_err()
                    {
                        return;
                    }
                }
            }
        }
    });
    receiver
}

/// Reads the child's standard error to its end and keeps the beginning.
fn collect(stderr: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut stderr = stderr;
        let mut kept = Vec::new();
        let _ = stderr.by_ref().take(MAX_ERROR_BYTES).read_to_end(&mut kept);
        let _ = io::copy(&mut stderr, &mut io::sink());
        let _ = sender.send(String::from_utf8_lossy(&kept).into_owned());
    });
    receiver
}

/// Kills a process and waits for its end; says where the kernel holds it when it does not go.
fn bury(child: &mut Child) -> Option<String> {
    let _ = child.kill();
    if wait(child, BURIAL).is_some() {
        return None;
    }
    let pid = child.id();
    let read =
        |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let stat = read("stat");
    // The state follows the command name, which is in parentheses and may hold any character.
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.split_whitespace().next().map(str::to_owned));
    let stack = read("stack").lines().next().unwrap_or_default().trim().to_owned();
    let place = [read("wchan").trim().to_owned(), stack]
        .into_iter()
        .find(|place| !place.is_empty() && place != "0");
    Some(format!(
        "process {pid} does not end when killed: state {}, in {}",
        state.unwrap_or_else(|| "unknown".to_owned()),
        place.unwrap_or_else(|| "an unknown kernel function".to_owned())
    ))
}

/// Waits for a process's end, `longest` at most.
fn wait(child: &mut Child, longest: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + longest;
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn describe(status: Option<ExitStatus>, said: &str) -> String {
    let how = match status {
        None => "it closed its output and did not end".to_owned(),
        Some(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => format!("it was ended by signal {signal}"),
            (None, code) => format!("it ended with code {}", code.unwrap_or(-1)),
        },
    };
    if said.is_empty() { how } else { format!("{how} and said: {said}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    fn shell(script: &str, deadline: Duration) -> (End, Vec<Event>) {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        let (_ours, theirs) = UnixStream::pair().expect("a socket pair");
        let mut events = Vec::new();
        let stop = AtomicBool::new(false);
        let end =
            supervise(command, theirs.into(), Instant::now() + deadline, &stop, &mut |event| {
                events.push(event)
            })
            .expect("a shell");
        (end, events)
    }

    #[test]
    fn a_child_that_says_done_is_done_and_its_noise_is_ignored() {
        let script = r#"echo noise; echo '{"event":"testing","value":{"test":"read-lat","size_bytes":2,"bidirectional":false,"queue_pairs":1,"depth":1,"until":{"sure":{"budget_ms":1000}}}}'; echo '{"event":"done"}'"#;
        let (end, events) = shell(script, Duration::from_secs(10));
        let spec = super::super::TestSpec::usual(super::super::TestKind::ReadLat, 2);
        assert_eq!((end, events), (End::Done, vec![Event::Testing(spec)]));
    }

    #[test]
    fn a_child_that_ends_early_is_described_with_what_it_said() {
        let (end, _) = shell("echo provider broken >&2; exit 3", Duration::from_secs(10));
        assert_eq!(end, End::Died("it ended with code 3 and said: provider broken".to_owned()));
        let (end, _) = shell("kill -SEGV $$", Duration::from_secs(10));
        assert_eq!(end, End::Died("it was ended by signal 11".to_owned()));
    }

    #[test]
    fn a_child_that_hangs_is_killed_at_the_deadline() {
        let start = Instant::now();
        let (end, _) = shell("exec sleep 60", Duration::from_millis(300));
        assert_eq!(end, End::Late(None));
        assert!(start.elapsed() < Duration::from_secs(3), "took {:?}", start.elapsed());
    }
}
