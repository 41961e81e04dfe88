//! "Did you mean": the known word that was probably meant.

/// The nearest of the known words, if one is near enough.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // The distance of very long words takes time, and is never small.
    if word.len() > 40 {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    let distance = |candidate: &str| strsim::osa_distance(&word, &plain(candidate));
    let best = known.iter().copied().min_by_key(|candidate| distance(candidate))?;
    let enough = (best.chars().count().max(word.chars().count()) / 3).max(1);
    if distance(best) <= enough {
        return Some(best);
    }
    // `prefix` for `prefix-length`, `nodes` is nothing.
    known.iter().copied().find(|candidate| word.len() >= 3 && candidate.starts_with(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let known = ["mode", "path-mtu", "software", "name", "prefix-length"];
        for (word, meant) in [
            ("path_mtu", Some("path-mtu")),
            ("pathmtu", Some("path-mtu")),
            ("Mode", Some("mode")),
            ("mdoe", Some("mode")),
            ("prefix", Some("prefix-length")),
            ("prefix-len", Some("prefix-length")),
            ("speed", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, &known), meant, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(100_000), &known), None);
    }
}
