// needs: the crate ureq
use std::io::{self, ErrorKind, Read};

const BUFFER_BYTES: usize = 65536; // = buffer_bytes

/// Adds up `count` over the bytes of a URL, piece by piece.
pub fn total(url: &str, count: impl Fn(&[u8]) -> u64) -> io::Result<u64> {
    let response = ureq::get(url).call().map_err(io::Error::other)?;
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut total = 0;
    loop {
        match body.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(length) => total += count(&buffer[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
