//! Every file in `tests/fixtures/profiles` is a case: a new one needs no code.
//!
//! `bad/<what-is-wrong>.yaml` has the whole error text beside it in `.txt`, `good/<name>.yaml` the
//! parsed value of each of its hosts in `.json`. With `UPDATE_FIXTURES=1` the files beside are
//! written anew, to be read before they are committed.

use std::fs;
use std::path::{Path, PathBuf};

use crate::profile::Profile;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The YAML files of a folder, by name.
fn cases(name: &str, at_least: usize) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder(name))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    assert!(files.len() >= at_least, "{name} has only {} cases", files.len());
    files
}

fn parse(path: &Path) -> Result<Profile, String> {
    let name = path.file_name().unwrap().to_str().unwrap();
    Profile::parse(&fs::read(path).unwrap(), name).map_err(|error| error.to_string())
}

/// Compares with the file beside, or writes it.
fn hold(path: &Path, extension: &str, found: &str, failures: &mut Vec<String>) {
    let beside = path.with_extension(extension);
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        fs::write(&beside, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&beside).unwrap_or_default();
    if expected != found {
        failures.push(format!("{}\n--- expected\n{expected}\n--- found\n{found}", path.display()));
    }
}

#[test]
fn every_bad_profile_is_refused_with_the_text_beside_it() {
    let mut failures = Vec::new();
    for path in cases("tests/fixtures/profiles/bad", 170) {
        match parse(&path) {
            Ok(_) => failures.push(format!("{} was accepted", path.display())),
            Err(text) => hold(&path, "txt", &format!("{text}\n"), &mut failures),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_good_profile_has_the_value_beside_it() {
    let mut failures = Vec::new();
    for path in cases("tests/fixtures/profiles/good", 10) {
        let profile = match parse(&path) {
            Ok(profile) => profile,
            Err(text) => {
                failures.push(format!("{} was refused:\n{text}", path.display()));
                continue;
            }
        };
        let mut hosts = profile.hosts().to_vec();
        if hosts.is_empty() {
            hosts.push("any".into());
        }
        let values: Vec<_> = hosts.iter().map(|host| profile.for_host(host).unwrap()).collect();
        let text = serde_json::to_string_pretty(&values).unwrap();
        hold(&path, "json", &format!("{text}\n"), &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_shipped_profile_parses_and_names_itself_as_its_file() {
    let mut names = Vec::new();
    for path in cases("profiles", 4) {
        let profile = parse(&path).unwrap_or_else(|text| panic!("{text}"));
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let host = profile.hosts().first().map_or("any", String::as_str);
        let chosen = profile.for_host(host).unwrap();
        assert_eq!(chosen.name.as_deref(), Some(stem));
        assert!(chosen.interfaces.iter().all(|interface| interface.rdma.is_some()), "{stem}");
        names.push(stem.to_owned());
    }
    for wanted in ["e810-rocev2", "s1-femrice", "s1-grt", "soft-roce"] {
        assert!(names.iter().any(|name| name == wanted), "{wanted} is missing");
    }
}
