//! `smoke`: the RDMA test of a link, or of a port in loopback. Changes nothing.

use std::io::Write;

use super::answer::Answer;
use super::args::{Global, SmokeArgs};
use super::error::{CliError, Kind};
use super::{ports, progress, source};
use crate::claims::{Depth, for_host};
use crate::engine;
use crate::facts::Facts;
use crate::profile::HostProfile;
use crate::proof::{Proof, Way};
use crate::report::{Outcome, Report};

pub(super) fn run(
    args: &SmokeArgs,
    global: &Global,
    err: &mut dyn Write,
) -> Result<Answer, CliError> {
    let look = source::look(None, global)?;
    let look = look.as_ref();
    let profile = ports::profile(&args.profile, look, global)?;
    if profile.smoke.is_none() && !args.loopback && args.peer.is_none() {
        return Err(CliError::new(Kind::Usage, "no peer is named")
            .with_fix("--peer ADDRESS, --loopback, or a profile with a `smoke` section"));
    }
    let wish = profile.smoke.clone().unwrap_or_else(|| ports::usual_smoke(&profile));
    let claims = for_host(&profile, Depth::Full);
    let mut judged = engine::check(look, &claims).map_err(|error| source::unseen(&error))?;
    let only = only(args, &profile, &judged.facts)?;
    let way = match (args.loopback, args.peer) {
        (true, _) => Way::Loopback,
        (false, Some(address)) => Way::ServingAt(address),
        (false, None) => Way::Serving,
    };
    let proof = Proof::new(&profile, &wish, way, only.as_deref()).within(global.deadline);
    let progress = progress::to_stderr(global.quiet, err);
    let (outcomes, findings) =
        proof.run(&mut judged.facts, &judged.findings, &mut |port, event| {
            progress::tell(progress.as_ref(), port, &event);
        });
    progress.clear();
    drop(progress);
    let mut report = Report::of_check("smoke", profile.name.as_deref(), judged);
    report.add_smoke(outcomes, findings);
    report.notes.extend(proof.notes);
    // Nothing is green by absence.
    if report.smoke.is_empty() && report.outcome == Outcome::Met {
        report.outcome = Outcome::NoVerdict;
        report.notes.push("no port was tested".to_owned());
    }
    Answer::of_report(&report, global)
}

/// The one interface that is tested, as the profile names it; none means all.
fn only(
    args: &SmokeArgs,
    profile: &HostProfile,
    facts: &Facts,
) -> Result<Option<String>, CliError> {
    let wish = match (&args.interface, args.peer) {
        (Some(name), _) => ports::named(profile, facts, name)?,
        (None, Some(peer)) => ports::towards(profile, peer)?,
        (None, None) => return Ok(None),
    };
    Ok(Some(wish.selector.to_string()))
}
