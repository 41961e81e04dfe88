//! One test to run, and the bounds of what a peer may ask for.

use serde::{Deserialize, Serialize};

use super::figure::TestKind;

/// The largest message of a test, bytes.
pub(crate) const MAX_SIZE_BYTES: u32 = 8 << 20;
/// The most tests one run may ask a peer for: eight tests at 23 sizes, both directions.
pub(crate) const MAX_TESTS: usize = 512;
/// The longest one test may be asked to last.
pub(crate) const MAX_BUDGET_MS: u32 = 60_000;
/// The most queue pairs, or TCP streams, of a test.
pub(crate) const MAX_QUEUE_PAIRS: u16 = 64;
/// The most operations outstanding on a queue pair.
pub(crate) const MAX_DEPTH: u16 = 512;
/// The most operations one test may be asked for.
pub(crate) const MAX_ITERATIONS: u64 = 100_000_000;

/// When a measurement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Until {
    /// When the median is sure (see [`Ended::Sure`](super::Ended::Sure)), or the time is spent.
    Sure {
        /// The most time, milliseconds.
        budget_ms: u32,
    },
    /// When this time has passed.
    Time {
        /// Milliseconds.
        ms: u32,
    },
    /// When so many operations are done.
    Iterations {
        /// How many.
        count: u64,
    },
}

/// One test to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSpec {
    /// What is measured.
    pub test: TestKind,
    /// Bytes per operation, 1 byte to 8 MiB.
    pub size_bytes: u32,
    /// Both ends send at once; bandwidth tests only.
    pub bidirectional: bool,
    /// Queue pairs side by side; TCP streams in a TCP test. Bandwidth tests only, else 1.
    pub queue_pairs: u16,
    /// Operations outstanding at once on each queue pair; 1 in latency tests.
    pub depth: u16,
    /// When it ends.
    pub until: Until,
}

impl TestSpec {
    /// The usual budget of a test, milliseconds.
    pub const BUDGET_MS: u32 = 1000;
    /// The most memory that the operations of one queue pair may have under way: enough for every
    /// link, and little enough for every memory.
    const WINDOW_BYTES: u32 = 4 << 20;

    /// The usual test of this kind at this size: one direction, one queue pair, as many operations
    /// outstanding as fit a bounded window, until it is sure.
    pub fn usual(test: TestKind, size_bytes: u32) -> Self {
        let depth = if test.is_latency() {
            1
        } else {
            (Self::WINDOW_BYTES / size_bytes.max(1)).clamp(2, 64) as u16
        };
        Self {
            test,
            size_bytes,
            bidirectional: false,
            queue_pairs: 1,
            depth,
            until: Until::Sure { budget_ms: Self::BUDGET_MS },
        }
    }

    /// Bytes of the operations that may be outstanding at once on one queue pair.
    pub(crate) fn window_bytes(self) -> u32 {
        self.size_bytes.saturating_mul(u32::from(self.depth))
    }
}

/// Says what is wrong with a list of tests that came from outside, if anything.
pub(crate) fn refuse_plan(tests: &[TestSpec]) -> Option<String> {
    if tests.is_empty() || tests.len() > MAX_TESTS {
        return Some(format!(
            "{} tests were asked for; 1 to {MAX_TESTS} are possible",
            tests.len()
        ));
    }
    tests.iter().find_map(|spec| refuse(*spec))
}

/// Says which bound one test exceeds, if any.
fn refuse(spec: TestSpec) -> Option<String> {
    let TestSpec { test, size_bytes, bidirectional, queue_pairs, depth, until } = spec;
    let beyond = |what: &str, given: u64, most: u64| {
        (!(1..=most).contains(&given))
            .then(|| format!("a {test} of {given} {what} was asked for; 1 to {most} are possible"))
    };
    let most_pairs = if test.is_latency() { 1 } else { MAX_QUEUE_PAIRS };
    let most_depth = if test.is_latency() { 1 } else { MAX_DEPTH };
    let most_window = u64::from(MAX_SIZE_BYTES) * 2;
    beyond("bytes", size_bytes.into(), MAX_SIZE_BYTES.into())
        .or_else(|| beyond("queue pairs", queue_pairs.into(), most_pairs.into()))
        .or_else(|| beyond("outstanding operations", depth.into(), most_depth.into()))
        .or_else(|| {
            let window = u64::from(size_bytes) * u64::from(depth) * u64::from(queue_pairs);
            // Each queue pair may have two operations of any size.
            let most = most_window * u64::from(queue_pairs);
            beyond("outstanding bytes", window, most)
        })
        .or_else(|| match until {
            Until::Sure { budget_ms: ms } | Until::Time { ms } => {
                beyond("ms", ms.into(), MAX_BUDGET_MS.into())
            }
            Until::Iterations { count } => beyond("iterations", count, MAX_ITERATIONS),
        })
        .or_else(|| {
            (bidirectional && test.is_latency())
                .then(|| format!("a bidirectional {test} was asked for; it goes both ways already"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_within_the_bounds_is_accepted_and_each_bound_is_named_when_exceeded() {
        let usual = TestSpec::usual(TestKind::WriteBw, 65_536);
        assert_eq!(refuse_plan(&[usual]), None);
        let asked = |spec| refuse_plan(&[spec]).unwrap_or_default();
        assert_eq!(
            refuse_plan(&[]).as_deref(),
            Some("0 tests were asked for; 1 to 512 are possible")
        );
        assert_eq!(
            asked(TestSpec { until: Until::Time { ms: 60_001 }, ..usual }),
            "a write-bw of 60001 ms was asked for; 1 to 60000 are possible"
        );
        assert_eq!(
            asked(TestSpec { size_bytes: u32::MAX, ..usual }),
            "a write-bw of 4294967295 bytes was asked for; 1 to 8388608 are possible"
        );
        assert_eq!(
            asked(TestSpec { queue_pairs: 65, ..usual }),
            "a write-bw of 65 queue pairs was asked for; 1 to 64 are possible"
        );
        assert_eq!(
            asked(TestSpec { depth: 0, ..usual }),
            "a write-bw of 0 outstanding operations was asked for; 1 to 512 are possible"
        );
        assert_eq!(
            asked(TestSpec { depth: 512, ..usual }),
            "a write-bw of 33554432 outstanding bytes was asked for; 1 to 16777216 are possible"
        );
        assert_eq!(
            asked(TestSpec { until: Until::Iterations { count: 0 }, ..usual }),
            "a write-bw of 0 iterations was asked for; 1 to 100000000 are possible"
        );
        let latency = TestSpec::usual(TestKind::SendLat, 2);
        assert_eq!(
            asked(TestSpec { depth: 2, ..latency }),
            "a send-lat of 2 outstanding operations was asked for; 1 to 1 are possible"
        );
        assert_eq!(
            asked(TestSpec { bidirectional: true, ..latency }),
            "a bidirectional send-lat was asked for; it goes both ways already"
        );
    }

    #[test]
    fn the_usual_depth_keeps_the_window_bounded() {
        let depth = |test, size| TestSpec::usual(test, size).depth;
        assert_eq!(depth(TestKind::WriteLat, 2), 1);
        assert_eq!(depth(TestKind::WriteBw, 2), 64);
        assert_eq!(depth(TestKind::ReadBw, 65_536), 64);
        assert_eq!(depth(TestKind::ReadBw, 1 << 20), 4);
        assert_eq!(depth(TestKind::SendBw, 8 << 20), 2);
    }
}
