//! Judging a list of claims: what hangs on a failed claim is skipped, never passed.

use crate::claims::{Claim, Judgement, Severity, Subject, Unmet};
use crate::facts::{Facts, Scope};
use crate::report::{Finding, Outcome, Verdict};

/// The union of what the claims ask a look to read.
pub fn scope(claims: &[Box<dyn Claim>]) -> Scope {
    claims.iter().fold(Scope::default(), |scope, claim| scope.and(claim.scope()))
}

/// The same, with what remedies and explanations need.
pub fn scope_to_change(claims: &[Box<dyn Claim>]) -> Scope {
    let details = Scope { details: true, ..scope(claims) };
    claims.iter().fold(details, |scope, claim| scope.and(claim.remedy_scope()))
}

/// Every claim with its verdict, in the order given.
pub fn judge(claims: &[Box<dyn Claim>], facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::with_capacity(claims.len());
    judge_on(claims, facts, &mut findings);
    findings
}

/// Judges more claims after those that have their findings, and adds theirs.
pub fn judge_on(claims: &[Box<dyn Claim>], facts: &Facts, findings: &mut Vec<Finding>) {
    for claim in claims {
        let verdict = verdict(claim.as_ref(), facts, findings);
        findings.push(finding(claim.as_ref(), verdict));
    }
}

/// One claim's verdict, given the findings of the claims before it.
pub fn verdict(claim: &dyn Claim, facts: &Facts, before: &[Finding]) -> Verdict {
    if let Some(missing) = missing_need(claim, before) {
        let (needs, rung) = match &missing.verdict {
            // The root of the chain is the diagnosis, not the link before.
            Verdict::Skipped { needs, rung } => (needs.clone(), *rung),
            _ => (missing.id.clone(), missing.rung),
        };
        return Verdict::Skipped { needs, rung };
    }
    match claim.judge(facts) {
        Judgement::Met { observed } => Verdict::Met { observed },
        Judgement::Unmet(Unmet { expected, observed, source, cause, fix }) => Verdict::Unmet {
            expected,
            observed,
            source,
            cause: cause.unwrap_or_else(|| claim.entry().cause.to_owned()),
            fix: fix.unwrap_or_else(|| claim.entry().fix.to_owned()),
        },
        Judgement::Unknown { why } => Verdict::Unknown { why },
    }
}

/// The finding of a claim.
pub fn finding(claim: &dyn Claim, verdict: Verdict) -> Finding {
    let entry = claim.entry();
    Finding {
        id: entry.id.to_owned(),
        rung: entry.rung,
        subject: claim.subject(),
        claim: claim.sentence(),
        severity: claim.severity(),
        verdict,
    }
}

/// The first finding that this claim hangs on and that is not met. A need is looked for with the
/// same subject, then with the host.
fn missing_need<'a>(claim: &dyn Claim, before: &'a [Finding]) -> Option<&'a Finding> {
    let subject = claim.subject();
    claim.entry().needs.iter().find_map(|need| {
        before.iter().find(|finding| {
            finding.id == *need
                && (finding.subject == subject || finding.subject == Subject::Host)
                && !matches!(finding.verdict, Verdict::Met { .. })
        })
    })
}

/// How the findings alone end a look: a failed claim beats an unknown one.
pub fn outcome(findings: &[Finding]) -> Outcome {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    if errors().any(|finding| matches!(finding.verdict, Verdict::Unmet { .. })) {
        Outcome::Unmet
    } else if errors().any(|finding| matches!(finding.verdict, Verdict::Unknown { .. })) {
        Outcome::NoVerdict
    } else {
        Outcome::Met
    }
}
