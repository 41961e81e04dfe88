//! The command line as types. What a command does is in the file of its name.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use super::choices::{Color, Output, UndoOn, host, seconds};

/// Where the profile of a host is, unless another one is named.
pub(super) const DEFAULT_PROFILE: &str = "/etc/roce-setup/profile.yaml";

const EXAMPLES: &str = "\
Examples:
  roce-setup status                      the RDMA ports of this host
  roce-setup check profile.yaml          is this host as the profile says?
  roce-setup plan profile.yaml           what would apply change?
  sudo roce-setup apply profile.yaml     change it, verify it, test the link
  roce-setup explain rdma.mode           what a claim means and how to mend it

Exit codes: 0 as the profile says, 1 not so, 2 no verdict or refused, 3 left neither
as wanted nor as before";

/// Bring RDMA ports into the mode that a profile asks for, and prove it.
#[derive(Debug, Parser)]
#[command(name = "roce-setup", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Form of the output.
    #[arg(
        long,
        global = true,
        value_name = "FORM",
        default_value = "text",
        hide_possible_values = true,
        hide_default_value = true,
        help = "text (default) or json"
    )]
    pub output: Output,
    /// Only the verdict and what is wrong.
    #[arg(
        long,
        short,
        global = true,
        conflicts_with = "verbose",
        help = "Only the verdict and what is wrong"
    )]
    pub quiet: bool,
    /// Ids and sources too.
    #[arg(long, short, global = true, help = "Ids and sources too")]
    pub verbose: bool,
    /// Colours.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        hide_default_value = true,
        help = "auto (default), always or never"
    )]
    pub color: Color,
    /// The longest time that the command may take.
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds, help = "Give up after this time")]
    pub deadline: Option<Duration>,
    /// Warnings are failures.
    #[arg(long, global = true, help = "Treat warnings as failures")]
    pub strict: bool,
    /// The host to take from the profile.
    #[arg(long, global = true, value_name = "NAME", value_parser = host, help = "Act as this host of the profile")]
    pub host: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Change this host to what the profile says, verify it, and test the link
    Apply(ApplyArgs),
    /// Show what apply would change
    Plan(PlanArgs),
    /// Compare this host with the profile; no traffic, no change
    Check(CheckArgs),
    /// Print one look at this host as JSON
    Facts(FactsArgs),
    /// Show the ports of this host in one table
    Status(StatusArgs),
    /// Test RDMA to a peer that runs serve or apply, or in loopback
    Smoke(SmokeArgs),
    /// Answer smoke tests until stopped
    Serve(ServeArgs),
    /// Explain a claim: meaning, causes, fixes
    Explain(ExplainArgs),
    /// The process that moves the data of a smoke test
    #[command(hide = true, name = "smoke-child")]
    SmokeChild {
        /// The job, as JSON
        job: String,
    },
}

impl Command {
    /// The word on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Apply(_) => "apply",
            Command::Plan(_) => "plan",
            Command::Check(_) => "check",
            Command::Facts(_) => "facts",
            Command::Status(_) => "status",
            Command::Smoke(_) => "smoke",
            Command::Serve(_) => "serve",
            Command::Explain(_) => "explain",
            Command::SmokeChild { .. } => "smoke-child",
        }
    }
}

/// The profile of a command.
#[derive(Args, Debug)]
pub struct ProfileArg {
    /// Profile
    #[arg(value_name = "PROFILE", help = format!("Profile; default {DEFAULT_PROFILE}"))]
    pub profile: Option<PathBuf>,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArg,
    /// A saved look instead of this host.
    #[arg(
        long,
        value_name = "FILE",
        help = "Judge a look saved by `roce-setup facts` instead of this host"
    )]
    pub facts: Option<PathBuf>,
}

/// Arguments of `plan`.
#[derive(Args, Debug)]
pub struct PlanArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArg,
    /// A saved look instead of this host.
    #[arg(
        long,
        value_name = "FILE",
        help = "Plan for a look saved by `roce-setup facts` instead of this host"
    )]
    pub facts: Option<PathBuf>,
    /// What may be changed.
    #[command(flatten)]
    pub allow: AllowArgs,
}

/// What `plan` and `apply` may do.
#[derive(Args, Clone, Debug, Default)]
pub struct AllowArgs {
    /// Interfaces that may be interrupted.
    #[arg(
        long,
        value_name = "NAME",
        help = "Allow changes that interrupt this interface (repeatable)"
    )]
    pub allow_interface: Vec<String>,
    /// Reload a module in use.
    #[arg(long, help = "Reload a driver although it is in use or has virtual functions")]
    pub force_reload: bool,
}

/// Arguments of `apply`.
#[derive(Args, Debug)]
pub struct ApplyArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArg,
    /// What may be changed.
    #[command(flatten)]
    pub allow: AllowArgs,
    /// Undo also for a failed link.
    #[arg(
        long,
        value_name = "WHAT",
        hide_possible_values = true,
        help = "`link`: undo also when only the link or the peer fails"
    )]
    pub undo_on: Option<UndoOn>,
    /// Without the smoke test.
    #[arg(long, help = "Skip the smoke test")]
    pub no_smoke: bool,
}

/// Arguments of `facts`.
#[derive(Args, Debug)]
pub struct FactsArgs {
    /// A saved look instead of this host.
    #[arg(long, value_name = "FILE", help = "Print a saved look in this version's form")]
    pub facts: Option<PathBuf>,
}

/// Arguments of `status`.
#[derive(Args, Debug)]
pub struct StatusArgs {
    /// A saved look instead of this host.
    #[arg(
        long,
        value_name = "FILE",
        help = "Show a look saved by `roce-setup facts` instead of this host"
    )]
    pub facts: Option<PathBuf>,
}

/// Arguments of `smoke`.
#[derive(Args, Debug)]
pub struct SmokeArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArg,
    /// The peer.
    #[arg(
        long,
        value_name = "ADDRESS",
        conflicts_with = "loopback",
        help = "Address of the peer; default: the profile's"
    )]
    pub peer: Option<IpAddr>,
    /// Both ends here.
    #[arg(long, help = "Both ends on this host: tests the device and the library, not the cable")]
    pub loopback: bool,
    /// The interface.
    #[arg(long, value_name = "NAME", help = "Test this interface only")]
    pub interface: Option<String>,
}

/// Arguments of `serve`.
#[derive(Args, Debug)]
pub struct ServeArgs {
    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArg,
    /// The interfaces.
    #[arg(long, value_name = "NAME", help = "Answer on this interface only (repeatable)")]
    pub interface: Vec<String>,
    /// How long to stay.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds, help = "Stop after this time")]
    pub stay: Option<Duration>,
}

/// Arguments of `explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Id of a claim
    #[arg(
        value_name = "ID",
        help = "Id of a claim, as `check` prints it; without it all are listed"
    )]
    pub id: Option<String>,
}
