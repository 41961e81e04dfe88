//! rtnetlink behind a synchronous face: the only file that knows of an asynchronous runtime.
//!
//! Each call has a thread and a runtime of its own, so that it can be made from anywhere and ends at
//! its deadline even if the kernel does not answer.

use futures_util::StreamExt;
use rtnetlink::packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use rtnetlink::packet_route::address::AddressMessage;
use rtnetlink::packet_route::link::{LinkAttribute, LinkExtentMask, LinkMessage};
use rtnetlink::packet_route::route::RouteMessage;
use rtnetlink::packet_route::{AddressFamily, RouteNetlinkMessage};
use rtnetlink::sys::AsyncSocket;
use rtnetlink::{Handle, new_connection};

use super::deadline::{CHANGE, READ, within};
use super::message::error_text;
use super::netlink::Refusal;

/// All links, addresses and routes of this network namespace.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) links: Vec<LinkMessage>,
    pub(crate) addresses: Vec<AddressMessage>,
    pub(crate) routes: Vec<RouteMessage>,
}

/// Reads the tables, one dump each.
pub(crate) fn tables() -> Result<Tables, Refusal> {
    converse(READ, |mut handle| async move {
        let mut tables = Tables::default();
        let mut all = LinkMessage::default();
        // Without it the kernel adds some 300 bytes of counters to each link.
        all.attributes.push(LinkAttribute::ExtMask(vec![LinkExtentMask::SkipStats]));
        let mut dumps = vec![
            RouteNetlinkMessage::GetLink(all),
            RouteNetlinkMessage::GetAddress(AddressMessage::default()),
        ];
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut routes = RouteMessage::default();
            routes.header.address_family = family;
            dumps.push(RouteNetlinkMessage::GetRoute(routes));
        }
        for dump in dumps {
            for reply in request(&mut handle, dump, NLM_F_REQUEST | NLM_F_DUMP).await? {
                match reply {
                    RouteNetlinkMessage::NewLink(link) => tables.links.push(link),
                    RouteNetlinkMessage::NewAddress(address) => tables.addresses.push(address),
                    RouteNetlinkMessage::NewRoute(route) => tables.routes.push(route),
                    _ => {}
                }
            }
        }
        Ok(tables)
    })
}

/// Makes one change; `flags` beside REQUEST and ACK.
pub(crate) fn change(message: RouteNetlinkMessage, flags: u16) -> Result<(), Refusal> {
    converse(CHANGE, move |mut handle| async move {
        request(&mut handle, message, NLM_F_REQUEST | NLM_F_ACK | flags).await.map(drop)
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
) -> Result<Vec<RouteNetlinkMessage>, Refusal> {
    let mut message = NetlinkMessage::from(message);
    message.header.flags = flags;
    let mut answers =
        handle.request(message).map_err(|_| Refusal::said("the netlink socket is closed"))?;
    let mut replies = Vec::new();
    while let Some(answer) = answers.next().await {
        match answer.payload {
            NetlinkPayload::InnerMessage(reply) => replies.push(reply),
            NetlinkPayload::Error(error) if error.code.is_some() => {
                return Err(Refusal::of(
                    error.raw_code().wrapping_neg(),
                    error_text(&error.header),
                ));
            }
            NetlinkPayload::Done(done) if done.code != 0 => {
                return Err(Refusal::of(done.code.wrapping_neg(), None));
            }
            NetlinkPayload::Overrun(_) => {
                return Err(Refusal::said("the kernel's list did not fit the socket's buffer"));
            }
            _ => {}
        }
    }
    Ok(replies)
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
