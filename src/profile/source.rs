//! The text of a profile and places in it.

/// A range of bytes in the text of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Spot {
    pub(super) fn new(start: usize, end: usize) -> Spot {
        Spot { start, end }
    }
}

/// The text with the name under which messages know it.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) text: String,
    /// Offset of the first byte of each line.
    lines: Vec<usize>,
}

/// Width of an excerpt in characters; longer lines are cut around the caret.
const EXCERPT_WIDTH: usize = 100;

impl Source {
    pub(super) fn new(name: &str, text: String) -> Source {
        // A byte order mark is not part of the first line's columns.
        let first = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let lines =
            std::iter::once(first).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Source { name: name.to_owned(), text, lines }
    }

    /// The text at a spot; empty if the spot is not one of this text.
    pub(super) fn slice(&self, spot: Spot) -> &str {
        self.text.get(spot.start..spot.end).unwrap_or("")
    }

    /// Line and column of an offset, both from 1; the column counts characters.
    pub(super) fn position(&self, offset: usize) -> (u32, u32) {
        let index = self.line_index(offset);
        let start = self.lines[index];
        let mut end = offset.clamp(start, self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let column = self.text[start..end].chars().count() + 1;
        (index as u32 + 1, column as u32)
    }

    /// Offset of the first byte of a line, counted from 1.
    pub(super) fn line_start(&self, line: usize) -> usize {
        let index = line.clamp(1, self.lines.len()) - 1;
        self.lines[index]
    }

    /// The line of a spot with a caret below it, each with a gutter.
    pub(super) fn excerpt(&self, spot: Spot) -> String {
        let index = self.line_index(spot.start);
        let start = self.lines[index];
        let end = self.lines.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let line = self.text.get(start..end.max(start)).unwrap_or("").trim_end_matches('\r');
        let (number, column) = self.position(spot.start);
        let marked = self.slice(Spot::new(spot.start, spot.end.min(start + line.len())));
        let mut carets = marked.chars().count().max(1);

        let mut before = column as usize - 1;
        let cut = before.saturating_sub(EXCERPT_WIDTH / 2);
        let cut = if line.chars().count() <= EXCERPT_WIDTH { 0 } else { cut };
        let mut shown: String = line.chars().skip(cut).take(EXCERPT_WIDTH).map(printable).collect();
        if cut > 0 {
            shown.insert(0, '…');
            before = before - cut + 1;
        }
        if line.chars().count() > cut + EXCERPT_WIDTH {
            shown.push('…');
        }
        carets = carets.min((shown.chars().count()).saturating_sub(before).max(1));
        let gutter = number.to_string().len().max(3);
        format!(
            "{number:>gutter$} | {shown}\n{:>gutter$} | {:before$}{}",
            "",
            "",
            "^".repeat(carets)
        )
    }

    fn line_index(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

/// What a terminal shows for a character without obeying it.
fn printable(c: char) -> char {
    match c {
        '\t' => '→',
        c if c.is_control() || c == '\u{feff}' => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one_and_skip_the_byte_order_mark() {
        let source = Source::new("p", "\u{feff}a: é x\nb: 1\n".into());
        assert_eq!(source.position(3), (1, 1));
        let x = source.text.find('x').unwrap();
        assert_eq!(source.position(x), (1, 6));
        assert_eq!(source.position(x + 2), (2, 1));
        assert_eq!(source.position(9999), (3, 1));
        assert_eq!(source.position(0), (1, 1));
    }

    #[test]
    fn an_excerpt_marks_the_spot() {
        let source = Source::new("p", "a: 1\r\nname: ens1f0\r\n".into());
        assert_eq!(source.excerpt(Spot::new(12, 18)), "  2 | name: ens1f0\n    |       ^^^^^^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_spot_and_control_characters_are_not_sent() {
        let text = format!("{}\u{1b}X{}", "a".repeat(500), "b".repeat(500));
        let source = Source::new("p", text);
        let excerpt = source.excerpt(Spot::new(501, 502));
        let lines: Vec<&str> = excerpt.lines().collect();
        let caret = lines[1].chars().position(|c| c == '^').unwrap();
        assert_eq!(lines[0].chars().nth(caret), Some('X'));
        assert!(!excerpt.contains('\u{1b}'));
        assert_eq!(lines[0].chars().count(), 6 + 102);
    }
}
