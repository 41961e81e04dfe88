//! Counts of passed and failed tests, and the reading of cargo's.

use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The sum of cargo's `test result:` lines. A run that ended badly without a failed test, as one
/// that did not compile, and one in which no test ran count as one failure. So does an ignored
/// test: nothing passes by absence.
pub(crate) fn read_cargo(output: &str, success: bool) -> Tally {
    let mut tally = Tally::default();
    for line in output.lines().filter_map(|line| line.trim().strip_prefix("test result: ")) {
        for part in line.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(Ok(count)), Some(what)) = (words.next().map(str::parse::<u64>), words.next())
            else {
                continue;
            };
            match what {
                "passed" => tally.passed += count,
                "failed" | "ignored" => tally.failed += count,
                _ => {}
            }
        }
    }
    if tally.failed == 0 && (!success || tally.passed == 0) {
        tally.failed += 1;
    }
    tally
}

/// The last lines of a text.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "running 3 tests\n\
        test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
        test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 9 filtered out; finished in 1.20s\n";

    #[test]
    fn results_of_all_test_programs_are_added() {
        assert_eq!(read_cargo(TWO, false), Tally { passed: 7, failed: 2 });
    }

    #[test]
    fn a_run_that_did_not_compile_is_a_failure() {
        assert_eq!(
            read_cargo("error: could not compile `roce-setup`", false),
            Tally { passed: 0, failed: 1 }
        );
        let first_only = TWO.lines().take(2).collect::<Vec<_>>().join("\n");
        assert_eq!(read_cargo(&first_only, false), Tally { passed: 3, failed: 1 });
    }

    #[test]
    fn no_result_and_ignored_tests_are_failures() {
        let none = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(read_cargo(none, true), Tally { passed: 0, failed: 1 });
        assert_eq!(read_cargo("", true), Tally { passed: 0, failed: 1 });
        let ignored = "test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";
        assert_eq!(read_cargo(ignored, true), Tally { passed: 1, failed: 1 });
    }

    #[test]
    fn the_last_line_is_as_promised() {
        assert_eq!(Tally { passed: 12, failed: 1 }.to_string(), "12 passed, 1 failed");
    }

    #[test]
    fn a_tail_is_the_end_of_the_text() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }
}
