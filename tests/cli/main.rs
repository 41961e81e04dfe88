//! The program as its callers see it: exact output and exit codes, on a machine of any kind.
//!
//! Hosts are the example hosts of the library, given as facts files; what depends on the machine
//! that runs the tests belongs to the lab.

mod explain;
mod hostile;
mod linking;
mod looks;
mod machine;
mod profiles;
mod readme;
mod streams;
mod support;
mod usage;
