//! The cables carry traffic: IP, and RDMA over rxe and siw.

use crate::bed::{DriverSet, Lab};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    use DriverSet::{InKernel, OutOfTree};
    vec![
        scenario("the guests ping each other over both ports", OutOfTree, 2, ping),
        scenario("rping runs over iWARP between the guests", OutOfTree, 2, rping_over_siw),
        scenario(
            "rping and ib_write_bw run over RoCEv2 between the guests",
            InKernel,
            2,
            write_over_rxe,
        ),
    ]
}

/// The first seed's addresses: 100.0.1.10 and .11 on ens1f0, 100.0.2.10 and .11 on ens1f1.
fn give_addresses(lab: &Lab) {
    for (index, node) in lab.nodes().iter().enumerate() {
        let host = 10 + index;
        node.run(&format!(
            "ip addr add 100.0.1.{host}/24 dev ens1f0; ip addr add 100.0.2.{host}/24 dev ens1f1"
        ))
        .exits(0);
    }
}

fn ping(lab: &Lab) {
    give_addresses(lab);
    for network in [1, 2] {
        lab.node(1)
            .run(&format!("ping -c 3 -i 0.2 -W 5 100.0.{network}.11"))
            .exits(0)
            .says("3 received");
    }
    // Each port has a cable of its own.
    lab.cut("ens1f0");
    lab.node(1).run("ping -c 2 -i 0.2 -W 1 100.0.1.11").exits(1);
    lab.node(1).run("ping -c 2 -i 0.2 -W 5 100.0.2.11").exits(0).says("2 received");
}

/// A connection right after the device appeared was seen to fail once with EOPNOTSUPP, so a client
/// has a second try.
fn rping(lab: &Lab) {
    give_addresses(lab);
    let server = lab.node(1).spawn("rping -s -v -P -a 100.0.1.10");
    let client = "rping -c -v -C 3 -a 100.0.1.10";
    lab.node(2)
        .run(&format!("sleep 1; {client} || {{ sleep 1; {client}; }}"))
        .exits(0)
        .says("ping data: rdma-ping-2");
    server.kill();
}

fn rping_over_siw(lab: &Lab) {
    rping(lab);
}

fn write_over_rxe(lab: &Lab) {
    rping(lab);
    let options = "-R --report_gbits -s 65536 -n 100";
    let server = lab.node(1).spawn(&format!("ib_write_bw {options} -d rdmap2s0f0"));
    lab.node(2)
        .run(&format!("sleep 2; ib_write_bw {options} -d rdmap2s0f0 100.0.1.10"))
        .exits(0)
        .says("65536      100");
    server.wait_within(30).exits(0).says("65536      100");
}
