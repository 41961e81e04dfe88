//! Random hosts and random changes: undoing them in reverse restores the state.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::facts::{LinkState, Netdev, NetdevKind};

/// Example hosts with two addressed ports, a VLAN and routes.
fn host() -> impl Strategy<Value = (&'static str, Facts)> {
    select(vec!["s1", "in-kernel", "debian", "soft", "mlx5"]).prop_map(|name| {
        let facts = match name {
            "s1" => hosts::s1_with_stale_address(1),
            "in-kernel" => hosts::s1_in_kernel(),
            "debian" => hosts::s1_debian(),
            "soft" => hosts::soft(),
            _ => hosts::mlx5(),
        };
        (name, facts)
    })
}

fn port(facts: &Facts) -> &'static str {
    let links = facts.state.links.get().unwrap();
    if links.contains_key("eth4") { "eth4" } else { "ens1f0" }
}

fn dress(mut facts: Facts) -> Facts {
    let port = port(&facts);
    let netdevs = facts.identity.netdevs.get_mut().unwrap();
    let below = netdevs[port].clone();
    let kind = NetdevKind::Virtual("vlan".to_owned());
    let vlan =
        Netdev { index: 70, kind, parent: Some(port.to_owned()), driver: None, bdf: None, ..below };
    netdevs.insert("vlan7".to_owned(), vlan);
    let links = facts.state.links.get_mut().unwrap();
    let addresses = [plain("100.0.7.10/24"), plain("2001:db8:7::10/64")].into();
    links.insert("vlan7".to_owned(), LinkState { up: true, mtu: 1500, addresses });
    for prefix in ["100.0.1.10/24", "100.0.1.11/24", "100.0.3.10/24", "2001:db8:1::10/64"] {
        links.get_mut(port).unwrap().addresses.insert(plain(prefix));
    }
    let routes = facts.state.routes.get_mut().unwrap();
    routes.extend(ways(port).into_iter().take(4));
    facts
}

fn ways(port: &str) -> Vec<Route> {
    vec![
        route(port, "10.1.0.0/16", Some("100.0.3.1"), Some("100.0.1.11")),
        route(port, "10.2.0.0/16", Some("100.0.1.1"), None),
        route(port, "2001:db8:a::/48", Some("2001:db8:1::1"), Some("2001:db8:1::10")),
        route("vlan7", "10.7.0.0/16", Some("100.0.7.1"), None),
        route(port, "10.3.0.0/16", None, None),
        route("vlan7", "2001:db8:b::/48", None, None),
        route(port, "10.4.0.0/16", Some("100.0.1.7"), Some("192.168.4.144")),
    ]
}

/// What a random sequence is about: with all changes in one pool those that meet are too rare.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Topic {
    Links,
    Devices,
    All,
}

/// All changes that the random sequences are drawn from.
fn pool(name: &str, topic: Topic, facts: &Facts) -> Vec<Change> {
    let mut all = Vec::new();
    if topic != Topic::Devices {
        all.extend(network(port(facts)));
    }
    if topic != Topic::Links {
        all.extend(devices(name, facts));
    }
    all
}

fn network(port: &str) -> Vec<Change> {
    let mut all = Vec::new();
    for netdev in [port, "vlan7"] {
        all.extend([true, false, false].map(|up| set_link(netdev, up)));
        all.extend([60, 1000, 1280, 1500, 4200, 9000].map(|mtu| set_mtu(netdev, mtu)));
        for prefix in [
            "100.0.1.10/24",
            "100.0.1.11/24",
            "100.0.1.12/24",
            "100.0.1.10/8",
            "100.0.7.10/24",
            "2001:db8:1::10/64",
            "2001:db8:7::10/64",
            "2001:db8:1::11/64",
        ] {
            all.extend([add(netdev, prefix), remove(netdev, prefix)]);
        }
    }
    for way in ways(port) {
        all.extend([add_route(way.clone()), Change::RemoveRoute { route: way }]);
    }
    all
}

fn devices(name: &str, facts: &Facts) -> Vec<Change> {
    let mut all = Vec::new();
    for kind in [Software::Rxe, Software::Siw] {
        all.extend([load(kind.module(), &[]), unload(kind.module())]);
        let name = format!("soft_{kind}");
        all.extend([make_link(&name, kind, port(facts)), drop_link(&name, kind, port(facts))]);
        all.extend(settings(&name));
    }
    all.extend([unload("rdma_ucm"), unload("rdma_cm"), load("rdma_cm", &[])]);
    for device in hosts::devices(facts).keys() {
        all.extend(settings(device));
    }
    if name == "mlx5" {
        all.extend([load("mlx5_ib", &[]), unload("mlx5_ib")]);
    } else if name != "soft" {
        let modes = [&[][..], &[("roce_ena", "1")], &[("roce_ena", "0"), ("limits_sel", "5")]];
        all.extend(modes.map(|parameters| load("irdma", parameters)));
        all.extend([unload("irdma"), unload("irdma"), unload("irdma")]);
        all.extend([mkdir("irdma/rdmap2s0f0"), rmdir("irdma/rdmap2s0f0")]);
        for value in [true, false] {
            all.extend([devlink("enable_roce", value), devlink("enable_iwarp", value)]);
        }
    }
    all
}

fn settings(device: &str) -> Vec<Change> {
    let at = format!("rdma_cm/{device}");
    let ports = format!("{at}/ports/1");
    vec![
        mkdir(&at),
        rmdir(&at),
        write(&format!("{ports}/default_roce_mode"), "IB/RoCE v1"),
        write(&format!("{ports}/default_roce_mode"), "RoCE v2"),
        write(&format!("{ports}/default_roce_tos"), "104"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undoing_in_reverse_restores_the_state(
        (name, facts) in host(),
        topic in select(vec![Topic::Links, Topic::Devices, Topic::All]),
        picks in prop::collection::vec(any::<Index>(), 1..14),
        promote in any::<bool>(),
    ) {
        let facts = dress(facts);
        let pool = pool(name, topic, &facts);
        let configured: Vec<Change> = hosts::devices(&facts)
            .keys()
            .flat_map(|device| {
                let tos = format!("rdma_cm/{device}/ports/1/default_roce_tos");
                [mkdir(&format!("rdma_cm/{device}")), write(&tos, "26")]
            })
            .filter(|change| change.holds(&facts) != Some(true))
            .collect();
        let mut model = machine(facts, &configured);
        if promote {
            model = model.with_promoted_secondaries();
        }
        model.edit(|_| {});
        let before = model.facts();
        prop_assert_eq!(differences(&before.state, &before.state), [""; 0]);

        let mut made: Vec<(Change, Vec<Change>)> = Vec::new();
        for pick in picks {
            let change = pick.get(&pool);
            let now = model.facts();
            let inverse = change.inverse(&now);
            if change.holds(&now) == Some(true) {
                prop_assert_eq!(&inverse, &[][..]);
            } else if model.act(change).is_ok() {
                if change.holds(&model.facts()) == Some(true) {
                    made.push((change.clone(), inverse));
                } else {
                    // A parameter that the driver does not have: success, and not in effect.
                    let load = matches!(change, Change::LoadModule { parameters, .. } if !parameters.is_empty());
                    prop_assert!(load, "{} claimed success and does not hold", change);
                    made.push((change.clone(), inverse));
                }
            } else {
                prop_assert_eq!(differences(&now.state, &model.facts().state), [""; 0]);
            }
        }
        let sentences = said(&made.iter().map(|(change, _)| change.clone()).collect::<Vec<_>>());
        for (_, inverse) in made.iter().rev() {
            undo(&model, inverse);
        }
        let left = differences(&before.state, &model.facts().state);
        prop_assert_eq!(left, [""; 0], "on {} after {:#?}", name, sentences);
    }

    #[test]
    fn a_change_survives_the_journal(
        (name, facts) in host(),
        pick in any::<Index>(),
    ) {
        let pool = pool(name, Topic::All, &facts);
        let change = pick.get(&pool);
        let text = serde_json::to_string(change).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Change>(&text).unwrap(), change);
    }
}
