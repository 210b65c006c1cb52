//! Why a state of the cache could not be made or proven, in one line with the file and the cause.

use super::residency::{ResidencyError, ResidencyProof};
use readlab_model::units::Bytes;
use readlab_system::machine::memory::Memory;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::TargetError;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use std::io;
use std::path::PathBuf;

/// Why a state could not be made or proven.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The file has no other copy than its pages.
    #[error("{}: cold is impossible on {filesystem}: the file lives in memory and nowhere else", display_path(.path))]
    RamBacked {
        /// The file.
        path: PathBuf,
        /// The file system.
        filesystem: Filesystem,
    },
    /// The file system has a cache that the lab cannot inspect.
    #[error("{}: cold cannot be proven on {filesystem}: it has a cache of its own beside the page cache", display_path(.path))]
    OwnCache {
        /// The file.
        path: PathBuf,
        /// The file system.
        filesystem: Filesystem,
    },
    /// The page cache never holds its bytes.
    #[error(
        "{}: neither cold nor warm: the page cache holds nothing of a file on {filesystem}{}",
        display_path(.path),
        if filesystem.backing == Backing::Kernel { ", which the kernel makes up while it is read" } else { " with DAX" }
    )]
    Uncached {
        /// The file.
        path: PathBuf,
        /// The file system.
        filesystem: Filesystem,
    },
    /// Pages stay in the cache.
    #[error("{}: not cold, {proof} after {tries} evictions: {}", display_path(.path), why_pages_remain(proof))]
    Remains {
        /// The file.
        path: PathBuf,
        /// What was found after the last try.
        proof: ResidencyProof,
        /// How often it was tried.
        tries: u32,
    },
    /// The file can never be cached as a whole.
    #[error(
        "{}: cannot be warm: its {} do not fit the {} of memory that there are",
        display_path(.path),
        Bytes(*size_bytes).binary(),
        Bytes(memory.ceiling_bytes()).binary()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        size_bytes: u64,
        memory: Memory,
    },
    /// Pages left the cache while others were read.
    #[error(
        "{}: not warm, {proof} after the fill: the file has {}, of memory {} are available",
        display_path(.path),
        Bytes(*size_bytes).binary(),
        Bytes(memory.available_here_bytes()).binary()
    )]
    NotFilled {
        /// The file.
        path: PathBuf,
        size_bytes: u64,
        /// What was found after the fill.
        proof: ResidencyProof,
        /// The memory that there was before the fill.
        memory: Memory,
    },
    /// The file system forgets its pages whenever the file is opened.
    #[error(
        "{}: cannot be warm: {filesystem} drops its pages from the cache at each open, as FUSE does unless it is mounted with kernel_cache or auto_cache",
        display_path(.path)
    )]
    DroppedAtOpen {
        /// The file.
        path: PathBuf,
        /// The file system.
        filesystem: Filesystem,
    },
    /// The caches of the whole machine could not be emptied.
    #[error("{cause}")]
    DropCaches {
        /// The system's error.
        cause: io::Error,
    },
    /// A name stays in memory.
    #[error("{}: its name and inode are not cold: the kernel kept them", display_path(.path))]
    NameRemains {
        /// The file.
        path: PathBuf,
    },
    /// The files of a tree cannot be listed.
    #[error("{cause}")]
    List {
        /// Why not.
        cause: String,
    },
    /// The state is not known.
    #[error(transparent)]
    Residency(#[from] ResidencyError),
    /// A call failed.
    #[error("{}: {call}: {cause}", display_path(.path))]
    Io {
        /// The file.
        path: PathBuf,
        call: &'static str,
        /// The system's error.
        cause: io::Error,
    },
}

impl From<TargetError> for CacheError {
    fn from(error: TargetError) -> CacheError {
        CacheError::List { cause: error.to_string() }
    }
}

/// What usually keeps pages where they are.
fn why_pages_remain(proof: &ResidencyProof) -> &'static str {
    match proof.dirty {
        Some(dirty) if dirty > 0 => "another program is writing to it",
        _ => "another program has it mapped, has locked it into memory, or is reading it",
    }
}
