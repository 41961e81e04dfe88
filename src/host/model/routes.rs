//! Routes.

use std::net::IpAddr;

use nix::errno::Errno;

use super::links::IPV6_MINIMUM;
use super::machine::Machine;
use super::refusal::{explain, known, need_net_admin, refuse};
use crate::change::in_subnet;
use crate::facts::Route;
use crate::host::ActError;

pub(super) fn add(machine: &mut Machine, route: &Route) -> Result<(), ActError> {
    let call = format!("add route {route}");
    need_net_admin(machine, &call)?;
    known(&call, &mut machine.facts.state.links)?;
    let Some(link) = machine.link(&route.netdev) else {
        return Err(refuse(call, Errno::ENODEV));
    };
    let v6 = route.destination.ip().is_ipv6();
    if !v6 && route.destination.network() != route.destination {
        return Err(explain(call, Errno::EINVAL, "Invalid prefix for given prefix length"));
    }
    if !link.up {
        return Err(explain(call, Errno::ENETDOWN, "Nexthop device is not up"));
    }
    if v6 && link.mtu < IPV6_MINIMUM {
        return Err(refuse(call, Errno::ENODEV));
    }
    if let Some(source) = route.source
        && !is_local(machine, source)
    {
        let why = if v6 { "Invalid source address" } else { "Invalid prefsrc address" };
        return Err(explain(call, Errno::EINVAL, why));
    }
    if let Some(gateway) = route.gateway
        && !is_reachable(machine, route, gateway)
    {
        let errno = if v6 { Errno::EHOSTUNREACH } else { Errno::ENETUNREACH };
        return Err(explain(call, errno, "Nexthop has invalid gateway"));
    }
    let routes = known(&call, &mut machine.facts.state.routes)?;
    if routes.iter().any(|other| slot(other) == slot(route)) {
        return Err(refuse(call, Errno::EEXIST));
    }
    routes.insert(route.clone());
    Ok(())
}

pub(super) fn remove(machine: &mut Machine, route: &Route) -> Result<(), ActError> {
    let call = format!("remove route {route}");
    need_net_admin(machine, &call)?;
    if known(&call, &mut machine.facts.state.routes)?.remove(route) {
        Ok(())
    } else {
        Err(refuse(call, Errno::ESRCH))
    }
}

/// Drops the routes of an interface that `goes` picks, and returns them.
pub(super) fn drop_of(
    machine: &mut Machine,
    netdev: &str,
    goes: impl Fn(&Route) -> bool,
) -> Vec<Route> {
    let Some(routes) = machine.facts.state.routes.get_mut() else {
        return Vec::new();
    };
    let gone: Vec<Route> =
        routes.iter().filter(|route| route.netdev == netdev && goes(route)).cloned().collect();
    for route in &gone {
        routes.remove(route);
    }
    gone
}

/// What can be there only once with NLM_F_EXCL: destination, table and metric. IPv6 takes a metric
/// of 0 as 1024 (`IP6_RT_PRIO_USER`).
fn slot(route: &Route) -> (crate::values::IpPrefix, u32, u32) {
    let metric = match route.metric {
        0 if route.destination.ip().is_ipv6() => 1024,
        metric => metric,
    };
    (route.destination, route.table, metric)
}

fn is_local(machine: &Machine, ip: IpAddr) -> bool {
    let links = machine.facts.state.links.get().into_iter().flat_map(|links| links.values());
    links.flat_map(|link| &link.addresses).any(|address| address.prefix.ip() == ip)
}

/// A gateway has to be on the link: in the subnet of an address or behind a route without gateway.
fn is_reachable(machine: &Machine, route: &Route, gateway: IpAddr) -> bool {
    if let IpAddr::V6(ip) = gateway
        && ip.is_unicast_link_local()
    {
        return true;
    }
    let addresses = machine.link(&route.netdev).into_iter().flat_map(|link| &link.addresses);
    let mut subnets = addresses.filter(|address| !address.no_prefix_route);
    let mut routes = machine.facts.state.routes.get().into_iter().flatten();
    subnets.any(|address| in_subnet(gateway, address))
        || routes.any(|other| {
            other.netdev == route.netdev
                && other.gateway.is_none()
                && other.table == route.table
                && other.destination.contains(gateway)
        })
}
