//! `check`: one look against the profile, or against what holds for every RDMA host.

use super::answer::Answer;
use super::args::{CheckArgs, Global};
use super::error::CliError;
use super::source;
use crate::claims::{Depth, for_host, general};
use crate::engine;
use crate::facts::Scope;
use crate::report::{Outcome, Report};

pub(super) fn run(args: &CheckArgs, global: &Global) -> Result<Answer, CliError> {
    let look = source::look(args.facts.as_deref(), global)?;
    let look = look.as_ref();
    // The default profile is this host's; a saved look may be of any host.
    let profile = match (&args.facts, &args.profile.profile) {
        (Some(_), None) => None,
        _ => source::profile_if_any(&args.profile, look, global)?,
    };
    let claims = match &profile {
        Some(profile) => for_host(profile, Depth::Cheap),
        None => {
            let facts = look.look(&Scope::default()).map_err(|error| source::unseen(&error))?;
            general(&facts, Depth::Cheap)
        }
    };
    let judged = engine::check(look, &claims).map_err(|error| source::unseen(&error))?;
    let without_rdma = judged.facts.identity.rdma.get().is_some_and(|all| all.is_empty());
    let source = judged.facts.identity.rdma.source().to_owned();
    let mut report = Report::of_check("check", profile.as_ref().map(source::name), judged);
    // Nothing is green by absence: without a profile and without a device nothing was judged.
    if profile.is_none() && without_rdma && report.outcome == Outcome::Met {
        report.outcome = Outcome::NoVerdict;
        report.notes.push(format!("this host has no RDMA device ({source})"));
    }
    Answer::of_report(&report, global)
}
