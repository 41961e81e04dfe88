//! Refusals in the kernel's words.

use nix::errno::Errno;

use super::machine::Machine;
use crate::facts::{Privilege, Seen};
use crate::host::ActError;

/// An errno without further explanation.
pub(super) fn refuse(call: impl Into<String>, errno: Errno) -> ActError {
    ActError { call: call.into(), errno: Some(errno as i32), why: text(errno) }
}

/// The C library's text of an errno, as every command of the host prints it, with its name.
pub(in crate::host) fn text(errno: Errno) -> String {
    let said = std::io::Error::from(errno).to_string();
    let said = said.split(" (os error").next().unwrap_or_default();
    format!("{said} ({errno:?})")
}

/// An errno with the kernel's extended-ack text.
pub(super) fn explain(call: impl Into<String>, errno: Errno, text: &str) -> ActError {
    ActError { call: call.into(), errno: Some(errno as i32), why: format!("{text} ({errno:?})") }
}

/// The value of a reading; a machine that does not know it cannot change it.
pub(super) fn known<'a, T>(call: &str, seen: &'a mut Seen<T>) -> Result<&'a mut T, ActError> {
    let why = seen.why_not();
    seen.get_mut().ok_or_else(|| ActError { call: call.to_owned(), errno: None, why })
}

/// What the caller of a whole machine may do. A prediction is for whoever will be allowed to do it.
fn privilege(machine: &Machine) -> Option<&Privilege> {
    machine.facts.evidence.privilege.get().filter(|_| machine.complete)
}

/// EPERM unless the caller may change the network (CAP_NET_ADMIN).
pub(super) fn need_net_admin(machine: &Machine, call: &str) -> Result<(), ActError> {
    match privilege(machine) {
        Some(privilege) if !privilege.net_admin => Err(refuse(call, Errno::EPERM)),
        _ => Ok(()),
    }
}

/// EPERM unless the caller may load modules (CAP_SYS_MODULE) and the kernel still lets anybody.
pub(super) fn need_sys_module(machine: &Machine, call: &str) -> Result<(), ActError> {
    let barred = privilege(machine).is_some_and(|privilege| !privilege.sys_module);
    if barred || machine.facts.evidence.modules_disabled.get() == Some(&true) {
        return Err(refuse(call, Errno::EPERM));
    }
    Ok(())
}

/// EACCES unless the caller is root: configfs obeys file permissions alone.
pub(super) fn need_root(machine: &Machine, call: &str) -> Result<(), ActError> {
    match privilege(machine) {
        Some(privilege) if !privilege.root => Err(refuse(call, Errno::EACCES)),
        _ => Ok(()),
    }
}
