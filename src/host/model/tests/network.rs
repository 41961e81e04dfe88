//! Links, addresses and routes.

use super::*;
use crate::facts::{Netdev, NetdevKind, Route};

fn route(netdev: &str, destination: &str, gateway: Option<&str>, source: Option<&str>) -> Route {
    Route {
        netdev: netdev.to_owned(),
        destination: destination.parse().unwrap(),
        gateway: gateway.map(|ip| ip.parse().unwrap()),
        source: source.map(|ip| ip.parse().unwrap()),
        table: 254,
        metric: 0,
        protocol: 4,
        scope: 0,
    }
}

fn add_route(model: &Model, route: &Route) {
    act(model, Change::AddRoute { route: route.clone() });
}

fn routes(model: &Model, netdev: &str) -> Vec<String> {
    let facts = model.facts();
    let all = facts.state.routes.get().unwrap();
    all.iter().filter(|route| route.netdev == netdev).map(Route::to_string).collect()
}

#[test]
fn a_link_that_goes_down_loses_ipv6_and_routes_and_keeps_ipv4() {
    let model = hosts::s1_machine(1);
    act(&model, add("ens1f0", "100.0.1.10/24"));
    act(&model, add("ens1f0", "2001:db8::10/64"));
    add_route(&model, &route("ens1f0", "10.1.0.0/16", Some("100.0.1.1"), None));
    add_route(&model, &route("ens1f0", "2001:db8:1::/48", Some("2001:db8::1"), None));
    act(&model, set_link("ens1f0", false));
    assert_eq!(addresses(&model, "ens1f0"), ["100.0.1.10/24"]);
    assert_eq!(routes(&model, "ens1f0"), [""; 0]);
    assert_eq!(routes(&model, "eno1"), ["0.0.0.0/0 via 192.168.4.1 dev eno1"]);
    let netdevs = model.facts().identity.netdevs;
    let carrier = &netdevs.get().unwrap()["ens1f0"].carrier;
    assert_eq!(carrier.why_not(), "/sys/class/net/ens1f0/carrier: Invalid argument (EINVAL)");
    act(&model, set_link("ens1f0", true));
    let all: Vec<_> =
        link(&model, "ens1f0").addresses.iter().map(|a| a.prefix.to_string()).collect();
    assert_eq!(all, ["100.0.1.10/24", "fe80::b696:91ff:feaa:100/64"]);
}

#[test]
fn an_mtu_below_1280_stops_ipv6() {
    let model = hosts::s1_machine(1);
    act(&model, add("ens1f0", "100.0.1.10/24"));
    act(&model, add("ens1f0", "2001:db8::10/64"));
    act(&model, set_mtu("ens1f0", 1279));
    assert_eq!(addresses(&model, "ens1f0"), ["100.0.1.10/24"]);
    act(&model, set_mtu("ens1f0", 4200));
    assert_eq!(link(&model, "ens1f0").mtu, 4200);
    assert_eq!(link(&model, "ens1f0").addresses.len(), 2, "IPv4 and a new link-local address");
}

#[test]
fn a_primary_address_takes_the_secondaries_of_its_subnet_along() {
    let all = ["100.0.1.10/24", "100.0.1.11/24", "100.0.1.12/25", "100.0.2.10/24"];
    let model = hosts::s1_machine(1);
    let promoting = hosts::s1_machine(1).with_promoted_secondaries();
    for model in [&model, &promoting] {
        all.iter().for_each(|address| act(model, add("ens1f0", address)));
        act(model, remove("ens1f0", "100.0.1.10/24"));
    }
    assert_eq!(addresses(&model, "ens1f0"), ["100.0.1.12/25", "100.0.2.10/24"]);
    assert_eq!(addresses(&promoting, "ens1f0"), all[1..]);
    act(&promoting, remove("ens1f0", "100.0.1.11/24"));
    assert_eq!(addresses(&promoting, "ens1f0"), all[2..]);
}

#[test]
fn routes_go_with_their_preferred_source_and_with_the_last_address() {
    let model = hosts::s1_machine(1);
    act(&model, add("ens1f0", "100.0.1.10/24"));
    act(&model, add("ens1f0", "100.0.2.10/24"));
    add_route(&model, &route("ens1f0", "10.1.0.0/16", Some("100.0.2.1"), Some("100.0.1.10")));
    add_route(&model, &route("ens1f0", "10.2.0.0/16", Some("100.0.1.1"), None));
    act(&model, remove("ens1f0", "100.0.1.10/24"));
    assert_eq!(routes(&model, "ens1f0"), ["10.2.0.0/16 via 100.0.1.1 dev ens1f0"]);
    act(&model, remove("ens1f0", "100.0.2.10/24"));
    assert_eq!(routes(&model, "ens1f0"), [""; 0]);
}

#[test]
fn an_ipv6_route_outlives_its_preferred_source_without_it() {
    let model = hosts::s1_machine(1);
    act(&model, add("ens1f0", "2001:db8::10/64"));
    add_route(&model, &route("ens1f0", "2001:db8:1::/48", None, Some("2001:db8::10")));
    act(&model, remove("ens1f0", "2001:db8::10/64"));
    let left = model.facts().state.routes.get().unwrap().clone();
    let left: Vec<_> = left.into_iter().filter(|route| route.netdev == "ens1f0").collect();
    assert_eq!(left, [route("ens1f0", "2001:db8:1::/48", None, None)]);
}

#[test]
fn vlans_follow_the_device_below_them() {
    let model = hosts::s1_machine(1);
    with_vlan(&model);
    act(&model, add("ens1f0.7", "2001:db8:7::10/64"));
    act(&model, set_mtu("ens1f0", 1400));
    assert_eq!(link(&model, "ens1f0.7").mtu, 1400);
    act(&model, set_link("ens1f0", false));
    assert!(!link(&model, "ens1f0.7").up);
    assert_eq!(addresses(&model, "ens1f0.7"), [""; 0]);
    act(&model, set_link("ens1f0", true));
    assert!(link(&model, "ens1f0.7").up);
}

/// Gives the host a VLAN 7 on ens1f0, which is up.
pub(crate) fn with_vlan(model: &Model) {
    model.edit(|facts| {
        let netdevs = facts.identity.netdevs.get_mut().unwrap();
        let below = netdevs["ens1f0"].clone();
        let vlan = Netdev {
            index: 70,
            kind: NetdevKind::Virtual("vlan".to_owned()),
            parent: Some("ens1f0".to_owned()),
            driver: None,
            bdf: None,
            ..below
        };
        netdevs.insert("ens1f0.7".to_owned(), vlan);
        let link = LinkState { up: true, mtu: 1500, addresses: Default::default() };
        facts.state.links.get_mut().unwrap().insert("ens1f0.7".to_owned(), link);
    });
}

#[test]
fn gids_of_a_vlan_are_in_the_table_of_the_device_below() {
    let model = hosts::s1_machine(1);
    act(&model, unload("irdma"));
    act(&model, load("irdma", &[("roce_ena", "1")]));
    with_vlan(&model);
    act(&model, add("ens1f0.7", "100.0.7.10/24"));
    let device = &hosts::devices(&model.facts())["rdmap2s0f0"];
    let table = device.ports[&1].gids.get().unwrap();
    let found = table.iter().find(|gid| gid.address().to_string() == "100.0.7.10").unwrap();
    assert_eq!((found.netdev.as_deref(), found.kind), (Some("ens1f0.7"), GidType::RoceV2));
}

#[test]
fn removing_ice_would_take_the_interfaces_along() {
    let model = hosts::s1_machine(1);
    act(&model, unload("irdma"));
    act(&model, unload("ice"));
    let facts = model.facts();
    let left: Vec<_> = facts.state.links.get().unwrap().keys().cloned().collect();
    assert_eq!(left, ["eno1", "lo"]);
    assert_eq!(facts.state.devlink.len(), 0);
}
