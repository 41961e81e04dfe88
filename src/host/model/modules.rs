//! Modules: what loading and removing them does.

use std::collections::BTreeMap;

use nix::errno::Errno;

use super::machine::Machine;
use super::refusal::{need_sys_module, refuse};
use super::{configfs, devices, links, rdma, software};
use crate::change::{network_drivers_of, software_of_module};
use crate::facts::{ModuleBuild, ModuleFile, ModuleState, Seen};
use crate::host::ActError;

type Parameters = BTreeMap<String, String>;

/// Integer parameters that matter here, with their defaults.
const INTEGERS: [(&str, &str, &str); 4] = [
    ("irdma", "roce_ena", "0"),
    ("irdma", "roce_port_cfg", "0"),
    ("irdma", "limits_sel", "3"),
    ("irdma", "resource_profile", "0"),
];

/// `modprobe`: on a loaded module it does nothing and succeeds, parameters or not.
pub(super) fn load(
    machine: &mut Machine,
    module: &str,
    parameters: &Parameters,
) -> Result<(), ActError> {
    if machine.is_loaded(module) == Some(true) {
        return Ok(());
    }
    need_sys_module(machine, &format!("modprobe {module}"))?;
    insert(machine, module, parameters)
}

/// Loads a module after the modules that it depends on.
pub(super) fn insert(
    machine: &mut Machine,
    module: &str,
    parameters: &Parameters,
) -> Result<(), ActError> {
    let call = format!("modprobe {module}");
    let file = file_of(machine, module)?;
    if let Some(file) = &file {
        for dependency in &file.depends {
            if machine.is_loaded(dependency) == Some(false) {
                insert(machine, dependency, &Parameters::new())?;
            }
        }
        fits(machine, &call, file)?;
    }
    let shown =
        accepted(module, file.as_ref(), parameters).ok_or_else(|| refuse(&call, Errno::EINVAL))?;

    let depends = file.as_ref().map(|file| file.depends.clone()).unwrap_or_default();
    for dependency in &depends {
        if let Some(build) = build_mut(machine, dependency) {
            build.holders.insert(module.to_owned());
            build.refcount = build.refcount.map(|count| count + 1);
        }
    }
    let facts = &mut machine.facts;
    let source = format!("/sys/module/{module}");
    facts.state.modules.insert(
        module.to_owned(),
        Seen::known(ModuleState { loaded: true, parameters: shown }, source.clone()),
    );
    let build = file.map(|file| ModuleBuild {
        version: file.version,
        srcversion: file.srcversion,
        in_tree: file.in_tree,
        builtin: false,
        refcount: Some(0),
        holders: Default::default(),
    });
    let build = match build {
        Some(build) => Seen::known(build, source),
        None => Seen::unknown("its file was not read", source),
    };
    facts.evidence.builds.insert(module.to_owned(), build);
    started(machine, module);
    Ok(())
}

/// The module file; none when it was not looked for.
fn file_of(machine: &Machine, module: &str) -> Result<Option<ModuleFile>, ActError> {
    let release = &machine.facts.evidence.kernel_release;
    // The tool's words; its exit code has no errno, the search that failed has.
    let missing = || ActError {
        call: format!("modprobe {module}"),
        errno: Some(Errno::ENOENT as i32),
        why: format!("FATAL: Module {module} not found in directory /lib/modules/{release}"),
    };
    match machine.facts.evidence.module_files.get(module) {
        Some(Seen::Known { value: Some(file), .. }) => Ok(Some(file.clone())),
        Some(Seen::Known { value: None, .. }) => Err(missing()),
        None if machine.complete => Err(missing()),
        _ => Ok(None),
    }
}

/// Whether this kernel and the modules in it take the file.
fn fits(machine: &Machine, call: &str, file: &ModuleFile) -> Result<(), ActError> {
    let evidence = &machine.facts.evidence;
    let built_for = file.vermagic.as_deref().and_then(|magic| magic.split_whitespace().next());
    if built_for.is_some_and(|release| release != evidence.kernel_release) {
        return Err(refuse(call, Errno::ENOEXEC));
    }
    if evidence.lockdown.get().is_some_and(|mode| mode != "none") && !file.signed {
        // module_sig_check.
        return Err(refuse(call, Errno::EPERM));
    }
    // Intel's ice and the kernel's export different symbols to their irdma.
    let ice = evidence.builds.get("ice").and_then(Seen::get);
    if file.depends.contains("ice") && ice.is_some_and(|ice| ice.in_tree != file.in_tree) {
        return Err(refuse(call, Errno::EINVAL));
    }
    Ok(())
}

/// The parameters that sysfs will show: the kernel ignores those that the module does not have.
/// None when a value is not what its type takes.
fn accepted(module: &str, file: Option<&ModuleFile>, given: &Parameters) -> Option<Parameters> {
    let integer = |name: &str| INTEGERS.iter().find(|(m, p, _)| *m == module && *p == name);
    let mut shown = Parameters::new();
    if let Some(file) = file {
        let defaults =
            INTEGERS.iter().filter(|(m, p, _)| *m == module && file.parameters.contains(*p));
        shown.extend(defaults.map(|(_, name, value)| ((*name).to_owned(), (*value).to_owned())));
    }
    // Of a file that nobody read it is not known what it takes: all that it is given.
    for (name, value) in given {
        if file.is_some_and(|file| !file.parameters.contains(name)) {
            continue;
        }
        let value = match integer(name) {
            Some(_) => crate::change::kernel_integer(value)?.to_string(),
            None => crate::change::unquoted(value).to_owned(),
        };
        shown.insert(name.clone(), value);
    }
    Some(shown)
}

/// `delete_module` with O_NONBLOCK.
pub(super) fn remove(machine: &mut Machine, module: &str) -> Result<(), ActError> {
    let call = format!("delete_module {module}");
    need_sys_module(machine, &call)?;
    match machine.is_loaded(module) {
        Some(true) => {}
        Some(false) => return Err(refuse(call, Errno::ENOENT)),
        None => {
            let why = "whether it is loaded is not known".to_owned();
            return Err(ActError { call, errno: None, why });
        }
    }
    if let Some(build) = build_mut(machine, module) {
        if build.builtin {
            // find_module does not find it.
            return Err(refuse(call, Errno::ENOENT));
        }
        if !build.holders.is_empty() || build.refcount.is_some_and(|count| count > 0) {
            return Err(refuse(call, Errno::EWOULDBLOCK));
        }
    }
    let holds_directory = |path: &String| path.starts_with(&format!("{module}/"));
    let entries = machine.facts.state.configfs.get();
    if module == "irdma" && entries.is_some_and(|entries| entries.keys().any(holds_directory)) {
        // Each directory below its own holds a reference on the module.
        return Err(refuse(call, Errno::EWOULDBLOCK));
    }

    stopped(machine, module);
    for build in machine.facts.evidence.builds.values_mut().filter_map(Seen::get_mut) {
        if build.holders.remove(module) {
            build.refcount = build.refcount.map(|count| count.saturating_sub(1));
        }
    }
    machine.facts.evidence.builds.remove(module);
    if let Some(state) = machine.facts.state.modules.get_mut(module).and_then(Seen::get_mut) {
        *state = ModuleState::default();
    }
    Ok(())
}

/// What a module's start brings.
fn started(machine: &mut Machine, module: &str) {
    for netdev in rdma::ports_of(machine, network_drivers_of(module)) {
        rdma::plug(machine, &netdev);
    }
    for (name, device) in machine.removed.remove(module).unwrap_or_default() {
        let on: Vec<String> =
            device.ports.values().filter_map(|port| port.netdev.get()?.clone()).collect();
        // The same hardware comes back as what it was, where the driver leaves no choice.
        if module != "irdma" {
            for netdev in on {
                rdma::unplug(machine, &netdev);
            }
            devices::restore(machine, &name, device, module.trim_end_matches("_ib"));
        }
    }
    if module == "rdma_ucm"
        && let Some(userspace) = machine.facts.evidence.userspace.get_mut()
    {
        userspace.nodes.insert("/dev/infiniband/rdma_cm".to_owned());
    }
}

/// What a module takes along when it goes.
fn stopped(machine: &mut Machine, module: &str) {
    for netdev in rdma::ports_of(machine, network_drivers_of(module)) {
        let gone = rdma::unplug(machine, &netdev);
        machine.removed.entry(module.to_owned()).or_default().extend(gone);
    }
    if let Some(kind) = software_of_module(module) {
        software::remove_all(machine, kind);
    }
    match module {
        "rdma_cm" | "irdma" => configfs::unregister(machine, module),
        "rdma_ucm" => {
            if let Some(userspace) = machine.facts.evidence.userspace.get_mut() {
                userspace.nodes.remove("/dev/infiniband/rdma_cm");
            }
        }
        _ => {}
    }
    for netdev in rdma::ports_of(machine, &[module]) {
        links::lose(machine, &netdev);
    }
}

fn build_mut<'a>(machine: &'a mut Machine, module: &str) -> Option<&'a mut ModuleBuild> {
    machine.facts.evidence.builds.get_mut(module)?.get_mut()
}
