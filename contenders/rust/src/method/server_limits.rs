//! The controls that measure limits of reading from servers: the best rates of this machine,
//! however fast the server is.
//!
//! `loopback` is a TCP connection of the kernel to itself, and `decryption` the cipher of an
//! encrypted connection. They use no server. They read no target, and prove none of its bytes.

use super::read::drain;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Reads};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::error::Unspecified;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

const BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 512, 1 << 26);
const SPAN: Param = Param::new("span_bytes", 64 << 20, 1, 1 << 40);

/// The longest plain text of a TLS record (RFC 8446, section 5.1).
const RECORD_BYTES: usize = 16 << 10;

pub(super) const LOOPBACK: Method = Method {
    name: "loopback",
    about: "control: `span` bytes over a TCP connection from this process to itself into one buffer, and not looked \
            at; requests nothing from the server",
    reads: Reads::Url,
    tls: true,
    params: &[BUFFER, SPAN],
    build: |settings| {
        let (buffer_bytes, span_bytes) = (settings.size(&BUFFER), settings.get(&SPAN));
        Ok(Box::new(Loopback { buffer_bytes, span_bytes, ends: None }))
    },
    ..Method::CONTROL
};

pub(super) const DECRYPTION: Method = Method {
    name: "decryption",
    about: "control: `span` bytes decrypted in memory, in records of 16 KiB by AES-256-GCM of the crate ring; requests \
            nothing from the server",
    reads: Reads::Url,
    tls: true,
    params: &[SPAN],
    build: |settings| Ok(Box::new(Decryption::new(settings.get(&SPAN)))),
    ..Method::CONTROL
};

struct Loopback {
    buffer_bytes: usize,
    span_bytes: u64,
    ends: Option<ConnectionEnds>,
}

struct ConnectionEnds {
    sender: TcpStream,
    receiver: TcpStream,
}

impl ConnectionEnds {
    fn connect() -> io::Result<ConnectionEnds> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let receiver = TcpStream::connect(listener.local_addr()?)?;
        let (sender, address) = listener.accept()?;
        let is_own = address == receiver.local_addr()?;
        if is_own {
            Ok(ConnectionEnds { sender, receiver })
        } else {
            Err(io::Error::other("another program connected"))
        }
    }
}

impl Reader for Loopback {
    fn prepare(&mut self, _source: &Source) -> Result<(), Fault> {
        self.ends = Some(ConnectionEnds::connect()?);
        Ok(())
    }

    fn read(&mut self, _source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let ConnectionEnds { sender, receiver } =
            self.ends.as_ref().expect("it is prepared before each turn");
        let (buffer_bytes, span_bytes) = (self.buffer_bytes, self.span_bytes);
        thread::scope(|scope| {
            let sending = scope.spawn(move || send(sender, buffer_bytes, span_bytes));
            let received = receive(receiver, buffer_bytes, span_bytes);
            sending.join().expect("sending does not panic")?;
            received
        })?;
        Ok(Answer::default())
    }

    fn release(&mut self) {
        self.ends = None;
    }
}

fn send(mut sender: &TcpStream, buffer_bytes: usize, span_bytes: u64) -> io::Result<()> {
    let mut left = span_bytes;
    let buffer = Buffer::new(buffer_bytes)?;
    while left > 0 {
        let part = left.min(buffer_bytes as u64);
        sender.write_all(&buffer[..part as usize])?;
        left -= part;
    }
    Ok(())
}

fn receive(receiver: &TcpStream, buffer_bytes: usize, span_bytes: u64) -> Result<(), Fault> {
    let mut buffer = Buffer::new(buffer_bytes)?;
    let mut part = receiver.take(span_bytes);
    let received = drain(&mut part, &mut buffer[..buffer_bytes], &mut Consumer::new(Visit::Nothing))?;
    if received == span_bytes { Ok(()) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) }
}

struct Decryption {
    span_bytes: u64,
    key: LessSafeKey,
    record: Vec<u8>,
}

impl Decryption {
    fn new(span_bytes: u64) -> Decryption {
        // The encrypted bytes are never sent, so key and nonce need not be secret.
        let key = UnboundKey::new(&AES_256_GCM, &[7; 32]).map(LessSafeKey::new).expect("32 bytes are a key");
        let mut record = vec![b'x'; RECORD_BYTES];
        key.seal_in_place_append_tag(nonce(), Aad::empty(), &mut record).expect("a record is short");
        Decryption { span_bytes, key, record }
    }
}

impl Reader for Decryption {
    fn read(&mut self, _source: &Source, _visit: Visit) -> Result<Answer, Fault> {
        let mut buffer = self.record.clone();
        for _ in 0..self.span_bytes.div_ceil(RECORD_BYTES as u64) {
            buffer.copy_from_slice(&self.record);
            self.key.open_in_place(nonce(), Aad::empty(), &mut buffer).map_err(cipher_fault)?;
        }
        Ok(Answer::default())
    }
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

fn cipher_fault(_: Unspecified) -> Fault {
    io::Error::other("AES-256-GCM failed").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Settings;

    fn read_twice(method: &Method, span_bytes: u64) -> Answer {
        let mut settings = Settings::resolve(method.params, [("span_bytes", span_bytes)]).unwrap();
        let mut reader = (method.build)(&mut settings).unwrap();
        let source = Source::whole("http://127.0.0.1:9/".as_ref());
        reader.prepare(&source).unwrap();
        reader.read(&source, Visit::Nothing).unwrap();
        let answer = reader.read(&source, Visit::Nothing).unwrap();
        reader.release();
        answer
    }

    #[test]
    fn no_bytes_of_the_target_are_claimed_whatever_the_span() {
        for method in [LOOPBACK, DECRYPTION] {
            for span_bytes in [1, RECORD_BYTES as u64, (1 << 20) + 1] {
                assert_eq!(read_twice(&method, span_bytes), Answer::default(), "{}", method.name);
            }
        }
    }

    #[test]
    fn both_ends_belong_to_one_connection() {
        let ends = ConnectionEnds::connect().unwrap();
        assert_eq!(ends.sender.peer_addr().unwrap(), ends.receiver.local_addr().unwrap());
    }

    #[test]
    fn a_changed_record_is_refused() {
        let mut decryption = Decryption::new(1);
        decryption.record[0] ^= 1;
        let source = Source::whole("http://127.0.0.1:9/".as_ref());
        assert!(decryption.read(&source, Visit::Nothing).is_err());
    }
}
