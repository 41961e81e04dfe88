use std::collections::BTreeMap;

use super::*;
use crate::facts::{Gid, RdmaPort};

fn netdev(bdf: &str, mac: &str) -> Netdev {
    Netdev {
        bdf: bdf.parse().ok(),
        driver: Some("ice".to_owned()),
        mac: mac.parse().ok(),
        permanent_mac: Seen::known(mac.parse().expect("a MAC"), "rtnetlink IFLA_PERM_ADDRESS"),
        ..Netdev::default()
    }
}

fn host() -> Facts {
    let mut facts = Facts::default();
    let netdevs = BTreeMap::from([
        ("ens1f0".to_owned(), netdev("0000:02:00.0", "b4:96:91:00:00:0a")),
        ("ens1f1".to_owned(), netdev("0000:02:00.1", "b4:96:91:00:00:0b")),
        ("ens2f0".to_owned(), netdev("0000:03:00.0", "b4:96:91:00:00:0c")),
        (
            "ens1f0.7".to_owned(),
            Netdev {
                kind: NetdevKind::Virtual("vlan".to_owned()),
                parent: Some("ens1f0".to_owned()),
                ..netdev("", "b4:96:91:00:00:0a")
            },
        ),
    ]);
    facts.identity.netdevs = Seen::known(netdevs, "rtnetlink");
    facts
}

fn device(node_type: NodeType, layer: &str, gids: Seen<Vec<GidType>>) -> RdmaDevice {
    let port = RdmaPort {
        netdev: Seen::known(Some("ens1f0".to_owned()), "RDMA netlink"),
        link_layer: Seen::known(layer.to_owned(), "link_layer"),
        gids: gids.map(|kinds| {
            let gid = |(index, kind)| Gid {
                index,
                gid: "fe80::1".parse().expect("a GID"),
                kind,
                netdev: None,
            };
            (0..).zip(kinds).map(gid).collect()
        }),
        ..RdmaPort::default()
    };
    RdmaDevice {
        node_type: Seen::known(node_type, "node_type"),
        protocol: Seen::unknown("Protocol not supported (EPROTONOSUPPORT)", "RDMA netlink"),
        ports: BTreeMap::from([(1, port)]),
        ..RdmaDevice::default()
    }
}

fn gids(kinds: &[GidType]) -> Seen<Vec<GidType>> {
    Seen::known(kinds.to_vec(), "gids")
}

#[test]
fn a_port_is_found_by_each_selector() {
    let facts = host();
    let one = |selector: Selector| match facts.find_port(&selector) {
        PortLookup::One(name, _) => name.to_owned(),
        other => format!("{other:?}"),
    };
    assert_eq!(one(Selector::Name("ens1f0.7".parse().expect("a name"))), "ens1f0.7");
    assert_eq!(one(Selector::Pci("0000:02:00.1".parse().expect("an address"))), "ens1f1");
    assert_eq!(one(Selector::PermanentMac("b4:96:91:00:00:0a".parse().expect("a MAC"))), "ens1f0");
    assert_eq!(
        one(Selector::DriverFunction { driver: "ice".to_owned(), pci_function: 1 }),
        "ens1f1"
    );
}

#[test]
fn none_names_what_there_is_and_several_are_listed() {
    let facts = host();
    let none = PortLookup::None {
        candidates:
            "ens1f0 (0000:02:00.0, ice), ens1f1 (0000:02:00.1, ice), ens2f0 (0000:03:00.0, ice)"
                .to_owned(),
    };
    assert_eq!(facts.find_port(&Selector::Name("eth9".parse().expect("a name"))), none);
    let many = PortLookup::Many(vec!["ens1f0".to_owned(), "ens2f0".to_owned()]);
    assert_eq!(
        facts.find_port(&Selector::DriverFunction { driver: "ice".to_owned(), pci_function: 0 }),
        many
    );
    let mut bare = Facts::default();
    bare.identity.netdevs = Seen::known(BTreeMap::new(), "rtnetlink");
    assert_eq!(bare.ports(), "none");
}

#[test]
fn without_permanent_addresses_the_one_in_use_counts_unless_a_bond_has_changed_it() {
    let mut facts = host();
    let port = facts.identity.netdevs.get_mut().expect("known").get_mut("ens1f0").expect("there");
    port.permanent_mac = Seen::unknown("not reported", "rtnetlink IFLA_PERM_ADDRESS");
    let wanted = Selector::PermanentMac("b4:96:91:00:00:0a".parse().expect("a MAC"));
    assert!(matches!(facts.find_port(&wanted), PortLookup::One("ens1f0", _)));
    let port = facts.identity.netdevs.get_mut().expect("known").get_mut("ens1f0").expect("there");
    port.master = Some("bond0".to_owned());
    let why = "the permanent MAC of ens1f0 is unknown: rtnetlink IFLA_PERM_ADDRESS: not reported"
        .to_owned();
    assert_eq!(facts.find_port(&wanted), PortLookup::Unknown(why));
}

#[test]
fn hardware_comes_before_software_unless_software_is_wanted() {
    let mut facts = host();
    let rxe = RdmaDevice {
        software: Some(Software::Rxe),
        ..device(NodeType::Ca, "Ethernet", Seen::NotAsked)
    };
    let hardware = device(NodeType::Rnic, "Ethernet", Seen::NotAsked);
    let devices = BTreeMap::from([("a_rxe".to_owned(), rxe), ("irdma1".to_owned(), hardware)]);
    facts.identity.rdma = Seen::known(devices, "/sys/class/infiniband");
    let names = |netdev, prefer| {
        facts.rdma_of(netdev, prefer).iter().map(|found| found.0).collect::<Vec<_>>()
    };
    assert_eq!(names("ens1f0", None), ["irdma1", "a_rxe"]);
    assert_eq!(names("ens1f0", Some(Software::Rxe)), ["a_rxe", "irdma1"]);
    assert_eq!(names("ens1f0.7", None), ["irdma1", "a_rxe"]);
    assert_eq!(names("ens1f1", None), [""; 0]);
}

#[test]
fn iwarp_is_told_although_link_layer_and_gid_type_look_like_roce() {
    let siw = device(NodeType::Rnic, "Ethernet", gids(&[GidType::IbRoceV1]));
    assert_eq!(siw.mode(1), Seen::known(Mode::Iwarp, "node_type"));
}

#[test]
fn roce_has_the_version_of_its_gids() {
    use GidType::{IbRoceV1, RoceV2};
    let mode = |kinds: Seen<_>| device(NodeType::Ca, "Ethernet", kinds).mode(1);
    assert_eq!(
        mode(gids(&[IbRoceV1, RoceV2])),
        Seen::known(Mode::RoceV2, "gids; types in gid_attrs")
    );
    assert_eq!(mode(gids(&[IbRoceV1])), Seen::known(Mode::RoceV1, "gids; types in gid_attrs"));
    assert_eq!(mode(gids(&[])), Seen::known(Mode::RoceV2, "node_type (RoCE; gids is empty yet)"));
    assert_eq!(mode(Seen::NotAsked), Seen::known(Mode::RoceV2, "node_type (RoCE; GIDs not asked)"));
    let unreadable = Seen::unknown("Permission denied (EACCES)", "gids");
    assert_eq!(
        mode(unreadable.clone()).why_not(),
        "gids: RoCE, and its GIDs would tell which version: Permission denied (EACCES)"
    );
    let mut rxe = device(NodeType::Ca, "Ethernet", unreadable);
    rxe.software = Some(Software::Rxe);
    assert_eq!(rxe.mode(1).get(), Some(&Mode::RoceV2));
}

#[test]
fn infiniband_is_told_by_the_link_layer() {
    let hdr = device(NodeType::Ca, "InfiniBand", gids(&[GidType::IbRoceV1]));
    assert_eq!(hdr.mode(1), Seen::known(Mode::Infiniband, "link_layer"));
}

#[test]
fn sources_that_contradict_each_other_are_unknown() {
    let with = |node_type, layer: &str, protocol| RdmaDevice {
        protocol: Seen::known(protocol, "RDMA netlink"),
        ..device(node_type, layer, Seen::NotAsked)
    };
    assert_eq!(
        with(NodeType::Rnic, "Ethernet", Protocol::Roce).mode(1).why_not(),
        "node_type; RDMA netlink: node_type says RNIC (iWARP), the protocol is RoCE or InfiniBand"
    );
    assert_eq!(
        with(NodeType::Ca, "Ethernet", Protocol::Iw).mode(1).why_not(),
        "node_type; RDMA netlink: node_type says CA (RoCE or InfiniBand), the protocol is iWARP"
    );
    assert_eq!(
        with(NodeType::Ca, "InfiniBand", Protocol::Roce).mode(1).why_not(),
        "link_layer; RDMA netlink: link layer and protocol contradict each other"
    );
}

#[test]
fn a_mode_that_nothing_tells_is_unknown() {
    let mut bare = device(NodeType::Ca, "Ethernet", Seen::NotAsked);
    bare.node_type = Seen::unknown("\"N/A (no PMA)\" is not understood", "node_type");
    assert_eq!(bare.mode(1).why_not(), "node_type: \"N/A (no PMA)\" is not understood");
    let other = device(NodeType::Other(6), "Ethernet", Seen::NotAsked).mode(1);
    assert_eq!(other.get(), None);
    assert_eq!(host().mode_of("irdma9", 1), Seen::NotAsked);
}
