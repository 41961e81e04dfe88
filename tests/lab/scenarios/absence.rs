//! Parts of RDMA that are not there: every command starts and answers all the same.

use super::common::{finding, shipped, still_reachable};
use crate::bed::{DriverSet, Lab, Node, Ran};
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    let on_two = |name, body| scenario(name, DriverSet::Debian, 2, body);
    vec![
        on_two("without the verbs library every command answers, in the loader's words", library),
        on_two("without a provider the device is not listed, and that is said", provider),
        on_two("without RDMA in the kernel every command answers", no_rdma),
    ]
}

/// Every command that only looks, in JSON: it ends with a verdict or without one, and never
/// without a document.
fn all_answer(node: &Node) {
    let profile = shipped("soft-roce.yaml");
    let commands = [
        "status".to_owned(),
        "facts".to_owned(),
        "check".to_owned(),
        "explain rdma.mode".to_owned(),
        format!("check {profile}"),
        format!("plan {profile}"),
        format!("smoke --loopback {profile}"),
    ];
    for command in commands {
        let ran = node.run(&format!("roce-setup --output json {command}"));
        assert!(matches!(ran.code, Some(0..=2)), "{ran:?}");
        let answer = ran.json();
        assert!(answer.is_object() || answer.is_array(), "{ran:?}");
        let text = node.run(&format!("roce-setup {command}")).does_not_say("panicked");
        assert_eq!(text.code, ran.code, "{text:?}");
        assert!(!text.stdout.is_empty() || !text.stderr.is_empty(), "{text:?}");
    }
}

/// A report in JSON of a command that fails with this code.
fn report(node: &Node, code: i32, command: &str) -> (serde_json::Value, Ran) {
    let ran = node.run(&format!("roce-setup --output json {command}")).exits(code);
    (ran.json(), ran)
}

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libibverbs.so.1";

fn library(lab: &Lab) {
    let node = lab.node(1);
    let profile = shipped("soft-roce.yaml");
    node.run(&format!("roce-setup apply --no-smoke {profile}")).exits(0);
    // The file is there and is no library.
    node.run(&format!("mount --bind /dev/null $(readlink -f {LIBRARY})")).exits(0);
    all_answer(node);
    let (answer, ran) = report(node, 1, &format!("apply --no-smoke {profile}"));
    let _ = ran.says("file too short");
    assert_eq!(finding(&answer, "verbs.device")["verdict"], "unmet", "{answer:#}");
    node.run(&format!("umount $(readlink -f {LIBRARY}); rm {LIBRARY}")).exits(0);
    all_answer(node);
    let (answer, ran) = report(node, 1, &format!("check {profile}"));
    let _ = ran.says("no libibverbs.so.1");
    assert_eq!(finding(&answer, "verbs.library")["verdict"], "unmet");
    let (_, ran) = report(node, 1, &format!("apply --no-smoke {profile}"));
    let _ = ran.says("libibverbs.so.1: cannot open shared object file: No such file or directory");
    node.run(&format!("cd $(dirname {LIBRARY}); ln -s libibverbs.so.1.* {LIBRARY}; ibv_devices"))
        .exits(0);
    still_reachable(node, "e1000e");
}

fn provider(lab: &Lab) {
    let node = lab.node(1);
    let profile = shipped("soft-roce.yaml");
    node.run(&format!("roce-setup apply --no-smoke {profile}")).exits(0);
    node.run("mount -t tmpfs none /usr/lib/x86_64-linux-gnu/libibverbs").exits(0);
    all_answer(node);
    let (answer, ran) = report(node, 1, &format!("check {profile}"));
    let _ = ran.says("librxe-rdmav*.so");
    assert_eq!(finding(&answer, "verbs.provider")["verdict"], "unmet");
    node.run("umount /usr/lib/x86_64-linux-gnu/libibverbs").exits(0);
    node.run(&format!("roce-setup check {profile}")).exits(0);
    still_reachable(node, "e1000e");
}

/// ib_core gone, so that NETLINK_RDMA is absent too; and no driver here speaks devlink.
fn no_rdma(lab: &Lab) {
    let node = lab.node(1);
    node.run(
        "for round in 1 2 3 4 5 6 7 8 9; do
             for m in irdma siw rdma_rxe rdma_ucm rdma_cm iw_cm ib_cm ib_uverbs ib_umad ib_core; do
                 [ -d /sys/module/$m ] && rmmod $m
             done
         done 2>/dev/null; test ! -e /sys/module/ib_core -a ! -e /sys/class/infiniband",
    )
    .exits(0);
    all_answer(node);
    node.run("roce-setup status").exits(0).says("ens1f0");
    let (answer, _) = report(node, 1, &format!("check {}", shipped("soft-roce.yaml")));
    assert_eq!(finding(&answer, "rdma.driver")["verdict"], "unmet", "{answer:#}");
    node.run("test ! -e /sys/module/ib_core").exits(0);
    still_reachable(node, "e1000e");
}
