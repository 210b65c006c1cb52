//! The file that a witness watches on the server: examined, made cold once, and named to the ranks
//! that read it through a mount. What the witness does in a turn is in [`readlab_fleet::witness`].

use anyhow::Context;
use readlab_fleet::agreement::{WholeFile, WitnessFacts};
use readlab_measure::cache::Eviction;
use readlab_measure::target::CacheControl;
use readlab_system::system;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::Target;
use readlab_targets::target::part::digest_of_places;
use std::path::Path;

/// A file of the server, with control over its page cache.
#[derive(Debug)]
pub struct WatchedFile {
    target: Target,
    /// The control over its page cache.
    pub cache: CacheControl,
}

impl WatchedFile {
    /// Examines the file, and makes it cold once.
    pub fn open(path: &Path) -> anyhow::Result<WatchedFile> {
        let target = Target::examine(path)?;
        let cache = CacheControl::open(&target, Eviction::OfFile)?;
        cache.evict().map_err(anyhow::Error::msg)?;
        Ok(WatchedFile { target, cache })
    }

    /// What the ranks compare with the file that they read.
    pub fn credentials(&self) -> anyhow::Result<WitnessFacts> {
        let path = self.target.file().context("a witness watches a file")?;
        Ok(WitnessFacts {
            host: system::host_name(),
            path: display_path(path),
            whole: WholeFile {
                bytes: self.target.facts.size_bytes,
                places: digest_of_places(path).with_context(|| display_path(path))?,
            },
        })
    }
}
