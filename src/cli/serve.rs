//! `serve`: answers smoke tests until it is stopped. Changes nothing.

use std::io::Write;
use std::net::IpAddr;

use super::answer::Answer;
use super::args::{Global, ServeArgs};
use super::choices::Output;
use super::error::{CliError, Kind};
use super::{ports, progress, source};
use crate::claims::Port;
use crate::facts::{Facts, GidScan, Scope};
use crate::profile::{HostProfile, InterfaceWish};
use crate::report::write_document;
use crate::smoke::{self, Endpoint, Limits, ServeOptions};

pub(super) fn run(
    args: &ServeArgs,
    global: &Global,
    err: &mut dyn Write,
) -> Result<Answer, CliError> {
    let look = source::look(None, global)?;
    let look = look.as_ref();
    let profile = ports::profile(&args.profile, look, global)?;
    let scope = Scope { gids: GidScan::All, ..Scope::default() };
    let facts = look.look(&scope).map_err(|error| source::unseen(&error))?;
    let wish = profile.smoke.clone().unwrap_or_else(|| ports::usual_smoke(&profile));
    let options = ServeOptions {
        endpoints: endpoints(args, &profile, &facts)?,
        port: wish.port,
        limits: Limits::default(),
        most_tests: None,
        stay: args.stay,
    };
    let progress = progress::lines(global.quiet, err);
    for end in &options.endpoints {
        progress.say(&format!(
            "serve on {} ({}) {}, TCP port {}",
            end.netdev, end.device, end.local, options.port
        ));
    }
    let served = smoke::serve(&options, &mut |event| progress::tell(progress.as_ref(), "", &event))
        .map_err(|error| CliError::new(Kind::Start, error.to_string()))?;
    drop(progress);
    Ok(match global.output {
        Output::Text => Answer::of_text(format!("stopped; tests answered: {served}\n")),
        Output::Json => {
            let mut text = Vec::new();
            write_document(
                &serde_json::json!({"format": 1, "command": "serve", "answered": served}),
                &mut text,
            )?;
            Answer::of_text(text)
        }
    })
}

/// The addresses to stand on: of each port the first that it has now.
fn endpoints(
    args: &ServeArgs,
    profile: &HostProfile,
    facts: &Facts,
) -> Result<Vec<Endpoint>, CliError> {
    let wishes: Vec<&InterfaceWish> = if args.interface.is_empty() {
        profile.interfaces.iter().filter(|wish| wish.rdma.is_some()).collect()
    } else {
        let named = args.interface.iter().map(|name| ports::named(profile, facts, name));
        named.collect::<Result<_, _>>()?
    };
    let mut endpoints = Vec::new();
    for wish in wishes {
        endpoints.extend(endpoints_of(wish, facts)?);
    }
    if endpoints.is_empty() {
        return Err(CliError::new(
            Kind::Start,
            "nothing to serve: the profile has no RDMA interface",
        ));
    }
    Ok(endpoints)
}

/// One endpoint for each address of the profile, so that peers of both families are answered.
fn endpoints_of(wish: &InterfaceWish, facts: &Facts) -> Result<Vec<Endpoint>, CliError> {
    let port = Port { wish: wish.clone() };
    let missing = |what: &str| {
        CliError::new(Kind::Start, format!("cannot serve on {}: {what}", port.selector()))
            .with_fix("`roce-setup check` tells what is missing; `roce-setup apply` sets it up")
    };
    let (netdev, _) =
        port.netdev(facts).map_err(|_| missing("there is not exactly one such interface"))?;
    let rdma = port.rdma(facts).ok().flatten().ok_or_else(|| missing("it has no RDMA device"))?;
    let link = facts.link(netdev).map_err(|why| missing(&why))?;
    let has = |ip: IpAddr| {
        link.is_some_and(|link| link.addresses.iter().any(|address| address.prefix.ip() == ip))
    };
    let addresses: Vec<IpAddr> = wish.addresses().map(|prefix| prefix.ip()).collect();
    if let Some(absent) = addresses.iter().find(|ip| !has(**ip)) {
        return Err(missing(&format!("it does not have {absent}")));
    }
    if addresses.is_empty() {
        return Err(missing("the profile gives it no address"));
    }
    let mode = facts.mode_of(rdma.name, rdma.number).get().map(ToString::to_string);
    let endpoint = |local| Endpoint {
        netdev: netdev.to_owned(),
        device: rdma.name.to_owned(),
        local,
        mode: mode.clone(),
    };
    Ok(addresses.into_iter().map(endpoint).collect())
}
