//! Smoke tests: both ends, figures with units, what is proven and what is not.

use std::net::{IpAddr, Ipv4Addr};

use super::{PLAIN, report, text, with};
use crate::report::{Detail, Outcome};
use crate::smoke::{
    self, Attribution, Bandwidth, Ending, Figure, Kind, Latency, PeerReport, Role, SmokeOutcome,
    SmokeRung, Stage, TestKind, TestSpec,
};

fn latency(p50_us: f64) -> Latency {
    Latency {
        min_us: p50_us - 1.0,
        p50_us,
        p90_us: p50_us + 1.0,
        p99_us: p50_us + 2.0,
        p999_us: None,
        max_us: p50_us + 3.0,
        mean_us: p50_us,
        stddev_us: Some(0.5),
    }
}

fn bandwidth(mean_gbit_per_s: f64) -> Bandwidth {
    Bandwidth {
        mean_gbit_per_s,
        window_min_gbit_per_s: Some(mean_gbit_per_s - 1.0),
        window_max_gbit_per_s: Some(mean_gbit_per_s + 1.0),
        window_ms: 100,
        windows: 10,
        outgoing_gbit_per_s: None,
    }
}

fn outcome(kind: Kind, ending: Ending) -> SmokeOutcome {
    let local = IpAddr::V4(Ipv4Addr::new(100, 0, 1, 10));
    let peer = IpAddr::V4(Ipv4Addr::new(100, 0, 1, 11));
    let figure = |test, size_bytes, p50_us: Option<f64>, rate: Option<f64>, samples| Figure {
        samples,
        latency: p50_us.map(latency),
        bandwidth: rate.map(bandwidth),
        duration_s: 1.0,
        checked: true,
        ..Figure::nothing(TestSpec::usual(test, size_bytes))
    };
    SmokeOutcome {
        netdev: "ens1f0".to_owned(),
        device: "rdmap2s0f0".to_owned(),
        local,
        peer: if kind == Kind::Loopback { local } else { peer },
        port: 18620,
        kind,
        role: Some(Role::Initiator),
        ending,
        stages: Vec::new(),
        figures: vec![
            figure(TestKind::WriteLat, 2, Some(8.594), None, 10_000),
            figure(TestKind::ReadBw, 65_536, None, Some(38.214_9), 71_000),
        ],
        attribution: Attribution::NotApplicable { why: "no traffic was sent".to_owned() },
        differences: Vec::new(),
        peer_report: None,
    }
}

#[test]
fn a_link_test_shows_both_ends_the_figures_and_whose_they_are() {
    let mut passed = outcome(Kind::Link, Ending::Passed);
    passed.attribution = Attribution::Attributable {
        counters: "/sys/class/infiniband/rdmap2s0f0/ports/1/hw_counters".to_owned(),
        sent_bytes: 5_000_000,
        received_bytes: 6_000_000,
        payload_sent_bytes: 4_900_000,
        payload_received_bytes: 5_900_000,
    };
    passed.peer_report = Some(PeerReport {
        host: "server2".to_owned(),
        netdev: "ens1f0".to_owned(),
        device: "irdma1".to_owned(),
        address: passed.peer,
        role: Role::Responder,
        attribution: Some(Attribution::NotAttributable {
            why: "its counters did not move".to_owned(),
        }),
    });
    passed.differences = vec![smoke::Difference {
        what: "netdev MTU".to_owned(),
        local: "4200".to_owned(),
        peer: "9000".to_owned(),
    }];
    let mut report = report("smoke", Outcome::Met, vec![]);
    report.smoke = vec![passed];
    let shown = text(&report, PLAIN);
    assert!(!shown.contains("server"), "no host names: {shown}");
    insta::assert_snapshot!(shown, @r"
    the smoke test passed

    smoke test ens1f0 (rdmap2s0f0) 100.0.1.10 <-> 100.0.1.11 ens1f0 (irdma1)
      ok       link tested: connected, and all data arrived as it was sent
          role      this end connected and measured
          differs   netdev MTU: 4200 here, 9000 there
          test         size  figure          samples  data
          write-lat     2 B  8.59 us median    10000  checked
          read-bw    64 KiB  38.215 Gb/s       71000  checked
          traffic   crossed the port by its own counters (/sys/class/infiniband/rdmap2s0f0/ports/1/hw_counters)
          at peer   NOT attributable to this port: its counters did not move
    ");
    insta::assert_snapshot!(text(&report, with(Detail::Quiet)), @"the smoke test passed");
}

#[test]
fn loopback_says_that_it_proves_no_cable() {
    let mut report = report("smoke", Outcome::Met, vec![]);
    report.smoke = vec![outcome(Kind::Loopback, Ending::Passed)];
    insta::assert_snapshot!(text(&report, PLAIN), @r"
    the loopback test passed

    loopback test of ens1f0 (rdmap2s0f0) 100.0.1.10
      ok       connected, and all data arrived as it was sent
          proves    the device and the library, not the cable
          test         size  figure          samples  data
          write-lat     2 B  8.59 us median    10000  checked
          read-bw    64 KiB  38.215 Gb/s       71000  checked
          traffic   not attributed: no traffic was sent
    ");
}

#[test]
fn tests_that_failed_that_nobody_answered_and_that_were_not_run_are_told_apart() {
    let mut failed = outcome(Kind::Link, Ending::Failed);
    failed.figures.clear();
    failed.stages = vec![Stage {
        rung: SmokeRung::Control,
        verdict: smoke::Verdict::Unmet,
        observed: "100.0.1.11 TCP port 18620: Connection refused".to_owned(),
        cause: None,
        fix: None,
    }];
    let mut alone = outcome(Kind::Link, Ending::PeerNeverCame);
    alone.figures.clear();
    let mut refused =
        outcome(Kind::Link, Ending::Refused { why: "both ends are on this host".to_owned() });
    refused.figures.clear();
    let mut report = report("smoke", Outcome::Unmet, vec![]);
    report.smoke = vec![failed, alone, refused];
    insta::assert_snapshot!(text(&report, PLAIN), @r"
    the smoke test failed

    smoke test ens1f0 (rdmap2s0f0) 100.0.1.10 <-> 100.0.1.11
      FAIL     100.0.1.11 TCP port 18620: Connection refused
          role      this end connected and measured

    smoke test ens1f0 (rdmap2s0f0) 100.0.1.10 <-> 100.0.1.11
      warn     link NOT tested: nobody answered at 100.0.1.11 TCP port 18620; later: roce-setup smoke --peer 100.0.1.11 --interface ens1f0
          role      this end connected and measured

    smoke test ens1f0 (rdmap2s0f0) 100.0.1.10 <-> 100.0.1.11
      unknown  not tested: both ends are on this host
          role      this end connected and measured
    ");
}
