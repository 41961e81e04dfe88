//! The program: wires the standard streams to [`roce_setup::cli::run`] and ends with its code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
    let code = roce_setup::cli::run(std::env::args_os(), &mut &stdout, &mut &stderr);
    ExitCode::from(code)
}
