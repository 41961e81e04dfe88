//! `apply`: change the host, look again, and test the link.

use std::io::Write;
use std::path::Path;

use super::answer::Answer;
use super::args::{ApplyArgs, DEFAULT_PROFILE, Global};
use super::choices::UndoOn;
use super::error::{CliError, Kind};
use super::progress::{self, Follow, Progress};
use super::signals::Stop;
use super::{intent, linger, source};
use crate::claims::{Blame, Depth, Severity, entry, for_host};
use crate::engine::{self, Applied, Guard, Intent, Lock};
use crate::facts::Scope;
use crate::host::Look;
use crate::host::linux::Linux;
use crate::profile::{HostProfile, SmokeWish};
use crate::proof::{Proof, Way};
use crate::report::{Finding, Outcome, Report, Verdict};
use crate::smoke::SmokeOutcome;

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
    let mut applied =
        engine::apply(&host, &host, &intent, &follow).map_err(|error| source::unseen(&error))?;
    let undo_on_link = args.undo_on == Some(UndoOn::Link);
    if !undo_on_link {
        stop.release();
    }
    let smoke = profile.smoke.clone().filter(|_| !args.no_smoke).map(|mut wish| {
        wish.wait = stop.left().map_or(wish.wait, |left| left.min(wish.wait));
        wish
    });
    let proven = prove(&profile, smoke.as_ref(), &mut applied, stop, progress.as_ref());
    if undo_on_link && applied.findings.iter().chain(&proven.findings).any(is_link_failure) {
        applied = engine::take_back(applied, &host, &host, &intent, &follow);
    }
    progress.clear();
    drop(progress);
    let mut report = Report::of_apply(Some(source::name(&profile)), applied);
    report.add_smoke(proven.outcomes, proven.findings);
    report.notes.extend(proven.notes);
    if args.no_smoke && profile.smoke.is_some() {
        report.notes.push("link NOT tested (--no-smoke)".to_owned());
    }
    if let Some(stay) = smoke.as_ref().and_then(|wish| wish.linger) {
        let path = args.profile.profile.as_deref().unwrap_or(Path::new(DEFAULT_PROFILE));
        let name = profile.host.as_deref().unwrap_or(&report.host).to_owned();
        linger::leave_responder(&mut report, path, &name, stay);
    }
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

/// What the smoke tests of the ports found.
#[derive(Default)]
struct Proven {
    outcomes: Vec<SmokeOutcome>,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

/// Tests the links where the host itself is as wanted.
fn prove(
    profile: &HostProfile,
    smoke: Option<&SmokeWish>,
    applied: &mut Applied,
    stop: Stop,
    progress: &dyn Progress,
) -> Proven {
    let Some(wish) = smoke.filter(|_| is_ready(applied)) else { return Proven::default() };
    let proof = Proof::new(profile, wish, Way::Rendezvous, None).within(stop.left());
    let (outcomes, findings) =
        proof.run(&mut applied.facts, &applied.findings, &mut |port, event| {
            progress::tell(progress, port, &event);
        });
    Proven { outcomes, findings, notes: proof.notes }
}

/// Nothing but the link may be at fault; what hangs on it is skipped and shown.
fn is_ready(applied: &Applied) -> bool {
    let is_local = |finding: &Finding| is_failure(finding) && !is_link_failure(finding);
    !applied.findings.iter().any(is_local)
        && matches!(applied.outcome, Outcome::Met | Outcome::Unmet | Outcome::NoVerdict)
}

fn is_failure(finding: &Finding) -> bool {
    finding.severity == Severity::Error && matches!(finding.verdict, Verdict::Unmet { .. })
}

fn is_link_failure(finding: &Finding) -> bool {
    is_failure(finding) && entry(&finding.id).is_some_and(|entry| entry.blame == Blame::Link)
}
