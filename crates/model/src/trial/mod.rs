//! A trial: a method of reading, its parameters, the work done with the bytes, and the cache state.
//!
//! A trial's name has one spelling in Rust, TOML, JSON, on the command line and in pages:
//! `rust/io_uring/avx2@buffer=128KiB,depth=16`. This module does not know how anything is read or
//! measured.

mod answer;
mod id;
mod nearest;
mod params;

pub use answer::Answer;
pub use id::{COMMAND, MethodId, SplitName, TrialError, TrialId};
pub use nearest::NearestNames;
pub use params::Params;

use crate::target::CACHE_UNKNOWN_WORDS;
use clap::ValueEnum;
use readlab_protocol::{MethodLine, Reads};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Identifies a trial in a plan and in its record. The number is not a position: trials that cannot
/// be measured are announced first and numbered last.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct TrialIndex(usize);

impl TrialIndex {
    pub const fn new(number: usize) -> TrialIndex {
        TrialIndex(number)
    }
}

impl From<TrialIndex> for u64 {
    fn from(index: TrialIndex) -> u64 {
        index.0 as u64
    }
}

impl fmt::Display for TrialIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// What is done with the bytes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Count the bytes equal to 0x0A.
    Newlines,
    /// Make or find every line, and count them.
    Lines,
    /// Wrapping sum of all bytes in one byte.
    Sum,
    /// Read the bytes and do nothing with them.
    Discard,
    /// Print something that proves no other work, as most commands do.
    #[value(skip)]
    Output,
    /// Find every name below a folder, without reading a file.
    Names,
    /// Find every name below a folder and request its status (size and times).
    Stat,
    /// Print an output that needs only a part of the bytes, as `head` and `grep -m 1` do.
    Part,
}

/// Where the file's bytes are when the clock starts.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// No byte is in the page cache.
    Cold,
    /// All bytes are in the page cache, put there by the standard fill.
    Warm,
    /// Untimed readings under a bound on memory have left a steady share of the bytes in the page
    /// cache. The target's facts have the bound.
    Pressed,
    /// Not known here: a foreign server sends the bytes, and has caches of its own, or the pages of
    /// the file cannot be inspected.
    Unknown,
}

/// The way in which a contender gets the bytes of a target.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    #[default]
    File,
    /// The contender requests a URL from a server.
    Http,
    /// The contender requests an object from a store.
    S3,
    Tree,
    /// The contender opens a file and reads blocks at several places.
    Places,
}

crate::worded! {
    Work { Newlines = "newlines", Lines = "lines", Sum = "sum", Discard = "discard", Names = "names", Stat = "stat", Output = "output", Part = "part" }
    CacheState { Cold = "cold", Warm = "warm", Pressed = "pressed", Unknown = "unknown" }
    Transport { File = "file", Http = "http", S3 = "s3", Tree = "tree", Places = "places" }
}

impl Work {
    /// True if the work visits every byte, so that its rate cannot exceed the rate of memory.
    pub fn touches_bytes(self) -> bool {
        matches!(self, Work::Newlines | Work::Lines | Work::Sum)
    }

    /// True if the work finds names and inodes, and reads no byte of a file.
    pub fn finds_names(self) -> bool {
        matches!(self, Work::Names | Work::Stat)
    }

    /// True for the works of commands whose output is not counted, which may read only a part.
    pub fn may_read_part(self) -> bool {
        matches!(self, Work::Output | Work::Part)
    }
}

impl Transport {
    /// True if another process reads the bytes and sends them.
    pub fn has_server(self) -> bool {
        match self {
            Transport::File | Transport::Tree | Transport::Places => false,
            Transport::Http | Transport::S3 => true,
        }
    }

    /// The words shown instead of a cache state that is not known.
    pub fn cache_unknown_words(self) -> &'static str {
        if self.has_server() { CACHE_UNKNOWN_WORDS } else { "state of the page cache: unknown" }
    }

    /// True if a method can read a target over this transport.
    pub fn suits(self, method: &MethodLine) -> bool {
        let reads = method.reads;
        match self {
            Transport::File => matches!(reads, Reads::File | Reads::Both),
            Transport::Http => matches!(reads, Reads::Url | Reads::Both),
            // A client of URLs can read an object, because readlab signs a URL for it.
            Transport::S3 => matches!(reads, Reads::Url | Reads::Both | Reads::Object),
            // A method that reads files and URLs is a command, which finds the list in its
            // environment.
            Transport::Tree => method.lists || matches!(reads, Reads::List | Reads::Folder | Reads::Both),
            Transport::Places => reads == Reads::Places,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_of_the_protocol_has_the_same_word_here() {
        for work in readlab_protocol::Work::ALL {
            let same = Work::value_variants().iter().filter(|own| own.word() == work.word());
            assert_eq!(same.count(), 1, "{work}");
        }
    }
}
