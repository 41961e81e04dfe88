//! Loaded modules, from `/sys/module`.

use std::collections::BTreeMap;

use super::tree::{Tree, words};
use crate::facts::{Facts, ModuleBuild, ModuleState, Scope, Seen};

/// Reads the modules that a scope names. The directory is listed once: most of the modules that
/// could matter to RDMA are not loaded on any one host.
pub(crate) fn read(sys: &Tree, scope: &Scope, facts: &mut Facts) {
    if scope.modules.is_empty() {
        return;
    }
    let present = sys.names("module");
    for name in &scope.modules {
        let place = place(name);
        let (state, build) = match &present {
            Ok(names) if names.binary_search(&place).is_ok() => one(sys, &place, scope.details),
            Ok(_) => absent(sys, &place),
            Err(error) => {
                let why = words(error);
                let source = sys.name(&format!("module/{place}"));
                (Seen::unknown(why.clone(), source.clone()), Seen::unknown(why, source))
            }
        };
        facts.state.modules.insert(name.clone(), state);
        facts.evidence.builds.insert(name.clone(), build);
    }
}

/// The kernel writes every module's name with underscores.
fn place(name: &str) -> String {
    name.replace('-', "_")
}

/// A module that is not there is known not to be loaded.
fn absent(sys: &Tree, place: &str) -> (Seen<ModuleState>, Seen<ModuleBuild>) {
    let absent = format!("{} (absent)", sys.name(&format!("module/{place}")));
    (
        Seen::known(ModuleState::default(), absent.clone()),
        Seen::unknown("the module is not loaded", absent),
    )
}

fn one(sys: &Tree, place: &str, details: bool) -> (Seen<ModuleState>, Seen<ModuleBuild>) {
    let place = format!("module/{place}");
    let text = |file: &str| sys.optional(&format!("{place}/{file}"));
    let initstate = text("initstate");
    // A module that is built in has neither; one that is on its way in or out is not loaded yet or any more.
    let builtin = initstate.is_none() && !sys.exists(&format!("{place}/refcnt"));
    let loaded = initstate.is_none_or(|state| state == "live");
    let state = ModuleState { loaded, parameters: parameters(sys, &place) };
    let mut build = ModuleBuild {
        version: text("version"),
        in_tree: builtin || !text("taint").unwrap_or_default().contains('O'),
        builtin,
        ..ModuleBuild::default()
    };
    if details {
        build.srcversion = text("srcversion");
        build.refcount = text("refcnt").and_then(|count| count.parse().ok());
        let holders = sys.names(&format!("{place}/holders")).unwrap_or_default();
        build.holders = holders.into_iter().collect();
    }
    (Seen::known(state, sys.name(&place)), Seen::known(build, sys.name(&place)))
}

fn parameters(sys: &Tree, place: &str) -> BTreeMap<String, String> {
    let directory = format!("{place}/parameters");
    sys.names(&directory)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|name| Some((name.clone(), sys.text(&format!("{directory}/{name}")).ok()?)))
        .collect()
}
