//! Which bytes of a file the device stores as they are read, and which it does not.
//!
//! Holes and unwritten extents read as zeros without touching the device. Encoded extents
//! (compressed or encrypted) may take fewer bytes on the device than a reading returns. Without
//! this knowledge a reading can seem faster than the device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extents {
    pub count: u64,
    /// Bytes outside all extents: reading them touches no device.
    pub hole_bytes: u64,
    /// Bytes that were reserved and never written: they read as zeros without touching the device.
    pub unwritten_bytes: u64,
    pub encoded_bytes: u64,
    /// Bytes stored within the file system's own tables.
    pub inline_bytes: u64,
}

impl Extents {
    /// The sums over the extents of two files.
    pub fn sum_with(&self, other: &Extents) -> Extents {
        Extents {
            count: self.count + other.count,
            hole_bytes: self.hole_bytes + other.hole_bytes,
            unwritten_bytes: self.unwritten_bytes + other.unwritten_bytes,
            encoded_bytes: self.encoded_bytes + other.encoded_bytes,
            inline_bytes: self.inline_bytes + other.inline_bytes,
        }
    }

    /// The least number of bytes that a cold read of a file of this size must fetch from the
    /// device: the bytes in plain extents. Encoded extents count nothing, because their size on the
    /// device is not known.
    pub fn least_device_bytes(&self, size_bytes: u64) -> u64 {
        let elsewhere = self.hole_bytes + self.unwritten_bytes + self.encoded_bytes + self.inline_bytes;
        size_bytes.saturating_sub(elsewhere)
    }
}
