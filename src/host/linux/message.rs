//! Netlink messages as bytes: a request with its attributes, replies, the end of a conversation.

use std::io::Cursor;

use neli::ToBytes;
use neli::consts::nl::NlmF;
use neli::genl::{AttrTypeBuilder, Nlattr, NlattrBuilder};
use neli::nl::{NlPayload, NlmsghdrBuilder};
use neli::types::Buffer;

use super::netlink::Refusal;

const HEADER: usize = 16;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const FLAG_DUMP_INTERRUPTED: u16 = 0x10;
const FLAG_CAPPED: u16 = 0x100;
const FLAG_ACK_ATTRIBUTES: u16 = 0x200;
/// NLMSGERR_ATTR_MSG: the text of the extended acknowledgement.
const ERROR_TEXT: u16 = 1;
/// An attribute of a request.
pub(crate) struct Attribute(pub(crate) u16, pub(crate) Value);

/// Its value.
pub(crate) enum Value {
    /// Text, sent with a closing NUL.
    Text(String),
    /// A number of one byte.
    Byte(u8),
    /// A number of four bytes.
    Number(u32),
    /// Present or not.
    Flag,
}

/// A whole request.
pub(super) fn encode(
    kind: u16,
    dump: bool,
    sequence: u32,
    generic: Option<(u8, u8)>,
    attributes: &[Attribute],
) -> Result<Vec<u8>, Refusal> {
    let failed = |_| Refusal::said("the request cannot be encoded");
    let mut payload = Cursor::new(Vec::new());
    if let Some((command, version)) = generic {
        [command, version, 0, 0]
            .as_slice()
            .to_bytes(&mut payload)
            .map_err(|e| failed(e.to_string()))?;
    }
    for Attribute(name, value) in attributes {
        let bytes = match value {
            Value::Text(text) => [text.as_bytes(), &[0]].concat(),
            Value::Byte(number) => vec![*number],
            Value::Number(number) => number.to_ne_bytes().to_vec(),
            Value::Flag => Vec::new(),
        };
        let name = AttrTypeBuilder::default()
            .nla_type(*name)
            .build()
            .map_err(|e| failed(e.to_string()))?;
        let attribute: Nlattr<u16, Buffer> = NlattrBuilder::default()
            .nla_type(name)
            .nla_payload(Buffer::from(bytes))
            .build()
            .map_err(|e| failed(e.to_string()))?;
        attribute.to_bytes(&mut payload).map_err(|e| failed(e.to_string()))?;
    }
    let flags = if dump { NlmF::REQUEST | NlmF::DUMP } else { NlmF::REQUEST | NlmF::ACK };
    let message = NlmsghdrBuilder::default()
        .nl_type(kind)
        .nl_flags(flags)
        .nl_seq(sequence)
        .nl_payload(NlPayload::<u16, Buffer>::Payload(Buffer::from(payload.into_inner())))
        .build()
        .map_err(|e| failed(e.to_string()))?;
    let mut bytes = Cursor::new(Vec::new());
    message.to_bytes(&mut bytes).map_err(|e| failed(e.to_string()))?;
    Ok(bytes.into_inner())
}

/// Takes the replies to `sequence` out of one datagram. Some when the conversation is over.
pub(super) fn decode(
    datagram: &[u8],
    sequence: u32,
    replies: &mut Vec<Vec<u8>>,
) -> Option<Result<(), Refusal>> {
    let mut rest = datagram;
    while rest.len() >= HEADER {
        let length = number(&rest[0..4]) as usize;
        if length < HEADER || length > rest.len() {
            return Some(Err(Refusal::said("the kernel's reply is cut short")));
        }
        let kind = short(&rest[4..6]);
        let flags = short(&rest[6..8]);
        let ours = number(&rest[8..12]) == sequence;
        let payload = &rest[HEADER..length];
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        if !ours {
            continue;
        }
        match kind {
            DONE if flags & FLAG_DUMP_INTERRUPTED != 0 => {
                return Some(Err(Refusal::said("the list changed while the kernel was giving it")));
            }
            // The end of a dump carries its errno since 4.14, and the text after it.
            DONE => return Some(verdict(payload, 4, flags)),
            ERROR => {
                let request = match payload.get(4..8) {
                    Some(length) if flags & FLAG_CAPPED == 0 => number(length) as usize,
                    _ => HEADER,
                };
                return Some(verdict(payload, 4 + request.next_multiple_of(4), flags));
            }
            _ => replies.push(payload.to_vec()),
        }
    }
    None
}

fn verdict(payload: &[u8], text_at: usize, flags: u16) -> Result<(), Refusal> {
    let code = payload.get(..4).map_or(0, |code| number(code).cast_signed());
    if code == 0 {
        return Ok(());
    }
    let text = (flags & FLAG_ACK_ATTRIBUTES != 0)
        .then(|| {
            payload
                .get(text_at..)
                .and_then(|rest| attributes(rest).find(|(name, _)| *name == ERROR_TEXT))
        })
        .flatten()
        .map(|(_, text)| string(text));
    Err(Refusal::of(code.wrapping_neg(), text))
}

/// The extended acknowledgement's text in the payload of an error message, as rtnetlink hands it on
/// (everything after the errno).
pub(crate) fn error_text(after_code: &[u8]) -> Option<String> {
    let request = number(after_code.get(..4)?) as usize;
    let at = request.next_multiple_of(4);
    // Without NLM_F_CAPPED the whole request comes first; with it, only its header.
    [at, HEADER].into_iter().find_map(|at| {
        let (name, text) = attributes(after_code.get(at..)?).next()?;
        (name == ERROR_TEXT && text.last() == Some(&0)).then(|| string(text))
    })
}

/// The attributes in a payload: name and value. Stops at the first that makes no sense.
pub(crate) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(short(rest.get(0..2)?));
        // The two upper bits say "nested" and "network order".
        let name = short(rest.get(2..4)?) & 0x3fff;
        let value = rest.get(4..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((name, value))
    })
}

/// The value of an attribute.
pub(crate) fn attribute(payload: &[u8], name: u16) -> Option<&[u8]> {
    attributes(payload).find(|(other, _)| *other == name).map(|(_, value)| value)
}

/// An attribute's number of one to four bytes.
pub(crate) fn number(bytes: &[u8]) -> u32 {
    match *bytes {
        [a, b, c, d, ..] => u32::from_ne_bytes([a, b, c, d]),
        [a, b, ..] => u16::from_ne_bytes([a, b]).into(),
        [a] => a.into(),
        [] => 0,
    }
}

fn short(bytes: &[u8]) -> u16 {
    match *bytes {
        [a, b, ..] => u16::from_ne_bytes([a, b]),
        _ => 0,
    }
}

/// An attribute's text, up to its NUL.
pub(crate) fn string(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
