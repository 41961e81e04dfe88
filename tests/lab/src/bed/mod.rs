//! What scenarios speak to: a lab of one or two guests, in the words of the field.
//!
//! ```text
//! let node = lab.node(1);
//! node.run("roce-setup check p.yaml").exits(1).says("carrier");
//! lab.cut("ens1f0");
//! node.rdma_knobs(&Knobs { delay: 2, ..Knobs::default() });
//! let server = lab.node(2).spawn("roce-setup serve");
//! ```
//!
//! These functions panic, as assertions do, when a guest is gone, late, or answers otherwise than
//! asked; the suite turns that into the scenario's failure.

mod knobs;
mod node;
mod ran;
mod reset;
mod running;

pub(crate) use knobs::Knobs;
pub(crate) use node::Node;
pub(crate) use ran::Ran;
pub(crate) use running::Running;

use crate::initrd::{self, Settings};
use crate::modules::Modules;
use crate::places::{self, Scratch};
use crate::qemu::Machine;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a guest may take until its agent runs: 10 s is usual, two on a busy machine take 30.
const BOOT_LIMIT: Duration = Duration::from_secs(150);

/// Which ice and irdma the guests have. rxe and siw are loaded in each.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum DriverSet {
    /// Stand-ins for Intel's release: `roce_ena` decides; loaded without it, so iWARP.
    OutOfTree,
    /// Stand-ins for the kernel's drivers: no parameter, devlink decides; RoCEv2 at first.
    InKernel,
    /// Debian's own modules. The ports are e1000e's; the real irdma can be loaded, without a card.
    Debian,
}

impl DriverSet {
    pub(crate) const ALL: [DriverSet; 3] =
        [DriverSet::OutOfTree, DriverSet::InKernel, DriverSet::Debian];

    pub(crate) fn name(self) -> &'static str {
        match self {
            DriverSet::OutOfTree => "out-of-tree",
            DriverSet::InKernel => "in-kernel",
            DriverSet::Debian => "debian",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }
}

/// What all boots of one run of the lab share.
pub(crate) struct Setup {
    modules: Modules,
    product: Option<PathBuf>,
    logs: PathBuf,
    /// A copy of this program: cargo may replace the original while guests run.
    agent: PathBuf,
    _agent_dir: Scratch,
}

impl Setup {
    /// Prepares kernel, modules and agent. `product` is the program under test, if there is one.
    pub(crate) fn new(product: Option<PathBuf>) -> Result<Self, String> {
        let kernel = crate::kernel::choose()?;
        let modules = crate::modules::prepare(&kernel)?;
        places::remove_left_behind();
        let agent_dir = Scratch::new("agent")?;
        let agent = agent_dir.path().join("lab");
        // Also while cargo replaces the file: this names the program that runs.
        let this = Path::new("/proc/self/exe");
        std::fs::copy(this, &agent).map_err(|e| format!("copying the lab's own program: {e}"))?;
        let logs = places::make(places::cache()?.join("log"))?;
        Ok(Setup { modules, product, logs, agent, _agent_dir: agent_dir })
    }

    /// Where the consoles of the guests are kept.
    pub(crate) fn logs(&self) -> &Path {
        &self.logs
    }
}

/// One or two running guests. They end when it is dropped.
pub(crate) struct Lab {
    set: DriverSet,
    nodes: Vec<Node>,
    deadline: Deadline,
    _sockets: Scratch,
}

/// The end of the running scenario's time, shared by everything that waits.
#[derive(Clone, Default)]
pub(crate) struct Deadline(Arc<Mutex<Option<Instant>>>);

impl Deadline {
    fn set(&self, end: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// What is left of the scenario's time, at most `wanted`.
    fn bound(&self, wanted: Duration) -> Duration {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(end) => wanted.min(end.saturating_duration_since(Instant::now())),
            None => wanted,
        }
    }
}

impl Lab {
    /// Boots guests 1 to `count` (one or two) and waits until their agents run. Call it from a
    /// thread that outlives the lab.
    pub(crate) fn boot(setup: &Setup, set: DriverSet, count: usize) -> Result<Lab, String> {
        assert!((1..=2).contains(&count), "a lab has one or two guests, not {count}");
        let sockets = Scratch::new(set.name())?;
        let deadline = Deadline::default();
        let mut nodes = Vec::new();
        for number in 1..=count {
            let initrd = sockets.path().join(format!("initrd{number}"));
            let settings = Settings {
                node: number,
                set: set.name(),
                agent: &setup.agent,
                tree: &setup.modules.tree(set),
                product: setup.product.as_deref(),
            };
            initrd::write(&initrd, &setup.modules.kernel, &settings)?;
            let machine = Machine {
                node: number,
                nodes: count,
                kernel: &setup.modules.kernel,
                initrd,
                sockets: sockets.path(),
                log: setup.logs.join(format!("{}-{number}", set.name())),
            };
            nodes.push(Node::start(&machine, deadline.clone())?);
        }
        for node in &nodes {
            node.wait_ready(BOOT_LIMIT)?;
        }
        Ok(Lab { set, nodes, deadline, _sockets: sockets })
    }

    pub(crate) fn set(&self) -> DriverSet {
        self.set
    }

    /// Guest 1 (`server1`) or 2 (`server2`).
    #[track_caller]
    pub(crate) fn node(&self, number: usize) -> &Node {
        let count = self.nodes.len();
        self.nodes
            .get(number.wrapping_sub(1))
            .unwrap_or_else(|| panic!("this lab has {count} guest(s), not {number}"))
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Does the same on all guests at once; the results are in their order.
    pub(crate) fn each<T: Send>(&self, act: impl Fn(&Node) -> T + Sync) -> Vec<T> {
        std::thread::scope(|scope| {
            let act = &act;
            let threads: Vec<_> =
                self.nodes.iter().map(|node| scope.spawn(move || act(node))).collect();
            threads
                .into_iter()
                .map(|thread| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect()
        })
    }

    /// Pulls the cable of a port: both of its ends lose carrier.
    #[track_caller]
    pub(crate) fn cut(&self, port: &str) {
        self.nodes.iter().for_each(|node| node.cut(port));
    }

    /// Plugs it in again.
    #[track_caller]
    pub(crate) fn plug(&self, port: &str) {
        self.nodes.iter().for_each(|node| node.plug(port));
    }

    /// Ends every wait of the scenario at that time from now; None: no limit.
    pub(crate) fn limit(&self, time: Option<Duration>) {
        self.deadline.set(time.map(|time| Instant::now() + time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_outlives_its_scenario() {
        let deadline = Deadline::default();
        let minute = Duration::from_secs(60);
        assert_eq!(deadline.bound(minute), minute);
        deadline.set(Some(Instant::now() + Duration::from_secs(5)));
        assert!(deadline.bound(minute) <= Duration::from_secs(5));
        assert_eq!(deadline.bound(Duration::from_secs(1)), Duration::from_secs(1));
        deadline.set(Some(Instant::now()));
        assert_eq!(deadline.bound(minute), Duration::ZERO);
    }

    #[test]
    fn driver_sets_are_found_by_their_names() {
        for set in DriverSet::ALL {
            assert_eq!(DriverSet::named(set.name()), Some(set));
        }
        assert_eq!(DriverSet::named("oot"), None);
    }
}
