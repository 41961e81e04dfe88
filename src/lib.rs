//! Brings RDMA ports of Linux hosts into the mode a profile asks for, and proves it.

pub mod change;
pub mod facts;
pub mod host;
pub mod profile;
pub mod smoke;
pub mod values;
pub mod verbs;
