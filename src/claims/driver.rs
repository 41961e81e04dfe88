//! The module that makes a port's RDMA device is loaded.

use std::time::Duration;

use super::module::{files, load, modules, not_loaded, state};
use super::{Blame, Claim, Entry, Judgement, Port, Remedy, Rung, Severity, Subject, mechanism};
use crate::change::rdma_modules;
use crate::facts::{Facts, Scope};

pub(super) static RDMA_DRIVER: Entry = Entry {
    id: "rdma.driver",
    rung: Rung::Device,
    needs: &["port.present"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "the RDMA half of the driver has not been loaded since boot, or was removed",
    fix: "roce-setup apply loads it",
};

/// "the RDMA driver of ens1f0 is loaded": implied by `rdma:` under an interface.
pub(super) struct RdmaDriver(pub(super) Port);

impl RdmaDriver {
    /// Every module that it may come to: which one is known once the port has been found.
    fn modules(&self) -> Vec<&'static str> {
        self.0.software().map_or_else(|| rdma_modules().collect(), |kind| vec![kind.module()])
    }
}

impl Claim for RdmaDriver {
    fn entry(&self) -> &'static Entry {
        &RDMA_DRIVER
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        match self.0.software() {
            Some(kind) => format!("the {kind} driver is loaded"),
            None => format!("the RDMA driver of {} is loaded", self.0.selector()),
        }
    }
    fn scope(&self) -> Scope {
        modules(&self.modules())
    }
    fn remedy_scope(&self) -> Scope {
        files(&self.modules())
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let module = match mechanism::driver_of(&self.0, facts) {
            Ok(Some(module)) => module,
            // A driver that is not in the table may have RDMA built in: the device will tell.
            Ok(None) => return Judgement::met_with("not applicable: none is known for its driver"),
            Err(other) => return other,
        };
        match state(facts, module) {
            Ok(state) if state.loaded => Judgement::met_with(module),
            Ok(_) => {
                let parameters = mechanism::load_parameters(&self.0, facts, module);
                not_loaded(facts, module, &parameters)
            }
            Err(unknown) => unknown,
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        match mechanism::driver_of(&self.0, facts) {
            Ok(Some(module)) => {
                load(facts, module, mechanism::load_parameters(&self.0, facts, module))
            }
            _ => Remedy::None,
        }
    }
}
