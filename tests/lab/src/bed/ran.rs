//! A command that ran in a guest, and what a scenario says about it.

use crate::message::Ending;

/// Assertions take and give it, so that they can be chained; each panics with the whole story.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    pub(crate) node: String,
    pub(crate) script: String,
    /// None: it was still running at its deadline.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// From start to end, measured in the guest.
    pub(crate) seconds: f64,
}

impl Ran {
    pub(super) fn new(node: &str, script: &str, ending: Ending) -> Self {
        Ran {
            node: node.to_owned(),
            script: script.to_owned(),
            code: ending.code,
            stdout: ending.stdout,
            stderr: ending.stderr,
            seconds: ending.seconds,
        }
    }

    /// It ended with that exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        self.judge(self.code == Some(code), &format!("should exit with {code}"));
        self
    }

    /// Standard output has this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        self.judge(self.stdout.contains(text), &format!("should say {text:?}"));
        self
    }

    /// Standard error has this text.
    #[track_caller]
    pub(crate) fn warns(self, text: &str) -> Self {
        self.judge(self.stderr.contains(text), &format!("should say {text:?} on standard error"));
        self
    }

    /// Neither stream has this text.
    #[track_caller]
    pub(crate) fn does_not_say(self, text: &str) -> Self {
        let silent = !self.stdout.contains(text) && !self.stderr.contains(text);
        self.judge(silent, &format!("should not say {text:?}"));
        self
    }

    /// Standard output is this, but for white space at its ends.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        self.judge(
            self.stdout.trim() == text.trim(),
            &format!("should print exactly:\n{}\n", text.trim()),
        );
        self
    }

    /// It ended within that time, measured in the guest.
    #[track_caller]
    pub(crate) fn within(self, seconds: f64) -> Self {
        self.judge(
            self.seconds <= seconds,
            &format!("should end within {seconds} s, took {:.2} s", self.seconds),
        );
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("{}", self.story(&format!("should print JSON ({error})"))),
        }
    }

    /// Anything else, in the scenario's own words.
    #[track_caller]
    pub(crate) fn holds(self, condition: bool, should: &str) -> Self {
        self.judge(condition, should);
        self
    }

    #[track_caller]
    fn judge(&self, condition: bool, should: &str) {
        assert!(condition, "{}", self.story(should));
    }

    fn story(&self, should: &str) -> String {
        let code = self
            .code
            .map_or("was still running at its deadline".into(), |code| format!("exit code {code}"));
        let mut story = format!("{}: `{}` {should}; {code}", self.node, self.script.trim());
        for (stream, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            match text.trim_end() {
                "" => story += &format!("\n  {stream}: nothing"),
                text => story += &format!("\n  {stream}:\n    {}", text.replace('\n', "\n    ")),
            }
        }
        story
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran() -> Ran {
        let ending =
            Ending { code: Some(1), stdout: "carrier is off\n".into(), ..Ending::default() };
        Ran::new("server1", "check", ending)
    }

    #[test]
    fn what_holds_can_be_chained() {
        let ran = ran().exits(1).says("carrier").does_not_say("passed").prints("carrier is off");
        assert_eq!(ran.code, Some(1));
    }

    #[test]
    fn a_failure_tells_the_whole_story() {
        let panic = std::panic::catch_unwind(|| ran().exits(0)).expect_err("exit code 1 is not 0");
        let text = panic.downcast_ref::<String>().map(String::as_str);
        assert_eq!(
            text,
            Some(
                "server1: `check` should exit with 0; exit code 1\n  stdout:\n    carrier is off\n  stderr: nothing"
            )
        );
    }
}
