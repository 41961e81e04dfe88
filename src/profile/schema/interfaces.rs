//! `interfaces`: how each is found, its link, its addresses and its RDMA side.

use crate::values::{Bdf, InterfaceName, InvalidValue, LinkState, MacAddr, Mtu};

use super::super::error::Finding;
use super::super::node::{Kind, Node};
use super::super::source::Spot;
use super::super::wishes::{OtherAddresses, Selector};
use super::addresses::{self, Address};
use super::fields::{Context, Fields, Spotted};
use super::parallel::{PerHost, first_spot};
use super::rdma::{self, Rdma};

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

/// Entries of `interfaces`: more than any host has ports.
const INTERFACES: usize = 256;

pub(super) fn read(context: &mut Context<'_>, node: &Node) -> Vec<Interface> {
    let entries = context.list(node, "`interfaces`", INTERFACES);
    entries.iter().filter_map(|entry| interface(context, entry)).collect()
}

fn interface(context: &mut Context<'_>, node: &Node) -> Option<Interface> {
    if let Kind::Text(text) = &node.kind {
        let name = InvalidValue::new("", text, "").given;
        let finding = Finding::new(node.spot, "an interface is a group of keys, this is a text");
        context.report(finding.help(format!("write `- name: {name}`")));
        return None;
    }
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
    let (ipv4, other_ipv4) = addresses::read(context, &fields, "ipv4");
    let (ipv6, other_ipv6) = addresses::read(context, &fields, "ipv6");
    let rdma =
        fields.get("rdma").and_then(|node| rdma::read(context, node, fields.key_spot("rdma")));
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
        [] => {
            let finding = Finding::new(fields.spot, "`match` says nothing");
            context.report(finding.help("write one of `{pci: \"0000:02:00.0\"}`, `{permanent-mac: ...}`, `{driver: ice, pci-function: 0}`"));
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
