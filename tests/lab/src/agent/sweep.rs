//! Kills what a scenario left running.

use std::time::{Duration, Instant};

/// Kills every process but the first one, this one and the kernel's own, and waits for their end.
pub(super) fn kill_all_others(limit: Duration) -> Result<(), String> {
    let deadline = Instant::now() + limit;
    loop {
        let others = others()?;
        if others.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            let names: Vec<String> =
                others.iter().map(|pid| format!("{pid} ({})", name(*pid))).collect();
            return Err(format!("still running after SIGKILL: {}", names.join(", ")));
        }
        for pid in others {
            // SAFETY: kill takes numbers only. A process that has ended since is ESRCH, and harmless.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn others() -> Result<Vec<i32>, String> {
    let entries = std::fs::read_dir("/proc").map_err(|e| format!("reading /proc: {e}"))?;
    let me = std::process::id() as i32;
    Ok(entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != 1 && *pid != me)
        // Kernel threads and zombies have no command line.
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
        })
        .collect())
}

fn name(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}
