//! What the standard library cannot do with TCP: a port that is taken and refuses, and a reset.

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket, sockopt::set_socket_linger};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A port of 127.0.0.1 that no other program gets and that refuses connections, until it is
/// dropped: its socket does not listen.
#[derive(Debug)]
pub struct RefusingPort {
    _socket: OwnedFd,
    /// Its number.
    pub port: u16,
}

impl RefusingPort {
    /// Takes one that the system chooses.
    ///
    /// # Errors
    /// If there is none.
    pub fn take() -> io::Result<RefusingPort> {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address: SocketAddrV4 = getsockname(&socket)?.try_into()?;
        Ok(RefusingPort { _socket: socket, port: address.port() })
    }
}

/// Makes the end of a connection a reset, whatever is under way.
///
/// # Errors
/// If the system does not allow it.
pub fn reset_at_end(connection: &TcpStream) -> io::Result<()> {
    Ok(set_socket_linger(connection, Some(Duration::ZERO))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read};
    use std::net::TcpListener;

    #[test]
    fn a_port_that_refuses_is_taken() {
        let refusing = RefusingPort::take().unwrap();
        let address = (Ipv4Addr::LOCALHOST, refusing.port);
        assert_eq!(TcpStream::connect(address).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        assert_eq!(TcpListener::bind(address).unwrap_err().kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn a_connection_that_is_reset_has_no_end() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        reset_at_end(&server).unwrap();
        drop(server);
        assert_eq!(client.read(&mut [0]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}
