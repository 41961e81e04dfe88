//! looks
