//! Loaded modules, from `/sys/module`.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Tree, words};
use crate::facts::{ModuleBuild, ModuleState, Seen};

/// State and build of one module. A module that is not there is known not to be loaded.
pub(crate) fn read(sys: &Tree, name: &str) -> (Seen<ModuleState>, Seen<ModuleBuild>) {
    // The kernel writes every module's name with underscores.
    let place = format!("module/{}", name.replace('-', "_"));
    let entries = match sys.names(&place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && sys.exists("module") => {
            let absent = format!("{} (absent)", sys.name(&place));
            let why = "the module is not loaded";
            return (
                Seen::known(ModuleState::default(), absent.clone()),
                Seen::unknown(why, absent),
            );
        }
        Err(error) => {
            let unknown = (words(&error), sys.name(&place));
            return (
                Seen::unknown(unknown.0.clone(), unknown.1.clone()),
                Seen::unknown(unknown.0, unknown.1),
            );
        }
    };
    let has = |name: &str| entries.iter().any(|entry| entry == name);
    // A module that is built in has neither; one that is on its way in or out is not loaded yet or any more.
    let builtin = !has("initstate") && !has("refcnt");
    let loaded =
        builtin || sys.optional(&format!("{place}/initstate")).is_none_or(|state| state == "live");
    let state = ModuleState { loaded, parameters: parameters(sys, &place) };
    let build = ModuleBuild {
        version: sys.optional(&format!("{place}/version")),
        srcversion: sys.optional(&format!("{place}/srcversion")),
        in_tree: builtin
            || !sys.optional(&format!("{place}/taint")).unwrap_or_default().contains('O'),
        builtin,
        refcount: sys.optional(&format!("{place}/refcnt")).and_then(|count| count.parse().ok()),
        holders: sys
            .names(&format!("{place}/holders"))
            .unwrap_or_default()
            .into_iter()
            .collect::<BTreeSet<_>>(),
    };
    (Seen::known(state, sys.name(&place)), Seen::known(build, sys.name(&place)))
}

/// Parameters that can be read: some are write-only, some need root.
fn parameters(sys: &Tree, place: &str) -> BTreeMap<String, String> {
    let directory = format!("{place}/parameters");
    sys.names(&directory)
        .unwrap_or_default()
        .into_iter()
        .filter_map(|name| Some((name.clone(), sys.text(&format!("{directory}/{name}")).ok()?)))
        .collect()
}
