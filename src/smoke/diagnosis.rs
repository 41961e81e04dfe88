//! From an error to what it usually means and what to do: the translation of errno, work completion
//! status and connection events.

use nix::errno::Errno;

use super::outcome::{SmokeRung, Stage, Verdict};
use crate::verbs::{Reason, VerbsError};

/// A cause and a fix.
type Advice = (&'static str, &'static str);

const SILENT_PEER: Advice = (
    "the peer does not answer RDMA packets although its control connection did: GID or address family, path MTU, a firewall \
     (UDP 4791 for software RoCE), or priority flow control",
    "compare both ends with `roce-setup check`; for software RoCE open UDP port 4791; try a smaller MTU",
);
const NEIGHBOUR: Advice = (
    "the peer's hardware address or GID could not be resolved",
    "check that both addresses are in one subnet and that `ip neigh` lists the peer",
);
const MEMLOCK: Advice = (
    "the locked-memory limit is too low for the test's buffers",
    "raise it: `ulimit -l unlimited`, LimitMEMLOCK=infinity in a systemd unit",
);
const QUEUE_LIMITS: Advice = (
    "a limit of the queue pair is beyond the device's",
    "report it with the output of `ibv_devinfo -v`",
);
const NO_DEVICE: Advice = (
    "no RDMA device belongs to the address, or it has no GID for it yet",
    "check the port with `roce-setup status`: the link must be up and the address configured",
);
const PROVIDER: Advice = (
    "the user-space RDMA libraries are missing or do not fit the kernel",
    "install rdma-core (libibverbs, librdmacm and the provider of the device)",
);
const NO_PROVIDER: Advice = (
    "libibverbs lists no device: the provider library of the device, or its node /dev/infiniband/uverbsN, is missing",
    "install the provider (Debian: ibverbs-providers, EL: libibverbs); `modprobe ib_uverbs`",
);
const NOT_SENT: Advice = (
    "this end's device could not send: its link or its address went away, or the peer's hardware address is unknown",
    "check the port with `roce-setup status`: the link must be up and the address configured",
);
const RDMA_UCM: Advice = (
    "the kernel's connection manager is not available to user space",
    "load it: `modprobe rdma_ucm`",
);
const PERMISSION: Advice = (
    "the device nodes below /dev/infiniband may not be opened",
    "run as root, or allow the user the nodes",
);
const REJECTED: Advice = (
    "nothing listens there any more, or the peer refused the connection request",
    "run the test again; if it stays, look at the peer's own report",
);
const REMOTE_ACCESS: Advice = (
    "the peer's memory was not reachable: its process ended, or its memory key is not valid",
    "look at the peer's own report",
);
const FLUSHED: Advice = (
    "the connection was ended while operations were outstanding: the peer's process ended, or a device went away",
    "look at the peer's own report and at the kernel log of both hosts",
);
const TOO_EARLY: Advice = (
    "the device is not ready for connections yet, which happens right after it appeared",
    "run the test again",
);

/// What an error of `operation` with this reason usually means.
fn advice(error: &VerbsError) -> Option<Advice> {
    match &error.reason {
        Reason::Loader(_) => Some(PROVIDER),
        Reason::Deadline => Some(SILENT_PEER),
        Reason::Completion { status, .. } => match status {
            2 => Some(NOT_SENT),
            5 => Some(FLUSHED),
            9..=11 => Some(REMOTE_ACCESS),
            12 | 13 | 20 => Some(SILENT_PEER),
            _ => None,
        },
        Reason::Event { event, status } => match (event.as_str(), Errno::from_raw(-*status)) {
            (_, Errno::EOPNOTSUPP) => Some(TOO_EARLY),
            (_, Errno::ECONNREFUSED) | ("REJECTED", _) => Some(REJECTED),
            ("ADDR_ERROR" | "ROUTE_ERROR", _) => Some(NEIGHBOUR),
            ("UNREACHABLE" | "CONNECT_ERROR", _) => Some(SILENT_PEER),
            ("DEVICE_REMOVAL" | "DISCONNECTED", _) => Some(FLUSHED),
            _ => None,
        },
        Reason::Errno(errno) => match (error.operation.as_str(), Errno::from_raw(*errno)) {
            ("ibv_reg_mr", Errno::ENOMEM) => Some(MEMLOCK),
            ("rdma_create_qp", Errno::EINVAL | Errno::ENOMEM) => Some(QUEUE_LIMITS),
            ("opening", Errno::ENODEV | Errno::ENOENT) => Some(RDMA_UCM),
            ("rdma_create_event_channel", _) => Some(NO_PROVIDER),
            (_, Errno::EACCES | Errno::EPERM) => Some(PERMISSION),
            ("rdma_bind_addr", _) | (_, Errno::ENODEV) => Some(NO_DEVICE),
            ("rdma_accept" | "rdma_connect", Errno::ETIMEDOUT) => Some(NEIGHBOUR),
            (_, Errno::EOPNOTSUPP) => Some(TOO_EARLY),
            _ => None,
        },
    }
}

/// The unmet stage of a failed verbs call.
pub(crate) fn unmet(rung: SmokeRung, error: &VerbsError) -> Stage {
    let (cause, fix) = advice(error).unzip();
    Stage {
        rung,
        verdict: Verdict::Unmet,
        observed: error.to_string(),
        cause: cause.map(str::to_owned),
        fix: fix.map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_12_is_a_silent_peer_and_not_a_number() {
        let reason = Reason::Completion { status: 12, name: "RETRY_EXC_ERR".to_owned(), vendor: 0 };
        let stage =
            unmet(SmokeRung::Data, &VerbsError::new("RDMA", "write-lat of 2 bytes", reason));
        assert_eq!(
            stage.observed,
            "RDMA write-lat of 2 bytes: work completion status 12 (RETRY_EXC_ERR), vendor error 0x0"
        );
        assert!(
            stage
                .cause
                .is_some_and(|cause| cause.starts_with("the peer does not answer RDMA packets"))
        );
    }

    #[test]
    fn the_same_errno_means_what_its_operation_says() {
        let cause = |operation: &str, errno| {
            unmet(SmokeRung::Device, &VerbsError::new(operation, "x", Reason::Errno(errno)))
                .cause
                .unwrap_or_default()
        };
        assert_eq!(cause("ibv_reg_mr", libc::ENOMEM), MEMLOCK.0);
        assert_eq!(cause("rdma_create_qp", libc::ENOMEM), QUEUE_LIMITS.0);
        assert_eq!(cause("rdma_bind_addr", libc::EADDRNOTAVAIL), NO_DEVICE.0);
        assert_eq!(cause("rdma_listen", libc::EBADF), "");
    }

    #[test]
    fn a_missing_library_keeps_the_loaders_words() {
        let words = "libibverbs.so.1: cannot open shared object file: No such file or directory";
        let stage = unmet(
            SmokeRung::Device,
            &VerbsError::new("opening", "libibverbs.so.1", Reason::Loader(words.to_owned())),
        );
        assert_eq!(stage.observed, format!("opening libibverbs.so.1: {words}"));
        assert_eq!(stage.cause.as_deref(), Some(PROVIDER.0));
    }
}
