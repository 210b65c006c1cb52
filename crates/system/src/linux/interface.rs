//! The network interface through which packets to a server leave this machine, and its nominal
//! speed. The interface cannot show whether a slower link follows.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};

/// The interfaces of the network namespace in which /sys was mounted.
const INTERFACES_FOLDER: &str = "/sys/class/net";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkInterface {
    pub name: String,
    /// True if packets sent through the interface stay on this machine.
    pub is_loopback: bool,
    /// The speed in /sys/class/net/NAME/speed, in bits per second; `None` if the driver does not
    /// know it (virtual machines) or the interface has no device (containers).
    pub bits_per_s: Option<u64>,
}

/// The interface on the route to an address. Nothing is sent.
pub fn on_route_to(server: SocketAddr) -> io::Result<NetworkInterface> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    // Connecting a UDP socket only selects the route.
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(server)?;
    let own = socket.local_addr()?.ip();
    let found = if_addrs::get_if_addrs()?.into_iter().find(|it| it.ip() == own);
    let found = found.ok_or_else(|| io::Error::other(format!("no interface has the address {own}")))?;
    let folder = Path::new(INTERFACES_FOLDER).join(&found.name);
    let speed = || bits_per_s(&fs::read_to_string(folder.join("speed")).ok()?);
    let bits_per_s = if has_devices(&folder) { speed() } else { None };
    Ok(NetworkInterface { is_loopback: found.is_loopback(), name: found.name, bits_per_s })
}

/// True if the interface has a device, or all interfaces below it (`lower_NAME`) have one. Other
/// interfaces, such as `veth` and `tun`, report a speed that is not the speed of a link.
fn has_devices(folder: &Path) -> bool {
    if folder.join("device").exists() {
        return true;
    }
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let lower: Vec<PathBuf> = names
        .filter_map(|name| Some(folder.with_file_name(name.to_str()?.strip_prefix("lower_")?)))
        .collect();
    !lower.is_empty() && lower.iter().all(|below| has_devices(below))
}

/// Parses the kernel's value in megabits per second; -1 means unknown.
fn bits_per_s(text: &str) -> Option<u64> {
    let megabits: u64 = text.trim().parse().ok()?;
    megabits.checked_mul(1_000_000).filter(|speed| *speed > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_are_reached_through_the_loopback_interface() {
        let found = on_route_to("127.0.0.1:80".parse().unwrap()).unwrap();
        assert!(found.is_loopback, "{found:?}");
        assert_eq!(found.bits_per_s, None);
    }

    #[test]
    fn only_interfaces_on_devices_have_a_speed() {
        let interfaces = tempfile::tempdir().unwrap();
        let at = |name: &str| interfaces.path().join(name);
        for folder in ["eth0/device", "eth1/device", "veth0", "tun0", "vlan/lower_eth0", "bond/lower_eth0"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for folder in ["bond/lower_eth1", "bridge/lower_eth0", "bridge/lower_veth0", "stack/lower_bond"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for name in ["eth0", "vlan", "bond", "stack"] {
            assert!(has_devices(&at(name)), "{name}");
        }
        for name in ["veth0", "tun0", "bridge", "none"] {
            assert!(!has_devices(&at(name)), "{name}");
        }
    }

    #[test]
    fn interface_speeds_are_in_megabits_and_minus_one_means_unknown() {
        assert_eq!(bits_per_s("10000\n"), Some(10_000_000_000));
        for unknown in ["-1\n", "0\n", "", "fast\n", "99999999999999999999\n"] {
            assert_eq!(bits_per_s(unknown), None, "{unknown:?}");
        }
    }
}
