//! rtnetlink behind a synchronous face: the only file that knows of an asynchronous runtime, which
//! carries the changes.
//!
//! Each call runs in a thread of its own, so that it can be made from anywhere and ends at its
//! deadline even if the kernel does not answer.

use futures_util::StreamExt;
use neli::consts::socket::NlFamily;
use rtnetlink::packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload, ParseableParametrized,
};
use rtnetlink::packet_route::address::AddressMessage;
use rtnetlink::packet_route::link::{LinkAttribute, LinkExtentMask, LinkMessage};
use rtnetlink::packet_route::route::RouteMessage;
use rtnetlink::packet_route::{AddressFamily, RouteNetlinkMessage};
use rtnetlink::sys::AsyncSocket;
use rtnetlink::{Handle, new_connection};

use super::deadline::{CHANGE, READ, within};
use super::message::error_text;
use super::netlink::{Refusal, Session};

/// All links and addresses of this network namespace, and its routes where they are asked for.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) links: Vec<LinkMessage>,
    pub(crate) addresses: Vec<AddressMessage>,
    pub(crate) routes: Option<Vec<RouteMessage>>,
}

/// How often a dump is asked for that a change of the tables interrupts.
const ATTEMPTS: usize = 3;

/// Reads the tables, one dump each: rtnetlink's messages over a plain socket. A look is frequent,
/// and the runtime alone would cost it as much as all four dumps.
pub(crate) fn tables(with_routes: bool) -> Result<Tables, Refusal> {
    within(READ, move || {
        let mut session = Session::open(NlFamily::Route)?;
        let mut all = LinkMessage::default();
        // Without it the kernel adds some 300 bytes of counters to each link.
        all.attributes.push(LinkAttribute::ExtMask(vec![LinkExtentMask::SkipStats]));
        let mut tables = Tables::default();
        for reply in dump(&mut session, &RouteNetlinkMessage::GetLink(all))? {
            tables.links.extend(match reply {
                RouteNetlinkMessage::NewLink(link) => Some(link),
                _ => None,
            });
        }
        let addresses = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        for reply in dump(&mut session, &addresses)? {
            tables.addresses.extend(match reply {
                RouteNetlinkMessage::NewAddress(address) => Some(address),
                _ => None,
            });
        }
        if with_routes {
            tables.routes = Some(routes(&mut session)?);
        }
        Ok(tables)
    })
    .unwrap_or_else(|late| Err(Refusal::said(late.to_string())))
}

fn routes(session: &mut Session) -> Result<Vec<RouteMessage>, Refusal> {
    let mut routes = Vec::new();
    for family in [AddressFamily::Inet, AddressFamily::Inet6] {
        let mut wanted = RouteMessage::default();
        wanted.header.address_family = family;
        for reply in dump(session, &RouteNetlinkMessage::GetRoute(wanted))? {
            routes.extend(match reply {
                RouteNetlinkMessage::NewRoute(route) => Some(route),
                _ => None,
            });
        }
    }
    Ok(routes)
}

/// One dump, decoded.
fn dump(
    session: &mut Session,
    request: &RouteNetlinkMessage,
) -> Result<Vec<RouteNetlinkMessage>, Refusal> {
    let mut refusal = Refusal::said("not asked");
    for _ in 0..ATTEMPTS {
        match session.dump(|sequence| encode(request, sequence)) {
            Ok(replies) => return replies.iter().map(|reply| decode(request, reply)).collect(),
            Err(error) if error.errno.is_some() => return Err(error),
            Err(interrupted) => refusal = interrupted,
        }
    }
    Err(refusal)
}

fn encode(request: &RouteNetlinkMessage, sequence: u32) -> Vec<u8> {
    let mut message = NetlinkMessage::from(request.clone());
    message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.header.sequence_number = sequence;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn decode(request: &RouteNetlinkMessage, reply: &[u8]) -> Result<RouteNetlinkMessage, Refusal> {
    // linux/rtnetlink.h: each RTM_GET* is answered with the RTM_NEW* two before it.
    RouteNetlinkMessage::parse_with_param(reply, request.message_type() - 2)
        .map_err(|error| Refusal::said(format!("the kernel's reply is not understood: {error}")))
}

/// Makes one change; `flags` beside REQUEST and ACK.
pub(crate) fn change(message: RouteNetlinkMessage, flags: u16) -> Result<(), Refusal> {
    converse(CHANGE, move |mut handle| async move {
        request(&mut handle, message, NLM_F_REQUEST | NLM_F_ACK | flags).await
    })
}

/// The kernel's index of an interface, without a dump.
pub(crate) fn index(netdev: &str) -> Result<u32, Refusal> {
    nix::net::if_::if_nametoindex(netdev)
        .map_err(|errno| Refusal::of(errno as i32, Some(format!("there is no interface {netdev}"))))
}

async fn request(
    handle: &mut Handle,
    message: RouteNetlinkMessage,
    flags: u16,
) -> Result<(), Refusal> {
    let mut message = NetlinkMessage::from(message);
    message.header.flags = flags;
    let mut answers =
        handle.request(message).map_err(|_| Refusal::said("the netlink socket is closed"))?;
    while let Some(answer) = answers.next().await {
        if let NetlinkPayload::Error(error) = answer.payload
            && error.code.is_some()
        {
            return Err(Refusal::of(error.raw_code().wrapping_neg(), error_text(&error.header)));
        }
    }
    Ok(())
}

/// Opens a connection for one conversation and bounds its time.
fn converse<T, F>(
    limit: std::time::Duration,
    talk: impl FnOnce(Handle) -> F + Send + 'static,
) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Refusal>>,
{
    within(limit, move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async move {
            let (mut connection, handle, _unsolicited) = new_connection()?;
            // Not on kernels before 4.12: the errno alone is then what there is.
            let _ = connection.socket_mut().socket_mut().set_ext_ack(true);
            tokio::spawn(connection);
            match tokio::time::timeout(limit, talk(handle)).await {
                Ok(answer) => answer,
                Err(_) => Err(Refusal::said(format!(
                    "no answer from the kernel in {} s",
                    limit.as_secs()
                ))),
            }
        })
    })
    .unwrap_or_else(|late| Err(Refusal::said(late.to_string())))
}
