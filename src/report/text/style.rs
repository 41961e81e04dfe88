//! How text looks: colours, symbols, columns. What it says belongs to the other files.

use owo_colors::OwoColorize;

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The verdict and what is not as it must be.
    Quiet,
    /// Every claim in a line.
    #[default]
    Normal,
    /// Ids and sources too.
    Verbose,
}

/// How a text view looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// ANSI colours.
    pub color: bool,
    /// A symbol before each word of a verdict; only for a terminal that shows UTF-8.
    pub symbols: bool,
    /// How much is shown.
    pub detail: Detail,
}

/// What a piece of text means, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Tone {
    Good,
    Bad,
    Caution,
    Faint,
    Strong,
}

/// The word of a verdict or of a change's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct Mark {
    pub(in crate::report) word: &'static str,
    pub(in crate::report) symbol: char,
    pub(in crate::report) tone: Tone,
}

/// Text under construction.
pub(in crate::report) struct Page<'a> {
    style: &'a TextStyle,
    text: String,
}

/// Column of the words "expected", "observed", ... below a claim.
const DETAIL_INDENT: usize = 6;
const DETAIL_WIDTH: usize = 10;
const MARK_WIDTH: usize = 9;

impl<'a> Page<'a> {
    pub(in crate::report) fn new(style: &'a TextStyle) -> Page<'a> {
        Page { style, text: String::new() }
    }

    pub(in crate::report) fn detail(&self) -> Detail {
        self.style.detail
    }

    pub(in crate::report) fn text(self) -> String {
        self.text
    }

    /// An empty line, but not two and not at the top.
    pub(in crate::report) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A line of pieces, each with its colour.
    pub(in crate::report) fn line(&mut self, pieces: &[(String, Option<Tone>)]) {
        for (text, tone) in pieces {
            self.piece(text, *tone);
        }
        self.end_line();
    }

    /// The heading of a group.
    pub(in crate::report) fn heading(&mut self, text: &str) {
        self.gap();
        self.line(&[(text.to_owned(), Some(Tone::Strong))]);
    }

    /// An indented line that starts with a mark.
    pub(in crate::report) fn marked(&mut self, mark: Mark, text: &str, aside: &str) {
        self.text.push_str("  ");
        if self.style.symbols {
            self.piece(&format!("{} ", mark.symbol), Some(mark.tone));
        }
        self.piece(mark.word, Some(mark.tone));
        let pad = MARK_WIDTH.saturating_sub(mark.word.chars().count()).max(1);
        self.text.push_str(&" ".repeat(pad));
        self.piece(text, None);
        if !aside.is_empty() {
            self.piece(&format!("  {aside}"), Some(Tone::Faint));
        }
        self.end_line();
    }

    /// A named particular below a marked line. Text of several lines stays in its column.
    pub(in crate::report) fn particular(&mut self, name: &str, text: &str) {
        for (number, line) in text.lines().enumerate() {
            let name = if number == 0 { name } else { "" };
            self.text.push_str(&" ".repeat(DETAIL_INDENT));
            self.piece(&format!("{name:DETAIL_WIDTH$}"), Some(Tone::Faint));
            self.piece(line, None);
            self.end_line();
        }
    }

    /// A table or another block that is laid out already.
    pub(in crate::report) fn block(&mut self, text: &str, indent: usize) {
        for line in text.lines() {
            self.text.push_str(&" ".repeat(indent));
            self.piece(line.trim_end(), None);
            self.end_line();
        }
    }

    fn piece(&mut self, text: &str, tone: Option<Tone>) {
        let text = visible(text);
        let painted = match tone.filter(|_| self.style.color) {
            None => text,
            Some(Tone::Good) => text.green().to_string(),
            Some(Tone::Bad) => text.red().bold().to_string(),
            Some(Tone::Caution) => text.yellow().to_string(),
            Some(Tone::Faint) => text.dimmed().to_string(),
            Some(Tone::Strong) => text.bold().to_string(),
        };
        self.text.push_str(&painted);
    }

    fn end_line(&mut self) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.text.push('\n');
    }
}

/// Control characters are escaped: a facts file or a driver's message must not steer a terminal.
pub(crate) fn visible(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A table without the padding before its first column.
pub(in crate::report) fn without_margin(table: &comfy_table::Table) -> String {
    let lines = table.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
