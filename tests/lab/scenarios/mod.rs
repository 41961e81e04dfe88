//! The scenarios, a file a topic. Each is a function over a lab in its known state; its name is a
//! sentence that is true when it passes. To add one: write the function, list it in its file.

mod lab_itself;

use crate::bench::Bench;
use crate::registry::Scenario;

pub(crate) fn all() -> Vec<Scenario> {
    lab_itself::scenarios()
}

pub(crate) fn benches() -> Vec<Bench> {
    Vec::new()
}
