//! `smoke`: the test that an apply ends with.

use std::net::IpAddr;
use std::time::Duration;

use crate::values::{InvalidValue, Operator};

use super::super::error::Finding;
use super::super::expect::{Bound, Expectation, Figure, Limit, TestName};
use super::super::hostlist;
use super::super::node::{Kind, Node};
use super::super::select;
use super::super::wishes::SmokeWish;
use super::fields::{Context, Fields, Spotted, did_you_mean};

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

/// Who tests against whom.
#[derive(Clone, Debug)]
pub(in super::super) enum PeerRule {
    /// Hosts 1-2, 3-4, ...
    Pair,
    /// Each with the next, the last with the first.
    Ring,
    /// Each with itself.
    Loopback,
    /// All with one host, by its position.
    Host(usize),
    /// All with one address.
    Address(IpAddr),
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
        .map(|node| expectations(context, node, &tests, &sizes))
        .unwrap_or_default();
    let peer = peer(context, &fields)?;
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

fn peer(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<Spotted<PeerRule>> {
    const FORMS: &str = "write `pair`, `ring`, `loopback`, `{host: NAME}` or an address";
    let Some(node) = fields.get("peer") else {
        let finding = Finding::new(fields.spot, "`smoke` has no `peer`");
        context.report(finding.help(FORMS));
        return None;
    };
    let spot = node.spot;
    if let Kind::Map(_) = node.kind {
        let fields = context.fields(node, "`peer`", &["host"])?;
        let Some(node) = fields.get("host") else {
            context.report(Finding::new(spot, "`peer` has no `host`").help(FORMS));
            return None;
        };
        return named_host(context, node);
    }
    let text = context.text(node, "the peer of the smoke test")?;
    let value = match text.as_str() {
        "pair" => PeerRule::Pair,
        "ring" => PeerRule::Ring,
        "loopback" => PeerRule::Loopback,
        _ => {
            if let Ok(address) = text.parse::<IpAddr>() {
                return peer_address(context, spot, address);
            }
            let shown = InvalidValue::new("", &text, "").given;
            let listed = context
                .hosts
                .as_ref()
                .is_some_and(|hosts| select::position(&hosts.names, &text).is_ok());
            let help = if listed {
                format!("write `peer: {{host: {shown}}}`")
            } else {
                match did_you_mean(&text, &["pair", "ring", "loopback"]) {
                    near if near.starts_with("did") => near,
                    _ => FORMS.to_owned(),
                }
            };
            context.report(Finding::new(spot, format!("`{shown}` is no peer")).help(help));
            return None;
        }
    };
    let count = context.hosts.as_ref().map(|hosts| (hosts.names.len(), hosts.spot));
    match (&value, count) {
        (PeerRule::Pair | PeerRule::Ring, None) => {
            let finding =
                Finding::new(spot, format!("`peer: {text}` needs `hosts`, the profile has none"));
            context
                .report(finding.help("add `hosts: server[1-2]`, or name the peer by its address"));
            return None;
        }
        (PeerRule::Pair, Some((count, hosts))) if count % 2 == 1 => {
            let finding = Finding::new(
                spot,
                format!("`peer: pair` needs an even number of hosts, there are {count}"),
            )
            .related(hosts, "`hosts` is here")
            .help("with `peer: ring` each host tests with the next one");
            context.report(finding);
            return None;
        }
        (PeerRule::Ring, Some((1, hosts))) => {
            let finding = Finding::new(spot, "`peer: ring` needs more than one host")
                .related(hosts, "`hosts` is here");
            context.report(finding);
            return None;
        }
        _ => {}
    }
    Some(Spotted { value, spot })
}

fn named_host(context: &mut Context<'_>, node: &Node) -> Option<Spotted<PeerRule>> {
    let name = context.text(node, "the name of a host")?;
    let shown = InvalidValue::new("", &name, "").given;
    let spot = node.spot;
    let Some(hosts) = &context.hosts else {
        let finding =
            Finding::new(spot, "a peer by its host name needs `hosts`, the profile has none");
        context.report(finding.help("add `hosts`, or name the peer by its address"));
        return None;
    };
    match select::position(&hosts.names, &name) {
        Ok(position) => Some(Spotted { value: PeerRule::Host(position), spot }),
        Err(_) => {
            let related = format!("`hosts` is {}", hostlist::shorten(&hosts.names));
            let finding = Finding::new(spot, format!("the peer {shown} is not in `hosts`"))
                .related(hosts.spot, related)
                .help("its addresses are those of this profile, so it must be one of the hosts; another machine is named by its address");
            context.report(finding);
            None
        }
    }
}

fn peer_address(
    context: &mut Context<'_>,
    spot: super::Spot,
    address: IpAddr,
) -> Option<Spotted<PeerRule>> {
    let reason = if address.is_loopback() {
        Some("for a test of this host with itself write `peer: loopback`")
    } else if address.is_unspecified() || address.is_multicast() {
        Some("name the peer by the address of its port")
    } else {
        None
    };
    match reason {
        Some(help) => {
            context.report(
                Finding::new(spot, format!("no peer has the address {address}")).help(help),
            );
            None
        }
        None => Some(Spotted { value: PeerRule::Address(address), spot }),
    }
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

fn expectations(
    context: &mut Context<'_>,
    node: &Node,
    tests: &[TestName],
    sizes: &[u64],
) -> Vec<Expectation> {
    let entries = context.list(node, "`expect`", 1024);
    entries
        .iter()
        .flat_map(|entry| expectation(context, entry, tests, sizes).unwrap_or_default())
        .collect()
}

/// One entry, which may limit several figures.
fn expectation(
    context: &mut Context<'_>,
    node: &Node,
    tests: &[TestName],
    sizes: &[u64],
) -> Option<Vec<Expectation>> {
    const FORM: &str = "write `{test: read-lat, size: 2, p50: \"<= 10 us\"}`";
    let mut known = vec!["test", "size"];
    known.extend(Figure::ALL.map(Figure::as_str));
    let fields = context.fields(node, "an entry of `expect`", &known)?;
    let size = match fields.get("size") {
        Some(node) => {
            let size = context.integer(node, "a message size in bytes", 1..=SmokeWish::LARGEST)?;
            if !sizes.contains(&size) && !sizes.is_empty() {
                let finding = Finding::new(
                    node.spot,
                    format!("the size {size} is not tested, so this could never be met"),
                );
                context.report(finding.help("add it to `sizes`"));
            }
            Some(size)
        }
        None => None,
    };
    let Some(test_node) = fields.get("test") else {
        context
            .report(Finding::new(fields.spot, "this entry of `expect` has no `test`").help(FORM));
        return None;
    };
    let words = TestName::ALL.map(|test| (test.as_str(), test));
    let test = context.word(test_node, "a test", &words)?;
    if !tests.contains(&test) && !tests.is_empty() {
        let finding = Finding::new(
            test_node.spot,
            format!("the test {test} is not run, so this could never be met"),
        );
        context.report(finding.help("add it to `tests`"));
    }
    let (line, _) = context.source.position(fields.spot.start);
    let mut list = Vec::new();
    let mut figures = 0;
    for (key, node) in fields.iter() {
        let Some(figure) = Figure::ALL.into_iter().find(|figure| figure.as_str() == key) else {
            continue;
        };
        figures += 1;
        if let Some(limit) = bound(context, node, test, figure) {
            list.push(Expectation { test, size, figure, limit, line });
        }
    }
    if figures == 0 {
        context
            .report(Finding::new(fields.spot, "this entry of `expect` limits nothing").help(FORM));
    }
    Some(list)
}

fn bound(context: &mut Context<'_>, node: &Node, test: TestName, figure: Figure) -> Option<Bound> {
    let bound: Bound = context.value(node, "a limit such as \"<= 10 us\"")?;
    let upper = matches!(bound.operator, Operator::AtMost | Operator::Below);
    let is_time = matches!(bound.limit, Limit::Nanoseconds(_));
    let finding = match (test.is_latency(), is_time, upper) {
        (true, false, _) => Finding::new(node.spot, format!("{test} measures a time"))
            .help("limit it with `<= 10 us`"),
        (false, true, _) => Finding::new(node.spot, format!("{test} measures a rate"))
            .help("limit it with `>= 90 Gb/s` or `>= 90 %`"),
        (true, true, false) => Finding::new(
            node.spot,
            "a latency is good when it is low, this limit lets every high one pass",
        )
        .help("write `<=`"),
        (false, false, true) => Finding::new(
            node.spot,
            "a bandwidth is good when it is high, this limit lets every low one pass",
        )
        .help("write `>=`"),
        (false, false, false) if figure != Figure::Mean => {
            Finding::new(node.spot, format!("a bandwidth test has no {figure}, only a mean"))
                .help("write `mean:`")
        }
        _ => return Some(bound),
    };
    context.report(finding);
    None
}
