//! `expect` of the smoke test.

use crate::values::Operator;

use super::super::error::Finding;
use super::super::expect::{Expectation, Figure, TestName};
use super::super::limit::{Bound, Limit};
use super::super::node::Node;
use super::super::wishes::SmokeWish;
use super::fields::Context;

pub(super) fn read(
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
