//! The block device under a file, and quotas of reads from it.

use serde::{Deserialize, Serialize};

/// A block device as the kernel knows it: in a virtual machine, what the host shows of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// The kernel's name of the device or of the partition, such as `nvme0n1p2`.
    pub name: String,
    /// The maker's name of the model.
    pub model: Option<String>,
    /// Whether it is a rotating disk: seeks are slow then.
    pub rotational: Option<bool>,
    /// How far the kernel reads ahead of a sequential reader.
    pub read_ahead_bytes: Option<u64>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
}

/// The most that a control group reads from a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoQuota {
    /// The kernel's name of the device.
    pub device: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_per_s: Option<u64>,
    /// The setting, such as `blkio.throttle.read_bps_device`.
    pub setting: String,
}
