use super::*;
use crate::host::model::{Model, hosts};

fn mtu(mtu: u32) -> Change {
    Change::SetMtu { netdev: "ens1f0".to_owned(), mtu }
}

fn with(at: usize, fault: Fault) -> Faulty<Model> {
    Faulty::new(hosts::s1_machine(1), [Injection { at, fault }])
}

fn mtu_of(host: &Faulty<Model>) -> u32 {
    let facts = host.look(&Scope::default()).unwrap();
    facts.state.links.get().unwrap()["ens1f0"].mtu
}

#[test]
fn a_refusal_has_the_errno_and_no_effect_at_its_position_alone() {
    let texts = [
        (Fault::NotPermitted, libc::EPERM, "set ens1f0 MTU 4200: Operation not permitted (EPERM)"),
        (Fault::Busy, libc::EBUSY, "set ens1f0 MTU 4200: Device or resource busy (EBUSY)"),
        (Fault::NoDevice, libc::ENODEV, "set ens1f0 MTU 4200: No such device (ENODEV)"),
        (Fault::NoSpace, libc::ENOSPC, "set ens1f0 MTU 4200: No space left on device (ENOSPC)"),
        (Fault::TimedOut, libc::ETIMEDOUT, "set ens1f0 MTU 4200: Connection timed out (ETIMEDOUT)"),
    ];
    for (fault, errno, text) in texts {
        let host = with(1, fault);
        assert_eq!(host.act(&mtu(2000)), Ok(()));
        let error = host.act(&mtu(4200)).unwrap_err();
        assert_eq!((error.errno, error.to_string().as_str()), (Some(errno), text));
        assert_eq!(mtu_of(&host), 2000);
        assert_eq!(host.act(&mtu(4200)), Ok(()));
        assert_eq!(mtu_of(&host), 4200);
        let log: Vec<_> = host.acted().iter().map(|a| (a.fault, a.answer.is_ok())).collect();
        assert_eq!(log, [(None, true), (Some(fault), false), (None, true)]);
        assert_eq!(host.met(), 1);
    }
}

#[test]
fn an_ignored_change_claims_success() {
    let host = with(0, Fault::Ignored);
    assert_eq!(host.act(&mtu(4200)), Ok(()));
    assert_eq!(mtu_of(&host), 1500);
}

#[test]
fn vanished_devices_come_back_when_the_module_is_removed_and_loaded_again() {
    let host = with(1, Fault::Vanished);
    let devices = |host: &Faulty<Model>| {
        let facts = host.look(&Scope::everything([])).unwrap();
        let listed = facts.evidence.verbs.get().unwrap().len();
        (hosts::devices(&facts).len(), listed)
    };
    let remove = Change::RemoveModule { module: "irdma".to_owned() };
    let load = Change::LoadModule { module: "irdma".to_owned(), parameters: Default::default() };
    assert_eq!(host.act(&remove), Ok(()));
    assert_eq!(host.act(&load), Ok(()));
    assert_eq!(devices(&host), (0, 0));
    assert_eq!(hosts::devices(&host.host().facts()).len(), 2);
    assert_eq!(host.act(&remove), Ok(()));
    assert_eq!(host.act(&load), Ok(()));
    assert_eq!(devices(&host), (2, 2));
}

#[test]
fn faults_are_enumerated_and_written_as_data() {
    assert_eq!(Injection::each(3).count(), 21);
    assert_eq!(Injection::pairs(4).count(), 6 * 49);
    let first: Vec<String> = Injection::each(1).flatten().map(|i| i.to_string()).collect();
    assert_eq!(first[1], "change 0 refused with EBUSY");
    assert_eq!(first[5], "change 0 silently ignored");
    assert_eq!(first[6], "change 0 made, and the RDMA devices vanish");
    let injection = Injection { at: 2, fault: Fault::NoSpace };
    let text = serde_json::to_string(&injection).unwrap();
    assert_eq!(text, r#"{"at":2,"fault":"no-space"}"#);
    assert_eq!(serde_json::from_str::<Injection>(&text).unwrap(), injection);
}
