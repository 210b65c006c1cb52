//! What a contender says of the requests of one reading from a server: how long their parts took,
//! how many there were, and how many of them were repeated.
//!
//! The times are those of the contender's own clock, within its window; that they fit the window is
//! checked when the sample is taken.

use super::Samples;
use readlab_protocol::SampleLine;
use serde::{Deserialize, Serialize};

/// The requests of a reading. `None` is what the contender's client does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestMeters {
    /// Resolving the server's name, for the first connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_ns: Option<u64>,
    /// Making the first connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_ns: Option<u64>,
    /// Agreeing on its encryption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_ns: Option<u64>,
    /// From the beginning of the window to the first byte of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_byte_ns: Option<u64>,
    /// Requests, repeated ones included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Requests that were repeated after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u64>,
}

impl RequestMeters {
    /// Whether nothing is known, as of a file.
    pub fn is_unknown(&self) -> bool {
        *self == RequestMeters::default()
    }

    /// The part of the window that cannot be within it, with its name; `None` if all parts can.
    pub fn longer_than(&self, wall_ns: u64) -> Option<(&'static str, u64)> {
        let parts = [
            ("dns_ns", self.dns_ns),
            ("connect_ns", self.connect_ns),
            ("tls_ns", self.tls_ns),
            ("first_byte_ns", self.first_byte_ns),
        ];
        let too_long =
            |(name, ns): (&'static str, Option<u64>)| ns.filter(|ns| *ns > wall_ns).map(|ns| (name, ns));
        parts.into_iter().find_map(too_long)
    }
}

impl From<&SampleLine> for RequestMeters {
    fn from(line: &SampleLine) -> RequestMeters {
        let SampleLine { dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries, .. } = *line;
        RequestMeters { dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries }
    }
}

/// How often requests were repeated in the readings of a trial, in words; `None` where none was.
pub(super) fn repeated(samples: &Samples) -> Option<String> {
    let with: Vec<u64> = samples.iter().filter_map(|it| it.request.retries).filter(|it| *it > 0).collect();
    let all = with.iter().fold(0_u64, |sum, retries| sum.saturating_add(*retries));
    let requests = if all == 1 { "1 request".to_owned() } else { format!("{all} requests") };
    (!with.is_empty()).then(|| format!("repeated {requests} in {} of {} readings", with.len(), samples.len()))
}

#[cfg(test)]
mod tests {
    use super::super::Sample;
    use super::*;

    #[test]
    fn no_part_of_a_window_is_longer_than_it() {
        let parts = RequestMeters { tls_ns: Some(5), first_byte_ns: Some(9), ..RequestMeters::default() };
        assert_eq!(parts.longer_than(9), None);
        assert_eq!(parts.longer_than(8), Some(("first_byte_ns", 9)));
    }

    #[test]
    fn readings_with_a_repeated_request_are_counted() {
        let with = |retries| Sample {
            request: RequestMeters { retries, ..RequestMeters::default() },
            ..Sample::default()
        };
        let all = |counts: &[Option<u64>]| repeated(&counts.iter().copied().map(with).collect());
        assert_eq!(all(&[None, Some(0)]), None);
        assert_eq!(all(&[Some(1), Some(0)]).unwrap(), "repeated 1 request in 1 of 2 readings");
        assert_eq!(all(&[Some(1), Some(4), None]).unwrap(), "repeated 5 requests in 2 of 3 readings");
    }
}
