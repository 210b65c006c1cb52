//! The files that the lab writes itself: the way of writing and the times.

use serde::{Deserialize, Serialize};

/// How the lab writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum WriteWay {
    /// write(2) through the page cache; when it returns, the bytes may still be in memory only.
    Plain,
    /// The same, then fdatasync(2), timed apart.
    Fdatasync,
    /// write(2) with O_DIRECT from an aligned buffer.
    Direct,
}

/// What writing one file took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteTimes {
    /// Creating, writing and closing.
    pub write_ns: u64,
    /// The sync before closing, where there was one.
    pub sync_ns: Option<u64>,
}
