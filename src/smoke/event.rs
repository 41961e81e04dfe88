//! What the child tells its parent, and how the parent folds it into the outcome.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::job::{Job, Peer};
use super::outcome::{
    Attribution, Difference, Ending, Kind, PeerReport, Progress, Role, SmokeOutcome, SmokeRung,
    Stage, Verdict,
};
use super::spec::TestSpec;

/// One line of the child's standard output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event", content = "value")]
pub(crate) enum Event {
    /// A step has its verdict.
    Stage(Stage),
    /// A test begins.
    Testing(TestSpec),
    /// A test is done.
    Figure(Box<Figure>),
    /// What differs between both ends.
    Differences(Vec<Difference>),
    /// Whether the traffic crossed this end's port.
    Attribution(Attribution),
    /// The peer's report.
    Peer(PeerReport),
    /// The child has said all; without it, it died.
    Done,
}

impl Stage {
    pub(crate) fn met(rung: SmokeRung, observed: impl Into<String>) -> Self {
        Self { rung, verdict: Verdict::Met, observed: observed.into(), cause: None, fix: None }
    }

    pub(crate) fn unmet(rung: SmokeRung, observed: impl Into<String>) -> Self {
        Self { rung, verdict: Verdict::Unmet, observed: observed.into(), cause: None, fix: None }
    }

    pub(crate) fn unknown(rung: SmokeRung, observed: impl Into<String>) -> Self {
        Self { rung, verdict: Verdict::Unknown, observed: observed.into(), cause: None, fix: None }
    }

    pub(crate) fn because(mut self, cause: &str, fix: &str) -> Self {
        self.cause = Some(cause.to_owned());
        self.fix = Some(fix.to_owned());
        self
    }
}

impl SmokeOutcome {
    /// The outcome of a run that has not begun.
    pub(crate) fn begin(job: &Job) -> Self {
        Self {
            netdev: job.endpoint.netdev.clone(),
            device: job.endpoint.device.clone(),
            local: job.endpoint.local,
            peer: job.peer_address(),
            port: job.port,
            kind: if job.peer == Peer::Loopback { Kind::Loopback } else { Kind::Link },
            role: None,
            ending: Ending::Failed,
            stages: Vec::new(),
            figures: Vec::new(),
            attribution: Attribution::NotApplicable {
                why: "the traffic did not come to its end".to_owned(),
            },
            differences: Vec::new(),
            peer_report: None,
        }
    }

    /// Takes an event in; returns what is worth showing.
    pub(crate) fn fold(&mut self, event: Event) -> Option<Progress> {
        match event {
            Event::Stage(stage) => {
                self.stages.push(stage.clone());
                Some(Progress::Stage(stage))
            }
            Event::Testing(spec) => Some(Progress::Testing(spec)),
            Event::Figure(figure) => {
                self.figures.push(Figure::clone(&figure));
                Some(Progress::Figure(figure))
            }
            Event::Differences(differences) => {
                self.differences = differences;
                None
            }
            Event::Attribution(attribution) => {
                self.attribution = attribution;
                None
            }
            Event::Peer(report) => {
                self.peer_report = Some(report);
                None
            }
            Event::Done => None,
        }
    }

    /// The first step of the traffic that has no verdict yet: what was under way when a child ended
    /// without a word.
    pub(crate) fn under_way(&self) -> SmokeRung {
        [SmokeRung::Device, SmokeRung::Connect]
            .into_iter()
            .find(|rung| !self.stages.iter().any(|stage| stage.rung == *rung))
            .unwrap_or(SmokeRung::Data)
    }

    /// Gives every step that was not reached its `skipped`, and the run its end.
    pub(crate) fn finish(mut self, ending: Option<Ending>) -> Self {
        let blocker = self.diagnosis();
        let reason = match (&ending, blocker) {
            (Some(Ending::Refused { why }), _) => why.clone(),
            (_, Some(stage)) => format!("needs {}", stage.rung.claim_id()),
            (_, None) => "not reached".to_owned(),
        };
        for rung in [
            SmokeRung::Control,
            SmokeRung::Device,
            SmokeRung::Connect,
            SmokeRung::Data,
            SmokeRung::Attributable,
        ] {
            if !self.stages.iter().any(|stage| stage.rung == rung) {
                self.stages.push(Stage {
                    rung,
                    verdict: Verdict::Skipped,
                    observed: reason.clone(),
                    cause: None,
                    fix: None,
                });
            }
        }
        self.stages.sort_by_key(|stage| stage.rung);
        self.ending = ending.unwrap_or_else(|| {
            let all = |verdicts: &[Verdict]| {
                self.stages.iter().all(|stage| verdicts.contains(&stage.verdict))
            };
            // Not every port can prove its path or show its neighbour: unknown there is no failure,
            // and no pass of that step either.
            let carried =
                [SmokeRung::Device, SmokeRung::Connect, SmokeRung::Data].into_iter().all(|rung| {
                    self.stages
                        .iter()
                        .any(|stage| stage.rung == rung && stage.verdict == Verdict::Met)
                });
            if carried && all(&[Verdict::Met, Verdict::Unknown, Verdict::Skipped]) {
                Ending::Passed
            } else {
                Ending::Failed
            }
        });
        self
    }
}

impl Role {
    /// The other end's role.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Initiator => Self::Responder,
            Self::Responder => Self::Initiator,
        }
    }
}

/// Where sysfs is.
pub(crate) fn sysfs() -> &'static Path {
    Path::new("/sys")
}
