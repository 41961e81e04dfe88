//! Version 1 of the profile: which keys there are and what each may hold.
//!
//! One file a section. What concerns one value is checked where it is read; what concerns
//! several is in `rules`.

mod addresses;
mod expectations;
mod fields;
mod interfaces;
mod modules;
mod parallel;
mod peer;
mod rdma;
mod rules;
mod scalars;
mod smoke;

use std::collections::HashMap;

use super::error::{Finding, Findings};
use super::hostlist;
use super::node::{Kind, Node};
use super::source::{Source, Spot};
use super::wishes::ModuleWish;

pub(super) use addresses::Address;
pub(super) use fields::Hosts;
use fields::{Context, Spotted};
pub(super) use interfaces::Interface;
pub(super) use peer::PeerRule;
pub(super) use rdma::Rdma;
pub(super) use smoke::Smoke;

/// A whole profile, for all its hosts.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) name: Option<String>,
    pub(super) hosts: Option<Hosts>,
    pub(super) modules: Vec<ModuleWish>,
    pub(super) interfaces: Vec<Interface>,
    pub(super) smoke: Option<Smoke>,
}

/// The version of the schema that this program reads.
const VERSION: &str = "1";

/// Reads a document from its tree.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn read(source: &Source, root: &Node) -> Result<Document, Findings> {
    let mut context = Context { source, findings: Findings::default(), hosts: None, expanded: 0 };
    let document = document(&mut context, root);
    match document {
        Some(document) if context.findings.is_empty() => {
            Ok(Document { hosts: context.hosts, ..document })
        }
        _ => Err(context.findings),
    }
}

fn document(context: &mut Context<'_>, root: &Node) -> Option<Document> {
    if matches!(root.kind, Kind::Null) {
        let finding = Finding::new(Spot::new(0, 0), "the profile is empty")
            .help("a profile begins with `version: 1`");
        context.report(finding);
        return None;
    }
    version(context, root)?;
    let fields = context.fields(
        root,
        "the profile",
        &["version", "name", "hosts", "modules", "interfaces", "smoke"],
    )?;
    let name = fields.get("name").and_then(|node| context.text(node, "the name of the profile"));
    if let Some(node) = fields.get("hosts") {
        context.hosts = hosts(context, node);
        // Without them every parallel list would be a second, misleading fault.
        context.hosts.as_ref()?;
    }
    let modules =
        fields.get("modules").map(|node| modules::read(context, node)).unwrap_or_default();
    let interfaces =
        fields.get("interfaces").map(|node| interfaces::read(context, node)).unwrap_or_default();
    let smoke = fields.get("smoke").and_then(|node| smoke::read(context, node));
    let asks = fields.get("modules").is_some() || fields.get("interfaces").is_some();
    // A misspelt key is the likelier fault, and has been told.
    if !asks && context.findings.is_empty() {
        let finding = Finding::new(fields.spot, "the profile asks for nothing")
            .help("add `interfaces` or `modules`");
        context.report(finding);
    }
    rules::check(context, &modules, &interfaces, smoke.as_ref());
    Some(Document {
        name,
        hosts: None,
        modules: modules.into_iter().map(|module| module.wish).collect(),
        interfaces,
        smoke,
    })
}

/// Another version is read by another program: nothing else is then worth a complaint.
fn version(context: &mut Context<'_>, root: &Node) -> Option<()> {
    const HELP: &str = "this program reads profiles of `version: 1`";
    let Kind::Map(map) = &root.kind else {
        return Some(());
    };
    let entry =
        map.iter().find(|(key, _)| matches!(&key.kind, Kind::Text(text) if text == "version"));
    let Some((_, value)) = entry else {
        let spot = map.first().map_or(root.spot, |(key, _)| key.spot);
        let finding =
            Finding::new(spot, "`version` is missing").help("write `version: 1` as the first line");
        context.report(finding);
        return Some(());
    };
    if matches!(value.kind, Kind::Number) && context.source.slice(value.spot) == VERSION {
        return Some(());
    }
    let message = match &value.kind {
        Kind::Number => format!("unsupported version {}", context.source.slice(value.spot)),
        Kind::Text(text) if text == VERSION => "the version is a number, this is a text".to_owned(),
        _ => format!("the version is a number, this is {}", value.kind_name()),
    };
    context.report(Finding::new(value.spot, message).help(HELP));
    None
}

fn hosts(context: &mut Context<'_>, node: &Node) -> Option<Hosts> {
    const WHAT: &str = "a list of hosts";
    let parts: Vec<&Node> = match &node.kind {
        Kind::List(list) => list.iter().collect(),
        _ => vec![node],
    };
    let mut names: Vec<Spotted<String>> = Vec::new();
    for part in &parts {
        let text = context.text(part, WHAT)?;
        let list = context.host_list(part.spot, &text)?;
        if names.len() + list.len() > hostlist::LIMIT {
            let message = format!("there are more than {} hosts", hostlist::LIMIT);
            context.report(Finding::new(part.spot, message));
            return None;
        }
        names.extend(list.expand().into_iter().map(|value| Spotted { value, spot: part.spot }));
    }
    if names.is_empty() {
        context.report(Finding::new(node.spot, "`hosts` is an empty list"));
        return None;
    }
    let mut seen = HashMap::new();
    for (index, Spotted { value, spot }) in names.iter().enumerate() {
        if let Some(reason) = wrong_host_name(value) {
            let shown = crate::values::InvalidValue::new("a host name", value, reason);
            context.report(Finding::new(*spot, shown.to_string()));
            return None;
        }
        if let Some(first) = seen.insert(value.to_lowercase(), index) {
            let mut finding = Finding::new(*spot, format!("the host {value} is in `hosts` twice"));
            if names[first].spot != *spot {
                finding = finding.related(names[first].spot, "it is here already");
            }
            context.report(finding);
            return None;
        }
    }
    // The spot of a list is its bracket or dash; its first entry says more.
    let spot = parts.first().map_or(node.spot, |part| part.spot);
    Some(Hosts { names: names.into_iter().map(|name| name.value).collect(), spot })
}

/// What RFC 1123 allows, and `_`, which many sites have.
fn wrong_host_name(name: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.parse::<std::net::IpAddr>().is_ok() {
        Some("it is an address; `hosts` has the names that `hostname` prints")
    } else if !name.chars().all(allowed) {
        Some("it has a character that host names do not have")
    } else if name.starts_with(['-', '.']) || name.contains("..") {
        Some("it has an empty part or begins with `-`")
    } else if name.len() > 253 {
        Some("it is longer than 253 characters")
    } else {
        None
    }
}
