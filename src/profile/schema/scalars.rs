//! Reading single values: texts, words, numbers.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::values::InvalidValue;

use super::super::error::Finding;
use super::super::node::{Kind, Node};
use super::super::source::Spot;
use super::super::suggest::nearest;
use super::fields::Context;

impl Context<'_> {
    /// A text; a number is taken as it was written.
    pub(super) fn text(&mut self, node: &Node, what: &str) -> Option<String> {
        match &node.kind {
            Kind::Text(text) => Some(text.clone()),
            Kind::Number => Some(self.source.slice(node.spot).to_owned()),
            _ => {
                let finding =
                    Finding::new(node.spot, format!("expected {what}, found {}", node.kind_name()));
                let quote = matches!(node.kind, Kind::Bool)
                    .then(|| "put quotes around it if the word itself is meant".to_owned());
                self.report(finding.maybe_help(quote));
                None
            }
        }
    }

    /// A text that a value type reads.
    pub(super) fn value<T: FromStr<Err = InvalidValue>>(
        &mut self,
        node: &Node,
        what: &str,
    ) -> Option<T> {
        let text = self.text(node, what)?;
        self.checked(node.spot, text.parse())
    }

    /// The value, or a finding of why there is none.
    pub(super) fn checked<T>(&mut self, spot: Spot, result: Result<T, InvalidValue>) -> Option<T> {
        result.map_err(|error| self.report(invalid(spot, &error))).ok()
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        node: &Node,
        what: &str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        if let Kind::Bool = node.kind {
            let message = format!("expected {what}, found a truth value");
            self.report(Finding::new(node.spot, message).help(did_you_mean("", &known)));
            return None;
        }
        let text = self.text(node, what)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let shown = InvalidValue::new("", &text, "").given;
        self.report(
            Finding::new(node.spot, format!("`{shown}` is not {what}"))
                .help(did_you_mean(&text, &known)),
        );
        None
    }

    /// A whole number in decimal digits.
    pub(super) fn integer(
        &mut self,
        node: &Node,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Option<u64> {
        let (low, high) = (*range.start(), *range.end());
        let bounds = format!("a whole number from {low} to {high}");
        let written = match &node.kind {
            Kind::Number => self.source.slice(node.spot),
            Kind::Text(text) => text.as_str(),
            _ => {
                self.report(
                    Finding::new(node.spot, format!("expected {what}, found {}", node.kind_name()))
                        .help(format!("{what} is {bounds}")),
                );
                return None;
            }
        };
        let decimal = !written.is_empty()
            && written.bytes().all(|b| b.is_ascii_digit())
            && (written == "0" || !written.starts_with('0'));
        if decimal && matches!(node.kind, Kind::Text(_)) {
            self.report(
                Finding::new(node.spot, format!("expected {what}, found a text"))
                    .help(format!("write {written} without quotes")),
            );
            return None;
        }
        match written.parse() {
            Ok(value) if decimal && range.contains(&value) => Some(value),
            _ => {
                let shown = InvalidValue::new("", written, "").given;
                self.report(
                    Finding::new(node.spot, format!("`{shown}` is not {what}"))
                        .help(format!("it is {bounds}, in decimal digits")),
                );
                None
            }
        }
    }
}

/// A finding about a value that its type refused.
pub(super) fn invalid(spot: Spot, error: &InvalidValue) -> Finding {
    let help = error.suggestion.as_ref().map(|suggestion| format!("did you mean `{suggestion}`?"));
    Finding::new(spot, error.to_string()).maybe_help(help)
}

/// The nearest of the words, else all of them.
pub(super) fn did_you_mean(text: &str, known: &[&str]) -> String {
    match nearest(text, known) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("write one of {}", known.join(", ")),
    }
}
