//! The lab: Debian guests under software emulation, in which `roce-setup` is held to its promises
//! on real kernels.
//!
//! ```text
//! cargo lab test ─► packages ─► product ─► modules ─► suite ─► registry ─► scenarios/*.rs
//!                   (apt-get)   (cargo)    (make)        │                      │ lab.node(1).run("...")
//!                                                        ▼                      ▼
//!                       bed::Lab::boot ─► qemu + initrd ─► guest/boot.sh ─► guest/init.sh ─► agent
//! ```
//!
//! - **Preparation** on the machine: [`packages`] installs what is missing, [`product`] builds
//!   `roce-setup`, [`modules`] builds the kernel modules of `drivers/` once per kernel and source
//!   and keeps them under `target/lab/`.
//! - **A guest** sees the machine's own file system read-only under a tmpfs overlay, so that the
//!   product just built and every tool of the machine run in it. Its first programs are in
//!   `guest/`. Then this same binary runs in it as [`agent`] and does what the lab asks over a
//!   virtio-serial port ([`message`], [`channel`]). The emulator's own socket ([`qmp`]) pulls
//!   cables.
//! - **[`bed`]** is what scenarios speak to: `Lab`, `Node`, `Ran`, `Knobs`.
//! - **[`registry`]** lists the scenarios of `scenarios/`, [`suite`] runs them: one boot for all
//!   scenarios of the same driver set and number of guests, a reset before each.
//!
//! Nothing passes by absence: a guest without verdict, a boot that fails, a filter that matches
//! nothing are failures. Whatever waits has a deadline. The package depends neither on the product
//! nor on libibverbs, so that it compiles on a machine where nothing is installed yet.

mod agent;
mod bed;
mod bench;
mod channel;
mod cli;
mod cpio;
mod demo;
mod drivers;
mod initrd;
mod kernel;
mod message;
mod modules;
mod packages;
mod places;
mod product;
mod qemu;
mod qmp;
mod registry;
#[path = "../scenarios/mod.rs"]
mod scenarios;
mod shell;
mod suite;
mod tally;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match cli::parse(&arguments) {
        Ok(command) => cli::run(command),
        Err(why) => {
            eprintln!("lab: {why}\n\n{}", cli::HELP);
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(code) => code,
        Err(why) => {
            eprintln!("lab: {why}");
            ExitCode::FAILURE
        }
    }
}
