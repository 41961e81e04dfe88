//! This machine: the facts from sysfs, procfs, netlink and files, the changes through the kernel.
//!
//! One file a topic. sysfs, procfs and ioctl come first and netlink completes them, so that an old
//! kernel still gets an answer. Looking starts no program, makes no directory and avoids every call
//! that could load a module.

mod act;
mod addresses;
mod configfs;
mod deadline;
mod devlink;
mod ethtool;
#[cfg(test)]
mod fixture;
mod gids;
mod ld_cache;
mod lifelines;
mod links;
mod look;
mod message;
mod modprobe;
mod module_files;
mod modules;
mod mounts;
mod netdevs;
mod netlink;
mod nldev;
mod rdma;
mod roots;
mod rtnetlink;
mod system;
mod tree;
mod users;
mod userspace;

use std::time::{Duration, Instant};

pub(crate) use deadline::spawn_deaf;
pub use roots::Roots;

use super::{Act, ActError, Look, LookError};
use crate::change::Change;
use crate::facts::{Evidence, FORMAT, Facts, Identity, Scope, State};
use tree::Tree;

/// This machine.
#[derive(Debug)]
pub struct Linux {
    roots: Roots,
    sys: Tree,
    proc: Tree,
    /// Netlink and ioctls; a tree of files alone is looked at without them.
    kernel: bool,
    start: Instant,
}

impl Default for Linux {
    fn default() -> Linux {
        Linux::new()
    }
}

impl Linux {
    /// The machine that this program runs on.
    pub fn new() -> Linux {
        Linux::at(Roots::below("/"), true)
    }

    /// A machine as a tree of files, without netlink: what a 3.10 kernel without its families shows.
    pub fn files(roots: Roots) -> Linux {
        Linux::at(roots, false)
    }

    fn at(roots: Roots, kernel: bool) -> Linux {
        let sys = Tree::new(&roots.sys, "/sys");
        let proc = Tree::new(&roots.proc, "/proc");
        Linux { roots, sys, proc, kernel, start: Instant::now() }
    }

    /// Host name and kernel release.
    fn uname(&self) -> (String, String) {
        if self.kernel { system::uname() } else { system::uname_in(&self.proc) }
    }
}

impl Look for Linux {
    fn look(&self, scope: &Scope) -> Result<Facts, LookError> {
        let (host, kernel_release) = self.uname();
        let mut facts = Facts {
            format: FORMAT,
            host,
            state: State::default(),
            identity: Identity::default(),
            evidence: Evidence { kernel_release, ..Evidence::default() },
        };
        if scope.details {
            facts.evidence.modules_disabled = system::modules_disabled(&self.proc);
            facts.evidence.lockdown = system::lockdown(&self.sys);
            facts.evidence.privilege = system::privilege(&self.proc);
        }
        modules::read(&self.sys, scope, &mut facts);
        facts.evidence.module_files = module_files::read(
            &self.roots.modules,
            &facts.evidence.kernel_release,
            &scope.module_files,
        );
        let links = self.read_links(scope, &mut facts);
        self.read_rdma(scope, &links, &mut facts);
        if scope.devlink {
            self.read_devlink(&links, &mut facts);
        }
        if scope.configfs {
            facts.state.configfs = configfs::read(&self.sys, &self.proc);
        }
        self.read_evidence(scope, &links, &mut facts);
        Ok(facts)
    }

    fn host(&self) -> Result<String, LookError> {
        Ok(self.uname().0)
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn pause(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

impl Act for Linux {
    fn act(&self, change: &Change) -> Result<(), ActError> {
        act::act(change, &self.roots)
    }
}
