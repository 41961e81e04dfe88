//! What is never removed or reloaded, whatever the profile pins, and what is not guessed.

use super::*;
use crate::change::Change;
use crate::claims::{Depth, Port, for_host};
use crate::facts::{ModuleState, Scope, Seen};
use crate::host::model::hosts;
use crate::profile::Profile;

/// Applies a profile to a machine, which allows every interface by name.
fn applied(model: &Model, text: &str) -> Applied {
    let profile = Profile::parse(text.as_bytes(), "test.yaml")
        .and_then(|profile| profile.for_host("server1"))
        .unwrap_or_else(|error| panic!("{error}"));
    let claims = for_host(&profile, Depth::Cheap);
    let ports = profile.interfaces.iter().map(|wish| Port { wish: wish.clone() }).collect();
    let allowed = ["ens1f0".to_owned(), "ens1f1".to_owned()].into();
    let intent = Intent { claims: &claims, guard: Guard { ports, allowed, force_reload: true } };
    apply(model, model, &intent, &Silent).expect("facts")
}

/// A host on which `module` is loaded with `debug=0`.
fn with_parameter(module: &str) -> Model {
    let mut facts = hosts::s1(1);
    let parameters = [("debug".to_owned(), "0".to_owned())].into();
    let state = ModuleState { loaded: true, parameters };
    facts.state.modules.insert(module.to_owned(), Seen::known(state, "/sys/module"));
    // The file has the parameter too, so that nothing but the module itself speaks against it.
    let ice = facts.evidence.module_files.get("ice").and_then(|seen| seen.get()).cloned();
    let mut file = ice.flatten().expect("the file of ice");
    file.parameters.insert("debug".to_owned());
    file.srcversion = None;
    facts.evidence.module_files.insert(module.to_owned(), Seen::known(Some(file), "modinfo"));
    Model::complete(facts)
}

#[test]
fn a_parameter_pinned_on_a_driver_of_interfaces_or_of_anything_else_removes_nothing() {
    for (module, why) in [
        ("ice", "ice carries network interfaces, which would go with it"),
        ("e1000e", "e1000e carries network interfaces, which would go with it"),
        (
            "bonding",
            "bonding is no hardware RDMA driver, and what would go with it is not known here",
        ),
    ] {
        let model = with_parameter(module);
        let before = model.facts().state;
        let text =
            format!("version: 1\nmodules:\n  - {{name: {module}, parameters: {{debug: 1}}}}\n");
        let ended = applied(&model, &text);
        assert_eq!(ended.outcome, Outcome::Refused, "{module}");
        let [refusal] = &ended.refusals[..] else { panic!("{:?}", ended.refusals) };
        assert_eq!(refusal.what, format!("{module} is not removed"));
        assert_eq!(refusal.why, why);
        let fix = format!("set the options of {module} in /etc/modprobe.d and reboot");
        assert_eq!(refusal.fix, fix);
        assert_eq!(before.differences(&model.facts().state), []);
    }
}

#[test]
fn rocev2_on_an_x722_reloads_nothing_because_it_has_iwarp_only() {
    let mut facts = hosts::s1(1);
    let port = facts.identity.netdevs.get_mut().and_then(|all| all.get_mut("ens1f0"));
    port.expect("ens1f0").driver = Some("i40e".to_owned());
    let model = Model::complete(facts);
    let ended =
        applied(&model, "version: 1\ninterfaces:\n  - {name: ens1f0, rdma: {mode: rocev2}}\n");
    assert_eq!(ended.changes.len(), 0, "{:?}", ended.changes);
    let mode = ended.findings.iter().find(|one| one.id == "rdma.mode").expect("the finding");
    assert!(format!("{mode:?}").contains("X722 (i40e) has iWARP only"), "{mode:?}");
}

#[test]
fn an_x722_in_iwarp_does_not_stand_against_an_e810_in_rocev2() {
    let mut facts = hosts::s1(1);
    let port = facts.identity.netdevs.get_mut().and_then(|all| all.get_mut("ens1f1"));
    port.expect("ens1f1").driver = Some("i40e".to_owned());
    let model = Model::complete(facts);
    let ended = applied(
        &model,
        "version: 1\ninterfaces:\n  - {name: ens1f0, rdma: {mode: rocev2}}\n  \
         - {name: ens1f1, rdma: {mode: iwarp}}\n",
    );
    assert_eq!(ended.refusals, []);
}

#[test]
fn a_port_without_gids_is_not_said_to_be_no_rocev1() {
    let facts = hosts::mlx5();
    let mut facts = facts;
    let devices = facts.identity.rdma.get_mut().expect("devices");
    let port = devices.get_mut("mlx5_0").and_then(|one| one.ports.get_mut(&1)).expect("port 1");
    port.gids = Seen::known(Vec::new(), "/sys/class/infiniband/mlx5_0/ports/1/gids");
    let text = "version: 1\ninterfaces:\n  - {name: eth4, rdma: {mode: rocev1}}\n";
    let profile = Profile::parse(text.as_bytes(), "test.yaml")
        .and_then(|profile| profile.for_host("node1"))
        .unwrap_or_else(|error| panic!("{error}"));
    let claims = for_host(&profile, Depth::Cheap);
    let mode = claims.iter().find(|one| one.entry().id == "rdma.mode").expect("the claim");
    let crate::claims::Judgement::Unknown { why } = mode.judge(&facts) else {
        panic!("{:?}", mode.judge(&facts));
    };
    assert!(why.starts_with("no GID shows the version of RoCE: "), "{why}");
}

#[test]
fn a_module_is_not_removed_while_it_is_unknown_which_ports_would_go() {
    let change = Change::RemoveModule { module: "irdma".to_owned() };
    let why = "which ports the reload would hit is unknown: rtnetlink: Permission denied";
    let mut without_netdevs = hosts::s1(1);
    without_netdevs.identity.netdevs = Seen::unknown("Permission denied", "rtnetlink");
    let mut without_devices = hosts::s1(1);
    without_devices.identity.rdma = Seen::unknown("Permission denied", "rtnetlink");
    for facts in [without_netdevs, without_devices] {
        let refusal = Guard::default().refusal(&change, &facts).map(|refusal| refusal.why);
        assert_eq!(refusal.as_deref(), Some(why));
    }
}

#[test]
fn a_module_is_not_removed_while_it_is_unknown_what_runs_or_when_the_file_is_another_build() {
    let why = |change: &dyn Fn(&mut Facts)| {
        let mut facts = hosts::s1(1);
        change(&mut facts);
        reload::one_way("irdma", &facts).map(|refusal| refusal.why)
    };
    assert_eq!(why(&|_| {}), None);
    let unknown = |facts: &mut Facts| {
        let denied = Seen::unknown("Permission denied (EACCES)", "/sys/module/irdma");
        facts.evidence.builds.insert("irdma".to_owned(), denied);
    };
    assert_eq!(
        why(&unknown).as_deref(),
        Some("what runs is unknown: /sys/module/irdma: Permission denied (EACCES)")
    );
    let other = |facts: &mut Facts| {
        let build = facts.evidence.builds.get_mut("irdma").and_then(Seen::get_mut);
        build.expect("the build").srcversion = None;
    };
    let told = why(&other).expect("a refusal");
    assert!(told.contains("is not the module that runs (srcversion none)"), "{told}");
}

#[test]
fn an_undo_does_not_remove_a_module_whose_users_could_not_be_looked_for() {
    /// A host that cannot be looked at.
    struct Dark;
    impl Look for Dark {
        fn look(&self, _: &Scope) -> Result<Facts, LookError> {
            Err(LookError { what: "the host".to_owned(), why: "no memory".to_owned() })
        }
        fn host(&self) -> Result<String, LookError> {
            Ok("server1".to_owned())
        }
        fn now(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }
        fn pause(&self, _: std::time::Duration) {}
    }
    let change = Change::RemoveModule { module: "irdma".to_owned() };
    let refused = |guard: Guard| guard.refusal_of_undo(&change, &Dark).map(|refusal| refusal.why);
    assert_eq!(
        refused(Guard::default()).as_deref(),
        Some("who uses RDMA here could not be told: cannot read the host: no memory")
    );
    assert_eq!(refused(Guard { force_reload: true, ..Guard::default() }), None);
}

#[test]
fn an_x722_whose_rdma_module_is_i40iw_is_not_told_to_load_irdma() {
    let mut facts = hosts::s1(1);
    let port = facts.identity.netdevs.get_mut().and_then(|all| all.get_mut("ens1f0"));
    port.expect("ens1f0").driver = Some("i40e".to_owned());
    let module = |facts: &Facts| {
        let text = "version: 1\ninterfaces:\n  - {name: ens1f0, rdma: {mode: iwarp}}\n";
        let profile = Profile::parse(text.as_bytes(), "test.yaml")
            .and_then(|profile| profile.for_host("server1"))
            .unwrap_or_else(|error| panic!("{error}"));
        let port = Port { wish: profile.interfaces[0].clone() };
        crate::claims::mechanism::driver_of(&port, facts).ok().flatten()
    };
    assert_eq!(module(&facts), Some("irdma"));
    let mut loaded = facts.clone();
    loaded.state.modules.remove("irdma");
    let state = ModuleState { loaded: true, ..ModuleState::default() };
    loaded.state.modules.insert("i40iw".to_owned(), Seen::known(state, "/sys/module/i40iw"));
    assert_eq!(module(&loaded), Some("i40iw"));
    facts.state.modules.remove("irdma");
    let file = facts.evidence.module_files.remove("irdma").expect("a file");
    facts.evidence.module_files.insert("i40iw".to_owned(), file);
    assert_eq!(module(&facts), Some("i40iw"));
}

#[test]
fn iwarp_is_wanted_where_the_mask_by_function_makes_roce_so_the_mask_goes_too() {
    let mut facts = hosts::s1(1);
    let irdma = facts.state.modules.get_mut("irdma").and_then(Seen::get_mut).expect("irdma");
    irdma.parameters.insert("roce_port_cfg".to_owned(), "3".to_owned());
    irdma.parameters.insert("roce_ena".to_owned(), "0".to_owned());
    for device in facts.identity.rdma.get_mut().expect("devices").values_mut() {
        device.node_type = Seen::known(crate::facts::NodeType::Ca, "node_type");
        device.protocol = Seen::known(crate::facts::Protocol::Roce, "RDMA netlink");
    }
    let model = Model::complete(facts);
    let ended =
        applied(&model, "version: 1\ninterfaces:\n  - {name: ens1f0, rdma: {mode: iwarp}}\n");
    assert_eq!(ended.refusals, []);
    let now = model.facts();
    let parameters = &now.module("irdma").expect("irdma").parameters;
    assert_eq!(parameters.get("roce_port_cfg").map(String::as_str), Some("0"));
    assert_eq!(parameters.get("limits_sel").map(String::as_str), Some("3"));
    let [(device, _, port)] = now.rdma_of("ens1f0", None)[..] else { panic!("one device") };
    assert_eq!(now.mode_of(device, port).get(), Some(&crate::values::Mode::Iwarp));
}
