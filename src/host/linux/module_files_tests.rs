use std::io::Write;

use proptest::prelude::*;

use super::*;

/// A 64-bit relocatable ELF file with nothing but a .modinfo section.
fn module(modinfo: &[u8]) -> Vec<u8> {
    let names = b"\0.modinfo\0.shstrtab\0";
    let (info_at, names_at) = (64, 64 + modinfo.len());
    let sections_at = (names_at + names.len()).next_multiple_of(8);
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1];
    file.resize(16, 0);
    file.extend(1u16.to_le_bytes()); // relocatable
    file.extend(62u16.to_le_bytes()); // x86-64
    file.extend(1u32.to_le_bytes());
    file.extend([0; 16]); // no entry, no segments
    file.extend((sections_at as u64).to_le_bytes());
    file.extend([0; 4]);
    for half in [64u16, 0, 0, 64, 3, 2] {
        file.extend(half.to_le_bytes());
    }
    file.extend(modinfo);
    file.extend(names);
    file.resize(sections_at + 64, 0);
    for (name, kind, at, size) in
        [(1u32, 1u32, info_at, modinfo.len()), (10, 3, names_at, names.len())]
    {
        file.extend(name.to_le_bytes());
        file.extend(kind.to_le_bytes());
        file.extend([0; 16]);
        file.extend((at as u64).to_le_bytes());
        file.extend((size as u64).to_le_bytes());
        file.extend([0; 8]);
        file.extend(1u64.to_le_bytes());
        file.extend([0; 8]);
    }
    file
}

const IRDMA: &[u8] =
    b"version=1.11.16.6\0parm=roce_ena:RoCEv2 on all ports\0parmtype=roce_ena:uint\0\
parmtype=limits_sel:uint\0srcversion=4EF4DC399DBC6D9ECB96EFE\0depends=ib_core,ice\0\
vermagic=3.10.0-1127.18.2.el7.x86_64 SMP mod_unload modversions \0";

#[test]
fn modinfo_is_read() {
    let read = decode(&module(IRDMA), "/lib/modules/r/updates/irdma.ko").expect("a module");
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(
        read,
        ModuleFile {
            path: "/lib/modules/r/updates/irdma.ko".to_owned(),
            version: Some("1.11.16.6".to_owned()),
            srcversion: Some("4EF4DC399DBC6D9ECB96EFE".to_owned()),
            vermagic: Some("3.10.0-1127.18.2.el7.x86_64 SMP mod_unload modversions".to_owned()),
            in_tree: false,
            signed: false,
            parameters: names(&["limits_sel", "roce_ena"]),
            depends: names(&["ib_core", "ice"]),
        }
    );
}

#[test]
fn an_in_kernel_module_is_signed_and_has_neither_version_nor_parameters() {
    let mut file = module(b"intree=Y\0depends=\0");
    file.extend(b"....~Module signature appended~\n");
    let read = decode(&file, "irdma.ko").expect("a module");
    assert!(read.in_tree && read.signed && read.version.is_none());
    assert!(read.parameters.is_empty() && read.depends.is_empty());
}

#[test]
fn files_that_are_no_modules_say_so() {
    assert_eq!(decode(b"", "x"), Err("not a module file: Could not read file magic".to_owned()));
    assert_eq!(
        decode(&module(b"")[..200], "x").map_err(|why| why.starts_with("not a module file")),
        Err(true)
    );
}

#[test]
fn modules_are_found_as_modprobe_finds_them_and_unpacked() {
    let folder = tempfile::tempdir().expect("a folder");
    let release = folder.path().join("6.1.0");
    std::fs::create_dir_all(release.join("updates")).expect("made");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&module(IRDMA)).expect("packed");
    std::fs::write(release.join("updates/irdma.ko.gz"), gz.finish().expect("packed"))
        .expect("written");
    let mut xz = Vec::new();
    lzma_rs::xz_compress(&mut module(b"version=1.9.11\0").as_slice(), &mut xz).expect("packed");
    std::fs::write(release.join("updates/ice.ko.xz"), xz).expect("written");
    let zst = ruzstd::encoding::compress_to_vec(
        module(b"intree=Y\0").as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    std::fs::write(release.join("updates/rdma-rxe.ko.zst"), zst).expect("written");
    std::fs::write(release.join("updates/siw.ko"), b"not ELF").expect("written");
    let list = "updates/irdma.ko.gz: updates/ice.ko.xz\nupdates/ice.ko.xz:\nupdates/rdma-rxe.ko.zst:\nupdates/siw.ko:\n";
    std::fs::write(release.join("modules.dep"), list).expect("written");
    let wanted = ["irdma", "ice", "rdma_rxe", "siw", "mlx5_core"].map(str::to_owned).into();
    let found = read(folder.path(), "6.1.0", &wanted);
    let version =
        |name: &str| found[name].get().expect("read").as_ref().expect("a file").version.clone();
    assert_eq!(version("irdma").as_deref(), Some("1.11.16.6"));
    assert_eq!(version("ice").as_deref(), Some("1.9.11"));
    assert!(found["rdma_rxe"].get().expect("read").as_ref().expect("a file").in_tree);
    assert_eq!(found["mlx5_core"].get(), Some(&None));
    assert!(
        found["siw"].why_not().ends_with("siw.ko: not a module file: Could not read file magic"),
        "{:?}",
        found["siw"]
    );
}

#[test]
fn without_a_list_of_modules_nothing_is_known() {
    let found = read(Path::new("/nonexistent"), "6.1.0", &["ice".to_owned()].into());
    let expected =
        Seen::unknown("No such file or directory (ENOENT)", "/nonexistent/6.1.0/modules.dep");
    assert_eq!(found["ice"], expected);
}

#[test]
fn a_bomb_is_not_unpacked() {
    let mut bomb = Bounded(vec![0; usize::try_from(LARGEST).expect("64 bits")]);
    assert_eq!(
        bomb.write(&[0]).expect_err("refused").to_string(),
        "larger than 256 MiB when unpacked"
    );
}

proptest! {
    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for ending in ["ko", "xz", "zst", "gz"] {
            let _ = unpack(bytes.as_slice(), ending).and_then(|bytes| decode(&bytes, "x"));
        }
    }

    #[test]
    fn damaged_modules_never_panic(at in 0usize..400, byte in any::<u8>(), kept in 0usize..600) {
        let mut file = module(IRDMA);
        let at = at % file.len();
        file[at] = byte;
        file.truncate(kept.max(1));
        let _ = decode(&file, "x");
    }
}
