//! The conversation below devlink and NETLINK_RDMA: one request, its replies, the kernel's own words.
//!
//! neli gives the socket and the encoding. Replies are decoded in `message.rs`, because neli's router
//! drops the text of the kernel's extended acknowledgement, which has to reach the user.

use neli::consts::socket::{Msg, NlFamily};
use neli::socket::NlSocket;
use neli::utils::Groups;

use super::message::{Attribute, decode, encode};
use super::tree::{errno_name, errno_words, words};

/// Larger than any message: the kernel fills up to 32 KiB in one go.
const BUFFER: usize = 64 << 10;

/// Why a request gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// errno, where the kernel gave one.
    pub(crate) errno: Option<i32>,
    /// The extended acknowledgement's text, else the errno's.
    pub(crate) why: String,
}

impl Refusal {
    pub(crate) fn of(errno: i32, text: Option<String>) -> Refusal {
        let why = match text {
            Some(text) => format!("{text} ({})", errno_name(errno)),
            None => errno_words(errno),
        };
        Refusal { errno: Some(errno), why }
    }

    pub(crate) fn said(why: impl Into<String>) -> Refusal {
        Refusal { errno: None, why: why.into() }
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Refusal {
        Refusal { errno: error.raw_os_error(), why: words(&error) }
    }
}

/// A netlink socket of one family.
pub(crate) struct Session {
    socket: NlSocket,
    sequence: u32,
    /// Made once: clearing it anew for each reply would touch all its pages.
    buffer: Vec<u8>,
}

impl Session {
    pub(crate) fn open(family: NlFamily) -> Result<Session, Refusal> {
        let socket = NlSocket::connect(family, None, Groups::empty())?;
        // Kernels before 4.12 do not know it; the errno alone is then what there is.
        let _ = socket.enable_ext_ack(true);
        Ok(Session { socket, sequence: 0, buffer: vec![0; BUFFER] })
    }

    /// Sends one request and collects the payloads of its replies. `generic` is the command and
    /// version of a generic netlink request.
    pub(crate) fn ask(
        &mut self,
        kind: u16,
        dump: bool,
        generic: Option<(u8, u8)>,
        attributes: &[Attribute],
    ) -> (Vec<Vec<u8>>, Result<(), Refusal>) {
        self.sequence += 1;
        let mut replies = Vec::new();
        let end = self.exchange(kind, dump, generic, attributes, &mut replies);
        (replies, end)
    }

    fn exchange(
        &mut self,
        kind: u16,
        dump: bool,
        generic: Option<(u8, u8)>,
        attributes: &[Attribute],
        replies: &mut Vec<Vec<u8>>,
    ) -> Result<(), Refusal> {
        let message = encode(kind, dump, self.sequence, generic, attributes)?;
        self.converse(&message, replies)
    }

    /// Sends a request that another codec makes with the sequence number given to it, and collects
    /// the payloads of its replies.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn dump(
        &mut self,
        encode: impl FnOnce(u32) -> Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Refusal> {
        self.sequence += 1;
        let mut replies = Vec::new();
        self.converse(&encode(self.sequence), &mut replies)?;
        Ok(replies)
    }

    fn converse(&mut self, message: &[u8], replies: &mut Vec<Vec<u8>>) -> Result<(), Refusal> {
        self.socket.send(message, Msg::empty())?;
        loop {
            let (length, _) = self.socket.recv(&mut self.buffer[..], Msg::empty())?;
            if let Some(end) = decode(&self.buffer[..length.min(BUFFER)], self.sequence, replies) {
                return end;
            }
        }
    }
}
