//! What one test measured, as data: every number carries its unit, and how sure it is.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::spec::TestSpec;

/// What a test measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    /// RDMA write, there and back; half the round trip is reported.
    WriteLat,
    /// RDMA read; the full round trip is reported.
    ReadLat,
    /// Send, there and back; half the round trip is reported.
    SendLat,
    /// RDMA writes with several outstanding, until the last one is in the peer's memory.
    WriteBw,
    /// RDMA reads with several outstanding.
    ReadBw,
    /// Sends with several outstanding, until the last one was received.
    SendBw,
    /// TCP over the same port, there and back; half the round trip is reported.
    TcpLat,
    /// TCP streams over the same port, until the last byte was read by the peer.
    TcpBw,
}

impl TestKind {
    /// All tests.
    pub const ALL: [Self; 8] = [
        Self::WriteLat,
        Self::ReadLat,
        Self::SendLat,
        Self::WriteBw,
        Self::ReadBw,
        Self::SendBw,
        Self::TcpLat,
        Self::TcpBw,
    ];

    /// The word for it, as profiles and reports have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WriteLat => "write-lat",
            Self::ReadLat => "read-lat",
            Self::SendLat => "send-lat",
            Self::WriteBw => "write-bw",
            Self::ReadBw => "read-bw",
            Self::SendBw => "send-bw",
            Self::TcpLat => "tcp-lat",
            Self::TcpBw => "tcp-bw",
        }
    }

    /// Whether the result is a time; otherwise it is a rate.
    pub fn is_latency(self) -> bool {
        matches!(self, Self::WriteLat | Self::ReadLat | Self::SendLat | Self::TcpLat)
    }

    /// Whether it is the baseline that RDMA is compared with.
    pub fn is_tcp(self) -> bool {
        matches!(self, Self::TcpLat | Self::TcpBw)
    }
}

impl fmt::Display for TestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a measurement ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The 95 % confidence interval of the median was within 2 % of it.
    Sure,
    /// The time budget was spent before the median was that sure.
    Budget,
    /// The wanted number of operations was done.
    Iterations,
    /// The wanted time had passed.
    Time,
}

/// The latency of an operation, microseconds. Percentiles come from a histogram with three
/// significant digits over all samples, mean and standard deviation are exact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The smallest sample.
    pub min_us: f64,
    /// The median.
    pub p50_us: f64,
    /// The 90th percentile.
    pub p90_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// The 99.9th percentile; none below 10,000 samples, where it would be a handful of them.
    #[serde(rename = "p99.9_us")]
    pub p999_us: Option<f64>,
    /// The largest sample.
    pub max_us: f64,
    /// The mean.
    pub mean_us: f64,
    /// The standard deviation of a sample; none for a single one.
    pub stddev_us: Option<f64>,
}

/// The rate of a transfer, payload in 10^9 bits per second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bandwidth {
    /// The whole payload over the whole time. Both directions together in a bidirectional test.
    pub mean_gbit_per_s: f64,
    /// The slowest of the whole windows; none when the test was shorter than one.
    pub window_min_gbit_per_s: Option<f64>,
    /// The fastest of the whole windows.
    pub window_max_gbit_per_s: Option<f64>,
    /// How long a window is, milliseconds.
    pub window_ms: u32,
    /// How many whole windows there were.
    pub windows: u32,
    /// The sending end's own share of a bidirectional test.
    pub outgoing_gbit_per_s: Option<f64>,
}

/// What one end's processors spent on a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CpuCost {
    /// User time of the measuring process, seconds.
    pub process_user_s: f64,
    /// System time of the measuring process, seconds.
    pub process_system_s: f64,
    /// Busy time of the whole host meanwhile, all processors together, seconds; none when
    /// `/proc/stat` could not be read.
    pub host_busy_s: Option<f64>,
    /// Processor time of the whole host per GiB (2^30 bytes) of payload, seconds.
    pub host_busy_s_per_gib: Option<f64>,
    /// Processor time of the process, user and system, per GiB of payload, seconds.
    pub process_s_per_gib: Option<f64>,
}

/// What the sending end's TCP said after the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpDetails {
    /// Streams side by side.
    pub streams: u16,
    /// Segments that were sent again, all streams together (`tcpi_total_retrans`).
    pub retransmits: u64,
}

/// The result of one test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What was measured.
    pub test: TestKind,
    /// Bytes per operation.
    pub size_bytes: u32,
    /// Both ends sent at once.
    pub bidirectional: bool,
    /// Queue pairs, or TCP streams, side by side.
    pub queue_pairs: u16,
    /// Operations outstanding at once on each of them.
    pub depth: u16,
    /// Operations measured, the warm-up not counted.
    pub samples: u64,
    /// Latency tests only.
    pub latency: Option<Latency>,
    /// Bandwidth tests only.
    pub bandwidth: Option<Bandwidth>,
    /// Half the width of the 95 % confidence interval of the median (of the samples, or of the
    /// windows' rates), percent of it; none when there were too few.
    pub median_uncertainty_percent: Option<f64>,
    /// Why the measurement ended.
    pub ended: Ended,
    /// The measured time, seconds.
    pub duration_s: f64,
    /// The processor time of the connecting end.
    pub cpu: Option<CpuCost>,
    /// The processor time of the accepting end.
    pub peer_cpu: Option<CpuCost>,
    /// TCP tests only.
    pub tcp: Option<TcpDetails>,
    /// The data was compared with what was sent, and was equal.
    pub checked: bool,
}

impl Figure {
    /// A figure of this test in which nothing is measured yet.
    pub(crate) fn nothing(spec: TestSpec) -> Self {
        Self {
            test: spec.test,
            size_bytes: spec.size_bytes,
            bidirectional: spec.bidirectional,
            queue_pairs: spec.queue_pairs,
            depth: spec.depth,
            samples: 0,
            latency: None,
            bandwidth: None,
            median_uncertainty_percent: None,
            ended: Ended::Budget,
            duration_s: 0.0,
            cpu: None,
            peer_cpu: None,
            tcp: None,
            checked: false,
        }
    }
}
