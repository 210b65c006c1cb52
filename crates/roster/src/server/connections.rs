//! The connections of the loopback server. Their number is limited, and a connection that has not
//! requested the file may be closed to make room.
//!
//! Every user of the machine can connect to the port, but only a contender knows the secret path or
//! the access key. A connection is a stranger until it has sent the complete head of a request that
//! may be answered. If there is no room for another stranger, the oldest stranger is closed. A reader
//! is never closed for a stranger. If there is no room for another reader, the reader that has been
//! idle for the longest time is closed; clients with persistent connections must expect this from
//! any server. If all readers are receiving the file, the new reader is turned away.
//! [`super::conversation`] answers requests.

use readlab_system::tcp::PeerUsers;
use readlab_system::user;
use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Largest number of readers, and of strangers, at the same time. Each has a thread. Contenders use
/// fewer connections.
pub(super) const CONNECTIONS_MAX: usize = 320;

/// Time limit for the thread of a closed connection to end.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<OpenConnections>,
    /// Notified when the thread of a connection ends.
    connection_ended: Condvar,
    /// Finds the user at the other end of a connection; `None` if the kernel does not report users.
    users: Option<PeerUsers>,
}

/// The open connections, ordered by age.
#[derive(Debug, Default)]
struct OpenConnections {
    /// The next number for a connection or for a completed response.
    next_number: u64,
    all: BTreeMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    stream: Arc<TcpStream>,
    state: ConnectionState,
}

/// The state of a connection, which decides whether it may be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    /// The connection has not requested the file.
    Stranger,
    /// The connection has requested the file and is receiving it.
    Reader,
    /// The client has received the file, and may request it again. The number is higher for a
    /// connection that received it later.
    Idle(u64),
    /// The connection was closed, but its thread has not ended yet.
    Leaving,
}

/// Why a connection does not get the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RejectReason {
    /// The connection was closed to make room for another one.
    Ended,
    /// All other readers are receiving the file.
    Full,
}

/// An admitted connection; dropping it removes it from the list.
#[derive(Debug)]
pub(super) struct Connection {
    connections: Arc<Connections>,
    number: u64,
    pub(super) stream: Arc<TcpStream>,
}

impl OpenConnections {
    fn stranger_count(&self) -> usize {
        self.all.values().filter(|it| it.state == ConnectionState::Stranger).count()
    }

    fn reader_count(&self) -> usize {
        let is_reader = |state| matches!(state, ConnectionState::Reader | ConnectionState::Idle(_));
        self.all.values().filter(|it| is_reader(it.state)).count()
    }

    fn oldest_stranger(&self) -> Option<u64> {
        let (number, _) = self.all.iter().find(|(_, it)| it.state == ConnectionState::Stranger)?;
        Some(*number)
    }

    /// The reader that has been idle for the longest time.
    fn longest_idle(&self) -> Option<u64> {
        let idle = self.all.iter().filter_map(|(number, it)| match it.state {
            ConnectionState::Idle(since) => Some((since, *number)),
            _ => None,
        });
        idle.min().map(|(_, number)| number)
    }

    fn take_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number - 1
    }
}

impl Connections {
    /// Creates the empty list of connections to a port.
    pub(super) fn for_listener(listener: &TcpListener) -> io::Result<Connections> {
        Ok(Connections { users: PeerUsers::open(listener)?, ..Connections::default() })
    }

    /// Admits a connection; returns it if there is no room and no stranger can be closed.
    pub(super) fn admit(self: &Arc<Self>, stream: TcpStream) -> Result<Connection, TcpStream> {
        let is_full = self.lock().stranger_count() >= CONNECTIONS_MAX;
        if is_full && !self.close_stranger() {
            return Err(stream);
        }
        let mut open = self.lock();
        let (number, stream) = (open.take_number(), Arc::new(stream));
        open.all
            .insert(number, OpenConnection { stream: Arc::clone(&stream), state: ConnectionState::Stranger });
        Ok(Connection { connections: Arc::clone(self), number, stream })
    }

    /// Closes the oldest stranger and waits until its thread has ended; `false` if there is no
    /// stranger, or its thread does not end.
    pub(super) fn close_stranger(&self) -> bool {
        self.close_chosen(OpenConnections::oldest_stranger)
    }

    /// Closes the reader that has been idle for the longest time, and waits as
    /// [`Self::close_stranger`] does.
    fn close_idle_reader(&self) -> bool {
        self.close_chosen(OpenConnections::longest_idle)
    }

    fn close_chosen(&self, chosen: impl Fn(&OpenConnections) -> Option<u64>) -> bool {
        let mut open = self.lock();
        let Some(number) = chosen(&open) else { return false };
        let Some(entry) = open.all.get_mut(&number) else { return false };
        entry.state = ConnectionState::Leaving;
        // A connection that the client has closed already is removed as well.
        let _ = entry.stream.shutdown(Shutdown::Both);
        let is_there = |open: &mut OpenConnections| open.all.contains_key(&number);
        let waited = self.connection_ended.wait_timeout_while(open, LEAVE_TIMEOUT, is_there);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// True if a trusted user is at the other end of the connection. If the kernel reports users
    /// but none for this connection, the client has disconnected.
    pub(super) fn is_trusted(&self) -> bool {
        let is_user = |users: &PeerUsers| {
            users.user_of(&self.stream).is_some_and(|user| user::trusted_user_ids().contains(&user))
        };
        self.connections.users.as_ref().is_none_or(is_user)
    }

    /// Records that the connection requested the file; from now on it is not closed for others.
    pub(super) fn become_reader(&self) -> Result<(), RejectReason> {
        loop {
            let mut open = self.connections.lock();
            let readers = open.reader_count();
            let entry = open.all.get_mut(&self.number).ok_or(RejectReason::Ended)?;
            match entry.state {
                ConnectionState::Leaving => return Err(RejectReason::Ended),
                ConnectionState::Stranger if readers >= CONNECTIONS_MAX => {}
                _ => {
                    entry.state = ConnectionState::Reader;
                    return Ok(());
                }
            }
            drop(open);
            if !self.connections.close_idle_reader() {
                return Err(RejectReason::Full);
            }
        }
    }

    /// Records that the response was sent; until its next request the connection may be closed for
    /// another reader.
    pub(super) fn become_idle(&self) {
        let mut open = self.connections.lock();
        let since = open.take_number();
        if let Some(entry) = open.all.get_mut(&self.number)
            && entry.state == ConnectionState::Reader
        {
            entry.state = ConnectionState::Idle(since);
        }
    }

    /// Closes a stranger, or else an idle reader, to free a descriptor for the file: the system limits
    /// files and connections together. `false` if no connection could be closed.
    pub(super) fn make_room(&self) -> bool {
        self.connections.close_stranger() || self.connections.close_idle_reader()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.lock().all.remove(&self.number);
        self.connections.connection_ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::super::connected_streams;
    use super::*;
    use std::io::Read;
    use std::net::Ipv4Addr;

    /// A client with its admitted connection.
    fn admitted(connections: &Arc<Connections>) -> (TcpStream, Connection) {
        let (client, server) = connected_streams();
        (client, connections.admit(server).unwrap())
    }

    /// A client with its connection, which has requested the file.
    fn reader(connections: &Arc<Connections>) -> (TcpStream, Connection) {
        let (client, connection) = admitted(connections);
        connection.become_reader().unwrap();
        (client, connection)
    }

    /// Starts a thread that holds a connection until its stream ends.
    fn hold_until_end(connection: Connection) {
        std::thread::spawn(move || while (&*connection.stream).read(&mut [0; 64]).is_ok_and(|n| n > 0) {});
    }

    #[test]
    fn a_disconnected_client_is_not_trusted_if_the_kernel_reports_users() {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(port.local_addr().unwrap()).unwrap();
        let (server, _) = port.accept().unwrap();
        let connection = Arc::new(Connections::for_listener(&port).unwrap()).admit(server).unwrap();
        assert!(connection.is_trusted());
        drop(client);
        assert!(!connection.is_trusted());
    }

    #[test]
    fn strangers_make_room_for_strangers_the_oldest_first() {
        let connections = Arc::new(Connections::default());
        let mut clients = Vec::new();
        for _ in 0..2 * CONNECTIONS_MAX {
            let (client, connection) = admitted(&connections);
            hold_until_end(connection);
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
    fn active_readers_are_kept_and_the_next_one_is_turned_away() {
        let connections = Arc::new(Connections::default());
        let mut readers: Vec<_> = (0..CONNECTIONS_MAX).map(|_| reader(&connections)).collect();
        let (_client, another) = admitted(&connections);
        assert_eq!(another.become_reader(), Err(RejectReason::Full));
        readers.pop();
        assert_eq!(another.become_reader(), Ok(()), "there is room again");
    }

    #[test]
    fn a_reader_that_is_idle_makes_room_for_a_reader_and_not_for_a_stranger() {
        let connections = Arc::new(Connections::default());
        let mut clients = Vec::new();
        for nth in 0..CONNECTIONS_MAX {
            let (client, connection) = reader(&connections);
            if nth == 2 {
                connection.become_idle();
            }
            hold_until_end(connection);
            clients.push(client);
        }
        assert!(!connections.close_stranger(), "no reader is ended in place of a stranger");
        let mut strangers = Vec::new();
        for _ in 0..CONNECTIONS_MAX + 1 {
            let (client, connection) = admitted(&connections);
            hold_until_end(connection);
            strangers.push(client);
        }
        assert_eq!(connections.lock().reader_count(), CONNECTIONS_MAX, "no stranger ended a reader");
        let (_client, _reader) = reader(&connections);
        assert_eq!(clients[2].read(&mut [0]).unwrap(), 0, "the idle one was ended");
        let (_client, another) = admitted(&connections);
        assert_eq!(another.become_reader(), Err(RejectReason::Full), "no other is idle");
    }

    #[test]
    fn the_reader_that_is_idle_longest_is_closed_first() {
        let connections = Arc::new(Connections::default());
        let ((_one, first), (_other, second)) = (reader(&connections), reader(&connections));
        second.become_idle();
        first.become_idle();
        assert_eq!(connections.lock().longest_idle(), Some(second.number));
        second.become_reader().unwrap();
        second.become_idle();
        assert_eq!(connections.lock().longest_idle(), Some(first.number));
    }

    #[test]
    fn a_closed_connection_gets_no_answer_to_a_late_request() {
        let connections = Arc::new(Connections::default());
        let (_client, connection) = admitted(&connections);
        let number = connection.number;
        connections.lock().all.get_mut(&number).unwrap().state = ConnectionState::Leaving;
        assert_eq!(connection.become_reader(), Err(RejectReason::Ended));
        connection.become_idle();
        assert_eq!(connections.lock().all[&number].state, ConnectionState::Leaving);
    }
}
