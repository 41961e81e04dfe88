//! skeleton

pub mod change;
pub mod facts;
pub mod host;
pub mod profile;
pub mod smoke;
pub mod values;
pub mod verbs;
