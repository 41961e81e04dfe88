//! Versions of drivers, compared field by field.
//!
//! Drivers do not follow semantic versioning: irdma has four fields (`1.11.16.6`), vendors append
//! words (`2.8.20-k`, `5.8-2.0.3`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::{InvalidValue, serde_as_text};

/// Version of a driver as `/sys/module/<name>/version` gives it.
///
/// Order: fields are split at `.`, `-`, `_`, `+`, `~` and where digits meet letters; numbers
/// compare as numbers, a missing field counts as 0, and a word sorts before any number, so that
/// `1.9-rc1` comes before `1.9`.
#[derive(Clone, Debug)]
pub struct DriverVersion(String);

impl DriverVersion {
    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn fields(&self) -> Vec<Field<'_>> {
        let mut fields = Vec::new();
        for part in self.0.split(is_separator) {
            let mut rest = part;
            while let Some(first) = rest.chars().next() {
                let numeric = first.is_ascii_digit();
                let end = rest.find(|c: char| c.is_ascii_digit() != numeric).unwrap_or(rest.len());
                let (field, tail) = rest.split_at(end);
                fields.push(if numeric {
                    let digits = field.trim_start_matches('0');
                    Field::Number(digits.len(), digits)
                } else {
                    Field::Word(field)
                });
                rest = tail;
            }
        }
        // Trailing zeros are dropped, so that equal versions have equal fields and hashes.
        while fields.last() == Some(&Field::ZERO) {
            fields.pop();
        }
        fields
    }
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | '-' | '_' | '+' | '~')
}

/// One field; the derived order puts words before numbers. A number is its count of digits and
/// the digits without leading zeros: that compares numbers of any size without overflow.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Field<'a> {
    Word(&'a str),
    Number(usize, &'a str),
}

impl Field<'_> {
    const ZERO: Field<'static> = Field::Number(0, "");
}

impl Ord for DriverVersion {
    fn cmp(&self, other: &DriverVersion) -> Ordering {
        let (left, right) = (self.fields(), other.fields());
        (0..left.len().max(right.len()))
            .map(|i| {
                let left = left.get(i).unwrap_or(&Field::ZERO);
                left.cmp(right.get(i).unwrap_or(&Field::ZERO))
            })
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for DriverVersion {
    fn partial_cmp(&self, other: &DriverVersion) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for DriverVersion {
    fn eq(&self, other: &DriverVersion) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for DriverVersion {}

impl Hash for DriverVersion {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fields().hash(state);
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for DriverVersion {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<DriverVersion, InvalidValue> {
        const KIND: &str = "a version";
        if text.len() > 64 {
            return Err(InvalidValue::new(KIND, text, "it is longer than 64 bytes"));
        }
        if !text.bytes().any(|b| b.is_ascii_digit()) {
            return Err(InvalidValue::new(KIND, text, "it has no number"));
        }
        let wrong = text.chars().find(|&c| !(c.is_ascii_alphanumeric() || is_separator(c)));
        match wrong {
            Some(c) => {
                let reason = format!("it contains `{}`", c.escape_default());
                Err(InvalidValue::new(KIND, text, reason))
            }
            None => Ok(DriverVersion(text.to_owned())),
        }
    }
}

serde_as_text!(DriverVersion);

/// How a version must stand to the one that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `=`, also meant by a bare version
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `<=`
    AtMost,
    /// `<`
    Below,
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operator::Equal => "=",
            Operator::AtLeast => ">=",
            Operator::Above => ">",
            Operator::AtMost => "<=",
            Operator::Below => "<",
        })
    }
}

/// What a version must satisfy, `>= 1.9.11` or `>= 1.9, < 1.12`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionReq(Vec<(Operator, DriverVersion)>);

impl VersionReq {
    /// Whether a version satisfies every part.
    pub fn matches(&self, version: &DriverVersion) -> bool {
        self.0.iter().all(|(operator, wanted)| match operator {
            Operator::Equal => version == wanted,
            Operator::AtLeast => version >= wanted,
            Operator::Above => version > wanted,
            Operator::AtMost => version <= wanted,
            Operator::Below => version < wanted,
        })
    }
}

impl fmt::Display for VersionReq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (operator, version)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{operator} {version}")?;
        }
        Ok(())
    }
}

impl FromStr for VersionReq {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<VersionReq, InvalidValue> {
        let invalid = |reason: String| InvalidValue::new("a version requirement", text, reason);
        if text.trim().is_empty() {
            return Err(invalid("it is empty".into()));
        }
        if text.len() > 512 {
            return Err(invalid("it is longer than 512 bytes".into()));
        }
        text.split(',')
            .map(|part| {
                let part = part.trim();
                let end = part
                    .find(|c| !matches!(c, '<' | '>' | '=' | '!' | '~' | '^'))
                    .unwrap_or(part.len());
                let (operator, version) = part.split_at(end);
                let operator = match operator {
                    "" | "=" | "==" => Operator::Equal,
                    ">=" => Operator::AtLeast,
                    ">" => Operator::Above,
                    "<=" => Operator::AtMost,
                    "<" => Operator::Below,
                    other => {
                        return Err(invalid(format!(
                            "`{other}` is no comparison; there are =, >=, >, <= and <"
                        )));
                    }
                };
                match version.trim().parse::<DriverVersion>() {
                    Ok(version) => Ok((operator, version)),
                    Err(_) if version.trim().is_empty() => {
                        Err(invalid("a version is missing".into()))
                    }
                    Err(error) => Err(invalid(error.to_string())),
                }
            })
            .collect::<Result<_, _>>()
            .map(VersionReq)
    }
}

serde_as_text!(VersionReq);

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> DriverVersion {
        text.parse().unwrap()
    }

    #[test]
    fn versions_compare_field_by_field_and_as_numbers() {
        let ascending = [
            "1.9-rc1",
            "1.9",
            "1.9.11",
            "1.11.16.6",
            "1.11.16.10",
            "2.0",
            "10.0",
            "99999999999999999999999999999999999999999999",
        ];
        for pair in ascending.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
        assert_eq!(version("1.9"), version("1.09.0.0"));
        assert!(version("5.8-2.0.3") > version("5.8-1.9"));
    }

    #[test]
    fn a_requirement_is_met_by_every_part_of_it() {
        for (requirement, given, met) in [
            (">= 1.9.11", "1.11.16.6", true),
            (">=1.11.16.6", "1.9.11", false),
            ("1.11.16.6", "1.11.16.6", true),
            ("= 1.11", "1.11.16.6", false),
            (">= 1.9, < 1.12", "1.11.16.6", true),
            (">= 1.9, < 1.11", "1.11.16.6", false),
            ("> 1.9", "1.9.0", false),
            ("<= 1.9", "1.9.0", true),
        ] {
            let parsed: VersionReq = requirement.parse().unwrap();
            assert_eq!(parsed.matches(&version(given)), met, "{requirement} {given}");
        }
        assert_eq!(">=1.9,<2".parse::<VersionReq>().unwrap().to_string(), ">= 1.9, < 2");
    }

    #[test]
    fn wrong_requirements_are_refused_with_the_reason() {
        for (text, reason) in [
            ("", "it is empty"),
            (">=", "a version is missing"),
            (">= 1.9,", "a version is missing"),
            ("~> 1.9", "`~>` is no comparison; there are =, >=, >, <= and <"),
            (">= latest", "`latest` is not a version: it has no number"),
            (">= 1.9 x", "`1.9 x` is not a version: it contains ` `"),
        ] {
            assert_eq!(text.parse::<VersionReq>().unwrap_err().reason, reason, "{text}");
        }
    }
}
