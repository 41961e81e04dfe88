//! Recordings of real hosts: a folder per case with the facts before an apply (`before.json`), its
//! report (`report.json`) and the facts after it (`after.json`). The changes of the report, made on
//! [`Model`], must give the state that the kernel gave.
//!
//! `MODEL_RECORDINGS` names another folder of such folders: the lab puts fresh ones there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use roce_setup::facts::Facts;
use roce_setup::host::model::Model;
use roce_setup::host::{Act, Look};
use roce_setup::report::{ChangeResult, Report};

fn main() -> ExitCode {
    let root = std::env::var_os("MODEL_RECORDINGS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model"), PathBuf::from);
    let mut cases: Vec<PathBuf> = fs::read_dir(&root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    cases.sort();
    let mut failed = 0;
    for case in &cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        match compare(case) {
            Ok(changes) => println!("test {name} ({changes} changes) ... ok"),
            Err(why) => {
                failed += 1;
                println!("test {name} ... FAILED\n{why}");
            }
        }
    }
    if cases.is_empty() {
        println!("no recording under {}", root.display());
        failed += 1;
    }
    let word = if failed == 0 { "ok" } else { "FAILED" };
    let passed = cases.len().saturating_sub(failed);
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out"
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The number of changes that gave the same state.
fn compare(case: &Path) -> Result<usize, String> {
    let bytes = |name: &str| {
        let path = case.join(name);
        fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let facts = |name: &str| {
        let seen =
            Facts::from_json(&bytes(name)?, name).map_err(|error| format!("{name}: {error}"))?;
        Ok::<Facts, String>(with_card(seen))
    };
    let (before, after) = (facts("before.json")?, facts("after.json")?);
    let report: Report = serde_json::from_slice(&bytes("report.json")?)
        .map_err(|error| format!("report.json: {error}"))?;
    if report.changes.is_empty() {
        return Err("the report has no change: the recording proves nothing".to_owned());
    }
    let model = Model::new(before);
    for record in &report.changes {
        if record.result != ChangeResult::Made {
            return Err(format!("{}: not made: {:?}", record.change, record.result));
        }
        model.act(&record.change).map_err(|error| format!("{}: {error}", record.change))?;
    }
    // Time for carriers and devices to come.
    model.pause(Duration::from_secs(60));
    let mut differences: Vec<String> = (model.facts().state.differences(&after.state).iter())
        .map(|one| format!("{}: the model has {}, the kernel {}", one.what, one.before, one.now))
        .collect();
    differences.extend(modes(&model.facts(), &after));
    if differences.is_empty() { Ok(report.changes.len()) } else { Err(differences.join("\n")) }
}

/// The lab has no card: its irdma makes the RDMA devices of its ports out of rxe and siw. Here they
/// are what they stand for, devices of a card, which no change makes or removes by name.
fn with_card(mut facts: Facts) -> Facts {
    let netdevs = facts.identity.netdevs.get().cloned().unwrap_or_default();
    let is_card = |name: &str| {
        netdevs.get(name).is_some_and(|netdev| netdev.driver.as_deref() == Some("ice"))
    };
    if let Some(links) = facts.state.software.get_mut() {
        links.retain(|link| !is_card(&link.netdev));
    }
    for device in facts.identity.rdma.get_mut().into_iter().flat_map(|all| all.values_mut()) {
        let mut below =
            device.ports.values().filter_map(|port| port.netdev.get().and_then(Option::as_deref));
        if let Some(netdev) = below.find(|name| is_card(name)) {
            device.software = None;
            device.bdf = netdevs.get(netdev).and_then(|netdev| netdev.bdf);
        }
    }
    facts
}

/// The mode of every port, which follows from the state.
fn modes(model: &Facts, kernel: &Facts) -> Vec<String> {
    let of = |facts: &Facts| {
        let netdevs = facts.identity.netdevs.get().into_iter().flatten();
        let mut lines = Vec::new();
        for (netdev, _) in netdevs {
            for (device, _, port) in facts.rdma_of(netdev, None) {
                let mode = facts.mode_of(device, port);
                lines.push(format!("{netdev}: {:?}", mode.get()));
            }
        }
        lines
    };
    let (model, kernel) = (of(model), of(kernel));
    if model == kernel {
        return Vec::new();
    }
    vec![format!("modes: the model has {model:?}, the kernel {kernel:?}")]
}
