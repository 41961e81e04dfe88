//! Smoke tests: which proof, over which devices, the figures with their units, and whose they are.

use comfy_table::{CellAlignment, Table, presets::NOTHING};

use super::style::{Detail, Mark, Page, Tone, without_margin};
use crate::report::Report;
use crate::smoke::{Attribution, Ending, Figure, Kind, Role, SmokeOutcome};

pub(super) fn write(report: &Report, page: &mut Page) {
    for outcome in &report.smoke {
        if page.detail() != Detail::Quiet || outcome.ending != Ending::Passed {
            write_one(outcome, page);
        }
    }
}

fn write_one(outcome: &SmokeOutcome, page: &mut Page) {
    page.heading(&title(outcome));
    let (mark, text) = ending(outcome);
    page.marked(mark, &text, "");
    if outcome.kind == Kind::Loopback {
        page.particular("proves", "the device and the library, not the cable");
    }
    if let Some(role) = outcome.role.filter(|_| outcome.kind == Kind::Link) {
        page.particular(
            "role",
            match role {
                Role::Initiator => "this end connected and measured",
                Role::Responder => "the peer connected and measured",
            },
        );
    }
    for difference in &outcome.differences {
        let text =
            format!("{}: {} here, {} there", difference.what, difference.local, difference.peer);
        page.particular("differs", &text);
    }
    if !outcome.figures.is_empty() {
        page.block(&table(&outcome.figures), 6);
    }
    if !outcome.figures.is_empty() {
        attribution("traffic", &outcome.attribution, page);
    }
    if let Some(theirs) = outcome.peer_report.as_ref().and_then(|peer| peer.attribution.as_ref()) {
        attribution("at peer", theirs, page);
    }
}

/// Both ends with their devices and addresses.
fn title(outcome: &SmokeOutcome) -> String {
    let here = format!("{} ({}) {}", outcome.netdev, outcome.device, outcome.local);
    match (&outcome.kind, &outcome.peer_report) {
        (Kind::Loopback, _) => format!("loopback test of {here}"),
        (Kind::Link, Some(peer)) => {
            format!("smoke test {here} <-> {} {} ({})", peer.address, peer.netdev, peer.device)
        }
        (Kind::Link, None) => format!("smoke test {here} <-> {}", outcome.peer),
    }
}

fn ending(outcome: &SmokeOutcome) -> (Mark, String) {
    let bad = Mark { word: "FAIL", symbol: '✗', tone: Tone::Bad };
    let warn = Mark { word: "warn", symbol: '!', tone: Tone::Caution };
    match &outcome.ending {
        Ending::Passed => {
            let text = match outcome.kind {
                Kind::Link => "link tested: connected, and all data arrived as it was sent",
                Kind::Loopback => "connected, and all data arrived as it was sent",
            };
            (Mark { word: "ok", symbol: '✓', tone: Tone::Good }, text.to_owned())
        }
        Ending::Failed => {
            let stage = outcome.diagnosis().map(|stage| stage.observed.clone());
            (bad, stage.unwrap_or_else(|| "a step failed".to_owned()))
        }
        Ending::PeerNeverCame => {
            let text = format!(
                "link NOT tested: nobody answered at {} TCP port {}; later: roce-setup smoke --peer {} --interface {}",
                outcome.peer, outcome.port, outcome.peer, outcome.netdev
            );
            (warn, text)
        }
        Ending::Refused { why } => (
            Mark { word: "unknown", symbol: '?', tone: Tone::Caution },
            format!("not tested: {why}"),
        ),
    }
}

fn table(figures: &[Figure]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(["test", "size", "figure", "samples", "data"]);
    for figure in figures {
        table.add_row([
            figure.test.to_string(),
            size(figure.size_bytes),
            value(figure),
            figure.samples.to_string(),
            if figure.checked { "checked" } else { "NOT checked" }.to_owned(),
        ]);
    }
    for column in [1, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    without_margin(&table)
}

fn value(figure: &Figure) -> String {
    match (&figure.latency, &figure.bandwidth) {
        (Some(latency), _) => format!("{:.2} us median", latency.p50_us),
        (None, Some(rate)) => format!("{:.3} Gb/s", rate.mean_gbit_per_s),
        (None, None) => "none".to_owned(),
    }
}

/// Binary sizes where they are whole.
fn size(bytes: u32) -> String {
    match bytes {
        0 => "0 B".to_owned(),
        _ if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

fn attribution(name: &str, attribution: &Attribution, page: &mut Page) {
    match attribution {
        Attribution::Attributable { counters, sent_bytes, received_bytes, .. } => {
            let mut text = format!("crossed the port by its own counters ({counters})");
            if page.detail() == Detail::Verbose {
                text.push_str(&format!(": {sent_bytes} bytes sent, {received_bytes} received"));
            }
            page.particular(name, &text);
        }
        Attribution::NotAttributable { why } => {
            page.particular(name, &format!("NOT attributable to this port: {why}"));
        }
        Attribution::NotApplicable { why } => {
            page.particular(name, &format!("not attributed: {why}"));
        }
    }
}
