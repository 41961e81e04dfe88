//! Plans and applies: what is changed, what became of it, and what is refused.

use super::{PLAIN, iwarp, loaded, mtu, port, report, text, with};
use crate::change::Change;
use crate::claims::Refusal;
use crate::facts::Difference;
use crate::report::{ChangeRecord, ChangeResult, Detail, Outcome};

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
