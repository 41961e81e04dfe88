//! skeleton
pub mod values;
