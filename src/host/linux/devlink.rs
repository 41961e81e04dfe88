//! devlink: boolean parameters of devices, read and set over generic netlink.

use std::collections::{BTreeMap, BTreeSet};

use neli::consts::socket::NlFamily;

use super::deadline::{CHANGE, READ, within};
use super::message::{Attribute, Value, attribute, attributes, number, string};
use super::netlink::{Refusal, Session};
use crate::facts::{DevlinkParams, Seen};

// Generic netlink's own family.
const CONTROL: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

// enum devlink_command
const GET: u8 = 1;
const PARAM_GET: u8 = 38;
const PARAM_SET: u8 = 39;
const VERSION: u8 = 1;

// enum devlink_attr
const BUS_NAME: u16 = 1;
const DEV_NAME: u16 = 2;
const PARAM: u16 = 80;
const PARAM_NAME: u16 = 81;
const PARAM_TYPE: u16 = 83;
const PARAM_VALUES: u16 = 84;
const PARAM_VALUE: u16 = 85;
const VALUE_DATA: u16 = 86;
const VALUE_CMODE: u16 = 87;

/// NLA_FLAG: how devlink marks a boolean parameter.
const BOOLEAN: u32 = 6;
const CMODES: [&str; 3] = ["runtime", "driverinit", "permanent"];
/// The parameters that choose a mode; asked for one by one where the dump of all breaks off.
const MODE_PARAMETERS: [&str; 3] = ["enable_roce", "enable_iwarp", "enable_rdma"];
const SOURCE: &str = "devlink dev param";

/// Parameters by device handle. Each of `expected` gets an entry, so that a claim can tell a device
/// without devlink from one that was not asked for.
pub(crate) fn parameters(expected: &BTreeSet<String>) -> BTreeMap<String, Seen<DevlinkParams>> {
    let read = within(READ, read).unwrap_or_else(|late| Err(Refusal::said(late.to_string())));
    match read {
        Ok(mut known) => {
            for handle in expected {
                known.entry(handle.clone()).or_insert_with(|| {
                    Seen::known(
                        DevlinkParams::new(),
                        format!("devlink ({handle} is not registered there)"),
                    )
                });
            }
            known
        }
        Err(refusal) => expected
            .iter()
            .map(|handle| (handle.clone(), Seen::unknown(refusal.why.clone(), SOURCE)))
            .collect(),
    }
}

fn read() -> Result<BTreeMap<String, Seen<DevlinkParams>>, Refusal> {
    let mut session = Session::open(NlFamily::Generic)?;
    let family = family(&mut session)?;
    let (replies, end) = session.ask(family, true, Some((GET, VERSION)), &[]);
    end?;
    let handles: BTreeSet<String> = replies.iter().filter_map(|reply| handle(reply)).collect();
    let (replies, end) = session.ask(family, true, Some((PARAM_GET, VERSION)), &[]);
    let mut found: BTreeMap<String, DevlinkParams> =
        handles.iter().map(|handle| (handle.clone(), DevlinkParams::new())).collect();
    for (handle, name, values) in replies.iter().filter_map(|reply| parameter(reply)) {
        found.entry(handle).or_default().insert(name, values);
    }
    let mut failed = BTreeMap::new();
    if end.is_err() {
        // One device's failing getter ends the dump for all that follow it: ask each by itself.
        for handle in &handles {
            for name in MODE_PARAMETERS {
                match get(&mut session, family, handle, name) {
                    Ok(Some(values)) => {
                        found.entry(handle.clone()).or_default().insert(name.to_owned(), values);
                    }
                    Ok(None) => {}
                    Err(refusal) => {
                        failed.insert(handle.clone(), refusal.why);
                    }
                }
            }
        }
    }
    Ok(found
        .into_iter()
        .map(|(handle, values)| match failed.remove(&handle) {
            Some(why) if values.is_empty() => (handle, Seen::unknown(why, SOURCE)),
            _ => (handle, Seen::known(values, SOURCE)),
        })
        .collect())
}

/// The number of the devlink family, from the list of all: a request by name may load a module.
fn family(session: &mut Session) -> Result<u16, Refusal> {
    let (replies, end) = session.ask(CONTROL, true, Some((GET_FAMILY, 1)), &[]);
    end?;
    replies
        .iter()
        .filter_map(|reply| reply.get(4..))
        .find(|family| attribute(family, FAMILY_NAME).map(string).as_deref() == Some("devlink"))
        .and_then(|family| attribute(family, FAMILY_ID))
        .and_then(|id| u16::try_from(number(id)).ok())
        .ok_or_else(|| Refusal {
            errno: Some(libc::ENOENT),
            why: "this kernel has no devlink (no such generic netlink family)".to_owned(),
        })
}

/// One parameter; none where the device has none of this name.
fn get(
    session: &mut Session,
    family: u16,
    handle: &str,
    name: &str,
) -> Result<Option<BTreeMap<String, bool>>, Refusal> {
    let mut request = address(handle)?;
    request.push(Attribute(PARAM_NAME, Value::Text(name.to_owned())));
    let (replies, end) = session.ask(family, false, Some((PARAM_GET, VERSION)), &request);
    match end {
        Ok(()) => {
            Ok(replies.iter().find_map(|reply| parameter(reply)).map(|(_, _, values)| values))
        }
        Err(Refusal { errno: Some(libc::EINVAL | libc::EOPNOTSUPP | libc::ENODEV), .. }) => {
            Ok(None)
        }
        Err(refusal) => Err(refusal),
    }
}

/// Sets a boolean parameter.
pub(crate) fn set(handle: &str, name: &str, cmode: &str, value: bool) -> Result<(), Refusal> {
    let number = CMODES
        .iter()
        .position(|known| *known == cmode)
        .and_then(|at| u8::try_from(at).ok())
        .ok_or_else(|| Refusal::said(format!("\"{cmode}\" is no cmode of devlink")))?;
    let mut request = address(handle)?;
    request.push(Attribute(PARAM_NAME, Value::Text(name.to_owned())));
    request.push(Attribute(PARAM_TYPE, Value::Byte(BOOLEAN as u8)));
    request.push(Attribute(VALUE_CMODE, Value::Byte(number)));
    // A flag is true by being there.
    if value {
        request.push(Attribute(VALUE_DATA, Value::Flag));
    }
    within(CHANGE, move || {
        let mut session = Session::open(NlFamily::Generic)?;
        let family = family(&mut session)?;
        session.ask(family, false, Some((PARAM_SET, VERSION)), &request).1
    })
    .unwrap_or_else(|late| Err(Refusal::said(late.to_string())))
}

fn address(handle: &str) -> Result<Vec<Attribute>, Refusal> {
    let (bus, device) = handle.split_once('/').ok_or_else(|| {
        Refusal::said(format!("\"{handle}\" is no devlink handle (pci/0000:02:00.0)"))
    })?;
    Ok(vec![
        Attribute(BUS_NAME, Value::Text(bus.to_owned())),
        Attribute(DEV_NAME, Value::Text(device.to_owned())),
    ])
}

fn handle(reply: &[u8]) -> Option<String> {
    let attributes = reply.get(4..)?;
    Some(format!(
        "{}/{}",
        string(attribute(attributes, BUS_NAME)?),
        string(attribute(attributes, DEV_NAME)?)
    ))
}

/// Handle, name and values of a boolean parameter; none for other types.
fn parameter(reply: &[u8]) -> Option<(String, String, BTreeMap<String, bool>)> {
    let parameter = attribute(reply.get(4..)?, PARAM)?;
    if number(attribute(parameter, PARAM_TYPE)?) != BOOLEAN {
        return None;
    }
    let values = attributes(attribute(parameter, PARAM_VALUES)?)
        .filter(|(name, _)| *name == PARAM_VALUE)
        .filter_map(|(_, value)| {
            let cmode = CMODES.get(number(attribute(value, VALUE_CMODE)?) as usize)?;
            Some(((*cmode).to_owned(), attribute(value, VALUE_DATA).is_some()))
        })
        .collect();
    Some((handle(reply)?, string(attribute(parameter, PARAM_NAME)?), values))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(name: u16, value: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        all.extend(u16::try_from(value.len() + 4).expect("short").to_ne_bytes());
        all.extend(name.to_ne_bytes());
        all.extend(value);
        all.resize(all.len().next_multiple_of(4), 0);
        all
    }

    fn reply(kind: u8, on: bool) -> Vec<u8> {
        let data = if on { bytes(VALUE_DATA, &[]) } else { Vec::new() };
        let value = bytes(PARAM_VALUE | 0x8000, &[data, bytes(VALUE_CMODE, &[0])].concat());
        let parameter = [
            bytes(PARAM_NAME, b"enable_roce\0"),
            bytes(PARAM_TYPE, &[kind]),
            bytes(PARAM_VALUES | 0x8000, &value),
        ]
        .concat();
        [
            vec![PARAM_GET, 1, 0, 0],
            bytes(BUS_NAME, b"pci\0"),
            bytes(DEV_NAME, b"0000:02:00.0\0"),
            bytes(PARAM | 0x8000, &parameter),
        ]
        .concat()
    }

    #[test]
    fn a_boolean_is_true_by_its_flag_being_there() {
        let runtime = |on| BTreeMap::from([("runtime".to_owned(), on)]);
        for on in [true, false] {
            let (handle, name, values) = parameter(&reply(6, on)).expect("a boolean");
            assert_eq!((handle.as_str(), name.as_str()), ("pci/0000:02:00.0", "enable_roce"));
            assert_eq!(values, runtime(on));
        }
    }

    #[test]
    fn other_types_and_garbage_are_no_parameters() {
        assert_eq!(parameter(&reply(3, true)), None);
        assert_eq!(parameter(&[]), None);
        assert_eq!(parameter(&reply(6, true)[..30]), None);
    }

    #[test]
    fn an_unknown_cmode_is_refused_before_anything_is_sent() {
        let refusal = set("pci/0000:02:00.0", "enable_roce", "now", true).expect_err("refused");
        assert_eq!(refusal.why, "\"now\" is no cmode of devlink");
        let refusal = set("0000:02:00.0", "enable_roce", "runtime", true).expect_err("refused");
        assert_eq!(refusal.why, "\"0000:02:00.0\" is no devlink handle (pci/0000:02:00.0)");
    }
}
