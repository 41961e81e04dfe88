//! The program starts on a host without the verbs libraries, because it is not linked to them.

use object::read::elf::{Dyn, ElfFile64, FileHeader};
use object::{LittleEndian, elf};

#[test]
fn the_program_needs_no_verbs_library_to_start() {
    let data = std::fs::read(env!("CARGO_BIN_EXE_roce-setup")).expect("the program");
    let file = ElfFile64::<LittleEndian>::parse(&*data).expect("an ELF file");
    let (endian, header) = (file.endian(), file.elf_header());
    let sections = header.sections(endian, &*data).expect("sections");
    let (dynamic, strings) =
        sections.dynamic(endian, &*data).expect("a readable section").expect("a dynamic section");
    let strings = sections.strings(endian, &*data, strings).expect("its strings");
    let mut needed: Vec<String> = dynamic
        .iter()
        .filter(|entry| entry.tag(endian) == elf::DT_NEEDED)
        .map(|entry| {
            let name = entry.string(endian, strings).expect("a name");
            String::from_utf8_lossy(name).into_owned()
        })
        .collect();
    needed.sort();
    assert!(needed.contains(&"libc.so.6".to_owned()), "{needed:?}");
    let verbs: Vec<&String> =
        needed.iter().filter(|name| name.contains("ibverbs") || name.contains("rdmacm")).collect();
    assert_eq!(verbs, Vec::<&String>::new(), "{needed:?}");
}
