//! Host lists as Slurm writes them: `server[1-2]`, `node[001-064,100]`, `a[1-2]b[3-4]`.
//!
//! Brackets hold decimal numbers and ranges; a leading zero of a range's first number sets the
//! width. The same notation serves for addresses that run parallel to the hosts,
//! `100.0.1.[10-11]`. In an IPv6 address the numbers stay decimal too, as Slurm would count:
//! `fd00::[9-10]` is `fd00::9` and `fd00::10`.

use super::source::Spot;

/// The most names that a list may stand for.
pub(super) const LIMIT: usize = 65536;

/// A parsed list; nothing is expanded yet.
#[derive(Debug)]
pub(super) struct HostList {
    items: Vec<Vec<Part>>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Numbers(Vec<Range>),
}

/// Numbers `first..=last`, printed at least `width` wide.
#[derive(Debug)]
struct Range {
    first: u64,
    last: u64,
    width: usize,
}

/// Why a text is no host list; the spot counts bytes from the start of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HostListError {
    pub(super) spot: Spot,
    pub(super) message: String,
}

impl HostList {
    /// Reads a list; how many names it stands for is checked here, before any is made.
    pub(super) fn parse(text: &str) -> Result<HostList, HostListError> {
        let mut parser = Parser { text, at: 0 };
        let mut items = Vec::new();
        let mut total = 0usize;
        loop {
            let item = parser.item()?;
            total = total.saturating_add(count(&item));
            if total > LIMIT {
                return Err(HostListError {
                    spot: Spot::new(0, text.len()),
                    message: format!("this list stands for more than {LIMIT} names"),
                });
            }
            items.push(item);
            if parser.at == text.len() {
                return Ok(HostList { items });
            }
            parser.at += 1; // the comma
        }
    }

    /// How many names the list stands for.
    pub(super) fn len(&self) -> usize {
        self.items.iter().map(|item| count(item)).sum()
    }

    /// All names, in the order of the list; the last bracket of an item counts fastest.
    pub(super) fn expand(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.len());
        for item in &self.items {
            let mut heads = vec![String::new()];
            for part in item {
                heads = match part {
                    Part::Text(text) => {
                        heads.iter_mut().for_each(|head| head.push_str(text));
                        heads
                    }
                    Part::Numbers(ranges) => heads
                        .iter()
                        .flat_map(|head| {
                            ranges.iter().flat_map(move |range| {
                                let width = range.width;
                                (range.first..=range.last)
                                    .map(move |number| format!("{head}{number:0width$}"))
                            })
                        })
                        .collect(),
                };
            }
            names.append(&mut heads);
        }
        names
    }
}

fn count(item: &[Part]) -> usize {
    item.iter().fold(1, |product: usize, part| match part {
        Part::Text(_) => product,
        Part::Numbers(ranges) => {
            product.saturating_mul(ranges.iter().fold(0usize, |sum, range| {
                sum.saturating_add((range.last - range.first + 1) as usize)
            }))
        }
    })
}

/// Length of the longest name that the parts can make, roughly.
fn name_length(parts: &[Part]) -> usize {
    let length = |part: &Part| match part {
        Part::Text(text) => text.len(),
        Part::Numbers(_) => 1,
    };
    parts.iter().map(length).sum()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// One item, up to a comma outside brackets or the end.
    fn item(&mut self) -> Result<Vec<Part>, HostListError> {
        let start = self.at;
        let mut parts = Vec::new();
        while let Some(c) = self.text[self.at..].chars().next() {
            let part = match c {
                ',' => break,
                '[' => Part::Numbers(self.bracket()?),
                _ => Part::Text(self.plain()?.to_owned()),
            };
            parts.push(part);
            // Else one long name, times many numbers, would fill the memory.
            if self.at - start > 253 && name_length(&parts) > 253 {
                return Err(self.error(start..self.at, "a name has at most 253 characters"));
            }
        }
        if parts.is_empty() {
            let end = (start + 1).min(self.text.len());
            return Err(self.error(start..end, "a name is missing here"));
        }
        Ok(parts)
    }

    fn plain(&mut self) -> Result<&'a str, HostListError> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', '[']).unwrap_or(rest.len());
        let plain = &rest[..end];
        let wrong =
            plain.char_indices().find(|(_, c)| c.is_whitespace() || c.is_control() || *c == ']');
        if let Some((offset, c)) = wrong {
            let start = self.at + offset;
            let message = match c {
                ']' => "there is no `[` before this `]`",
                _ => "names are separated by a comma alone, without white space",
            };
            return Err(self.error(start..start + c.len_utf8(), message));
        }
        self.at += end;
        Ok(plain)
    }

    fn bracket(&mut self) -> Result<Vec<Range>, HostListError> {
        let open = self.at;
        let Some(length) = self.text[open..].find(']') else {
            return Err(self.error(open..open + 1, "this `[` has no `]`"));
        };
        let close = open + length;
        let mut ranges = Vec::new();
        let mut start = open + 1;
        for piece in self.text[start..close].split(',') {
            let end = start + piece.len();
            ranges.push(self.range(start, piece)?);
            start = end + 1;
        }
        self.at = close + 1;
        Ok(ranges)
    }

    fn range(&self, start: usize, piece: &str) -> Result<Range, HostListError> {
        let here = start..start + piece.len().max(1);
        let (first, last) = piece.split_once('-').unwrap_or((piece, piece));
        for number in [first, last] {
            let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            if !digits {
                return Err(
                    self.error(here, "brackets hold numbers and ranges of numbers, as in [1-4,7]")
                );
            }
            if number.len() > 18 {
                return Err(self.error(here, "a number has at most 18 digits"));
            }
        }
        let width = if first.starts_with('0') { first.len() } else { 0 };
        if last.starts_with('0') && last.len() > 1 && last.len() != first.len() {
            return Err(self.error(here, "the two numbers have leading zeros of different width"));
        }
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Range { first, last, width }),
            _ => Err(self.error(here, "a range counts upwards")),
        }
    }

    fn error(&self, spot: std::ops::Range<usize>, message: &str) -> HostListError {
        HostListError { spot: Spot::new(spot.start, spot.end), message: message.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(text: &str) -> Vec<String> {
        HostList::parse(text).unwrap().expand()
    }

    #[test]
    fn lists_expand_as_slurm_expands_them() {
        assert_eq!(expand("server[1-2]"), ["server1", "server2"]);
        assert_eq!(expand("login"), ["login"]);
        assert_eq!(expand("a[1-2]b[3-4]"), ["a1b3", "a1b4", "a2b3", "a2b4"]);
        assert_eq!(
            expand("node[008-010,100],x1,y[9-11].cluster"),
            [
                "node008",
                "node009",
                "node010",
                "node100",
                "x1",
                "y9.cluster",
                "y10.cluster",
                "y11.cluster"
            ]
        );
        assert_eq!(expand("n[001-2]"), ["n001", "n002"]);
        assert_eq!(expand("100.0.1.[10-11]"), ["100.0.1.10", "100.0.1.11"]);
        assert_eq!(expand("fd00::[9-10]"), ["fd00::9", "fd00::10"]);
        let nodes = expand("node[001-064,100]");
        assert_eq!((nodes.len(), nodes[63].as_str()), (65, "node064"));
    }

    #[test]
    fn wrong_lists_are_refused_where_they_go_wrong() {
        const NUMBERS: &str = "brackets hold numbers and ranges of numbers, as in [1-4,7]";
        for (text, start, end, message) in [
            ("", 0, 0, "a name is missing here"),
            ("a,,b", 2, 3, "a name is missing here"),
            ("a,", 2, 2, "a name is missing here"),
            ("a, b", 2, 3, "names are separated by a comma alone, without white space"),
            ("n[1-2", 1, 2, "this `[` has no `]`"),
            ("n1-2]", 4, 5, "there is no `[` before this `]`"),
            ("n[]", 2, 3, NUMBERS),
            ("n[1-]", 2, 4, NUMBERS),
            ("n[1-2-3]", 2, 7, NUMBERS),
            ("n[1,a-c]", 4, 7, NUMBERS),
            ("n[[1-2]]", 2, 6, NUMBERS),
            ("n[-1]", 2, 4, NUMBERS),
            ("n[2-1]", 2, 5, "a range counts upwards"),
            ("n[1-010]", 2, 7, "the two numbers have leading zeros of different width"),
            ("n[0-9999999999999999999]", 2, 23, "a number has at most 18 digits"),
            ("n[0-999999999999999999]", 0, 23, "this list stands for more than 65536 names"),
            (&"x".repeat(254), 0, 254, "a name has at most 253 characters"),
            (&"[1]".repeat(300), 0, 762, "a name has at most 253 characters"),
            ("n[0-65536]", 0, 10, "this list stands for more than 65536 names"),
            (
                "n[0-999][0-999][0-999][0-999][0-999][0-999][0-999][0-999]",
                0,
                57,
                "this list stands for more than 65536 names",
            ),
        ] {
            let error = HostList::parse(text).unwrap_err();
            let wanted = HostListError { spot: Spot::new(start, end), message: message.into() };
            assert_eq!(error, wanted, "{text}");
        }
        assert_eq!(HostList::parse("n[0-65535]").unwrap().len(), 65536);
    }
}
