//! Profiles from files, good and bad, and hostile ones.

mod fixtures;
mod hostile;
mod hosts;
