//! `apply`: change the host, look again, and test the link.

use std::io::Write;
use std::path::Path;

use super::answer::Answer;
use super::args::{ApplyArgs, Global};
use super::error::{CliError, Kind};
use super::progress::{self, Follow, Progress};
use super::signals::Stop;
use super::{intent, source};
use crate::claims::{Blame, Depth, Severity, entry, for_host};
use crate::engine::{self, Applied, Guard, Intent, Lock};
use crate::facts::Scope;
use crate::host::Look;
use crate::host::linux::Linux;
use crate::profile::{HostProfile, SmokeWish};
use crate::proof::{Proof, Way};
use crate::report::{Outcome, Report, Verdict};

pub(super) fn run(
    args: &ApplyArgs,
    global: &Global,
    err: &mut dyn Write,
) -> Result<Answer, CliError> {
    let stop = Stop::watch(global.deadline);
    let host = Linux::new();
    let profile = source::profile(&args.profile, &host, global)?;
    let claims = for_host(&profile, Depth::Full);
    let guard = intent::guard(&profile, &args.allow);
    let _lock = lock(&host, &guard)?;
    let progress = progress::to_stderr(global.quiet, err);
    let wants_stop = move || stop.wanted();
    let follow = Follow { progress: progress.as_ref(), stop: &wants_stop };
    let intent = Intent { claims: &claims, guard };
    let applied =
        engine::apply(&host, &host, &intent, &follow).map_err(|error| source::unseen(&error))?;
    stop.release();
    let smoke = profile.smoke.clone().filter(|_| !args.no_smoke).map(|mut wish| {
        wish.wait = stop.left().map_or(wish.wait, |left| left.min(wish.wait));
        wish
    });
    let mut report = prove(&profile, smoke.as_ref(), applied, progress.as_ref());
    if args.no_smoke && profile.smoke.is_some() {
        report.notes.push("link NOT tested (--no-smoke)".to_owned());
    }
    progress.clear();
    drop(progress);
    Answer::of_report(&report, global)
}

/// The host's lock. Without the privilege to change anything the engine refuses by itself, and
/// the refusal says more than a lock file that cannot be made.
fn lock(host: &Linux, guard: &Guard) -> Result<Option<Lock>, CliError> {
    let facts = host.look(&Scope::default()).map_err(|error| source::unseen(&error))?;
    if guard.missing_privilege(&facts).is_some() {
        return Ok(None);
    }
    Lock::take(Path::new(Lock::PATH), "apply").map(Some).map_err(|error| {
        CliError::new(Kind::Start, error.to_string())
            .with_fix("wait until it has ended, then try again")
    })
}

/// The report, with the smoke test where the host itself is as wanted.
fn prove(
    profile: &HostProfile,
    smoke: Option<&SmokeWish>,
    mut applied: Applied,
    progress: &dyn Progress,
) -> Report {
    let name = Some(source::name(profile));
    let Some(wish) = smoke.filter(|_| is_ready(&applied)) else {
        return Report::of_apply(name, applied);
    };
    let proof = Proof::new(profile, wish, Way::Rendezvous, None);
    let (outcomes, findings) =
        proof.run(&mut applied.facts, &applied.findings, &mut |port, event| {
            progress::tell(progress, port, &event);
        });
    let mut report = Report::of_apply(name, applied);
    report.add_smoke(outcomes, findings);
    report.notes.extend(proof.notes);
    report
}

/// Nothing but the link may be at fault; what hangs on it is skipped and shown.
fn is_ready(applied: &Applied) -> bool {
    let local_fault = applied.findings.iter().any(|finding| {
        finding.severity == Severity::Error
            && matches!(finding.verdict, Verdict::Unmet { .. })
            && entry(&finding.id).is_none_or(|entry| entry.blame == Blame::Local)
    });
    !local_fault && matches!(applied.outcome, Outcome::Met | Outcome::Unmet | Outcome::NoVerdict)
}
