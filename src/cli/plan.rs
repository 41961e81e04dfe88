//! `plan`: what `apply` would do, found on a model of the host.

use super::answer::Answer;
use super::args::{Global, PlanArgs};
use super::error::CliError;
use super::{intent, source};
use crate::claims::{Depth, for_host};
use crate::engine::{self, Intent};
use crate::report::Report;

pub(super) fn run(args: &PlanArgs, global: &Global) -> Result<Answer, CliError> {
    let look = source::look(args.facts.as_deref(), global)?;
    let profile = source::profile(&args.profile, look.as_ref(), global)?;
    let claims = for_host(&profile, Depth::Cheap);
    let intent = Intent { claims: &claims, guard: intent::guard(&profile, &args.allow) };
    let planned = engine::plan(look.as_ref(), &intent).map_err(|error| source::unseen(&error))?;
    Answer::of_report(&Report::of_plan(Some(source::name(&profile)), planned), global)
}
