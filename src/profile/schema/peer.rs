//! `peer` of the smoke test.

use std::net::IpAddr;

use crate::values::InvalidValue;

use super::super::error::Finding;
use super::super::node::{Kind, Node};
use super::super::select;
use super::super::shorten;
use super::super::source::Spot;
use super::fields::{Context, Fields, Spotted};
use super::scalars::did_you_mean;

/// Who tests against whom.
#[derive(Clone, Debug)]
pub(in super::super) enum PeerRule {
    /// Hosts 1-2, 3-4, ...
    Pair,
    /// Each with the next, the last with the first.
    Ring,
    /// Each with itself.
    Loopback,
    /// All with one host, by its position.
    Host(usize),
    /// All with one address.
    Address(IpAddr),
}

pub(super) fn read(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<Spotted<PeerRule>> {
    const FORMS: &str = "write `pair`, `ring`, `loopback`, `{host: NAME}` or an address";
    let Some(node) = fields.get("peer") else {
        let finding = Finding::new(fields.spot, "`smoke` has no `peer`");
        context.report(finding.help(FORMS));
        return None;
    };
    let spot = node.spot;
    if let Kind::Map(_) = node.kind {
        let fields = context.fields(node, "`peer`", &["host"])?;
        let Some(node) = fields.get("host") else {
            context.report(Finding::new(spot, "`peer` has no `host`").help(FORMS));
            return None;
        };
        return named_host(context, node);
    }
    let text = context.text(node, "the peer of the smoke test")?;
    let value = match text.as_str() {
        "pair" => PeerRule::Pair,
        "ring" => PeerRule::Ring,
        "loopback" => PeerRule::Loopback,
        _ => {
            if let Ok(address) = text.parse::<IpAddr>() {
                return peer_address(context, spot, address);
            }
            let shown = InvalidValue::new("", &text, "").given;
            let listed = context
                .hosts
                .as_ref()
                .is_some_and(|hosts| select::position(&hosts.names, &text).is_ok());
            let help = if listed {
                format!("write `peer: {{host: {shown}}}`")
            } else {
                match did_you_mean(&text, &["pair", "ring", "loopback"]) {
                    near if near.starts_with("did") => near,
                    _ => FORMS.to_owned(),
                }
            };
            context.report(Finding::new(spot, format!("`{shown}` is no peer")).help(help));
            return None;
        }
    };
    let count = context.hosts.as_ref().map(|hosts| (hosts.names.len(), hosts.spot));
    match (&value, count) {
        (PeerRule::Pair | PeerRule::Ring, None) => {
            let finding =
                Finding::new(spot, format!("`peer: {text}` needs `hosts`, the profile has none"));
            context
                .report(finding.help("add `hosts: server[1-2]`, or name the peer by its address"));
            return None;
        }
        (PeerRule::Pair, Some((count, hosts))) if count % 2 == 1 => {
            let finding = Finding::new(
                spot,
                format!("`peer: pair` needs an even number of hosts, there are {count}"),
            )
            .related(hosts, "`hosts` is here")
            .help("with `peer: ring` each host tests with the next one");
            context.report(finding);
            return None;
        }
        (PeerRule::Ring, Some((1, hosts))) => {
            let finding = Finding::new(spot, "`peer: ring` needs more than one host")
                .related(hosts, "`hosts` is here");
            context.report(finding);
            return None;
        }
        _ => {}
    }
    Some(Spotted { value, spot })
}

fn named_host(context: &mut Context<'_>, node: &Node) -> Option<Spotted<PeerRule>> {
    let name = context.text(node, "the name of a host")?;
    let shown = InvalidValue::new("", &name, "").given;
    let spot = node.spot;
    let Some(hosts) = &context.hosts else {
        let finding =
            Finding::new(spot, "a peer by its host name needs `hosts`, the profile has none");
        context.report(finding.help("add `hosts`, or name the peer by its address"));
        return None;
    };
    match select::position(&hosts.names, &name) {
        Ok(position) => Some(Spotted { value: PeerRule::Host(position), spot }),
        Err(_) => {
            let related = format!("`hosts` is {}", shorten::shorten(&hosts.names));
            let finding = Finding::new(spot, format!("the peer {shown} is not in `hosts`"))
                .related(hosts.spot, related)
                .help("its addresses are those of this profile, so it must be one of the hosts; another machine is named by its address");
            context.report(finding);
            None
        }
    }
}

fn peer_address(
    context: &mut Context<'_>,
    spot: Spot,
    address: IpAddr,
) -> Option<Spotted<PeerRule>> {
    let reason = if address.is_loopback() {
        Some("for a test of this host with itself write `peer: loopback`")
    } else if address.is_unspecified() || address.is_multicast() {
        Some("name the peer by the address of its port")
    } else {
        None
    };
    match reason {
        Some(help) => {
            context.report(
                Finding::new(spot, format!("no peer has the address {address}")).help(help),
            );
            None
        }
        None => Some(Spotted { value: PeerRule::Address(address), spot }),
    }
}
