//! The connections of the loopback server: their number is limited, and one that has not requested
//! the file makes room for the next.
//!
//! Every user of the machine can connect to the port, but only a contender knows the path. So a
//! connection has no claim until it has sent the whole head of a request for that path: if there is
//! no room, the oldest connection without a claim is ended. A reader of the file is never ended for
//! another client; the other client is turned away. [`super::answers`] has the answers.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Connections at once, each with a thread: far more than any contender has readers.
pub(super) const CONNECTIONS_MAX: usize = 64;

/// How long to wait for the end of a connection's thread.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// All connections that are open.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Open>,
    left: Condvar,
}

/// Connections by their age.
#[derive(Debug, Default)]
struct Open {
    next: u64,
    all: BTreeMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    stream: Arc<TcpStream>,
    state: ConnectionState,
}

/// The claim of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    /// None: it has not requested the file.
    Stranger,
    /// It has requested the file and gets it.
    Reader,
    /// It was ended; its thread has not ended yet.
    Leaving,
}

/// An admitted connection; it is removed from the list when this is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    connections: Arc<Connections>,
    number: u64,
    /// The client's socket.
    pub(super) stream: Arc<TcpStream>,
}

impl Connections {
    /// Admits a connection; returns it if all others read the file.
    pub(super) fn admit(self: &Arc<Self>, stream: TcpStream) -> Result<Connection, TcpStream> {
        if self.lock().all.len() >= CONNECTIONS_MAX && !self.make_room() {
            return Err(stream);
        }
        let mut open = self.lock();
        let (number, stream) = (open.next, Arc::new(stream));
        open.next += 1;
        open.all
            .insert(number, OpenConnection { stream: Arc::clone(&stream), state: ConnectionState::Stranger });
        Ok(Connection { connections: Arc::clone(self), number, stream })
    }

    /// Ends the oldest connection that has not requested the file, and waits for its end; `false`
    /// if there is none, or it does not end.
    pub(super) fn make_room(&self) -> bool {
        let mut open = self.lock();
        let stranger = open.all.iter_mut().find(|(_, it)| it.state == ConnectionState::Stranger);
        let Some((&number, entry)) = stranger else { return false };
        entry.state = ConnectionState::Leaving;
        // One that is closed already is removed as well.
        let _ = entry.stream.shutdown(Shutdown::Both);
        let is_there = |open: &mut Open| open.all.contains_key(&number);
        let waited = self.left.wait_timeout_while(open, LEAVE_TIMEOUT, is_there);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Records that it requested the file: from now on it is not ended for others. `false` if it
    /// has been ended already.
    pub(super) fn keep(&self) -> bool {
        match self.connections.lock().all.get_mut(&self.number) {
            Some(entry) if entry.state != ConnectionState::Leaving => {
                entry.state = ConnectionState::Reader;
                true
            }
            _ => false,
        }
    }

    /// Ends connections without a claim, where the system limits files and connections together.
    pub(super) fn make_room(&self) -> bool {
        self.connections.make_room()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.lock().all.remove(&self.number);
        self.connections.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{Ipv4Addr, TcpListener};

    /// Both ends of new connections.
    struct Port(TcpListener);

    impl Port {
        fn new() -> Port {
            Port(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
        }

        fn connection(&self) -> (TcpStream, TcpStream) {
            let client = TcpStream::connect(self.0.local_addr().unwrap()).unwrap();
            (client, self.0.accept().unwrap().0)
        }
    }

    /// A thread for a connection, which holds it until its stream ends.
    fn attend(connection: Connection) {
        std::thread::spawn(move || while (&*connection.stream).read(&mut [0; 64]).is_ok_and(|n| n > 0) {});
    }

    #[test]
    fn strangers_make_room_for_strangers_the_oldest_first() {
        let (port, connections) = (Port::new(), Arc::new(Connections::default()));
        let mut clients = Vec::new();
        for _ in 0..2 * CONNECTIONS_MAX {
            let (client, server) = port.connection();
            attend(connections.admit(server).unwrap());
            clients.push(client);
            assert!(connections.lock().all.len() <= CONNECTIONS_MAX);
        }
        for client in &mut clients[..CONNECTIONS_MAX] {
            assert_eq!(client.read(&mut [0]).unwrap(), 0, "the older half was ended");
        }
        clients[CONNECTIONS_MAX].set_nonblocking(true).unwrap();
        let other = clients[CONNECTIONS_MAX].read(&mut [0]).unwrap_err();
        assert_eq!(other.kind(), std::io::ErrorKind::WouldBlock, "the younger half was not");
    }

    #[test]
    fn readers_keep_their_places_and_the_next_is_turned_away() {
        let (port, connections) = (Port::new(), Arc::new(Connections::default()));
        let mut readers = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let (client, server) = port.connection();
            let connection = connections.admit(server).unwrap();
            assert!(connection.keep());
            readers.push((client, connection));
        }
        assert!(connections.admit(port.connection().1).is_err());
        readers.pop();
        assert!(connections.admit(port.connection().1).is_ok(), "there is room again");
    }

    #[test]
    fn one_that_was_ended_gets_nothing_however_late_it_asks() {
        let (port, connections) = (Port::new(), Arc::new(Connections::default()));
        let (_client, server) = port.connection();
        let connection = connections.admit(server).unwrap();
        let number = connection.number;
        connections.lock().all.get_mut(&number).unwrap().state = ConnectionState::Leaving;
        assert!(!connection.keep());
    }
}
