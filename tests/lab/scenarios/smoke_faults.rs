//! What breaks a smoke test, one fault at a time: each ends by its deadline, with the diagnosis that
//! an administrator needs.

use super::common;
use crate::bed::{DriverSet, Lab, Node, Ran, Running};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let on_two = |name, body| scenario(name, DriverSet::OutOfTree, 2, body);
    vec![
        on_two("smoke says what keeps it from its peer", unreachable),
        on_two("smoke says what broke in the middle of it", broken),
    ]
}

/// A rule in a firewall's input chain.
const FIREWALL: &str = "nft add table ip f; nft add chain ip f i '{ type filter hook input priority 0; }'; nft add rule ip f i";
const OPEN: &str = "nft flush ruleset";

fn smoke() -> String {
    format!("roce-setup smoke {}", common::shipped("s1-grt.yaml"))
}

/// Both ports in RoCEv2, and a server on the second node.
fn prepare(lab: &Lab) -> Running<'_> {
    lab.reset(&["roce_ena=1"]);
    let profile = common::shipped("s1-grt.yaml");
    let apply = format!("roce-setup apply {profile} --allow-interface ens1f1 --no-smoke");
    for ran in lab.each(|node| node.run_within(90, &apply)) {
        ran.exits(0);
    }
    serve(lab.node(2))
}

fn serve(node: &Node) -> Running<'_> {
    let serve = node.spawn(&format!("exec roce-setup serve {}", common::shipped("s1-grt.yaml")));
    node.until(15, "ss -ltn | grep -q 100.0.1.11:");
    serve
}

/// A fault of the second node before the test: its name, how it comes and goes, and what the first
/// node says.
struct Fault {
    come: String,
    go: &'static str,
    id: &'static str,
    says: &'static [&'static str],
}

fn unreachable(lab: &Lab) {
    let serve = prepare(lab);
    let rule = |rule: &str| format!("{FIREWALL} {rule}");
    let faults = [
        Fault {
            come: "ip addr del 100.0.1.11/24 dev ens1f0".to_owned(),
            go: "ip addr add 100.0.1.11/24 dev ens1f0",
            id: "smoke.peer",
            says: &["nobody on ens1f0 answers for 100.0.1.11", "is not on this cable or VLAN"],
        },
        Fault {
            come: "ip addr add 100.0.2.11/24 dev ens1f0; ip addr del 100.0.1.11/24 dev ens1f0"
                .to_owned(),
            go: "ip addr add 100.0.1.11/24 dev ens1f0; ip addr del 100.0.2.11/24 dev ens1f0",
            id: "smoke.peer",
            says: &["nobody on ens1f0 answers for 100.0.1.11", "has another address"],
        },
        Fault {
            come: rule("tcp dport 18630 drop"),
            go: OPEN,
            id: "smoke.control",
            says: &["port 18630: no answer", "a firewall drops the port silently"],
        },
        Fault {
            come: rule("tcp dport 18630 reject"),
            go: OPEN,
            id: "smoke.control",
            says: &["port 18630: connection refused", "a firewall rejects the port"],
        },
        Fault {
            come: rule("tcp dport 18630 reject with icmp type admin-prohibited"),
            go: OPEN,
            id: "smoke.control",
            says: &["port 18630: ", "a firewall rejects the port"],
        },
        Fault {
            come: rule("udp dport 4791 drop"),
            go: OPEN,
            id: "smoke.connect",
            says: &["no answer within its deadline", "open UDP port 4791"],
        },
        Fault {
            come: "pkill -STOP -x roce-setup".to_owned(),
            go: "pkill -CONT -x roce-setup",
            id: "smoke.control",
            says: &["no answer on the control connection", "the peer's program is stopped"],
        },
    ];
    for fault in faults {
        lab.node(2).run(&fault.come).exits(0);
        let ran = lab.node(1).run_within(60, &smoke());
        lab.node(2).run(fault.go).exits(0);
        // Connecting is given five seconds for each step; this guest needs two more.
        failed(ran, fault.id, fault.says).within(14.0);
    }
    lab.node(1).run_within(90, &smoke()).exits(0).says("link tested");
    serve.signal(15);
    serve.wait_within(10).exits(0);
    lab.each(|node| node.run("pgrep -a roce-setup").exits(1));
}

fn broken(lab: &Lab) {
    let serve = prepare(lab);
    // The link comes back by itself, so that the next fault finds it.
    let during = |fault: &dyn Fn(), mend: &dyn Fn(), id: &str, says: &[&str]| {
        let running = lab.node(1).spawn(&format!("exec {}", smoke()));
        running.until_it_says("test read-lat", 30);
        fault();
        let ran = running.wait_within(60);
        mend();
        failed(ran, id, says);
    };
    let on = |node: usize, script: &'static str| move || drop(lab.node(node).run(script).exits(0));
    during(&|| lab.cut("ens1f0"), &|| lab.plug("ens1f0"), "smoke.data", &["100.0.1.11"]);
    lab.node(1).until(15, "ip link show ens1f0 | grep -q LOWER_UP");
    lab.node(2).until(15, "! pgrep -x roce-setup -c | grep -qx 2");
    during(
        &on(2, "ip addr del 100.0.1.11/24 dev ens1f0"),
        &on(2, "ip addr add 100.0.1.11/24 dev ens1f0"),
        "smoke.data",
        &["100.0.1.11"],
    );
    serve.signal(15);
    serve.wait_within(30);
}

/// A failed smoke test with its diagnosis.
#[track_caller]
fn failed(ran: Ran, id: &str, says: &[&str]) -> Ran {
    let ran = ran.exits(1).says(&format!("the smoke test failed: {id} ens1f0: "));
    says.iter().fold(ran, |ran, text| ran.says(text))
}
