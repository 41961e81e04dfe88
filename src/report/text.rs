//! The text view of a report: the verdict first, then the reasons.
//!
//! The same text for the same findings on every host: no host names, times or durations. The words
//! carry the meaning; symbols and colours only decorate them.

mod changes;
mod findings;
mod smoke;
mod style;
mod verdict;

pub(crate) use style::visible;
pub use style::{Detail, TextStyle};
pub(in crate::report) use style::{Page, Tone, without_margin};

use std::io::{self, Write};

use super::Report;

/// Writes a report as text.
///
/// # Errors
/// Those of the writer.
pub fn write_text(report: &Report, style: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    verdict::write(report, &mut page);
    changes::write(report, &mut page);
    findings::write(report, &mut page);
    smoke::write(report, &mut page);
    if style.detail != Detail::Quiet {
        notes(report, &mut page);
    }
    out.write_all(page.text().as_bytes())
}

fn notes(report: &Report, page: &mut Page) {
    if report.notes.is_empty() {
        return;
    }
    page.gap();
    for note in &report.notes {
        page.line(&[("note  ".to_owned(), Some(Tone::Faint)), (note.clone(), None)]);
    }
}

#[cfg(test)]
mod tests;
