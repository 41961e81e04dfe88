//! Injects faults into a host: the machine of the tests that ask what a failure leaves behind.
//!
//! Positions count the changes that are asked for, from 0, so that a test can try every fault at
//! every position of a plan, and of the undo that follows.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::model::errno_text;
use super::{Act, ActError, Look, LookError};
use crate::change::Change;
use crate::facts::{Facts, Scope};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Refused with EPERM.
    NotPermitted,
    /// Refused with EBUSY.
    Busy,
    /// Refused with ENODEV.
    NoDevice,
    /// Refused with ENOSPC.
    NoSpace,
    /// Refused with ETIMEDOUT, without effect.
    TimedOut,
    /// Success is claimed and nothing was done.
    Ignored,
    /// The change is made, and then all RDMA devices stay away until a module or a software link is
    /// removed or a devlink parameter set: probes that failed.
    Vanished,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Fault; 7] = [
        Fault::NotPermitted,
        Fault::Busy,
        Fault::NoDevice,
        Fault::NoSpace,
        Fault::TimedOut,
        Fault::Ignored,
        Fault::Vanished,
    ];

    fn errno(self) -> Option<Errno> {
        match self {
            Fault::NotPermitted => Some(Errno::EPERM),
            Fault::Busy => Some(Errno::EBUSY),
            Fault::NoDevice => Some(Errno::ENODEV),
            Fault::NoSpace => Some(Errno::ENOSPC),
            Fault::TimedOut => Some(Errno::ETIMEDOUT),
            Fault::Ignored | Fault::Vanished => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.errno() {
            Some(errno) => write!(f, "refused with {errno:?}"),
            None if *self == Fault::Ignored => f.write_str("silently ignored"),
            None => f.write_str("made, and the RDMA devices vanish"),
        }
    }
}

/// A fault and the change that it meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injection {
    /// Which change, from 0 in the order in which they are asked for; changes that undo count on.
    pub at: usize,
    /// What goes wrong with it.
    pub fault: Fault,
}

impl fmt::Display for Injection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "change {} {}", self.at, self.fault)
    }
}

impl Injection {
    /// Every fault at each of the first `changes` positions, one at a time.
    pub fn each(changes: usize) -> impl Iterator<Item = Vec<Injection>> {
        (0..changes).flat_map(|at| Fault::ALL.map(|fault| vec![Injection { at, fault }]))
    }

    /// Every pair of faults at two different positions among the first `changes`: one in the plan
    /// and one in the undo that it causes, or both in either.
    pub fn pairs(changes: usize) -> impl Iterator<Item = Vec<Injection>> {
        (0..changes).flat_map(move |first| {
            (first + 1..changes).flat_map(move |second| {
                Fault::ALL.into_iter().flat_map(move |one| {
                    Fault::ALL.map(|other| {
                        vec![
                            Injection { at: first, fault: one },
                            Injection { at: second, fault: other },
                        ]
                    })
                })
            })
        })
    }
}

/// A change that was asked for, and the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acted {
    /// The change.
    pub change: Change,
    /// The fault that met it.
    pub fault: Option<Fault>,
    /// What was answered.
    pub answer: Result<(), ActError>,
}

/// A host with faults.
#[derive(Debug)]
pub struct Faulty<M> {
    host: M,
    injections: Vec<Injection>,
    acted: RefCell<Vec<Acted>>,
    vanished: RefCell<bool>,
}

impl<M> Faulty<M> {
    /// A host on which these faults happen; without any it only logs.
    pub fn new(host: M, injections: impl IntoIterator<Item = Injection>) -> Faulty<M> {
        Faulty {
            host,
            injections: injections.into_iter().collect(),
            acted: RefCell::default(),
            vanished: RefCell::new(false),
        }
    }

    /// The host below.
    pub fn host(&self) -> &M {
        &self.host
    }

    /// Every change that was asked for so far, with the answers.
    pub fn acted(&self) -> Vec<Acted> {
        self.acted.borrow().clone()
    }

    /// The faults that have met a change so far: a test whose fault was never met tested nothing.
    pub fn met(&self) -> usize {
        self.acted.borrow().iter().filter(|acted| acted.fault.is_some()).count()
    }
}

impl<M: Look> Look for Faulty<M> {
    fn look(&self, scope: &Scope) -> Result<Facts, LookError> {
        let mut facts = self.host.look(scope)?;
        if *self.vanished.borrow()
            && let Some(devices) = facts.identity.rdma.get_mut()
        {
            devices.clear();
            if let Some(verbs) = facts.evidence.verbs.get_mut() {
                verbs.clear();
            }
        }
        Ok(facts)
    }

    fn host(&self) -> Result<String, LookError> {
        self.host.host()
    }

    fn now(&self) -> Duration {
        self.host.now()
    }

    fn pause(&self, time: Duration) {
        self.host.pause(time);
    }
}

impl<M: Act> Act for Faulty<M> {
    fn act(&self, change: &Change) -> Result<(), ActError> {
        let position = self.acted.borrow().len();
        let fault = self.injections.iter().find(|i| i.at == position).map(|i| i.fault);
        let answer = match fault {
            Some(Fault::Ignored) => Ok(()),
            None | Some(Fault::Vanished) => self.host.act(change),
            Some(refusal) => Err(ActError {
                call: change.to_string(),
                errno: refusal.errno().map(|errno| errno as i32),
                why: refusal.errno().map(errno_text).unwrap_or_default(),
            }),
        };
        let probes_again = matches!(
            change,
            Change::RemoveModule { .. }
                | Change::RemoveSoftwareLink { .. }
                | Change::SetDevlink { .. }
        );
        if fault == Some(Fault::Vanished) {
            *self.vanished.borrow_mut() = true;
        } else if probes_again && answer.is_ok() && fault.is_none() {
            *self.vanished.borrow_mut() = false;
        }
        self.acted.borrow_mut().push(Acted {
            change: change.clone(),
            fault,
            answer: answer.clone(),
        });
        answer
    }
}

#[cfg(test)]
mod tests;
