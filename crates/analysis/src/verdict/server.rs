//! What a reading waits for that waits for a server: its first byte, the connections that bring the
//! bytes, or the server and the way to it as a whole.
//!
//! A client sees no more than the speed of its own interface: whether a server or the network
//! before it is the slower one, nothing on this side of it shows.

use super::{DOMINANT, Judged, Remedy};
use crate::stats::float;
use readlab_model::sample::Sample;
use readlab_model::target::Http;
use readlab_record::TrialRecord;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum ServerWait {
    /// The first byte of the content.
    FirstByte {
        /// The share of the time until it is there, median.
        share: f64,
    },
    /// The bytes of its connections, where more connections bring more.
    Connection {
        /// How many it has at once.
        connections: u64,
        /// A trial with more connections at once that is faster beyond doubt, the fastest of them.
        remedy: Remedy,
    },
    /// The link of this machine, whose rate it comes near.
    Link,
    /// Readlab's own server, to which no network leads.
    Server,
    /// A server, or the network before it.
    ServerOrNetwork,
}

impl ServerWait {
    /// Whether it is the server as a whole.
    pub fn is_server(&self) -> bool {
        *self == ServerWait::Server
    }
}

pub(super) fn waits_for(judged: &Judged) -> ServerWait {
    if let Some(share) = first_byte_share(judged.it).filter(|share| *share >= DOMINANT) {
        return ServerWait::FirstByte { share };
    }
    let own = connections(judged.it);
    let more = judged.rivals().filter(|other| connections(other) > own);
    let whole = match judged.target.http() {
        Some(Http::Foreign { .. }) => ServerWait::ServerOrNetwork,
        Some(Http::Own) | None => ServerWait::Server,
    };
    judged.best(more).map_or(whole, |remedy| ServerWait::Connection { connections: own, remedy })
}

/// How many connections a method has at once at most.
pub(super) fn connections(it: &TrialRecord) -> u64 {
    it.trial.params.0.get("concurrency").copied().unwrap_or(1) * it.trial.readers()
}

/// The share of the time that is over when the first byte is there, median; `None` where it is not
/// said.
fn first_byte_share(it: &TrialRecord) -> Option<f64> {
    let of = |sample: Sample| Some(float(sample.request.first_byte_ns?) / float(sample.wall_ns.max(1)));
    let mut shares: Vec<f64> = it.samples.iter().filter_map(of).collect();
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied()
}
