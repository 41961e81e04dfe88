//! What to test: one port of this host, its peer, and the limits.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::outcome::TestKind;

/// The largest message of a test, bytes.
pub(crate) const MAX_SIZE_BYTES: u32 = 8 << 20;
/// The most tests one run may ask a peer for.
pub(crate) const MAX_TESTS: usize = 64;
/// The longest one test may be asked to last.
pub(crate) const MAX_BUDGET_MS: u32 = 60_000;

/// The port of this host that takes part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The network interface, `ens1f0`.
    pub netdev: String,
    /// The RDMA device that belongs to the interface, as the look found it just now; traffic over
    /// another one is refused.
    pub device: String,
    /// The interface's address that traffic is bound to.
    pub local: IpAddr,
    /// The mode the port is in (`rocev2`, `iwarp`, ...), compared with the peer's; none when it
    /// could not be told.
    pub mode: Option<String>,
}

/// One test to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSpec {
    /// What is measured.
    pub test: TestKind,
    /// Bytes per operation, 1 byte to 8 MiB.
    pub size_bytes: u32,
}

impl TestSpec {
    /// Operations that may be outstanding at once.
    pub(crate) fn depth(self) -> u32 {
        const WINDOW_BYTES: u32 = 4 << 20;
        match self.test {
            TestKind::WriteLat | TestKind::ReadLat => 1,
            TestKind::WriteBw | TestKind::ReadBw => {
                (WINDOW_BYTES / self.size_bytes.max(1)).clamp(2, 8)
            }
        }
    }

    /// Bytes of the operations that may be outstanding at once.
    pub(crate) fn window_bytes(self) -> u32 {
        self.size_bytes * self.depth()
    }
}

/// How the other end is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "way")]
pub enum Peer {
    /// The peer runs `serve`: one attempt, answered at once.
    Serving {
        /// Its address.
        address: IpAddr,
    },
    /// The peer runs the same job at some time within `wait`: both listen and both try.
    Rendezvous {
        /// Its address.
        address: IpAddr,
        /// How long to wait for it.
        wait: Duration,
    },
    /// Both ends on this port: proves the device and the library, not the cable.
    Loopback,
}

/// Time limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The time each single test may measure, milliseconds.
    pub test_budget_ms: u32,
    /// The longest time from the agreement of both ends to the last word; traffic that is not done
    /// by then is killed. None: what the agreed tests need on a slow link.
    pub traffic: Option<Duration>,
    /// The longest wait for a serving peer that is busy with others.
    pub queue: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { test_budget_ms: 1000, traffic: None, queue: Duration::from_secs(60) }
    }
}

/// Time to open the device, to connect, and for a silent peer to be given up.
const OVERHEAD: Duration = Duration::from_secs(20);
/// Bytes per second of a link that is still given its time: 0.05 Gbit/s, which software devices of
/// an emulated host reach.
const SLOW_LINK_BYTES_PER_S: u64 = 6_250_000;

impl Limits {
    /// The time for the traffic of these tests.
    pub(crate) fn traffic_time(&self, tests: &[TestSpec], test_budget_ms: u32) -> Duration {
        self.traffic.unwrap_or_else(|| {
            let budget = Duration::from_millis(u64::from(test_budget_ms));
            tests.iter().fold(OVERHEAD, |time, spec| {
                // One window warms up, one at least is measured, and one is comparing it.
                let bytes = 3 * u64::from(spec.window_bytes());
                time + budget * 2 + Duration::from_millis(bytes * 1000 / SLOW_LINK_BYTES_PER_S)
            })
        })
    }
}

/// One run of the smoke test over one port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// This end.
    pub endpoint: Endpoint,
    /// The other end.
    pub peer: Peer,
    /// TCP port of the control connection on both ends.
    pub port: u16,
    /// The tests, in order; those of the end that connects are run.
    pub tests: Vec<TestSpec>,
    /// Time limits.
    pub limits: Limits,
}

impl Job {
    /// The tests of a job that names none: latency at 2 bytes and bandwidth at 64 KiB, of write and
    /// read.
    pub fn default_tests() -> Vec<TestSpec> {
        vec![
            TestSpec { test: TestKind::WriteLat, size_bytes: 2 },
            TestSpec { test: TestKind::ReadLat, size_bytes: 2 },
            TestSpec { test: TestKind::WriteBw, size_bytes: 65536 },
            TestSpec { test: TestKind::ReadBw, size_bytes: 65536 },
        ]
    }

    /// The peer's address; this port's own in loopback.
    pub fn peer_address(&self) -> IpAddr {
        match self.peer {
            Peer::Serving { address } | Peer::Rendezvous { address, .. } => address,
            Peer::Loopback => self.endpoint.local,
        }
    }
}

/// Says what is wrong with a list of tests and a budget that came from outside, if anything.
pub(crate) fn refuse_plan(tests: &[TestSpec], budget_ms: u32) -> Option<String> {
    if tests.is_empty() || tests.len() > MAX_TESTS {
        return Some(format!(
            "{} tests were asked for; 1 to {MAX_TESTS} are possible",
            tests.len()
        ));
    }
    if !(1..=MAX_BUDGET_MS).contains(&budget_ms) {
        return Some(format!(
            "{budget_ms} ms per test were asked for; 1 to {MAX_BUDGET_MS} are possible"
        ));
    }
    tests.iter().find(|spec| !(1..=MAX_SIZE_BYTES).contains(&spec.size_bytes)).map(|spec| {
        format!(
            "a {} of {} bytes was asked for; 1 to {MAX_SIZE_BYTES} are possible",
            spec.test, spec.size_bytes
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_for_traffic_grows_with_the_tests_unless_it_is_given() {
        let limits = Limits::default();
        let few = limits.traffic_time(&Job::default_tests(), 1000);
        assert!((28..30).contains(&few.as_secs()), "{few:?}");
        let large = [TestSpec { test: TestKind::WriteBw, size_bytes: MAX_SIZE_BYTES }];
        // 20 s, twice the budget, and three windows of 16 MiB at 6.25 MB/s.
        assert_eq!(limits.traffic_time(&large, 1000), Duration::from_millis(30_053));
        let given = Limits { traffic: Some(Duration::from_secs(5)), ..limits };
        assert_eq!(given.traffic_time(&large, 1000), Duration::from_secs(5));
    }

    #[test]
    fn a_plan_within_the_bounds_is_accepted_and_each_bound_is_named_when_exceeded() {
        let tests = Job::default_tests();
        assert_eq!(refuse_plan(&tests, 1000), None);
        assert_eq!(
            refuse_plan(&[], 1000).as_deref(),
            Some("0 tests were asked for; 1 to 64 are possible")
        );
        assert_eq!(
            refuse_plan(&tests, 60_001).as_deref(),
            Some("60001 ms per test were asked for; 1 to 60000 are possible")
        );
        let huge = [TestSpec { test: TestKind::ReadBw, size_bytes: u32::MAX }];
        assert_eq!(
            refuse_plan(&huge, 1000).as_deref(),
            Some("a read-bw of 4294967295 bytes was asked for; 1 to 8388608 are possible")
        );
    }
}
