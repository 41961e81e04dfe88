//! The byte counters of a port, and what they prove.
//!
//! RDMA hardware moves data past the network stack, so that a hardware port's traffic is in the
//! RDMA counters and a software device's in the interface's. Which of them a driver keeps differs;
//! every one that can be read is, and one that moved by at least the payload is proof.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::outcome::Attribution;
use crate::verbs::PortAttributes;

/// How long a driver may take to bring its counters up to date; most do it once a second.
const SETTLE: Duration = Duration::from_millis(2500);

/// A pair of counters in sysfs.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    /// What a report calls it.
    name: String,
    sent: Vec<PathBuf>,
    received: Vec<PathBuf>,
    /// Bytes of one count.
    unit_bytes: u64,
}

/// The counters of one port, as they were when this value was made.
#[derive(Debug)]
pub(crate) struct Counters {
    before: Vec<(Source, u64, u64)>,
}

impl Counters {
    /// Reads every counter that the port has; `sys` is where sysfs is.
    pub(crate) fn read(sys: &Path, netdev: &str, port: &PortAttributes) -> Self {
        let rdma = sys
            .join("class/infiniband")
            .join(&port.device)
            .join("ports")
            .join(port.port.to_string());
        let net = sys.join("class/net").join(netdev).join("statistics");
        let sources = [
            Source {
                name: format!(
                    "port_xmit_data and port_rcv_data of {} port {}",
                    port.device, port.port
                ),
                sent: vec![rdma.join("counters/port_xmit_data")],
                received: vec![rdma.join("counters/port_rcv_data")],
                // The InfiniBand specification counts in units of four bytes.
                unit_bytes: 4,
            },
            Source {
                // irdma and its kind have no PMA; they count IP octets.
                name: format!("ip4/ip6 In/OutOctets of {} port {}", port.device, port.port),
                sent: vec![
                    rdma.join("hw_counters/ip4OutOctets"),
                    rdma.join("hw_counters/ip6OutOctets"),
                ],
                received: vec![
                    rdma.join("hw_counters/ip4InOctets"),
                    rdma.join("hw_counters/ip6InOctets"),
                ],
                unit_bytes: 1,
            },
            Source {
                name: format!("tx_bytes and rx_bytes of {netdev}"),
                sent: vec![net.join("tx_bytes")],
                received: vec![net.join("rx_bytes")],
                unit_bytes: 1,
            },
        ];
        let before = sources
            .into_iter()
            .filter_map(|source| {
                let (sent, received) = source.value()?;
                Some((source, sent, received))
            })
            .collect();
        Self { before }
    }

    /// Whether `sent` and `received` payload bytes crossed the port since, waiting a little for
    /// slow counters.
    pub(crate) fn attribute(
        &self,
        payload_sent_bytes: u64,
        payload_received_bytes: u64,
    ) -> Attribution {
        let deadline = Instant::now() + SETTLE;
        loop {
            let moved = self.moved();
            let proof = moved.iter().find(|(_, sent, received)| {
                *sent >= payload_sent_bytes && *received >= payload_received_bytes
            });
            if let Some((counters, sent_bytes, received_bytes)) = proof {
                return Attribution::Attributable {
                    counters: counters.clone(),
                    sent_bytes: *sent_bytes,
                    received_bytes: *received_bytes,
                    payload_sent_bytes,
                    payload_received_bytes,
                };
            }
            if Instant::now() >= deadline || moved.is_empty() {
                let seen = moved
                    .iter()
                    .map(|(counters, sent, received)| {
                        format!("{counters} moved by {sent} and {received} bytes")
                    })
                    .collect::<Vec<_>>()
                    .join("; ");
                let seen = if seen.is_empty() {
                    "no byte counter of the port could be read".to_owned()
                } else {
                    seen
                };
                return Attribution::NotAttributable {
                    why: format!(
                        "{seen}; the test sent {payload_sent_bytes} and received {payload_received_bytes} bytes of payload"
                    ),
                };
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// Name, bytes sent and bytes received since, per source. A counter that went backwards (a
    /// reset) counts as not moved.
    fn moved(&self) -> Vec<(String, u64, u64)> {
        self.before
            .iter()
            .filter_map(|(source, sent, received)| {
                let (sent_now, received_now) = source.value()?;
                Some((
                    source.name.clone(),
                    sent_now.saturating_sub(*sent),
                    received_now.saturating_sub(*received),
                ))
            })
            .collect()
    }
}

impl Source {
    /// Bytes sent and received; none when a counter is missing or not a number (irdma: `N/A (no
    /// PMA)`).
    fn value(&self) -> Option<(u64, u64)> {
        let sum = |paths: &[PathBuf]| {
            paths.iter().try_fold(0_u64, |sum, path| {
                let count: u64 = fs::read_to_string(path).ok()?.trim().parse().ok()?;
                Some(sum.saturating_add(count.saturating_mul(self.unit_bytes)))
            })
        };
        Some((sum(&self.sent)?, sum(&self.received)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port() -> PortAttributes {
        PortAttributes {
            device: "irdma1".to_owned(),
            port: 1,
            iwarp: false,
            active_mtu_bytes: 1024,
            max_responder_reads: 16,
            max_initiator_reads: 16,
        }
    }

    fn set(root: &Path, path: &str, value: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folder");
        fs::write(path, value).expect("file");
    }

    #[test]
    fn hardware_counters_count_four_bytes_and_win_over_the_interface() {
        let sys = tempfile::tempdir().expect("tempdir");
        let counters = "class/infiniband/irdma1/ports/1/counters";
        for (path, value) in [("port_xmit_data", "100"), ("port_rcv_data", "7")] {
            set(sys.path(), &format!("{counters}/{path}"), value);
        }
        set(sys.path(), "class/net/ens1f0/statistics/tx_bytes", "5000");
        set(sys.path(), "class/net/ens1f0/statistics/rx_bytes", "5000");
        let before = Counters::read(sys.path(), "ens1f0", &port());
        set(sys.path(), &format!("{counters}/port_xmit_data"), "1100");
        set(sys.path(), &format!("{counters}/port_rcv_data"), "17");
        assert_eq!(
            before.attribute(4000, 40),
            Attribution::Attributable {
                counters: "port_xmit_data and port_rcv_data of irdma1 port 1".to_owned(),
                sent_bytes: 4000,
                received_bytes: 40,
                payload_sent_bytes: 4000,
                payload_received_bytes: 40,
            }
        );
    }

    #[test]
    fn counters_that_moved_too_little_are_named_with_both_numbers() {
        let sys = tempfile::tempdir().expect("tempdir");
        set(sys.path(), "class/infiniband/irdma1/ports/1/counters/port_xmit_data", "N/A (no PMA)");
        set(sys.path(), "class/net/ens1f0/statistics/tx_bytes", "10");
        set(sys.path(), "class/net/ens1f0/statistics/rx_bytes", "10");
        let before = Counters::read(sys.path(), "ens1f0", &port());
        set(sys.path(), "class/net/ens1f0/statistics/tx_bytes", "1009");
        assert_eq!(
            before.attribute(1000, 0),
            Attribution::NotAttributable {
                why: "tx_bytes and rx_bytes of ens1f0 moved by 999 and 0 bytes; the test sent 1000 and received 0 bytes of payload"
                    .to_owned()
            }
        );
    }

    #[test]
    fn a_port_without_counters_proves_nothing() {
        let sys = tempfile::tempdir().expect("tempdir");
        let found = Counters::read(sys.path(), "ens1f0", &port()).attribute(0, 0);
        assert_eq!(
            found,
            Attribution::NotAttributable {
                why: "no byte counter of the port could be read; the test sent 0 and received 0 bytes of payload".to_owned()
            }
        );
    }
}
