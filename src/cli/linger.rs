//! `smoke.linger`: a responder that stays for a peer that comes later.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::report::Report;
use crate::smoke::Ending;

/// Leaves a `serve` behind for the interfaces whose peer never came, and says so in the report.
pub(super) fn leave_responder(report: &mut Report, profile: &Path, host: &str, stay: Duration) {
    let waiting: Vec<String> = report
        .smoke
        .iter()
        .filter(|outcome| outcome.ending == Ending::PeerNeverCame)
        .map(|outcome| outcome.netdev.clone())
        .collect();
    if waiting.is_empty() {
        return;
    }
    let names = waiting.join(", ");
    // By its path, so that `ps` shows its name and not "exe".
    let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    let mut command = Command::new(program);
    command.arg("serve").arg(profile).args(["--quiet", "--host", host]);
    command.arg("--for").arg(stay.as_secs().to_string());
    for name in &waiting {
        command.arg("--interface").arg(name);
    }
    // A group of its own: the signals of the terminal are not for it.
    command.env_clear().process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    report.notes.push(match command.spawn() {
        Ok(child) => format!(
            "a responder stays for the peer of {names} for {} s: pid {}",
            stay.as_secs(),
            child.id()
        ),
        Err(error) => format!("no responder stays for the peer of {names}: {error}"),
    });
}
