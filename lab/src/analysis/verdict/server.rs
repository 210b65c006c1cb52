//! What a reading waits for that waits for a server: its first byte, the connections that bring the
//! bytes, or the server and the way to it as a whole.
//!
//! A client sees no more than the speed of its own interface: whether a server or the network
//! before it is the slower one, nothing on this side of it shows.

use super::{DOMINANT, Remedy, best};
use crate::record::{Record, TrialRecord};
use serde::Serialize;

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// The server, or the network before it.
    Server,
}

impl ServerWait {
    /// Whether no part of the server is known to be what is waited for.
    #[must_use]
    pub fn is_server(&self) -> bool {
        *self == ServerWait::Server
    }
}

/// What a trial that waits for its server waits for.
pub(super) fn waits_for(record: &Record, it: &TrialRecord) -> ServerWait {
    if let Some(share) = first_byte_share(it).filter(|share| *share >= DOMINANT) {
        return ServerWait::FirstByte { share };
    }
    let more = record.trials.iter().filter(|other| {
        let same = |trial: &TrialRecord| (trial.trial.target, trial.trial.work, trial.trial.state);
        !other.trial.is_control()
            && other.is_measured()
            && same(other) == same(it)
            && connections(other) > connections(it)
    });
    let connections = connections(it);
    best(it, more).map_or(ServerWait::Server, |remedy| ServerWait::Connection { connections, remedy })
}

/// How many connections a method has at once at most.
pub(super) fn connections(it: &TrialRecord) -> u64 {
    it.trial.params.0.get("concurrency").copied().unwrap_or(1) * it.trial.readers()
}

/// The share of the time that is over when the first byte is there, median; `None` where it is not
/// said.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn first_byte_share(it: &TrialRecord) -> Option<f64> {
    let of = |sample: crate::record::Sample| {
        Some(sample.request.first_byte_ns? as f64 / sample.wall_ns.max(1) as f64)
    };
    let mut shares: Vec<f64> = it.samples.iter().filter_map(of).collect();
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied()
}
