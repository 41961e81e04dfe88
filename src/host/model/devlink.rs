//! devlink parameters.

use nix::errno::Errno;

use super::machine::Machine;
use super::rdma;
use super::refusal::{explain, known, need_net_admin, refuse};
use crate::host::ActError;

/// ice lets one protocol on at a time (`ice_devlink_enable_roce_validate`, `..._iw_validate`).
const EXCLUSIVE: [(&str, &str, &str); 2] =
    [("enable_roce", "enable_iwarp", "iWARP"), ("enable_iwarp", "enable_roce", "RoCEv2")];

pub(super) fn set(
    machine: &mut Machine,
    device: &str,
    parameter: &str,
    cmode: &str,
    value: bool,
) -> Result<(), ActError> {
    let call = format!("set devlink {device} {parameter}={value} ({cmode})");
    need_net_admin(machine, &call)?;
    let ports: Vec<(String, String)> = machine
        .facts
        .identity
        .netdevs
        .get()
        .into_iter()
        .flatten()
        .filter(|(_, netdev)| netdev.bdf.is_some_and(|bdf| device == format!("pci/{bdf}")))
        .map(|(name, netdev)| (name.clone(), netdev.driver.clone().unwrap_or_default()))
        .collect();
    let ice = ports.iter().any(|(_, driver)| driver == "ice");

    let shown = machine.facts.state.devlink.get_mut(device);
    let shown = known(&call, shown.ok_or_else(|| refuse(&call, Errno::ENODEV))?)?;
    let other = EXCLUSIVE.iter().find(|(own, other, _)| {
        let on = |name: &str| shown.get(name).and_then(|v| v.get("runtime")) == Some(&true);
        ice && value && *own == parameter && on(other)
    });
    // devlink_nl_cmd_param_set_doit: EINVAL for an unknown parameter, EOPNOTSUPP for its cmode.
    let values = shown.get_mut(parameter).ok_or_else(|| refuse(&call, Errno::EINVAL))?;
    let current = values.get_mut(cmode).ok_or_else(|| refuse(&call, Errno::EOPNOTSUPP))?;
    if let Some((_, _, name)) = other {
        let why = format!(
            "ice: {name} is currently enabled. This device cannot enable iWARP and RoCEv2 \
             simultaneously"
        );
        return Err(explain(call, Errno::EOPNOTSUPP, &why));
    }
    *current = value;
    // Other cmodes wait for a reload of the device or a power cycle.
    if ice && cmode == "runtime" {
        for (netdev, _) in ports {
            rdma::replug(machine, &netdev);
        }
    }
    Ok(())
}
