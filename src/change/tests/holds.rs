//! When a change is in effect.

use super::*;
use crate::change::same_parameter_value;
use crate::facts::{ModuleState, Seen};

fn irdma(shown: &[(&str, &str)]) -> Facts {
    let mut facts = hosts::s1(1);
    let parameters = shown.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let state = ModuleState { loaded: true, parameters };
    facts.state.modules.insert("irdma".to_owned(), Seen::known(state, "/sys/module/irdma"));
    facts
}

#[test]
fn a_parameter_is_compared_as_the_kernel_reads_and_prints_it() {
    for (given, shown) in [
        ("1", "1"),
        ("0x1", "1"),
        ("01", "1"),
        ("010", "8"),
        ("-3", "-3"),
        ("+3", "3"),
        ("1", "Y"),
        ("y", "Y"),
        ("on", "Y"),
        ("0", "N"),
        ("N", "N"),
        ("off", "N"),
        ("Y", "1"),
        ("1,0x2", "1,2"),
        ("text", "text"),
        (" 3\n", "3"),
        ("\"a b\"", "a b"),
    ] {
        assert!(same_parameter_value(given, shown), "{given:?} is shown as {shown:?}");
    }
    for (given, shown) in [
        ("1", "0"),
        ("0", "Y"),
        ("1", "N"),
        ("2", "Y"),
        ("1", "1,1"),
        ("1,2", "1,3"),
        ("08", "8"),
        ("text", "Text"),
        ("", "0"),
        ("0x", "0"),
        ("1", "one"),
        ("yes", "2"),
    ] {
        assert!(!same_parameter_value(given, shown), "{given:?} is not shown as {shown:?}");
    }
}

#[test]
fn a_load_holds_with_all_its_parameters_in_force() {
    let wanted = load("irdma", &[("roce_ena", "1"), ("limits_sel", "0x3")]);
    assert_eq!(wanted.holds(&irdma(&[("roce_ena", "1"), ("limits_sel", "3")])), Some(true));
    assert_eq!(wanted.holds(&irdma(&[("roce_ena", "0"), ("limits_sel", "3")])), Some(false));
    assert_eq!(wanted.holds(&hosts::soft()), None, "not asked");
    let mut unloaded = hosts::s1(1);
    let state = Seen::known(ModuleState::default(), "/sys/module/irdma");
    unloaded.state.modules.insert("irdma".to_owned(), state);
    assert_eq!(wanted.holds(&unloaded), Some(false));
    let mut unreadable = hosts::s1(1);
    let state = Seen::unknown("Permission denied", "/sys/module/irdma");
    unreadable.state.modules.insert("irdma".to_owned(), state);
    assert_eq!(wanted.holds(&unreadable), None);
}

#[test]
fn a_parameter_that_the_module_does_not_have_never_holds() {
    let wanted = load("irdma", &[("roce_ena", "1")]);
    assert_eq!(wanted.holds(&hosts::s1_in_kernel()), Some(false));
    // One that the file lists and sysfs does not show cannot be read: that is not a yes.
    assert_eq!(wanted.holds(&irdma(&[])), None);
}

#[test]
fn an_address_holds_by_prefix_and_peer() {
    let model = machine(hosts::s1(1), &[add("ens1f0", "100.0.1.10/24")]);
    let facts = model.facts();
    assert_eq!(add("ens1f0", "100.0.1.10/24").holds(&facts), Some(true));
    assert_eq!(add("ens1f0", "100.0.1.10/8").holds(&facts), Some(false));
    let address = Address { label: Some("ens1f0:1".to_owned()), ..plain("100.0.1.10/24") };
    let labelled = Change::AddAddress { netdev: "ens1f0".to_owned(), address };
    assert_eq!(labelled.holds(&facts), Some(true));
    let address = Address { peer: Some([100, 0, 1, 11].into()), ..plain("100.0.1.10/24") };
    let with_peer = Change::AddAddress { netdev: "ens1f0".to_owned(), address };
    assert_eq!(with_peer.holds(&facts), Some(false));
}

#[test]
fn an_interface_that_has_gone_holds_no_setting_and_no_address() {
    let facts = hosts::s1(1);
    assert_eq!(set_link("ens9", true).holds(&facts), None);
    assert_eq!(set_mtu("ens9", 1500).holds(&facts), None);
    assert_eq!(add("ens9", "100.0.1.10/24").holds(&facts), None);
    assert_eq!(remove("ens9", "100.0.1.10/24").holds(&facts), Some(true));
}
