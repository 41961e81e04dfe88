//! The lab's hands in a guest: reads requests from the virtio-serial port and runs each in a
//! thread of its own. It knows nothing of RDMA.

mod commands;
mod sweep;

use crate::message::{Answer, Ask, PORT, Reply, Request};
use commands::Spawned;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What all requests share.
struct Agent {
    port: Mutex<File>,
    spawned: Mutex<HashMap<u64, Arc<Spawned>>>,
}

/// A thread that panicked has nothing half done in what these locks guard.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves until the lab hangs up.
pub(crate) fn run() -> Result<ExitCode, String> {
    let path = find_port()?;
    let failed = |e: std::io::Error| format!("opening {}: {e}", path.display());
    let port = File::options().read(true).write(true).open(&path).map_err(failed)?;
    let reader = BufReader::new(port.try_clone().map_err(failed)?);
    let agent = Arc::new(Agent { port: Mutex::new(port), spawned: Mutex::default() });
    agent.reply(0, Answer::Ready);
    for line in reader.lines() {
        let line = line.map_err(|e| format!("reading {}: {e}", path.display()))?;
        let request: Request =
            serde_json::from_str(&line).map_err(|e| format!("a request is not understood: {e}"))?;
        let agent = Arc::clone(&agent);
        std::thread::spawn(move || {
            let answer =
                agent.answer(request.id, request.ask).unwrap_or_else(|why| Answer::Failed { why });
            agent.reply(request.id, answer);
        });
    }
    Ok(ExitCode::SUCCESS)
}

/// The device of the port called [`PORT`]. There is no udev here to make a link of that name.
fn find_port() -> Result<PathBuf, String> {
    let class = Path::new("/sys/class/virtio-ports");
    let entries =
        std::fs::read_dir(class).map_err(|e| format!("reading {}: {e}", class.display()))?;
    for entry in entries.flatten() {
        let name = std::fs::read_to_string(entry.path().join("name")).unwrap_or_default();
        if name.trim() == PORT {
            return Ok(Path::new("/dev").join(entry.file_name()));
        }
    }
    Err(format!("no virtio-serial port is called {PORT}"))
}

impl Agent {
    fn reply(&self, id: u64, answer: Answer) {
        let Ok(mut line) = serde_json::to_vec(&Reply { id, answer }) else {
            eprintln!("lab agent: reply {id} could not be written as JSON");
            return;
        };
        line.push(b'\n');
        if let Err(error) = lock(&self.port).write_all(&line) {
            eprintln!("lab agent: writing reply {id}: {error}");
        }
    }

    /// A request's id becomes the handle of what it spawns.
    fn answer(&self, id: u64, ask: Ask) -> Result<Answer, String> {
        match ask {
            Ask::Run(script) => {
                let spawned = Spawned::start(&script)?;
                Ok(Answer::Ran(spawned.wait(Duration::from_secs_f64(script.seconds), true)))
            }
            Ask::Spawn(script) => {
                lock(&self.spawned).insert(id, Arc::new(Spawned::start(&script)?));
                Ok(Answer::Spawned { handle: id })
            }
            Ask::Wait { handle, seconds } => {
                let ending = self.find(handle)?.wait(Duration::from_secs_f64(seconds), false);
                if ending.code.is_some() {
                    lock(&self.spawned).remove(&handle);
                }
                Ok(Answer::Ran(ending))
            }
            Ask::Peek { handle } => Ok(Answer::Ran(self.find(handle)?.peek())),
            Ask::Signal { handle, signal } => {
                self.find(handle)?.signal(signal).map(|()| Answer::Done)
            }
            Ask::Write { path, text } => {
                let failed = |e: std::io::Error| format!("writing {path}: {e}");
                if let Some(dir) = Path::new(&path).parent() {
                    std::fs::create_dir_all(dir).map_err(failed)?;
                }
                std::fs::write(&path, text).map_err(failed)?;
                Ok(Answer::Done)
            }
            Ask::Sweep => {
                sweep::kill_all_others(Duration::from_secs(10))?;
                lock(&self.spawned).clear();
                Ok(Answer::Done)
            }
        }
    }

    fn find(&self, handle: u64) -> Result<Arc<Spawned>, String> {
        lock(&self.spawned)
            .get(&handle)
            .cloned()
            .ok_or_else(|| format!("no command with handle {handle}"))
    }
}
