//! `ipv4` and `ipv6` of an interface.

use std::net::IpAddr;

use crate::values::{InvalidValue, IpPrefix};

use super::super::error::Finding;
use super::super::node::{Kind, Node};
use super::super::source::Spot;
use super::super::wishes::OtherAddresses;
use super::fields::{Context, Fields};
use super::parallel::{PerHost, first_spot};

/// One address of an interface.
#[derive(Debug)]
pub(in super::super) struct Address {
    pub(in super::super) prefix: PerHost<IpPrefix>,
    pub(in super::super) spot: Spot,
}

/// Addresses of one family on one interface.
const ADDRESSES: usize = 64;

pub(super) fn read(
    context: &mut Context<'_>,
    fields: &Fields<'_>,
    key: &'static str,
) -> (Vec<Address>, OtherAddresses) {
    let nothing = (Vec::new(), OtherAddresses::Keep);
    let Some(node) = fields.get(key) else {
        return nothing;
    };
    let owner = format!("`{key}`");
    if let Kind::List(_) = node.kind {
        let finding = Finding::new(
            fields.key_spot(key),
            format!("{owner} is a group of keys, this is a list"),
        );
        context.report(finding.help("put the list below `address:`"));
        return nothing;
    }
    let Some(family) = context.fields(node, &owner, &["address", "other-addresses"]) else {
        return nothing;
    };
    let other = family.get("other-addresses").and_then(|node| {
        let words = [("keep", OtherAddresses::Keep), ("remove", OtherAddresses::Remove)];
        context.word(node, "a treatment of other addresses", &words)
    });
    let addresses = match family.get("address") {
        Some(node) => {
            let entries = context.list(node, "`address`", ADDRESSES);
            entries.iter().filter_map(|entry| address(context, entry, key == "ipv4")).collect()
        }
        None => Vec::new(),
    };
    (addresses, other.unwrap_or_default())
}

fn address(context: &mut Context<'_>, node: &Node, wants_ipv4: bool) -> Option<Address> {
    const FORM: &str = "write `{ip: 100.0.1.10, prefix-length: 24}`";
    if let Kind::Text(_) = &node.kind {
        let finding = Finding::new(
            node.spot,
            "an address is a group of `ip` and `prefix-length`, this is a text",
        );
        context.report(finding.help(FORM));
        return None;
    }
    let fields = context.fields(node, "an address", &["ip", "prefix-length"])?;
    let family = if wants_ipv4 { "IPv4" } else { "IPv6" };
    let longest = if wants_ipv4 { 32 } else { 128 };
    let length = match fields.get("prefix-length") {
        Some(node) => prefix_length(context, node, longest),
        None => {
            let finding = Finding::new(fields.spot, "this address has no `prefix-length`");
            // `ifconfig` without one takes the address class, and put two cards into one subnet.
            context.report(finding.help("say how large the subnet is, `prefix-length: 24`; nothing is assumed from the address"));
            None
        }
    };
    let Some(ip_node) = fields.get("ip") else {
        let finding = Finding::new(fields.spot, "this address has no `ip`");
        context.report(finding.help(FORM));
        return None;
    };
    let parse = |text: &str| parse_ip(text, family);
    let ips =
        context.per_host(ip_node, &format!("an {family} address"), "addresses", true, parse)?;
    let spot = first_spot(ip_node);
    if let (PerHost::One(ip), Some(hosts)) = (&ips, &context.hosts)
        && hosts.names.len() > 1
    {
        let message = format!("all {} hosts would get the address {ip}", hosts.names.len());
        let related = hosts.spot;
        context.report(
            Finding::new(spot, message)
                .related(related, "`hosts` is here")
                .help("write one address for each host, such as \"100.0.1.[10-11]\""),
        );
        return None;
    }
    let length = length?;
    let prefix = |ip: IpAddr| {
        let prefix = IpPrefix::new(ip, length)?;
        prefix.assignable().map(|()| prefix)
    };
    let prefixes = match ips {
        PerHost::One(ip) => prefix(ip).map(PerHost::One),
        PerHost::Each(ips) => {
            ips.into_iter().map(prefix).collect::<Result<_, _>>().map(PerHost::Each)
        }
    };
    let prefix = context.checked(spot, prefixes)?;
    Some(Address { prefix, spot })
}

fn prefix_length(context: &mut Context<'_>, node: &Node, longest: u64) -> Option<u8> {
    if let Kind::Text(text) = &node.kind
        && let Ok(mask) = text.parse::<std::net::Ipv4Addr>()
    {
        let ones = mask.to_bits().leading_ones();
        let finding = Finding::new(node.spot, "a prefix length is a number, this is a netmask");
        context.report(finding.help(format!("write `prefix-length: {ones}`")));
        return None;
    }
    let length = context.integer(node, "a prefix length", 1..=longest)?;
    Some(length as u8)
}

fn parse_ip(text: &str, family: &'static str) -> Result<IpAddr, InvalidValue> {
    let kind = if family == "IPv4" { "an IPv4 address" } else { "an IPv6 address" };
    match text.parse::<IpAddr>() {
        Ok(ip) if ip.is_ipv4() == (family == "IPv4") => Ok(ip),
        Ok(_) => {
            let other = if family == "IPv4" { "ipv6" } else { "ipv4" };
            let reason = format!("it belongs below `{other}`");
            Err(InvalidValue::new(kind, text, reason))
        }
        Err(_) => {
            let reason = if text.contains('/') {
                "the prefix is a key of its own, `prefix-length`"
            } else if text.contains('%') {
                "the interface after `%` is not part of it"
            } else if text.split('.').any(|part| part.len() > 1 && part.starts_with('0')) {
                "a part with a leading zero could be meant as octal"
            } else if family == "IPv4" {
                "its form is 100.0.1.10"
            } else {
                "its form is fd00::10"
            };
            Err(InvalidValue::new(kind, text, reason))
        }
    }
}
