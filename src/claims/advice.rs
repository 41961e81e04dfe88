//! Cause and fix in words, where the port's driver decides them: why it has another mode or no
//! RDMA device. What this program can change itself belongs to [`mechanism`].

use super::{Port, Remedy, mechanism};
use crate::change::Change;
use crate::facts::Facts;
use crate::values::Mode;

/// A failed mode that `apply` can change: what put the port into the mode it is in.
pub(super) fn with_remedy(
    port: &Port,
    facts: &Facts,
    observed: Mode,
    remedy: &Remedy,
) -> Option<(String, String)> {
    let Remedy::Changes(changes) = remedy else { return None };
    let switched = changes.iter().find_map(|change| match change {
        Change::SetDevlink { device, .. } => Some(device),
        _ => None,
    });
    let cause = match switched {
        Some(device) => format!("the devlink parameters of {device} choose {observed}"),
        None => {
            let module = mechanism::driver_of(port, facts).ok()??;
            format!("{module} was loaded in mode {observed}, for all its ports")
        }
    };
    Some((cause, "roce-setup apply changes it".to_owned()))
}

/// A failed mode that this program has no switch for.
pub(super) fn without_remedy(
    port: &Port,
    facts: &Facts,
    wanted: Mode,
    observed: Mode,
) -> Option<(String, String)> {
    let (netdev, _) = port.netdev(facts).ok()?;
    let rdma = port.some_rdma(facts).ok()?;
    if let Some(kind) = rdma.device.software {
        let cause =
            format!("{} is a software device ({kind}), which is always {observed}", rdma.name);
        let fix = match wanted {
            Mode::RoceV2 => "write `software: rxe`, or the mode that it has".to_owned(),
            Mode::Iwarp => "write `software: siw`, or the mode that it has".to_owned(),
            _ => format!("write `mode: {observed}`"),
        };
        return Some((cause, fix));
    }
    let hardware = mechanism::hardware(port, facts).ok()?;
    let bdf = hardware.bdf.map_or_else(|| "BDF".to_owned(), |bdf| bdf.to_string());
    let bound = hardware.driver.as_deref().unwrap_or("no driver");
    let advice = match (bound, mechanism::driver_of(port, facts).ok()?) {
        ("i40e", _) if wanted != Mode::Iwarp => (
            "X722 (i40e) has iWARP only".to_owned(),
            "write `mode: iwarp`, or use a port of another card".to_owned(),
        ),
        (_, Some("irdma")) if matches!(wanted, Mode::RoceV1 | Mode::Infiniband) => (
            format!("irdma has RoCEv2 and iWARP, not {wanted}"),
            "write `mode: rocev2` or `mode: iwarp`".to_owned(),
        ),
        (_, Some("irdma")) => irdma_without_effect(facts, &bdf, wanted, observed),
        _ if (wanted == Mode::Infiniband) != (observed == Mode::Infiniband) => {
            let (has, link_type) = match observed {
                Mode::Infiniband => ("an InfiniBand port", 2),
                _ => ("an Ethernet port", 1),
            };
            // Each mlx5 function has one port; both ports of an mlx4 card belong to one function.
            let port = match hardware.bdf {
                Some(bdf) if bound == "mlx5_core" => u32::from(bdf.function) + 1,
                _ => rdma.number,
            };
            let fix = if bound.starts_with("mlx") {
                format!(
                    "on a VPI card set the port type and reboot: mlxconfig -d {bdf} set \
                     LINK_TYPE_P{port}={link_type}"
                )
            } else {
                format!("write the mode that {netdev} has, or use another card")
            };
            (format!("{netdev} is {has}"), fix)
        }
        _ if wanted == Mode::RoceV2 && observed == Mode::RoceV1 => (
            format!("{} makes GIDs of RoCE v1 only", rdma.name),
            "see whether card, firmware and driver have RoCE v2, or write `mode: rocev1`"
                .to_owned(),
        ),
        _ => (
            format!("{bound} offers no switch between modes that is known here"),
            format!("write the mode that {netdev} has, or see the driver's manual"),
        ),
    };
    Some(advice)
}

/// The out-of-tree irdma, which overrides what devlink says.
fn has_roce_ena(facts: &Facts) -> bool {
    facts.module("irdma").is_some_and(|irdma| irdma.parameters.contains_key("roce_ena"))
}

/// irdma in another mode although nothing is left to be switched.
fn irdma_without_effect(
    facts: &Facts,
    bdf: &str,
    wanted: Mode,
    observed: Mode,
) -> (String, String) {
    let handle = format!("pci/{bdf}");
    let by_parameter = has_roce_ena(facts);
    let devlink = |name| facts.devlink_param(&handle, name, "runtime").is_some();
    if by_parameter || devlink("enable_roce") || devlink("enable_iwarp") {
        let switch = if by_parameter { "roce_ena" } else { "devlink" };
        return (
            format!("{switch} says {wanted}, and the device is in {observed} all the same"),
            "look for irdma and ice in the kernel log: dmesg | grep -E 'irdma|ice '".to_owned(),
        );
    }
    let why = match facts.state.devlink.get(&handle) {
        Some(seen) if seen.get().is_none() => format!("no answer ({})", seen.why_not()),
        _ => "neither of them".to_owned(),
    };
    (
        format!(
            "this irdma has no roce_ena, so its modes are the devlink parameters enable_roce and \
             enable_iwarp, and devlink shows {why}"
        ),
        "use a kernel that has them (5.17 or later), or Intel's out-of-tree ice and irdma"
            .to_owned(),
    )
}

/// Why a port has no RDMA device, where the facts tell more than the usual causes.
pub(super) fn no_device(port: &Port, facts: &Facts) -> Option<(String, String)> {
    if port.software().is_some() {
        return None;
    }
    let (netdev, itself) = port.netdev(facts).ok()?;
    let hardware = mechanism::hardware(port, facts).ok()?;
    let bound = hardware.driver.as_deref().unwrap_or("no driver");
    let bonded = itself.is_bond() || hardware.in_bond(facts);
    match mechanism::driver_of(port, facts).ok()? {
        None => Some((
            format!(
                "{bound}, the driver of {netdev}, is not one that is known to make RDMA devices"
            ),
            "use a port of an RDMA card, or write `software: rxe` (RoCEv2) or `siw` (iWARP)"
                .to_owned(),
        )),
        Some("irdma") if bonded => Some((
            format!(
                "{netdev} is {} bond, and ice gives ports in a bond no RDMA device (out-of-tree: \
                 RoCEv2 in active-backup only)",
                if itself.is_bond() { "a" } else { "in a" }
            ),
            "take the port out of the bond".to_owned(),
        )),
        Some("mlx5_ib") => Some((
            "mlx5 made no RDMA device: enable_rdma is off in devlink, or the port is in a bond, whose \
             device belongs to its first port"
                .to_owned(),
            match hardware.bdf {
                Some(bdf) => format!("devlink dev param show pci/{bdf}, and read dmesg"),
                None => "devlink dev param show, and read dmesg".to_owned(),
            },
        )),
        Some("irdma") => {
            let handle = format!("pci/{}", hardware.bdf?);
            let off = |name| facts.devlink_param(&handle, name, "runtime") == Some(false);
            let by_devlink = !has_roce_ena(facts) && off("enable_roce") && off("enable_iwarp");
            by_devlink.then(|| {
                (
                    format!("enable_roce and enable_iwarp of {handle} are both off in devlink"),
                    "roce-setup apply switches the wanted one on".to_owned(),
                )
            })
        }
        Some(module) => Some((
            format!("{module} made no RDMA device for this port"),
            format!("read what the driver says: dmesg | grep {module}"),
        )),
    }
}

/// Why an active RoCE port has no GID at all, where its driver is known to do that.
pub(super) fn no_gids(port: &Port, facts: &Facts) -> Option<(String, String)> {
    let hardware = mechanism::hardware(port, facts).ok()?;
    let bdf = hardware.bdf.filter(|_| hardware.driver.as_deref() == Some("mlx5_core"))?;
    Some((
        "mlx5 has no GID table while its devlink parameter enable_roce is off".to_owned(),
        format!(
            "devlink dev param set pci/{bdf} name enable_roce value true cmode driverinit && devlink \
             dev reload pci/{bdf}; the reload interrupts the port"
        ),
    ))
}
