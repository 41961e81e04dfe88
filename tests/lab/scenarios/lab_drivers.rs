//! The driver sets behave as the drivers they stand for, down to the traps.

use crate::bed::{DriverSet, Knobs, Lab, Node};
use crate::registry::{Scenario, scenario, soak};

pub(crate) fn scenarios() -> Vec<Scenario> {
    use DriverSet::{Debian, InKernel, OutOfTree};
    vec![
        scenario(
            "the card is at 0000:02:00 and says ice, version and firmware",
            OutOfTree,
            2,
            ice_out_of_tree,
        ),
        scenario(
            "without roce_ena both ports are iWARP, with it RoCEv2",
            OutOfTree,
            2,
            roce_ena_decides,
        ),
        scenario("the out-of-tree irdma overrides devlink", OutOfTree, 2, devlink_is_overridden),
        scenario(
            "a device comes late, under another name, or never, as told",
            OutOfTree,
            2,
            knobs_turn,
        ),
        soak("switches leave the guests as they were", InKernel, 2, switch_and_reset).within(1800),
        scenario("the kernel's own ice has no version of its own", InKernel, 2, ice_in_kernel),
        scenario(
            "devlink switches one port, and refuses both modes at once",
            InKernel,
            2,
            devlink_decides,
        ),
        scenario(
            "the in-kernel irdma ignores roce_ena and exits with 0",
            InKernel,
            2,
            roce_ena_is_ignored,
        ),
        scenario(
            "Debian's own irdma loads without a card and ignores roce_ena",
            Debian,
            2,
            debian_irdma,
        ),
        scenario("rxe, siw and netdevsim are there", Debian, 2, software_devices),
    ]
}

/// Waits until a device's node type is that one.
fn until_type(node: &Node, device: &str, node_type: &str) {
    node.until(
        20,
        &format!("[ \"$(cat /sys/class/infiniband/{device}/node_type)\" = '{node_type}' ]"),
    );
}

fn card(node: &Node, version: &str) {
    for (port, bdf) in [("ens1f0", "0000:02:00.0"), ("ens1f1", "0000:02:00.1")] {
        node.run(&format!("basename $(readlink /sys/class/net/{port}/device/driver)"))
            .prints("ice");
        node.run(&format!("ethtool -i {port}"))
            .says("driver: ice\n")
            .says(&format!("\nversion: {version}\n"))
            .says("firmware-version: 3.20 0x8000d84c 1.3146.0\n")
            .says(&format!("bus-info: {bdf}\n"));
        node.run(&format!("devlink dev info pci/{bdf}"))
            .says("driver ice")
            .says("fw 3.20 0x8000d84c 1.3146.0");
    }
}

fn ice_out_of_tree(lab: &Lab) {
    card(lab.node(1), "1.9.11");
    lab.node(1)
        .run("cat /sys/module/ice/version /sys/module/irdma/version")
        .prints("1.9.11\n1.11.16.6");
}

fn ice_in_kernel(lab: &Lab) {
    let release = lab.node(1).run("uname -r").exits(0).stdout;
    card(lab.node(1), release.trim());
    lab.node(1).run("ls /sys/module/ice/version /sys/module/irdma/version").exits(2);
    lab.node(1).run("modinfo -F intree irdma; modinfo -F parm irdma").prints("Y");
}

fn roce_ena_decides(lab: &Lab) {
    let node = lab.node(1);
    for device in ["rdmap2s0f0", "irdma1"] {
        // The look-alikes: link layer and GID type do not tell iWARP from RoCE.
        node.run(&format!("cd /sys/class/infiniband/{device}; cat node_type ports/1/link_layer ports/1/gid_attrs/types/0"))
            .prints("4: RNIC\nEthernet\nIB/RoCE v1");
        node.run(&format!("ibv_devinfo -d {device}")).says("iWARP (1)");
    }
    node.run("rmmod irdma && ls /sys/class/infiniband && cat /sys/module/ice/initstate")
        .prints("live");
    node.run("modprobe irdma roce_ena=1 limits_sel=5").exits(0);
    for device in ["rdmap2s0f0", "irdma1"] {
        until_type(node, device, "1: CA");
        node.run(&format!("cat /sys/class/infiniband/{device}/ports/1/gid_attrs/types/0"))
            .prints("RoCE v2");
        node.run(&format!("ibv_devinfo -d {device}")).says("InfiniBand (0)").says("Ethernet");
    }
    node.run("cd /sys/module/irdma/parameters; cat roce_ena limits_sel dcqcn_enable; stat -c %a roce_ena")
        .prints("1\n5\nN\n444");
}

fn devlink_is_overridden(lab: &Lab) {
    let node = lab.node(1);
    let shown =
        node.run("devlink -j dev param show pci/0000:02:00.0 name enable_roce").exits(0).json();
    let parameter = &shown["param"]["pci/0000:02:00.0"][0];
    assert_eq!(
        parameter["values"],
        serde_json::json!([{"cmode": "runtime", "value": true}]),
        "{shown}"
    );
    until_type(node, "rdmap2s0f0", "4: RNIC");
    node.run("devlink dev param set pci/0000:02:00.0 name enable_roce value false cmode runtime")
        .exits(0);
    until_type(node, "rdmap2s0f0", "4: RNIC");
}

fn knobs_turn(lab: &Lab) {
    let node = lab.node(1);
    let devices = "ls /sys/class/infiniband";
    node.rdma_knobs(&Knobs { delay: 3, ..Knobs::default() });
    node.run(&format!("rmmod irdma; modprobe irdma roce_ena=1; sleep 1; {devices}"))
        .exits(0)
        .prints("");
    until_type(node, "rdmap2s0f0", "1: CA");
    until_type(node, "irdma1", "1: CA");

    node.rdma_knobs(&Knobs { name: Some("rocep2s0".into()), ..Knobs::default() });
    node.run("rmmod irdma; modprobe irdma roce_ena=1").exits(0);
    until_type(node, "rocep2s0", "1: CA");
    until_type(node, "irdma1", "1: CA");
    node.run(devices).prints("irdma1\nrocep2s0");

    node.rdma_knobs(&Knobs { never: true, ..Knobs::default() });
    node.run(&format!("rmmod irdma; modprobe irdma roce_ena=1; sleep 3; {devices}"))
        .exits(0)
        .prints("");
    node.run("cat /sys/module/irdma/initstate").prints("live");

    // A device that is still to come does not come after its driver has gone.
    node.rdma_knobs(&Knobs { delay: 2, ..Knobs::default() });
    node.run(&format!("rmmod irdma; modprobe irdma; sleep 0.5; rmmod irdma; sleep 4; {devices}"))
        .exits(0)
        .prints("");
}

fn devlink_decides(lab: &Lab) {
    let node = lab.node(1);
    let set = |name: &str, value: bool| {
        node.run(&format!(
            "devlink dev param set pci/0000:02:00.0 name {name} value {value} cmode runtime"
        ))
    };
    until_type(node, "rdmap2s0f0", "1: CA");
    let refused = set("enable_iwarp", true).warns(
        "RoCEv2 is currently enabled. This device cannot enable iWARP and RoCEv2 simultaneously",
    );
    assert_ne!(refused.code, Some(0));
    until_type(node, "rdmap2s0f0", "1: CA");
    set("enable_roce", false).exits(0);
    node.run("ls /sys/class/infiniband").prints("irdma1");
    set("enable_iwarp", true).exits(0);
    until_type(node, "rdmap2s0f0", "4: RNIC");
    set("enable_roce", true).warns(
        "iWARP is currently enabled. This device cannot enable iWARP and RoCEv2 simultaneously",
    );
    until_type(node, "irdma1", "1: CA");
}

/// Every mode of each port, from the known state and back; counts the states reached.
fn switch_and_reset(lab: &Lab) -> u64 {
    let mut cases = 0;
    for (function, device) in [(0, "rdmap2s0f0"), (1, "irdma1")] {
        for (roce, iwarp) in [(true, false), (false, true), (false, false)] {
            let node = lab.node(1);
            for (name, value) in [("enable_roce", roce), ("enable_iwarp", iwarp)] {
                let bdf = format!("pci/0000:02:00.{function}");
                node.run(&format!(
                    "devlink dev param set {bdf} name {name} value {value} cmode runtime"
                ))
                .exits(0);
            }
            match (roce, iwarp) {
                (true, _) => until_type(node, device, "1: CA"),
                (_, true) => until_type(node, device, "4: RNIC"),
                _ => {
                    node.run("sleep 2; ls /sys/class/infiniband").exits(0).does_not_say(device);
                }
            }
            lab.reset(&[]);
            cases += 1;
        }
    }
    cases
}

fn roce_ena_is_ignored(lab: &Lab) {
    let node = lab.node(1);
    node.run("rmmod irdma; dmesg --clear; modprobe irdma roce_ena=0").exits(0);
    node.run("dmesg").says("irdma: unknown parameter 'roce_ena' ignored");
    node.run("ls /sys/module/irdma/parameters").exits(2);
    until_type(node, "rdmap2s0f0", "1: CA");
}

fn debian_irdma(lab: &Lab) {
    let node = lab.node(1);
    node.run("dmesg --clear; modprobe irdma roce_ena=1").exits(0);
    node.run("dmesg").says("irdma: unknown parameter 'roce_ena' ignored");
    node.run("cat /sys/module/irdma/initstate; ls /sys/class/infiniband").prints("live");
    node.run("modinfo -F filename irdma").says("/kernel/drivers/infiniband/hw/irdma/irdma.ko");
    node.run("basename $(readlink /sys/class/net/ens1f0/device/driver)").prints("e1000e");
}

fn software_devices(lab: &Lab) {
    let node = lab.node(1);
    node.run(
        "rdma link add soft0 type rxe netdev ens1f0 && rdma link add soft1 type siw netdev ens1f1",
    )
    .exits(0);
    until_type(node, "soft0", "1: CA");
    until_type(node, "soft1", "4: RNIC");
    node.run("modprobe netdevsim && echo '7 1' > /sys/bus/netdevsim/new_device").exits(0);
    node.until(20, "devlink dev show netdevsim/netdevsim7");
    node.run("devlink dev param show netdevsim/netdevsim7 name max_macs")
        .exits(0)
        .says("driverinit");
}
