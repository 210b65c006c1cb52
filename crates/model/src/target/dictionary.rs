//! The zstd dictionary with which a target was compressed.

use readlab_protocol::DICTIONARY_VARIABLE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dictionary {
    pub path: String,
    pub size_bytes: u64,
    /// Digest of the dictionary's content (XXH3, 64 bits, hexadecimal).
    pub digest: String,
    /// The dictionary's identifier; `None` if the bytes were not made by `zstd --train`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
}

impl Dictionary {
    /// The environment variable that passes the path of the dictionary to contenders: name and
    /// value.
    pub fn environment_variable(&self) -> (OsString, OsString) {
        (DICTIONARY_VARIABLE.into(), self.path.clone().into())
    }
}
