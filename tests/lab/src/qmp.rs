//! The emulator's own control socket: the hand on the cable.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// The emulator answers at once; a longer silence means that it hangs.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Qmp {
    writer: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Qmp {
    pub(crate) fn connect(path: &Path) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("connecting to {}: {e}", path.display());
        let writer = UnixStream::connect(path).map_err(failed)?;
        writer.set_read_timeout(Some(ANSWER_LIMIT)).map_err(failed)?;
        let mut qmp = Qmp { reader: BufReader::new(writer.try_clone().map_err(failed)?), writer };
        qmp.read_line()?;
        qmp.execute("qmp_capabilities", serde_json::json!({}))?;
        Ok(qmp)
    }

    /// Gives or takes the carrier of a port's NIC. The emulator calls the port by its netdev id.
    pub(crate) fn set_link(&mut self, port: &str, up: bool) -> Result<(), String> {
        self.execute("set_link", serde_json::json!({"name": port, "up": up}))
    }

    fn execute(&mut self, command: &str, arguments: serde_json::Value) -> Result<(), String> {
        let line = serde_json::json!({"execute": command, "arguments": arguments});
        writeln!(self.writer, "{line}").map_err(|e| format!("the emulator's {command}: {e}"))?;
        loop {
            let answer = self.read_line()?;
            if answer.get("return").is_some() {
                return Ok(());
            }
            if let Some(error) = answer.get("error") {
                return Err(format!("the emulator's {command}: {error}"));
            }
            // Anything else is an event.
        }
    }

    fn read_line(&mut self) -> Result<serde_json::Value, String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => Err("the emulator has closed its control socket".into()),
            Ok(_) => serde_json::from_str(&line)
                .map_err(|e| format!("the emulator's answer {line:?}: {e}")),
            Err(e) => Err(format!("waiting for the emulator's answer: {e}")),
        }
    }
}
