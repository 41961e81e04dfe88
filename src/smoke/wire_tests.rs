//! What a control connection makes of good, slow, silent and hostile peers.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::thread;

use proptest::prelude::*;

use super::*;

/// A wire and the raw end that feeds it.
fn wire() -> (Wire, UnixStream) {
    let (near, far) = UnixStream::pair().expect("a socket pair");
    (Wire::new(near.into()).expect("a wire"), far)
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(300)
}

#[test]
fn a_message_sent_byte_by_byte_arrives_whole_and_its_successor_stays_in_the_socket() {
    let (mut wire, mut far) = wire();
    let mut bytes = Vec::new();
    for body in [r#"{"message":"start"}"#, r#"{"message":"go"}"#] {
        bytes.extend_from_slice(&(body.len() as u32).to_be_bytes());
        bytes.extend_from_slice(body.as_bytes());
    }
    let sender = thread::spawn(move || {
        for byte in bytes {
            far.write_all(&[byte]).expect("a byte");
        }
        far
    });
    let later = Instant::now() + Duration::from_secs(5);
    assert_eq!(wire.receive(later), Ok(Message::Start));
    // Whoever takes the socket over finds the next message in it.
    let mut heir = Wire::new(wire.into_socket()).expect("a wire");
    assert_eq!(heir.receive(later), Ok(Message::Go));
    drop(sender.join().expect("the sender"));
    assert_eq!(heir.receive(later), Err(WireError::Closed));
}

#[test]
fn a_silent_and_a_half_silent_peer_meet_the_deadline() {
    let (mut wire, mut far) = wire();
    assert_eq!(wire.receive(soon()), Err(WireError::Deadline));
    far.write_all(&[0, 0, 0, 9, b'{']).expect("bytes");
    assert_eq!(wire.receive(soon()), Err(WireError::Deadline));
}

#[test]
fn a_peer_that_does_not_read_meets_the_deadline() {
    let (mut wire, _far) = wire();
    let message = Message::Failed { why: "x".repeat(60_000) };
    let result = (0..100).map(|_| wire.send(&message, soon())).find(Result::is_err);
    assert_eq!(result, Some(Err(WireError::Deadline)));
}

#[test]
fn what_is_no_message_is_said_to_be_none() {
    let told = |bytes: &[u8]| {
        let (mut wire, mut far) = wire();
        far.write_all(bytes).expect("bytes");
        wire.receive(soon()).map_err(|error| error.to_string())
    };
    let http = "the peer announced a message of 1195725856 bytes, 65536 at most are possible: it is not a roce-setup smoke peer";
    assert_eq!(told(b"GET / HTTP/1.1\r\n"), Err(http.to_owned()));
    let empty = "the peer sent something that is not a smoke message: an empty one";
    assert_eq!(told(&[0, 0, 0, 0]), Err(empty.to_owned()));
    let other = br#"{"message":"hello","protocol":"roce-setup-smoke","version":7,"novelty":[1]}"#;
    let mut frame = (other.len() as u32).to_be_bytes().to_vec();
    frame.extend_from_slice(other);
    let version = "the peer sent something that is not a smoke message: it speaks roce-setup-smoke version 7, this end roce-setup-smoke version 1";
    assert_eq!(told(&frame), Err(version.to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_end_in_a_message_or_an_error_and_bounded_memory(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let (mut wire, mut far) = wire();
        far.write_all(&bytes).expect("bytes");
        drop(far);
        let end = loop {
            match wire.receive(soon()) {
                Ok(_) => {}
                Err(error) => break error,
            }
            prop_assert!(wire.partial.capacity() <= 2 * (MAX_MESSAGE_BYTES + HEADER_BYTES));
        };
        prop_assert!(end != WireError::Deadline, "a closed connection was waited for");
    }

    #[test]
    fn any_body_parses_or_says_why_not(body in "\\PC*", name in "(hello|ready|begin|verify|measured|finished|failed)") {
        let _ = Message::parse(body.as_bytes());
        let json = format!(r#"{{"message":"{name}","why":{:?},"bytes":4294967296,"seed":-1}}"#, body);
        if let Err(error) = Message::parse(json.as_bytes()) {
            prop_assert!(matches!(error, WireError::NotAMessage(_)));
        }
    }
}
