//! The method `http`: a GET through the crate ureq, its body streamed through one buffer.
//!
//! By default each reading makes a new client with a new connection, and requests that the server
//! closes it, so no state is kept. With `kept=1` the client and its connection stay.

use super::client::{self, CLIENT_BUFFER_BYTES, ClientSettings, ReadingClient, TimedBody};
use super::read::drain;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use crate::traffic::Traffic;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Part, Reads};

const BUFFER: Param = Param::new("buffer_bytes", CLIENT_BUFFER_BYTES as u64, 1, 1 << 30);
const KEPT: Param = Param::switch("kept");

pub(super) const HTTP: Method = Method {
    name: "http",
    about: "GET by the crate ureq, HTTP/1.1, the body read into one buffer; a client and a connection for each \
            reading, or with kept=1 for all",
    reads: Reads::Url,
    parts: true,
    tls: true,
    params: &[BUFFER, KEPT],
    build: |settings| {
        let buffer_bytes = settings.size(&BUFFER);
        let is_kept = settings.is_on(&KEPT);
        let client = ClientSettings { buffer_bytes, idle_connections: usize::from(is_kept) };
        let client = ReadingClient::new(client, is_kept);
        Ok(Box::new(Http { client, buffer_bytes, traffic: Traffic::default() }))
    },
    ..Method::DEFAULT
};

struct Http {
    client: ReadingClient,
    buffer_bytes: usize,
    traffic: Traffic,
}

impl Reader for Http {
    fn prepare(&mut self, source: &Source) -> Result<(), Fault> {
        self.client.prepare(source)
    }

    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let mut made = None;
        let client = self.client.for_reading(source, &mut made)?;
        let mut consumer = Consumer::new(visit);
        let part = match source.as_part() {
            Some(Part { length_bytes: 0, .. }) => return Ok(consumer.finish()),
            part => part,
        };
        let (answer, range) =
            match part.map(|part| client.get_part(part, !self.client.is_kept())).transpose()? {
                None => (client.get(!self.client.is_kept())?, None),
                Some(Some((answer, range))) => (answer, Some(range)),
                Some(None) => {
                    self.traffic = Traffic { requests: Some(1), first_byte: None };
                    return Ok(consumer.finish());
                }
            };
        let mut body = TimedBody::new(answer.into_body().into_reader());
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let length = drain(&mut body, &mut buffer[..self.buffer_bytes], &mut consumer)?;
        if let Some(range) = range {
            client::check_length(&range, length)?;
        }
        self.traffic = body.traffic();
        Ok(consumer.finish())
    }

    fn traffic(&self) -> Traffic {
        self.traffic
    }
}
