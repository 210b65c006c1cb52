//! A measured target: the bytes that are read, their expected answers, and the control of their
//! cache state. The cache state is the state of a file's page cache, even if readlab's own server
//! and not the contender opens the file. Behind a foreign server no cache state can be made or
//! proven, nor of files whose pages the kernel does not show, or that another cache holds.

use super::cache::{CacheError, EvictionScope, PageCache, TargetCache};
use super::holders::{Holder, Processes};
use super::names_cache::NamesCache;
use super::next_layer::NextLayer;
use super::residency::ResidencyProof;
use super::tree_cache::TreeCache;
use readlab_corpus::oracle::Truth;
use readlab_model::target::identity::Identity;
use readlab_model::target::{CACHE_UNKNOWN_WORDS, TargetIndex};
use readlab_targets::target::tree::Tree;
use readlab_targets::target::{Place, Target};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug)]
pub struct MeasuredTarget<'a> {
    /// The number of the target in the record.
    pub index: TargetIndex,
    pub target: &'a Target,
    /// The expected answer about the target's bytes.
    pub truth: &'a Truth,
    /// The expected answer about the target's decoded content, if trials decode it.
    pub decoded_truth: Option<&'a Truth>,
    pub cache_control: CacheControl,
}

/// A file that is read once. It is opened only for its readings, because a run of thousands of
/// files cannot keep all of them open.
#[derive(Debug, Clone)]
pub struct SweepTarget {
    pub target: Target,
    pub truth: Truth,
}

impl SweepTarget {
    pub(super) fn measured_target(&self, index: TargetIndex) -> Result<MeasuredTarget<'_>, CacheError> {
        let cache_control = CacheControl::open(&self.target, EvictionScope::OfFile)?;
        Ok(MeasuredTarget {
            index,
            target: &self.target,
            truth: &self.truth,
            decoded_truth: None,
            cache_control,
        })
    }
}

#[derive(Debug)]
pub enum CacheControl {
    File {
        /// Identity of the file when its expected answer was found.
        identity: Identity,
        cache: PageCache,
        /// The layer below the file system, if its bytes can be counted.
        next_layer: Option<NextLayer>,
    },
    /// Many files of this machine, or a file and its copies.
    Tree { cache: TreeCache, next_layer: Option<NextLayer> },
    /// The names and inodes below a folder. Its files are not read.
    Names { cache: NamesCache },
    /// Files of this machine whose cache state nobody can prove here.
    Unknown {
        /// Identity of the file when its expected answer was found; `None` for many files.
        identity: Option<Identity>,
        reason: String,
    },
    /// A foreign server.
    Web,
}

#[derive(Debug)]
pub struct TargetState {
    /// Pages that are resident, or why that is not known.
    pub residency: Result<ResidencyProof, String>,
    /// How the target's files changed since its expected answer was found; `None` if they did not,
    /// or behind a foreign server.
    pub change: Option<String>,
}

impl CacheControl {
    /// The cache control of a target as it is now, before its expected answer is found.
    pub fn open(target: &Target, eviction: EvictionScope) -> Result<CacheControl, CacheError> {
        let next_layer = NextLayer::find(&target.facts.layers);
        let read = target.copies.as_ref().map_or(target, |copies| copies.tree_target.as_ref());
        if let Some(tree) = read.tree() {
            let cache = TreeCache::for_tree(tree, read.facts.cached_bytes(), &target.evictable, eviction)?;
            return Ok(CacheControl::Tree { cache, next_layer });
        }
        let Some(path) = target.file() else { return Ok(CacheControl::Web) };
        let cache = PageCache::open_target(target, path, eviction)?;
        Ok(CacheControl::File { identity: identity_of(path)?, cache, next_layer })
    }

    /// As [`CacheControl::open`], but a target whose state cannot be proven is no error: it is read
    /// in the state that it has.
    pub fn open_if_provable(target: &Target, eviction: EvictionScope) -> Result<CacheControl, CacheError> {
        let checked =
            CacheControl::open(target, eviction).and_then(|control| match control.check_provable() {
                Err(error) if error.leaves_state_unknown() => Err(error),
                _ => Ok(control),
            });
        match checked {
            Err(error) if error.leaves_state_unknown() => {
                let identity = target.file().map(identity_of).transpose()?;
                Ok(CacheControl::Unknown { identity, reason: error.to_string() })
            }
            checked => checked,
        }
    }

    /// The control of names and inodes below a folder, for races that read no file.
    pub fn for_names(tree: &Arc<Tree>, eviction: EvictionScope) -> CacheControl {
        CacheControl::Names { cache: NamesCache::new(tree, eviction) }
    }

    /// Gives up the control of names if the kernel forgets them soon after each was asked for, which
    /// was done just now. Returns why their state is unknown.
    pub fn give_up_if_names_expire(&mut self) -> Result<Option<String>, CacheError> {
        let CacheControl::Names { cache } = self else { return Ok(None) };
        match cache.check_kept() {
            Err(error) if error.leaves_state_unknown() => {
                let reason = error.to_string();
                *self = CacheControl::Unknown { identity: None, reason: reason.clone() };
                Ok(Some(reason))
            }
            kept => kept.map(|()| None),
        }
    }

    fn check_provable(&self) -> Result<(), CacheError> {
        match self {
            CacheControl::File { cache, .. } => cache.proof_if_provable().map(drop),
            CacheControl::Tree { cache, .. } => cache.proof_if_provable().map(drop),
            CacheControl::Names { .. } | CacheControl::Unknown { .. } | CacheControl::Web => Ok(()),
        }
    }

    pub fn evict(&self) -> Result<(), String> {
        let cache = self.cache().ok_or_else(|| self.unknown_reason().to_owned())?;
        cache.evict().map(drop).map_err(|error| error.to_string())
    }

    /// Why no cache state can be made or proven, if [`CacheControl::cache`] is `None`.
    fn unknown_reason(&self) -> &str {
        if let CacheControl::Unknown { reason, .. } = self { reason } else { CACHE_UNKNOWN_WORDS }
    }

    /// The page cache of the target, or its names and inodes; `None` if their state is unknown.
    pub fn cache(&self) -> Option<&dyn TargetCache> {
        match self {
            CacheControl::File { cache, .. } => Some(cache),
            CacheControl::Tree { cache, .. } => Some(cache),
            CacheControl::Names { cache } => Some(cache),
            CacheControl::Unknown { .. } | CacheControl::Web => None,
        }
    }

    /// Identity of the file; `None` for many files, and behind a foreign server.
    pub fn identity(&self) -> Option<Identity> {
        match self {
            CacheControl::File { identity, .. } => Some(*identity),
            CacheControl::Unknown { identity, .. } => *identity,
            CacheControl::Tree { .. } | CacheControl::Names { .. } | CacheControl::Web => None,
        }
    }
}

fn identity_of(path: &Path) -> Result<Identity, CacheError> {
    Identity::of_path(path).map_err(|cause| CacheError::Identity { path: path.to_owned(), cause })
}

impl MeasuredTarget<'_> {
    pub fn cache(&self) -> Option<&dyn TargetCache> {
        self.cache_control.cache()
    }

    pub fn residency(&self) -> Result<ResidencyProof, String> {
        let cache = self.cache().ok_or_else(|| self.cache_control.unknown_reason().to_owned())?;
        cache.residency().map_err(|error| error.to_string())
    }

    /// The resident pages now and how the target's files changed; many files are visited once
    /// each.
    pub fn observe(&self) -> TargetState {
        match &self.cache_control {
            CacheControl::Tree { cache, .. } => cache.observe(),
            CacheControl::Names { cache } => cache.observe(),
            CacheControl::File { .. } | CacheControl::Unknown { .. } | CacheControl::Web => {
                TargetState { change: self.file_change_since_answer(), residency: self.residency() }
            }
        }
    }

    pub fn next_layer(&self) -> Option<&NextLayer> {
        match &self.cache_control {
            CacheControl::File { next_layer, .. } | CacheControl::Tree { next_layer, .. } => {
                next_layer.as_ref()
            }
            CacheControl::Names { .. } | CacheControl::Unknown { .. } | CacheControl::Web => None,
        }
    }

    /// Whether two targets share their cache state: they are the same file, or the files of one are
    /// among the files of the other.
    pub fn shares_file(&self, other: &MeasuredTarget) -> bool {
        self.target.file().is_some() && self.target.file() == other.target.file()
            || self.target.tree().is_some() && self.target.tree() == other.target.tree()
            || self.target.facts.is_size_group()
            || other.target.facts.is_size_group()
    }

    /// Bytes of the target that are in the page cache in the warm state; 0 if no file is read.
    pub fn cached_bytes(&self) -> u64 {
        if matches!(self.cache_control, CacheControl::Names { .. }) {
            return 0;
        }
        let copied = self.target.copies.as_ref().map(|copies| copies.tree_target.facts.size_bytes);
        copied.unwrap_or_else(|| self.target.facts.cached_bytes())
    }

    /// The processes among `among` that hold the target or one of its files; empty behind a foreign
    /// server.
    pub(super) fn holders(&self, now: &Processes, among: &BTreeSet<u32>) -> Vec<Holder> {
        match &self.cache_control {
            CacheControl::File { identity, .. } => now.holders(among, identity),
            CacheControl::Tree { cache, .. } => now.holders_of_tree_files(among, &cache.tree),
            CacheControl::Names { cache } => now.holders_of_tree_files(among, &cache.tree),
            CacheControl::Unknown { identity: Some(identity), .. } => now.holders(among, identity),
            CacheControl::Unknown { identity: None, .. } | CacheControl::Web => Vec::new(),
        }
    }

    /// How the target's files changed since its expected answer was found; `None` if they did not,
    /// or behind a foreign server. A file that can no longer be examined counts as changed.
    pub fn file_change_since_answer(&self) -> Option<String> {
        if let Some(tree) = self.target.copies.as_ref().and_then(|copies| copies.tree_target.tree()) {
            return tree.change();
        }
        let path: &Path = match &self.target.place {
            Place::File(path) | Place::Served { file: path, .. } => path,
            Place::Blocks(blocks) => blocks.file(),
            Place::Web(_) => return None,
            Place::Tree(tree) => return tree.change(),
        };
        let identity = self.cache_control.identity()?;
        match Identity::of_path(path) {
            Ok(now) => identity.change_until(&now).map(|change| change.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }
}
