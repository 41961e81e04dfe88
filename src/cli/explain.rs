//! `explain`: the paragraph behind a claim.

use serde::Serialize;

use super::answer::Answer;
use super::args::{ExplainArgs, Global};
use super::choices::Output;
use super::error::{CliError, Kind};
use crate::claims::{ENTRIES, Entry, explain};

#[derive(Serialize)]
struct Row {
    id: &'static str,
    rung: crate::claims::Rung,
    severity: crate::claims::Severity,
    needs: &'static [&'static str],
    cause: &'static str,
    fix: &'static str,
    text: &'static str,
}

impl Row {
    fn of(entry: &Entry) -> Row {
        Row {
            id: entry.id,
            rung: entry.rung,
            severity: entry.severity,
            needs: entry.needs,
            cause: entry.cause,
            fix: entry.fix,
            text: explain(entry.id).unwrap_or_default(),
        }
    }
}

pub(super) fn run(args: &ExplainArgs, global: &Global) -> Result<Answer, CliError> {
    let entries = match &args.id {
        None => ENTRIES.to_vec(),
        Some(id) => vec![known(id)?],
    };
    if global.output == Output::Json {
        let rows: Vec<Row> = entries.into_iter().map(Row::of).collect();
        return Answer::of_value(&rows);
    }
    Ok(Answer::of_text(match args.id {
        None => entries.into_iter().map(line).collect(),
        Some(_) => entries.into_iter().map(section).collect::<String>(),
    }))
}

/// Id and what the claim says, without its particulars.
fn line(entry: &Entry) -> String {
    let text = explain(entry.id).unwrap_or_default().replace('\n', " ");
    let ends = [". ", ": ", " (", ", as "];
    let end = ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len());
    format!("{:20} {}\n", entry.id, text[..end].trim_end_matches('.'))
}

fn section(entry: &Entry) -> String {
    let needs = match entry.needs {
        [] => "nothing".to_owned(),
        needs => needs.join(", "),
    };
    format!(
        "{} (rung {}, needs {needs})\n\n{}\n\nusual cause: {}\nusual fix:   {}\n",
        entry.id,
        entry.rung,
        explain(entry.id).unwrap_or_default(),
        entry.cause,
        entry.fix
    )
}

fn known(id: &str) -> Result<&'static Entry, CliError> {
    if let Some(entry) = ENTRIES.iter().copied().find(|entry| entry.id == id) {
        return Ok(entry);
    }
    let close = close_to(id);
    let fix = if close.is_empty() {
        "`roce-setup explain` lists all ids".to_owned()
    } else {
        format!("did you mean {}? `roce-setup explain` lists all ids", close.join(" or "))
    };
    Err(CliError::new(Kind::Usage, format!("there is no claim with the id `{id}`")).with_fix(fix))
}

/// Ids that differ in few letters or share their last word, the closest first.
fn close_to(id: &str) -> Vec<&'static str> {
    let given = id.to_ascii_lowercase().replace('_', "-");
    let last = |id: &str| id.rsplit('.').next().unwrap_or_default().to_owned();
    let mut close: Vec<(usize, &'static str)> = ENTRIES
        .iter()
        .map(|entry| (distance(&given, entry.id), entry.id))
        .filter(|(distance, id)| *distance <= 3 || last(id) == last(&given))
        .collect();
    close.sort();
    close.into_iter().take(3).map(|(_, id)| id).collect()
}

/// Levenshtein distance; of long texts only the beginning is compared.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    let b: Vec<char> = b.chars().take(LONGEST).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(LONGEST).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_ids_are_found_by_letters_and_by_their_last_word() {
        assert_eq!(close_to("rdma.mod"), ["rdma.mode"]);
        assert_eq!(close_to("RDMA.Mode"), ["rdma.mode"]);
        assert_eq!(close_to("mode"), ["rdma.mode"]);
        assert_eq!(close_to("xyzzy.plugh"), Vec::<&str>::new());
    }

    #[test]
    fn distances_count_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("gid.present", "gid.presnet"), 2);
        assert_eq!(distance("same", "same"), 0);
    }
}
