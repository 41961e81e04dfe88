//! What several values of a profile must be to each other.

mod conflicts;
mod modes;

use std::net::IpAddr;

use super::super::error::Finding;
use super::super::source::Spot;
use super::addresses::Address;
use super::fields::Context;
use super::interfaces::Interface;
use super::modules::Module;
use super::parallel::LIMIT;
use super::peer::PeerRule;
use super::smoke::Smoke;

/// Checks the whole profile, first what holds on every host, then host by host.
pub(super) fn check(
    context: &mut Context<'_>,
    modules: &[Module],
    interfaces: &[Interface],
    smoke: Option<&Smoke>,
) {
    for interface in interfaces {
        modes::check_rdma(context, interface);
        modes::check_mtu(context, interface);
    }
    modes::check_device_names(context, interfaces);
    modes::check_driver_modes(context, interfaces);
    modes::check_roce_ena(context, modules, interfaces);

    if context.expanded > LIMIT {
        return;
    }
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
    conflicts::check_selectors(context, interfaces, hosts);
    conflicts::check_addresses(context, interfaces, hosts);
    if let Some(smoke) = smoke {
        check_smoke(context, interfaces, smoke, hosts);
    }
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
