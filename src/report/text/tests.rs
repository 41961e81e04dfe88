//! What people read, word for word, for every verdict, result and ending.

use std::net::{IpAddr, Ipv4Addr};

use super::{Detail, TextStyle, write_text};
use crate::change::Change;
use crate::claims::{Refusal, Rung, Severity, Subject};
use crate::facts::Difference;
use crate::report::{ChangeRecord, ChangeResult, FORMAT, Finding, Outcome, Report, Verdict};
use crate::smoke::{
    self, Attribution, Ending, Figure, Kind, PeerReport, Role, SmokeOutcome, SmokeRung, Stage,
    TestKind,
};

const PLAIN: TextStyle = TextStyle { color: false, symbols: false, detail: Detail::Normal };

fn text(report: &Report, style: TextStyle) -> String {
    let mut out = Vec::new();
    write_text(report, &style, &mut out).expect("written to memory");
    String::from_utf8(out).expect("UTF-8")
}

fn with(detail: Detail) -> TextStyle {
    TextStyle { detail, ..PLAIN }
}

fn report(command: &str, outcome: Outcome, findings: Vec<Finding>) -> Report {
    Report {
        format: FORMAT,
        command: command.to_owned(),
        host: "server1".to_owned(),
        profile: Some("e810-rocev2".to_owned()),
        outcome,
        findings,
        changes: Vec::new(),
        refusals: Vec::new(),
        differences: Vec::new(),
        smoke: Vec::new(),
        notes: Vec::new(),
    }
}

fn finding(id: &str, rung: Rung, subject: Subject, claim: &str, verdict: Verdict) -> Finding {
    Finding {
        id: id.to_owned(),
        rung,
        subject,
        claim: claim.to_owned(),
        severity: Severity::Error,
        verdict,
    }
}

fn port() -> Subject {
    Subject::Port("ens1f0".to_owned())
}

fn module() -> Subject {
    Subject::Module("irdma".to_owned())
}

fn loaded() -> Finding {
    let met = Verdict::Met { observed: None };
    finding("module.loaded", Rung::Module, module(), "irdma is loaded", met)
}

fn version() -> Finding {
    let met = Verdict::Met { observed: Some("1.11.16.6".to_owned()) };
    finding("module.version", Rung::Module, module(), "irdma has a version >= 1.11", met)
}

fn mtu() -> Finding {
    let unmet = Verdict::Unmet {
        expected: "4200".to_owned(),
        observed: "1500".to_owned(),
        source: "rtnetlink".to_owned(),
        cause: "nobody has set it since boot".to_owned(),
        fix: "roce-setup apply sets it".to_owned(),
    };
    finding("link.mtu", Rung::Mtu, port(), "ens1f0 has MTU 4200", unmet)
}

fn iwarp() -> Finding {
    let unmet = Verdict::Unmet {
        expected: "rocev2".to_owned(),
        observed: "iwarp".to_owned(),
        source: "/sys/class/infiniband/rdmap2s0f0/node_type".to_owned(),
        cause: "the driver was loaded in another mode".to_owned(),
        fix: "roce-setup apply changes it".to_owned(),
    };
    finding("rdma.mode", Rung::Mode, port(), "ens1f0 is in mode RoCEv2", unmet)
}

fn no_gid() -> Finding {
    let skipped = Verdict::Skipped { needs: "rdma.mode".to_owned(), rung: Rung::Mode };
    finding("gid.present", Rung::Gid, port(), "ens1f0 has a RoCEv2 GID of 100.0.1.10", skipped)
}

fn unknown_library() -> Finding {
    let unknown = Verdict::Unknown { why: "/etc/ld.so.cache: Permission denied".to_owned() };
    finding("verbs.library", Rung::Verbs, Subject::Host, "libibverbs is installed", unknown)
}

fn no_peer() -> Finding {
    let unmet = Verdict::Unmet {
        expected: "an answer".to_owned(),
        observed: "none from 100.0.1.11".to_owned(),
        source: "smoke test".to_owned(),
        cause: "the peer has not been set up yet".to_owned(),
        fix: "run `roce-setup serve` there".to_owned(),
    };
    let claim = "the peer of ens1f0 came to the smoke test";
    Finding {
        severity: Severity::Warning,
        ..finding("smoke.peer", Rung::Neighbour, port(), claim, unmet)
    }
}

fn set_mtu(result: ChangeResult) -> ChangeRecord {
    let change = Change::SetMtu { netdev: "ens1f0".to_owned(), mtu: 4200 };
    ChangeRecord { claim: "link.mtu".to_owned(), subject: port(), change, result }
}

fn reload(results: [ChangeResult; 2]) -> Vec<ChangeRecord> {
    let parameters = [("limits_sel", "3"), ("roce_ena", "1")];
    let parameters =
        parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    let changes = [
        Change::RemoveModule { module: "irdma".to_owned() },
        Change::LoadModule { module: "irdma".to_owned(), parameters },
    ];
    let record = |(change, result)| ChangeRecord {
        claim: "rdma.mode".to_owned(),
        subject: port(),
        change,
        result,
    };
    changes.into_iter().zip(results).map(record).collect()
}

#[test]
fn a_check_that_is_met_is_short() {
    let report = report("check", Outcome::Met, vec![loaded(), version()]);
    insta::assert_snapshot!(text(&report, PLAIN), @r"
    as the profile says

    module irdma
      ok       irdma is loaded
      ok       irdma has a version >= 1.11: 1.11.16.6
    ");
    insta::assert_snapshot!(text(&report, with(Detail::Quiet)), @"as the profile says");
    insta::assert_snapshot!(text(&report, with(Detail::Verbose)), @r"
    as the profile says

    module irdma
      ok       irdma is loaded  (module.loaded)
      ok       irdma has a version >= 1.11: 1.11.16.6  (module.version)
    ");
}

#[test]
fn a_check_that_fails_says_what_why_and_what_to_do_and_skips_what_hangs_on_it() {
    let findings = vec![loaded(), mtu(), iwarp(), no_gid(), unknown_library()];
    let report = report("check", Outcome::Unmet, findings);
    insta::assert_snapshot!(text(&report, PLAIN), @r"
    not as the profile says: link.mtu ens1f0: 1500, expected 4200

    module irdma
      ok       irdma is loaded

    port ens1f0
      FAIL     ens1f0 has MTU 4200  (link.mtu)
          expected  4200
          observed  1500 (rtnetlink)
          cause     nobody has set it since boot
          fix       roce-setup apply sets it
      FAIL     ens1f0 is in mode RoCEv2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     the driver was loaded in another mode
          fix       roce-setup apply changes it
      skipped  ens1f0 has a RoCEv2 GID of 100.0.1.10: needs mode

    host
      unknown  libibverbs is installed  (verbs.library)
          why       /etc/ld.so.cache: Permission denied
    ");
    insta::assert_snapshot!(text(&report, with(Detail::Quiet)), @r"
    not as the profile says: link.mtu ens1f0: 1500, expected 4200

    port ens1f0
      FAIL     ens1f0 has MTU 4200  (link.mtu)
          expected  4200
          observed  1500 (rtnetlink)
          cause     nobody has set it since boot
          fix       roce-setup apply sets it
      FAIL     ens1f0 is in mode RoCEv2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     the driver was loaded in another mode
          fix       roce-setup apply changes it

    host
      unknown  libibverbs is installed  (verbs.library)
          why       /etc/ld.so.cache: Permission denied
    ");
    insta::assert_snapshot!(text(&report, with(Detail::Verbose)), @r"
    not as the profile says: link.mtu ens1f0: 1500, expected 4200

    module irdma
      ok       irdma is loaded  (module.loaded)

    port ens1f0
      FAIL     ens1f0 has MTU 4200  (link.mtu)
          expected  4200
          observed  1500 (rtnetlink)
          cause     nobody has set it since boot
          fix       roce-setup apply sets it
      FAIL     ens1f0 is in mode RoCEv2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     the driver was loaded in another mode
          fix       roce-setup apply changes it
      skipped  ens1f0 has a RoCEv2 GID of 100.0.1.10: needs mode  (gid.present, needs rdma.mode)

    host
      unknown  libibverbs is installed  (verbs.library)
          why       /etc/ld.so.cache: Permission denied
    ");
}

#[test]
fn warnings_do_not_fail_but_are_in_the_verdict() {
    let report = report("check", Outcome::Met, vec![loaded(), no_peer()]);
    insta::assert_snapshot!(text(&report, PLAIN), @r"
    as the profile says, with 1 warning: smoke.peer ens1f0: none from 100.0.1.11, expected an answer

    module irdma
      ok       irdma is loaded

    port ens1f0
      warn     the peer of ens1f0 came to the smoke test  (smoke.peer)
          expected  an answer
          observed  none from 100.0.1.11 (smoke test)
          cause     the peer has not been set up yet
          fix       run `roce-setup serve` there
    ");
}

#[test]
fn without_a_verdict_the_unknown_reading_is_named() {
    let report = report("check", Outcome::NoVerdict, vec![loaded(), unknown_library()]);
    insta::assert_snapshot!(text(&report, PLAIN), @r"
    no verdict: verbs.library: /etc/ld.so.cache: Permission denied

    module irdma
      ok       irdma is loaded

    host
      unknown  libibverbs is installed  (verbs.library)
          why       /etc/ld.so.cache: Permission denied
    ");
}

#[test]
fn without_a_profile_the_verdict_does_not_speak_of_one() {
    let mut met = report("check", Outcome::Met, vec![loaded()]);
    met.profile = None;
    let mut unmet = report("check", Outcome::Unmet, vec![iwarp()]);
    unmet.profile = None;
    let first = |report| text(report, PLAIN).lines().next().map(str::to_owned);
    assert_eq!(first(&met).as_deref(), Some("as RDMA hosts must be (no profile)"));
    assert_eq!(
        first(&unmet).as_deref(),
        Some("not as RDMA hosts must be (no profile): rdma.mode ens1f0: iwarp, expected rocev2")
    );
}

#[test]
fn a_plan_lists_its_changes_under_their_claims_with_observed_and_wanted() {
    let mut drift = report("plan", Outcome::Drift, vec![loaded(), mtu(), iwarp()]);
    drift.changes = vec![set_mtu(ChangeResult::Planned)];
    drift.changes.extend(reload([ChangeResult::Planned, ChangeResult::Planned]));
    insta::assert_snapshot!(text(&drift, PLAIN), @r"
    not as the profile says: 3 changes are due

    for link.mtu of ens1f0: 1500 -> 4200
      change   set ens1f0 MTU 4200

    for rdma.mode of ens1f0: iwarp -> rocev2
      change   remove irdma (that module alone)
      change   load irdma limits_sel=3 roce_ena=1

    module irdma
      ok       irdma is loaded

    port ens1f0
      due      ens1f0 has MTU 4200  (link.mtu)
      due      ens1f0 is in mode RoCEv2  (rdma.mode)
    ");
    let none = report("plan", Outcome::Met, vec![loaded()]);
    insta::assert_snapshot!(text(&none, PLAIN), @r"
    as the profile says, nothing to change

    module irdma
      ok       irdma is loaded
    ");
}

#[test]
fn a_refused_plan_and_a_refused_apply_say_what_why_and_what_instead() {
    let refusal = || Refusal {
        what: "irdma is not removed".to_owned(),
        why: "python3 (pid 812) has /dev/infiniband/uverbs0 open".to_owned(),
        fix: "end them first, or force it with --force-reload".to_owned(),
    };
    let mut plan = report("plan", Outcome::Refused, vec![iwarp()]);
    plan.refusals = vec![refusal()];
    insta::assert_snapshot!(text(&plan, with(Detail::Quiet)), @r"
    refused, apply would change nothing: irdma is not removed
          why       python3 (pid 812) has /dev/infiniband/uverbs0 open
          fix       end them first, or force it with --force-reload

    port ens1f0
      FAIL     ens1f0 is in mode RoCEv2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     the driver was loaded in another mode
          fix       roce-setup apply changes it
    ");
    let mut apply = report("apply", Outcome::Refused, vec![loaded()]);
    apply.refusals = vec![refusal()];
    insta::assert_snapshot!(text(&apply, PLAIN), @r"
    refused, nothing was changed: irdma is not removed
          why       python3 (pid 812) has /dev/infiniband/uverbs0 open
          fix       end them first, or force it with --force-reload

    module irdma
      ok       irdma is loaded
    ");
}

#[test]
fn an_apply_shows_what_it_changed() {
    let mut applied = report("apply", Outcome::Met, vec![loaded()]);
    applied.changes = vec![set_mtu(ChangeResult::Made)];
    applied.changes.extend(reload([ChangeResult::Made, ChangeResult::Made]));
    insta::assert_snapshot!(text(&applied, PLAIN), @r"
    as the profile says, 3 changes made

    for link.mtu of ens1f0
      changed  set ens1f0 MTU 4200

    for rdma.mode of ens1f0
      changed  remove irdma (that module alone)
      changed  load irdma limits_sel=3 roce_ena=1

    module irdma
      ok       irdma is loaded
    ");
    let second = report("apply", Outcome::Met, vec![loaded()]);
    insta::assert_snapshot!(text(&second, PLAIN), @r"
    as the profile says, nothing was changed

    module irdma
      ok       irdma is loaded
    ");
}

#[test]
fn an_undone_apply_says_so_and_shows_the_refusal_in_the_kernels_words() {
    let mut undone = report("apply", Outcome::Undone, vec![loaded(), iwarp()]);
    undone.changes = vec![set_mtu(ChangeResult::Undone)];
    let why = "devlink param set: RDMA is in use (EBUSY)".to_owned();
    undone.changes.extend(reload([ChangeResult::Ignored, ChangeResult::Failed { why }]));
    insta::assert_snapshot!(text(&undone, PLAIN), @r"
    undone, the host is as before: rdma.mode ens1f0: iwarp, expected rocev2

    for link.mtu of ens1f0
      undone   set ens1f0 MTU 4200

    for rdma.mode of ens1f0: iwarp -> rocev2
      IGNORED  remove irdma (that module alone)
          why       acknowledged, but the next look does not show it
      REFUSED  load irdma limits_sel=3 roce_ena=1
          why       devlink param set: RDMA is in use (EBUSY)

    module irdma
      ok       irdma is loaded

    port ens1f0
      FAIL     ens1f0 is in mode RoCEv2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     the driver was loaded in another mode
          fix       roce-setup apply changes it
    ");
}

#[test]
fn a_host_left_neither_as_wanted_nor_as_before_shows_every_difference() {
    let mut neither = report("apply", Outcome::Neither, vec![iwarp()]);
    let why = "its value is no longer the one that was set".to_owned();
    neither.changes = vec![set_mtu(ChangeResult::NotUndone { why })];
    neither.differences = vec![Difference {
        what: "ens1f0 MTU".to_owned(),
        before: "1500".to_owned(),
        now: "4200".to_owned(),
    }];
    insta::assert_snapshot!(text(&neither, with(Detail::Quiet)), @r"
    LEFT NEITHER AS WANTED NOR AS BEFORE: rdma.mode ens1f0: iwarp, expected rocev2
          differs   ens1f0 MTU was 1500, now 4200

    for link.mtu of ens1f0
      REMAINS  set ens1f0 MTU 4200
          why       its value is no longer the one that was set

    port ens1f0
      FAIL     ens1f0 is in mode RoCEv2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     the driver was loaded in another mode
          fix       roce-setup apply changes it
    ");
}

fn outcome(kind: Kind, ending: Ending) -> SmokeOutcome {
    let local = IpAddr::V4(Ipv4Addr::new(100, 0, 1, 10));
    let peer = IpAddr::V4(Ipv4Addr::new(100, 0, 1, 11));
    let figure = |test, size_bytes, median_us, mean_gbit_per_s, samples| Figure {
        test,
        size_bytes,
        samples,
        median_us,
        mean_gbit_per_s,
        duration_s: 1.0,
        checked: true,
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

#[test]
fn symbols_and_colours_decorate_the_same_words() {
    let report = report("check", Outcome::Unmet, vec![loaded(), iwarp(), no_gid()]);
    let plain = text(&report, PLAIN);
    let symbols = text(&report, TextStyle { symbols: true, ..PLAIN });
    insta::assert_snapshot!(symbols, @r"
    not as the profile says: rdma.mode ens1f0: iwarp, expected rocev2

    module irdma
      ✓ ok       irdma is loaded

    port ens1f0
      ✗ FAIL     ens1f0 is in mode RoCEv2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     the driver was loaded in another mode
          fix       roce-setup apply changes it
      - skipped  ens1f0 has a RoCEv2 GID of 100.0.1.10: needs mode
    ");
    let colored = text(&report, TextStyle { color: true, ..PLAIN });
    assert_ne!(colored, plain);
    assert_eq!(without_escapes(&colored), plain);
}

fn without_escapes(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            let _ = rest.by_ref().find(|c| *c == 'm');
        } else {
            kept.push(c);
        }
    }
    kept
}

#[test]
fn what_a_driver_or_a_file_says_cannot_steer_the_terminal() {
    let mut hostile = iwarp();
    hostile.claim = "ens1f0\u{1b}[2J is fine".to_owned();
    hostile.verdict = Verdict::Unknown { why: "first\nsecond\r\u{7}".to_owned() };
    let shown = text(&report("check", Outcome::NoVerdict, vec![hostile]), PLAIN);
    assert!(!shown.contains(['\u{1b}', '\r', '\u{7}']), "{shown:?}");
    insta::assert_snapshot!(shown, @r"
    no verdict: rdma.mode ens1f0: first

    port ens1f0
      unknown  ens1f0\u{1b}[2J is fine  (rdma.mode)
          why       first
                    second\r\u{7}
    ");
}
