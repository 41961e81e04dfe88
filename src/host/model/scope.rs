//! A look returns what was asked for and nothing else, so that a claim that forgets to ask fails.

use super::machine::Machine;
use crate::facts::{Facts, Gid, GidScan, ModuleState, Scope, Seen};

/// What a look with this scope sees.
pub(super) fn seen(machine: &Machine, scope: &Scope) -> Facts {
    let mut facts = machine.facts.clone();
    let (state, evidence) = (&mut facts.state, &mut facts.evidence);

    state.modules.retain(|module, _| scope.modules.contains(module));
    evidence.builds.retain(|module, _| scope.modules.contains(module));
    evidence.module_files.retain(|module, _| scope.module_files.contains(module));
    if machine.complete {
        for module in &scope.modules {
            state.modules.entry(module.clone()).or_insert_with(|| {
                Seen::known(ModuleState::default(), format!("/sys/module/{module}"))
            });
        }
        for module in &scope.module_files {
            evidence.module_files.entry(module.clone()).or_insert_with(|| {
                let release = &evidence.kernel_release;
                Seen::known(None, format!("/lib/modules/{release}/modules.dep"))
            });
        }
    }
    if !scope.devlink {
        state.devlink.clear();
    }
    if !scope.configfs {
        state.configfs = Seen::NotAsked;
    }
    if !scope.drivers {
        evidence.drivers.clear();
    }
    if !scope.users {
        evidence.users = Seen::NotAsked;
    }
    if !scope.userspace {
        evidence.userspace = Seen::NotAsked;
    }
    if !scope.verbs {
        evidence.verbs = Seen::NotAsked;
    }
    if !scope.lifelines {
        evidence.lifelines = Seen::NotAsked;
    }
    if !scope.details {
        without_details(&mut facts);
        if !scope.lifelines {
            facts.state.routes = Seen::NotAsked;
        }
    }
    for device in facts.identity.rdma.get_mut().into_iter().flat_map(|rdma| rdma.values_mut()) {
        for port in device.ports.values_mut() {
            scan(&mut port.gids, &scope.gids);
        }
    }
    facts
}

fn without_details(facts: &mut Facts) {
    let evidence = &mut facts.evidence;
    evidence.modules_disabled = Seen::NotAsked;
    evidence.lockdown = Seen::NotAsked;
    evidence.privilege = Seen::NotAsked;
    for build in evidence.builds.values_mut().filter_map(Seen::get_mut) {
        build.srcversion = None;
        build.refcount = None;
        build.holders.clear();
    }
    for netdev in facts.identity.netdevs.get_mut().into_iter().flat_map(|all| all.values_mut()) {
        netdev.speed_mbps = Seen::NotAsked;
        netdev.numa_node = Seen::NotAsked;
        netdev.vfs = 0;
    }
    for device in facts.identity.rdma.get_mut().into_iter().flat_map(|rdma| rdma.values_mut()) {
        device.node_guid = Seen::NotAsked;
        device.firmware = Seen::NotAsked;
        for port in device.ports.values_mut() {
            port.physical_state = Seen::NotAsked;
            port.rate = Seen::NotAsked;
        }
    }
}

fn scan(gids: &mut Seen<Vec<Gid>>, how_far: &GidScan) {
    match how_far {
        GidScan::All => {}
        GidScan::None => *gids = Seen::NotAsked,
        GidScan::Until(wanted) => {
            if let Some(table) = gids.get_mut() {
                let mut missing = wanted.clone();
                let mut read = 0;
                while read < table.len() && !missing.is_empty() {
                    missing.remove(&table[read].address());
                    read += 1;
                }
                table.truncate(read);
            }
        }
    }
}
