//! The connection over which a response arrives, encrypted or not, with limits on silence and
//! slowness.

use super::error::HttpError;
use super::{INTERRUPT_CHECK_INTERVAL, SILENCE_MAX, WaitCheck};
use crate::target::url::Url;
use readlab_system::interrupt;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long each part may take from its first byte to its end: the handshake, the head, the line
/// before a chunk, the trailers. A server that sends a byte from time to time would never exceed
/// the limit on silence.
pub(super) const PART_TIME_MAX: Duration = Duration::from_secs(30);

pub(super) struct TimedPart {
    name: &'static str,
    start: Instant,
}

/// A TCP connection with a limit on the time without bytes.
pub(super) struct Wire<'a> {
    stream: TcpStream,
    pub(super) silence_max: Duration,
    check: WaitCheck<'a>,
    /// The part of the response that is being read; `None` if this part has no time limit.
    pub(super) part: Option<TimedPart>,
}

pub(super) enum Connection<'a> {
    Plain(Wire<'a>),
    Encrypted(Box<StreamOwned<ClientConnection, Wire<'a>>>),
}

impl TimedPart {
    pub(super) fn begin(name: &'static str) -> TimedPart {
        TimedPart { name, start: Instant::now() }
    }
}

impl<'a> Connection<'a> {
    pub(super) fn connect_plain(url: &Url, check: WaitCheck<'a>) -> Result<Connection<'a>, HttpError> {
        Wire::connect(url, check).map(Connection::Plain)
    }

    /// Connects with encryption; an error unless the server has a trusted certificate for its host.
    pub(super) fn connect_encrypted(
        url: &Url,
        config: Arc<ClientConfig>,
        check: WaitCheck<'a>,
    ) -> Result<Connection<'a>, HttpError> {
        let host = ServerName::try_from(url.host().to_owned())
            .map_err(|_| HttpError::Handshake(format!("no certificate can be for '{}'", url.host())))?;
        let mut tls = ClientConnection::new(config, host)?;
        let mut wire = Wire::connect(url, check)?;
        wire.part = Some(TimedPart::begin("the TLS handshake"));
        while tls.is_handshaking() {
            tls.complete_io(&mut wire).map_err(handshake_error)?;
        }
        wire.part = None;
        Ok(Connection::Encrypted(Box::new(StreamOwned::new(tls, wire))))
    }

    /// The raw connection below the encryption.
    pub(super) fn wire(&mut self) -> &mut Wire<'a> {
        match self {
            Connection::Plain(wire) => wire,
            Connection::Encrypted(stream) => &mut stream.sock,
        }
    }

    pub(super) fn send(&mut self, request: &[u8]) -> Result<(), HttpError> {
        let stream: &mut dyn Write = match self {
            Connection::Plain(wire) => wire,
            Connection::Encrypted(stream) => stream,
        };
        stream.write_all(request).and_then(|()| stream.flush()).map_err(HttpError::from_io)
    }
}

fn handshake_error(error: io::Error) -> HttpError {
    if error.kind() == ErrorKind::UnexpectedEof {
        return HttpError::Handshake("the server closes the connection".to_owned());
    }
    HttpError::from_io(error)
}

impl<'a> Wire<'a> {
    fn connect(url: &Url, check: WaitCheck<'a>) -> Result<Wire<'a>, HttpError> {
        let address = url.address();
        let stream = wait_for_connection(move || connect_to_server(&address), check)?;
        stream.set_read_timeout(Some(INTERRUPT_CHECK_INTERVAL)).map_err(HttpError::Io)?;
        stream.set_write_timeout(Some(SILENCE_MAX)).map_err(HttpError::Io)?;
        Ok(Wire { stream, silence_max: SILENCE_MAX, check, part: None })
    }

    /// Checks whether the client may go on waiting: an error if the user requested a stop, the
    /// caller's check fails, or the current part has taken too long.
    fn check_wait(&self) -> io::Result<()> {
        if interrupt::is_stop_requested() {
            return Err(io::Error::other(HttpError::Interrupted));
        }
        (self.check)()?;
        match &self.part {
            Some(part) if part.start.elapsed() > PART_TIME_MAX => {
                Err(io::Error::other(HttpError::Slow(part.name)))
            }
            _ => Ok(()),
        }
    }
}

/// Waits for a connection that another thread makes, because nothing ends the wait for a name or an
/// address. If the user requests a stop or the check fails, the thread is abandoned.
fn wait_for_connection(
    connect: impl FnOnce() -> io::Result<TcpStream> + Send + 'static,
    check: WaitCheck,
) -> Result<TcpStream, HttpError> {
    let (sender, connected) = mpsc::channel();
    let thread = thread::Builder::new().name("connect".to_owned());
    thread.spawn(move || sender.send(connect())).map_err(HttpError::NotConnected)?;
    loop {
        match connected.recv_timeout(INTERRUPT_CHECK_INTERVAL) {
            Ok(connected) => return connected.map_err(HttpError::NotConnected),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(HttpError::NotConnected(ErrorKind::ConnectionAborted.into()));
            }
            Err(RecvTimeoutError::Timeout) if interrupt::is_stop_requested() => {
                return Err(HttpError::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => check().map_err(HttpError::from_io)?,
        }
    }
}

/// Connects to the first address of a host and port that accepts.
fn connect_to_server(host_and_port: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for address in host_and_port.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, SILENCE_MAX) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Read for Connection<'_> {
    /// If an encrypted connection ends without a TLS notice, the error is
    /// [`ErrorKind::UnexpectedEof`].
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Plain(wire) => wire.read(buffer),
            Connection::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let deadline = Instant::now() + self.silence_max;
        loop {
            self.check_wait()?;
            match self.stream.read(buffer) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if Instant::now() >= deadline {
                        return Err(io::Error::other(HttpError::Silent(self.silence_max)));
                    }
                }
                // The caller would only repeat a read that a signal interrupts. Here it is repeated
                // after the check whether the user requested a stop.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.check_wait()?;
            match self.stream.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_callers_check_ends_the_wait_for_a_connection() {
        let (keep, closed) = mpsc::channel::<()>();
        let connect = move || {
            let _ = closed.recv();
            Err(ErrorKind::TimedOut.into())
        };
        let calls = Cell::new(0);
        let check = || {
            calls.set(calls.get() + 1);
            if calls.get() < 2 { Ok(()) } else { Err(io::Error::other("the user's time is up")) }
        };
        let error = wait_for_connection(connect, &check).unwrap_err();
        assert_eq!((error.to_string().as_str(), calls.get()), ("the user's time is up", 2));
        drop(keep);
    }
}
