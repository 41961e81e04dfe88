use super::*;
use crate::facts::{Gid, GidScan, GidType, Protocol};
use crate::host::linux::fixture::Fixture;

const PCI: &str = "pci0000:00/0000:00:01.0/0000:02:00.0";
const EMPTY: &str = "0000:0000:0000:0000:0000:0000:0000:0000";

fn deaf(_: Vec<String>) -> Result<BTreeMap<String, nldev::Device>, Refusal> {
    Err(Refusal::said("Protocol not supported (EPROTONOSUPPORT)"))
}

/// Details, and these GIDs.
fn scope(scan: &GidScan) -> Scope {
    Scope { details: true, gids: scan.clone(), ..Scope::default() }
}

fn one(fixture: &Fixture, scan: &GidScan, netlink: AskNetlink<'_>, name: &str) -> RdmaDevice {
    let seen = devices(&fixture.sys(), &scope(scan), None, netlink);
    seen.get().expect("devices").get(name).expect("the device").clone()
}

fn device(index: u32, protocol: Protocol, netdev: &str) -> nldev::Device {
    nldev::Device {
        index,
        protocol: Some(protocol),
        netdevs: BTreeMap::from([(1, netdev.to_owned())]),
        software: None,
    }
}

/// The first seed's E810 in RoCEv2: `rdmap2s0f0` on ens1f0.
fn e810() -> Fixture {
    let fixture = Fixture::new();
    fixture
        .nic("ens1f0", 4, "0000:02:00.0", "ice")
        .rdma("rdmap2s0f0", PCI, "1: CA", "Ethernet")
        .link(&format!("sys/devices/{PCI}/infiniband/rdmap2s0f0/device"), "../..")
        .file("sys/class/infiniband_verbs/uverbs0/ibdev", "rdmap2s0f0")
        .gid("rdmap2s0f0", 0, "fe80:0000:0000:0000:b696:91ff:fe00:000a", "RoCE v2", "ens1f0")
        .gid("rdmap2s0f0", 1, "0000:0000:0000:0000:0000:ffff:6400:010a", "RoCE v2", "ens1f0")
        .gid("rdmap2s0f0", 2, EMPTY, "", "");
    fixture
}

#[test]
fn an_e810_is_read_whole() {
    let ask =
        |_| Ok(BTreeMap::from([("rdmap2s0f0".to_owned(), device(3, Protocol::Roce, "ens1f0"))]));
    let seen = one(&e810(), &GidScan::All, &ask, "rdmap2s0f0");
    let place = "/sys/class/infiniband/rdmap2s0f0";
    assert_eq!(seen.node_type, Seen::known(NodeType::Ca, format!("{place}/node_type")));
    assert_eq!(seen.protocol, Seen::known(Protocol::Roce, "RDMA netlink"));
    assert_eq!(seen.bdf.map(|bdf| bdf.to_string()).as_deref(), Some("0000:02:00.0"));
    assert_eq!(seen.software, None);
    assert_eq!(seen.uverbs.get(), Some(&Some("uverbs0".to_owned())));
    let port = &seen.ports[&1];
    assert_eq!(port.netdev, Seen::known(Some("ens1f0".to_owned()), "RDMA netlink"));
    assert_eq!(port.state.get(), Some(&PortState::Active));
    assert_eq!(port.physical_state.get().map(String::as_str), Some("LinkUp"));
    assert_eq!(port.rate.get().map(String::as_str), Some("100 Gb/sec (4X EDR)"));
    let gids = port.gids.get().expect("GIDs");
    assert_eq!(gids.len(), 2);
    assert_eq!(gids[1].address(), IpAddr::from([100, 0, 1, 10]));
    assert_eq!((gids[1].kind, gids[1].netdev.as_deref()), (GidType::RoceV2, Some("ens1f0")));
}

#[test]
fn an_old_kernel_without_rdma_netlink_still_gives_the_interface() {
    let fixture = e810();
    std::fs::remove_dir_all(
        fixture.root().join(format!("sys/devices/{PCI}/infiniband/rdmap2s0f0/ports/1/gid_attrs")),
    )
    .expect("removed");
    let seen = one(&fixture, &GidScan::All, &deaf, "rdmap2s0f0");
    assert_eq!(
        seen.protocol,
        Seen::unknown("Protocol not supported (EPROTONOSUPPORT)", "RDMA netlink")
    );
    let port = &seen.ports[&1];
    let source = "/sys/class/infiniband/rdmap2s0f0/device/net";
    assert_eq!(port.netdev, Seen::known(Some("ens1f0".to_owned()), source));
    // Before types there was RoCE v1 only.
    assert!(port.gids.get().expect("GIDs").iter().all(|gid| gid.kind == GidType::IbRoceV1));
}

#[test]
fn rxe_is_known_by_its_parent_and_has_no_pci_function() {
    let fixture = Fixture::new();
    fixture
        .rdma("rxe0", "virtual", "1: CA", "Ethernet")
        .file("sys/class/infiniband/rxe0/parent", "ens1f0")
        .file("sys/class/infiniband/rxe0/fw_ver", "");
    let seen = one(&fixture, &GidScan::None, &deaf, "rxe0");
    assert_eq!((seen.software, seen.bdf), (Some(Software::Rxe), None));
    assert_eq!(seen.ports[&1].netdev.get(), Some(&Some("ens1f0".to_owned())));
    assert_eq!(seen.ports[&1].gids, Seen::NotAsked);
    assert_eq!(
        seen.uverbs.source(),
        "/sys/class/infiniband_verbs (absent: ib_uverbs is not loaded)"
    );
    let all = devices(&fixture.sys(), &scope(&GidScan::None), None, &deaf);
    let link = SoftwareLink { netdev: "ens1f0".to_owned(), kind: Software::Rxe };
    assert_eq!(software(&all).get(), Some(&BTreeSet::from([link])));
}

#[test]
fn siw_is_told_from_hardware_by_its_driver_and_without_netlink_by_its_description() {
    let fixture = Fixture::new();
    fixture
        .rdma("siw0", "virtual", "4: RNIC", "Ethernet")
        .file("sys/class/infiniband_verbs/uverbs3/ibdev", "siw0")
        .gid("siw0", 0, "b496:9100:000a:0000:0000:0000:0000:0000", "IB/RoCE v1", "");
    let ask = |names: Vec<String>| {
        assert_eq!(names, ["siw0"]);
        let known =
            nldev::Device { software: Some(Software::Siw), ..device(1, Protocol::Iw, "ens1f0") };
        Ok(BTreeMap::from([("siw0".to_owned(), known)]))
    };
    let seen = one(&fixture, &GidScan::All, &ask, "siw0");
    assert_eq!((seen.node_type.get(), seen.software), (Some(&NodeType::Rnic), Some(Software::Siw)));
    let expected = Gid {
        index: 0,
        gid: "b496:9100:a::".parse().expect("a GID"),
        kind: GidType::IbRoceV1,
        netdev: None,
    };
    assert_eq!(seen.ports[&1].gids.get(), Some(&vec![expected]));
    assert_eq!(one(&fixture, &GidScan::None, &deaf, "siw0").software, None);
    fixture.file("sys/class/infiniband/siw0/node_desc", "Software iWARP stack");
    assert_eq!(one(&fixture, &GidScan::None, &deaf, "siw0").software, Some(Software::Siw));
}

#[test]
fn what_is_missing_or_makes_no_sense_is_unknown_and_never_zero() {
    let fixture = e810();
    let place = "sys/class/infiniband/rdmap2s0f0";
    fixture
        .file(&format!("{place}/node_type"), "N/A (no PMA)")
        .file(&format!("{place}/ports/1/state"), "9: WHO KNOWS")
        .bytes(&format!("{place}/ports/1/phys_state"), &[0xff, 0xfe, 0])
        .file(&format!("{place}/ports/1/link_layer"), "Unknown")
        .file(&format!("{place}/ports/1/gids/0"), "garbage");
    std::fs::remove_file(fixture.root().join(format!("{place}/ports/1/rate"))).expect("removed");
    let seen = one(&fixture, &GidScan::All, &deaf, "rdmap2s0f0");
    let unknown = |why: &str, file: &str| Seen::<String>::unknown(why, format!("/{place}/{file}"));
    assert_eq!(
        seen.node_type.why_not(),
        unknown("\"N/A (no PMA)\" is not understood", "node_type").why_not()
    );
    let port = &seen.ports[&1];
    assert_eq!(
        port.state.why_not(),
        unknown("\"9: WHO KNOWS\" is not understood", "ports/1/state").why_not()
    );
    assert_eq!(port.physical_state.get(), None);
    assert_eq!(port.link_layer, unknown("\"Unknown\" is not understood", "ports/1/link_layer"));
    assert_eq!(port.rate, unknown("No such file or directory (ENOENT)", "ports/1/rate"));
    assert_eq!(port.gids.why_not(), unknown("\"garbage\" is no GID", "ports/1/gids/0").why_not());
}

#[test]
fn a_scan_ends_at_the_wanted_address_and_passes_over_its_version_1() {
    let fixture = e810();
    fixture
        .gid("rdmap2s0f0", 1, "0000:0000:0000:0000:0000:ffff:6400:010a", "IB/RoCE v1", "ens1f0")
        .gid("rdmap2s0f0", 3, "0000:0000:0000:0000:0000:ffff:6400:010a", "RoCE v2", "ens1f0")
        .gid("rdmap2s0f0", 4, "0000:0000:0000:0000:0000:ffff:6400:020a", "RoCE v2", "ens1f0");
    let wanted = IpAddr::from([100, 0, 1, 10]);
    let scan = GidScan::Until(BTreeSet::from([wanted]));
    let seen = one(&fixture, &scan, &deaf, "rdmap2s0f0");
    let indices: Vec<u32> =
        seen.ports[&1].gids.get().expect("GIDs").iter().map(|gid| gid.index).collect();
    assert_eq!(indices, [0, 1, 3]);
}

#[test]
fn a_table_that_cannot_hold_the_address_is_only_sampled() {
    let fixture = e810();
    for index in 0..9 {
        fixture.gid("rdmap2s0f0", index, EMPTY, "", "");
    }
    fixture.gid("rdmap2s0f0", 9, "fe80:0000:0000:0000:b696:91ff:fe00:000a", "RoCE v2", "ens1f0");
    let scan = GidScan::Until(BTreeSet::from([IpAddr::from([100, 0, 1, 10])]));
    let held = Held::from([("ens1f0".to_owned(), BTreeSet::new())]);
    let seen = devices(&fixture.sys(), &scope(&scan), Some(&held), &deaf);
    assert_eq!(seen.get().expect("devices")["rdmap2s0f0"].ports[&1].gids.get(), Some(&vec![]));
}

#[test]
fn a_host_without_rdma_is_known_to_have_none_and_is_not_asked_over_netlink() {
    let fixture = Fixture::new();
    fixture.directory("sys/class/net");
    let ask = |_| panic!("asked, which may load ib_core");
    let seen = devices(&fixture.sys(), &scope(&GidScan::All), None, &ask);
    assert_eq!(
        seen,
        Seen::known(BTreeMap::new(), "/sys/class/infiniband (absent: ib_core is not loaded)")
    );
}

#[test]
fn ports_of_one_function_are_told_apart_by_dev_port() {
    let fixture = e810();
    let place = "sys/class/infiniband/rdmap2s0f0";
    fixture
        .file(&format!("sys/devices/{PCI}/net/ens1f1/dev_port"), "1")
        .file(&format!("{place}/ports/2/link_layer"), "Ethernet");
    std::fs::remove_dir_all(fixture.root().join(format!("{place}/ports/1/gid_attrs")))
        .expect("removed");
    let seen = one(&fixture, &GidScan::None, &deaf, "rdmap2s0f0");
    let source = "/sys/class/infiniband/rdmap2s0f0/device/net/*/dev_port";
    assert_eq!(seen.ports[&1].netdev, Seen::known(Some("ens1f0".to_owned()), source));
    assert_eq!(seen.ports[&2].netdev, Seen::known(Some("ens1f1".to_owned()), source));
}

#[test]
fn a_scan_without_an_address_goes_past_the_v1_slot_of_an_mlx5_port() {
    let fixture = Fixture::new();
    let fe80 = "fe80:0000:0000:0000:0e0d:9aff:fe11:2233";
    fixture
        .nic("eth4", 4, "0000:02:00.0", "mlx5_core")
        .rdma("mlx5_0", PCI, "1: CA", "Ethernet")
        .gid("mlx5_0", 0, fe80, "IB/RoCE v1", "eth4")
        .gid("mlx5_0", 1, fe80, "RoCE v2", "eth4")
        .gid("mlx5_0", 2, EMPTY, "", "");
    let seen = one(&fixture, &GidScan::Until(Default::default()), &|names| deaf(names), "mlx5_0");
    assert_eq!(seen.mode(1).get(), Some(&crate::values::Mode::RoceV2));
}
