//! skeleton

pub mod smoke;
pub mod verbs;
