use super::*;
use crate::host::linux::fixture::Fixture;

fn read_fixture(fixture: &Fixture) -> Userspace {
    read(&Roots::below(fixture.root())).get().expect("known").clone()
}

#[test]
fn libraries_providers_drivers_and_nodes_are_found_where_the_loader_looks() {
    let fixture = Fixture::new();
    fixture
        .file("etc/ld.so.conf", "include ld.so.conf.d/*.conf")
        .file("etc/ld.so.conf.d/rdma.conf", "# ours\n/opt/rdma/lib")
        .file("etc/ld.so.conf.d/notes.txt", "/opt/other")
        .file("opt/rdma/lib/libibverbs.so.1", "")
        .file("usr/lib64/librdmacm.so.1", "")
        .file("usr/lib64/libibverbs/libirdma-rdmav34.so", "")
        .file("usr/lib64/libibverbs/README", "")
        .file("etc/libibverbs.d/irdma.driver", "driver irdma")
        .file("etc/libibverbs.d/irdma.driver.rpmsave", "driver old")
        .file("dev/infiniband/uverbs0", "")
        .file("dev/infiniband/rdma_cm", "");
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(
        read_fixture(&fixture),
        Userspace {
            libibverbs: Some("/opt/rdma/lib/libibverbs.so.1".to_owned()),
            librdmacm: Some("/usr/lib64/librdmacm.so.1".to_owned()),
            providers: names(&["libirdma-rdmav34.so"]),
            driver_files: names(&["irdma"]),
            nodes: names(&["rdma_cm", "uverbs0"]),
        }
    );
}

#[test]
fn an_old_rdma_core_has_its_providers_beside_the_library() {
    let fixture = Fixture::new();
    fixture.file("usr/lib64/libibverbs.so.1", "").file("usr/lib64/libmlx5-rdmav2.so", "");
    assert_eq!(read_fixture(&fixture).providers, BTreeSet::from(["libmlx5-rdmav2.so".to_owned()]));
}

#[test]
fn a_host_without_any_of_it_and_one_whose_includes_go_in_circles_are_read() {
    let fixture = Fixture::new();
    assert_eq!(read_fixture(&fixture), Userspace::default());
    fixture
        .file("etc/ld.so.conf", "include /etc/ld.so.conf")
        .file("etc/x/a.conf", "include x/*.conf");
    assert_eq!(read_fixture(&fixture), Userspace::default());
}

#[test]
fn the_loaders_list_says_which_library_and_so_which_providers_count() {
    let fixture = Fixture::new();
    fixture
        .bytes(
            "etc/ld.so.cache",
            &ld_cache::tests::cache(&[
                (0x0303, "libibverbs.so.1", "/opt/rdma/lib/libibverbs.so.1"),
                (0x0303, "librdmacm.so.1", "/opt/rdma/lib/librdmacm.so.1"),
            ]),
        )
        .file("opt/rdma/lib/libibverbs.so.1", "")
        .file("opt/rdma/lib/libibverbs/libmlx5-rdmav34.so", "")
        .file("usr/lib64/libibverbs.so.1", "")
        .file("usr/lib64/libibverbs/libirdma-rdmav34.so", "");
    let partly = read_fixture(&fixture);
    assert_eq!(
        partly.libibverbs.as_deref(),
        Some("/usr/lib64/libibverbs.so.1"),
        "a list that names a file which is gone is not believed"
    );
    fixture.file("opt/rdma/lib/librdmacm.so.1", "");
    let found = read_fixture(&fixture);
    assert_eq!(found.libibverbs.as_deref(), Some("/opt/rdma/lib/libibverbs.so.1"));
    assert_eq!(found.librdmacm.as_deref(), Some("/opt/rdma/lib/librdmacm.so.1"));
    assert_eq!(found.providers, BTreeSet::from(["libmlx5-rdmav34.so".to_owned()]));
}
