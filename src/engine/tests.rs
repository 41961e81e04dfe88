//! The engine on machines in memory: what it plans, that it settles, what it refuses.

use super::*;
use crate::change::Change;
use crate::claims::{Depth, Port, for_host};
use crate::host::faulty::Faulty;
use crate::host::model::hosts;
use crate::profile::{HostProfile, Profile};

mod faults;

const S1: &str = include_str!("../../profiles/s1-grt.yaml");
const MODE_ONLY: &str = include_str!("../../profiles/e810-rocev2.yaml");
const SOFT: &str = include_str!("../../profiles/soft-roce.yaml");

fn profile(text: &str, host: &str) -> HostProfile {
    let profile =
        Profile::parse(text.as_bytes(), "test.yaml").unwrap_or_else(|error| panic!("{error}"));
    profile.for_host(host).unwrap_or_else(|error| panic!("{error}"))
}

struct Wanted {
    claims: Vec<Box<dyn Claim>>,
    guard: Guard,
}

impl Wanted {
    fn new(profile: &HostProfile, allowed: &[&str]) -> Wanted {
        let port = |wish: &crate::profile::InterfaceWish| Port { wish: wish.clone() };
        Wanted {
            claims: for_host(profile, Depth::Full),
            guard: Guard {
                ports: profile.interfaces.iter().map(port).collect(),
                allowed: allowed.iter().map(|name| (*name).to_owned()).collect(),
                force_reload: false,
            },
        }
    }
    fn intent(&self) -> Intent<'_> {
        Intent { claims: &self.claims, guard: self.guard.clone() }
    }
}

fn s1() -> Wanted {
    Wanted::new(&profile(S1, "server1"), &["ens1f1"])
}

fn texts(changes: &[ChangeRecord]) -> Vec<String> {
    changes.iter().map(|record| record.change.to_string()).collect()
}

fn apply_to(model: &Model, wanted: &Wanted) -> Applied {
    apply(model, model, &wanted.intent(), &Silent).expect("facts")
}

#[test]
fn the_plan_of_s1_reloads_irdma_once_with_its_other_parameters() {
    let model = Model::complete(hosts::s1(1));
    let wanted = s1();
    let planned = plan(&model, &wanted.intent()).expect("facts");
    assert_eq!(planned.refusals, []);
    assert_eq!(
        texts(&planned.changes),
        [
            "remove irdma (that module alone)",
            "load irdma limits_sel=3 resource_profile=0 roce_ena=1 roce_port_cfg=0",
            "set ens1f0 MTU 4200",
            "add 100.0.1.10/24 to ens1f0",
        ]
    );
}

#[test]
fn an_apply_makes_everything_true_and_a_second_one_changes_nothing() {
    for (name, facts, text, host, allowed) in [
        ("s1", hosts::s1(1), S1, "server1", &["ens1f1"][..]),
        ("s1, other end", hosts::s1(2), S1, "server2", &["ens1f1"][..]),
        ("in-kernel", hosts::s1_in_kernel(), MODE_ONLY, "server1", &[][..]),
        ("software", hosts::soft(), SOFT, "server1", &[][..]),
    ] {
        let model = Model::complete(facts);
        let wanted = Wanted::new(&profile(text, host), allowed);
        let first = apply_to(&model, &wanted);
        assert_eq!(first.outcome, Outcome::Met, "{name}: {:#?}", first.findings);
        assert!(!first.changes.is_empty(), "{name}: the host was not as wanted before");
        let second = apply_to(&model, &wanted);
        assert_eq!(texts(&second.changes), Vec::<String>::new(), "{name}");
        assert_eq!(second.outcome, Outcome::Met, "{name}");
    }
}

#[test]
fn a_port_outside_the_profile_must_be_allowed_by_name() {
    let model = Model::complete(hosts::s1(1));
    let before = model.facts().state;
    let ended = apply_to(&model, &Wanted::new(&profile(S1, "server1"), &[]));
    assert_eq!(ended.outcome, Outcome::Refused);
    let [refusal] = &ended.refusals[..] else { panic!("{:?}", ended.refusals) };
    assert_eq!(refusal.what, "irdma is not reloaded");
    assert_eq!(refusal.fix, "allow it by name: --allow-interface ens1f1");
    assert_eq!(model.facts().state, before);
}

#[test]
fn a_pinned_parameter_is_refused_on_a_driver_without_it() {
    for facts in [hosts::s1_in_kernel(), hosts::s1_debian()] {
        let model = Model::complete(facts);
        let before = model.facts().state;
        let ended = apply_to(&model, &s1());
        assert_eq!(ended.outcome, Outcome::Refused);
        let [refusal] = &ended.refusals[..] else { panic!("{:?}", ended.refusals) };
        assert_eq!(refusal.what, "irdma is not loaded with roce_ena=1");
        assert!(refusal.fix.contains("rdma: {mode: rocev2}"), "{}", refusal.fix);
        assert_eq!(model.facts().state, before);
    }
}

#[test]
fn a_reload_puts_the_settings_of_rdma_cm_back() {
    let model = hosts::s1_machine(1);
    let file = |name: &str| format!("rdma_cm/rdmap2s0f0/ports/1/{name}");
    model.edit(|facts| {
        let tree = [
            ("rdma_cm/rdmap2s0f0".to_owned(), None),
            ("rdma_cm/rdmap2s0f0/ports".to_owned(), None),
            ("rdma_cm/rdmap2s0f0/ports/1".to_owned(), None),
            (file("default_roce_mode"), Some("RoCE v2".to_owned())),
            (file("default_roce_tos"), Some("96".to_owned())),
        ];
        facts.state.configfs =
            crate::facts::Seen::known(tree.into_iter().collect(), "/sys/kernel/config");
    });
    let before = model.facts().state.configfs;
    let ended = apply_to(&model, &s1());
    assert_eq!(ended.outcome, Outcome::Met, "{ended:#?}");
    assert_eq!(model.facts().state.configfs, before);
    let made = texts(&ended.changes);
    let path = file("default_roce_tos");
    assert!(made.contains(&format!("write 96 to configfs {path}")), "{made:#?}");
}

#[test]
fn two_modes_on_one_out_of_tree_driver_are_refused() {
    let text = "version: 1\ninterfaces:\n  - {name: ens1f0, rdma: {mode: rocev2}}\n  \
                - {name: ens1f1, rdma: {mode: iwarp}}\n";
    for loaded in [true, false] {
        let model = Model::complete(hosts::s1(1));
        if !loaded {
            let module = "irdma".to_owned();
            model.act(&Change::RemoveModule { module }).expect("a removal");
        }
        let before = model.facts().state;
        let ended = apply_to(&model, &Wanted::new(&profile(text, "server1"), &[]));
        assert_eq!(ended.outcome, Outcome::Refused);
        let [refusal] = &ended.refusals[..] else { panic!("{:?}", ended.refusals) };
        assert_eq!(refusal.what, "irdma is not loaded with roce_ena=1");
        assert_eq!(
            refusal.why,
            "the profile wants iwarp on ens1f1, and roce_ena is one for all ports of irdma"
        );
        assert_eq!(model.facts().state, before);
    }
}

#[test]
fn iwarp_goes_off_before_roce_goes_on() {
    let model = Model::complete(hosts::s1_in_kernel());
    let planned =
        plan(&model, &Wanted::new(&profile(MODE_ONLY, "server1"), &[]).intent()).expect("facts");
    let devlink: Vec<String> =
        texts(&planned.changes).into_iter().filter(|text| text.contains("devlink")).collect();
    assert_eq!(
        devlink,
        [
            "set devlink pci/0000:02:00.0 enable_iwarp=false (runtime)",
            "set devlink pci/0000:02:00.0 enable_roce=true (runtime)",
        ]
    );
}

#[test]
fn without_privilege_nothing_is_tried() {
    let mut facts = hosts::s1(1);
    facts.evidence.privilege = crate::facts::Seen::known(Default::default(), "/proc/self/status");
    let model = Model::complete(facts);
    let faulty = Faulty::new(model, []);
    let ended = apply(&faulty, &faulty, &s1().intent(), &Silent).expect("facts");
    assert_eq!(ended.outcome, Outcome::Refused);
    assert_eq!(
        ended.refusals[0].why,
        "this process lacks CAP_NET_ADMIN and CAP_SYS_MODULE (/proc/self/status)"
    );
    assert_eq!(faulty.acted(), []);
}
