//! Files that nobody writes by accident: they end in an error, soon and without much memory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::profile::Profile;

const GOOD: &str = include_str!("../../../profiles/s1-grt.yaml");

/// What is mutated: profiles that use every key.
const BASES: [&str; 5] = [
    GOOD,
    include_str!("../../../tests/fixtures/profiles/good/design-example.yaml"),
    include_str!("../../../tests/fixtures/profiles/good/every-way-to-match.yaml"),
    include_str!("../../../tests/fixtures/profiles/good/expectations.yaml"),
    include_str!("../../../tests/fixtures/profiles/good/software-devices.yaml"),
];

/// The first line of the error; far more time than any file may take is a failure.
fn refused(content: &[u8]) -> String {
    let begin = Instant::now();
    let error = Profile::parse(content, "p").unwrap_err().to_string();
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert!(error.len() < 40_000, "{} bytes of error", error.len());
    error.lines().next().unwrap().to_owned()
}

#[test]
fn an_alias_bomb_ends_in_an_error() {
    let mut bomb = String::from("version: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let below = format!("*a{}", level - 1);
        writeln!(bomb, "a{level}: &a{level} [{}]", vec![below; 10].join(", ")).unwrap();
    }
    let text = refused(bomb.as_bytes());
    assert!(text.ends_with("the aliases stand for more than 10000 values"), "{text}");
}

#[test]
fn deep_nesting_ends_in_an_error() {
    for (open, close) in [("[", "]"), ("{a: ", "}")] {
        let deep = format!("version: 1\na: {}{}\n", open.repeat(100_000), close.repeat(100_000));
        let text = refused(deep.as_bytes());
        assert!(text.ends_with("lists and keys are nested more than 24 deep"), "{text}");
    }
    let text = refused(format!("{}x\n", "- ".repeat(100_000)).as_bytes());
    assert!(text.ends_with("lists and keys are nested more than 24 deep"), "{text}");
    let mut steps = String::new();
    for depth in 0..1000 {
        writeln!(steps, "{:depth$}a:", "").unwrap();
    }
    let text = refused(steps.as_bytes());
    assert!(text.ends_with("lists and keys are nested more than 24 deep"), "{text}");
}

#[test]
fn a_file_over_1_mib_is_refused_before_it_is_parsed() {
    let large = format!("version: 1\n#{}\n", "x".repeat(1 << 20));
    assert_eq!(
        refused(large.as_bytes()),
        "cannot read the profile p: it is larger than 1 MiB, which no profile is"
    );
}

#[test]
fn a_megabyte_of_one_thing_ends_soon() {
    let long_key = format!("version: 1\n{}: 1\n", "k".repeat(1_000_000));
    let many_keys =
        (0..90_000).fold(String::from("version: 1\n"), |text, n| text + &format!("k{n}: 1\n"));
    let same_keys = format!("version: 1\n{}", "name: x\n".repeat(120_000));
    let many_hosts = format!("version: 1\nhosts: [{}]\n", "h,".repeat(400_000));
    let brackets = format!("version: 1\nhosts: x{}[0-65535]\n", "[1]".repeat(300_000));
    let quotes = format!("version: 1\nname: \"{}\n", "\\".repeat(1_000_000));
    let tabs = "\tx\n".repeat(300_000);
    let lines = "\n".repeat(1 << 20);
    for content in [long_key, many_keys, same_keys, many_hosts, brackets, quotes, tabs, lines] {
        refused(content.as_bytes());
    }
}

#[test]
fn hosts_times_addresses_are_bounded() {
    let mut text = String::from("version: 1\nhosts: n[1-65536]\ninterfaces:\n");
    for number in 0..200 {
        writeln!(text, "  - name: e{number}").unwrap();
    }
    assert_eq!(
        refused(text.as_bytes()),
        "p:2:8: 65536 hosts with 200 interfaces and addresses are more than one profile can have"
    );
    let many = (0..64).fold(String::new(), |text, n| {
        text + &format!("{{ip: \"10.{n}.[0-255].[0-255]\", prefix-length: 6}},")
    });
    let text = format!(
        "version: 1\nhosts: n[1-65536]\ninterfaces:\n  - name: e\n    ipv4: {{address: [{many}]}}\n"
    );
    assert_eq!(
        refused(text.as_bytes()),
        "p:5:215: with this list there are more than 262144 addresses, one for each host counted"
    );
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let reason = |path: &Path| {
        let text = Profile::load(path).unwrap_err().to_string();
        text.rsplit(": ").next().unwrap().to_owned()
    };
    assert_eq!(reason(folder.path()), "it is a folder; name the file in it");
    assert_eq!(reason(Path::new("/dev/zero")), "it is a device or a pipe, not a file");
    assert_eq!(reason(&folder.path().join("none")), "there is no such file");
    let fifo = folder.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(reason(&fifo), "it is a device or a pipe, not a file");
    let large = folder.path().join("large");
    let mut file = std::fs::File::create(&large).unwrap();
    file.write_all(&vec![b'#'; (1 << 20) + 1]).unwrap();
    assert_eq!(reason(&large), "it is larger than 1 MiB, which no profile is");
    file.set_len(1 << 40).unwrap();
    assert_eq!(reason(&large), "it is larger than 1 MiB, which no profile is");
}

#[test]
fn a_good_file_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("grt.yaml");
    std::fs::write(&path, GOOD).unwrap();
    assert_eq!(Profile::load(&path).unwrap().hosts(), ["server1", "server2"]);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let plain = Profile::parse(GOOD.as_bytes(), "p").unwrap();
    let windows = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    let windows = Profile::parse(windows.as_bytes(), "p").unwrap();
    for host in plain.hosts() {
        assert_eq!(plain.for_host(host).unwrap(), windows.for_host(host).unwrap());
    }
}

/// A change of a good profile: some bytes at a place are replaced by others.
fn mutate(base: &str, changes: &[(usize, usize, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = base.as_bytes().to_vec();
    for (at, remove, insert) in changes {
        let start = at % (bytes.len() + 1);
        let end = (start + remove).min(bytes.len());
        bytes.splice(start..end, insert.iter().copied());
    }
    bytes
}

/// Pieces that mean something to YAML or to the schema.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words = [
        "\t",
        "\r",
        "\n",
        "  ",
        ": ",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a",
        "<<",
        "!!str ",
        "|\n",
        ">",
        "\"",
        "'",
        "#",
        "---\n",
        "...",
        "%",
        "@",
        "[1-99999]",
        "0",
        "-1",
        "~",
        "yes",
        "1e9",
        ".nan",
        "\u{feff}",
        "é",
        "name: ",
        "hosts: ",
        "smoke: ",
        "peer: ring",
        "\u{0}",
        "\u{85}",
        "\u{2028}",
    ];
    prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(|word| word.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let result = Profile::parse(&bytes, "p");
        // Random bytes are never a profile; the text of the error is made, too.
        prop_assert!(!result.unwrap_err().to_string().is_empty());
    }

    #[test]
    fn a_mutated_profile_is_parsed_or_refused_and_never_panics(
        base in proptest::sample::select(BASES.to_vec()),
        changes in proptest::collection::vec((any::<usize>(), 0usize..30, piece()), 1..6),
    ) {
        let begin = Instant::now();
        match Profile::parse(&mutate(base, &changes), "p") {
            Ok(profile) => {
                for host in profile.hosts() {
                    let chosen = profile.for_host(host);
                    prop_assert_eq!(chosen.unwrap().host, Some(host.clone()));
                }
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        prop_assert!(begin.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_host_list_is_expanded_or_refused_and_counts_what_it_makes(text in "[a-c0-9\\[\\],-]{0,24}") {
        if let Ok(list) = crate::profile::hostlist::HostList::parse(&text) {
            prop_assert_eq!(list.len(), list.expand().len());
        }
    }
}
