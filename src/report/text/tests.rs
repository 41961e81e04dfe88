//! What people read, word for word, for every verdict, result and ending.

mod changes;
mod smoke;

use super::{Detail, TextStyle, write_text};
use crate::claims::{Rung, Severity, Subject};
use crate::report::{FORMAT, Finding, Outcome, Report, Verdict};

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
