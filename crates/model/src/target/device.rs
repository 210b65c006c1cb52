//! The block device under a file, and quotas of reads from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A block device as the kernel knows it: in a virtual machine, what the host shows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// The kernel's name of the device or of the partition, such as `nvme0n1p2`.
    pub name: String,
    /// The maker's name of the model.
    pub model: Option<String>,
    /// Whether it is a rotating disk: seeks are slow then.
    pub rotational: Option<bool>,
    pub read_ahead_bytes: Option<u64>,
    pub scheduler: Option<String>,
}

/// How far the kernel reads ahead of a sequential reader, and where that is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadAhead {
    pub bytes: u64,
    /// The file of a file system's own setting, or the device.
    pub setting: String,
}

impl ReadAhead {
    /// The kernel reads ahead so far unless somebody has set less.
    const USUAL_BYTES: u64 = 128 << 10;

    /// Whether somebody has set less than is usual.
    pub fn is_short(&self) -> bool {
        self.bytes < ReadAhead::USUAL_BYTES
    }

    /// The command that sets what is usual.
    pub fn mend(&self) -> String {
        let ReadAhead { setting, .. } = self;
        match setting.starts_with("/dev/") {
            true => format!("blockdev --setra {} {setting}", ReadAhead::USUAL_BYTES / 512),
            false => format!("echo {} >{setting}", ReadAhead::USUAL_BYTES / 1024),
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
