//! The command line: arguments in, an answer and an exit code out. One file a command.
//!
//! Commands build a [`Report`](crate::report::Report) or another value and hand back an
//! [`Answer`]; nothing but [`run`] writes to stdout. What is true of a host belongs to
//! [`claims`](crate::claims), how it looks on paper to [`report`](crate::report).

mod answer;
mod apply;
mod args;
mod check;
mod choices;
mod deadline;
mod error;
mod explain;
mod facts;
mod intent;
mod linger;
mod plan;
mod ports;
mod progress;
mod serve;
mod signals;
mod smoke;
mod source;
mod status;

pub use answer::{Answer, NO_VERDICT};
pub use args::{Cli, Command, Global};
pub use choices::Output;
pub use error::{CliError, Kind};
pub use progress::{Follow, Progress};

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;
use clap::error::ErrorKind;

/// Runs the program: `args` with the program's name first, its data to `out`, progress and errors
/// to `err`. Gives the exit code.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return without_command(&error, asked_output(&args), out, err),
    };
    let (global, name) = (cli.global, cli.command.name());
    let answer = match cli.command {
        Command::Apply(args) => apply::run(&args, &global, err),
        Command::Plan(args) => plan::run(&args, &global),
        Command::Check(args) => check::run(&args, &global),
        Command::Facts(args) => facts::run(&args, &global),
        Command::Status(args) => status::run(&args, &global),
        Command::Smoke(args) => smoke::run(&args, &global, err),
        Command::Serve(args) => serve::run(&args, &global, err),
        Command::Explain(args) => explain::run(&args, &global),
        Command::SmokeChild { job } => return crate::smoke::child::main(&job),
    };
    match answer {
        Ok(answer) => answer.deliver(out, err),
        Err(error) => answer::deliver_error(&error, Some(name), global.output, out, err),
    }
}

/// Help, version, or a command line that is not understood.
fn without_command(
    error: &clap::Error,
    output: Output,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let text = error.render();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Answer::of_text(text.to_string()).deliver(out, err)
        }
        ErrorKind::MissingSubcommand => {
            let error = CliError::new(Kind::Usage, "a command is missing")
                .with_fix("`roce-setup --help` lists the commands");
            answer::deliver_error(&error, None, output, out, err)
        }
        _ if output == Output::Json => {
            let text = text.to_string();
            let message = text.trim().trim_start_matches("error: ");
            let error = CliError::new(Kind::Usage, message);
            answer::deliver_error(&error, None, output, out, err)
        }
        _ => {
            let _ = write!(err, "{text}");
            NO_VERDICT
        }
    }
}

/// The output that was asked for on a command line that cannot be parsed.
fn asked_output(args: &[OsString]) -> Output {
    let pair = args.windows(2).any(|pair| pair[0] == "--output" && pair[1] == "json");
    if pair || args.iter().any(|one| one == "--output=json") { Output::Json } else { Output::Text }
}
