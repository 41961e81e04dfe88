//! The values that options take.

use std::time::Duration;

use clap::ValueEnum;

/// Form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Where the output is a terminal and NO_COLOR is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What else makes an apply undo itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UndoOn {
    /// A failure of the cable, the switch or the peer.
    Link,
}

/// A host name as `gethostname` gives it. Which names a profile can list is the profile's business.
pub(super) fn host(text: &str) -> Result<String, String> {
    const LONGEST: usize = 253;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.len() > LONGEST || !text.chars().all(fits) {
        return Err("it must be one host name, not a list".to_owned());
    }
    Ok(text.to_owned())
}

/// The longest deadline: a day. A longer one is a mistake.
const LONGEST_DEADLINE_S: f64 = 86_400.0;

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= LONGEST_DEADLINE_S => {
            Ok(Duration::from_secs_f64(number))
        }
        _ => Err("it must be a number of seconds above 0, at most 86400".to_owned()),
    }
}
