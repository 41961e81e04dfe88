//! `facts`: everything that a look can read, as JSON.

use super::answer::Answer;
use super::args::{FactsArgs, Global};
use super::error::CliError;
use super::source;
use crate::facts::Scope;

/// Modules that matter to RDMA on some host, whatever a profile names.
const MODULES: [&str; 14] = [
    "ice",
    "irdma",
    "i40e",
    "mlx4_core",
    "mlx4_en",
    "mlx4_ib",
    "mlx5_core",
    "mlx5_ib",
    "bnxt_en",
    "bnxt_re",
    "cxgb4",
    "iw_cxgb4",
    "rdma_rxe",
    "siw",
];

pub(super) fn run(args: &FactsArgs, global: &Global) -> Result<Answer, CliError> {
    let look = source::look(args.facts.as_deref(), global)?;
    let scope = Scope::everything(MODULES.map(str::to_owned));
    let facts = look.look(&scope).map_err(|error| source::unseen(&error))?;
    let mut text = facts.to_json();
    text.push('\n');
    Ok(Answer::of_text(text))
}
