//! Loading a module with `modprobe`, which knows dependencies, options, aliases, compression and
//! signatures. Never used for removing: `modprobe -r` takes the modules below along.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::tree::{brief, words};
use crate::host::ActError;

/// Loading a NIC driver resets its ports; half a minute has been seen.
const LIMIT: Duration = Duration::from_secs(60);
/// How long a killed `modprobe` may take to go before it is left behind.
const GRACE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);
const PROGRAMS: [&str; 2] = ["/sbin/modprobe", "/usr/sbin/modprobe"];
/// As much of its complaint as a message can hold.
const LONGEST: u64 = 4096;

/// Loads `module` with `parameters`.
pub(crate) fn load(module: &str, parameters: &BTreeMap<String, String>) -> Result<(), ActError> {
    let program = PROGRAMS.into_iter().find(|path| Path::new(path).exists()).unwrap_or(PROGRAMS[0]);
    let options: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let call = [&[program.to_owned(), module.to_owned()], options.as_slice()].concat().join(" ");
    let failed = |errno, why: String| ActError { call: call.clone(), errno, why };
    if module.starts_with('-') || options.iter().any(|option| option.starts_with('-')) {
        return Err(failed(
            Some(libc::EINVAL),
            "a name that begins with - would be an option".to_owned(),
        ));
    }
    // No environment: MODPROBE_OPTIONS would change what it does.
    let mut child = Command::new(program)
        .args(["--", module])
        .args(&options)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.raw_os_error(), words(&error)))?;
    let complaint = child.stderr.take();
    // Read beside the waiting: a full pipe would block it.
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(stream) = complaint {
            let _ = stream.take(LONGEST).read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    });
    match wait(&mut child, LIMIT) {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => {
            let said = reader.join().unwrap_or_default();
            let said: Vec<&str> =
                said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            let why = if said.is_empty() { status.to_string() } else { said.join("; ") };
            Err(failed(None, why))
        }
        Ok(None) => Err(failed(None, stuck(&mut child))),
        Err(error) => Err(failed(error.raw_os_error(), words(&error))),
    }
}

fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
}

/// Ends a `modprobe` that did not end, and says where in the kernel it hangs if it cannot be ended.
fn stuck(child: &mut Child) -> String {
    let pid = child.id();
    let late = format!("did not end within {} s", LIMIT.as_secs());
    if let Ok(pid) = i32::try_from(pid) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    if matches!(wait(child, GRACE), Ok(Some(_))) {
        return format!("{late} and was killed");
    }
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let state =
        status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or("unknown").trim();
    let place = std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
    format!(
        "{late} and cannot be killed: process {pid} is in state {} at {}",
        brief(state),
        brief(&place)
    )
}
