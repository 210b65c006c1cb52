//! Counts the requests of object_store and checks every answer, where the library hands them to its
//! transport.

use crate::client;
use async_trait::async_trait;
use http::{HeaderValue, StatusCode, header, response};
use http_body_util::{BodyExt, Limited};
use object_store::client::{
    HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
};
use readlab_protocol::serve::Refusal;
use reqwest::Client;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Size limit of an answer that says why a request was refused.
const REFUSAL_BYTES_MAX: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Traffic(Mutex<Counts>);

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) requests: u64,
    /// Requests without the requested content. A reading that succeeds nevertheless has repeated
    /// each of them.
    pub(super) failures: u64,
    /// Whether a range was beyond the end of the object.
    pub(super) unsatisfiable: bool,
    pub(super) first_byte: Option<Instant>,
    /// Number of bytes of the content that arrived.
    pub(super) bytes: u64,
}

impl Traffic {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn restart(&self) {
        *self.lock() = Counts::default();
    }

    pub(super) fn counts(&self) -> Counts {
        *self.lock()
    }

    fn failure(&self) {
        self.lock().failures += 1;
    }

    fn arrived(&self, length: usize) {
        if length > 0 {
            let mut counts = self.lock();
            counts.first_byte.get_or_insert_with(Instant::now);
            counts.bytes += length as u64;
        }
    }
}

#[derive(Debug)]
pub(super) struct CountingTransport {
    client: Client,
    traffic: Arc<Traffic>,
    etag: Option<HeaderValue>,
}

impl CountingTransport {
    pub(super) fn new(client: Client, traffic: Arc<Traffic>, etag: Option<HeaderValue>) -> CountingTransport {
        CountingTransport { client, traffic, etag }
    }

    /// An answer without content. Its text can repeat credentials, and the library would print it.
    /// Only the code of the error is passed on.
    async fn refusal(&self, parts: response::Parts, body: HttpResponseBody) -> HttpResponse {
        let status = parts.status;
        let repeatable = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status);
        if status.is_server_error() || repeatable {
            self.traffic.failure();
        }
        self.traffic.lock().unsatisfiable |= status == StatusCode::RANGE_NOT_SATISFIABLE;
        let text = Limited::new(body, REFUSAL_BYTES_MAX).collect().await.map(|text| text.to_bytes());
        let code = text.map(|text| error_code(&String::from_utf8_lossy(&text))).unwrap_or_default();
        HttpResponse::from_parts(parts, HttpResponseBody::from(code))
    }
}

#[async_trait]
impl HttpService for CountingTransport {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.traffic.lock().requests += 1;
        let is_whole = !request.headers().contains_key(header::RANGE);
        let answer = self.client.call(request).await.inspect_err(|_| self.traffic.failure())?;
        let (parts, body) = answer.into_parts();
        if !parts.status.is_success() {
            return Ok(self.refusal(parts, body).await);
        }
        let refused = |why: Refusal| HttpError::new(HttpErrorKind::Unknown, why);
        client::check_headers(&parts.headers, self.etag.as_ref()).map_err(refused)?;
        // The library would accept a part of an object as the whole.
        if is_whole && parts.status == StatusCode::PARTIAL_CONTENT {
            return Err(refused(Refusal::failed("the whole was asked for, the answer is a range")));
        }
        let (arriving, failing) = (self.traffic.clone(), self.traffic.clone());
        let body = body
            .map_frame(move |frame| {
                arriving.arrived(frame.data_ref().map_or(0, |bytes| bytes.len()));
                frame
            })
            .map_err(move |error| {
                failing.failure();
                error
            });
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::new(body)))
    }
}

/// The code in the text of an S3 error, such as `SlowDown`.
fn error_code(text: &str) -> String {
    let after = text.split_once("<Code>").map_or("", |(_, after)| after);
    let code = after.split_once("</Code>").map_or("", |(code, _)| code);
    code.chars().filter(|c| c.is_ascii_alphanumeric()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_code_of_a_refusal_is_shown() {
        let text = "<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>secret</AWSAccessKeyId></Error>";
        assert_eq!(error_code(text), "InvalidAccessKeyId");
        assert_eq!(error_code("<html>"), "");
    }
}
