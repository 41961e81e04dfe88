//! What several values of a profile must be to each other.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::values::{IpPrefix, LinkState, Mode, Mtu};

use super::super::error::Finding;
use super::super::source::Spot;
use super::super::wishes::Selector;
use super::fields::{Context, PerHost};
use super::interfaces::{Address, Interface};
use super::modules::Module;
use super::smoke::{PeerRule, Smoke};

/// Hosts times interfaces and addresses: what can be compared in a moment.
const LIMIT: usize = 1 << 20;

pub(super) fn check(
    context: &mut Context<'_>,
    modules: &[Module],
    interfaces: &[Interface],
    smoke: Option<&Smoke>,
) {
    for interface in interfaces {
        check_rdma(context, interface);
        check_mtu(context, interface);
    }
    check_device_names(context, interfaces);
    check_driver_modes(context, interfaces);
    check_roce_ena(context, modules, interfaces);

    let hosts = context.hosts.as_ref().map_or(1, |hosts| hosts.names.len());
    let entries: usize = interfaces.iter().map(|interface| 1 + interface.addresses().count()).sum();
    if hosts.saturating_mul(entries) > LIMIT {
        let spot = context.hosts.as_ref().map_or(Spot::new(0, 0), |hosts| hosts.spot);
        let message = format!(
            "{hosts} hosts with {entries} interfaces and addresses are more than one profile can have"
        );
        context.report(Finding::new(spot, message).help("split the profile by hosts"));
        return;
    }
    check_selectors(context, interfaces, hosts);
    check_addresses(context, interfaces, hosts);
    if let Some(smoke) = smoke {
        check_smoke(context, interfaces, smoke, hosts);
    }
}

fn check_rdma(context: &mut Context<'_>, interface: &Interface) {
    let Some(rdma) = &interface.rdma else {
        return;
    };
    let mode = rdma.mode;
    if let Some(software) = rdma.software
        && software.value.mode() != mode.value
    {
        let device = software.value;
        let finding = Finding::new(
            software.spot,
            format!(
                "a software device {device} speaks {}, not {}",
                device.mode().title(),
                mode.value.title()
            ),
        )
        .related(mode.spot, "the mode is asked for here");
        context.report(finding.help(match mode.value {
            Mode::RoceV2 => "write `software: rxe`",
            Mode::Iwarp => "write `software: siw`",
            Mode::RoceV1 => "Linux has no software device for RoCEv1",
            Mode::Infiniband => "Linux has no software device for InfiniBand",
        }));
    }
    if let (Some(name), None) = (&rdma.name, rdma.software) {
        let finding = Finding::new(
            name.spot,
            "`name` is for a software device, this interface has no `software`",
        );
        context.report(finding.help(
            "take it out: the device of a card is found by its interface, whatever its name",
        ));
    }
    if let Some(path_mtu) = rdma.path_mtu
        && !mode.value.is_roce()
    {
        let reason = match mode.value {
            Mode::Iwarp => "iWARP runs over TCP, which has no path MTU of RDMA",
            _ => "the path MTU of InfiniBand is set by the subnet manager",
        };
        let finding = Finding::new(
            path_mtu.spot,
            format!("`path-mtu` does not go with `mode: {}`", mode.value),
        )
        .related(mode.spot, "the mode is asked for here");
        context.report(finding.help(format!("take it out: {reason}")));
    }
    if let Some(state) = interface.state
        && state.value == LinkState::Down
    {
        let finding = Finding::new(state.spot, "an interface that is down has no active RDMA port")
            .related(rdma.spot, "`rdma` is asked for here");
        context.report(finding.help("write `state: up`, or take `rdma` out"));
    }
}

fn check_mtu(context: &mut Context<'_>, interface: &Interface) {
    let Some(mtu) = interface.mtu else {
        return;
    };
    let path_mtu = interface.rdma.as_ref().and_then(|rdma| rdma.path_mtu);
    if let Some(path_mtu) = path_mtu
        && mtu.value.bytes() < path_mtu.value.netdev_mtu()
    {
        let needed = path_mtu.value.netdev_mtu();
        let finding = Finding::new(
            path_mtu.spot,
            format!(
                "a path MTU of {} needs an MTU of {needed} or more, not {}",
                path_mtu.value, mtu.value
            ),
        )
        .related(mtu.spot, "the MTU is asked for here");
        let usual = if needed > 2200 { 4200 } else { needed };
        context.report(finding.help(format!(
            "write `mtu: {usual}`, or take `mtu` out: it is then raised as far as needed"
        )));
    }
    if let Some(address) = interface.ipv6.first()
        && mtu.value.bytes() < Mtu::IPV6_MINIMUM
    {
        let finding = Finding::new(
            mtu.spot,
            format!("IPv6 needs an MTU of {} or more, not {}", Mtu::IPV6_MINIMUM, mtu.value),
        )
        .related(address.spot, "an IPv6 address is asked for here");
        context.report(finding);
    }
}

fn check_device_names(context: &mut Context<'_>, interfaces: &[Interface]) {
    let mut seen = HashMap::new();
    let names = interfaces.iter().filter_map(|interface| interface.rdma.as_ref()?.name.as_ref());
    for name in names {
        if let Some(first) = seen.insert(name.value.as_str(), name.spot) {
            let finding =
                Finding::new(name.spot, format!("two software devices are named {}", name.value))
                    .related(first, "the first one is here");
            context.report(finding);
        }
    }
}

/// The driver that an interface is matched by; a software device does not concern it.
fn matched_driver(interface: &Interface) -> Option<&str> {
    match &interface.selector {
        PerHost::One(Selector::DriverFunction { driver, .. }) => Some(driver),
        _ => None,
    }
}

fn check_driver_modes(context: &mut Context<'_>, interfaces: &[Interface]) {
    let mut seen: HashMap<&str, (bool, Mode, Spot)> = HashMap::new();
    for interface in interfaces {
        let (Some(driver), Some(rdma)) = (matched_driver(interface), &interface.rdma) else {
            continue;
        };
        let (mode, spot) = (rdma.mode.value, rdma.mode.spot);
        if rdma.software.is_some() || mode == Mode::Infiniband {
            continue;
        }
        let (is_roce, other, first) = *seen.entry(driver).or_insert((mode.is_roce(), mode, spot));
        if is_roce != mode.is_roce() {
            let finding = Finding::new(
                spot,
                format!(
                    "mixed modes on one driver: {} here and {} on another {driver} port",
                    mode.title(),
                    other.title()
                ),
            )
            .related(first, "the other mode is asked for here");
            context.report(finding.help("a driver may know only one mode for the whole host (`roce_ena` of irdma): ask for one mode on all its ports"));
        }
    }
}

/// `roce_ena` of irdma puts every E810 port of the host into one mode.
fn check_roce_ena(context: &mut Context<'_>, modules: &[Module], interfaces: &[Interface]) {
    let Some(irdma) = modules.iter().find(|module| module.wish.name.as_str() == "irdma") else {
        return;
    };
    let Some(value) = irdma.wish.parameters.get("roce_ena") else {
        return;
    };
    let spot = irdma.parameter_spots.get("roce_ena").copied().unwrap_or(irdma.name_spot);
    let on = match value.as_str() {
        "0" | "0x0" => false,
        text if is_number(text) => true,
        _ => {
            let finding = Finding::new(spot, "`roce_ena` of irdma is a number");
            context.report(finding.help("1 for RoCEv2, 0 for iWARP"));
            return;
        }
    };
    for interface in interfaces {
        let Some(rdma) = &interface.rdma else {
            continue;
        };
        let other_driver = matched_driver(interface).is_some_and(|driver| driver != "ice");
        let mode = rdma.mode.value;
        if rdma.software.is_some()
            || other_driver
            || mode == Mode::Infiniband
            || mode.is_roce() == on
        {
            continue;
        }
        let speaks = if on { Mode::RoceV2 } else { Mode::Iwarp };
        let finding = Finding::new(
            rdma.mode.spot,
            format!("`mode: {mode}` against `roce_ena: {value}`, with which every port of irdma speaks {}", speaks.title()),
        )
        .related(spot, "`roce_ena` is pinned here");
        context.report(finding.help("take `roce_ena` out: the mode alone is enough; a port of another driver is told apart by `match: {driver: ..., pci-function: ...}`"));
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix("0x");
    match digits {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// ` on server1`, where the hosts differ.
fn on_host(context: &Context<'_>, position: usize) -> String {
    match &context.hosts {
        Some(hosts) if hosts.names.len() > 1 => format!(" on {}", hosts.names[position]),
        _ => String::new(),
    }
}

fn check_selectors(context: &mut Context<'_>, interfaces: &[Interface], hosts: usize) {
    let differ = interfaces.iter().any(|interface| matches!(interface.selector, PerHost::Each(_)));
    for position in 0..if differ { hosts } else { 1 } {
        let mut seen: HashMap<&Selector, Spot> = HashMap::new();
        let mut found = false;
        for interface in interfaces {
            let Some(selector) = interface.selector.at(position) else {
                continue;
            };
            if let Some(first) = seen.insert(selector, interface.spot) {
                found = true;
                let host = if differ { on_host(context, position) } else { String::new() };
                let finding =
                    Finding::new(interface.spot, format!("{selector} is here a second time{host}"))
                        .related(first, "it is here already")
                        .help("write all that is asked of an interface in one entry");
                context.report(finding);
            }
        }
        // The same fault on thousands of hosts is one fault.
        if found {
            return;
        }
    }
}

/// An address of one host, and whose it is.
#[derive(Clone, Copy)]
struct Owned<'a> {
    prefix: IpPrefix,
    interface: usize,
    address: &'a Address,
}

fn check_addresses(context: &mut Context<'_>, interfaces: &[Interface], hosts: usize) {
    let differ = interfaces
        .iter()
        .flat_map(Interface::addresses)
        .any(|address| matches!(address.prefix, PerHost::Each(_)));
    let mut everywhere: HashMap<IpAddr, Spot> = HashMap::new();
    for position in 0..if differ { hosts } else { 1 } {
        let owned: Vec<Owned<'_>> = interfaces
            .iter()
            .enumerate()
            .flat_map(|(interface, entry)| {
                entry.addresses().map(move |address| (interface, address))
            })
            .filter_map(|(interface, address)| {
                let prefix = *address.prefix.at(position)?;
                // Every interface has a link-local address, in the same network.
                let link_local =
                    matches!(prefix.ip(), IpAddr::V6(ip) if ip.is_unicast_link_local());
                (!link_local).then_some(Owned { prefix, interface, address })
            })
            .collect();
        for entry in &owned {
            let ip = entry.prefix.ip();
            if let Some(first) = everywhere.insert(ip, entry.address.spot) {
                let host = on_host(context, position);
                let mut finding = Finding::new(
                    entry.address.spot,
                    format!("the address {ip} is given twice, the second time{host}"),
                );
                if first == entry.address.spot {
                    finding = Finding::new(
                        entry.address.spot,
                        format!("the address {ip} is in this list twice"),
                    );
                } else {
                    finding = finding.related(first, "it is here already");
                }
                context.report(finding);
                return;
            }
        }
        if let Some((first, second)) = find_overlap(&owned) {
            report_overlap(context, interfaces, position, first, second);
            return;
        }
    }
}

/// Two addresses of different interfaces whose networks overlap. Sorted by network, one that
/// contains another stands before it: a stack of the open networks is all there is to compare.
fn find_overlap<'a>(owned: &[Owned<'a>]) -> Option<(Owned<'a>, Owned<'a>)> {
    let mut sorted: Vec<Owned<'a>> = owned.to_vec();
    sorted.sort_by_key(|entry| (entry.prefix.network().ip(), entry.prefix.length()));
    let mut open: Vec<Owned<'a>> = Vec::new();
    for entry in sorted {
        while open.last().is_some_and(|outer| !outer.prefix.overlaps(entry.prefix)) {
            open.pop();
        }
        if let Some(outer) = open.iter().find(|outer| outer.interface != entry.interface) {
            let pair = (*outer, entry);
            let in_order = pair.0.address.spot < pair.1.address.spot;
            return Some(if in_order { pair } else { (pair.1, pair.0) });
        }
        // Networks of one interface that nest say no more than the outermost of them.
        if open.is_empty() {
            open.push(entry);
        }
    }
    None
}

fn report_overlap(
    context: &mut Context<'_>,
    interfaces: &[Interface],
    position: usize,
    first: Owned<'_>,
    second: Owned<'_>,
) {
    let name = |owned: &Owned<'_>| {
        let selector = interfaces[owned.interface].selector.at(position);
        selector.map(Selector::to_string).unwrap_or_default()
    };
    let host = on_host(context, position);
    let message = format!(
        "the subnets of two interfaces overlap{host}: {} of {} and {} of {}",
        first.prefix.network(),
        name(&first),
        second.prefix.network(),
        name(&second)
    );
    let mut help = "give each port a subnet of its own: in a shared one the kernel sends the traffic of both through either, and a test may measure the other card".to_owned();
    if [first, second].iter().any(|entry| is_classful(entry.prefix)) {
        help.push_str("; the prefix here is the one that `ifconfig` takes from the address class");
    }
    let finding = Finding::new(second.address.spot, message)
        .related(first.address.spot, format!("{} is here", first.prefix))
        .help(help);
    context.report(finding);
}

/// Whether a prefix is that of the address class: what `ifconfig` without a netmask sets.
fn is_classful(prefix: IpPrefix) -> bool {
    let IpAddr::V4(ip) = prefix.ip() else {
        return false;
    };
    let class = match ip.octets()[0] {
        0..=127 => 8,
        128..=191 => 16,
        // Nobody is surprised by /24.
        _ => return false,
    };
    prefix.length() == class
}

fn check_smoke(context: &mut Context<'_>, interfaces: &[Interface], smoke: &Smoke, hosts: usize) {
    let ports: Vec<&Interface> =
        interfaces.iter().filter(|interface| interface.rdma.is_some()).collect();
    let Some(first) = ports.first() else {
        let finding = Finding::new(smoke.spot, "`smoke` tests RDMA, but no interface has `rdma`");
        context.report(
            finding.help("add `rdma: {mode: rocev2}` to the interface that is to be tested"),
        );
        return;
    };
    match smoke.peer.value {
        PeerRule::Loopback => {}
        PeerRule::Pair | PeerRule::Ring | PeerRule::Host(_) => {
            for port in &ports {
                if !port.addresses().any(is_reachable) {
                    let message = "the peer's address on this interface is not known: the profile gives it none";
                    let finding = Finding::new(port.spot, message)
                        .related(smoke.peer.spot, "the peer is named by its host here")
                        .help("add `ipv4` with an address for each host; what is set already stays as it is");
                    context.report(finding);
                }
            }
        }
        PeerRule::Address(address) => {
            let near = |port: &&Interface| {
                (0..hosts).any(|position| {
                    port.addresses()
                        .any(|own| own.prefix.at(position).is_some_and(|own| own.contains(address)))
                })
            };
            if ports.len() > 1 && !ports.iter().any(near) {
                let finding = Finding::new(smoke.peer.spot, format!("no interface with `rdma` is in the subnet of {address}"))
                    .related(first.spot, "the first of them is here")
                    .help("with one such interface the peer may be behind a router; with several it must be in the subnet of one");
                context.report(finding);
            }
        }
    }
}

/// Whether a peer can be called at it: a link-local address is not one without its interface.
fn is_reachable(address: &Address) -> bool {
    let prefix = address.prefix.at(0);
    !prefix
        .is_some_and(|prefix| matches!(prefix.ip(), IpAddr::V6(ip) if ip.is_unicast_link_local()))
}
