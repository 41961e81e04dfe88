use rtnetlink::packet_route::address::AddressScope;

use super::*;

fn address(prefix: &str) -> Address {
    Address::plain(prefix.parse().expect("a prefix"))
}

#[test]
fn a_plain_address_has_its_label_and_no_broadcast() {
    let message = address_message(4, "ens1f0", &address("100.0.1.10/24"), true);
    assert_eq!((message.header.index, message.header.prefix_len), (4, 24));
    let ip: IpAddr = [100, 0, 1, 10].into();
    assert_eq!(
        message.attributes,
        [
            AddressAttribute::Local(ip),
            AddressAttribute::Address(ip),
            AddressAttribute::Label("ens1f0".to_owned())
        ]
    );
}

#[test]
fn every_attribute_of_an_address_comes_back() {
    let full = Address {
        peer: Some([10, 0, 0, 2].into()),
        broadcast: Some([10, 0, 0, 255].into()),
        label: Some("ens1f0:1".to_owned()),
        scope: 253,
        no_prefix_route: true,
        ..address("10.0.0.1/32")
    };
    let message = address_message(4, "ens1f0", &full, true);
    assert_eq!(message.header.scope, AddressScope::Link);
    assert_eq!(
        message.attributes,
        [
            AddressAttribute::Local([10, 0, 0, 1].into()),
            AddressAttribute::Address([10, 0, 0, 2].into()),
            AddressAttribute::Label("ens1f0:1".to_owned()),
            AddressAttribute::Broadcast([10, 0, 0, 255].into()),
            AddressAttribute::Flags(AddressFlags::Noprefixroute),
        ]
    );
}

#[test]
fn an_ipv6_address_has_no_local_part_and_no_label() {
    let message = address_message(4, "ens1f0", &address("fd00::1/64"), true);
    let ip: IpAddr = "fd00::1".parse().expect("an address");
    assert_eq!(message.attributes, [AddressAttribute::Address(ip)]);
}

#[test]
fn a_route_is_named_by_its_network_and_keeps_a_large_table() {
    let route = Route {
        netdev: "ens1f0".to_owned(),
        destination: "10.9.1.1/16".parse().expect("a prefix"),
        gateway: Some([100, 0, 1, 1].into()),
        source: Some([100, 0, 1, 10].into()),
        table: 1000,
        metric: 7,
        protocol: 4,
        scope: 0,
    };
    let message = route_message(4, &route);
    assert_eq!((message.header.table, u8::from(message.header.protocol)), (252, 4));
    assert_eq!(
        message.attributes,
        [
            RouteAttribute::Destination(IpAddr::from([10, 9, 0, 0]).into()),
            RouteAttribute::Oif(4),
            RouteAttribute::Table(1000),
            RouteAttribute::Gateway(IpAddr::from([100, 0, 1, 1]).into()),
            RouteAttribute::PrefSource(IpAddr::from([100, 0, 1, 10]).into()),
            RouteAttribute::Priority(7),
        ]
    );
    let default = Route {
        destination: "0.0.0.0/0".parse().expect("a prefix"),
        gateway: None,
        source: None,
        metric: 0,
        ..route
    };
    assert_eq!(
        route_message(4, &default).attributes,
        [RouteAttribute::Oif(4), RouteAttribute::Table(1000)]
    );
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    let refusal = set_link("nosuchif0", true).expect_err("refused");
    assert_eq!(refusal.errno, Some(libc::ENODEV));
    assert_eq!(refusal.why, "there is no interface nosuchif0 (ENODEV)");
}
