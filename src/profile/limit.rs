//! Limits of a measured figure: `<= 10 us`, `>= 90 %`.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::values::{InvalidValue, Operator};

/// A comparison with its limit, `<= 10 us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bound {
    /// `<=` or `<` for a latency, `>=` or `>` for a bandwidth.
    #[serde(serialize_with = "as_text")]
    pub operator: Operator,
    /// The limit.
    pub limit: Limit,
}

fn as_text<S: serde::Serializer>(operator: &Operator, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(operator)
}

/// The limit of an expectation, as whole numbers so that it can be compared and printed exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// A time in nanoseconds.
    Nanoseconds(u64),
    /// A rate in bits per second.
    BitsPerSecond(u64),
    /// Thousandths of a percent of the port's ceiling.
    MilliPercent(u64),
}

const KIND: &str = "a limit";
const FORMS: &str =
    "its form is `<= 10 us` for a latency, `>= 90 Gb/s` or `>= 90 %` for a bandwidth";

type Unit = (&'static str, u64, fn(u64) -> Limit);

/// Units, how many of the limit's own unit each is, and what it measures.
const UNITS: [Unit; 9] = [
    ("ns", 1, Limit::Nanoseconds),
    ("us", 1_000, Limit::Nanoseconds),
    ("µs", 1_000, Limit::Nanoseconds),
    ("ms", 1_000_000, Limit::Nanoseconds),
    ("s", 1_000_000_000, Limit::Nanoseconds),
    ("Mb/s", 1_000_000, Limit::BitsPerSecond),
    ("Gb/s", 1_000_000_000, Limit::BitsPerSecond),
    ("Tb/s", 1_000_000_000_000, Limit::BitsPerSecond),
    ("%", 1_000, Limit::MilliPercent),
];

impl FromStr for Bound {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Bound, InvalidValue> {
        let invalid = |reason: String| InvalidValue::new(KIND, text, reason);
        let trimmed = text.trim();
        let end = trimmed
            .find(|c| !matches!(c, '<' | '>' | '=' | '!' | '≤' | '≥'))
            .unwrap_or(trimmed.len());
        let (operator, rest) = trimmed.split_at(end);
        let operator = match operator {
            "<=" | "≤" => Operator::AtMost,
            "<" => Operator::Below,
            ">=" | "≥" => Operator::AtLeast,
            ">" => Operator::Above,
            "" => {
                return Err(invalid(format!("it does not begin with a comparison; {FORMS}")));
            }
            other => {
                return Err(invalid(format!(
                    "`{other}` is no comparison for a measured figure; there are <=, <, >= and >"
                )));
            }
        };
        let rest = rest.trim();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let (number, unit) = rest.split_at(end);
        let unit = unit.trim();
        let Some((_, factor, limit)) = UNITS.iter().find(|(name, ..)| *name == unit) else {
            let reason = match unit {
                "" => format!("it has no unit; {FORMS}"),
                // A byte rate hides whether MB or MiB is meant: perftest's MB/s is MiB/s.
                "MB/s" | "GB/s" | "MiB/s" | "GiB/s" => {
                    format!("`{unit}` is a rate of bytes; write bits per second, 1 GB/s is 8 Gb/s")
                }
                _ => format!("`{unit}` is no unit here; {FORMS}"),
            };
            return Err(invalid(reason));
        };
        let value = scale(number, *factor)
            .ok_or_else(|| invalid(format!("`{number}` is no number that can be compared here")))?;
        if value == 0 {
            return Err(invalid("a limit of 0 says nothing".into()));
        }
        Ok(Bound { operator, limit: limit(value) })
    }
}

/// A decimal number times a factor, exact, `None` if it does not fit or has digits below the
/// smallest unit.
fn scale(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || number.ends_with('.') {
        return None;
    }
    let mut value = whole.parse::<u64>().ok()?.checked_mul(factor)?;
    let mut unit = factor;
    for digit in fraction.trim_end_matches('0').bytes() {
        if !unit.is_multiple_of(10) {
            return None;
        }
        unit /= 10;
        value = value.checked_add(u64::from(digit - b'0') * unit)?;
    }
    Some(value)
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operator, self.limit)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, factor, unit) = match *self {
            Limit::Nanoseconds(n) if n < 1_000 => (n, 1, "ns"),
            Limit::Nanoseconds(n) if n < 1_000_000 => (n, 1_000, "us"),
            Limit::Nanoseconds(n) if n < 1_000_000_000 => (n, 1_000_000, "ms"),
            Limit::Nanoseconds(n) => (n, 1_000_000_000, "s"),
            Limit::BitsPerSecond(n) if n < 1_000_000_000 => (n, 1_000_000, "Mb/s"),
            Limit::BitsPerSecond(n) => (n, 1_000_000_000, "Gb/s"),
            Limit::MilliPercent(n) => (n, 1_000, "%"),
        };
        write!(f, "{}", value / factor)?;
        if value % factor != 0 {
            let digits = factor.ilog10() as usize;
            let fraction = format!("{:0digits$}", value % factor);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        write!(f, " {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_exact_and_print_as_a_person_would_write_them() {
        for (text, limit, shown) in [
            ("<= 10 us", Limit::Nanoseconds(10_000), "<= 10 us"),
            ("<=8.59us", Limit::Nanoseconds(8_590), "<= 8.59 us"),
            ("< 300 ns", Limit::Nanoseconds(300), "< 300 ns"),
            ("≤ 1500 µs", Limit::Nanoseconds(1_500_000), "<= 1.5 ms"),
            (">= 90 %", Limit::MilliPercent(90_000), ">= 90 %"),
            (">= 97.5%", Limit::MilliPercent(97_500), ">= 97.5 %"),
            ("> 37.5 Gb/s", Limit::BitsPerSecond(37_500_000_000), "> 37.5 Gb/s"),
        ] {
            let bound: Bound = text.parse().unwrap();
            assert_eq!(bound.limit, limit, "{text}");
            assert_eq!(bound.to_string(), shown, "{text}");
        }
    }

    #[test]
    fn wrong_limits_are_refused_with_the_reason() {
        for (text, reason) in [
            (
                "10 us",
                "it does not begin with a comparison; its form is `<= 10 us` for a latency, `>= 90 Gb/s` or `>= 90 %` for a bandwidth",
            ),
            ("= 10 us", "`=` is no comparison for a measured figure; there are <=, <, >= and >"),
            ("<= us", "`` is no number that can be compared here"),
            ("<= 1.2.3 us", "`1.2.3` is no number that can be compared here"),
            ("<= 0.0001 ns", "`0.0001` is no number that can be compared here"),
            (
                "<= 99999999999999999999 s",
                "`99999999999999999999` is no number that can be compared here",
            ),
            (">= 4 GB/s", "`GB/s` is a rate of bytes; write bits per second, 1 GB/s is 8 Gb/s"),
            (">= 0 %", "a limit of 0 says nothing"),
        ] {
            assert_eq!(text.parse::<Bound>().unwrap_err().reason, reason, "{text}");
        }
    }
}
