//! Commands in the guest: started in a session of their own, read while they run, killed with all
//! they started.

use super::lock;
use crate::message::{Ending, Script, Who};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// More than this of one stream is cut, so that a runaway command does not eat the guest.
const KEPT_BYTES: usize = 4 << 20;

/// How long output is still read after the command's end: what it left in the background may hold
/// the pipes open for ever.
const LAST_WORDS: Duration = Duration::from_millis(500);

#[derive(Default)]
struct State {
    code: Option<i32>,
    seconds: f64,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    open_streams: u8,
}

pub(super) struct Spawned {
    /// Process id, process group and session are the same number.
    group: i32,
    shared: Arc<(Mutex<State>, Condvar)>,
    began: Instant,
}

impl Spawned {
    pub(super) fn start(script: &Script) -> Result<Self, String> {
        let mut command = command(&script.who);
        command
            .args(["-c", &script.text])
            .envs(script.environment.iter().map(|(name, value)| (name, value)))
            .current_dir("/root")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // SAFETY: setsid is async-signal-safe and touches no memory of the parent.
        unsafe {
            command.pre_exec(|| {
                if libc::setsid() < 0 { Err(std::io::Error::last_os_error()) } else { Ok(()) }
            });
        }
        let began = Instant::now();
        let mut child =
            command.spawn().map_err(|e| format!("starting {:?}: {e}", command.get_program()))?;
        let shared =
            Arc::new((Mutex::new(State { open_streams: 2, ..State::default() }), Condvar::new()));
        let group = child.id() as i32;
        if let Some(stream) = child.stdout.take() {
            read_into(stream, Arc::clone(&shared), |state| &mut state.stdout);
        }
        if let Some(stream) = child.stderr.take() {
            read_into(stream, Arc::clone(&shared), |state| &mut state.stderr);
        }
        let waiter = Arc::clone(&shared);
        std::thread::spawn(move || {
            let status = child.wait();
            let seconds = began.elapsed().as_secs_f64();
            let mut state = lock(&waiter.0);
            state.seconds = seconds;
            state.code = Some(match status {
                Ok(status) => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
                Err(_) => 255,
            });
            waiter.1.notify_all();
        });
        Ok(Spawned { group, shared, began })
    }

    /// Waits for the end. With `kill`, a command that is still running then is killed, and its
    /// ending has no code all the same.
    pub(super) fn wait(&self, limit: Duration, kill: bool) -> Ending {
        let (mutex, changed) = &*self.shared;
        let until = |condition: fn(&State) -> bool, limit: Duration| {
            let guard = changed
                .wait_timeout_while(lock(mutex), limit, |state| !condition(state))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            condition(&guard)
        };
        let ended = until(|state| state.code.is_some(), limit);
        if !ended && kill {
            let _ = self.signal(libc::SIGKILL);
            until(|state| state.code.is_some(), Duration::from_secs(5));
        }
        if ended || kill {
            until(|state| state.open_streams == 0, LAST_WORDS);
        }
        let mut ending = self.peek();
        if !ended {
            ending.code = None;
        }
        ending
    }

    pub(super) fn peek(&self) -> Ending {
        let state = lock(&self.shared.0);
        Ending {
            code: state.code,
            stdout: String::from_utf8_lossy(&state.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&state.stderr).into_owned(),
            seconds: if state.code.is_some() {
                state.seconds
            } else {
                self.began.elapsed().as_secs_f64()
            },
        }
    }

    pub(super) fn signal(&self, signal: i32) -> Result<(), String> {
        if lock(&self.shared.0).code.is_some() {
            return Err("the command has ended already".into());
        }
        // SAFETY: kill takes numbers only; the group is the child's own session.
        if unsafe { libc::kill(-self.group, signal) } == 0 {
            return Ok(());
        }
        Err(format!("sending signal {signal}: {}", std::io::Error::last_os_error()))
    }
}

/// The shell, without its arguments.
fn command(who: &Who) -> Command {
    const SHELL: &str = "/bin/sh";
    let Who::Nobody(capabilities) = who else {
        return Command::new(SHELL);
    };
    let mut command = Command::new("/usr/bin/setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    if !capabilities.is_empty() {
        let list = capabilities.iter().map(|name| format!("+{name}")).collect::<Vec<_>>().join(",");
        // Ambient capabilities survive the exec of the shell and of what it starts.
        command.arg(format!("--inh-caps={list}")).arg(format!("--ambient-caps={list}"));
    }
    command.arg(SHELL);
    command
}

fn read_into(
    mut stream: impl Read + Send + 'static,
    shared: Arc<(Mutex<State>, Condvar)>,
    buffer: fn(&mut State) -> &mut Vec<u8>,
) {
    std::thread::spawn(move || {
        let mut chunk = [0; 16384];
        while let Ok(count @ 1..) = stream.read(&mut chunk) {
            let mut state = lock(&shared.0);
            let kept = buffer(&mut state);
            let room = KEPT_BYTES.saturating_sub(kept.len());
            kept.extend_from_slice(&chunk[..count.min(room)]);
        }
        lock(&shared.0).open_streams -= 1;
        shared.1.notify_all();
    });
}
