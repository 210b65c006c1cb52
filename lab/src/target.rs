//! What is read: one file, and everything about it that can make a read look faster or slower than it is.
//!
//! Found out once before measuring; [`Identity`] is looked at again around every sample, so that a file which changes
//! under the readers is noticed. The file is opened read-only, always.

pub mod filesystem;

use crate::trial::Answer;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A target that may be raced: it exists, has a size, and can be opened as often as needed.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Where it is, made absolute.
    pub path: PathBuf,
    /// What was found out about it.
    pub facts: TargetFacts,
}

/// What was found out about a target before measuring.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Its path; bytes that are not UTF-8 are written as U+FFFD.
    pub path: String,
    /// Its path as hexadecimal bytes, where it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// Its size.
    pub size_bytes: u64,
    /// The file system's type, such as `ext4`.
    pub filesystem: Option<String>,
    /// The device it lives on, such as `/dev/vda`, and the mount point.
    pub mount: Option<String>,
    /// How its extents lie on the device; `None` where the file system does not tell.
    pub extents: Option<Extents>,
    /// Digest of its content (XXH3, 64 bits, hexadecimal).
    pub digest: Option<String>,
    /// The right answer, by the plainest code in the house.
    pub answer: Option<Answer>,
    /// What a reader of the numbers should know about this target.
    pub cautions: Vec<String>,
}

/// How a file's extents lie on the device, from FIEMAP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extents {
    /// How many there are.
    pub count: u64,
    /// Bytes that no extent holds: reading them touches no device.
    pub hole_bytes: u64,
    /// Bytes in extents that were reserved and never written: they read as zeros without touching the device.
    pub unwritten_bytes: u64,
    /// Bytes in extents that are stored otherwise than they read, compressed or encrypted.
    pub encoded_bytes: u64,
    /// Bytes stored within the file system's own tables.
    pub inline_bytes: u64,
}
