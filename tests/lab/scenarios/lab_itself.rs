//! The lab's own promises, without the product: what the other scenarios stand on.

use crate::bed::{DriverSet, Lab};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    use DriverSet::{Debian, InKernel, OutOfTree};
    vec![
        scenario(
            "out-of-tree guests answer side by side",
            OutOfTree,
            2,
            both_answer,
        ),
        scenario(
            "in-kernel guests answer side by side",
            InKernel,
            2,
            both_answer,
        ),
        scenario("debian guests answer side by side", Debian, 2, both_answer),
    ]
}

fn both_answer(lab: &Lab) {
    for (node, name) in lab.nodes().iter().zip(["server1", "server2"]) {
        node.run("hostname").exits(0).prints(name);
        node.run("exit 3").exits(3);
    }
}
