use super::*;
use crate::facts::{SoftwareLink, State};
use crate::host::model::hosts;
use crate::values::Software;

fn s1() -> State {
    hosts::s1_with_stale_address(1).state
}

/// What is said after this change of the first seed's host.
fn after(change: impl FnOnce(&mut State)) -> Vec<String> {
    let mut now = s1();
    change(&mut now);
    s1().differences(&now).iter().map(ToString::to_string).collect()
}

fn ens1f0(state: &mut State) -> &mut LinkState {
    state.links.get_mut().unwrap().get_mut("ens1f0").unwrap()
}

fn irdma(state: &mut State) -> &mut ModuleState {
    state.modules.get_mut("irdma").unwrap().get_mut().unwrap()
}

fn address(prefix: &str) -> Address {
    Address::plain(prefix.parse().unwrap())
}

fn route(protocol: u8) -> Route {
    Route {
        netdev: "ens1f0".to_owned(),
        destination: "10.0.0.0/8".parse().unwrap(),
        gateway: Some([100, 0, 1, 1].into()),
        source: None,
        table: 254,
        metric: 0,
        protocol,
        scope: 0,
    }
}

#[test]
fn a_state_has_no_difference_to_itself() {
    for facts in [hosts::s1(1), hosts::s1_in_kernel(), hosts::soft(), hosts::mlx5()] {
        assert_eq!(facts.state.differences(&facts.state), []);
    }
    assert_eq!(State::default().differences(&State::default()), []);
}

#[test]
fn links() {
    let said = after(|now| {
        ens1f0(now).up = false;
        ens1f0(now).mtu = 4200;
        ens1f0(now).addresses.retain(Address::is_link_local);
        ens1f0(now).addresses.insert(address("100.0.1.10/24"));
    });
    assert_eq!(
        said,
        [
            "ens1f0 was up, now down",
            "ens1f0 MTU was 1500, now 4200",
            "ens1f0 address 100.0.1.10/8 was present, now absent",
            "ens1f0 address 100.0.1.10/24 was absent, now present",
        ]
    );
    let said = after(|now| {
        now.links.get_mut().unwrap().remove("ens1f0");
        now.links.get_mut().unwrap().insert("new0".to_owned(), LinkState::default());
    });
    assert_eq!(said, ["interface ens1f0 was present, now absent"]);
}

#[test]
fn addresses_that_come_and_go_by_themselves_are_not_compared() {
    let said = after(|now| {
        let addresses = &mut ens1f0(now).addresses;
        addresses.retain(|address| !address.is_link_local());
        addresses.insert(address("169.254.3.4/16"));
        addresses.insert(Address { dynamic: true, ..address("100.0.3.10/24") });
    });
    assert_eq!(said, [""; 0]);
}

#[test]
fn an_address_with_other_attributes() {
    let said = after(|now| {
        let old = address("100.0.1.10/8");
        let addresses = &mut ens1f0(now).addresses;
        addresses.retain(|address| address.prefix != old.prefix);
        addresses.insert(Address { dynamic: true, label: Some("ens1f0:1".to_owned()), ..old });
    });
    assert_eq!(
        said,
        ["ens1f0 address 100.0.1.10/8 was permanent broadcast 100.255.255.255 scope 0, \
          now dynamic label ens1f0:1 scope 0"]
    );
}

#[test]
fn modules_and_their_parameters() {
    let said = after(|now| {
        let parameters = &mut irdma(now).parameters;
        parameters.insert("roce_ena".to_owned(), "1".to_owned());
        parameters.insert("limits_sel".to_owned(), "0x3".to_owned());
        parameters.remove("resource_profile");
    });
    assert_eq!(
        said,
        [
            "irdma parameter resource_profile was 0, now absent",
            "irdma parameter roce_ena was 0, now 1",
        ]
    );
    let said = after(|now| *irdma(now) = ModuleState::default());
    assert_eq!(said, ["irdma was loaded, now not loaded"]);
    let said = after(|now| {
        now.modules.remove("siw");
        let loaded = ModuleState { loaded: true, ..ModuleState::default() };
        now.modules.insert("pulled_in".to_owned(), Seen::known(loaded, "x"));
    });
    assert_eq!(said, [""; 0], "a module that one look did not ask for");
}

#[test]
fn routes_devlink_software_and_configfs() {
    let said = after(|now| {
        let routes = now.routes.get_mut().unwrap();
        routes.clear();
        routes.extend([route(4), route(1), route(9)]);
        let devlink = now.devlink.get_mut("pci/0000:02:00.1").unwrap().get_mut().unwrap();
        devlink.get_mut("enable_roce").unwrap().insert("runtime".to_owned(), false);
        let link = SoftwareLink { netdev: "eno1".to_owned(), kind: Software::Siw };
        now.software.get_mut().unwrap().insert(link);
        let configfs = now.configfs.get_mut().unwrap();
        configfs.insert("rdma_cm/irdma1".to_owned(), None);
        configfs
            .insert("rdma_cm/irdma1/ports/1/default_roce_tos".to_owned(), Some("26".to_owned()));
    });
    assert_eq!(
        said,
        [
            "route 0.0.0.0/0 via 192.168.4.1 dev eno1 was present, now absent",
            "route 10.0.0.0/8 via 100.0.1.1 dev ens1f0 was absent, now present",
            "devlink pci/0000:02:00.1 enable_roce (runtime) was true, now false",
            "software RDMA device siw on eno1 was absent, now present",
            "configfs rdma_cm/irdma1 was absent, now present",
            "configfs rdma_cm/irdma1/ports/1/default_roce_tos was absent, now 26",
        ]
    );
}

#[test]
fn a_devlink_device_that_has_gone_and_a_look_that_did_not_ask() {
    let said = after(|now| drop(now.devlink.remove("pci/0000:02:00.1")));
    assert_eq!(said, ["devlink pci/0000:02:00.1 was present, now absent"]);
    assert_eq!(after(|now| now.devlink.clear()), [""; 0]);
}

#[test]
fn unknown_on_one_side_is_a_difference_and_not_asked_is_none() {
    let why = || Seen::unknown("Permission denied", "/sys/module/irdma/initstate");
    let said = after(|now| {
        now.modules.insert("irdma".to_owned(), why());
        now.configfs = Seen::NotAsked;
        now.routes = Seen::unknown("Operation not supported", "RTM_GETROUTE");
    });
    let text = "unknown: /sys/module/irdma/initstate: Permission denied";
    assert_eq!(
        said,
        [
            format!("irdma was known, now {text}"),
            "the list of routes was known, now unknown: RTM_GETROUTE: Operation not supported"
                .to_owned(),
        ]
    );
    let mut before = s1();
    before.modules.insert("irdma".to_owned(), why());
    let found = before.differences(&s1());
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(said, [format!("irdma was {text}, now known")]);
    let mut both = s1();
    both.modules.insert("irdma".to_owned(), why());
    assert_eq!(before.differences(&both), []);
}

#[test]
fn a_difference_is_written_as_data() {
    let found = s1().differences(&hosts::s1(1).state);
    let text = serde_json::to_string(&found).unwrap();
    let expected = r#"[{"what":"ens1f0 address 100.0.1.10/8","before":"present","now":"absent"}]"#;
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<Vec<Difference>>(&text).unwrap(), found);
}
