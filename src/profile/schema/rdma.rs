//! `rdma` of an interface.

use crate::values::{InvalidValue, Mode, PathMtu, RdmaDeviceName, Software};

use super::super::error::Finding;
use super::super::node::{Kind, Node};
use super::super::source::Spot;
use super::fields::{Context, Spotted};

/// `rdma` of an interface.
#[derive(Debug)]
pub(in super::super) struct Rdma {
    pub(in super::super) spot: Spot,
    pub(in super::super) mode: Spotted<Mode>,
    pub(in super::super) path_mtu: Option<Spotted<PathMtu>>,
    pub(in super::super) software: Option<Spotted<Software>>,
    pub(in super::super) name: Option<Spotted<RdmaDeviceName>>,
}

pub(super) fn read(context: &mut Context<'_>, node: &Node, spot: Spot) -> Option<Rdma> {
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
