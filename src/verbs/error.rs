//! What a verbs call was doing, to what, and the kernel's or the loader's own word for why it
//! failed.

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

/// A failed verbs or rdma_cm operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{operation} {object}: {reason}")]
pub struct VerbsError {
    /// The library's function, such as `ibv_reg_mr`.
    pub operation: String,
    /// What it was applied to: a device, an address, a size.
    pub object: String,
    /// The cause as it was reported.
    pub reason: Reason,
}

/// The cause of a [`VerbsError`] in the words of whoever reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// An errno of the kernel or the provider library.
    #[error("{}", Errno::from_raw(*.0))]
    Errno(i32),
    /// The dynamic loader's message: the library or one of its functions is missing.
    #[error("{0}")]
    Loader(String),
    /// An rdma_cm event other than the awaited one, with its status (a negative errno or a
    /// protocol's reason).
    #[error("the connection manager answered {event} (status {status})")]
    Event {
        /// The event's name, such as `REJECTED`.
        event: String,
        /// `rdma_cm_event.status`.
        status: i32,
    },
    /// A work completion that is not a success (`enum ibv_wc_status`).
    #[error("work completion status {status} ({name}), vendor error {vendor:#x}")]
    Completion {
        /// The numeric status.
        status: u32,
        /// Its name in the verbs header.
        name: String,
        /// The provider's own code.
        vendor: u32,
    },
    /// The operation's deadline passed first.
    #[error("no answer within its deadline")]
    Deadline,
}

impl VerbsError {
    /// An error of `operation` on `object` for `reason`.
    pub fn new(operation: &str, object: impl Into<String>, reason: Reason) -> Self {
        Self { operation: operation.to_owned(), object: object.into(), reason }
    }

    /// As [`VerbsError::new`] with the calling thread's current errno, for functions that return
    /// null or -1.
    pub(crate) fn last_os(operation: &str, object: impl Into<String>) -> Self {
        Self::new(operation, object, Reason::Errno(Errno::last_raw()))
    }

    /// The errno, where that is the reason.
    pub fn errno(&self) -> Option<i32> {
        match self.reason {
            Reason::Errno(errno) => Some(errno),
            _ => None,
        }
    }
}

/// The names of `enum ibv_wc_status` by value, without their `IBV_WC_` prefix.
const COMPLETION_NAMES: [&str; 24] = [
    "SUCCESS",
    "LOC_LEN_ERR",
    "LOC_QP_OP_ERR",
    "LOC_EEC_OP_ERR",
    "LOC_PROT_ERR",
    "WR_FLUSH_ERR",
    "MW_BIND_ERR",
    "BAD_RESP_ERR",
    "LOC_ACCESS_ERR",
    "REM_INV_REQ_ERR",
    "REM_ACCESS_ERR",
    "REM_OP_ERR",
    "RETRY_EXC_ERR",
    "RNR_RETRY_EXC_ERR",
    "LOC_RDD_VIOL_ERR",
    "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR",
    "INV_EECN_ERR",
    "INV_EEC_STATE_ERR",
    "FATAL_ERR",
    "RESP_TIMEOUT_ERR",
    "GENERAL_ERR",
    "TM_ERR",
    "TM_RNDV_INCOMPLETE",
];

/// The header's name of a work completion status.
pub(crate) fn completion_name(status: u32) -> &'static str {
    usize::try_from(status)
        .ok()
        .and_then(|index| COMPLETION_NAMES.get(index))
        .copied()
        .unwrap_or("unknown status")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errno_is_said_by_name_with_operation_and_object() {
        let error =
            VerbsError::new("ibv_reg_mr", "1048576 bytes on rxe0", Reason::Errno(libc::ENOMEM));
        assert_eq!(error.to_string(), "ibv_reg_mr 1048576 bytes on rxe0: ENOMEM: Out of memory");
        assert_eq!(error.errno(), Some(libc::ENOMEM));
    }

    #[test]
    fn a_completion_status_is_said_by_number_and_name() {
        let reason =
            Reason::Completion { status: 12, name: completion_name(12).to_owned(), vendor: 0x81 };
        assert_eq!(
            reason.to_string(),
            "work completion status 12 (RETRY_EXC_ERR), vendor error 0x81"
        );
        assert_eq!(completion_name(24), "unknown status");
    }
}
