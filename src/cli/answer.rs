//! What a command answers, and how it reaches the caller.

use std::io::{self, ErrorKind, Write};

use serde::Serialize;

use super::args::Global;
use super::choices::{Color, Output};
use super::error::CliError;
use crate::report::{
    Detail, ErrorDocument, ErrorText, Report, TextStyle, write_document, write_json, write_text,
};

/// Exit code of everything that ends without a verdict.
pub const NO_VERDICT: u8 = 2;

/// Data for stdout with the exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// The whole of stdout.
    pub text: Vec<u8>,
    /// The exit code.
    pub code: u8,
}

impl Answer {
    /// A report in the form that was asked for.
    ///
    /// # Errors
    /// None in practice: the report is written to memory.
    pub fn of_report(report: &Report, global: &Global) -> Result<Answer, CliError> {
        let mut text = Vec::new();
        match global.output {
            Output::Json => write_json(report, &mut text)?,
            Output::Text => write_text(report, &style(global), &mut text)?,
        }
        Ok(Answer { text, code: report.exit_code(global.strict) })
    }

    /// A value as JSON, with exit code 0.
    ///
    /// # Errors
    /// None in practice: the value is written to memory.
    pub fn of_value<T: Serialize>(value: &T) -> Result<Answer, CliError> {
        let mut text = Vec::new();
        write_document(value, &mut text)?;
        Ok(Answer { text, code: 0 })
    }

    /// Text, with exit code 0.
    pub fn of_text(text: impl Into<Vec<u8>>) -> Answer {
        Answer { text: text.into(), code: 0 }
    }

    /// Writes it out; the exit code of the program.
    ///
    /// A reader that has gone away wants no more, which changes no verdict. A full disk means that
    /// the answer is lost, which is worse than every verdict but "neither as wanted nor as before".
    pub fn deliver(&self, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
        match out.write_all(&self.text).and_then(|()| out.flush()) {
            Ok(()) => self.code,
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.code,
            Err(error) => {
                let _ = writeln!(err, "error: cannot write to standard output: {error}");
                self.code.max(NO_VERDICT)
            }
        }
    }
}

/// How text looks on this standard output.
pub(super) fn style(global: &Global) -> TextStyle {
    let detail = match (global.quiet, global.verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    };
    let stdout = io::stdout();
    let color = match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
    };
    let symbols = io::IsTerminal::is_terminal(&stdout) && is_utf8();
    TextStyle { color, symbols, detail }
}

/// The locale's character set, from the first of the variables that is set (POSIX order).
fn is_utf8() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_string_lossy().to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

/// Writes an error where its reader looks for it: a JSON document on stdout, or text on stderr.
pub(super) fn deliver_error(
    error: &CliError,
    command: Option<&str>,
    output: Output,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    if output == Output::Text {
        let _ = write!(err, "{error}");
        return NO_VERDICT;
    }
    let text =
        ErrorText { kind: error.kind.as_str(), message: &error.message, fix: error.fix.as_deref() };
    match Answer::of_value(&ErrorDocument::new(command, text)) {
        Ok(answer) => Answer { code: NO_VERDICT, ..answer }.deliver(out, err),
        Err(_) => NO_VERDICT,
    }
}
