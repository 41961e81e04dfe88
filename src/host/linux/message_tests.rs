use proptest::prelude::*;

use super::*;

fn message(kind: u16, flags: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    all.extend(u32::try_from(HEADER + payload.len()).expect("short").to_ne_bytes());
    all.extend(kind.to_ne_bytes());
    all.extend(flags.to_ne_bytes());
    all.extend(sequence.to_ne_bytes());
    all.extend(0u32.to_ne_bytes());
    all.extend(payload);
    all.resize(all.len().next_multiple_of(4), 0);
    all
}

fn text(name: u16, value: &str) -> Vec<u8> {
    let mut all = Vec::new();
    all.extend(u16::try_from(value.len() + 5).expect("short").to_ne_bytes());
    all.extend(name.to_ne_bytes());
    all.extend(value.as_bytes());
    all.push(0);
    all.resize(all.len().next_multiple_of(4), 0);
    all
}

/// What the kernel sends back for a refused request of 20 bytes.
fn refusal(errno: i32, flags: u16, said: &str) -> Vec<u8> {
    let request = message(40, 5, 9, &[1, 2, 3, 4]);
    let kept = if flags & FLAG_CAPPED == 0 { request.as_slice() } else { &request[..HEADER] };
    let payload = [(-errno).to_ne_bytes().as_slice(), kept, &text(ERROR_TEXT, said)].concat();
    message(ERROR, flags, 9, &payload)
}

#[test]
fn a_request_is_a_header_and_its_attributes() {
    let bytes = encode(
        5121,
        true,
        9,
        None,
        &[Attribute(1, Value::Number(7)), Attribute(2, Value::Text("a".into()))],
    )
    .expect("encoded");
    assert_eq!(number(&bytes[..4]) as usize, bytes.len());
    assert_eq!(short(&bytes[4..6]), 5121);
    assert_eq!(short(&bytes[6..8]), 0x301);
    assert_eq!(number(&bytes[8..12]), 9);
    let found: Vec<_> = attributes(&bytes[HEADER..]).collect();
    assert_eq!(found, [(1, 7u32.to_ne_bytes().as_slice()), (2, b"a\0".as_slice())]);
}

#[test]
fn a_generic_request_has_its_command_first_and_a_flag_has_no_value() {
    let bytes = encode(
        20,
        false,
        1,
        Some((39, 1)),
        &[Attribute(86, Value::Flag), Attribute(87, Value::Byte(2))],
    )
    .expect("encoded");
    assert_eq!(bytes[HEADER..HEADER + 4], [39, 1, 0, 0]);
    assert_eq!(short(&bytes[6..8]), 0x5);
    let found: Vec<_> = attributes(&bytes[HEADER + 4..]).collect();
    assert_eq!(found, [(86, [].as_slice()), (87, [2].as_slice())]);
}

#[test]
fn the_kernels_own_text_is_kept_with_the_request_before_it_and_without() {
    for flags in [FLAG_ACK_ATTRIBUTES, FLAG_ACK_ATTRIBUTES | FLAG_CAPPED] {
        let end =
            decode(&refusal(95, flags, "ice: RoCEv2 is currently enabled."), 9, &mut Vec::new());
        let why = "ice: RoCEv2 is currently enabled. (EOPNOTSUPP)".to_owned();
        assert_eq!(end, Some(Err(Refusal { errno: Some(95), why })));
    }
    let end = decode(&refusal(1, 0, "not attributes"), 9, &mut Vec::new());
    assert_eq!(
        end,
        Some(Err(Refusal { errno: Some(1), why: "Operation not permitted (EPERM)".to_owned() }))
    );
}

#[test]
fn rtnetlinks_error_payload_holds_the_text_too() {
    let reply = refusal(22, FLAG_ACK_ATTRIBUTES, "mtu greater than device maximum");
    assert_eq!(
        error_text(&reply[HEADER + 4..]).as_deref(),
        Some("mtu greater than device maximum")
    );
    assert_eq!(error_text(&[]), None);
}

#[test]
fn replies_are_collected_until_the_end_of_the_dump_and_those_to_others_are_not() {
    let mut replies = Vec::new();
    let datagram =
        [message(20, 2, 9, &[1]), message(20, 2, 8, &[2]), message(20, 2, 9, &[3])].concat();
    assert_eq!(decode(&datagram, 9, &mut replies), None);
    assert_eq!(replies, [vec![1], vec![3]]);
    assert_eq!(decode(&message(DONE, 2, 9, &0i32.to_ne_bytes()), 9, &mut replies), Some(Ok(())));
    let broken_off = decode(&message(DONE, 2, 9, &(-19i32).to_ne_bytes()), 9, &mut replies);
    assert_eq!(
        broken_off,
        Some(Err(Refusal { errno: Some(19), why: "No such device (ENODEV)".to_owned() }))
    );
    let interrupted = decode(&message(DONE, FLAG_DUMP_INTERRUPTED, 9, &[0; 4]), 9, &mut replies);
    let why = "the list changed while the kernel was giving it".to_owned();
    assert_eq!(interrupted, Some(Err(Refusal { errno: None, why })));
}

#[test]
fn a_reply_that_is_cut_short_is_refused() {
    let whole = message(20, 0, 9, &[0; 40]);
    let end = decode(&whole[..30], 9, &mut Vec::new());
    assert_eq!(end, Some(Err(Refusal::said("the kernel's reply is cut short"))));
}

proptest! {
    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes, 9, &mut Vec::new());
        let _ = error_text(&bytes);
        for (_, value) in attributes(&bytes) {
            let _ = (number(value), string(value));
        }
    }
}
