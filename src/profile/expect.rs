//! Tests of the smoke test, and what their results must be.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::limit::Bound;

/// A test of the smoke test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestName {
    /// Latency of RDMA write, half the round trip.
    WriteLat,
    /// Latency of RDMA read, the full round trip.
    ReadLat,
    /// Latency of send, half the round trip.
    SendLat,
    /// Bandwidth of RDMA write.
    WriteBw,
    /// Bandwidth of RDMA read.
    ReadBw,
    /// Bandwidth of send.
    SendBw,
}

impl TestName {
    /// All tests.
    pub const ALL: [TestName; 6] = [
        TestName::WriteLat,
        TestName::ReadLat,
        TestName::SendLat,
        TestName::WriteBw,
        TestName::ReadBw,
        TestName::SendBw,
    ];

    /// The word a profile uses.
    pub fn as_str(self) -> &'static str {
        match self {
            TestName::WriteLat => "write-lat",
            TestName::ReadLat => "read-lat",
            TestName::SendLat => "send-lat",
            TestName::WriteBw => "write-bw",
            TestName::ReadBw => "read-bw",
            TestName::SendBw => "send-bw",
        }
    }

    /// Whether the result is a time; otherwise it is a rate.
    pub fn is_latency(self) -> bool {
        matches!(self, TestName::WriteLat | TestName::ReadLat | TestName::SendLat)
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which figure of a test's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// The smallest sample.
    Min,
    /// The mean; the only figure of a bandwidth test.
    Mean,
    /// The largest sample.
    Max,
    /// The median.
    P50,
    /// The 90th percentile.
    P90,
    /// The 99th percentile.
    P99,
    /// The 99.9th percentile.
    #[serde(rename = "p99.9")]
    P999,
}

impl Figure {
    /// All figures.
    pub const ALL: [Figure; 7] = [
        Figure::Min,
        Figure::Mean,
        Figure::Max,
        Figure::P50,
        Figure::P90,
        Figure::P99,
        Figure::P999,
    ];

    /// The key a profile uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Figure::Min => "min",
            Figure::Mean => "mean",
            Figure::Max => "max",
            Figure::P50 => "p50",
            Figure::P90 => "p90",
            Figure::P99 => "p99",
            Figure::P999 => "p99.9",
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that a test's result must satisfy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Expectation {
    /// Of which test.
    pub test: TestName,
    /// At which message size in bytes; `None` for every size of the run.
    pub size: Option<u64>,
    /// Which figure.
    pub figure: Figure,
    /// The limit.
    pub limit: Bound,
    /// Line of the entry in the profile, from 1.
    pub line: u32,
}
