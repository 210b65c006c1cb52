//! A limit: the best rate or the lowest cost that a machine showed, as a line of the record.
//!
//! `readlab_analysis::verdict` computes limits from samples and compares readings with them.

use readlab_model::trial::{CacheState, TrialIndex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that a machine does at best so fast, and no reading that needs it faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Visiting bytes that are in memory.
    Memory,
    /// The kernel's copy out of the page cache.
    Copy,
    /// A page fault on a cached page.
    Faults,
    /// The way into the kernel and back.
    Syscall,
    /// Opening and closing a file that is in memory.
    Opens,
    /// Going through places, and timing each, without a read.
    Timing,
    /// Reading from the device, past the page cache.
    Device,
    /// Decoding an archive that is in memory; of what comes out.
    Decoding,
    /// What a server and the way to it bring over one connection.
    Connection,
    /// What they bring over several connections at once.
    Connections,
    /// What an interface of the network is made for.
    Link,
    /// What the kernel brings over a connection to itself.
    Loopback,
    /// Decrypting what an encrypted connection brings.
    Decryption,
}

readlab_model::worded! {
    LimitKind {
        Memory = "memory", Copy = "copy", Faults = "faults", Syscall = "syscall", Opens = "opens",
        Timing = "timing", Device = "device", Decoding = "decoding", Connection = "connection",
        Connections = "connections", Link = "link", Loopback = "loopback", Decryption = "decryption"
    }
}

impl LimitKind {
    /// The limit that a control of this name measures; `None` for the other controls.
    pub fn of_control(method: &str) -> Option<LimitKind> {
        match method {
            "resident" => Some(LimitKind::Memory),
            "copy" | "places-copy" => Some(LimitKind::Copy),
            "faults" | "places-faults" => Some(LimitKind::Faults),
            "syscall" => Some(LimitKind::Syscall),
            "opens" => Some(LimitKind::Opens),
            "places-null" => Some(LimitKind::Timing),
            "device" | "files-device" | "places-device" => Some(LimitKind::Device),
            "decoder" => Some(LimitKind::Decoding),
            "loopback" => Some(LimitKind::Loopback),
            "decryption" => Some(LimitKind::Decryption),
            _ => None,
        }
    }
}

/// What the numbers of a limit count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    /// A rate; more is faster.
    BytesPerSecond,
    /// A cost of one; less is faster.
    Nanoseconds,
}

/// What was found to be possible at best. Most limits are controls, computed from their samples
/// (`readlab_analysis::verdict::limits`); what another program measured has a line of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    pub kind: LimitKind,
    pub name: String,
    pub target: usize,
    /// In the rounds of which state; `None` for one that no trial measured.
    pub state: Option<CacheState>,
    /// Number of the trial whose samples these are, if it was one.
    pub trial: Option<TrialIndex>,
    pub threads: u64,
    pub unit: LimitUnit,
    pub value: u64,
    /// 95 % interval of the median; `None` with too few samples.
    pub ci95: Option<[u64; 2]>,
    /// One number a reading, in their order.
    pub samples: Vec<u64>,
    pub how: String,
}

impl Limit {
    /// Above this multiple of a limit, the limit was measured too low to be one.
    pub const BEYOND: f64 = 1.1;
}
