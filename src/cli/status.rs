//! `status`: the ports of a host in one table.

use super::answer::{self, Answer, NO_VERDICT};
use super::args::{Global, StatusArgs};
use super::choices::Output;
use super::error::CliError;
use super::source;
use crate::facts::{GidScan, Scope};
use crate::report::{rows, write_status};

pub(super) fn run(args: &StatusArgs, global: &Global) -> Result<Answer, CliError> {
    let look = source::look(args.facts.as_deref(), global)?;
    let scope = Scope { details: true, drivers: true, gids: GidScan::All, ..Scope::default() };
    let facts = look.look(&scope).map_err(|error| source::unseen(&error))?;
    let answer = match global.output {
        Output::Json => Answer::of_value(&rows(&facts))?,
        Output::Text => {
            let mut text = Vec::new();
            write_status(&facts, &answer::style(global), &mut text)?;
            Answer::of_text(text)
        }
    };
    // A table that had nothing to be made from is no answer.
    let blind = facts.identity.netdevs.get().is_none() && facts.identity.rdma.get().is_none();
    Ok(if blind { Answer { code: NO_VERDICT, ..answer } } else { answer })
}
