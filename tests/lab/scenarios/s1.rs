//! The first seed: two servers back to back, Intel's out-of-tree drivers, irdma loaded without
//! `roce_ena`. One profile makes RoCEv2 of it on both, and proves the link.

use crate::bed::{DriverSet, Knobs, Lab, Node, Ran};
use crate::registry::{Scenario, scenario, soak};

use super::common::{self, state};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let on_two = |name, body| scenario(name, DriverSet::OutOfTree, 2, body);
    vec![
        on_two(
            "S1: one profile, applied on both hosts at once, leaves a tested RoCEv2 link",
            at_once,
        ),
        on_two(
            "S1: an apply against a peer that serves tests the link on both ends",
            against_serve,
        ),
        on_two("a port outside the profile must be allowed by name", other_port),
        on_two("a process with a verbs device open is named, and nothing is changed", in_use),
        on_two("a cut cable is the diagnosis, and what hangs on it is skipped", cut_cable),
        on_two("a peer that does not serve is said at once, with address and port", not_serving),
        on_two("a peer that never comes is a warning, and the state is kept", never_comes),
        on_two("a peer that dies in the middle of the test is said by the deadline", dies),
        on_two("a responder stays for a peer that comes later, and ends by itself", lingers),
        on_two("loopback proves the device and says that it is not the cable", loopback),
        soak("S1 from every former state, in every order", DriverSet::OutOfTree, 2, matrix)
            .within(3600),
    ]
}

fn profile() -> String {
    common::shipped("s1-grt.yaml")
}

fn apply() -> String {
    format!("roce-setup apply {} --allow-interface ens1f1", profile())
}

fn still_reachable(lab: &Lab) {
    lab.nodes().iter().for_each(|node| common::still_reachable(node, "ice"));
}

/// The port as the kernel shows it, without the product: mode, addresses, MTU, parameters.
fn is_rocev2(node: &Node, address: &str, limits_sel: &str) {
    node.run(
        "cat /sys/class/infiniband/rdmap2s0f0/node_type /sys/class/infiniband/irdma1/node_type",
    )
    .prints("1: CA\n1: CA");
    node.run("cat /sys/class/infiniband/rdmap2s0f0/ports/1/gid_attrs/types/1").prints("RoCE v2");
    node.run("ip -4 -o addr show dev ens1f0 | awk '{print $4}'").prints(address);
    node.run("cat /sys/class/net/ens1f0/mtu").prints("4200");
    node.run("cd /sys/module/irdma/parameters; cat roce_ena limits_sel")
        .prints(&format!("1\n{limits_sel}"));
}

/// How often the stand-in was told to make or delete a device: a reload shows in it.
fn reloads(node: &Node) -> String {
    node.run("grep -c none /run/lab/rdma-sync.log").stdout
}

fn at_once(lab: &Lab) {
    lab.reset(&["limits_sel=5"]);
    lab.node(1).run("ip addr add 100.0.1.10/8 dev ens1f0").exits(0);
    let ran = lab.each(|node| node.run_within(150, &apply()));
    for (ran, (own, other)) in ran.into_iter().zip([("10", "11"), ("11", "10")]) {
        ran.exits(0)
            .says("as the profile says")
            .says("changed  remove irdma (that module alone)")
            .says("roce_ena=1")
            .says(&format!("100.0.1.{own} <-> 100.0.1.{other}"))
            .says("link tested: connected, and all data arrived as it was sent")
            .says("crossed the port by its own counters");
    }
    is_rocev2(lab.node(1), "100.0.1.10/24", "5");
    is_rocev2(lab.node(2), "100.0.1.11/24", "5");
    let before: Vec<String> = lab.nodes().iter().map(reloads).collect();
    for ran in lab.each(|node| node.run_within(150, &apply())) {
        ran.exits(0).says("as the profile says").does_not_say("changed ");
    }
    let after: Vec<String> = lab.nodes().iter().map(reloads).collect();
    assert_eq!(before, after, "the second apply reloaded irdma");
    still_reachable(lab);
}

fn against_serve(lab: &Lab) {
    lab.node(2).run_within(90, &format!("{} --no-smoke", apply())).exits(0).says("link NOT tested");
    let serve = lab.node(2).spawn(&format!("exec roce-setup serve {}", profile()));
    lab.node(2).until(15, "ss -ltn | grep -q 100.0.1.11:");
    lab.node(1)
        .run_within(120, &apply())
        .exits(0)
        .says("link tested: connected, and all data arrived as it was sent");
    serve.until_it_says("100.0.1.10", 10);
    // SIGTERM ends it cleanly.
    serve.signal(15);
    serve.wait_within(10).exits(0);
    lab.node(2).run("ss -ltn | grep 100.0.1.11:").exits(1);
    still_reachable(lab);
}

fn other_port(lab: &Lab) {
    let node = lab.node(1);
    let before = state(node);
    for command in ["plan", "apply"] {
        node.run(&format!("roce-setup {command} {}", profile()))
            .exits(2)
            .says("irdma is not reloaded")
            .says("ens1f1")
            .says("--allow-interface ens1f1");
    }
    assert_eq!(state(node), before);
    still_reachable(lab);
}

fn in_use(lab: &Lab) {
    let node = lab.node(1);
    let before = state(node);
    // A reader of the device file: the kernel's reference count stays at 0.
    let holder = node.spawn("exec 3<>/dev/infiniband/uverbs0; exec sleep 60");
    node.until(5, "ls -l /proc/*/fd 2>/dev/null | grep -q uverbs0");
    node.run("cat /sys/module/irdma/refcnt").prints("0");
    node.run(&apply())
        .exits(2)
        .says("irdma is not removed")
        .says("sleep (pid ")
        .says("/dev/infiniband/uverbs0")
        .says("--force-reload");
    assert_eq!(state(node), before);
    holder.kill();
    node.run(&format!("{} --no-smoke", apply())).exits(0);
    still_reachable(lab);
}

fn cut_cable(lab: &Lab) {
    let node = lab.node(1);
    node.run_within(90, &format!("{} --no-smoke", apply())).exits(0);
    lab.cut("ens1f0");
    node.until(10, "[ $(cat /sys/class/net/ens1f0/carrier) = 0 ]");
    node.run(&format!("roce-setup check {}", profile()))
        .exits(1)
        .says("not as the profile says: link.carrier ens1f0")
        .says("FAIL     ens1f0 has carrier  (link.carrier)")
        .says("skipped  the RDMA port of ens1f0 is ACTIVE: needs carrier")
        .says("skipped  ens1f0 has a RoCE v2 GID for 100.0.1.10: needs carrier");
    let before = state(node);
    // The link's fault is not the host's: nothing is undone, and nothing waits for the peer.
    node.run_within(60, &apply())
        .exits(1)
        .says("link.carrier")
        .says("needs carrier")
        .does_not_say("undone");
    assert_eq!(state(node), before);
    still_reachable(lab);
}

fn not_serving(lab: &Lab) {
    for ran in lab.each(|node| node.run_within(90, &format!("{} --no-smoke", apply()))) {
        ran.exits(0);
    }
    lab.node(1)
        .run(&format!("roce-setup smoke {}", profile()))
        .exits(1)
        .within(4.0)
        .says("smoke.control")
        .says("100.0.1.11")
        .says("18630")
        .says("refused")
        .says("roce-setup serve");
    still_reachable(lab);
}

fn never_comes(lab: &Lab) {
    let node = lab.node(1);
    let text = std::fs::read_to_string(profile()).unwrap_or_else(|error| panic!("{error}"));
    node.write("/run/short.yaml", &text.replace("peer: pair", "peer: pair\n  wait: 3s"));
    node.run_within(90, "roce-setup apply /run/short.yaml --allow-interface ens1f1")
        .exits(0)
        .says("link NOT tested")
        .says("smoke.peer")
        .says("roce-setup smoke")
        .says("as the profile says");
    is_rocev2(node, "100.0.1.10/24", "3");
    still_reachable(lab);
}

fn dies(lab: &Lab) {
    for ran in lab.each(|node| node.run_within(90, &format!("{} --no-smoke", apply()))) {
        ran.exits(0);
    }
    let serve = lab.node(2).spawn(&format!("exec roce-setup serve {}", profile()));
    lab.node(2).until(15, "ss -ltn | grep -q 100.0.1.11:");
    let smoke = lab.node(1).spawn(&format!("exec roce-setup smoke {}", profile()));
    smoke.until_it_says("test read-lat", 20);
    serve.signal(9);
    let ran: Ran = smoke.wait_within(60);
    ran.exits(1).says("smoke.data").says("100.0.1.11");
    lab.node(1).run("pgrep -a roce-setup").exits(1);
    still_reachable(lab);
}

fn lingers(lab: &Lab) {
    let text = std::fs::read_to_string(profile()).unwrap_or_else(|error| panic!("{error}"));
    let text = text.replace("peer: pair", "peer: pair\n  wait: 2s\n  linger: 60s");
    lab.each(|node| node.write("/run/linger.yaml", &text));
    let apply = "roce-setup apply /run/linger.yaml --allow-interface ens1f1";
    lab.node(2)
        .run_within(90, apply)
        .exits(0)
        .says("link NOT tested")
        .says("a responder stays for the peer of ens1f0 for 60 s: pid ");
    lab.node(2).until(15, "ss -ltn | grep -q 100.0.1.11:");
    lab.node(1).run_within(120, apply).exits(0).says("link tested: connected");
    lab.node(2).until(60, "! pgrep -x roce-setup");
    still_reachable(lab);
}

fn loopback(lab: &Lab) {
    let node = lab.node(1);
    node.run_within(90, &format!("{} --no-smoke", apply())).exits(0);
    node.run(&format!("roce-setup smoke {} --loopback", profile()))
        .exits(0)
        .says("proves the device and the library, not the cable");
    still_reachable(lab);
}

/// Former addresses x parameters x late devices x which host comes first.
fn matrix(lab: &Lab) -> u64 {
    let mut cases = 0;
    for former in ["", "100.0.1.10/8", "100.0.1.10/24", "100.0.1.77/25"] {
        for parameters in [&["limits_sel=5"][..], &["roce_ena=1", "limits_sel=5"]] {
            for (delay, first) in [(0, 1), (3, 2)] {
                lab.reset(parameters);
                if !former.is_empty() {
                    lab.node(1).run(&format!("ip addr add {former} dev ens1f0")).exits(0);
                }
                lab.each(|node| node.rdma_knobs(&Knobs { delay, ..Knobs::default() }));
                let ran = lab.each(|node| {
                    let wait = if node.name() == format!("server{first}") { 0 } else { 5 };
                    node.run_within(170, &format!("sleep {wait}; {}", apply()))
                });
                for ran in ran {
                    ran.exits(0)
                        .says("link tested: connected, and all data arrived as it was sent");
                }
                let kept = if former.ends_with("77/25") { "100.0.1.77/25\n" } else { "" };
                is_rocev2(lab.node(1), &format!("{kept}100.0.1.10/24"), "5");
                is_rocev2(lab.node(2), "100.0.1.11/24", "5");
                still_reachable(lab);
                cases += 1;
            }
        }
    }
    cases
}
