//! What is read: the facts about a target that a record keeps.

pub mod cold_bytes;
pub mod content;
pub mod device;
pub mod dictionary;
pub mod extents;
pub mod hidden_cache;
pub mod identity;
pub mod layers;
pub mod memory;
pub mod places;
pub mod range;
pub mod setting;
mod targets;
pub mod tree;

pub use targets::{TargetIndex, Targets};

use crate::trial::{Answer, Transport};
use device::{Device, IoQuota, ReadAhead};
use dictionary::Dictionary;
use extents::Extents;
use hidden_cache::HiddenCache;
use layers::{Layer, LayerKind};
use memory::MemoryFacts;
use places::{BlockReads, PlacesFacts, RangesFacts};
use range::RangeFacts;
use readlab_protocol::Archive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use setting::SettingValue;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use tree::TreeFacts;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "server", rename_all = "snake_case")]
pub enum Http {
    /// Readlab's own server: a separate process on the loopback interface.
    Own,
    /// Another server; the state of its cache is unknown.
    Foreign { software: Option<String>, etag: Option<String>, last_modified: Option<String> },
}

/// How a request for an object names the bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[serde(rename = "Style")]
pub enum BucketStyle {
    Path,
    /// The bucket is part of the host name (virtual-hosted style).
    Virtual,
}

crate::worded! { BucketStyle { Path = "path", Virtual = "virtual" } }

/// The facts about a store that a record keeps. None of them is secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFacts {
    pub endpoint: String,
    /// The region for which requests are signed.
    pub region: String,
    /// How a request names the bucket.
    pub style: BucketStyle,
    #[serde(rename = "signed")]
    pub is_signed: bool,
}

/// The words shown instead of a cache state for a server that is not readlab's own.
pub const CACHE_UNKNOWN_WORDS: &str = "state of the server's cache: unknown";

/// How servers are reached and trusted, and which programs get credentials. No field is secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerOptions {
    /// The address of the store; overrides the configured address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// True if requests for objects are not signed.
    #[serde(rename = "unsigned")]
    pub is_unsigned: bool,
    /// A file of certificates by which servers are trusted, instead of the system's certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "cacert")]
    pub ca_certificates_path: Option<PathBuf>,
    /// True if commands get credentials and signed URLs.
    pub commands_get_credentials: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// The target's path, or its URL on another server; bytes that are not UTF-8 are written as
    /// U+FFFD.
    pub path: String,
    /// The path as hexadecimal bytes, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// How many ranks of a fleet read the target, if the run compares different numbers of ranks.
    /// The facts of the target then describe all their reads together: its size times the number of
    /// ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "ranks")]
    pub rank_count: Option<u32>,
    /// How many processes on this host read the target at the same time, if the run compares
    /// different numbers of readers. The facts of the target then describe all their reads
    /// together, as with `ranks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "readers")]
    pub reader_count: Option<u32>,
    /// The folder that holds one copy of the file for each reader but the first; `None` if all
    /// readers read the same file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "copies_in")]
    pub copies_folder: Option<String>,
    /// The settings of the system under which the target is read, if the run races different values
    /// of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<SettingValue>,
    /// The bound on memory under which the target is read; `None` if there is none. Only the
    /// target's pressed trials have a bound: the same target without one has the cold and warm
    /// trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "memory")]
    pub memory_bound: Option<MemoryFacts>,
    pub size_bytes: u64,
    /// The range of the file that is read; `size_bytes` is then the size of this range. `None` if
    /// the user chose no range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<RangeFacts>,
    /// The file system's type, such as `ext4`; for a type without a known name its number, in
    /// hexadecimal.
    pub filesystem: Option<String>,
    /// The mounted device, such as `/dev/vda`, and the mount point.
    pub mount: Option<String>,
    /// The block device below the file; `None` if there is none or it is not known.
    pub device: Option<Device>,
    /// The read-ahead of the target's file system, if the file system has a setting of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_read_ahead: Option<ReadAhead>,
    /// The layers that the target's bytes pass through, its file system first; empty if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Read quotas that the control groups of this process set for the devices below the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub io_quotas: Vec<IoQuota>,
    /// The result of the probe for a hidden cache; `None` if no trial was cold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_cache: Option<HiddenCache>,
    /// The target's extents on the device; `None` if the file system does not list them.
    pub extents: Option<Extents>,
    /// Digest of the target's content (XXH3, 64 bits, hexadecimal).
    pub digest: Option<String>,
    /// The true answer, computed by the lab's simplest code.
    pub answer: Option<Answer>,
    /// The decoded content of the target, if trials decode it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<DecodedContent>,
    /// The answers about the files in a tar: in the target, or in its decoded content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tar_files: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictionary: Option<Dictionary>,
    /// The ranges that a reading reads, if a list names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<RangesFacts>,
    /// Sentences about properties of the target that affect its numbers.
    pub cautions: Vec<String>,
    #[serde(flatten)]
    pub kind: TargetKind,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "KindFields", into = "KindFields")]
pub enum TargetKind {
    #[default]
    File,
    /// Blocks at several places of one file.
    Places(PlacesFacts),
    Tree(TreeFacts),
    /// What a server sends for a URL. Readlab's own server sends a file.
    Url(Http),
    Object {
        http: Http,
        store: StoreFacts,
    },
}

/// How records store the kind of a target: optional fields beside the other facts.
#[derive(Serialize, Deserialize, JsonSchema)]
struct KindFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<Http>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<TreeFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    places: Option<PlacesFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<StoreFacts>,
}

impl TargetKind {
    /// A URL or, with a store, an object.
    pub fn from_server(http: Http, store: Option<StoreFacts>) -> TargetKind {
        match store {
            Some(store) => TargetKind::Object { http, store },
            None => TargetKind::Url(http),
        }
    }
}

impl From<KindFields> for TargetKind {
    fn from(fields: KindFields) -> TargetKind {
        match fields {
            KindFields { http: Some(http), store, .. } => TargetKind::from_server(http, store),
            KindFields { tree: Some(tree), .. } => TargetKind::Tree(tree),
            KindFields { places: Some(places), .. } => TargetKind::Places(places),
            _ => TargetKind::File,
        }
    }
}

impl From<TargetKind> for KindFields {
    fn from(kind: TargetKind) -> KindFields {
        let none = KindFields { http: None, tree: None, places: None, store: None };
        match kind {
            TargetKind::File => none,
            TargetKind::Places(places) => KindFields { places: Some(places), ..none },
            TargetKind::Tree(tree) => KindFields { tree: Some(tree), ..none },
            TargetKind::Url(http) => KindFields { http: Some(http), ..none },
            TargetKind::Object { http, store } => KindFields { http: Some(http), store: Some(store), ..none },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename = "Decoded")]
pub struct DecodedContent {
    pub archive: Archive,
    /// Digest of the content (XXH3, 64 bits, hexadecimal).
    pub digest: String,
    pub answer: Answer,
}

impl TargetFacts {
    /// Facts that contain only the path of a file.
    pub fn with_path(path: &Path) -> TargetFacts {
        let bytes = path.as_os_str().as_bytes();
        TargetFacts {
            path: path.to_string_lossy().into_owned(),
            path_hex: std::str::from_utf8(bytes).is_err().then(|| hex::encode(bytes)),
            ..TargetFacts::default()
        }
    }

    /// The target's path or URL, byte for byte.
    pub fn exact_path(&self) -> PathBuf {
        let bytes = self.path_hex.as_deref().and_then(|text| hex::decode(text).ok());
        bytes.map_or_else(|| PathBuf::from(&self.path), |bytes| PathBuf::from(OsString::from_vec(bytes)))
    }

    /// The files of this machine that a reading reads: the target, its dictionary, and the files
    /// that back its layers.
    pub fn local_files(&self) -> Vec<PathBuf> {
        let dictionary = self.dictionary.iter().map(|it| PathBuf::from(&it.path));
        let below = self.layers.iter().filter(|layer| layer.kind == LayerKind::File);
        let below = below.map(|layer| PathBuf::from(&layer.name));
        std::iter::once(self.exact_path()).chain(dictionary).chain(below).collect()
    }

    pub fn transport(&self) -> Transport {
        match self.kind {
            TargetKind::File if self.ranges.is_some() => Transport::Places,
            TargetKind::File => Transport::File,
            TargetKind::Places(_) => Transport::Places,
            TargetKind::Tree(_) => Transport::Tree,
            TargetKind::Url(_) => Transport::Http,
            TargetKind::Object { .. } => Transport::S3,
        }
    }

    pub fn tree(&self) -> Option<&TreeFacts> {
        if let TargetKind::Tree(tree) = &self.kind { Some(tree) } else { None }
    }

    pub fn tree_mut(&mut self) -> Option<&mut TreeFacts> {
        if let TargetKind::Tree(tree) = &mut self.kind { Some(tree) } else { None }
    }

    /// The places of the file that a reading reads, if a pattern picks them.
    pub fn places(&self) -> Option<&PlacesFacts> {
        if let TargetKind::Places(places) = &self.kind { Some(places) } else { None }
    }

    /// The blocks of the file that a reading reads, at places or in ranges; `None` if it reads the
    /// whole file.
    pub fn blocks(&self) -> Option<BlockReads> {
        self.places().map(BlockReads::from).or_else(|| self.ranges.as_ref().map(BlockReads::from))
    }

    /// Number of different bytes that the user requested: a byte that several blocks contain counts
    /// once, and bytes before a range do not count.
    pub fn useful_bytes(&self) -> u64 {
        let repeated_bytes = self.blocks().map_or(0, |blocks| blocks.repeated_bytes);
        self.size_bytes.saturating_sub(repeated_bytes).saturating_sub(self.bytes_before_range())
    }

    /// Number of bytes that each of the readers reads.
    pub fn bytes_of_one_reader(&self) -> u64 {
        self.size_bytes / u64::from(self.reader_count.unwrap_or(1).max(1))
    }

    /// Number of bytes before the user's range that all readers read together.
    fn bytes_before_range(&self) -> u64 {
        let readers = u64::from(self.reader_count.unwrap_or(1));
        self.range.map_or(0, |range| range.before_bytes.saturating_mul(readers))
    }

    /// The server from which the target is read; `None` for files that contenders open themselves.
    pub fn http(&self) -> Option<&Http> {
        match &self.kind {
            TargetKind::Url(http) | TargetKind::Object { http, .. } => Some(http),
            _ => None,
        }
    }

    pub fn store(&self) -> Option<&StoreFacts> {
        if let TargetKind::Object { store, .. } = &self.kind { Some(store) } else { None }
    }

    /// True if the target is read from a server that is not readlab's own, whose cache is unknown.
    pub fn has_foreign_server(&self) -> bool {
        matches!(self.http(), Some(Http::Foreign { .. }))
    }

    /// The number of bytes that a trial gets from the target: decoded bytes if the trial decodes
    /// it. Bytes before a range do not count.
    pub fn bytes_out(&self, decodes: Option<Archive>) -> u64 {
        let answer = match decodes {
            Some(_) => self.decoded.as_ref().map(|decoded| decoded.answer),
            None => self.answer,
        };
        let bytes = answer.and_then(|answer| answer.bytes).unwrap_or(self.size_bytes);
        bytes.saturating_sub(self.bytes_before_range())
    }

    /// True if the target is a size group of the files of another target.
    pub fn is_size_group(&self) -> bool {
        self.tree().is_some_and(|tree| tree.group.is_some())
    }

    /// How many ranks or readers read the target at the same time; `None` if the run does not
    /// compare different numbers.
    pub fn concurrent_readers(&self) -> Option<u32> {
        self.rank_count.or(self.reader_count)
    }

    /// The settings of the system under which the target is read, such as `read-ahead=4MiB`; `None`
    /// if none are raced.
    pub fn settings_words(&self) -> Option<String> {
        setting::settings_text(&self.settings)
    }

    /// The bound on memory as the name of a trial states it, after the `+`; `None` if there is no
    /// bound.
    pub fn memory_words(&self) -> Option<String> {
        self.memory_bound.as_ref().map(MemoryFacts::words)
    }

    /// True if the target is read under the settings that the system had before the run.
    pub fn has_initial_settings(&self) -> bool {
        self.settings.iter().all(|it| it.is_initial)
    }

    /// The names of the caches below that stay filled when the target is made cold; `None` if none
    /// is known.
    pub fn unevictable_cache_names(&self) -> Option<String> {
        layers::unevictable_cache_names(&self.layers)
    }

    /// The type of the file system that stores the target. Below an overlay, it is that of the file
    /// that the overlay shows.
    pub fn storing_filesystem(&self) -> Option<&str> {
        let of_layers = self.layers.iter().find(|layer| layer.kind == LayerKind::Filesystem);
        of_layers.map(|layer| layer.name.as_str()).or(self.filesystem.as_deref())
    }

    /// The read-ahead for this target: the setting of its file system, or else of its device.
    pub fn read_ahead(&self) -> Option<ReadAhead> {
        let of_device = || {
            let device = self.device.as_ref()?;
            Some(ReadAhead { bytes: device.read_ahead_bytes?, setting_path: format!("/dev/{}", device.name) })
        };
        self.own_read_ahead.clone().or_else(of_device)
    }

    /// The kernel's name of the block device that holds the target's bytes. If the file system
    /// itself is in a file, this is the device below that file.
    pub fn block_device(&self) -> Option<&str> {
        let is_block =
            |layer: &&Layer| matches!(layer.kind, LayerKind::Loop | LayerKind::Mapped | LayerKind::Device);
        let of_layers = || self.layers.iter().find(is_block).map(|layer| layer.name.as_str());
        self.device.as_ref().map(|device| device.name.as_str()).or_else(of_layers)
    }

    /// The fewest bytes that a cold reading must fetch from the device; `None` if they are not
    /// known. Holes, unwritten, inline and encoded bytes count nothing.
    pub fn expected_device_bytes(&self) -> Option<u64> {
        let extents = self.extents.as_ref()?;
        if let Some(BlockReads { file_bytes, .. }) = self.blocks() {
            // It is not known where in the file holes or encoded extents are, so there must be
            // none.
            let is_whole = extents.least_device_bytes(file_bytes) == file_bytes;
            return is_whole.then(|| self.useful_bytes());
        }
        let repeated_bytes = self.tree().map_or(0, |tree| tree.repeated_bytes);
        Some(extents.least_device_bytes(self.size_bytes.saturating_sub(repeated_bytes)))
    }

    /// Bytes that are in the page cache when the target is warm.
    pub fn cached_bytes(&self) -> u64 {
        let repeated_bytes = self.tree().map_or(0, |tree| tree.repeated_bytes);
        self.blocks().map_or(self.size_bytes.saturating_sub(repeated_bytes), |blocks| blocks.file_bytes)
    }
}
