//! Many host names in few characters, for messages.

use std::collections::BTreeMap;

/// What stands before the number, what after it, and the numbers with their digits.
type Group<'a> = (&'a str, &'a str, Vec<(u64, &'a str)>);

/// A short text for many names, `server[1-2],login`; at most about 200 characters. Names that end
/// in a number are gathered by what stands before it, in the order of their first appearance.
pub(super) fn shorten(names: &[String]) -> String {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for name in names {
        let (host, domain) = name.split_at(name.find('.').unwrap_or(name.len()));
        let stem = host.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &host[stem.len()..];
        let place = *places.entry((stem, domain, digits.is_empty())).or_insert(groups.len());
        if place == groups.len() {
            groups.push((stem, domain, Vec::new()));
        }
        if let Ok(number) = digits.parse() {
            groups[place].2.push((number, digits));
        } else if !digits.is_empty() {
            groups.push((name, "", Vec::new()));
        }
    }
    let mut text = String::new();
    for (stem, domain, mut numbers) in groups {
        if text.len() > 200 {
            text.push_str(",…");
            break;
        }
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(stem);
        numbers.sort_unstable();
        match numbers.as_slice() {
            [] => {}
            [(_, digits)] => text.push_str(digits),
            _ => {
                text.push('[');
                text.push_str(&ranges(&numbers));
                text.push(']');
            }
        }
        text.push_str(domain);
    }
    text
}

fn ranges(numbers: &[(u64, &str)]) -> String {
    let mut text = String::new();
    let mut i = 0;
    while i < numbers.len() {
        let mut j = i;
        while j + 1 < numbers.len()
            && numbers[j + 1].0 == numbers[j].0 + 1
            && (numbers[j + 1].1.len() == numbers[j].1.len() || !numbers[j].1.starts_with('0'))
        {
            j += 1;
        }
        if !text.is_empty() {
            text.push(',');
        }
        if text.len() > 200 {
            text.push('…');
            break;
        }
        text.push_str(numbers[i].1);
        if j > i {
            text.push('-');
            text.push_str(numbers[j].1);
        }
        i = j + 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::hostlist::HostList;

    fn expand(text: &str) -> Vec<String> {
        HostList::parse(text).unwrap().expand()
    }

    #[test]
    fn many_names_are_shortened() {
        for list in ["server[1-2]", "node[001-064,100]", "login,n[1,3].a,n2.b", "one", "x[9-11]"] {
            assert_eq!(shorten(&expand(list)), list);
        }
        assert!(shorten(&expand("a[0-9]b[0-9]c[0-9]d,e[0-9]f[0-9]g")).len() < 300);
    }
}
