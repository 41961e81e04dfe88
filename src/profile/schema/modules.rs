//! `modules`: kernel modules, their version and the parameters that are pinned.

use std::collections::BTreeMap;

use crate::values::InvalidValue;

use super::super::error::Finding;
use super::super::node::{Kind, Node};
use super::super::source::Spot;
use super::super::wishes::ModuleWish;
use super::fields::{Context, duplicate_key};

/// A module with the places that the rules refer to.
#[derive(Debug)]
pub(in super::super) struct Module {
    pub(super) wish: ModuleWish,
    pub(super) name_spot: Spot,
    pub(super) parameter_spots: BTreeMap<String, Spot>,
}

/// More modules than any host's drivers have.
const LIMIT: usize = 256;

pub(super) fn read(context: &mut Context<'_>, node: &Node) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for entry in context.list(node, "`modules`", LIMIT) {
        let Some(module) = module(context, entry) else {
            continue;
        };
        let name = &module.wish.name;
        match modules.iter().find(|other| other.wish.name == *name) {
            Some(first) => context.report(
                Finding::new(module.name_spot, format!("the module {name} is here a second time"))
                    .related(first.name_spot, "it is here already")
                    .help("write all that is asked of a module in one entry"),
            ),
            None => modules.push(module),
        }
    }
    modules
}

fn module(context: &mut Context<'_>, node: &Node) -> Option<Module> {
    if let Kind::Text(text) = &node.kind {
        let finding =
            Finding::new(node.spot, "an entry of `modules` is a group of keys, this is a text");
        let name = InvalidValue::new("", text, "").given;
        context.report(finding.help(format!("write `- name: {name}`")));
        return None;
    }
    let fields =
        context.fields(node, "an entry of `modules`", &["name", "version", "parameters"])?;
    let version =
        fields.get("version").and_then(|node| context.value(node, "a version requirement"));
    let parameters =
        fields.get("parameters").map(|node| parameters(context, node)).unwrap_or_default();
    let Some(name_node) = fields.get("name") else {
        context.report(
            Finding::new(fields.spot, "this entry of `modules` has no `name`")
                .help("add the name of the kernel module: `name: irdma`"),
        );
        return None;
    };
    let name = context.value(name_node, "a module name")?;
    let (line, _) = context.source.position(fields.spot.start);
    Some(Module {
        wish: ModuleWish {
            name,
            version,
            parameters: parameters
                .iter()
                .map(|(name, (value, _))| (name.clone(), value.clone()))
                .collect(),
            line,
        },
        name_spot: name_node.spot,
        parameter_spots: parameters.into_iter().map(|(name, (_, spot))| (name, spot)).collect(),
    })
}

/// Names with `_`, values as the kernel takes them, and where each stands.
fn parameters(context: &mut Context<'_>, node: &Node) -> BTreeMap<String, (String, Spot)> {
    let mut parameters: BTreeMap<String, (String, Spot)> = BTreeMap::new();
    let Kind::Map(map) = &node.kind else {
        context.report(
            Finding::new(
                node.spot,
                format!("`parameters` is a group of keys, this is {}", node.kind_name()),
            )
            .help("write `parameters: {roce_ena: 1}`"),
        );
        return parameters;
    };
    for (key, value) in map {
        let Some(text) = context.key_text(key) else {
            continue;
        };
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if text.is_empty() || text.len() > 64 || !text.chars().all(allowed) {
            let error = InvalidValue::new(
                "the name of a module parameter",
                text,
                "it has letters, digits and `_`, at most 64",
            );
            context.report(Finding::new(key.spot, error.to_string()));
            continue;
        }
        // The kernel takes `-` and `_` in a parameter's name as the same.
        let name = text.replace('-', "_");
        if let Some((_, first)) = parameters.get(&name) {
            let finding = duplicate_key(key.spot, &name, *first);
            context.report(finding);
            continue;
        }
        if let Some(text) = parameter_value(context, &name, value) {
            parameters.insert(name, (text, key.spot));
        }
    }
    parameters
}

fn parameter_value(context: &mut Context<'_>, name: &str, node: &Node) -> Option<String> {
    if matches!(node.kind, Kind::Bool) {
        let written = context.source.slice(node.spot);
        let digit = if written.eq_ignore_ascii_case("true") { "1" } else { "0" };
        context.report(
            Finding::new(
                node.spot,
                format!("`{written}` is no value that every kernel takes for a parameter"),
            )
            .help(format!("write `{name}: {digit}`")),
        );
        return None;
    }
    let text = context.text(node, "the value of a module parameter")?;
    let wrong = text
        .chars()
        .find(|c| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '\\'));
    let reason = match wrong {
        _ if text.is_empty() => "it is empty".to_owned(),
        _ if text.len() > 1024 => "it is longer than 1024 bytes".to_owned(),
        Some(c) => format!("it contains `{}`", c.escape_default()),
        None => return Some(text),
    };
    let error = InvalidValue::new("a value of a module parameter", &text, reason);
    context.report(Finding::new(node.spot, error.to_string()));
    None
}
