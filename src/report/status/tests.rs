//! The table, cell by cell, from looks made by hand.

use std::collections::BTreeMap;

use super::{Row, rows, write_status};
use crate::facts::{
    DriverInfo, Facts, Gid, GidType, LinkState, Netdev, NetdevKind, NodeType, PortState, Protocol,
    RdmaDevice, RdmaPort, Seen,
};
use crate::report::{Detail, TextStyle};
use crate::values::Software;

fn known<T>(value: T) -> Seen<T> {
    Seen::known(value, "here")
}

fn card(index: u32, bdf: &str, carrier: bool) -> Netdev {
    Netdev {
        index,
        bdf: bdf.parse().ok(),
        driver: Some("ice".to_owned()),
        carrier: known(carrier),
        speed_mbps: known(100_000),
        numa_node: known(1),
        ..Netdev::default()
    }
}

fn rdma(netdev: &str, state: PortState, gids: &[(u32, &str, GidType)]) -> RdmaDevice {
    let gid = |(index, gid, kind): &(u32, &str, GidType)| Gid {
        index: *index,
        gid: gid.parse().expect("a GID"),
        kind: *kind,
        netdev: Some(netdev.to_owned()),
    };
    let port = RdmaPort {
        netdev: known(Some(netdev.to_owned())),
        link_layer: known("Ethernet".to_owned()),
        state: known(state),
        physical_state: known("LinkUp".to_owned()),
        rate: known("100 Gb/sec (4X EDR)".to_owned()),
        gids: known(gids.iter().map(gid).collect()),
    };
    RdmaDevice {
        node_type: known(NodeType::Ca),
        protocol: known(Protocol::Roce),
        bdf: "0000:02:00.0".parse().ok(),
        ports: BTreeMap::from([(1, port)]),
        ..RdmaDevice::default()
    }
}

/// A host with one port in RoCEv2, one in iWARP without carrier, a plain NIC that is down, soft
/// RoCE on a VLAN, and what the table leaves out.
fn host() -> Facts {
    let mut facts = Facts { format: 1, host: "server1".to_owned(), ..Facts::default() };
    let software =
        |kind: &str| Netdev { kind: NetdevKind::Virtual(kind.to_owned()), ..Netdev::default() };
    facts.identity.netdevs = known(BTreeMap::from([
        ("lo".to_owned(), Netdev { kind: NetdevKind::Loopback, ..Netdev::default() }),
        ("ens1f0".to_owned(), card(2, "0000:02:00.0", true)),
        ("ens1f1".to_owned(), card(3, "0000:02:00.1", false)),
        (
            "eno1".to_owned(),
            Netdev {
                bdf: "0000:01:00.0".parse().ok(),
                driver: Some("tg3".to_owned()),
                carrier: Seen::unknown("Invalid argument", "/sys/class/net/eno1/carrier"),
                numa_node: Seen::unknown("-1", "/sys/.../numa_node"),
                ..Netdev::default()
            },
        ),
        ("br0".to_owned(), software("bridge")),
        ("vlan5".to_owned(), Netdev { carrier: known(true), ..software("vlan") }),
    ]));
    let link = |up, mtu| LinkState { up, mtu, ..LinkState::default() };
    facts.state.links = known(BTreeMap::from([
        ("ens1f0".to_owned(), link(true, 4200)),
        ("ens1f1".to_owned(), link(true, 1500)),
        ("eno1".to_owned(), link(false, 1500)),
        ("vlan5".to_owned(), link(true, 1500)),
    ]));
    let driver = |name: &str, firmware: &str| {
        known(DriverInfo {
            driver: name.to_owned(),
            version: "1.9.11".to_owned(),
            firmware: firmware.to_owned(),
        })
    };
    facts.evidence.drivers = BTreeMap::from([
        ("ens1f0".to_owned(), driver("ice", "3.20 0x8000d84c 1.3146.0")),
        ("ens1f1".to_owned(), driver("ice", "3.20 0x8000d84c 1.3146.0")),
        ("eno1".to_owned(), Seen::unknown("Operation not permitted", "SIOCETHTOOL")),
        ("vlan5".to_owned(), driver("802.1Q VLAN Support", "N/A")),
    ]);
    let roce = rdma(
        "ens1f0",
        PortState::Active,
        &[(0, "fe80::1", GidType::RoceV2), (1, "::ffff:100.0.1.10", GidType::RoceV2)],
    );
    let iwarp = RdmaDevice {
        node_type: known(NodeType::Rnic),
        protocol: known(Protocol::Iw),
        ..rdma("ens1f1", PortState::Down, &[(0, "fe80::2", GidType::IbRoceV1)])
    };
    let soft = RdmaDevice {
        software: Some(Software::Rxe),
        bdf: None,
        ..rdma("vlan5", PortState::Active, &[(0, "2001:db8::5", GidType::RoceV2)])
    };
    facts.identity.rdma = known(BTreeMap::from([
        ("irdma1".to_owned(), iwarp),
        ("rdmap2s0f0".to_owned(), roce),
        ("rxe0".to_owned(), soft),
    ]));
    facts
}

fn table(facts: &Facts, detail: Detail) -> String {
    let mut out = Vec::new();
    let style = TextStyle { detail, ..TextStyle::default() };
    write_status(facts, &style, &mut out).expect("written to memory");
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn ports_with_and_without_rdma_are_shown_and_virtual_ones_are_not() {
    insta::assert_snapshot!(table(&host(), Detail::Normal), @r"
    NETDEV  RDMA        PCI           DRIVER               VERSION  FIRMWARE                  MODE    STATE              MTU   GID               RATE      NUMA
    eno1    -           0000:01:00.0  tg3                  ?        ?                         -       down               1500  -                 -         ?
    ens1f0  rdmap2s0f0  0000:02:00.0  ice                  1.9.11   3.20 0x8000d84c 1.3146.0  rocev2  ACTIVE             4200  1 v2 100.0.1.10   100 Gb/s  1
    ens1f1  irdma1      0000:02:00.1  ice                  1.9.11   3.20 0x8000d84c 1.3146.0  iwarp   DOWN (no carrier)  1500  -                 100 Gb/s  1
    vlan5   rxe0 (rxe)  -             802.1Q VLAN Support  1.9.11   -                         rocev2  ACTIVE             1500  0 v2 2001:db8::5  100 Gb/s  -

    ?  some readings are unknown (?); --verbose tells why
    ");
}

#[test]
fn verbose_gives_the_reasons_of_unknown_readings() {
    let text = table(&host(), Detail::Verbose);
    let reasons: Vec<&str> = text.lines().filter(|line| line.starts_with('?')).collect();
    assert_eq!(
        reasons,
        [
            "?  eno1 firmware: SIOCETHTOOL: Operation not permitted",
            "?  eno1 numa: /sys/.../numa_node: -1",
            "?  eno1 version: SIOCETHTOOL: Operation not permitted",
        ]
    );
}

#[test]
fn a_device_without_an_interface_and_readings_that_failed_are_not_left_out() {
    let mut facts = Facts::default();
    facts.identity.netdevs = Seen::unknown("Permission denied", "rtnetlink");
    let mut device = rdma("gone", PortState::Active, &[]);
    let port = device.ports.get_mut(&1).expect("port 1");
    port.netdev = Seen::unknown("No such device", "/sys/class/infiniband/mlx5_0/device/net");
    port.state = Seen::unknown("Invalid argument", "/sys/class/infiniband/mlx5_0/ports/1/state");
    facts.identity.rdma = known(BTreeMap::from([("mlx5_0".to_owned(), device)]));
    insta::assert_snapshot!(table(&facts, Detail::Verbose), @r"
    NETDEV  RDMA    PCI           DRIVER  VERSION  FIRMWARE  MODE    STATE  MTU  GID  RATE      NUMA
    ?       mlx5_0  0000:02:00.0  -       -        -         rocev2  ?      -    -    100 Gb/s  -

    ?  network interfaces are unknown: rtnetlink: Permission denied
    ?  mlx5_0 netdev: /sys/class/infiniband/mlx5_0/device/net: No such device
    ?  mlx5_0 state: /sys/class/infiniband/mlx5_0/ports/1/state: Invalid argument
    ");
}

#[test]
fn an_empty_host_says_so() {
    let mut facts = Facts::default();
    facts.identity.netdevs = known(BTreeMap::new());
    facts.identity.rdma = known(BTreeMap::new());
    assert_eq!(table(&facts, Detail::Normal), "no physical network interface and no RDMA device\n");
}

#[test]
fn json_rows_hold_the_same_with_null_and_the_reason() {
    let rows: Vec<Row> = rows(&host());
    let json = serde_json::to_value(&rows[0]).expect("JSON");
    assert_eq!(json["netdev"], "eno1");
    assert_eq!(json["version"], serde_json::Value::Null);
    assert_eq!(json["unknown"]["version"], "SIOCETHTOOL: Operation not permitted");
    let json = serde_json::to_value(&rows[1]).expect("JSON");
    assert_eq!(json["rdma"], "rdmap2s0f0");
    assert_eq!(json["gid_index"], 1);
    assert_eq!(json["gid_type"], "v2");
    assert_eq!(json["gid_address"], "100.0.1.10");
    assert_eq!(json["mtu"], 4200);
    assert!(json.get("unknown").is_none(), "{json}");
}
