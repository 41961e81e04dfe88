//! Names that the kernel gives or takes: interfaces, modules, RDMA devices.

use std::fmt;
use std::str::FromStr;

use super::{InvalidValue, serde_as_text};

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The name as the kernel knows it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidValue;

            fn from_str(text: &str) -> Result<$name, InvalidValue> {
                $check(text).map($name)
            }
        }

        serde_as_text!($name);
    };
}

name_type!(
    /// Name of a network interface: at most 15 bytes (`IFNAMSIZ` with its NUL), none of `/`, `:`
    /// or white space, not `.` or `..`, as `dev_valid_name()` of the kernel has it.
    InterfaceName,
    check_interface
);

name_type!(
    /// Name of a kernel module, with `_` for `-` as in `/sys/module`; at most 55 bytes
    /// (`MODULE_NAME_LEN` with its NUL).
    ModuleName,
    check_module
);

name_type!(
    /// Name of an RDMA device as in `/sys/class/infiniband`: at most 63 bytes
    /// (`IB_DEVICE_NAME_MAX` with its NUL). `%` is refused: the kernel would number the device.
    RdmaDeviceName,
    check_rdma_device
);

fn check_interface(text: &str) -> Result<String, InvalidValue> {
    const KIND: &str = "an interface name";
    check_file_name(KIND, text, 15)?;
    if text.contains(':') {
        let parent = text.split(':').next().unwrap_or_default();
        let error = InvalidValue::new(
            KIND,
            text,
            "it contains `:`; an alias is only a label, put its address on the interface itself",
        );
        return Err(if parent.is_empty() { error } else { error.suggest(parent) });
    }
    Ok(text.to_owned())
}

fn check_module(text: &str) -> Result<String, InvalidValue> {
    const KIND: &str = "a module name";
    if text.is_empty() {
        return Err(InvalidValue::new(KIND, text, "it is empty"));
    }
    if let Some(stem) = text.split(".ko").next().filter(|_| text.contains(".ko")) {
        let error = InvalidValue::new(KIND, text, "that is the name of a file");
        return Err(error.suggest(stem.rsplit('/').next().unwrap_or(stem)));
    }
    if text.len() > 55 {
        return Err(too_long(KIND, text, 55));
    }
    let wrong = text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
    match wrong {
        Some(c) => Err(contains(KIND, text, c)),
        None => Ok(text.replace('-', "_")),
    }
}

fn check_rdma_device(text: &str) -> Result<String, InvalidValue> {
    const KIND: &str = "an RDMA device name";
    check_file_name(KIND, text, 63)?;
    match text.chars().find(|c| *c == '%') {
        Some(c) => Err(contains(KIND, text, c)),
        None => Ok(text.to_owned()),
    }
}

/// What both kinds of device name share, since each becomes a folder in sysfs.
fn check_file_name(kind: &'static str, text: &str, limit: usize) -> Result<(), InvalidValue> {
    if text.is_empty() {
        return Err(InvalidValue::new(kind, text, "it is empty"));
    }
    if text.len() > limit {
        return Err(too_long(kind, text, limit));
    }
    if matches!(text, "." | "..") {
        return Err(InvalidValue::new(kind, text, "that is a folder"));
    }
    let wrong = text.chars().find(|c| *c == '/' || c.is_whitespace() || c.is_control());
    wrong.map_or(Ok(()), |c| Err(contains(kind, text, c)))
}

fn too_long(kind: &'static str, text: &str, limit: usize) -> InvalidValue {
    InvalidValue::new(kind, text, format!("it has {} bytes, the kernel takes {limit}", text.len()))
}

fn contains(kind: &'static str, text: &str, c: char) -> InvalidValue {
    let named = match c {
        ' ' => "a space".to_owned(),
        '\t' => "a tab".to_owned(),
        c if c.is_control() || c.is_whitespace() => c.escape_unicode().to_string(),
        c => format!("`{c}`"),
    };
    InvalidValue::new(kind, text, format!("it contains {named}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason<T: FromStr<Err = InvalidValue> + fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err().reason
    }

    #[test]
    fn interface_names_follow_the_kernel() {
        assert_eq!("ens1f0np0.100".parse::<InterfaceName>().unwrap().as_str(), "ens1f0np0.100");
        assert_eq!(
            reason::<InterfaceName>("ens1f0np0.100000"),
            "it has 16 bytes, the kernel takes 15"
        );
        // Bytes, not characters.
        assert_eq!(reason::<InterfaceName>("éééééééé"), "it has 16 bytes, the kernel takes 15");
        assert_eq!(reason::<InterfaceName>(""), "it is empty");
        assert_eq!(reason::<InterfaceName>(".."), "that is a folder");
        assert_eq!(reason::<InterfaceName>("a/b"), "it contains `/`");
        assert_eq!(reason::<InterfaceName>("a b"), "it contains a space");
        assert_eq!(reason::<InterfaceName>("a\0b"), "it contains \\u{0}");
        let alias = "eth0:1".parse::<InterfaceName>().unwrap_err();
        assert_eq!(alias.suggestion.as_deref(), Some("eth0"));
    }

    #[test]
    fn module_names_are_those_of_sysfs() {
        assert_eq!("rdma-rxe".parse::<ModuleName>().unwrap().as_str(), "rdma_rxe");
        let file = "/lib/modules/irdma.ko.xz".parse::<ModuleName>().unwrap_err();
        assert_eq!(file.suggestion.as_deref(), Some("irdma"));
        assert_eq!(reason::<ModuleName>("../x"), "it contains `.`");
        assert_eq!(reason::<ModuleName>("-r irdma"), "it contains a space");
        assert_eq!(reason::<ModuleName>(&"m".repeat(56)), "it has 56 bytes, the kernel takes 55");
    }

    #[test]
    fn rdma_device_names_follow_the_kernel() {
        assert_eq!("rdmap2s0f0".parse::<RdmaDeviceName>().unwrap().to_string(), "rdmap2s0f0");
        assert_eq!(reason::<RdmaDeviceName>("rxe%d"), "it contains `%`");
        assert_eq!(
            reason::<RdmaDeviceName>(&"d".repeat(64)),
            "it has 64 bytes, the kernel takes 63"
        );
    }
}
