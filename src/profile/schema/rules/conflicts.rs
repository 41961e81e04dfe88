//! Interfaces and addresses that get in each other's way, host by host.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::values::IpPrefix;

use super::super::super::error::Finding;
use super::super::super::source::Spot;
use super::super::super::wishes::Selector;
use super::super::addresses::Address;
use super::super::fields::Context;
use super::super::interfaces::Interface;
use super::super::parallel::PerHost;

/// ` on server1`, where the hosts differ.
fn on_host(context: &Context<'_>, position: usize) -> String {
    match &context.hosts {
        Some(hosts) if hosts.names.len() > 1 => format!(" on {}", hosts.names[position]),
        _ => String::new(),
    }
}

pub(super) fn check_selectors(context: &mut Context<'_>, interfaces: &[Interface], hosts: usize) {
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

pub(super) fn check_addresses(context: &mut Context<'_>, interfaces: &[Interface], hosts: usize) {
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
