//! Ethernet hardware addresses.

use std::fmt;
use std::str::FromStr;

use super::{InvalidValue, serde_as_text};

/// A 48-bit Ethernet address, written `00:1b:21:00:00:01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddr(
    /// The six bytes in the order of the wire.
    pub [u8; 6],
);

impl MacAddr {
    /// Whether the group bit is set: never the address of a port.
    pub fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for MacAddr {
    type Err = InvalidValue;

    /// Reads six pairs of hexadecimal digits with `:` or `-` between them.
    fn from_str(text: &str) -> Result<MacAddr, InvalidValue> {
        let separator = if text.contains('-') { '-' } else { ':' };
        let mut bytes = [0; 6];
        let mut count = 0;
        for part in text.split(separator) {
            let digits = part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
            match (digits, bytes.get_mut(count), u8::from_str_radix(part, 16)) {
                (true, Some(byte), Ok(value)) => *byte = value,
                _ => return Err(not_a_mac(text)),
            }
            count += 1;
        }
        if count == 6 { Ok(MacAddr(bytes)) } else { Err(not_a_mac(text)) }
    }
}

fn not_a_mac(text: &str) -> InvalidValue {
    InvalidValue::new(
        "a MAC address",
        text,
        "its form is six pairs of hexadecimal digits, 00:1b:21:00:00:01",
    )
}

serde_as_text!(MacAddr);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_separators_are_read_and_colons_written() {
        let mac: MacAddr = "00-1B-21-ab-cd-EF".parse().unwrap();
        assert_eq!(mac.to_string(), "00:1b:21:ab:cd:ef");
        assert_eq!("00:1b:21:ab:cd:ef".parse(), Ok(mac));
        assert!(!mac.is_multicast());
        assert!(MacAddr([0xff; 6]).is_multicast());
    }

    #[test]
    fn wrong_counts_and_digits_are_refused() {
        for text in [
            "",
            "00:1b:21:00:00",
            "00:1b:21:00:00:01:02",
            "0:1:2:3:4:5",
            "+0:1b:21:00:00:01",
            "001b21000001",
        ] {
            assert_eq!(text.parse::<MacAddr>(), Err(not_a_mac(text)), "{text}");
        }
    }
}
