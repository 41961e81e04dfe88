//! What to test: one port of this host, its peer, and the limits.

use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::figure::TestKind;
use super::spec::{TestSpec, Until};

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
    /// The longest time from the agreement of both ends to the last word; traffic that is not done
    /// by then is killed. None: what the agreed tests need on a slow link.
    pub traffic: Option<Duration>,
    /// The longest wait for a serving peer that is busy with others.
    pub queue: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { traffic: None, queue: Duration::from_secs(60) }
    }
}

/// Time to open the device, to connect, and for a silent peer to be given up.
const OVERHEAD: Duration = Duration::from_secs(20);
/// Bytes per second of a link that is still given its time: 0.05 Gbit/s, which software devices of
/// an emulated host reach.
const SLOW_LINK_BYTES_PER_S: u64 = 6_250_000;

impl Limits {
    /// The time for the traffic of these tests.
    pub(crate) fn traffic_time(&self, tests: &[TestSpec]) -> Duration {
        self.traffic.unwrap_or_else(|| {
            tests.iter().fold(OVERHEAD, |time, spec| {
                let window = u64::from(spec.window_bytes()) * u64::from(spec.queue_pairs);
                let (wanted, measured) = match spec.until {
                    Until::Sure { budget_ms: ms } | Until::Time { ms } => (ms, window),
                    Until::Iterations { count } => (0, count * u64::from(spec.size_bytes)),
                };
                // One window warms up, one at least is measured, and one is comparing it.
                let bytes = 2 * window + measured.max(window);
                let moving = Duration::from_millis(bytes * 1000 / SLOW_LINK_BYTES_PER_S);
                time + Duration::from_millis(u64::from(wanted)) * 2 + moving
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
            TestSpec::usual(TestKind::WriteLat, 2),
            TestSpec::usual(TestKind::ReadLat, 2),
            TestSpec::usual(TestKind::WriteBw, 65_536),
            TestSpec::usual(TestKind::ReadBw, 65_536),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_for_traffic_grows_with_the_tests_unless_it_is_given() {
        let limits = Limits::default();
        let few = limits.traffic_time(&Job::default_tests());
        assert!((32..33).contains(&few.as_secs()), "{few:?}");
        let large = [TestSpec::usual(TestKind::WriteBw, 8 << 20)];
        // 20 s, twice the budget, and three windows of 16 MiB at 6.25 MB/s.
        assert_eq!(limits.traffic_time(&large), Duration::from_millis(30_053));
        let given = Limits { traffic: Some(Duration::from_secs(5)), ..limits };
        assert_eq!(given.traffic_time(&large), Duration::from_secs(5));
    }
}
