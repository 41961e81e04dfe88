//! The lab's own promises about guests: what other scenarios stand on.

use crate::bed::{DriverSet, Knobs, Lab, Node};
use crate::message::Script;
use crate::registry::{Scenario, scenario};

pub(crate) fn scenarios() -> Vec<Scenario> {
    use DriverSet::{Debian, OutOfTree};
    vec![
        scenario(
            "a command's exit code and both its streams come back",
            Debian,
            2,
            streams_come_back,
        ),
        scenario(
            "a command that does not end is killed at its deadline",
            Debian,
            2,
            deadline_kills,
        ),
        scenario("nobody has the capabilities given and no others", Debian, 2, nobody_is_nobody),
        scenario("a background command is heard, signalled and waited for", Debian, 2, background),
        scenario("a cut cable takes the carrier of both its ends", Debian, 2, cut_cable),
        scenario("a guest sees the machine's files and changes only its own", Debian, 2, overlay),
        scenario(
            "a guest that is killed is noticed, and the other goes on",
            Debian,
            2,
            killed_guest,
        ),
        scenario("a reset brings back whatever was changed", OutOfTree, 2, reset_restores),
    ]
}

fn streams_come_back(lab: &Lab) {
    for (node, name) in lab.nodes().iter().zip(["server1", "server2"]) {
        let ran =
            node.run("hostname; echo trouble >&2; exit 3").exits(3).prints(name).warns("trouble");
        assert_eq!(ran.stderr, "trouble\n");
    }
    lab.node(1).run("kill -TERM $$").exits(128 + 15);
    lab.node(1)
        .run_with(&[("WORD", "it's \"quoted\"")], "echo \"$WORD\"")
        .prints("it's \"quoted\"");
    lab.node(1).run("seq 200000 | wc -c; seq 200000").exits(0).says("1288895\n").says("\n200000\n");
}

fn deadline_kills(lab: &Lab) {
    let ran = lab.node(1).run_within(1, "echo begun; sleep 54321 & sleep 54321");
    assert_eq!((ran.code, ran.stdout.as_str()), (None, "begun\n"));
    lab.node(1).run("grep -l '5432[1]' /proc/[0-9]*/cmdline").prints("");
}

fn nobody_is_nobody(lab: &Lab) {
    let script = "id -u; grep CapEff /proc/self/status";
    lab.node(1).run_as_nobody(&[], script).exits(0).prints("65534\nCapEff:\t0000000000000000");
    // CAP_NET_ADMIN is bit 12, CAP_SYS_MODULE bit 16.
    lab.node(1)
        .run_as_nobody(&["net_admin", "sys_module"], script)
        .prints("65534\nCapEff:\t0000000000011000");
    lab.node(1)
        .run_as_nobody(&[], "ip link set ens1f0 mtu 9000")
        .exits(2)
        .warns("Operation not permitted");
}

fn background(lab: &Lab) {
    let node = lab.node(1);
    let waiting =
        node.spawn("trap 'echo stopped; exit 7' TERM; echo waiting; while :; do sleep 0.1; done");
    waiting.until_it_says("waiting", 20);
    assert_eq!(waiting.so_far().code, None);
    waiting.signal(libc::SIGTERM);
    waiting.wait_within(20).exits(7).prints("waiting\nstopped");

    let sleeper = node.spawn("sleep 54321");
    assert_eq!(sleeper.wait_within(1).code, None);
    sleeper.kill();
    sleeper.wait_within(20).exits(128 + 9).within(20.0);
}

fn cut_cable(lab: &Lab) {
    let carriers = |node: &Node, wanted: &str| {
        let script = format!(
            "cd /sys/class/net; set -- $(cat ens1f0/carrier ens1f1/carrier); echo \"$*\"; [ \"$*\" = '{wanted}' ]"
        );
        node.until(20, &script).prints(wanted);
    };
    lab.each(|node| carriers(node, "1 1"));
    lab.cut("ens1f0");
    lab.each(|node| carriers(node, "0 1"));
    lab.plug("ens1f0");
    lab.each(|node| carriers(node, "1 1"));
    // One end alone: a transceiver that is pulled out.
    lab.node(2).cut("ens1f1");
    carriers(lab.node(2), "1 0");
    carriers(lab.node(1), "1 1");
    lab.node(2).plug("ens1f1");
    carriers(lab.node(2), "1 1");
}

fn overlay(lab: &Lab) {
    let path = "/etc/a-file-of-the-guest";
    lab.node(1).write(path, "only here\n");
    lab.node(1).run(&format!("cat {path}")).prints("only here");
    lab.node(2).run(&format!("test ! -e {path}")).exits(0);
    assert!(
        !std::path::Path::new(path).exists(),
        "a guest has written {path} on the machine itself"
    );
    lab.node(1).run("rm /usr/bin/perl && ! test -e /usr/bin/perl").exits(0);
    lab.node(2).run("test -e /usr/bin/perl").exits(0);
}

fn killed_guest(lab: &Lab) {
    std::thread::scope(|scope| {
        let pending = scope.spawn(|| {
            let script = Script { text: "sleep 54321".into(), ..Script::default() };
            lab.node(2).try_run(script, 60)
        });
        lab.node(2)
            .run("until grep -q '5432[1]' /proc/[0-9]*/cmdline; do sleep 0.1; done")
            .exits(0);
        lab.node(2).kill();
        let why = match pending.join() {
            Ok(Err(why)) => why,
            other => panic!("a command in a guest that was killed gave {other:?}"),
        };
        assert!(why.starts_with("server2: running `sleep 54321`: the guest has ended"), "{why}");
    });
    assert_eq!((lab.node(1).runs(), lab.node(2).runs()), (true, false));
    lab.node(1).run("hostname").prints("server1");
}

fn reset_restores(lab: &Lab) {
    lab.node(1).rdma_knobs(&Knobs { name: Some("elsewhere0".into()), ..Knobs::default() });
    lab.node(1).run(
        "ip link set ens1f0 mtu 4200; ip addr add 100.0.1.10/8 dev ens1f0; ip link set ens1f1 down
         ip link add link ens1f0 name ens1f0.7 type vlan id 7
         rmmod irdma; modprobe irdma roce_ena=1 limits_sel=5
         rdma link add by_hand type rxe netdev ens1f1
         mkdir /etc/roce-setup; echo x > /etc/roce-setup/profile.yaml",
    );
    let device = "[ \"$(ls /sys/class/infiniband | xargs)\" = 'by_hand elsewhere0' ]";
    lab.node(1).run("sleep 6"); // irdma1 cannot come: its port has an rxe already
    lab.node(1).until(20, "test -e /sys/class/infiniband/elsewhere0");
    lab.node(1).run(device);
    lab.node(1).spawn("sleep 54321 < /dev/infiniband/uverbs0");
    lab.node(2).cut("ens1f1");
    lab.reset(&[]);
    lab.node(1).run("ls /etc/roce-setup /sys/class/net/ens1f0.7").exits(2);
    lab.node(1).run("grep -l '5432[1]' /proc/[0-9]*/cmdline").prints("");
    lab.reset(&["roce_ena=1", "limits_sel=5"]);
}
