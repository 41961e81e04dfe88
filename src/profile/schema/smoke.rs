//! `smoke`: the test that an apply ends with.

use std::time::Duration;

use crate::values::InvalidValue;

use super::super::error::Finding;
use super::super::expect::{Expectation, TestName};
use super::super::node::{Kind, Node};
use super::super::wishes::SmokeWish;
use super::expectations;
use super::fields::{Context, Spotted};
use super::peer::{self, PeerRule};

/// `smoke`, for all hosts.
#[derive(Debug)]
pub(in super::super) struct Smoke {
    pub(in super::super) spot: super::Spot,
    pub(in super::super) port: u16,
    pub(in super::super) peer: Spotted<PeerRule>,
    pub(in super::super) tests: Vec<TestName>,
    pub(in super::super) sizes: Vec<u64>,
    pub(in super::super) wait: Duration,
    pub(in super::super) linger: Option<Duration>,
    pub(in super::super) expect: Vec<Expectation>,
}

pub(super) fn read(context: &mut Context<'_>, node: &Node) -> Option<Smoke> {
    let fields = context.fields(
        node,
        "`smoke`",
        &["peer", "port", "tests", "sizes", "wait", "linger", "expect"],
    )?;
    let port = fields
        .get("port")
        .and_then(|node| context.integer(node, "a port for the test", 1024..=65534));
    let tests = fields.get("tests").map_or(SmokeWish::TESTS.to_vec(), |node| tests(context, node));
    let sizes = fields.get("sizes").map_or(SmokeWish::SIZES.to_vec(), |node| sizes(context, node));
    let wait = fields.get("wait").and_then(|node| duration(context, node, "`wait`", 3600));
    let linger = fields.get("linger").and_then(|node| duration(context, node, "`linger`", 86400));
    let expect = fields
        .get("expect")
        .map(|node| expectations::read(context, node, &tests, &sizes))
        .unwrap_or_default();
    let peer = peer::read(context, &fields)?;
    Some(Smoke {
        spot: fields.spot,
        port: port.map_or(SmokeWish::PORT, |port| port as u16),
        peer,
        tests,
        sizes,
        wait: wait.unwrap_or(SmokeWish::WAIT),
        linger,
        expect,
    })
}

fn tests(context: &mut Context<'_>, node: &Node) -> Vec<TestName> {
    let words = TestName::ALL.map(|test| (test.as_str(), test));
    let mut tests = Vec::new();
    for entry in context.list(node, "`tests`", 64) {
        let Some(test) = context.word(entry, "a test", &words) else {
            continue;
        };
        if tests.contains(&test) {
            context
                .report(Finding::new(entry.spot, format!("the test {test} is here a second time")));
        } else {
            tests.push(test);
        }
    }
    tests
}

fn sizes(context: &mut Context<'_>, node: &Node) -> Vec<u64> {
    const HELP: &str =
        "write a list of bytes, `[2, 65536]`, or `all` for the powers of two from 2 B to 8 MiB";
    if let Kind::Text(text) = &node.kind {
        if text == "all" {
            return (1..=23).map(|power| 1 << power).collect();
        }
        let shown = InvalidValue::new("", text, "").given;
        context.report(
            Finding::new(node.spot, format!("`{shown}` is not a list of sizes")).help(HELP),
        );
        return Vec::new();
    }
    if let Kind::Number = node.kind {
        let finding = Finding::new(node.spot, "`sizes` is a list, this is a number");
        let written = context.source.slice(node.spot);
        context.report(finding.help(format!("write `[{written}]`")));
        return Vec::new();
    }
    let mut sizes = Vec::new();
    for entry in context.list(node, "`sizes`", 256) {
        let Some(size) = context.integer(entry, "a message size in bytes", 1..=SmokeWish::LARGEST)
        else {
            continue;
        };
        if sizes.contains(&size) {
            context
                .report(Finding::new(entry.spot, format!("the size {size} is here a second time")));
        } else {
            sizes.push(size);
        }
    }
    sizes.sort_unstable();
    sizes
}

/// A time such as `60s`, `15m`, `2h`, from 1 s to so many seconds.
fn duration(context: &mut Context<'_>, node: &Node, what: &str, longest: u64) -> Option<Duration> {
    let text = context.text(node, "a time such as 60s")?;
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    let factor = match unit.trim_start() {
        "s" => Some(1),
        "m" | "min" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let seconds = number
        .parse::<u64>()
        .ok()
        .zip(factor)
        .and_then(|(number, factor)| number.checked_mul(factor));
    match seconds {
        Some(seconds) if (1..=longest).contains(&seconds) => Some(Duration::from_secs(seconds)),
        Some(_) => {
            let finding =
                Finding::new(node.spot, format!("{what} is from 1s to {}h", longest / 3600));
            context.report(finding);
            None
        }
        None => {
            let shown = InvalidValue::new("", &text, "").given;
            let help = if unit.is_empty() && !number.is_empty() {
                format!("say the unit: `{number}s`, or m, h")
            } else {
                "write a whole number and s, m or h: `60s`, `15m`".to_owned()
            };
            context.report(Finding::new(node.spot, format!("`{shown}` is not a time")).help(help));
            None
        }
    }
}
