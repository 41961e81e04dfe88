//! The JSON views: always one whole document, also of a failure.

use std::io::{self, Write};

use serde::Serialize;

use super::{FORMAT, Report};

/// Writes a report as a JSON document.
///
/// # Errors
/// Those of the writer.
pub fn write_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    write_document(report, out)
}

/// Writes any value as one indented JSON document with a line feed at its end.
///
/// # Errors
/// Those of the writer.
pub fn write_document<T: Serialize>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    out.write_all(&text)
}

/// Why a command gave no report, for programs that read JSON.
#[derive(Debug, Serialize)]
pub struct ErrorDocument<'a> {
    /// Version of this format, [`FORMAT`].
    pub format: u32,
    /// The command; none when the command line was not understood.
    pub command: Option<&'a str>,
    /// What went wrong.
    pub error: ErrorText<'a>,
}

/// The text of an error.
#[derive(Debug, Serialize)]
pub struct ErrorText<'a> {
    /// `usage`, `profile`, `facts`, `look`, `privilege`, ... : what kind of error it is.
    pub kind: &'a str,
    /// What was being done to what, and what went wrong.
    pub message: &'a str,
    /// What to do.
    pub fix: Option<&'a str>,
}

impl<'a> ErrorDocument<'a> {
    /// The document of an error.
    pub fn new(command: Option<&'a str>, error: ErrorText<'a>) -> ErrorDocument<'a> {
        ErrorDocument { format: FORMAT, command, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::claims::{Refusal, Rung, Severity, Subject};
    use crate::facts::Difference;
    use crate::report::{ChangeRecord, ChangeResult, Finding, Outcome, Verdict};

    #[test]
    fn a_report_of_a_failure_is_whole_and_can_be_read_back() {
        let verdicts = [
            Verdict::Met { observed: Some("1.9.11".to_owned()) },
            Verdict::Unmet {
                expected: "4200".to_owned(),
                observed: "1500".to_owned(),
                source: "rtnetlink".to_owned(),
                cause: "nobody has set it".to_owned(),
                fix: "roce-setup apply sets it".to_owned(),
            },
            Verdict::Unknown { why: "Permission denied".to_owned() },
            Verdict::Skipped { needs: "link.up".to_owned(), rung: Rung::Carrier },
        ];
        let finding = |verdict| Finding {
            id: "link.mtu".to_owned(),
            rung: Rung::Mtu,
            subject: Subject::Port("ens1f0".to_owned()),
            claim: "ens1f0 has MTU 4200".to_owned(),
            severity: Severity::Error,
            verdict,
        };
        let results = [
            ChangeResult::Failed { why: "EBUSY".to_owned() },
            ChangeResult::NotUndone { why: "EBUSY".to_owned() },
            ChangeResult::Ignored,
        ];
        let record = |result| ChangeRecord {
            claim: "link.mtu".to_owned(),
            subject: Subject::Host,
            change: Change::SetMtu { netdev: "ens1f0".to_owned(), mtu: 4200 },
            result,
        };
        let text = |text: &str| text.to_owned();
        let report = Report {
            format: FORMAT,
            command: text("apply"),
            host: text("server1"),
            profile: None,
            outcome: Outcome::Neither,
            findings: verdicts.map(finding).to_vec(),
            changes: results.map(record).to_vec(),
            refusals: vec![Refusal { what: text("a"), why: text("b"), fix: text("c") }],
            differences: vec![Difference { what: text("a"), before: text("b"), now: text("c") }],
            smoke: Vec::new(),
            notes: vec![text("note")],
        };
        let mut written = Vec::new();
        write_json(&report, &mut written).expect("written to memory");
        assert_eq!(written.last(), Some(&b'\n'));
        let read: Report = serde_json::from_slice(&written).expect("one document");
        assert_eq!(read, report);
    }
}
