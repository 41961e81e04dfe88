//! The ports of a host at a glance: one table from one look, and the same rows as JSON.

mod row;

pub use row::{Row, rows};

use std::io::{self, Write};

use comfy_table::{Table, presets::NOTHING};

use super::text::{Detail, Page, TextStyle, Tone, without_margin};
use crate::facts::Facts;

/// Writes the table. `-` is not there, `?` could not be read; with [`Detail::Verbose`] the reasons
/// follow.
///
/// # Errors
/// Those of the writer.
pub fn write_status(facts: &Facts, style: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    let rows = rows(facts);
    if rows.is_empty() {
        page.block("no physical network interface and no RDMA device", 0);
    } else {
        let mut table = Table::new();
        table.load_style(NOTHING);
        table.set_header(Row::COLUMNS.map(|(title, _)| title));
        for row in &rows {
            table.add_row(row.cells());
        }
        page.block(&without_margin(&table), 0);
    }
    unread(facts, &rows, &mut page);
    out.write_all(page.text().as_bytes())
}

/// Why cells show `?`.
fn unread(facts: &Facts, rows: &[Row], page: &mut Page) {
    let mut reasons: Vec<String> = [
        (
            "network interfaces",
            facts.identity.netdevs.get().is_none(),
            facts.identity.netdevs.why_not(),
        ),
        ("RDMA devices", facts.identity.rdma.get().is_none(), facts.identity.rdma.why_not()),
    ]
    .into_iter()
    .filter(|(_, unknown, _)| *unknown)
    .map(|(what, _, why)| format!("{what} are unknown: {why}"))
    .collect();
    if page.detail() == Detail::Verbose {
        reasons.extend(rows.iter().flat_map(|row| {
            row.unknown.iter().map(|(what, why)| format!("{} {what}: {why}", row.name()))
        }));
    } else if reasons.is_empty() && rows.iter().any(|row| !row.unknown.is_empty()) {
        reasons.push("some readings are unknown (?); --verbose tells why".to_owned());
    }
    if !reasons.is_empty() {
        page.gap();
    }
    for reason in reasons {
        page.line(&[("?  ".to_owned(), Some(Tone::Caution)), (reason, None)]);
    }
}

#[cfg(test)]
mod tests;
