//! `interfaces`: how each is found, its link, its addresses and its RDMA side.

use std::net::IpAddr;

use crate::values::{
    Bdf, InterfaceName, InvalidValue, IpPrefix, LinkState, MacAddr, Mode, Mtu, PathMtu,
    RdmaDeviceName, Software,
};

use super::super::error::Finding;
use super::super::node::{Kind, Node};
use super::super::source::Spot;
use super::super::wishes::{OtherAddresses, Selector};
use super::fields::{Context, Fields, PerHost, Spotted};

/// One entry of `interfaces`, for all hosts.
#[derive(Debug)]
pub(in super::super) struct Interface {
    pub(in super::super) selector: PerHost<Selector>,
    pub(in super::super) spot: Spot,
    pub(in super::super) line: u32,
    pub(in super::super) state: Option<Spotted<LinkState>>,
    pub(in super::super) mtu: Option<Spotted<Mtu>>,
    pub(in super::super) ipv4: Vec<Address>,
    pub(in super::super) ipv6: Vec<Address>,
    pub(in super::super) other_ipv4: OtherAddresses,
    pub(in super::super) other_ipv6: OtherAddresses,
    pub(in super::super) rdma: Option<Rdma>,
}

impl Interface {
    pub(in super::super) fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.ipv4.iter().chain(&self.ipv6)
    }
}

/// One address of an interface.
#[derive(Debug)]
pub(in super::super) struct Address {
    pub(in super::super) prefix: PerHost<IpPrefix>,
    pub(in super::super) spot: Spot,
}

/// `rdma` of an interface.
#[derive(Debug)]
pub(in super::super) struct Rdma {
    pub(in super::super) spot: Spot,
    pub(in super::super) mode: Spotted<Mode>,
    pub(in super::super) path_mtu: Option<Spotted<PathMtu>>,
    pub(in super::super) software: Option<Spotted<Software>>,
    pub(in super::super) name: Option<Spotted<RdmaDeviceName>>,
}

/// Entries of `interfaces`: more than any host has ports.
const INTERFACES: usize = 256;
/// Addresses of one family on one interface.
const ADDRESSES: usize = 64;

pub(super) fn read(context: &mut Context<'_>, node: &Node) -> Vec<Interface> {
    let entries = context.list(node, "`interfaces`", INTERFACES);
    entries.iter().filter_map(|entry| interface(context, entry)).collect()
}

fn interface(context: &mut Context<'_>, node: &Node) -> Option<Interface> {
    let fields = context.fields(
        node,
        "an interface",
        &["name", "match", "state", "mtu", "ipv4", "ipv6", "rdma"],
    )?;
    let selector = selector(context, &fields);
    let state = fields.get("state").and_then(|node| {
        let words = [("up", LinkState::Up), ("down", LinkState::Down)];
        let value = context.word(node, "a link state", &words)?;
        Some(Spotted { value, spot: node.spot })
    });
    let mtu = fields.get("mtu").and_then(|node| {
        let bytes = context.integer(node, "an MTU", 68..=65535)?;
        let value = context.checked(node.spot, Mtu::try_from(bytes as u32))?;
        Some(Spotted { value, spot: node.spot })
    });
    let (ipv4, other_ipv4) = family(context, &fields, "ipv4");
    let (ipv6, other_ipv6) = family(context, &fields, "ipv6");
    let rdma = fields.get("rdma").and_then(|node| rdma(context, node, fields.key_spot("rdma")));
    let (line, _) = context.source.position(fields.spot.start);
    let (selector, spot) = selector?;
    Some(Interface { selector, spot, line, state, mtu, ipv4, ipv6, other_ipv4, other_ipv6, rdma })
}

fn selector(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<(PerHost<Selector>, Spot)> {
    const HELP: &str = "write `name: ens1f0`, or `match:` with one of `{pci: \"0000:02:00.0\"}`, `{permanent-mac: ...}`, `{driver: ice, pci-function: 0}`";
    match (fields.get("name"), fields.get("match")) {
        (Some(node), None) => {
            let parse = |text: &str| text.parse::<InterfaceName>().map(Selector::Name);
            let names = context.per_host(node, "an interface name", "names", false, parse)?;
            Some((names, first_spot(node)))
        }
        (None, Some(node)) => Some((matching(context, node)?, fields.key_spot("match"))),
        (None, None) => {
            let finding =
                Finding::new(fields.spot, "this interface has neither `name` nor `match`");
            context.report(finding.help(HELP));
            None
        }
        (Some(_), Some(_)) => {
            let finding = Finding::new(
                fields.key_spot("match"),
                "this interface has both `name` and `match`",
            )
            .related(fields.key_spot("name"), "`name` is here")
            .help("keep the one by which the interface shall be found");
            context.report(finding);
            None
        }
    }
}

/// Where a value begins that may be a list.
fn first_spot(node: &Node) -> Spot {
    match &node.kind {
        Kind::List(list) => list.first().map_or(node.spot, |entry| entry.spot),
        _ => node.spot,
    }
}

fn matching(context: &mut Context<'_>, node: &Node) -> Option<PerHost<Selector>> {
    let fields =
        context.fields(node, "`match`", &["pci", "permanent-mac", "driver", "pci-function"])?;
    let forms = ["pci", "permanent-mac", "driver"];
    let given: Vec<&str> = forms.into_iter().filter(|form| fields.get(form).is_some()).collect();
    match given.as_slice() {
        [_] => {}
        [] if fields.get("pci-function").is_some() => {
            let finding = Finding::new(
                fields.key_spot("pci-function"),
                "`pci-function` stands without `driver`",
            );
            context.report(finding.help("write `{driver: ice, pci-function: 0}`"));
            return None;
        }
        _ => {
            let finding = Finding::new(
                fields.spot,
                format!("`match` has {} ways to find the interface, it takes one", given.len()),
            );
            context.report(
                finding
                    .help("keep one of `pci`, `permanent-mac`, and `driver` with `pci-function`"),
            );
            return None;
        }
    }
    if let (Some(extra), None) = (fields.get("pci-function"), fields.get("driver")) {
        context.report(Finding::new(extra.spot, "`pci-function` only goes with `driver`"));
    }
    if let Some(node) = fields.get("pci") {
        let parse = |text: &str| text.parse::<Bdf>().map(Selector::Pci);
        return context.per_host(node, "a PCI address", "PCI addresses", false, parse);
    }
    if let Some(node) = fields.get("permanent-mac") {
        let parse = |text: &str| {
            let mac: MacAddr = text.parse()?;
            if mac.is_multicast() || mac == MacAddr([0; 6]) {
                let reason = "no port has that address";
                return Err(InvalidValue::new("a MAC address of a port", text, reason));
            }
            Ok(Selector::PermanentMac(mac))
        };
        return context.per_host(node, "a MAC address", "MAC addresses", false, parse);
    }
    let node = fields.get("driver")?;
    let driver = context.text(node, "the name of a driver")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if driver.is_empty() || driver.len() > 55 || !driver.chars().all(allowed) {
        let reason = "it has letters, digits, `_` and `-`, at most 55";
        let error = InvalidValue::new("the name of a driver", &driver, reason);
        context.report(Finding::new(node.spot, error.to_string()));
        return None;
    }
    let Some(function) = fields.get("pci-function") else {
        let finding = Finding::new(
            fields.key_spot("driver"),
            "`driver` alone does not say which of its ports is meant",
        );
        context.report(finding.help("add `pci-function`, the last digit of the port's PCI address: `{driver: ice, pci-function: 0}`"));
        return None;
    };
    let function = context.integer(function, "a PCI function", 0..=7)?;
    Some(PerHost::One(Selector::DriverFunction { driver, pci_function: function as u8 }))
}

fn family(
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
        context.word(node, "what becomes of other addresses", &words)
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

fn rdma(context: &mut Context<'_>, node: &Node, spot: Spot) -> Option<Rdma> {
    if let Kind::Text(text) = &node.kind {
        let finding = Finding::new(node.spot, "`rdma` is a group of keys, this is a text");
        let mode = InvalidValue::new("", text, "").given;
        context.report(finding.help(format!("write `rdma: {{mode: {mode}}}`")));
        return None;
    }
    let fields = context.fields(node, "`rdma`", &["mode", "path-mtu", "software", "name"])?;
    let path_mtu = fields.get("path-mtu").and_then(|node| {
        let bytes = context.integer(node, "an RDMA path MTU", 1..=u64::from(u32::MAX))?;
        let value = context.checked(node.spot, PathMtu::try_from(bytes as u32))?;
        Some(Spotted { value, spot: node.spot })
    });
    let software = fields.get("software").and_then(|node| {
        let value = context.value(node, "a software RDMA device, rxe or siw")?;
        Some(Spotted { value, spot: node.spot })
    });
    let name = fields.get("name").and_then(|node| {
        let value = context.value(node, "an RDMA device name")?;
        Some(Spotted { value, spot: node.spot })
    });
    let Some(node) = fields.get("mode") else {
        let finding = Finding::new(fields.spot, "`rdma` has no `mode`");
        context.report(finding.help("add `mode: rocev2`, or rocev1, iwarp, infiniband"));
        return None;
    };
    let value = context.value(node, "an RDMA mode")?;
    Some(Rdma { spot, mode: Spotted { value, spot: node.spot }, path_mtu, software, name })
}
