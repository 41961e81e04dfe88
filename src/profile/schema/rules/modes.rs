//! Mode, software, driver and MTU against each other.

use std::collections::HashMap;

use crate::values::{LinkState, Mode, Mtu};

use super::super::super::error::Finding;
use super::super::super::source::Spot;
use super::super::super::wishes::Selector;
use super::super::fields::Context;
use super::super::interfaces::Interface;
use super::super::modules::Module;
use super::super::parallel::PerHost;

pub(super) fn check_rdma(context: &mut Context<'_>, interface: &Interface) {
    let Some(rdma) = &interface.rdma else {
        return;
    };
    let mode = rdma.mode;
    if let Some(software) = rdma.software
        && software.value.mode() != mode.value
    {
        let device = software.value;
        let finding = Finding::new(
            software.spot,
            format!(
                "a software device {device} speaks {}, not {}",
                device.mode().title(),
                mode.value.title()
            ),
        )
        .related(mode.spot, "the mode is asked for here");
        context.report(finding.help(match mode.value {
            Mode::RoceV2 => "write `software: rxe`",
            Mode::Iwarp => "write `software: siw`",
            Mode::RoceV1 => "Linux has no software device for RoCEv1",
            Mode::Infiniband => "Linux has no software device for InfiniBand",
        }));
    }
    if let (Some(name), None) = (&rdma.name, rdma.software) {
        let finding = Finding::new(
            name.spot,
            "`name` is for a software device, this interface has no `software`",
        );
        context.report(finding.help(
            "take it out: the device of a card is found by its interface, whatever its name",
        ));
    }
    if let Some(path_mtu) = rdma.path_mtu
        && !mode.value.is_roce()
    {
        let reason = match mode.value {
            Mode::Iwarp => "iWARP runs over TCP, which has no path MTU of RDMA",
            _ => "the path MTU of InfiniBand is set by the subnet manager",
        };
        let finding = Finding::new(
            path_mtu.spot,
            format!("`path-mtu` does not go with `mode: {}`", mode.value),
        )
        .related(mode.spot, "the mode is asked for here");
        context.report(finding.help(format!("take it out: {reason}")));
    }
    if let Some(state) = interface.state
        && state.value == LinkState::Down
    {
        let finding = Finding::new(state.spot, "an interface that is down has no active RDMA port")
            .related(rdma.spot, "`rdma` is asked for here");
        context.report(finding.help("write `state: up`, or take `rdma` out"));
    }
}

pub(super) fn check_mtu(context: &mut Context<'_>, interface: &Interface) {
    let Some(mtu) = interface.mtu else {
        return;
    };
    let path_mtu = interface.rdma.as_ref().and_then(|rdma| rdma.path_mtu);
    if let Some(path_mtu) = path_mtu
        && mtu.value.bytes() < path_mtu.value.netdev_mtu()
    {
        let needed = path_mtu.value.netdev_mtu();
        let finding = Finding::new(
            path_mtu.spot,
            format!(
                "a path MTU of {} needs an MTU of {needed} or more, not {}",
                path_mtu.value, mtu.value
            ),
        )
        .related(mtu.spot, "the MTU is asked for here");
        let usual = if needed > 2200 { 4200 } else { needed };
        context.report(finding.help(format!(
            "write `mtu: {usual}`, or take `mtu` out: it is then raised as far as needed"
        )));
    }
    if let Some(address) = interface.ipv6.first()
        && mtu.value.bytes() < Mtu::IPV6_MINIMUM
    {
        let finding = Finding::new(
            mtu.spot,
            format!("IPv6 needs an MTU of {} or more, not {}", Mtu::IPV6_MINIMUM, mtu.value),
        )
        .related(address.spot, "an IPv6 address is asked for here");
        context.report(finding);
    }
}

pub(super) fn check_device_names(context: &mut Context<'_>, interfaces: &[Interface]) {
    let mut seen = HashMap::new();
    let names = interfaces.iter().filter_map(|interface| interface.rdma.as_ref()?.name.as_ref());
    for name in names {
        if let Some(first) = seen.insert(name.value.as_str(), name.spot) {
            let finding =
                Finding::new(name.spot, format!("two software devices are named {}", name.value))
                    .related(first, "the first one is here");
            context.report(finding);
        }
    }
}

/// The driver that an interface is matched by; a software device does not concern it.
fn matched_driver(interface: &Interface) -> Option<&str> {
    match &interface.selector {
        PerHost::One(Selector::DriverFunction { driver, .. }) => Some(driver),
        _ => None,
    }
}

pub(super) fn check_driver_modes(context: &mut Context<'_>, interfaces: &[Interface]) {
    let mut seen: HashMap<&str, (bool, Mode, Spot)> = HashMap::new();
    for interface in interfaces {
        let (Some(driver), Some(rdma)) = (matched_driver(interface), &interface.rdma) else {
            continue;
        };
        let (mode, spot) = (rdma.mode.value, rdma.mode.spot);
        if rdma.software.is_some() || mode == Mode::Infiniband {
            continue;
        }
        let (is_roce, other, first) = *seen.entry(driver).or_insert((mode.is_roce(), mode, spot));
        if is_roce != mode.is_roce() {
            let finding = Finding::new(
                spot,
                format!(
                    "mixed modes on one driver: {} here and {} on another {driver} port",
                    mode.title(),
                    other.title()
                ),
            )
            .related(first, "the other mode is asked for here");
            context.report(finding.help("a driver may know only one mode for the whole host (`roce_ena` of irdma): ask for one mode on all its ports"));
        }
    }
}

/// `roce_ena` of irdma puts every E810 port of the host into one mode.
pub(super) fn check_roce_ena(
    context: &mut Context<'_>,
    modules: &[Module],
    interfaces: &[Interface],
) {
    let Some(irdma) = modules.iter().find(|module| module.wish.name.as_str() == "irdma") else {
        return;
    };
    let Some(value) = irdma.wish.parameters.get("roce_ena") else {
        return;
    };
    let spot = irdma.parameter_spots.get("roce_ena").copied().unwrap_or(irdma.name_spot);
    let on = match value.as_str() {
        "0" | "0x0" => false,
        text if is_number(text) => true,
        _ => {
            let finding = Finding::new(spot, "`roce_ena` of irdma is a number");
            context.report(finding.help("1 for RoCEv2, 0 for iWARP"));
            return;
        }
    };
    for interface in interfaces {
        let Some(rdma) = &interface.rdma else {
            continue;
        };
        let other_driver = matched_driver(interface).is_some_and(|driver| driver != "ice");
        let mode = rdma.mode.value;
        if rdma.software.is_some()
            || other_driver
            || mode == Mode::Infiniband
            || mode.is_roce() == on
        {
            continue;
        }
        let speaks = if on { Mode::RoceV2 } else { Mode::Iwarp };
        let finding = Finding::new(
            rdma.mode.spot,
            format!("`mode: {mode}` against `roce_ena: {value}`, with which every port of irdma speaks {}", speaks.title()),
        )
        .related(spot, "`roce_ena` is pinned here");
        context.report(finding.help("take `roce_ena` out: the mode alone is enough; a port of another driver is told apart by `match: {driver: ..., pci-function: ...}`"));
    }
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix("0x");
    match digits {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()),
    }
}
