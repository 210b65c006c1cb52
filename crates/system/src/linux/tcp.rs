//! TCP functions that the standard library lacks: a port that refuses connections, a reset, and the
//! user at the other end of a connection.

use rustix::io::retry_on_intr;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::set_socket_linger;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, bind, getsockname, recv, sendto, socket};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A port of 127.0.0.1 that refuses connections and that no other program can get, because its
/// socket is bound but does not listen. The port is released when this value is dropped.
#[derive(Debug)]
pub struct RefusingPort {
    _socket: OwnedFd,
    pub port: u16,
}

impl RefusingPort {
    pub fn take() -> io::Result<RefusingPort> {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address: SocketAddrV4 = getsockname(&socket)?.try_into()?;
        Ok(RefusingPort { _socket: socket, port: address.port() })
    }
}

/// Makes closing the connection send a reset, even if data is in transit.
pub fn reset_at_end(connection: &TcpStream) -> io::Result<()> {
    Ok(set_socket_linger(connection, Some(Duration::ZERO))?)
}

/// The users at the other ends of connections over 127.0.0.1, from sock_diag(7). One descriptor
/// serves all requests, so that a shortage of descriptors hides no user.
#[derive(Debug)]
pub struct PeerUsers {
    diag_socket: Mutex<DiagSocket>,
}

#[derive(Debug)]
struct DiagSocket {
    socket: OwnedFd,
    request_count: u32,
}

impl PeerUsers {
    /// `None` if the kernel does not report the user, which is tested with a connection to this
    /// port.
    pub fn open(listener: &TcpListener) -> io::Result<Option<PeerUsers>> {
        let Ok(socket) = socket(AddressFamily::NETLINK, SocketType::DGRAM, Some(SOCK_DIAG)) else {
            return Ok(None);
        };
        let users = PeerUsers { diag_socket: Mutex::new(DiagSocket { socket, request_count: 0 }) };
        let client = TcpStream::connect(listener.local_addr()?)?;
        let own = client.local_addr()?;
        loop {
            // Another program may connect meanwhile.
            let (connection, from) = listener.accept()?;
            if from == own {
                return Ok(users.user_of(&connection).map(|_| users));
            }
        }
    }

    /// The user id of the process at the other end of a connection; `None` if no process has it
    /// open any more.
    pub fn user_of(&self, connection: &TcpStream) -> Option<u32> {
        let (SocketAddr::V4(peer), SocketAddr::V4(own)) =
            (connection.peer_addr().ok()?, connection.local_addr().ok()?)
        else {
            return None;
        };
        let mut kernel = self.diag_socket.lock().unwrap_or_else(PoisonError::into_inner);
        kernel.request_count = kernel.request_count.wrapping_add(1);
        let question = diag_request(kernel.request_count, peer, own);
        sendto(&kernel.socket, &question, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).ok()?;
        loop {
            let mut answer = [0_u8; 512];
            let receive = || recv(&kernel.socket, &mut answer[..], RecvFlags::empty());
            let (bytes, _) = retry_on_intr(receive).ok()?;
            let field = |at: usize| Some(u32::from_ne_bytes(answer[at..at + 4].try_into().ok()?));
            if field(8)? == kernel.request_count {
                // A socket that no process has open any more has inode 0, and user 0.
                let is_there =
                    bytes >= 88 && u16::from_ne_bytes([answer[4], answer[5]]) == SOCK_DIAG_BY_FAMILY;
                return if is_there && field(84)? != 0 { field(80) } else { None };
            }
        }
    }
}

/// The type of the request message and of its answer (linux/sock_diag.h).
const SOCK_DIAG_BY_FAMILY: u16 = 20;

/// The request for the one socket from `from` to `to`: `struct nlmsghdr` and `struct
/// inet_diag_req_v2`.
fn diag_request(number: u32, from: SocketAddrV4, to: SocketAddrV4) -> Vec<u8> {
    const REQUEST: u16 = 1;
    const TCP: u8 = 6;
    let family = u8::try_from(AddressFamily::INET.as_raw()).expect("it is 2");
    let ports = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    let header =
        [&72_u32.to_ne_bytes()[..], &SOCK_DIAG_BY_FAMILY.to_ne_bytes(), &REQUEST.to_ne_bytes()].concat();
    let sockets = [&from.ip().octets()[..], &[0; 12], &to.ip().octets(), &[0; 12]].concat();
    let (number, states) = (number.to_ne_bytes(), u32::MAX.to_ne_bytes());
    let parts: [&[u8]; 9] =
        [&header, &number, &[0; 4], &[family, TCP, 0, 0], &states, &ports, &sockets, &[0; 4], &[u8::MAX; 8]];
    parts.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read};

    #[test]
    fn a_refusing_port_cannot_be_bound_by_others() {
        let refusing = RefusingPort::take().unwrap();
        let address = (Ipv4Addr::LOCALHOST, refusing.port);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        assert_eq!(TcpListener::bind(address).unwrap_err().kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn the_user_of_the_peer_is_known_while_the_peer_is_connected() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let users = PeerUsers::open(&listener).unwrap().expect("a kernel with sock_diag(7)");
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        for _ in 0..3 {
            assert_eq!(users.user_of(&server), Some(rustix::process::geteuid().as_raw()));
        }
        drop(client);
        assert_eq!(users.user_of(&server), None);
    }

    #[test]
    fn a_reset_connection_fails_instead_of_ending() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        reset_at_end(&server).unwrap();
        drop(server);
        assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}
