//! One guest's emulator: its hardware, its process, its end.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The two ports of the guest's card.
pub(crate) const PORTS: [&str; 2] = ["ens1f0", "ens1f1"];

/// What a guest is made of.
pub(crate) struct Machine<'a> {
    /// 1 or 2. Guest 1 holds the sockets that stand for the cables.
    pub(crate) node: usize,
    pub(crate) nodes: usize,
    pub(crate) kernel: &'a str,
    pub(crate) initrd: PathBuf,
    /// Where the sockets are; the same folder for both guests.
    pub(crate) sockets: &'a Path,
    /// The console and the emulator's own messages, as files beginning with this name.
    pub(crate) log: PathBuf,
}

impl Machine<'_> {
    pub(crate) fn socket(&self, name: &str) -> PathBuf {
        self.sockets.join(format!("{name}{}", self.node))
    }

    pub(crate) fn console_log(&self) -> PathBuf {
        self.log.with_extension("console")
    }

    fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |option: &str, value: String| {
            arguments.push(option.into());
            arguments.push(value.into());
        };
        // Emulation, not /dev/kvm: where the lab runs, that node may exist and its guests hang.
        add("-machine", "q35".into());
        add("-accel", "tcg,thread=multi".into());
        add("-cpu", "max".into());
        add("-m", "1024".into());
        add("-smp", "1".into());
        add("-display", "none".into());
        add("-kernel", format!("/boot/vmlinuz-{}", self.kernel));
        add("-initrd", self.initrd.display().to_string());
        add("-append", "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on".into());
        add("-qmp", format!("unix:{},server=on,wait=off", self.socket("qmp").display()));

        let console = self.socket("console");
        let log = self.console_log();
        add(
            "-chardev",
            format!(
                "socket,id=console,path={},server=on,wait=off,logfile={}",
                console.display(),
                log.display()
            ),
        );
        add("-serial", "chardev:console".into());
        add("-device", "virtio-serial-pci,bus=pcie.0,addr=0x5".into());
        let control = self.socket("control");
        add("-chardev", format!("socket,id=control,path={},server=on,wait=off", control.display()));
        add("-device", format!("virtserialport,chardev=control,name={}", crate::message::PORT));

        // The machine's own file system, for reading.
        add(
            "-fsdev",
            "local,id=host,path=/,security_model=none,readonly=on,multidevs=remap".into(),
        );
        add("-device", "virtio-9p-pci,bus=pcie.0,addr=0x6,fsdev=host,mount_tag=host".into());

        // The first seed's card is 0000:02:00: firmware numbers the buses behind the slots in
        // their order, so that the card goes into the second one.
        for slot in [1, 2] {
            add(
                "-device",
                format!(
                    "pcie-root-port,id=slot{slot},bus=pcie.0,addr=0x{},chassis={slot},hotplug=off",
                    slot + 2
                ),
            );
        }
        for (index, port) in PORTS.iter().enumerate() {
            add("-netdev", self.cable(index));
            add(
                "-device",
                format!(
                    "e1000e,bus=slot2,addr=0x0.{index},multifunction=on,netdev={port},mac=52:54:00:00:0{}:0{index}",
                    self.node
                ),
            );
        }
        arguments.push("-no-reboot".into());
        arguments.push("-nodefaults".into());
        arguments
    }

    /// Guests 1 and 2 are cabled back to back. A lone guest's cable ends in an empty hub, so that
    /// it has carrier.
    fn cable(&self, index: usize) -> String {
        let port = PORTS[index];
        if self.nodes == 1 {
            return format!("hubport,id={port},hubid={index}");
        }
        let server = if self.node == 1 { "on" } else { "off" };
        let path = self.cable_socket(index);
        format!("stream,id={port},server={server},addr.type=unix,addr.path={}", path.display())
    }

    fn cable_socket(&self, index: usize) -> PathBuf {
        self.sockets.join(format!("cable{index}"))
    }

    /// Starts the emulator and waits for its sockets. The thread that calls this must live as long
    /// as the guest: the kernel ends the emulator with its parent thread.
    pub(crate) fn start(&self) -> Result<Emulator, String> {
        let log = self.log.with_extension("qemu");
        let messages = File::create(&log).map_err(|e| format!("writing {}: {e}", log.display()))?;
        let mut command = Command::new("qemu-system-x86_64");
        command.args(self.arguments()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages);
        // SAFETY: prctl and setpgid are async-signal-safe and touch no memory of the parent.
        unsafe {
            command.pre_exec(|| {
                // Of a group of its own, so that an interrupt from the terminal reaches it only
                // through the lab's end.
                libc::setpgid(0, 0);
                match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let child = command.spawn().map_err(|e| format!("starting qemu-system-x86_64: {e}"))?;
        let mut emulator = Emulator { child };
        let mut sockets = vec![self.socket("qmp"), self.socket("control"), self.socket("console")];
        if self.nodes > 1 && self.node == 1 {
            sockets.extend([self.cable_socket(0), self.cable_socket(1)]);
        }
        let deadline = Instant::now() + Duration::from_secs(20);
        while !sockets.iter().all(|path| path.exists()) {
            if !emulator.runs() || Instant::now() > deadline {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(format!(
                    "guest {} did not start; the emulator said:\n{}",
                    self.node,
                    said.trim()
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(emulator)
    }
}

/// The process of a guest; ended when dropped.
pub(crate) struct Emulator {
    child: Child,
}

impl Emulator {
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// As a power loss.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(node: usize, nodes: usize) -> Machine<'static> {
        Machine {
            node,
            nodes,
            kernel: "6.1.0-57-amd64",
            initrd: "/i".into(),
            sockets: Path::new("/s"),
            log: "/l/debian-1".into(),
        }
    }

    #[test]
    fn the_first_guest_holds_the_cables_and_the_second_plugs_in() {
        assert_eq!(
            machine(1, 2).cable(0),
            "stream,id=ens1f0,server=on,addr.type=unix,addr.path=/s/cable0"
        );
        assert_eq!(
            machine(2, 2).cable(1),
            "stream,id=ens1f1,server=off,addr.type=unix,addr.path=/s/cable1"
        );
        assert_eq!(machine(1, 1).cable(1), "hubport,id=ens1f1,hubid=1");
    }

    #[test]
    fn emulation_is_asked_for_by_name() {
        let arguments = machine(1, 1).arguments();
        let at = arguments.iter().position(|a| a == "-accel").map(|i| arguments[i + 1].clone());
        assert_eq!(at, Some("tcg,thread=multi".into()));
        assert!(!arguments.iter().any(|a| a.to_string_lossy().contains("kvm")));
    }
}
