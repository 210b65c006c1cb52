//! A limit: the best rate or the lowest cost that a machine showed, as a line of the record.
//!
//! `readlab_analysis::verdict` computes limits from samples and compares readings with them.

use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, TrialIndex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A resource that limits readings: no reading that needs it can be faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKind {
    /// Visiting bytes that are in memory.
    Memory,
    /// The kernel's copy out of the page cache.
    Copy,
    /// A page fault on a cached page.
    Faults,
    /// Entering the kernel and returning.
    Syscall,
    /// Opening and closing a file that is in memory.
    Opens,
    /// Choosing places and timing each of them, without reading.
    Timing,
    /// Reading from the device, past the page cache.
    Device,
    /// Decoding an archive that is in memory; the rate counts decoded bytes.
    Decoding,
    /// The throughput of a server and the network over one connection.
    Connection,
    /// The throughput of a server and the network over several connections at once.
    Connections,
    /// The nominal rate of a network interface.
    Link,
    /// The throughput of a TCP connection over the loopback interface.
    Loopback,
    /// Decrypting the bytes of an encrypted connection.
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
    /// The limit that a control of this name measures; `None` for other controls.
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

/// The unit of a limit's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    /// A rate; higher is faster.
    BytesPerSecond,
    /// A time for one operation; lower is faster.
    Nanoseconds,
}

/// A measured limit. Most limits are computed from the samples of controls
/// (`readlab_analysis::verdict::limits`); a limit that another program measured has a line of its
/// own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    pub kind: LimitKind,
    pub name: String,
    pub target: TargetIndex,
    /// The cache state of the rounds that measured the limit; `None` if no trial measured it.
    pub state: Option<CacheState>,
    /// Number of the trial whose samples these are; `None` if no trial measured the limit.
    pub trial: Option<TrialIndex>,
    pub threads: u64,
    pub unit: LimitUnit,
    pub value: u64,
    /// 95 % interval of the median; `None` with too few samples.
    pub ci95: Option<[u64; 2]>,
    /// One number for each reading, in the order of the readings.
    pub samples: Vec<u64>,
    #[serde(rename = "how")]
    pub how_measured: String,
}

impl Limit {
    /// If a reading exceeds a limit by more than this factor, the limit was measured too low.
    pub const BEYOND_FACTOR: f64 = 1.1;
}
