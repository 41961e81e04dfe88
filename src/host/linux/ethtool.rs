//! Driver and firmware versions: SIOCETHTOOL with ETHTOOL_GDRVINFO, the way that also old kernels know.

use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use super::message::string;
use super::tree::errno_words;
use crate::facts::{DriverInfo, Seen};

const SOURCE: &str = "ioctl SIOCETHTOOL (ethtool -i)";
/// `linux/sockios.h`
const SIOCETHTOOL: u64 = 0x8946;
/// `linux/ethtool.h`
const ETHTOOL_GDRVINFO: u32 = 3;

/// `struct ethtool_drvinfo`.
#[repr(C)]
struct DrvInfo {
    cmd: u32,
    driver: [u8; 32],
    version: [u8; 32],
    firmware: [u8; 32],
    bus: [u8; 32],
    erom: [u8; 32],
    reserved: [u8; 12],
    counts: [u32; 5],
}

nix::ioctl_readwrite_bad!(ethtool, SIOCETHTOOL, libc::ifreq);

/// Asks for all interfaces over one socket.
pub(crate) fn drivers<'a>(
    netdevs: impl Iterator<Item = &'a String>,
) -> Vec<(String, Seen<DriverInfo>)> {
    let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None);
    netdevs
        .map(|netdev| {
            let answer =
                socket.as_ref().map_err(|errno| *errno).and_then(|socket| driver(socket, netdev));
            let seen = match answer {
                Ok(info) => Seen::known(info, SOURCE),
                Err(errno) => Seen::unknown(errno_words(errno as i32), SOURCE),
            };
            (netdev.clone(), seen)
        })
        .collect()
}

fn driver(socket: &impl AsRawFd, netdev: &str) -> Result<DriverInfo, Errno> {
    let mut info = DrvInfo {
        cmd: ETHTOOL_GDRVINFO,
        driver: [0; 32],
        version: [0; 32],
        firmware: [0; 32],
        bus: [0; 32],
        erom: [0; 32],
        reserved: [0; 12],
        counts: [0; 5],
    };
    let mut name = [0; libc::IFNAMSIZ];
    if netdev.len() >= libc::IFNAMSIZ {
        return Err(Errno::ENAMETOOLONG);
    }
    for (to, from) in name.iter_mut().zip(netdev.bytes()) {
        *to = from.cast_signed();
    }
    let mut request = libc::ifreq {
        ifr_name: name,
        ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: (&raw mut info).cast() },
    };
    // SAFETY: `request` is a whole ifreq whose name ends in NUL, and its data points to `info`, which
    // has the kernel's layout of ethtool_drvinfo (196 bytes), is writable and outlives the call.
    unsafe { ethtool(socket.as_raw_fd(), &raw mut request) }?;
    Ok(DriverInfo {
        driver: string(&info.driver),
        version: string(&info.version),
        firmware: string(&info.firmware),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(size_of::<DrvInfo>(), 196);
        assert_eq!(std::mem::offset_of!(DrvInfo, counts), 176);
    }

    #[test]
    fn an_interface_that_is_not_there_is_unknown_in_the_kernels_words() {
        let names = ["nosuchif0".to_owned(), "a-name-that-is-too-long".to_owned()];
        let seen = drivers(names.iter());
        assert_eq!(seen[0].1, Seen::unknown("No such device (ENODEV)", SOURCE));
        assert_eq!(seen[1].1, Seen::unknown("File name too long (ENAMETOOLONG)", SOURCE));
    }
}
