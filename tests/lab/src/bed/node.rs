//! One guest.

use super::{Deadline, Knobs, Ran, Running};
use crate::channel::{Channel, Silence};
use crate::message::{Answer, Ask, Script, Who};
use crate::qemu::{Emulator, Machine, PORTS};
use crate::qmp::Qmp;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// For commands of which a scenario says nothing else.
pub(super) const RUN_SECONDS: u64 = 60;

/// How much later than the guest the lab gives up.
const MARGIN: Duration = Duration::from_secs(15);

pub(crate) struct Node {
    name: String,
    channel: Channel,
    qmp: Mutex<Qmp>,
    emulator: Mutex<Emulator>,
    console_log: PathBuf,
    console: PathBuf,
    pub(super) deadline: Deadline,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Node {
    pub(super) fn start(machine: &Machine<'_>, deadline: Deadline) -> Result<Self, String> {
        let emulator = machine.start()?;
        Ok(Node {
            name: format!("server{}", machine.node),
            channel: Channel::connect(&machine.socket("control"))?,
            qmp: Mutex::new(Qmp::connect(&machine.socket("qmp"))?),
            emulator: Mutex::new(emulator),
            console_log: machine.console_log(),
            console: machine.socket("console"),
            deadline,
        })
    }

    pub(super) fn wait_ready(&self, limit: Duration) -> Result<(), String> {
        self.channel.wait_ready(limit).map_err(|silence| self.explain("booting", &silence))
    }

    /// The guest's host name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Runs a shell script as root to its end, within 60 s.
    #[track_caller]
    pub(crate) fn run(&self, script: &str) -> Ran {
        self.run_within(RUN_SECONDS, script)
    }

    #[track_caller]
    pub(crate) fn run_within(&self, seconds: u64, script: &str) -> Ran {
        self.run_script(Script { text: script.to_owned(), ..Script::default() }, seconds)
    }

    /// Runs it as the user nobody, with these capabilities ("net_admin") and no others.
    #[track_caller]
    pub(crate) fn run_as_nobody(&self, capabilities: &[&str], script: &str) -> Ran {
        let who = Who::Nobody(capabilities.iter().map(|&name| name.to_owned()).collect());
        self.run_script(Script { text: script.to_owned(), who, ..Script::default() }, RUN_SECONDS)
    }

    /// Runs it with these environment variables.
    #[track_caller]
    pub(crate) fn run_with(&self, environment: &[(&str, &str)], script: &str) -> Ran {
        let environment =
            environment.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        self.run_script(
            Script { text: script.to_owned(), environment, ..Script::default() },
            RUN_SECONDS,
        )
    }

    #[track_caller]
    fn run_script(&self, script: Script, seconds: u64) -> Ran {
        self.try_run(script, seconds).unwrap_or_else(|why| panic!("{why}"))
    }

    /// As the others, but a guest that does not answer is an error and no panic.
    pub(crate) fn try_run(&self, mut script: Script, seconds: u64) -> Result<Ran, String> {
        let limit = self.deadline.bound(Duration::from_secs(seconds));
        script.seconds = limit.as_secs_f64();
        let text = script.text.clone();
        match self.ask(&format!("running `{text}`"), Ask::Run(script), limit)? {
            Answer::Ran(ending) => Ok(Ran::new(&self.name, &text, ending)),
            other => Err(format!("{}: another answer than asked for: {other:?}", self.name)),
        }
    }

    /// Repeats a script every 0.2 s until it exits with 0.
    #[track_caller]
    pub(crate) fn until(&self, seconds: u64, script: &str) -> Ran {
        // The script may end its shell, so each attempt has its own.
        let quoted = script.replace('\'', "'\\''");
        let ran = self.run_within(
            seconds,
            &format!(
                "until said=$(sh -c '{quoted}' 2>&1); do sleep 0.2; done; printf '%s\\n' \"$said\""
            ),
        );
        if ran.code.is_none() {
            let last = self.run(script);
            let _ = last.holds(false, &format!("should have succeeded within {seconds} s"));
        }
        ran
    }

    /// Starts a script in the background.
    #[track_caller]
    pub(crate) fn spawn(&self, script: &str) -> Running<'_> {
        let limit = self.deadline.bound(Duration::from_secs(RUN_SECONDS));
        let ask = Ask::Spawn(Script { text: script.to_owned(), ..Script::default() });
        match self.ask(&format!("starting `{script}`"), ask, limit) {
            Ok(Answer::Spawned { handle }) => Running::new(self, handle, script),
            Ok(other) => panic!("{}: another answer than asked for: {other:?}", self.name),
            Err(why) => panic!("{why}"),
        }
    }

    /// Writes a file, with its folders.
    #[track_caller]
    pub(crate) fn write(&self, path: &str, text: &str) {
        let ask = Ask::Write { path: path.to_owned(), text: text.to_owned() };
        self.do_now(&format!("writing {path}"), ask);
    }

    /// Decides how the next RDMA devices of the stand-in irdma appear.
    #[track_caller]
    pub(crate) fn rdma_knobs(&self, knobs: &Knobs) {
        self.write(Knobs::PATH, &knobs.shell());
    }

    /// Takes the carrier from this end of a port's cable only.
    #[track_caller]
    pub(crate) fn cut(&self, port: &str) {
        self.set_link(port, false);
    }

    #[track_caller]
    pub(crate) fn plug(&self, port: &str) {
        self.set_link(port, true);
    }

    #[track_caller]
    fn set_link(&self, port: &str, up: bool) {
        assert!(PORTS.contains(&port), "a guest has the ports {PORTS:?}, not {port}");
        if let Err(why) = lock(&self.qmp).set_link(port, up) {
            panic!("{}: {why}", self.name);
        }
    }

    /// Ends the guest at once, as a power loss does.
    pub(crate) fn kill(&self) {
        lock(&self.emulator).kill();
    }

    pub(crate) fn runs(&self) -> bool {
        lock(&self.emulator).runs()
    }

    /// The socket of the guest's serial console.
    pub(crate) fn console(&self) -> &PathBuf {
        &self.console
    }

    #[track_caller]
    pub(super) fn do_now(&self, doing: &str, ask: Ask) {
        let limit = self.deadline.bound(Duration::from_secs(RUN_SECONDS));
        match self.ask(doing, ask, limit) {
            Ok(Answer::Done) => {}
            Ok(other) => panic!("{}: another answer than asked for: {other:?}", self.name),
            Err(why) => panic!("{why}"),
        }
    }

    pub(super) fn ask(&self, doing: &str, ask: Ask, limit: Duration) -> Result<Answer, String> {
        if limit.is_zero() {
            return Err(format!("{}: {doing}: the scenario's time is over", self.name));
        }
        match self.channel.ask(ask, limit + MARGIN) {
            Ok(Answer::Failed { why }) => Err(format!("{}: {doing}: {why}", self.name)),
            Ok(answer) => Ok(answer),
            Err(silence) => Err(self.explain(doing, &silence)),
        }
    }

    fn explain(&self, doing: &str, silence: &Silence) -> String {
        let what = match silence {
            Silence::Dead => "the guest has ended".to_owned(),
            Silence::Late(limit) => format!("no answer within {} s", limit.as_secs()),
        };
        let console = std::fs::read(&self.console_log).unwrap_or_default();
        let console = String::from_utf8_lossy(&console);
        let tail = crate::tally::tail(console.trim_end(), 15).replace('\n', "\n    ");
        format!("{}: {doing}: {what}; the end of its console:\n    {tail}", self.name)
    }
}
