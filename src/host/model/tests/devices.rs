//! RDMA devices under module, devlink and software changes.

use std::time::Duration;

use super::*;
use crate::facts::{PortState, Scope, Seen};
use crate::values::Software;

fn irdma(model: &Model) -> BTreeMap<String, String> {
    model.facts().state.modules["irdma"].get().unwrap().parameters.clone()
}

#[test]
fn a_reload_of_the_out_of_tree_irdma_chooses_the_mode_of_all_ports() {
    let model = hosts::s1_machine(1);
    act(&model, unload("irdma"));
    assert_eq!(modes(&model.facts()), BTreeMap::new());
    assert_eq!(model.facts().evidence.verbs.get().unwrap().len(), 0);
    act(&model, load("irdma", &[("roce_ena", "0x1"), ("limits_sel", "5")]));
    let expected = named(&[("irdma1", Protocol::Roce), ("rdmap2s0f0", Protocol::Roce)]);
    assert_eq!(modes(&model.facts()), expected);
    assert_eq!(irdma(&model)["roce_ena"], "1");
    assert_eq!(irdma(&model)["limits_sel"], "5");
    let build = model.facts().evidence.builds["irdma"].get().unwrap().clone();
    assert_eq!(build.version.as_deref(), Some("1.11.16.6"));
}

#[test]
fn parameters_of_a_loaded_module_are_ignored_with_success() {
    let model = hosts::s1_machine(1);
    let before = model.facts();
    act(&model, load("irdma", &[("roce_ena", "1")]));
    assert_eq!(model.facts(), before);
}

#[test]
fn the_in_kernel_irdma_ignores_roce_ena_with_success() {
    let model = Model::complete(hosts::s1_in_kernel());
    act(&model, unload("irdma"));
    act(&model, load("irdma", &[("roce_ena", "1")]));
    assert_eq!(irdma(&model), BTreeMap::new());
    let iwarp = named(&[("iwp2s0f0", Protocol::Iw), ("iwp2s0f1", Protocol::Iw)]);
    assert_eq!(modes(&model.facts()), iwarp);
}

#[test]
fn roce_port_cfg_chooses_by_function_unless_roce_ena_is_set() {
    let model = hosts::s1_machine(1);
    act(&model, unload("irdma"));
    act(&model, load("irdma", &[("roce_port_cfg", "2")]));
    let expected = named(&[("irdma1", Protocol::Roce), ("rdmap2s0f0", Protocol::Iw)]);
    assert_eq!(modes(&model.facts()), expected);
}

#[test]
fn devlink_replugs_one_port_of_the_in_kernel_pair_under_a_new_name() {
    let model = Model::complete(hosts::s1_in_kernel()).with_device_after(Duration::from_secs(2));
    act(&model, devlink("enable_iwarp", false));
    act(&model, devlink("enable_roce", true));
    assert_eq!(modes(&model.facts()), named(&[("iwp2s0f1", Protocol::Iw)]));
    model.pause(Duration::from_millis(1999));
    assert_eq!(modes(&model.facts()), named(&[("iwp2s0f1", Protocol::Iw)]));
    model.pause(Duration::from_millis(1));
    let expected = named(&[("iwp2s0f1", Protocol::Iw), ("rocep2s0f0", Protocol::Roce)]);
    assert_eq!(modes(&model.facts()), expected);
}

#[test]
fn a_port_with_both_modes_off_has_no_device() {
    let model = Model::complete(hosts::s1_in_kernel());
    act(&model, devlink("enable_iwarp", false));
    assert_eq!(modes(&model.facts()), named(&[("iwp2s0f1", Protocol::Iw)]));
}

#[test]
fn the_out_of_tree_irdma_overrides_devlink() {
    let model = hosts::s1_machine(1);
    act(&model, devlink("enable_roce", false));
    act(&model, devlink("enable_roce", true));
    assert_eq!(modes(&model.facts())["rdmap2s0f0"], Some(Protocol::Iw));
}

#[test]
fn a_probe_that_fails_gives_no_device_and_a_removed_module_cancels_a_late_one() {
    let model = hosts::s1_machine(1).with_failing_probe("ens1f0");
    act(&model, unload("irdma"));
    act(&model, load("irdma", &[("roce_ena", "1")]));
    assert_eq!(modes(&model.facts()), named(&[("irdma1", Protocol::Roce)]));

    let late = hosts::s1_machine(1).with_device_after(Duration::from_secs(1));
    act(&late, unload("irdma"));
    act(&late, load("irdma", &[]));
    act(&late, unload("irdma"));
    late.pause(Duration::from_secs(5));
    assert_eq!(modes(&late.facts()), BTreeMap::new());
}

#[test]
fn rdma_rxe_and_siw_make_devices_only_when_asked_and_take_them_along() {
    let model = Model::complete(hosts::soft());
    act(&model, load("rdma_rxe", &[]));
    assert_eq!(modes(&model.facts()), BTreeMap::new());
    let make = |name: &str, kind, netdev: &str| Change::AddSoftwareLink {
        name: name.to_owned(),
        kind,
        netdev: netdev.to_owned(),
    };
    act(&model, add("ens1f0", "100.0.1.10/24"));
    act(&model, make("rxe0", Software::Rxe, "ens1f0"));
    // The kernel loads the module of a link by itself.
    act(&model, make("siw0", Software::Siw, "ens1f0"));
    assert_eq!(modes(&model.facts()), named(&[("rxe0", Protocol::Roce), ("siw0", Protocol::Iw)]));
    assert!(model.facts().state.modules["siw"].get().unwrap().loaded);
    let devices = hosts::devices(&model.facts());
    assert_eq!(
        gids(&devices["rxe0"]),
        [
            ("fe80::5054:ff:fe00:101".to_owned(), GidType::RoceV2),
            ("::ffff:100.0.1.10".to_owned(), GidType::RoceV2)
        ]
    );
    assert_eq!(gids(&devices["siw0"]), [("5254:0:101::".to_owned(), GidType::IbRoceV1)]);
    assert_eq!(devices["siw0"].node_type.get(), Some(&NodeType::Rnic));
    act(&model, unload("rdma_rxe"));
    assert_eq!(modes(&model.facts()), named(&[("siw0", Protocol::Iw)]));
    let left = model.facts().state.software.get().unwrap().clone();
    assert_eq!(left.into_iter().map(|link| link.kind).collect::<Vec<_>>(), [Software::Siw]);
}

#[test]
fn the_mode_of_another_vendors_driver_comes_back_and_is_never_invented() {
    let model = Model::complete(hosts::mlx5());
    act(&model, unload("mlx5_ib"));
    assert_eq!(modes(&model.facts()), BTreeMap::new());
    act(&model, load("mlx5_ib", &[]));
    assert_eq!(modes(&model.facts()), named(&[("mlx5_0", Protocol::Roce)]));
    assert_eq!(gids(&hosts::devices(&model.facts())["mlx5_0"]).len(), 4);

    let mut facts = hosts::mlx5();
    facts.identity.rdma.get_mut().unwrap().clear();
    facts.state.modules.insert("mlx5_ib".into(), Seen::known(Default::default(), "x"));
    let fresh = Model::complete(facts);
    act(&fresh, load("mlx5_ib", &[]));
    let device = &hosts::devices(&fresh.facts())["rdmap129s0f0"];
    let why =
        "/sys/class/infiniband/rdmap129s0f0/node_type: nobody can foretell the mode of this driver";
    assert_eq!(device.node_type.why_not(), why);
}

#[test]
fn gids_and_port_state_follow_the_link() {
    let model = hosts::s1_machine(1);
    act(&model, unload("irdma"));
    act(&model, load("irdma", &[("roce_ena", "1")]));
    act(&model, add("ens1f0", "100.0.1.10/24"));
    act(&model, add("ens1f0", "2001:db8::10/64"));
    let port = || hosts::devices(&model.facts())["rdmap2s0f0"].clone();
    let fe80 = ("fe80::b696:91ff:feaa:100".to_owned(), GidType::RoceV2);
    let v4 = ("::ffff:100.0.1.10".to_owned(), GidType::RoceV2);
    let v6 = ("2001:db8::10".to_owned(), GidType::RoceV2);
    assert_eq!(gids(&port()), [fe80.clone(), v4.clone(), v6]);
    assert_eq!(port().ports[&1].state.get(), Some(&PortState::Active));

    act(&model, set_link("ens1f0", false));
    assert_eq!(gids(&port()), []);
    assert_eq!(port().ports[&1].state.get(), Some(&PortState::Down));
    act(&model, set_link("ens1f0", true));
    assert_eq!(gids(&port()), [fe80, v4]);

    model.cut("ens1f0");
    assert_eq!(port().ports[&1].state.get(), Some(&PortState::Down));
    assert_eq!(gids(&port()), []);
    model.plug("ens1f0");
    assert_eq!(port().ports[&1].state.get(), Some(&PortState::Active));
}

#[test]
fn a_predictor_without_the_module_file_does_not_foretell_the_mode() {
    let model = hosts::s1_machine(1);
    act(&model, unload("irdma"));
    let scope = Scope { modules: ["irdma".to_owned()].into(), ..Scope::default() };
    let predictor = Model::new(model.look(&scope).unwrap());
    act(&predictor, load("irdma", &[]));
    assert_eq!(modes(&predictor.facts())["rdmap2s0f0"], None);
    act(&predictor, unload("irdma"));
    act(&predictor, load("irdma", &[("roce_ena", "1")]));
    assert_eq!(modes(&predictor.facts())["rocep2s0f0"], Some(Protocol::Roce));
}
