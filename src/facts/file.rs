//! Facts as a file: what `facts` writes and `--facts` reads.

use serde::Deserialize;

use super::{FORMAT, Facts};

/// A look at a large host is about a megabyte; what is larger is no facts file.
const LARGEST: usize = 64 << 20;

/// Why a file holds no facts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactsFileError {
    /// The file is too large to be one.
    #[error("{name}: {bytes} bytes is too large for a facts file (at most {LARGEST})")]
    TooLarge {
        /// The file.
        name: String,
        /// Its size.
        bytes: usize,
    },
    /// There is nothing in it.
    #[error("{name}: it is empty")]
    Empty {
        /// The file.
        name: String,
    },
    /// The file is of a later version of the format.
    #[error(
        "{name}: facts format {found}, and this program reads format {FORMAT}: \
         use the version of roce-setup that wrote the file, or a later one"
    )]
    Format {
        /// The file.
        name: String,
        /// Its version.
        found: u64,
    },
    /// The file is not JSON, or not facts.
    #[error("{name}:{line}:{column}: {what}")]
    Content {
        /// The file.
        name: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
}

/// Only the version: it decides how the rest is to be read.
#[derive(Deserialize)]
struct Versioned {
    format: u64,
}

impl Facts {
    /// Reads facts that [`Facts::to_json`] wrote; `name` is how messages call the file.
    ///
    /// # Errors
    /// Too large, of a later format, no JSON, or something that is not in the format, with its place.
    pub fn from_json(bytes: &[u8], name: &str) -> Result<Facts, FactsFileError> {
        if bytes.len() > LARGEST {
            return Err(FactsFileError::TooLarge { name: name.to_owned(), bytes: bytes.len() });
        }
        let content = |error: serde_json::Error| {
            let (line, column) = (error.line(), error.column());
            let text = error.to_string();
            let place = format!(" at line {line} column {column}");
            let what = text.strip_suffix(&place).unwrap_or(&text).to_owned();
            FactsFileError::Content {
                name: name.to_owned(),
                line: line.max(1),
                column: column.max(1),
                what,
            }
        };
        // A byte order mark is no part of the text.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(FactsFileError::Empty { name: name.to_owned() });
        }
        let version: Versioned = serde_json::from_slice(bytes).map_err(content)?;
        // There has been one format only, so that every other number is of a time to come, or made up.
        if version.format != u64::from(FORMAT) {
            return Err(FactsFileError::Format { name: name.to_owned(), found: version.format });
        }
        serde_json::from_slice(bytes).map_err(content)
    }

    /// The facts as JSON, for people and for [`Facts::from_json`]. The same facts give the same text.
    pub fn to_json(&self) -> String {
        // Facts have text keys and finite numbers only, so there is nothing that JSON cannot say.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(text: &str) -> String {
        Facts::from_json(text.as_bytes(), "node1.json").expect_err("refused").to_string()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut facts = Facts { format: FORMAT, host: "server1".to_owned(), ..Facts::default() };
        facts.evidence.modules_disabled =
            super::super::Seen::known(false, "/proc/sys/kernel/modules_disabled");
        assert_eq!(Facts::from_json(facts.to_json().as_bytes(), "f"), Ok(facts.clone()));
        let marked = [b"\xef\xbb\xbf", facts.to_json().as_bytes()].concat();
        assert_eq!(Facts::from_json(&marked, "f"), Ok(facts));
    }

    #[test]
    fn a_later_format_is_refused_with_both_versions() {
        assert_eq!(
            message(r#"{"format": 7, "news": []}"#),
            "node1.json: facts format 7, and this program reads format 1: \
             use the version of roce-setup that wrote the file, or a later one"
        );
    }

    #[test]
    fn format_0_was_never_written() {
        assert_eq!(
            message(r#"{"format": 0}"#),
            "node1.json: facts format 0, and this program reads format 1: \
             use the version of roce-setup that wrote the file, or a later one"
        );
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        assert_eq!(message(""), "node1.json: it is empty");
        assert_eq!(message(" \n"), "node1.json: it is empty");
        assert_eq!(message("not json"), "node1.json:1:2: expected ident");
        assert_eq!(
            message("[]"),
            "node1.json:1:2: invalid length 0, expected struct Versioned with 1 element"
        );
        assert_eq!(message("{\n}"), "node1.json:2:1: missing field `format`");
        assert_eq!(
            message("{\"format\": 1,\n \"host\": 5}"),
            "node1.json:2:10: invalid type: integer `5`, expected a string"
        );
        let extra = r#"{"format":1,"host":"a","state":{},"identity":{},"evidence":{},"colour":1}"#;
        assert!(message(extra).contains("unknown field `colour`"), "{}", message(extra));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(
            message(&format!("{{\"format\": 1, \"host\": {open}{close}}}")),
            "node1.json:1:22: invalid type: sequence, expected a string"
        );
        assert_eq!(
            message(&format!("{{\"format\": {open}{close}}}")),
            "node1.json:1:11: invalid type: sequence, expected u64"
        );
    }

    proptest! {
        #[test]
        fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = Facts::from_json(&bytes, "f");
        }

        #[test]
        fn damaged_files_never_panic(at in 0usize..2000, byte in any::<u8>()) {
            let mut bytes = Facts { format: FORMAT, ..Facts::default() }.to_json().into_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = Facts::from_json(&bytes, "f");
        }
    }
}
