//! `check`, `plan`, `status` and `facts` on saved looks.

use roce_setup::facts::Facts;
use roce_setup::host::model::hosts;

use crate::support::Run;

const S1: &str = include_str!("../../profiles/s1-grt.yaml");
const MODE_ONLY: &str = include_str!("../../profiles/e810-rocev2.yaml");

#[test]
fn check_says_what_is_not_as_the_profile_says() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    insta::assert_snapshot!(run.run("check --facts host.json p.yaml"), @r"
    exit code 1
    not as the profile says: module.parameter irdma: 0, expected 1

    module ice
      ok       ice is loaded
      ok       ice is version >= 1.9.11: 1.9.11

    module irdma
      ok       irdma is loaded
      ok       irdma is version >= 1.11.16.6: 1.11.16.6
      FAIL     irdma runs with roce_ena=1  (module.parameter)
          expected  1
          observed  0 (/sys/module/irdma/parameters/roce_ena)
          cause     the module was loaded without this parameter; it can only be set at load time
          fix       roce-setup apply reloads the module with it

    port ens1f0
      ok       ens1f0 is there: ens1f0, ice, 0000:02:00.0
      ok       the RDMA driver of ens1f0 is loaded: irdma
      ok       ens1f0 has an RDMA device: rdmap2s0f0
      ok       ens1f0 is up
      ok       ens1f0 has carrier
      FAIL     ens1f0 has MTU 4200  (link.mtu)
          expected  4200
          observed  1500 (RTM_GETLINK, RTM_GETADDR)
          cause     the MTU has not been set, or something has set it since
          fix       roce-setup apply sets it; by hand: ip link set ens1f0 mtu 4200
      FAIL     ens1f0 has 100.0.1.10/24  (address.present)
          expected  100.0.1.10/24
          observed  no address (RTM_GETLINK, RTM_GETADDR)
          cause     the address has not been set since boot, or was removed
          fix       roce-setup apply sets it; by hand: ip address add 100.0.1.10/24 dev ens1f0
      FAIL     ens1f0 is in mode rocev2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     irdma was loaded in mode iwarp, for all its ports
          fix       roce-setup apply changes it
      ok       the RDMA port of ens1f0 is ACTIVE
      skipped  ens1f0 has a RoCE v2 GID for 100.0.1.10: needs address
      ok       the verbs provider of ens1f0 is installed: libirdma-rdmav34.so
      ok       the RDMA device of ens1f0 has its verbs node: /dev/infiniband/uverbs0

    host
      ok       libibverbs and librdmacm are installed
    ");
    insta::assert_snapshot!(run.run("check --facts host.json p.yaml --quiet"), @r"
    exit code 1
    not as the profile says: module.parameter irdma: 0, expected 1

    module irdma
      FAIL     irdma runs with roce_ena=1  (module.parameter)
          expected  1
          observed  0 (/sys/module/irdma/parameters/roce_ena)
          cause     the module was loaded without this parameter; it can only be set at load time
          fix       roce-setup apply reloads the module with it

    port ens1f0
      FAIL     ens1f0 has MTU 4200  (link.mtu)
          expected  4200
          observed  1500 (RTM_GETLINK, RTM_GETADDR)
          cause     the MTU has not been set, or something has set it since
          fix       roce-setup apply sets it; by hand: ip link set ens1f0 mtu 4200
      FAIL     ens1f0 has 100.0.1.10/24  (address.present)
          expected  100.0.1.10/24
          observed  no address (RTM_GETLINK, RTM_GETADDR)
          cause     the address has not been set since boot, or was removed
          fix       roce-setup apply sets it; by hand: ip address add 100.0.1.10/24 dev ens1f0
      FAIL     ens1f0 is in mode rocev2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     irdma was loaded in mode iwarp, for all its ports
          fix       roce-setup apply changes it
    ");
}

#[test]
fn equal_hosts_give_equal_text_whatever_their_names() {
    let text = |name: &str| {
        let mut facts = hosts::s1(1);
        facts.host = name.to_owned();
        let run = Run::on(&facts).file("p.yaml", MODE_ONLY);
        ["check", "plan"]
            .map(|command| run.run(&format!("{command} --facts host.json p.yaml")).to_string())
    };
    let texts = text("alpha");
    assert_eq!(texts, text("beta"));
    assert!(!texts.concat().contains("alpha"), "{}", texts.concat());
}

#[test]
fn check_in_json_is_one_whole_document_with_every_claim() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    let ran = run.run("check --facts host.json p.yaml --output json");
    let json = ran.json();
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(json["format"], 1);
    assert_eq!(json["command"], "check");
    assert_eq!(json["host"], "server1");
    assert_eq!(json["profile"], "s1-grt");
    assert_eq!(json["outcome"], "unmet");
    let findings = json["findings"].as_array().expect("findings");
    let mode = findings.iter().find(|one| one["id"] == "rdma.mode").expect("rdma.mode");
    assert_eq!(mode["subject"]["port"], "ens1f0");
    assert_eq!(mode["verdict"], "unmet");
    assert_eq!(mode["expected"], "rocev2");
    assert_eq!(mode["observed"], "iwarp");
    let skipped = findings.iter().find(|one| one["verdict"] == "skipped").expect("a skipped one");
    assert_eq!(skipped["needs"].as_str().map(str::is_empty), Some(false));
}

#[test]
fn plan_lists_the_changes_that_apply_would_make() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    insta::assert_snapshot!(
        run.run("plan --facts host.json p.yaml --allow-interface ens1f1"),
        @r"
    exit code 1
    not as the profile says: 4 changes are due

    for module.parameter of irdma: 0 -> 1
      change   remove irdma (that module alone)
      change   load irdma limits_sel=3 resource_profile=0 roce_ena=1 roce_port_cfg=0

    for link.mtu of ens1f0: 1500 -> 4200
      change   set ens1f0 MTU 4200

    for address.present of ens1f0: no address -> 100.0.1.10/24
      change   add 100.0.1.10/24 to ens1f0

    module ice
      ok       ice is loaded
      ok       ice is version >= 1.9.11: 1.9.11

    module irdma
      ok       irdma is loaded
      ok       irdma is version >= 1.11.16.6: 1.11.16.6
      due      irdma runs with roce_ena=1  (module.parameter)

    port ens1f0
      ok       ens1f0 is there: ens1f0, ice, 0000:02:00.0
      ok       the RDMA driver of ens1f0 is loaded: irdma
      ok       ens1f0 has an RDMA device: rdmap2s0f0
      ok       ens1f0 is up
      ok       ens1f0 has carrier
      due      ens1f0 has MTU 4200  (link.mtu)
      due      ens1f0 has 100.0.1.10/24  (address.present)
      due      ens1f0 is in mode rocev2  (rdma.mode)
      ok       the RDMA port of ens1f0 is ACTIVE
      skipped  ens1f0 has a RoCE v2 GID for 100.0.1.10: needs address
      ok       the verbs provider of ens1f0 is installed: libirdma-rdmav34.so
      ok       the RDMA device of ens1f0 has its verbs node: /dev/infiniband/uverbs0

    host
      ok       libibverbs and librdmacm are installed
    "
    );
}

#[test]
fn plan_refuses_to_hit_a_port_that_nobody_named() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    insta::assert_snapshot!(run.run("plan --facts host.json p.yaml --quiet"), @r"
    exit code 2
    refused, apply would change nothing: irdma is not reloaded
          why       the reload would also hit ens1f1, which the profile does not name under `rdma`: irdma is one module for all its ports
          fix       allow it by name: --allow-interface ens1f1

    module irdma
      FAIL     irdma runs with roce_ena=1  (module.parameter)
          expected  1
          observed  0 (/sys/module/irdma/parameters/roce_ena)
          cause     the module was loaded without this parameter; it can only be set at load time
          fix       roce-setup apply reloads the module with it

    port ens1f0
      FAIL     ens1f0 has MTU 4200  (link.mtu)
          expected  4200
          observed  1500 (RTM_GETLINK, RTM_GETADDR)
          cause     the MTU has not been set, or something has set it since
          fix       roce-setup apply sets it; by hand: ip link set ens1f0 mtu 4200
      FAIL     ens1f0 has 100.0.1.10/24  (address.present)
          expected  100.0.1.10/24
          observed  no address (RTM_GETLINK, RTM_GETADDR)
          cause     the address has not been set since boot, or was removed
          fix       roce-setup apply sets it; by hand: ip address add 100.0.1.10/24 dev ens1f0
      FAIL     ens1f0 is in mode rocev2  (rdma.mode)
          expected  rocev2
          observed  iwarp (/sys/class/infiniband/rdmap2s0f0/node_type)
          cause     irdma was loaded in mode iwarp, for all its ports
          fix       roce-setup apply changes it
    ");
    let ran = run.run("plan --facts host.json p.yaml --output json");
    let json = ran.json();
    assert_eq!((ran.code, json["outcome"].as_str()), (2, Some("refused")));
    assert_eq!(json["refusals"][0]["what"], "irdma is not reloaded");
}

#[test]
fn status_is_one_table() {
    let run = Run::on(&hosts::s1(1));
    insta::assert_snapshot!(run.run("status --facts host.json"), @r"
    exit code 0
    NETDEV  RDMA        PCI           DRIVER  VERSION                      FIRMWARE                  MODE   STATE   MTU   GID  RATE      NUMA
    eno1    -           0000:06:00.0  e1000e  3.10.0-1127.18.2.el7.x86_64  1.63, 0x800009fa          -      up      1500  -    1 Gb/s    0
    ens1f0  rdmap2s0f0  0000:02:00.0  ice     1.9.11                       3.20 0x8000d84c 1.3146.0  iwarp  ACTIVE  1500  -    100 Gb/s  0
    ens1f1  irdma1      0000:02:00.1  ice     1.9.11                       3.20 0x8000d84c 1.3146.0  iwarp  ACTIVE  1500  -    100 Gb/s  0
    ");
    let json = run.run("status --facts host.json --output json").json();
    let rows = json.as_array().expect("rows");
    let row = rows.iter().find(|row| row["netdev"] == "ens1f0").expect("ens1f0");
    assert_eq!(row["rdma"], "rdmap2s0f0");
    assert_eq!(row["mode"], "iwarp");
    assert_eq!(row["mtu"], 1500);
}

#[test]
fn facts_are_given_back_as_they_were_saved() {
    let facts = hosts::s1(1);
    let ran = Run::on(&facts).run("facts --facts host.json");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(Facts::from_json(ran.stdout.as_bytes(), "stdout"), Ok(facts));
}

#[test]
fn without_a_profile_a_saved_look_is_judged_by_the_general_claims() {
    insta::assert_snapshot!(Run::on(&hosts::s1(1)).run("check --facts host.json --quiet"), @r"
    exit code 0
    as RDMA hosts must be (no profile)
    ");
}

#[test]
fn colours_are_given_only_when_they_are_asked_for() {
    let run = Run::on(&hosts::s1(1)).file("p.yaml", S1);
    let plain = run.run("check --facts host.json p.yaml");
    let never = run.run("check --facts host.json p.yaml --color never");
    assert_eq!(never.to_string(), plain.to_string());
    assert!(!plain.stdout.contains('\u{1b}'), "{plain}");
    let always = run.run("check --facts host.json p.yaml --color always");
    assert!(always.stdout.contains("\u{1b}["), "{always}");
}

#[test]
fn a_host_without_rdma_is_not_green_by_absence() {
    insta::assert_snapshot!(Run::on(&hosts::soft()).run("check --facts host.json --quiet"), @r"
    exit code 2
    no verdict: this host has no RDMA device (/sys/class/infiniband)
    ");
}
