use super::*;
use crate::host::linux::fixture::Fixture;

fn host() -> Fixture {
    let fixture = Fixture::new();
    fixture
        .directory("proc/1/fd")
        .file("proc/1/comm", "systemd")
        .file("proc/77/comm", "wrf.exe")
        .link("proc/77/fd/0", "/dev/null")
        .link("proc/77/fd/5", "/dev/infiniband/uverbs1")
        .link("proc/77/fd/6", "/dev/infiniband/uverbs1")
        .link("proc/77/fd/7", "/dev/infiniband/rdma_cm (deleted)")
        .link("proc/99/fd/3", "/dev/infiniband/uverbs0")
        .link("proc/80/fd/3", "/home/user/uverbs0.txt")
        .bytes(
            "proc/self/mountinfo",
            b"21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n\
            22 21 0:40 / /scratch rw - nfs4 srv:/scratch rw,proto=rdma,addr=100.0.1.1\n\
            23 21 0:41 / /lustre rw - lustre 100.0.1.2@o2ib:/fs rw\n",
        );
    fixture
}

fn devices() -> Seen<BTreeMap<String, RdmaDevice>> {
    let device = RdmaDevice {
        uverbs: Seen::known(Some("uverbs1".to_owned()), "/sys/class/infiniband_verbs"),
        ..RdmaDevice::default()
    };
    Seen::known(BTreeMap::from([("rdmap2s0f0".to_owned(), device)]), "/sys/class/infiniband")
}

#[test]
fn processes_modules_and_mounts_that_use_rdma_are_named() {
    let kernel = KernelUser {
        owner: "nvme_rdma".into(),
        device: "rdmap2s0f0".into(),
        resource: "QP".into(),
    };
    let seen = read(&host().proc(), 99, &devices(), &|| Ok(vec![kernel.clone()]));
    let process = |node: &str, device: Option<&str>| ProcessUser {
        pid: 77,
        command: "wrf.exe".to_owned(),
        node: node.to_owned(),
        device: device.map(str::to_owned),
    };
    let users = seen.get().expect("known");
    let expected = [
        process("/dev/infiniband/rdma_cm", None),
        process("/dev/infiniband/uverbs1", Some("rdmap2s0f0")),
    ];
    assert_eq!(users.processes, expected);
    assert_eq!(users.kernel, std::slice::from_ref(&kernel));
    assert_eq!(users.mounts, ["/scratch (addr=100.0.1.1,proto=rdma,rw)", "/lustre (rw)"]);
}

#[test]
fn a_scan_that_could_not_see_everything_is_not_an_empty_one() {
    let fixture = Fixture::new();
    fixture.directory("proc/5/fd");
    let seen = read(&fixture.proc(), 5, &devices(), &|| Ok(Vec::new()));
    assert_eq!(seen.why_not(), "/proc: process 1 is hidden, so others may be too (run as root)");
    let refused = || Err(Refusal::of(libc::EPERM, None));
    assert_eq!(
        read(&host().proc(), 99, &devices(), &refused).why_not(),
        "RDMA netlink (kernel-owned queue pairs and connections): Operation not permitted (EPERM)"
    );
    // Not a folder stands for one that may not be read: tests may run as root.
    let fixture = host();
    fixture.file("proc/101/fd", "");
    let seen = read(&fixture.proc(), 99, &devices(), &|| Ok(Vec::new()));
    assert_eq!(seen.why_not(), "/proc/*/fd: cannot read /proc/101/fd: Not a directory (ENOTDIR)");
}

#[test]
fn without_an_rdma_device_the_kernel_is_not_asked() {
    let none =
        Seen::known(BTreeMap::new(), "/sys/class/infiniband (absent: ib_core is not loaded)");
    let seen = read(&host().proc(), 99, &none, &|| panic!("asked, which may load ib_core"));
    assert_eq!(seen.get().expect("known").kernel, []);
}
