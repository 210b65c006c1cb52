//! The method `http`: a GET through the crate ureq, its body streamed through one buffer.
//!
//! Each reading makes a new client with a new connection, and requests that the server closes it,
//! so no state is kept. There is no proxy and no redirect: every method must request the same bytes
//! from the same server.

use super::read::drain;
use super::{Fault, Feeding, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use crate::work::Answer;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Cache, Reads};
use std::io::{self, ErrorKind};
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::http::header::CONNECTION;

const BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 1, 1 << 30);

/// The client's own input buffer by default; a larger one of ours would never be filled from it.
const CLIENT_BUFFER_BYTES: usize = 128 << 10;

pub(super) const HTTP: Method = Method {
    name: "http",
    about: "GET by the crate ureq, HTTP/1.1, a connection for each reading, the body read into one buffer",
    cache: Cache::Through,
    reads: Reads::Url,
    feeding: Feeding::InOrder,
    decodes: &[],
    parts: false,
    tls: false,
    params: &[BUFFER],
    build: |settings| Ok(Box::new(Http { buffer_bytes: settings.size(&BUFFER) })),
    available: || Ok(()),
};

struct Http {
    buffer_bytes: usize,
}

impl Reader for Http {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let url =
            source.path().to_str().ok_or_else(|| Fault::from(io::Error::from(ErrorKind::InvalidInput)))?;
        let response =
            self.client().get(url).header(CONNECTION, "close").call().map_err(ureq::Error::into_io)?;
        if response.status() != StatusCode::OK {
            return Err(io::Error::other(format!("status {}", response.status())).into());
        }
        let mut body = response.into_body().into_reader();
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        drain(&mut body, &mut buffer[..self.buffer_bytes], &mut consumer)?;
        Ok(consumer.finish())
    }
}

impl Http {
    fn client(&self) -> Agent {
        Agent::config_builder()
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .input_buffer_size(self.buffer_bytes.max(CLIENT_BUFFER_BYTES))
            .max_idle_connections(0)
            .build()
            .into()
    }
}
