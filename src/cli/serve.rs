//! `serve`: answers smoke tests until it is stopped. Changes nothing.

use std::io::Write;

use super::answer::Answer;
use super::args::{Global, ServeArgs};
use super::error::{CliError, Kind};

pub(super) fn run(
    _args: &ServeArgs,
    _global: &Global,
    _err: &mut dyn Write,
) -> Result<Answer, CliError> {
    Err(CliError::new(Kind::Start, "serve is not wired yet"))
}
