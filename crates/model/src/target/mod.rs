//! What is read: the facts about a target that a record keeps.

pub mod cold_bytes;
pub mod device;
pub mod dictionary;
pub mod extents;
pub mod hidden_cache;
pub mod identity;
pub mod layers;
pub mod places;
pub mod tree;

use crate::trial::{Answer, Transport};
use device::{Device, IoQuota, ReadAhead};
use dictionary::Dictionary;
use extents::Extents;
use hidden_cache::HiddenCache;
use layers::{Layer, LayerKind};
use places::PlacesFacts;
use readlab_protocol::Archive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use tree::TreeFacts;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "server", rename_all = "snake_case")]
pub enum Http {
    /// Readlab's own, on the loopback interface, in a process of its own.
    Own,
    /// Another: what it has in its cache is unknown.
    Foreign { software: Option<String>, etag: Option<String>, last_modified: Option<String> },
}

/// Where the bucket is in a request for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    Path,
    /// In the name of the host.
    Virtual,
}

crate::worded! { Style { Path = "path", Virtual = "virtual" } }

/// What a record has of a store: nothing secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreFacts {
    pub endpoint: String,
    /// The region for which requests are signed.
    pub region: String,
    /// Where the bucket is in a request.
    pub style: Style,
    pub signed: bool,
}

/// The words for the cache of another server, wherever a state is shown.
pub const CACHE_UNKNOWN: &str = "state of the server's cache: unknown";

/// How servers are reached and trusted, and who gets credentials. Nothing in it is secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerOptions {
    /// The address of the store, instead of the configured one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Whether requests for objects are not signed.
    pub unsigned: bool,
    /// A file of certificates by which servers are trusted, instead of those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cacert: Option<PathBuf>,
    /// Whether commands get credentials and signed URLs.
    pub commands_get_credentials: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// Its path, or its URL at another server; bytes that are not UTF-8 are written as U+FFFD.
    pub path: String,
    /// Its path as hexadecimal bytes, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// How many ranks of a fleet read it, where different numbers do by turns. It stands for what
    /// they read together then: so many times its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// How many processes on this host read it at the same time, where that is a part of what is
    /// measured. It stands for what they read together then, as with ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readers: Option<u32>,
    /// The folder with a copy for each of these but the first; `None` where all read the one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies_in: Option<String>,
    pub size_bytes: u64,
    /// The file system's type, such as `ext4`; an unknown one by its number, in hexadecimal.
    pub filesystem: Option<String>,
    /// What is mounted, such as `/dev/vda`, and the mount point.
    pub mount: Option<String>,
    /// The block device below; `None` where there is none, or none is known.
    pub device: Option<Device>,
    /// How far the kernel reads ahead for its file system, where that has a setting of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_read_ahead: Option<ReadAhead>,
    /// What its bytes pass through, its own file system first; empty where it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Quotas of reads that the control groups around this process set for the devices below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub io_quotas: Vec<IoQuota>,
    /// Whether there is a hidden cache below everything visible; `None` where no trial was cold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_cache: Option<HiddenCache>,
    /// Its extents on the device; `None` where the file system does not list them.
    pub extents: Option<Extents>,
    /// Digest of its content (XXH3, 64 bits, hexadecimal).
    pub digest: Option<String>,
    /// The right answer, by the plainest code of the lab.
    pub answer: Option<Answer>,
    /// Its decoded content, where trials decode it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<Decoded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dictionary: Option<Dictionary>,
    /// What a reader of the numbers should know about this target.
    pub cautions: Vec<String>,
    #[serde(flatten)]
    pub kind: TargetKind,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "KindFields", into = "KindFields")]
pub enum TargetKind {
    #[default]
    File,
    /// Blocks at places of such a file.
    Places(PlacesFacts),
    Tree(TreeFacts),
    /// What a server sends: of readlab's own, a file.
    Url(Http),
    Object {
        http: Http,
        store: StoreFacts,
    },
}

/// How records have what a target is: fields beside the others, of which a target has some.
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
    /// What a server sends, from a store or not.
    pub fn sent_by(http: Http, store: Option<StoreFacts>) -> TargetKind {
        match store {
            Some(store) => TargetKind::Object { http, store },
            None => TargetKind::Url(http),
        }
    }
}

impl From<KindFields> for TargetKind {
    fn from(fields: KindFields) -> TargetKind {
        match fields {
            KindFields { http: Some(http), store, .. } => TargetKind::sent_by(http, store),
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
pub struct Decoded {
    pub archive: Archive,
    /// Digest of the content (XXH3, 64 bits, hexadecimal).
    pub digest: String,
    pub answer: Answer,
}

impl TargetFacts {
    /// With the path of a file, and nothing else yet.
    pub fn at(path: &Path) -> TargetFacts {
        let bytes = path.as_os_str().as_bytes();
        TargetFacts {
            path: path.to_string_lossy().into_owned(),
            path_hex: std::str::from_utf8(bytes).is_err().then(|| hex::encode(bytes)),
            ..TargetFacts::default()
        }
    }

    /// Its path or URL, byte for byte.
    pub fn place(&self) -> PathBuf {
        let bytes = self.path_hex.as_deref().and_then(|text| hex::decode(text).ok());
        bytes.map_or_else(|| PathBuf::from(&self.path), |bytes| PathBuf::from(OsString::from_vec(bytes)))
    }

    /// The files of this machine that reading it reads: its own, its dictionary, and those below it.
    pub fn files(&self) -> Vec<PathBuf> {
        let dictionary = self.dictionary.iter().map(|it| PathBuf::from(&it.path));
        let below = self.layers.iter().filter(|layer| layer.kind == LayerKind::File);
        let below = below.map(|layer| PathBuf::from(&layer.name));
        std::iter::once(self.place()).chain(dictionary).chain(below).collect()
    }

    pub fn transport(&self) -> Transport {
        match self.kind {
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

    /// The places that are read of it, if not all of it is.
    pub fn places(&self) -> Option<&PlacesFacts> {
        if let TargetKind::Places(places) = &self.kind { Some(places) } else { None }
    }

    /// The server that it is read from; `None` for files that contenders open.
    pub fn http(&self) -> Option<&Http> {
        match &self.kind {
            TargetKind::Url(http) | TargetKind::Object { http, .. } => Some(http),
            _ => None,
        }
    }

    pub fn store(&self) -> Option<&StoreFacts> {
        if let TargetKind::Object { store, .. } = &self.kind { Some(store) } else { None }
    }

    /// Whether it is read from another server, whose cache is unknown.
    pub fn is_foreign(&self) -> bool {
        matches!(self.http(), Some(Http::Foreign { .. }))
    }

    /// The bytes that a trial gets from it, decoded if it decodes.
    pub fn bytes_out(&self, decodes: Option<Archive>) -> u64 {
        let answer = match decodes {
            Some(_) => self.decoded.as_ref().map(|decoded| decoded.answer),
            None => self.answer,
        };
        answer.and_then(|answer| answer.bytes).unwrap_or(self.size_bytes)
    }

    /// Whether it is a group of the files of another target, by their size.
    pub fn is_size_group(&self) -> bool {
        self.tree().is_some_and(|tree| tree.group.is_some())
    }

    /// How many read it together, ranks or readers, where different numbers do by turns.
    pub fn together(&self) -> Option<u32> {
        self.ranks.or(self.readers)
    }

    /// The names of the caches below that stay when it is made cold; `None` where none is known.
    pub fn cold_above(&self) -> Option<String> {
        layers::cold_above(&self.layers)
    }

    /// How far the kernel reads ahead for it: as its file system says, or else its device.
    pub fn read_ahead(&self) -> Option<ReadAhead> {
        let of_device = || {
            let device = self.device.as_ref()?;
            Some(ReadAhead { bytes: device.read_ahead_bytes?, setting: format!("/dev/{}", device.name) })
        };
        self.own_read_ahead.clone().or_else(of_device)
    }

    /// The kernel's name of the block device that its bytes come from: the one below it or, where
    /// its file system is a file itself, the one below that.
    pub fn block_device(&self) -> Option<&str> {
        let is_block =
            |layer: &&Layer| matches!(layer.kind, LayerKind::Loop | LayerKind::Mapped | LayerKind::Device);
        let of_layers = || self.layers.iter().find(is_block).map(|layer| layer.name.as_str());
        self.device.as_ref().map(|device| device.name.as_str()).or_else(of_layers)
    }

    /// The least that a cold read of all that is read must fetch from the device; `None` where that
    /// is not known. Holes, unwritten, inline and encoded bytes count nothing.
    pub fn expected_device_bytes(&self) -> Option<u64> {
        let extents = self.extents.as_ref()?;
        if let Some(places) = self.places() {
            // Where in the file such bytes are is not known.
            let is_whole = extents.least_device_bytes(places.file_bytes) == places.file_bytes;
            return is_whole.then(|| self.size_bytes - places.repeated_bytes());
        }
        let repeated_bytes = self.tree().map_or(0, |tree| tree.repeated_bytes);
        Some(extents.least_device_bytes(self.size_bytes.saturating_sub(repeated_bytes)))
    }

    /// Bytes that are in the page cache when the target is warm.
    pub fn cached_bytes(&self) -> u64 {
        self.places().map_or(self.size_bytes, |places| places.file_bytes)
    }
}
