//! Changes that are refused whichever claim asks for them: those that would take something away
//! from somebody else, or that could not be taken back.

use std::collections::BTreeSet;

use super::reload::{one_way, users_of};
use crate::change::{Change, network_drivers_of};
use crate::claims::{Port, Refusal, mechanism};
use crate::facts::{Facts, Scope};
use crate::host::Look;

/// What the caller allows, and which ports the profile speaks of.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The ports of the profile.
    pub ports: Vec<Port>,
    /// Interfaces named with `--allow-interface`.
    pub allowed: BTreeSet<String>,
    /// `--force-reload`: reload a module although it is in use.
    pub force_reload: bool,
}

impl Guard {
    /// What a look must read for the guard.
    pub fn scope(&self) -> Scope {
        Scope { details: true, users: true, lifelines: true, ..Scope::default() }
    }

    /// Whether this kind of change is guarded at all.
    pub fn concerns(&self, change: &Change) -> bool {
        matches!(change, Change::RemoveModule { .. } | Change::LoadModule { .. })
            || touched(change).is_some()
    }

    /// Why this change is refused, if it is. `facts` must cover [`Guard::scope`].
    pub fn refusal(&self, change: &Change, facts: &Facts) -> Option<Refusal> {
        match change {
            Change::RemoveModule { module } => self
                .base_driver(module, facts)
                .or_else(|| self.other_module(module))
                .or_else(|| self.other_ports(module, facts))
                .or_else(|| self.in_use(module, facts))
                .or_else(|| one_way(module, facts)),
            Change::LoadModule { module, parameters } => {
                self.mixed_modes(module, parameters.get("roce_ena")?, facts)
            }
            _ => touched(change).and_then(|netdev| self.lifeline(netdev, change, facts)),
        }
    }

    /// Why an undo may not make this change. Users may have come since the module was loaded.
    pub fn refusal_of_undo(&self, change: &Change, look: &dyn Look) -> Option<Refusal> {
        let Change::RemoveModule { module } = change else { return None };
        match look.look(&self.scope()) {
            Ok(facts) => self.in_use(module, &facts),
            Err(_) if self.force_reload => None,
            Err(error) => Some(Refusal {
                what: format!("{module} is not removed"),
                why: format!("who uses RDMA here could not be told: {error}"),
                fix: "look for its users and remove it by hand, or force it with --force-reload"
                    .to_owned(),
            }),
        }
    }

    /// What an `apply` needs and this process does not have.
    pub fn missing_privilege(&self, facts: &Facts) -> Option<Refusal> {
        let seen = &facts.evidence.privilege;
        let why = match seen.get() {
            Some(privilege) if privilege.net_admin && privilege.sys_module => return None,
            Some(privilege) => {
                let missing: Vec<&str> = [
                    (privilege.net_admin, "CAP_NET_ADMIN"),
                    (privilege.sys_module, "CAP_SYS_MODULE"),
                ]
                .into_iter()
                .filter(|(has, _)| !has)
                .map(|(_, name)| name)
                .collect();
                format!("this process lacks {} ({})", missing.join(" and "), seen.source())
            }
            None => format!("the privileges of this process are unknown: {}", seen.why_not()),
        };
        Some(Refusal {
            what: "drivers and interfaces are not changed".to_owned(),
            why,
            fix: "run it as root: sudo roce-setup apply ...".to_owned(),
        })
    }

    fn base_driver(&self, module: &str, facts: &Facts) -> Option<Refusal> {
        mechanism::is_base_driver(module, facts).then(|| Refusal {
            what: format!("{module} is not removed"),
            why: format!("{module} carries network interfaces, which would go with it"),
            fix: format!("set the options of {module} in /etc/modprobe.d and reboot"),
        })
    }

    /// `bonding` goes with its bonds, a storage driver with its disks: nothing here looks at those.
    fn other_module(&self, module: &str) -> Option<Refusal> {
        (!mechanism::is_reloadable(module)).then(|| Refusal {
            what: format!("{module} is not removed"),
            why: format!(
                "{module} is no hardware RDMA driver, and what would go with it is not known here"
            ),
            fix: format!("set the options of {module} in /etc/modprobe.d and reboot"),
        })
    }

    /// The profile's own ports are as good as named.
    fn is_named(&self, netdev: &str, facts: &Facts) -> bool {
        self.allowed.contains(netdev)
            || self.ports.iter().any(|port| {
                port.wish.rdma.is_some() && port.netdev(facts).is_ok_and(|(name, _)| name == netdev)
            })
    }

    /// A reload hits every port of every card of the driver.
    fn other_ports(&self, module: &str, facts: &Facts) -> Option<Refusal> {
        let base = network_drivers_of(module);
        let unknown = |why: String| {
            Some(Refusal {
                what: format!("{module} is not reloaded"),
                why: format!("which ports the reload would hit is unknown: {why}"),
                fix: "make it readable, or reload the module by hand".to_owned(),
            })
        };
        let Some(netdevs) = facts.identity.netdevs.get() else {
            return unknown(facts.identity.netdevs.why_not());
        };
        if facts.identity.rdma.get().is_none() {
            return unknown(facts.identity.rdma.why_not());
        }
        let touched = || {
            netdevs
                .iter()
                .filter(|(_, netdev)| {
                    netdev.driver.as_deref().is_some_and(|name| base.contains(&name))
                })
                .filter(|(name, _)| !facts.rdma_of(name, None).is_empty())
        };
        let vfs: Vec<&str> =
            touched().filter(|(_, netdev)| netdev.vfs > 0).map(|(name, _)| name.as_str()).collect();
        if !vfs.is_empty() && !self.force_reload {
            return Some(Refusal {
                what: format!("{module} is not reloaded"),
                why: format!("virtual functions are configured on {}", vfs.join(", ")),
                fix: "free them first, or force it with --force-reload".to_owned(),
            });
        }
        let others: Vec<&str> = touched()
            .map(|(name, _)| name.as_str())
            .filter(|name| !self.is_named(name, facts))
            .collect();
        if others.is_empty() {
            return None;
        }
        let options: Vec<String> =
            others.iter().map(|name| format!("--allow-interface {name}")).collect();
        Some(Refusal {
            what: format!("{module} is not reloaded"),
            why: format!(
                "the reload would also hit {}, which the profile does not name under `rdma`: \
                 {module} is one module for all its ports",
                others.join(", ")
            ),
            fix: format!("allow it by name: {}", options.join(" ")),
        })
    }

    /// `roce_ena` is one for all ports, and the profile may name two of them with two modes.
    fn mixed_modes(&self, module: &str, value: &str, facts: &Facts) -> Option<Refusal> {
        let other = self.ports.iter().find_map(|port| {
            let mode = port.wish.rdma.as_ref()?.mode;
            let (name, _) = port.netdev(facts).ok()?;
            let is_ours = mechanism::driver_of(port, facts).ok()? == Some(module)
                && mechanism::hardware(port, facts).is_ok_and(mechanism::follows_roce_ena);
            let differs = mechanism::roce_ena(mode)? != value;
            (is_ours && differs).then_some((name, mode))
        });
        let (name, mode) = other?;
        Some(Refusal {
            what: format!("{module} is not loaded with roce_ena={value}"),
            why: format!(
                "the profile wants {mode} on {name}, and roce_ena is one for all ports of {module}"
            ),
            fix: "give all ports of this driver one mode; the in-kernel driver has a mode per port"
                .to_owned(),
        })
    }

    /// The kernel does not protect users: irdma can be removed under a running job.
    fn in_use(&self, module: &str, facts: &Facts) -> Option<Refusal> {
        if self.force_reload {
            return None;
        }
        let seen = &facts.evidence.users;
        let (why, fix) = match seen.get() {
            Some(users) => (
                users_of(users, &mechanism::devices_of(facts, module))?,
                "end them first, or force it with --force-reload; the kernel would not protect them",
            ),
            None => (
                format!("who uses RDMA here could not be told: {}", seen.why_not()),
                "make sure that nothing does (jobs, NFS over RDMA, Lustre, NVMe), then force it with \
                 --force-reload; the kernel would not protect them",
            ),
        };
        let what = format!("{module} is not removed");
        Some(Refusal { what, why, fix: fix.to_owned() })
    }

    fn lifeline(&self, netdev: &str, change: &Change, facts: &Facts) -> Option<Refusal> {
        if self.allowed.contains(netdev) {
            return None;
        }
        let seen = &facts.evidence.lifelines;
        let why = match seen.get() {
            Some(lifelines) => {
                let reasons: Vec<String> =
                    lifelines.get(netdev)?.iter().map(ToString::to_string).collect();
                format!("{netdev} {}", reasons.join(" and "))
            }
            None => format!("whether {netdev} carries your session is unknown: {}", seen.why_not()),
        };
        Some(Refusal {
            what: format!("no change is made to {netdev} ({change})"),
            why,
            fix: format!("if you can reach the host another way: --allow-interface {netdev}"),
        })
    }
}

/// The interface whose traffic this change can interrupt.
fn touched(change: &Change) -> Option<&str> {
    match change {
        Change::SetLink { netdev, .. }
        | Change::SetMtu { netdev, .. }
        | Change::AddAddress { netdev, .. }
        | Change::RemoveAddress { netdev, .. } => Some(netdev),
        Change::AddRoute { route } | Change::RemoveRoute { route } => Some(&route.netdev),
        _ => None,
    }
}
