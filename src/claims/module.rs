//! Kernel modules: loaded, in the wanted version, with the wanted parameters in force.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Blame, Claim, Entry, Judgement, Refusal, Remedy, Rung, Severity, Subject, mechanism};
use crate::change::{Change, same_parameter_value};
use crate::facts::{Facts, ModuleState, Scope};
use crate::profile::ModuleWish;

pub(super) static LOADED: Entry = Entry {
    id: "module.loaded",
    rung: Rung::Module,
    needs: &[],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "the module has not been loaded since boot, or was removed",
    fix: "roce-setup apply loads it; by hand: modprobe MODULE",
};

pub(super) static VERSION: Entry = Entry {
    id: "module.version",
    rung: Rung::Module,
    needs: &["module.loaded"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "another release of the driver is loaded",
    fix: "install the release that the profile names and reboot, or change the profile",
};

pub(super) static PARAMETER: Entry = Entry {
    id: "module.parameter",
    rung: Rung::Module,
    needs: &["module.loaded"],
    severity: Severity::Error,
    blame: Blame::Local,
    patience: Duration::ZERO,
    cause: "the module was loaded without this parameter; it can only be set at load time",
    fix: "roce-setup apply reloads the module with it",
};

pub(super) fn modules(names: &[&str]) -> Scope {
    let modules = names.iter().map(|name| (*name).to_owned()).collect();
    Scope { modules, ..Scope::default() }
}

/// The files on disk: a module that is not loaded is explained and loaded from them.
pub(super) fn files(names: &[&str]) -> Scope {
    let module_files = names.iter().map(|name| (*name).to_owned()).collect();
    Scope { module_files, ..Scope::default() }
}

/// Where a module's state is read.
fn sysfs(module: &str) -> String {
    format!("/sys/module/{module}")
}

/// The module's state.
///
/// # Errors
/// The judgement to give where it is not known.
pub(super) fn state<'a>(facts: &'a Facts, module: &str) -> Result<&'a ModuleState, Judgement> {
    let seen = facts.state.modules.get(module);
    seen.and_then(|seen| seen.get()).ok_or_else(|| {
        Judgement::unknown(seen.map_or_else(
            || format!("{}: not asked in this look", sysfs(module)),
            |seen| seen.why_not(),
        ))
    })
}

/// A judgement on a module that is not loaded, with what the disk says of it.
pub(super) fn not_loaded(
    facts: &Facts,
    module: &str,
    parameters: &BTreeMap<String, String>,
) -> Judgement {
    let unmet = Judgement::unmet("loaded", "not loaded", sysfs(module));
    let options: String =
        parameters.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    match facts.evidence.module_files.get(module).and_then(|file| file.get()) {
        Some(None) => unmet.because(
            format!(
                "there is no file of module {module} for kernel {}",
                facts.evidence.kernel_release
            ),
            format!("install the package that has {module} for this kernel"),
        ),
        _ => unmet.because(
            LOADED.cause,
            format!("roce-setup apply loads it; by hand: modprobe {module}{options}"),
        ),
    }
}

/// Loading `module`, unless the disk is known not to have it.
pub(super) fn load(facts: &Facts, module: &str, parameters: BTreeMap<String, String>) -> Remedy {
    match facts.evidence.module_files.get(module).and_then(|file| file.get()) {
        Some(None) => Remedy::None,
        _ => Remedy::Changes(vec![Change::LoadModule { module: module.to_owned(), parameters }]),
    }
}

/// "irdma is loaded".
pub(super) struct Loaded(pub(super) ModuleWish);

impl Claim for Loaded {
    fn entry(&self) -> &'static Entry {
        &LOADED
    }
    fn subject(&self) -> Subject {
        Subject::Module(self.0.name.to_string())
    }
    fn sentence(&self) -> String {
        format!("{} is loaded", self.0.name)
    }
    fn scope(&self) -> Scope {
        modules(&[self.0.name.as_str()])
    }
    fn remedy_scope(&self) -> Scope {
        files(&[self.0.name.as_str()])
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        match state(facts, self.0.name.as_str()) {
            Ok(module) if module.loaded => Judgement::met(),
            Ok(_) => not_loaded(facts, self.0.name.as_str(), &self.0.parameters),
            Err(unknown) => unknown,
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        load(facts, self.0.name.as_str(), self.0.parameters.clone())
    }
}

/// "irdma is version >= 1.11.16.6".
pub(super) struct Version(pub(super) ModuleWish, pub(super) crate::values::VersionReq);

impl Claim for Version {
    fn entry(&self) -> &'static Entry {
        &VERSION
    }
    fn subject(&self) -> Subject {
        Subject::Module(self.0.name.to_string())
    }
    fn sentence(&self) -> String {
        format!("{} is version {}", self.0.name, self.1)
    }
    fn scope(&self) -> Scope {
        modules(&[self.0.name.as_str()])
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let module = self.0.name.as_str();
        let source = format!("{}/version", sysfs(module));
        let seen = facts.evidence.builds.get(module);
        let Some(build) = seen.and_then(|seen| seen.get()) else {
            return Judgement::unknown(seen.map_or_else(
                || format!("{source}: not asked in this look"),
                |seen| seen.why_not(),
            ));
        };
        // ethtool -i reports the kernel's release for an in-kernel driver, so that every ">=" would
        // pass; only the module's own version counts.
        let Some(version) = &build.version else {
            return Judgement::met_with(format!(
                "not applicable: the in-kernel {module} of {} has no version of its own",
                facts.evidence.kernel_release
            ));
        };
        match version.parse() {
            Ok(parsed) if self.1.matches(&parsed) => Judgement::met_with(version),
            Ok(_) => Judgement::unmet(self.1.to_string(), version, source),
            Err(why) => Judgement::unknown(format!("{source}: {version:?}: {why}")),
        }
    }
}

/// "irdma runs with roce_ena=1".
pub(super) struct Parameter {
    pub(super) module: String,
    pub(super) parameter: String,
    pub(super) value: String,
}

impl Parameter {
    /// What to say where the loaded driver does not have the parameter.
    fn absent(&self) -> (String, String) {
        let Parameter { module, parameter, .. } = self;
        if module == "irdma" && parameter == "roce_ena" {
            return (
                "this is the in-kernel irdma: it has no roce_ena, and modprobe ignores the \
                 parameter and exits 0; the mode of each port is a devlink parameter there"
                    .to_owned(),
                "remove `parameters: {roce_ena: ...}` from `modules` and keep `rdma: {mode: rocev2}` \
                 under the interface: that works on both drivers"
                    .to_owned(),
            );
        }
        (
            format!(
                "this driver has no parameter {parameter}; modprobe would ignore it and exit 0"
            ),
            format!("remove {parameter} from the profile, or install the driver that has it"),
        )
    }
}

impl Claim for Parameter {
    fn entry(&self) -> &'static Entry {
        &PARAMETER
    }
    fn subject(&self) -> Subject {
        Subject::Module(self.module.clone())
    }
    fn sentence(&self) -> String {
        format!("{} runs with {}={}", self.module, self.parameter, self.value)
    }
    fn scope(&self) -> Scope {
        modules(&[self.module.as_str()])
    }
    fn remedy_scope(&self) -> Scope {
        mechanism::scope().and(files(&[self.module.as_str()]))
    }
    fn judge(&self, facts: &Facts) -> Judgement {
        let module = match state(facts, &self.module) {
            Ok(module) => module,
            Err(unknown) => return unknown,
        };
        let source = format!("{}/parameters/{}", sysfs(&self.module), self.parameter);
        match module.parameters.get(&self.parameter) {
            Some(value) if same_parameter_value(&self.value, value) => Judgement::met(),
            Some(value) => Judgement::unmet(&self.value, value, source),
            None => {
                let (cause, fix) = self.absent();
                Judgement::unmet(&self.value, "no such parameter", source).because(cause, fix)
            }
        }
    }
    fn remedy(&self, facts: &Facts) -> Remedy {
        let Some(state) = facts.module(&self.module) else { return Remedy::None };
        if !state.parameters.contains_key(&self.parameter) {
            let (why, fix) = self.absent();
            let what =
                format!("{} is not loaded with {}={}", self.module, self.parameter, self.value);
            return Remedy::Refused(Refusal { what, why, fix });
        }
        Remedy::Changes(mechanism::reload(facts, &self.module, &self.parameter, &self.value))
    }
}
