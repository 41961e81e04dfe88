//! skeleton
pub mod profile;
pub mod values;
