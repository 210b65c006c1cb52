//! Facts about a file on systems other than Linux: none that this crate uses. Files are copied from
//! the cache, or mapped if that is allowed.

use crate::strategy::{Backing, CachedShare};
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// No facts are known.
#[derive(Debug, Default)]
pub(crate) struct SystemFacts;

impl SystemFacts {
    pub(crate) fn backing(&self, _file: &File) -> Backing {
        Backing::Other
    }

    /// A file counts as cached, so that it is mapped if that is allowed.
    pub(crate) fn cached(&self, _file: &File, _range: Range<u64>) -> CachedShare {
        CachedShare::All
    }

    pub(crate) fn cached_of(&self, _file: &File, _range: Range<u64>) -> CachedShare {
        CachedShare::All
    }
}

pub(crate) fn rings() -> bool {
    false
}

pub(crate) fn rings_of_files() -> bool {
    false
}

pub(crate) fn is_name_cached(_path: &Path) -> bool {
    true
}
