use super::*;
use crate::facts::{Address, NetdevKind};
use crate::host::linux::fixture::Fixture;
use crate::host::linux::mounts;

fn states(all: &[(&str, &str)]) -> BTreeMap<String, LinkState> {
    let mut states: BTreeMap<String, LinkState> = BTreeMap::new();
    for (netdev, prefix) in all {
        let address = Address::plain(prefix.parse().expect("a prefix"));
        states.entry((*netdev).to_owned()).or_default().addresses.insert(address);
    }
    states
}

fn path(netdev: &str, destination: &str) -> Path {
    Path { netdev: netdev.to_owned(), destination: destination.parse().expect("a prefix") }
}

fn proc(ssh: &str) -> Fixture {
    let fixture = Fixture::new();
    fixture
        .bytes("proc/self/environ", b"PATH=/bin\0")
        .file("proc/self/status", "Name:\troce-setup\nPPid:\t40")
        .bytes("proc/40/environ", format!("TERM=x\0SSH_CONNECTION={ssh}\0").as_bytes())
        .file("proc/40/status", "PPid:\t1");
    fixture
}

#[test]
fn a_default_route_over_a_bond_keeps_its_members_and_a_vlans_port() {
    let netdev = |master: Option<&str>, parent: Option<&str>, kind| Netdev {
        master: master.map(str::to_owned),
        parent: parent.map(str::to_owned),
        kind,
        ..Netdev::default()
    };
    let netdevs = BTreeMap::from([
        ("bond0".to_owned(), netdev(None, None, NetdevKind::Virtual("bond".into()))),
        ("bond0.7".to_owned(), netdev(None, Some("bond0"), NetdevKind::Virtual("vlan".into()))),
        ("ens1f0".to_owned(), netdev(Some("bond0"), None, NetdevKind::Physical)),
        ("ens1f1".to_owned(), netdev(None, None, NetdevKind::Physical)),
    ]);
    let found = find(
        &Fixture::new().proc(),
        &[],
        &netdevs,
        &BTreeMap::new(),
        &[path("bond0.7", "0.0.0.0/0")],
    );
    let reason = BTreeSet::from([Lifeline::DefaultRoute]);
    let expected = ["bond0", "bond0.7", "ens1f0"].map(|name| (name.to_owned(), reason.clone()));
    assert_eq!(found, BTreeMap::from(expected));
}

#[test]
fn the_callers_session_is_found_through_sudo() {
    let states = states(&[("eno1", "192.168.4.144/24"), ("ens1f0", "100.0.1.10/24")]);
    let session = |ssh: &str| find(&proc(ssh).proc(), &[], &BTreeMap::new(), &states, &[]);
    let reason = |server: &str| BTreeSet::from([Lifeline::SshSession(server.to_owned())]);
    let found = session("192.168.4.1 50022 192.168.4.144 22");
    assert_eq!(found, BTreeMap::from([("eno1".to_owned(), reason("192.168.4.144"))]));
    // The server's address is a translated one: the way back to the client counts.
    let found = session("100.0.1.77 50022 203.0.113.5 22");
    assert_eq!(found, BTreeMap::from([("ens1f0".to_owned(), reason("203.0.113.5"))]));
    assert_eq!(session("garbage"), BTreeMap::new());
}

#[test]
fn a_network_file_system_is_carried_by_the_longest_prefix() {
    let fixture = Fixture::new();
    fixture.bytes(
        "proc/self/mountinfo",
        b"22 21 0:40 / /home rw - nfs4 srv:/home rw,clientaddr=0.0.0.0,addr=10.9.0.1\n\
          23 21 0:41 / /fs rw - lustre 100.0.1.2@tcp:/fs rw\n\
          24 21 0:42 / /tmp rw - tmpfs tmpfs rw,addr=100.0.1.2\n",
    );
    let mounts = mounts::read(&fixture.proc()).expect("mounts");
    let states = states(&[("eno1", "192.168.4.144/24"), ("ens1f0", "100.0.1.10/24")]);
    let paths = [path("eno1", "10.0.0.0/8"), path("ens1f0", "10.9.0.0/16")];
    let found = find(&fixture.proc(), &mounts, &BTreeMap::new(), &states, &paths);
    let reasons =
        BTreeSet::from([Lifeline::Mount("/home".to_owned()), Lifeline::Mount("/fs".to_owned())]);
    assert_eq!(found, BTreeMap::from([("ens1f0".to_owned(), reasons)]));
}
