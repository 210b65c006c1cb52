//! What is read, with what is true of it and what its state rests on: the page cache of a file,
//! whether contenders open it or our own server does; nothing that could be made or proven, where
//! the server is somebody else's.

use super::cache::{CacheError, Eviction, PageCache};
use super::next_layer::NextLayer;
use crate::corpus::oracle::Truth;
use crate::target::identity::Identity;
use crate::target::web::Version;
use crate::target::{Place, Target, shown};
use std::path::Path;

/// One target of a run.
#[derive(Debug)]
pub struct MeasuredTarget<'a> {
    /// The number of the target in the record.
    pub index: usize,
    /// The file or URL.
    pub target: &'a Target,
    /// What every answer about its bytes is compared with.
    pub truth: &'a Truth,
    /// What every answer about its content is compared with, where trials decode it.
    pub decoded: Option<&'a Truth>,
    /// What its state rests on.
    pub ground: CacheControl,
}

/// What the state of a target rests on.
#[derive(Debug)]
pub enum CacheControl {
    /// A file of this machine.
    File {
        /// What it was when the truth was found.
        identity: Identity,
        /// Its pages in memory.
        cache: PageCache,
        /// What below its file system can be counted.
        next_layer: Option<NextLayer>,
    },
    /// Somebody else's server.
    Web,
}

/// Why nothing can be measured on a target.
#[derive(Debug, thiserror::Error)]
pub enum CacheControlError {
    /// Its page cache cannot be had.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The file cannot be looked at.
    #[error("{}: {cause}", shown(.path))]
    Identity {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}

impl CacheControl {
    /// Of a target as it is now: to be taken before its truth is found.
    ///
    /// # Errors
    /// If its file cannot be looked at, or nothing here can tell its state.
    pub fn of(target: &Target, eviction: Eviction) -> Result<CacheControl, CacheControlError> {
        let Some(path) = target.file() else { return Ok(CacheControl::Web) };
        let cache = PageCache::open(path, eviction)?.above(&target.evictable);
        let identity = Identity::of_path(path)
            .map_err(|cause| CacheControlError::Identity { path: path.to_owned(), cause })?;
        let next_layer = NextLayer::of(&target.facts.layers);
        Ok(CacheControl::File { identity, cache, next_layer })
    }

    /// What the file was; `None` behind somebody else's server.
    #[must_use]
    pub fn identity(&self) -> Option<Identity> {
        match self {
            CacheControl::File { identity, .. } => Some(*identity),
            CacheControl::Web => None,
        }
    }
}

impl MeasuredTarget<'_> {
    /// Its pages in memory; `None` behind somebody else's server.
    #[must_use]
    pub fn cache(&self) -> Option<&PageCache> {
        match &self.ground {
            CacheControl::File { cache, .. } => Some(cache),
            CacheControl::Web => None,
        }
    }

    /// What below its file system can be counted, where there is such a thing.
    #[must_use]
    pub fn next_layer(&self) -> Option<&NextLayer> {
        match &self.ground {
            CacheControl::File { next_layer, .. } => next_layer.as_ref(),
            CacheControl::Web => None,
        }
    }

    /// Whether both are the same file, so that the state of one is the state of the other.
    #[must_use]
    pub fn shares_file(&self, other: &MeasuredTarget) -> bool {
        self.target.file().is_some() && self.target.file() == other.target.file()
    }

    /// How it changed since the truth was found; that it cannot be looked at is a change too.
    #[must_use]
    pub fn change(&self) -> Option<String> {
        match (&self.ground, &self.target.place) {
            (CacheControl::File { identity, .. }, Place::File(path) | Place::Served { file: path, .. }) => {
                change_of_file(identity, path)
            }
            (_, Place::Web { url, version: Some(version) }) => match Version::of(url) {
                Ok(now) => version.change(&now),
                Err(error) => Some(format!("can no longer be asked: {error}")),
            },
            _ => None,
        }
    }
}

fn change_of_file(identity: &Identity, path: &Path) -> Option<String> {
    match Identity::of_path(path) {
        Ok(now) => identity.change(&now).map(|change| change.to_string()),
        Err(error) => Some(error.to_string()),
    }
}
