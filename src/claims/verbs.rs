//! The userspace half: libraries, providers, device nodes, and the device as verbs lists it.

use std::time::Duration;

use super::{Blame, Claim, Entry, Judgement, Port, Rung, Severity, Subject, mechanism};
use crate::facts::{Facts, Scope, Seen};

pub(super) static LIBRARY: Entry = Entry {
    id: "verbs.library",
    rung: Rung::Verbs,
    needs: &[],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "rdma-core is not installed",
    fix: "install it: dnf install libibverbs librdmacm, or apt install libibverbs1 librdmacm1",
};

pub(super) static PROVIDER: Entry = Entry {
    id: "verbs.provider",
    rung: Rung::Verbs,
    needs: &["port.present", "verbs.library"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "the verbs library has no provider for this driver, so that it will not list the device",
    fix: "install it: dnf install libibverbs, or apt install ibverbs-providers; for an out-of-tree \
          driver, the rdma-core that its release notes name",
};

pub(super) static NODE: Entry = Entry {
    id: "verbs.node",
    rung: Rung::Verbs,
    needs: &["port.present", "rdma.device"],
    severity: Severity::Error,
    blame: Blame::Local,
    // udev makes the node after the kernel has announced the device.
    patience: Duration::from_secs(5),
    cause: "ib_uverbs is not loaded, or udev has not made the node",
    fix: "modprobe ib_uverbs; udevadm trigger --subsystem-match=infiniband_verbs",
};

pub(super) static DEVICE: Entry = Entry {
    id: "verbs.device",
    rung: Rung::Verbs,
    needs: &["port.present", "rdma.device", "verbs.library", "verbs.provider", "verbs.node"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::from_secs(5),
    cause: "the provider of this device is missing or was built for another version of the library",
    fix: "reinstall rdma-core so that library and providers belong together; ibv_devices must list it",
};

fn userspace() -> Scope {
    Scope { userspace: true, ..Scope::default() }
}

/// "libibverbs and librdmacm are installed".
pub(super) struct Library;

impl Claim for Library {
    fn entry(&self) -> &'static Entry {
        &LIBRARY
    }
    fn subject(&self) -> Subject {
        Subject::Host
    }
    fn sentence(&self) -> String {
        "libibverbs and librdmacm are installed".to_owned()
    }
    fn scope(&self) -> Scope {
        userspace()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let seen = &facts.evidence.userspace;
        let Some(userspace) = seen.get() else { return Judgement::unknown(seen.why_not()) };
        let missing: Vec<&str> =
            [("libibverbs.so.1", &userspace.libibverbs), ("librdmacm.so.1", &userspace.librdmacm)]
                .into_iter()
                .filter(|(_, path)| path.is_none())
                .map(|(name, _)| name)
                .collect();
        if missing.is_empty() {
            return Judgement::met();
        }
        // Where the library was opened too, the loader's own words say more than the missing file.
        let loader = match &facts.evidence.verbs {
            Seen::Unknown { why, .. } => format!(" ({why})"),
            _ => String::new(),
        };
        let observed = format!("no {}{loader}", missing.join(", no "));
        Judgement::unmet("libibverbs.so.1 and librdmacm.so.1", observed, seen.source())
    }
}

/// "the verbs provider of ens1f0 is installed".
pub(super) struct Provider(pub(super) Port);

impl Provider {
    /// The provider's name for a kernel RDMA driver (rdma-core, `providers/`).
    fn name(module: &str) -> &str {
        match module {
            "rdma_rxe" => "rxe",
            "mlx5_ib" => "mlx5",
            "mlx4_ib" => "mlx4",
            "iw_cxgb4" => "cxgb4",
            "hns_roce_hw_v2" => "hns",
            other => other,
        }
    }

    /// The provider that fits what the port's device really is: a software device has its own.
    fn wanted<'a>(&self, facts: &'a Facts) -> Result<Option<&'a str>, Judgement> {
        if let Some(kind) = self.0.rdma(facts)?.and_then(|rdma| rdma.device.software) {
            return Ok(Some(Self::name(kind.module())));
        }
        Ok(mechanism::driver_of(&self.0, facts)?.map(Self::name))
    }
}

impl Claim for Provider {
    fn entry(&self) -> &'static Entry {
        &PROVIDER
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("the verbs provider of {} is installed", self.0.selector())
    }
    fn scope(&self) -> Scope {
        userspace()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let wanted = match self.wanted(facts) {
            Ok(Some(wanted)) => wanted,
            // A driver that is not in the table: the device list of the library will tell.
            Ok(None) => {
                return Judgement::met_with("not applicable: none is known for its driver");
            }
            Err(judgement) => return judgement,
        };
        let seen = &facts.evidence.userspace;
        let Some(userspace) = seen.get() else { return Judgement::unknown(seen.why_not()) };
        let prefix = format!("lib{wanted}");
        let fits = |file: &&String| {
            let name = file.rsplit('/').next().unwrap_or(file);
            name.strip_prefix(&prefix).is_some_and(|rest| rest.starts_with(['-', '.']))
        };
        match userspace.providers.iter().find(fits) {
            Some(file) => Judgement::met_with(file),
            None => Judgement::unmet(
                format!("lib{wanted}-rdmav*.so"),
                match userspace.providers.len() {
                    0 => "no provider at all".to_owned(),
                    count => format!("{count} providers, none of them {wanted}"),
                },
                seen.source(),
            ),
        }
    }
}

/// "the device of ens1f0 has its node under /dev/infiniband".
pub(super) struct Node(pub(super) Port);

impl Claim for Node {
    fn entry(&self) -> &'static Entry {
        &NODE
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("the RDMA device of {} has its verbs node", self.0.selector())
    }
    fn scope(&self) -> Scope {
        userspace()
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let rdma = match self.0.some_rdma(facts) {
            Ok(rdma) => rdma,
            Err(judgement) => return judgement,
        };
        let Some(uverbs) = rdma.device.uverbs.get() else {
            return Judgement::unknown(rdma.device.uverbs.why_not());
        };
        let seen = &facts.evidence.userspace;
        let Some(userspace) = seen.get() else { return Judgement::unknown(seen.why_not()) };
        let Some(node) = uverbs else {
            return Judgement::unmet("a uverbs device", "none", rdma.device.uverbs.source())
                .because("the module ib_uverbs is not loaded", "modprobe ib_uverbs");
        };
        let path = format!("/dev/infiniband/{node}");
        if userspace.nodes.iter().any(|one| *one == path || one == node) {
            return Judgement::met_with(path);
        }
        Judgement::unmet(&path, "no such node", "/dev/infiniband")
    }
}

/// "the verbs library lists the device of ens1f0".
pub(super) struct Listed(pub(super) Port);

impl Claim for Listed {
    fn entry(&self) -> &'static Entry {
        &DEVICE
    }
    fn subject(&self) -> Subject {
        self.0.subject()
    }
    fn sentence(&self) -> String {
        format!("the verbs library lists the device of {}", self.0.selector())
    }
    fn scope(&self) -> Scope {
        Scope { verbs: true, ..userspace() }
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let rdma = match self.0.some_rdma(facts) {
            Ok(rdma) => rdma,
            Err(judgement) => return judgement,
        };
        let seen = &facts.evidence.verbs;
        let listed = match seen {
            Seen::Known { value, .. } => value,
            // A library that is there and does not open is a defect of the host, not a gap in the look.
            Seen::Unknown { why, source } => return Judgement::unmet(rdma.name, why, source),
            Seen::NotAsked => return Judgement::unknown(seen.why_not()),
        };
        if listed.iter().any(|device| device.name == rdma.name) {
            return Judgement::met_with(rdma.name);
        }
        let names: Vec<&str> = listed.iter().map(|device| device.name.as_str()).collect();
        let names = if names.is_empty() { "no device".to_owned() } else { names.join(", ") };
        Judgement::unmet(rdma.name, names, seen.source())
    }
}
