//! The machine refuses what the kernel refuses, in its words.

use nix::errno::Errno;

use super::*;
use crate::facts::{Privilege, Route, Seen};
use crate::values::Software;

/// The errno and the text of a refused change; the machine must be as before.
fn refusal(model: &Model, change: Change) -> (Errno, String) {
    let before = model.facts();
    let error = model.act(&change).expect_err("the change is refused");
    assert_eq!(model.facts(), before, "{change} was refused and changed something");
    (Errno::from_raw(error.errno.expect("an errno")), error.to_string())
}

fn s1() -> Model {
    hosts::s1_machine(1)
}

fn to(gateway: &str) -> Change {
    Change::AddRoute {
        route: Route {
            netdev: "ens1f0".to_owned(),
            destination: "10.0.0.0/8".parse().unwrap(),
            gateway: Some(gateway.parse().unwrap()),
            source: None,
            table: 254,
            metric: 0,
            protocol: 4,
            scope: 0,
        },
    }
}

#[test]
fn unknown_interfaces_and_addresses() {
    let text = "set ens9 up: No such device (ENODEV)".to_owned();
    assert_eq!(refusal(&s1(), set_link("ens9", true)), (Errno::ENODEV, text));
    let text = "add 100.0.1.10/24 to ens9: No such device (ENODEV)".to_owned();
    assert_eq!(refusal(&s1(), add("ens9", "100.0.1.10/24")), (Errno::ENODEV, text));
    let text =
        "remove 1.2.3.4/8 from eno1: Cannot assign requested address (EADDRNOTAVAIL)".to_owned();
    assert_eq!(refusal(&s1(), remove("eno1", "1.2.3.4/8")), (Errno::EADDRNOTAVAIL, text));
    let text = "add 192.168.4.144/24 to eno1: File exists (EEXIST)".to_owned();
    assert_eq!(refusal(&s1(), add("eno1", "192.168.4.144/24")), (Errno::EEXIST, text));
    // The same address with another prefix is another one in IPv4 and the same one in IPv6.
    let model = s1();
    act(&model, add("eno1", "192.168.4.144/16"));
    act(&model, add("eno1", "2001:db8::1/64"));
    assert_eq!(refusal(&model, add("eno1", "2001:db8::1/48")).0, Errno::EEXIST);
}

#[test]
fn mtus_out_of_range() {
    let text = "set ens1f0 MTU 9703: mtu greater than device maximum (EINVAL)".to_owned();
    assert_eq!(refusal(&s1(), set_mtu("ens1f0", 9703)), (Errno::EINVAL, text));
    let text = "set ens1f0 MTU 67: mtu less than device minimum (EINVAL)".to_owned();
    assert_eq!(refusal(&s1(), set_mtu("ens1f0", 67)), (Errno::EINVAL, text));
    let model = s1();
    act(&model, set_mtu("ens1f0", 1000));
    assert_eq!(refusal(&model, add("ens1f0", "2001:db8::1/64")).0, Errno::EINVAL);
}

#[test]
fn routes() {
    let text =
        "add route 10.0.0.0/8 via 100.0.1.1 dev ens1f0: Nexthop has invalid gateway (ENETUNREACH)";
    assert_eq!(refusal(&s1(), to("100.0.1.1")), (Errno::ENETUNREACH, text.to_owned()));
    let model = s1();
    act(&model, add("ens1f0", "100.0.1.10/24"));
    act(&model, to("100.0.1.1"));
    assert_eq!(refusal(&model, to("100.0.1.2")).0, Errno::EEXIST);
    let Change::AddRoute { route } = to("100.0.1.2") else { unreachable!() };
    let text =
        "remove route 10.0.0.0/8 via 100.0.1.2 dev ens1f0: No such process (ESRCH)".to_owned();
    assert_eq!(refusal(&model, Change::RemoveRoute { route }), (Errno::ESRCH, text));
    act(&model, set_link("ens1f0", false));
    assert_eq!(refusal(&model, to("100.0.1.1")).0, Errno::ENETDOWN);
}

#[test]
fn both_devlink_modes_at_once() {
    let text = "set devlink pci/0000:02:00.0 enable_roce=true (runtime): ice: iWARP is currently \
                enabled. This device cannot enable iWARP and RoCEv2 simultaneously (EOPNOTSUPP)";
    let model = Model::complete(hosts::s1_in_kernel());
    let refused = refusal(&model, devlink("enable_roce", true));
    assert_eq!(refused, (Errno::EOPNOTSUPP, text.to_owned()));
    assert_eq!(refusal(&model, devlink("enable_dust", true)).0, Errno::EINVAL);
    let debian = Model::complete(hosts::s1_debian());
    assert_eq!(refusal(&debian, devlink("enable_roce", true)).0, Errno::ENODEV);
    let permanent = Change::SetDevlink {
        device: "pci/0000:02:00.0".to_owned(),
        parameter: "enable_roce".to_owned(),
        cmode: "permanent".to_owned(),
        value: false,
    };
    assert_eq!(refusal(&model, permanent).0, Errno::EOPNOTSUPP);
}

#[test]
fn modules_in_use_missing_or_built_for_another_kernel() {
    let text = "delete_module ice: Resource temporarily unavailable (EAGAIN)".to_owned();
    assert_eq!(refusal(&s1(), unload("ice")), (Errno::EAGAIN, text));
    let text = "delete_module siw: No such file or directory (ENOENT)".to_owned();
    assert_eq!(refusal(&s1(), unload("siw")), (Errno::ENOENT, text));
    let text = "modprobe nosuch: FATAL: Module nosuch not found in directory \
                /lib/modules/3.10.0-1127.18.2.el7.x86_64";
    assert_eq!(refusal(&s1(), load("nosuch", &[])), (Errno::ENOENT, text.to_owned()));

    let edited = |edit: &dyn Fn(&mut Facts)| {
        let model = s1();
        act(&model, unload("irdma"));
        model.edit(edit);
        refusal(&model, load("irdma", &[])).0
    };
    let other_kernel = edited(&|facts| facts.evidence.kernel_release = "3.10.0-1160".to_owned());
    assert_eq!(other_kernel, Errno::ENOEXEC);
    let locked = edited(&|facts| facts.evidence.lockdown = Seen::known("integrity".into(), "x"));
    assert_eq!(locked, Errno::EPERM);
    let sealed = edited(&|facts| facts.evidence.modules_disabled = Seen::known(true, "x"));
    assert_eq!(sealed, Errno::EPERM);
    let mixed = edited(&|facts| {
        facts.evidence.builds.get_mut("ice").unwrap().get_mut().unwrap().in_tree = true;
    });
    assert_eq!(mixed, Errno::EINVAL);
    let model = s1();
    act(&model, unload("irdma"));
    assert_eq!(refusal(&model, load("irdma", &[("roce_ena", "yes")])).0, Errno::EINVAL);
    model.edit(|facts| {
        let build = facts.evidence.builds.get_mut("e1000e").unwrap().get_mut().unwrap();
        build.builtin = true;
    });
    assert_eq!(refusal(&model, unload("e1000e")).0, Errno::ENOENT);
}

#[test]
fn the_out_of_tree_irdma_stays_while_it_has_a_configfs_directory() {
    let model = s1();
    let path = || "irdma/rdmap2s0f0".to_owned();
    act(&model, Change::MakeConfigfs { path: path() });
    assert_eq!(refusal(&model, unload("irdma")).0, Errno::EAGAIN);
    act(&model, Change::RemoveConfigfs { path: path() });
    act(&model, unload("irdma"));
    assert_eq!(modes(&model.facts()), BTreeMap::new());
}

#[test]
fn configfs() {
    let model = Model::complete(hosts::mlx5());
    let make = |path: &str| Change::MakeConfigfs { path: path.to_owned() };
    let write = |path: &str, value: &str| Change::WriteConfigfs {
        path: path.to_owned(),
        value: value.to_owned(),
    };
    let mode = "rdma_cm/mlx5_0/ports/1/default_roce_mode";
    assert_eq!(refusal(&model, make("rdma_cm/none")).0, Errno::ENODEV);
    assert_eq!(refusal(&model, make("rdma_cm/mlx5_0")).0, Errno::EEXIST);
    assert_eq!(refusal(&model, make("rdma_cm/mlx5_0/more")).0, Errno::EPERM);
    assert_eq!(refusal(&model, write(mode, "RoCE v3")).0, Errno::EINVAL);
    assert_eq!(refusal(&model, write("rdma_cm/none/ports/1/x", "1")).0, Errno::ENOENT);
    act(&model, write(mode, "IB/RoCE v1"));
    let shown = model.facts().state.configfs.get().unwrap()[mode].clone();
    assert_eq!(shown.as_deref(), Some("IB/RoCE v1"));
    act(&model, unload("mlx5_ib"));
    assert_eq!(refusal(&model, write(mode, "RoCE v2")).0, Errno::ENODEV);
    act(&model, load("mlx5_ib", &[]));
    let shown = model.facts().state.configfs.get().unwrap()[mode].clone();
    assert_eq!(shown.as_deref(), Some("RoCE v2"), "the setting went with the device");
}

#[test]
fn software_links() {
    let model = Model::complete(hosts::soft());
    let make = |name: &str, netdev: &str| Change::AddSoftwareLink {
        name: name.to_owned(),
        kind: Software::Rxe,
        netdev: netdev.to_owned(),
    };
    assert_eq!(refusal(&model, make("rxe0", "ens9")).0, Errno::ENODEV);
    act(&model, make("rxe0", "ens1f0"));
    assert_eq!(refusal(&model, make("rxe1", "ens1f0")).0, Errno::EEXIST);
    assert_eq!(refusal(&model, make("rxe0", "ens1f1")).0, Errno::ENFILE);
    let gone = Change::RemoveSoftwareLink {
        kind: Software::Siw,
        netdev: "ens1f0".to_owned(),
        name: "siw0".to_owned(),
    };
    assert_eq!(refusal(&model, gone).0, Errno::ENODEV);
}

#[test]
fn everything_without_privilege() {
    let model = s1();
    model.edit(|facts| facts.evidence.privilege = Seen::known(Privilege::default(), "x"));
    for change in [
        set_link("ens1f0", false),
        set_mtu("ens1f0", 4200),
        add("ens1f0", "100.0.1.10/24"),
        devlink("enable_roce", false),
        unload("irdma"),
        load("siw", &[]),
    ] {
        assert_eq!(refusal(&model, change).0, Errno::EPERM);
    }
    let make = Change::MakeConfigfs { path: "rdma_cm/irdma1".to_owned() };
    assert_eq!(refusal(&model, make).0, Errno::EACCES);
    // What root's apply would do can be foretold for anybody.
    let predictor = Model::new(model.facts());
    act(&predictor, set_mtu("ens1f0", 4200));
    assert_eq!(link(&predictor, "ens1f0").mtu, 4200);
}
