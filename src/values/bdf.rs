//! PCI addresses.

use std::fmt;
use std::str::FromStr;

use super::{InvalidValue, serde_as_text};

/// Address of a PCI function, `0000:02:00.0`. Linux numbers domains above 0xffff on some virtual
/// bridges (VMD), hence 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdf {
    /// PCI domain (segment).
    pub domain: u32,
    /// Bus number.
    pub bus: u8,
    /// Device (slot), 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
}

impl fmt::Display for Bdf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

impl FromStr for Bdf {
    type Err = InvalidValue;

    /// Reads `0000:02:00.0`, and `02:00.0` in domain 0 as lspci prints it.
    fn from_str(text: &str) -> Result<Bdf, InvalidValue> {
        let invalid = |reason: &str| Err(InvalidValue::new("a PCI address", text, reason));
        const FORM: &str = "its form is 0000:02:00.0 (domain:bus:device.function, hexadecimal)";
        let Some((path, function)) = text.rsplit_once('.') else {
            return invalid(FORM);
        };
        let parts: Vec<&str> = path.split(':').collect();
        let (domain, bus, device) = match parts.as_slice() {
            [domain, bus, device] => (*domain, *bus, *device),
            [bus, device] => ("0000", *bus, *device),
            _ => return invalid(FORM),
        };
        let (Some(domain), Some(bus), Some(device), Some(function)) =
            (hex(domain, 4..=8), hex(bus, 2..=2), hex(device, 2..=2), hex(function, 1..=1))
        else {
            return invalid(FORM);
        };
        if device > 31 {
            return invalid("a device number is at most 1f");
        }
        if function > 7 {
            return invalid("a function number is at most 7");
        }
        Ok(Bdf { domain, bus: bus as u8, device: device as u8, function: function as u8 })
    }
}

/// A hexadecimal number of so many digits; `from_str_radix` alone would take a sign.
fn hex(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    (digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit()))
        .then(|| u32::from_str_radix(text, 16).ok())
        .flatten()
}

serde_as_text!(Bdf);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_and_short_forms_are_read() {
        let bdf = Bdf { domain: 0, bus: 2, device: 0, function: 1 };
        assert_eq!("0000:02:00.1".parse(), Ok(bdf));
        assert_eq!("02:00.1".parse(), Ok(bdf));
        assert_eq!(bdf.to_string(), "0000:02:00.1");
        assert_eq!("10000:E1:1F.7".parse::<Bdf>().unwrap().to_string(), "10000:e1:1f.7");
    }

    #[test]
    fn anything_else_is_refused_with_the_form() {
        for text in ["", "0000:02:00", "2:0.0", "0000:02:00.+1", "0000:02:00.0.0", "é:é.é"] {
            let error = text.parse::<Bdf>().unwrap_err();
            assert_eq!(
                error.reason, "its form is 0000:02:00.0 (domain:bus:device.function, hexadecimal)",
                "{text}"
            );
        }
        let error = "0000:02:20.0".parse::<Bdf>().unwrap_err();
        assert_eq!(error.reason, "a device number is at most 1f");
        let error = "0000:02:00.8".parse::<Bdf>().unwrap_err();
        assert_eq!(error.reason, "a function number is at most 7");
    }
}
