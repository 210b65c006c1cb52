//! The block device under a file, and quotas of reads from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A block device as the kernel reports it. In a virtual machine this is what the host exposes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// The kernel's name of the device or of the partition, such as `nvme0n1p2`.
    pub name: String,
    /// The model name that the maker gives the device.
    pub model: Option<String>,
    /// True for a rotating disk, on which seeks are slow.
    #[serde(rename = "rotational")]
    pub is_rotational: Option<bool>,
    pub read_ahead_bytes: Option<u64>,
    pub scheduler: Option<String>,
}

/// The read-ahead that the kernel does for a sequential reader, and the setting that defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadAhead {
    pub bytes: u64,
    /// Path of the setting: a file that belongs to the file system, or the block device.
    #[serde(rename = "setting")]
    pub setting_path: String,
}

impl ReadAhead {
    const DEFAULT_BYTES: u64 = 128 << 10;

    /// A read-ahead with which a sequential reading keeps most devices busy.
    pub const LARGE_BYTES: u64 = 4 << 20;

    /// True if the read-ahead is set to less than the kernel's default.
    pub fn is_below_default(&self) -> bool {
        self.bytes < ReadAhead::DEFAULT_BYTES
    }

    /// The command that sets the kernel's default.
    pub fn command_to_set_default(&self) -> String {
        self.command_to_set(ReadAhead::DEFAULT_BYTES)
    }

    /// The command that sets the read-ahead to this size.
    pub fn command_to_set(&self, bytes: u64) -> String {
        let ReadAhead { setting_path: setting, .. } = self;
        match setting.starts_with("/dev/") {
            true => format!("blockdev --setra {} {setting}", bytes / 512),
            false => format!("echo {} >{setting}", bytes / 1024),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IoQuota {
    pub device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_per_s: Option<u64>,
    /// The setting, such as `blkio.throttle.read_bps_device`.
    pub setting: String,
}
