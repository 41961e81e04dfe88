//! `cargo lab shell`: the guest's serial console on this terminal.

use crate::bed::{DriverSet, Lab, Setup};
use crate::packages;
use crate::product::{self, Profile};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

pub(crate) fn run(set: DriverSet, build: bool) -> Result<ExitCode, String> {
    packages::ensure()?;
    let product = product::provide(Profile::Dev, build)?;
    let setup = Setup::new(product)?;
    eprintln!("booting two guests ({}), cabled back to back", set.name());
    let lab = Lab::boot(&setup, set, 2)?;
    let node = lab.node(1);
    let failed = |e: std::io::Error| format!("connecting to the console: {e}");
    let console = UnixStream::connect(node.console()).map_err(failed)?;
    eprintln!("a shell in {}; `exit` ends both guests", node.name());
    let terminal = RawTerminal::enter();
    let (rows, columns) = terminal.size();
    let shell = node.spawn(&format!(
        "exec </dev/ttyS0 >/dev/ttyS0 2>&1; stty sane rows {rows} cols {columns}; export TERM=linux; \
         exec setsid --ctty --wait bash -i"
    ));
    forward(console)?;
    // Each wait is bounded; an idle shell is not.
    while shell.wait_within(600).code.is_none() {}
    drop(terminal);
    eprintln!();
    Ok(ExitCode::SUCCESS)
}

fn forward(console: UnixStream) -> Result<(), String> {
    let mut writer = console.try_clone().map_err(|e| format!("the console: {e}"))?;
    std::thread::spawn(move || {
        let mut chunk = [0; 1024];
        loop {
            match std::io::stdin().read(&mut chunk) {
                Ok(count @ 1..) if writer.write_all(&chunk[..count]).is_ok() => {}
                // The end of a script that is fed in is the end of the shell.
                _ => return writer.write_all(b"\x04"),
            }
        }
    });
    let mut reader = console;
    std::thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut chunk) {
            let mut stdout = std::io::stdout();
            if stdout.write_all(&chunk[..count]).and_then(|()| stdout.flush()).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// This terminal passes every key to the guest, until dropped. Not for a pipe.
struct RawTerminal {
    before: Option<libc::termios>,
}

impl RawTerminal {
    fn enter() -> Self {
        // SAFETY: termios is plain data, for which zeroes are valid; tcgetattr fills it.
        let mut attributes: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a termios of this function.
        if unsafe { libc::tcgetattr(libc::STDIN_FILENO, &mut attributes) } != 0 {
            return RawTerminal { before: None };
        }
        let before = attributes;
        // SAFETY: as above; cfmakeraw only changes the struct.
        unsafe {
            libc::cfmakeraw(&mut attributes);
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &attributes);
        }
        RawTerminal { before: Some(before) }
    }

    fn size(&self) -> (u16, u16) {
        // SAFETY: winsize is plain data, for which zeroes are valid.
        let mut size: libc::winsize = unsafe { std::mem::zeroed() };
        // SAFETY: TIOCGWINSZ writes one winsize to the pointer it is given.
        let known = unsafe { libc::ioctl(libc::STDIN_FILENO, libc::TIOCGWINSZ, &mut size) } == 0;
        if known && size.ws_row > 0 { (size.ws_row, size.ws_col) } else { (24, 80) }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the pointer is to the attributes read at the beginning.
            unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, before) };
        }
    }
}
