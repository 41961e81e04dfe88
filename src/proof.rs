//! Proving links: from the profile's `smoke` section to smoke tests, and from their outcomes to
//! evidence in the facts.
//!
//! How a test works belongs to [`smoke`](crate::smoke), what its outcome means to
//! [`claims`](crate::claims); this is the piece between the two that knows profile and facts.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::claims::{Port, of_smoke};
use crate::engine::ladder;
use crate::facts::Facts;
use crate::profile::{self, HostProfile, SmokeWish, TestName};
use crate::report::{Finding, Verdict};
use crate::smoke::{self, Endpoint, Job, Kind, Limits, Progress, SmokeOutcome, TestKind, TestSpec};

/// How the peer is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Both ends run `apply`: each listens and tries until the wait ends.
    Rendezvous,
    /// The peer runs `serve`.
    Serving,
    /// The peer is this address and runs `serve`.
    ServingAt(IpAddr),
    /// Both ends on the port itself.
    Loopback,
}

/// The ports to test, in the order of the profile.
#[derive(Debug)]
pub struct Proof<'a> {
    wish: &'a SmokeWish,
    way: Way,
    links: Vec<(Port, Option<profile::Peer>)>,
    end: Option<Instant>,
    /// What is not tested and why, a sentence each.
    pub notes: Vec<String>,
}

impl<'a> Proof<'a> {
    /// Which ports a profile wants tested in this way. `only` limits it to ports with this name.
    pub fn new(profile: &HostProfile, wish: &'a SmokeWish, way: Way, only: Option<&str>) -> Self {
        let mut notes = Vec::new();
        let mut links = Vec::new();
        for link in &wish.links {
            let Some(interface) = profile.interfaces.get(link.interface) else { continue };
            let port = Port { wish: interface.clone() };
            if only.is_some_and(|only| port.selector().to_string() != only) {
                continue;
            }
            let needs_peer = matches!(way, Way::Rendezvous | Way::Serving);
            if needs_peer && link.peer.is_none() {
                notes.push(format!(
                    "{} is not tested: the profile names no partner for this host",
                    port.selector()
                ));
                continue;
            }
            links.push((port, link.peer.clone()));
        }
        if !wish.expect.is_empty() {
            notes.push("`smoke.expect` is not judged by this version".to_owned());
        }
        for test in wish.tests.iter().filter(|test| kind_of(**test).is_none()) {
            notes.push(format!("{} is not run by this version", test.as_str()));
        }
        Proof { wish, way, links, end: None, notes }
    }

    /// The same with a deadline for all its tests together; none leaves each test its own.
    #[must_use]
    pub fn within(mut self, left: Option<Duration>) -> Self {
        self.end = left.and_then(|left| Instant::now().checked_add(left));
        self
    }

    fn limits(&self) -> Limits {
        let usual = Limits::default();
        match self.end.map(|end| end.saturating_duration_since(Instant::now())) {
            Some(left) => Limits { traffic: Some(left), queue: usual.queue.min(left) },
            None => usual,
        }
    }

    fn kind(&self, peer: Option<&profile::Peer>) -> Kind {
        match (&self.way, peer) {
            (Way::Loopback, _)
            | (Way::Rendezvous | Way::Serving, Some(profile::Peer::Loopback)) => Kind::Loopback,
            _ => Kind::Link,
        }
    }

    /// Runs the tests of the ports whose local claims are met, puts the outcomes into the facts and
    /// gives the findings of the smoke claims. `findings` are those of the local claims.
    pub fn run(
        &self,
        facts: &mut Facts,
        findings: &[Finding],
        progress: &mut dyn FnMut(&str, Progress),
    ) -> (Vec<SmokeOutcome>, Vec<Finding>) {
        let mut outcomes = Vec::new();
        let mut all = findings.to_vec();
        for (port, peer) in &self.links {
            let serves = self.way != Way::Rendezvous;
            let claims = of_smoke(port, self.kind(peer.as_ref()), serves);
            let ready = claims.first().is_some_and(|first| {
                !matches!(ladder::verdict(first.as_ref(), facts, &all), Verdict::Skipped { .. })
            });
            if ready && let Some(job) = self.job(port, peer.as_ref(), facts) {
                let name = port.selector().to_string();
                let outcome = smoke::run(&job, &mut |event| progress(&name, event));
                facts.evidence.smoke.insert(job.endpoint.netdev.clone(), outcome.clone());
                outcomes.push(outcome);
            }
            ladder::judge_on(&claims, facts, &mut all);
        }
        (outcomes, all.split_off(findings.len()))
    }

    fn job(&self, port: &Port, peer: Option<&profile::Peer>, facts: &Facts) -> Option<Job> {
        let (netdev, _) = port.netdev(facts).ok()?;
        let rdma = port.rdma(facts).ok()??;
        let own: Vec<IpAddr> = port.wish.addresses().map(|prefix| prefix.ip()).collect();
        let (local, peer) = match &self.way {
            Way::Loopback => (*own.first()?, smoke::Peer::Loopback),
            Way::ServingAt(address) => {
                (same_family(&own, *address)?, smoke::Peer::Serving { address: *address })
            }
            Way::Rendezvous | Way::Serving => match peer? {
                profile::Peer::Loopback => (*own.first()?, smoke::Peer::Loopback),
                named => {
                    let met = named
                        .addresses()
                        .iter()
                        .find_map(|address| Some((same_family(&own, *address)?, *address)));
                    let (local, address) = met?;
                    let peer = match self.way {
                        Way::Rendezvous => {
                            smoke::Peer::Rendezvous { address, wait: self.wish.wait }
                        }
                        _ => smoke::Peer::Serving { address },
                    };
                    (local, peer)
                }
            },
        };
        let mode = facts.mode_of(rdma.name, rdma.number).get().map(ToString::to_string);
        Some(Job {
            endpoint: Endpoint {
                netdev: netdev.to_owned(),
                device: rdma.name.to_owned(),
                local,
                mode,
            },
            peer,
            port: self.wish.port,
            tests: self.tests(),
            limits: self.limits(),
        })
    }

    /// Every test of the profile at every size of it.
    fn tests(&self) -> Vec<TestSpec> {
        let specs: Vec<TestSpec> = self
            .wish
            .tests
            .iter()
            .filter_map(|test| kind_of(*test))
            .flat_map(|test| {
                let sizes = self.wish.sizes.iter().filter_map(|size| u32::try_from(*size).ok());
                sizes.map(move |size_bytes| TestSpec::usual(test, size_bytes))
            })
            .collect();
        if specs.is_empty() { Job::default_tests() } else { specs }
    }
}

/// The first of our addresses that can talk to this one.
fn same_family(own: &[IpAddr], other: IpAddr) -> Option<IpAddr> {
    own.iter().copied().find(|address| address.is_ipv4() == other.is_ipv4())
}

fn kind_of(test: TestName) -> Option<TestKind> {
    match test {
        TestName::WriteLat => Some(TestKind::WriteLat),
        TestName::ReadLat => Some(TestKind::ReadLat),
        TestName::WriteBw => Some(TestKind::WriteBw),
        TestName::ReadBw => Some(TestKind::ReadBw),
        TestName::SendLat | TestName::SendBw => None,
    }
}
