//! Every kind of change: made, then undone by its inverse.

use super::*;

/// Makes a change on a machine, checks that it holds only then, and undoes it. Returns the
/// sentences of the inverse.
fn there_and_back(model: &Model, change: &Change) -> Vec<String> {
    let before = model.facts();
    assert_eq!(change.holds(&before), Some(false), "{change} before");
    let inverse = change.inverse(&before);
    model.act(change).unwrap_or_else(|error| panic!("{change}: {error}"));
    let now = model.facts();
    assert_eq!(change.holds(&now), Some(true), "{change} after");
    assert_ne!(differences(&before.state, &now.state), [""; 0], "{change} changed nothing");
    assert_eq!(change.inverse(&now), [], "{change} is in effect: nothing to undo");
    assert_eq!(undo(model, &inverse), [""; 0], "{change} undone");
    assert_eq!(differences(&before.state, &model.facts().state), [""; 0], "{change} undone");
    said(&inverse)
}

#[test]
fn loading_a_module() {
    let model = machine(hosts::soft(), &[]);
    assert_eq!(there_and_back(&model, &load("siw", &[])), ["remove siw (that module alone)"]);
}

#[test]
fn loading_a_loaded_module_has_nothing_to_undo() {
    let facts = hosts::s1(1);
    assert_eq!(load("irdma", &[("roce_ena", "1")]).inverse(&facts), []);
    assert_eq!(load("nosuch", &[]).inverse(&facts), []);
}

#[test]
fn removing_irdma_with_its_parameters_and_settings() {
    let tos = "rdma_cm/irdma1/ports/1/default_roce_tos";
    let model = machine(hosts::s1(1), &[mkdir("rdma_cm/irdma1"), write(tos, "104")]);
    let inverse = there_and_back(&model, &unload("irdma"));
    assert_eq!(
        inverse,
        [
            "load irdma limits_sel=3 resource_profile=0 roce_ena=0 roce_port_cfg=0",
            "set devlink pci/0000:02:00.0 enable_iwarp=false (runtime)",
            "set devlink pci/0000:02:00.1 enable_iwarp=false (runtime)",
            "set devlink pci/0000:02:00.0 enable_roce=true (runtime)",
            "set devlink pci/0000:02:00.1 enable_roce=true (runtime)",
            "make configfs directory rdma_cm/irdma1",
            "write IB/RoCE v1 to configfs rdma_cm/irdma1/ports/1/default_roce_mode",
            "write 104 to configfs rdma_cm/irdma1/ports/1/default_roce_tos",
        ]
    );
}

#[test]
fn strings_that_were_never_set_are_not_given_back() {
    let mut facts = hosts::s1(1);
    let irdma = facts.state.modules.get_mut("irdma").unwrap().get_mut().unwrap();
    irdma.parameters = [("a", "(null)"), ("b", ""), ("c", "Y"), ("d", "x y")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    assert_eq!(said(&unload("irdma").inverse(&facts))[0], "load irdma c=Y d=\"x y\"");
}

#[test]
fn removing_rdma_rxe_with_its_devices_and_their_settings() {
    let mode = "rdma_cm/soft1/ports/1/default_roce_mode";
    let before = [
        make_link("soft1", Software::Rxe, "ens1f1"),
        make_link("other", Software::Siw, "ens1f1"),
        mkdir("rdma_cm/soft1"),
        mkdir("rdma_cm/other"),
        write(mode, "IB/RoCE v1"),
    ];
    let model = machine(hosts::soft(), &before);
    assert_eq!(
        there_and_back(&model, &unload("rdma_rxe")),
        [
            "load rdma_rxe",
            "make rxe device soft1 on ens1f1",
            "make configfs directory rdma_cm/soft1",
            "write IB/RoCE v1 to configfs rdma_cm/soft1/ports/1/default_roce_mode",
            "write 0 to configfs rdma_cm/soft1/ports/1/default_roce_tos",
        ]
    );
}

#[test]
fn a_software_device_on_a_port_of_the_module_keeps_its_settings_too() {
    let make = make_link("rxe0", Software::Rxe, "ens1f0");
    let model = machine(hosts::s1(1), &[make, mkdir("rdma_cm/rxe0")]);
    let inverse = said(&unload("irdma").inverse(&model.facts()));
    assert_eq!(
        inverse[5..],
        [
            "make configfs directory rdma_cm/rxe0",
            "write RoCE v2 to configfs rdma_cm/rxe0/ports/1/default_roce_mode",
            "write 0 to configfs rdma_cm/rxe0/ports/1/default_roce_tos",
        ]
    );
}

#[test]
fn removing_another_vendors_rdma_module_and_rdma_cm() {
    let tos = "rdma_cm/mlx5_0/ports/1/default_roce_tos";
    let model = machine(hosts::mlx5(), &[write(tos, "26")]);
    let settings = [
        "make configfs directory rdma_cm/mlx5_0",
        "write RoCE v2 to configfs rdma_cm/mlx5_0/ports/1/default_roce_mode",
        "write 26 to configfs rdma_cm/mlx5_0/ports/1/default_roce_tos",
    ];
    let inverse = there_and_back(&model, &unload("mlx5_ib"));
    assert_eq!(inverse[0], "load mlx5_ib");
    assert_eq!(inverse[1..], settings);
    model.act(&unload("rdma_ucm")).unwrap();
    let inverse = there_and_back(&model, &unload("rdma_cm"));
    assert_eq!(inverse[0], "load rdma_cm");
    assert_eq!(inverse[1..], settings);
}

#[test]
fn setting_a_devlink_mode_puts_the_settings_of_its_device_back() {
    let tos = "rdma_cm/iwp2s0f0/ports/1/default_roce_tos";
    let model = machine(hosts::s1_in_kernel(), &[mkdir("rdma_cm/iwp2s0f0"), write(tos, "104")]);
    assert_eq!(
        there_and_back(&model, &devlink("enable_iwarp", false)),
        [
            "set devlink pci/0000:02:00.0 enable_iwarp=true (runtime)",
            "make configfs directory rdma_cm/iwp2s0f0",
            "write IB/RoCE v1 to configfs rdma_cm/iwp2s0f0/ports/1/default_roce_mode",
            "write 104 to configfs rdma_cm/iwp2s0f0/ports/1/default_roce_tos",
        ]
    );
}

#[test]
fn taking_a_link_down_with_ipv6_routes_and_vlans() {
    let before = [
        add("ens1f0", "100.0.1.10/24"),
        add("ens1f0", "2001:db8::10/64"),
        add_route(route("ens1f0", "10.1.0.0/16", Some("100.0.9.1"), None)),
    ];
    let model = machine(hosts::s1(1), &before[..2]);
    model.act(&add_route(route("ens1f0", "100.0.9.0/24", None, None))).unwrap();
    model.act(&before[2]).unwrap();
    assert_eq!(
        there_and_back(&model, &set_link("ens1f0", false)),
        [
            "set ens1f0 up",
            "add 2001:db8::10/64 to ens1f0",
            "add route 100.0.9.0/24 dev ens1f0",
            "add route 10.1.0.0/16 via 100.0.9.1 dev ens1f0",
        ]
    );
}

#[test]
fn setting_a_link_up_that_had_ipv6_addresses_while_it_was_down() {
    let model =
        machine(hosts::s1(1), &[set_link("ens1f0", false), add("ens1f0", "2001:db8::1/64")]);
    assert_eq!(
        there_and_back(&model, &set_link("ens1f0", true)),
        ["set ens1f0 down", "add 2001:db8::1/64 to ens1f0"]
    );
    assert_eq!(set_link("ens1f1", true).inverse(&model.facts()), []);
    assert_eq!(set_link("ens9", true).inverse(&model.facts()), []);
}

#[test]
fn setting_an_mtu_above_and_below_the_least_of_ipv6() {
    let before = [
        add("ens1f0", "2001:db8::10/64"),
        add_route(route("ens1f0", "2001:db8:9::/48", Some("2001:db8::1"), None)),
    ];
    let model = machine(hosts::s1(1), &before);
    assert_eq!(there_and_back(&model, &set_mtu("ens1f0", 4200)), ["set ens1f0 MTU 1500"]);
    assert_eq!(
        there_and_back(&model, &set_mtu("ens1f0", 1000)),
        [
            "set ens1f0 MTU 1500",
            "add 2001:db8::10/64 to ens1f0",
            "add route 2001:db8:9::/48 via 2001:db8::1 dev ens1f0",
        ]
    );
}

#[test]
fn adding_an_address() {
    let model = machine(hosts::s1(1), &[]);
    let inverse = there_and_back(&model, &add("ens1f0", "100.0.1.10/24"));
    assert_eq!(inverse, ["remove 100.0.1.10/24 from ens1f0"]);
}

#[test]
fn removing_a_primary_address_with_secondaries_and_routes() {
    let before = [
        add("ens1f0", "100.0.1.10/24"),
        add("ens1f0", "100.0.1.11/24"),
        add("ens1f0", "100.0.2.10/24"),
        add_route(route("ens1f0", "10.1.0.0/16", Some("100.0.2.1"), Some("100.0.1.11"))),
        add_route(route("ens1f0", "10.2.0.0/16", Some("100.0.1.1"), None)),
        add_route(route("ens1f0", "10.3.0.0/16", Some("100.0.2.1"), None)),
    ];
    let model = machine(hosts::s1(1), &before);
    assert_eq!(
        there_and_back(&model, &remove("ens1f0", "100.0.1.10/24")),
        [
            "add 100.0.1.10/24 to ens1f0",
            "add 100.0.1.11/24 to ens1f0",
            "add route 10.1.0.0/16 via 100.0.2.1 dev ens1f0",
            "add route 10.2.0.0/16 via 100.0.1.1 dev ens1f0",
        ]
    );
}

#[test]
fn removing_the_last_address_with_all_routes_and_its_attributes() {
    let facts = hosts::s1_with_stale_address(1);
    let before = [add_route(route("ens1f0", "10.3.0.0/16", None, None))];
    let model = machine(facts, &before);
    let change = remove("ens1f0", "100.0.1.10/8");
    let inverse = change.inverse(&model.facts());
    let Change::AddAddress { address, .. } = &inverse[0] else { panic!("{inverse:?}") };
    assert_eq!(address.broadcast, Some([100, 255, 255, 255].into()));
    assert_eq!(
        there_and_back(&model, &change),
        ["add 100.0.1.10/8 to ens1f0", "add route 10.3.0.0/16 dev ens1f0"]
    );
}

#[test]
fn removing_an_ipv6_address_that_a_route_prefers() {
    let before = [
        add("ens1f0", "2001:db8::10/64"),
        add_route(route("ens1f0", "2001:db8:9::/48", None, Some("2001:db8::10"))),
    ];
    let model = machine(hosts::s1(1), &before);
    assert_eq!(
        there_and_back(&model, &remove("ens1f0", "2001:db8::10/64")),
        [
            "add 2001:db8::10/64 to ens1f0",
            "remove route 2001:db8:9::/48 dev ens1f0",
            "add route 2001:db8:9::/48 dev ens1f0",
        ]
    );
}

#[test]
fn routes_software_devices_and_configfs() {
    let model = machine(hosts::soft(), &[]);
    let way = route("ens1f0", "10.3.0.0/16", None, None);
    there_and_back(&model, &add_route(way.clone()));
    model.act(&add_route(way.clone())).unwrap();
    there_and_back(&model, &Change::RemoveRoute { route: way });

    let make = make_link("rxe0", Software::Rxe, "ens1f0");
    assert_eq!(
        there_and_back(&model, &make),
        ["remove rxe device rxe0 from ens1f0", "remove rdma_rxe (that module alone)"]
    );
    model.act(&make).unwrap();
    there_and_back(&model, &mkdir("rdma_cm/rxe0"));
    model.act(&mkdir("rdma_cm/rxe0")).unwrap();
    let mode = "rdma_cm/rxe0/ports/1/default_roce_mode";
    let inverse = there_and_back(&model, &write(mode, "IB/RoCE v1"));
    assert_eq!(inverse, [format!("write RoCE v2 to configfs {mode}")]);
    model.act(&write(mode, "IB/RoCE v1")).unwrap();
    there_and_back(&model, &rmdir("rdma_cm/rxe0"));
    let inverse = there_and_back(&model, &drop_link("stale-name", Software::Rxe, "ens1f0"));
    assert_eq!(inverse[0], "make rxe device rxe0 on ens1f0");
}

#[test]
fn facts_that_do_not_tell_give_no_inverse() {
    let nothing = Facts::default();
    for change in [
        load("irdma", &[]),
        unload("irdma"),
        devlink("enable_roce", true),
        set_link("ens1f0", true),
        set_mtu("ens1f0", 4200),
        add("ens1f0", "100.0.1.10/24"),
        remove("ens1f0", "100.0.1.10/24"),
        add_route(route("ens1f0", "10.3.0.0/16", None, None)),
        Change::RemoveRoute { route: route("ens1f0", "10.3.0.0/16", None, None) },
        make_link("rxe0", Software::Rxe, "ens1f0"),
        drop_link("rxe0", Software::Rxe, "ens1f0"),
        mkdir("rdma_cm/x"),
        rmdir("rdma_cm/x"),
        write("rdma_cm/x/ports/1/default_roce_tos", "1"),
    ] {
        assert_eq!(change.inverse(&nothing), [], "{change}");
        assert_eq!(change.holds(&nothing), None, "{change}");
    }
}
