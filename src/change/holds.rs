//! Whether a change is in effect, told from facts.

use std::collections::BTreeMap;

use super::Change;
use crate::facts::{Address, Facts, LinkState, SoftwareLink};

impl Change {
    /// Whether what this change sets is so on this host; `None` when the facts do not tell.
    ///
    /// It speaks of the change's own value alone: a loaded module holds whether or not its devices
    /// have appeared. An address holds when the same prefix (and peer) is there, whatever its other
    /// attributes, because the kernel refuses a second one with EEXIST.
    pub fn holds(&self, facts: &Facts) -> Option<bool> {
        let state = &facts.state;
        match self {
            Change::LoadModule { module, parameters } => parameters_hold(module, parameters, facts),
            Change::RemoveModule { module } => Some(!state.modules.get(module)?.get()?.loaded),
            Change::SetDevlink { device, parameter, cmode, value } => {
                let shown = state.devlink.get(device)?.get()?;
                Some(shown.get(parameter)?.get(cmode)? == value)
            }
            Change::SetLink { netdev, up } => Some(link(facts, netdev)?.up == *up),
            Change::SetMtu { netdev, mtu } => Some(link(facts, netdev)?.mtu == *mtu),
            Change::AddAddress { netdev, address } => {
                Some(find_address(link(facts, netdev)?, address).is_some())
            }
            Change::RemoveAddress { netdev, address } => {
                // A vanished interface has taken its addresses along.
                let links = state.links.get()?;
                Some(links.get(netdev).is_none_or(|link| find_address(link, address).is_none()))
            }
            Change::AddRoute { route } => Some(state.routes.get()?.contains(route)),
            Change::RemoveRoute { route } => Some(!state.routes.get()?.contains(route)),
            Change::AddSoftwareLink { kind, netdev, .. } => {
                Some(state.software.get()?.contains(&software_link(*kind, netdev)))
            }
            Change::RemoveSoftwareLink { kind, netdev, .. } => {
                Some(!state.software.get()?.contains(&software_link(*kind, netdev)))
            }
            Change::MakeConfigfs { path } => Some(state.configfs.get()?.contains_key(path)),
            Change::RemoveConfigfs { path } => Some(!state.configfs.get()?.contains_key(path)),
            Change::WriteConfigfs { path, value } => {
                let shown = state.configfs.get()?.get(path).and_then(Option::as_ref);
                Some(shown.is_some_and(|shown| shown.trim() == value.trim()))
            }
        }
    }
}

/// The settings of an interface. A missing interface is `None`: it holds neither value.
pub(super) fn link<'a>(facts: &'a Facts, netdev: &str) -> Option<&'a LinkState> {
    facts.state.links.get()?.get(netdev)
}

/// The address of this link that the kernel would take for the same one.
pub(super) fn find_address<'a>(link: &'a LinkState, address: &Address) -> Option<&'a Address> {
    link.addresses.iter().find(|a| a.prefix == address.prefix && a.peer == address.peer)
}

pub(super) fn software_link(kind: crate::values::Software, netdev: &str) -> SoftwareLink {
    SoftwareLink { netdev: netdev.to_owned(), kind }
}

fn parameters_hold(module: &str, wanted: &BTreeMap<String, String>, facts: &Facts) -> Option<bool> {
    let state = facts.state.modules.get(module)?.get()?;
    if !state.loaded {
        return Some(false);
    }
    let file = facts.evidence.module_files.get(module).and_then(|file| file.get()?.as_ref());
    let mut unreadable = false;
    for (name, value) in wanted {
        match state.parameters.get(name) {
            Some(shown) if same_parameter_value(value, shown) => {}
            Some(_) => return Some(false),
            // A parameter with mode 0 has no file in sysfs. Only the module file can tell it from
            // one that the module does not have and that the kernel ignored at load.
            None if file.is_some_and(|file| file.parameters.contains(name)) => unreadable = true,
            None => return Some(false),
        }
    }
    (!unreadable).then_some(true)
}

/// Whether a parameter's value as given at load is the one that `/sys/module/*/parameters` shows.
///
/// The kernel prints booleans as `Y` or `N` and integers in decimal, and reads `1`, `y`, `on`, `0x3`
/// and `03` as well (`kstrtobool`, `kstrtol` with base 0). Arrays are compared by element, and quotes
/// around a value given are not part of it.
pub fn same_parameter_value(given: &str, shown: &str) -> bool {
    let (given, shown) = (unquoted(given.trim()), shown.trim());
    if given == shown {
        return true;
    }
    if given.contains(',') || shown.contains(',') {
        let (given, shown): (Vec<_>, Vec<_>) =
            (given.split(',').collect(), shown.split(',').collect());
        return given.len() == shown.len()
            && given.iter().zip(&shown).all(|(given, shown)| same_parameter_value(given, shown));
    }
    match shown {
        "Y" => boolean(given) == Some(true),
        "N" => boolean(given) == Some(false),
        _ => match kernel_integer(shown) {
            Some(shown) => {
                kernel_integer(given).or_else(|| word(given).map(i128::from)) == Some(shown)
            }
            None => false,
        },
    }
}

/// A value without the quotes that the kernel's parser takes off (`next_arg`).
pub(crate) fn unquoted(value: &str) -> &str {
    let inside = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    inside.unwrap_or(value)
}

/// What `kstrtobool` makes of a value.
fn boolean(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => word(text),
    }
}

fn word(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" | "t" | "true" | "on" => Some(true),
        "n" | "no" | "f" | "false" | "off" => Some(false),
        _ => None,
    }
}

/// What `kstrtoll` with base 0 makes of a value.
pub(crate) fn kernel_integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(rest) => (rest, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        None => (digits, 10),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let value = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -value } else { value })
}
