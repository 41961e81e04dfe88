//! The scenarios, a file a topic. Each is a function over a lab in its known state; its name is a
//! sentence that is true when it passes. To add one: write the function, list it in its file.

mod absence;
mod benches;
mod common;
mod debian;
mod in_kernel;
mod lab_drivers;
mod lab_guests;
mod lab_traffic;
mod model;
mod privilege;
mod s1;
mod smoke_faults;
mod waiting;

use crate::bench::Bench;
use crate::registry::Scenario;

pub(crate) fn all() -> Vec<Scenario> {
    [
        lab_guests::scenarios(),
        lab_drivers::scenarios(),
        lab_traffic::scenarios(),
        s1::scenarios(),
        in_kernel::scenarios(),
        smoke_faults::scenarios(),
        waiting::scenarios(),
        privilege::scenarios(),
        debian::scenarios(),
        absence::scenarios(),
        model::scenarios(),
    ]
    .concat()
}

pub(crate) fn benches() -> Vec<Bench> {
    benches::benches()
}
