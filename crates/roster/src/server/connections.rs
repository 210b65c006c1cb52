//! The connections of the loopback server: their number is limited, and one that has not requested
//! the file makes room for the next.
//!
//! Every user of the machine can connect to the port, but only a contender knows the path or the
//! key. So a connection has no claim until it has sent the whole head of a request that may be
//! answered: if there is no room for another stranger, the oldest is ended. A reader is never ended
//! for a stranger. If there is no room for another reader, the one that has not requested anything
//! for the longest time is ended: a client that keeps connections must expect that of any server.
//! If all get the file, the new one is turned away. [`super::conversation`] has the answers.

use readlab_system::tcp::PeerUsers;
use readlab_system::user;
use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Readers at once, and strangers at once, each with a thread: more than any contender has.
pub(super) const CONNECTIONS_MAX: usize = 320;

/// How long to wait for the end of a connection's thread.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Open>,
    left: Condvar,
    /// Who is at the other ends; `None` where the kernel does not say it.
    users: Option<PeerUsers>,
}

/// Connections by their age.
#[derive(Debug, Default)]
struct Open {
    /// Counts connections, and ends of answers.
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
    /// It was a reader, and may be one again; the number is higher for one that read later.
    Idle(u64),
    /// It was ended; its thread has not ended yet.
    Leaving,
}

/// Why a connection gets nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejected {
    /// It was ended for another one.
    Ended,
    /// All others read the file.
    Full,
}

/// An admitted connection; it is removed from the list when this is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    connections: Arc<Connections>,
    number: u64,
    pub(super) stream: Arc<TcpStream>,
}

impl Open {
    fn strangers(&self) -> usize {
        self.all.values().filter(|it| it.state == ConnectionState::Stranger).count()
    }

    fn readers(&self) -> usize {
        let is_reader = |state| matches!(state, ConnectionState::Reader | ConnectionState::Idle(_));
        self.all.values().filter(|it| is_reader(it.state)).count()
    }

    fn oldest_stranger(&self) -> Option<u64> {
        let (number, _) = self.all.iter().find(|(_, it)| it.state == ConnectionState::Stranger)?;
        Some(*number)
    }

    /// The reader whose last answer ended first.
    fn longest_idle(&self) -> Option<u64> {
        let idle = self.all.iter().filter_map(|(number, it)| match it.state {
            ConnectionState::Idle(since) => Some((since, *number)),
            _ => None,
        });
        idle.min().map(|(_, number)| number)
    }

    fn count(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

impl Connections {
    /// None yet, to a port.
    pub(super) fn of(listener: &TcpListener) -> io::Result<Connections> {
        Ok(Connections { users: PeerUsers::open(listener)?, ..Connections::default() })
    }

    /// Admits a connection; returns it if no stranger leaves for it.
    pub(super) fn admit(self: &Arc<Self>, stream: TcpStream) -> Result<Connection, TcpStream> {
        let is_full = self.lock().strangers() >= CONNECTIONS_MAX;
        if is_full && !self.end_stranger() {
            return Err(stream);
        }
        let mut open = self.lock();
        let (number, stream) = (open.count(), Arc::new(stream));
        open.all
            .insert(number, OpenConnection { stream: Arc::clone(&stream), state: ConnectionState::Stranger });
        Ok(Connection { connections: Arc::clone(self), number, stream })
    }

    /// Ends the oldest connection that has not requested the file, and waits for its end; `false`
    /// if there is none, or it does not end.
    pub(super) fn end_stranger(&self) -> bool {
        self.end(Open::oldest_stranger)
    }

    /// The same for the reader that has been idle for the longest time.
    fn end_idle(&self) -> bool {
        self.end(Open::longest_idle)
    }

    fn end(&self, chosen: impl Fn(&Open) -> Option<u64>) -> bool {
        let mut open = self.lock();
        let Some(number) = chosen(&open) else { return false };
        let Some(entry) = open.all.get_mut(&number) else { return false };
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
    /// Whether a user whose deeds are the lab's is at its other end. Where the kernel knows users,
    /// one that is not known has left.
    pub(super) fn is_trusted(&self) -> bool {
        let is_user = |users: &PeerUsers| {
            users.user_of(&self.stream).is_some_and(|user| user::trusted().contains(&user))
        };
        self.connections.users.as_ref().is_none_or(is_user)
    }

    /// Records that it requested the file: from now on it is not ended for others.
    pub(super) fn claim(&self) -> Result<(), Rejected> {
        loop {
            let mut open = self.connections.lock();
            let readers = open.readers();
            let entry = open.all.get_mut(&self.number).ok_or(Rejected::Ended)?;
            match entry.state {
                ConnectionState::Leaving => return Err(Rejected::Ended),
                ConnectionState::Stranger if readers >= CONNECTIONS_MAX => {}
                _ => {
                    entry.state = ConnectionState::Reader;
                    return Ok(());
                }
            }
            drop(open);
            if !self.connections.end_idle() {
                return Err(Rejected::Full);
            }
        }
    }

    /// Records that it has its answer: it may be ended for another reader until its next request.
    pub(super) fn rest(&self) {
        let mut open = self.connections.lock();
        let since = open.count();
        if let Some(entry) = open.all.get_mut(&self.number)
            && entry.state == ConnectionState::Reader
        {
            entry.state = ConnectionState::Idle(since);
        }
    }

    /// Ends a stranger, or else a reader that is idle, for what this reader needs: the system
    /// limits files and connections together.
    pub(super) fn make_room(&self) -> bool {
        self.connections.end_stranger() || self.connections.end_idle()
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
    use super::super::connected;
    use super::*;
    use std::io::Read;
    use std::net::Ipv4Addr;

    /// A thread for a connection, which holds it until its stream ends.
    fn attend(connection: Connection) {
        std::thread::spawn(move || while (&*connection.stream).read(&mut [0; 64]).is_ok_and(|n| n > 0) {});
    }

    #[test]
    fn who_has_left_is_nobody_where_the_kernel_knows_users() {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(port.local_addr().unwrap()).unwrap();
        let (server, _) = port.accept().unwrap();
        let connection = Arc::new(Connections::of(&port).unwrap()).admit(server).unwrap();
        assert!(connection.is_trusted());
        drop(client);
        assert!(!connection.is_trusted());
    }

    #[test]
    fn strangers_make_room_for_strangers_the_oldest_first() {
        let connections = Arc::new(Connections::default());
        let mut clients = Vec::new();
        for _ in 0..2 * CONNECTIONS_MAX {
            let (client, server) = connected();
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
        let connections = Arc::new(Connections::default());
        let mut readers = Vec::new();
        for _ in 0..CONNECTIONS_MAX {
            let (client, server) = connected();
            let connection = connections.admit(server).unwrap();
            connection.claim().unwrap();
            readers.push((client, connection));
        }
        let (_client, server) = connected();
        let another = connections.admit(server).unwrap();
        assert_eq!(another.claim(), Err(Rejected::Full));
        readers.pop();
        assert_eq!(another.claim(), Ok(()), "there is room again");
    }

    #[test]
    fn a_reader_that_is_idle_makes_room_for_a_reader_and_not_for_a_stranger() {
        let connections = Arc::new(Connections::default());
        let mut clients = Vec::new();
        for nth in 0..CONNECTIONS_MAX {
            let (client, server) = connected();
            let connection = connections.admit(server).unwrap();
            connection.claim().unwrap();
            if nth == 2 {
                connection.rest();
            }
            attend(connection);
            clients.push(client);
        }
        assert!(!connections.end_stranger(), "no reader is ended in place of a stranger");
        let mut strangers = Vec::new();
        for _ in 0..CONNECTIONS_MAX + 1 {
            let (client, server) = connected();
            attend(connections.admit(server).unwrap());
            strangers.push(client);
        }
        assert_eq!(connections.lock().readers(), CONNECTIONS_MAX, "no stranger ended a reader");
        let (_client, server) = connected();
        let reader = connections.admit(server).unwrap();
        assert_eq!(reader.claim(), Ok(()));
        assert_eq!(clients[2].read(&mut [0]).unwrap(), 0, "the idle one was ended");
        let (_client, server) = connected();
        assert_eq!(connections.admit(server).unwrap().claim(), Err(Rejected::Full), "no other is idle");
    }

    #[test]
    fn the_reader_that_was_idle_first_is_ended_first() {
        let connections = Arc::new(Connections::default());
        let admit = || {
            let (client, server) = connected();
            let connection = connections.admit(server).unwrap();
            connection.claim().unwrap();
            (client, connection)
        };
        let ((_one, first), (_other, second)) = (admit(), admit());
        second.rest();
        first.rest();
        assert_eq!(connections.lock().longest_idle(), Some(second.number));
        second.claim().unwrap();
        second.rest();
        assert_eq!(connections.lock().longest_idle(), Some(first.number));
    }

    #[test]
    fn one_that_was_ended_gets_nothing_however_late_it_asks() {
        let connections = Arc::new(Connections::default());
        let (_client, server) = connected();
        let connection = connections.admit(server).unwrap();
        let number = connection.number;
        connections.lock().all.get_mut(&number).unwrap().state = ConnectionState::Leaving;
        assert_eq!(connection.claim(), Err(Rejected::Ended));
        connection.rest();
        assert_eq!(connections.lock().all[&number].state, ConnectionState::Leaving);
    }
}
