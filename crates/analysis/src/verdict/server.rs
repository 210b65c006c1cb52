//! What a reading from a server waits for: the first byte, the connections that carry the bytes, or
//! the server and the network as a whole.
//!
//! A client sees only the speed of its own interface. Nothing on the client shows whether the
//! server or the network before it is slower.

use super::{DOMINANT_SHARE_MIN, JudgedTrial, Remedy};
use crate::stats::{float, sorted};
use readlab_model::sample::Sample;
use readlab_model::target::Http;
use readlab_record::TrialRecord;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum ServerWait {
    /// Waiting for the first byte of the content.
    FirstByte {
        /// The median share of the time until the first byte arrives.
        share: f64,
    },
    /// The throughput of the reading's connections, where more connections are faster.
    Connection {
        /// The number of connections that the reading has at once.
        connections: u64,
        /// The fastest trial with more connections at once, if it is clearly faster.
        remedy: Remedy,
    },
    /// The link of this machine: the rate of the reading is near that of the link.
    Link,
    /// Readlab's own server, which is reached without a network.
    Server,
    /// A foreign server, or the network before it.
    ServerOrNetwork,
}

impl ServerWait {
    /// Whether the server as a whole limits the reading.
    pub fn is_server(&self) -> bool {
        *self == ServerWait::Server
    }
}

pub(super) fn server_wait(judged: &JudgedTrial) -> ServerWait {
    if let Some(share) = first_byte_share(judged.trial_record).filter(|share| *share >= DOMINANT_SHARE_MIN) {
        return ServerWait::FirstByte { share };
    }
    let own = connection_count(judged.trial_record);
    let more = judged.rivals().filter(|other| connection_count(other) > own);
    let whole = match judged.target.http() {
        Some(Http::Foreign { .. }) => ServerWait::ServerOrNetwork,
        Some(Http::Own) | None => ServerWait::Server,
    };
    judged.clear_remedy(more).map_or(whole, |remedy| ServerWait::Connection { connections: own, remedy })
}

/// The largest number of connections that a method has at once.
pub(super) fn connection_count(it: &TrialRecord) -> u64 {
    it.trial.params.0.get("concurrency").copied().unwrap_or(1) * it.trial.reader_count()
}

/// The median share of the time that has passed when the first byte arrives; `None` where that was
/// not reported.
fn first_byte_share(it: &TrialRecord) -> Option<f64> {
    let of = |sample: Sample| Some(float(sample.request.first_byte_ns?) / float(sample.wall_ns.max(1)));
    let shares = sorted(it.samples.iter().filter_map(of));
    shares.get(shares.len() / 2).copied()
}
