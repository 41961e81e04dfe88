//! A machine in memory: facts that change as the kernel would change them.
//!
//! It is the host of the tests and the predictor of `plan`. What it knows of kernel and drivers is
//! in one file per topic below; a fact of the kernel is stated there with its source. It refuses
//! what the kernel refuses, in the kernel's words. What nobody can foretell stays unknown.

mod addresses;
mod configfs;
mod devices;
mod devlink;
pub mod hosts;
mod links;
mod machine;
mod modules;
mod ports;
mod rdma;
mod refusal;
mod routes;
mod scope;
mod software;
#[cfg(test)]
mod tests;

pub(super) use refusal::text as errno_text;

use std::cell::RefCell;
use std::time::Duration;

use self::machine::Machine;
use super::{Act, ActError, Look, LookError};
use crate::change::Change;
use crate::facts::{Facts, Scope};

/// A machine in memory. Its clock passes only while somebody [pauses](Look::pause).
#[derive(Debug)]
pub struct Model {
    machine: RefCell<Machine>,
}

impl Model {
    /// The machine that these facts show. What they do not hold is not known to the machine
    /// either, and it does everything as if for root: this is the predictor of `plan`.
    pub fn new(facts: Facts) -> Model {
        Model { machine: RefCell::new(Machine::new(facts, false)) }
    }

    /// A machine with nothing but what these facts show: a module that they do not name is not
    /// loaded and has no file. This is the machine of the tests.
    pub fn complete(facts: Facts) -> Model {
        Model { machine: RefCell::new(Machine::new(facts, true)) }
    }

    /// Everything about the machine as it is now, whatever a look would ask for.
    pub fn facts(&self) -> Facts {
        self.machine.borrow().facts.clone()
    }

    /// Changes the machine behind everybody's back, as another administrator or udev would. What
    /// follows from the change by itself (GIDs, port states) follows.
    pub fn edit(&self, change: impl FnOnce(&mut Facts)) {
        let mut machine = self.machine.borrow_mut();
        change(&mut machine.facts);
        machine.settle();
    }

    /// Pulls the cable of a port: it keeps its settings and loses its carrier.
    pub fn cut(&self, netdev: &str) {
        self.machine.borrow_mut().set_cable(netdev, false);
    }

    /// Plugs the cable of a port in.
    pub fn plug(&self, netdev: &str) {
        self.machine.borrow_mut().set_cable(netdev, true);
    }

    /// From now on a hardware RDMA device appears this long after its module or its mode was set.
    #[must_use]
    pub fn with_device_after(self, delay: Duration) -> Model {
        self.machine.borrow_mut().device_after = delay;
        self
    }

    /// From now on the carrier comes this long after a link was set up.
    #[must_use]
    pub fn with_carrier_after(self, delay: Duration) -> Model {
        self.machine.borrow_mut().carrier_after = delay;
        self
    }

    /// From now on the RDMA device of this interface appears under this name.
    #[must_use]
    pub fn with_device_name(self, netdev: &str, name: &str) -> Model {
        self.machine.borrow_mut().names.insert(netdev.to_owned(), name.to_owned());
        self
    }

    /// From now on no RDMA device appears for this interface: its probe fails in the kernel log.
    #[must_use]
    pub fn with_failing_probe(self, netdev: &str) -> Model {
        self.machine.borrow_mut().failing.insert(netdev.to_owned());
        self
    }

    /// Sets the sysctl `promote_secondaries`, which the kernel leaves off and systemd sets: then
    /// the removal of a primary address leaves the others of its subnet.
    #[must_use]
    pub fn with_promoted_secondaries(self) -> Model {
        self.machine.borrow_mut().promote_secondaries = true;
        self
    }
}

impl Look for Model {
    fn look(&self, scope: &Scope) -> Result<Facts, LookError> {
        Ok(scope::seen(&self.machine.borrow(), scope))
    }

    fn host(&self) -> Result<String, LookError> {
        Ok(self.machine.borrow().facts.host.clone())
    }

    fn now(&self) -> Duration {
        self.machine.borrow().clock
    }

    fn pause(&self, time: Duration) {
        self.machine.borrow_mut().pass(time);
    }
}

impl Act for Model {
    fn act(&self, change: &Change) -> Result<(), ActError> {
        let machine = &mut *self.machine.borrow_mut();
        match change {
            Change::LoadModule { module, parameters } => modules::load(machine, module, parameters),
            Change::RemoveModule { module } => modules::remove(machine, module),
            Change::SetDevlink { device, parameter, cmode, value } => {
                devlink::set(machine, device, parameter, cmode, *value)
            }
            Change::SetLink { netdev, up } => links::set_link(machine, netdev, *up),
            Change::SetMtu { netdev, mtu } => links::set_mtu(machine, netdev, *mtu),
            Change::AddAddress { netdev, address } => addresses::add(machine, netdev, address),
            Change::RemoveAddress { netdev, address } => {
                addresses::remove(machine, netdev, address)
            }
            Change::AddRoute { route } => routes::add(machine, route),
            Change::RemoveRoute { route } => routes::remove(machine, route),
            Change::AddSoftwareLink { name, kind, netdev } => {
                software::add(machine, name, *kind, netdev)
            }
            Change::RemoveSoftwareLink { kind, netdev, .. } => {
                software::remove(machine, *kind, netdev)
            }
            Change::MakeConfigfs { path } => configfs::make(machine, path),
            Change::RemoveConfigfs { path } => configfs::remove(machine, path),
            Change::WriteConfigfs { path, value } => configfs::write(machine, path, value),
        }
    }
}
