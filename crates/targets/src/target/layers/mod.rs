//! The layers below a file: how they are found.

mod walk;

use std::path::PathBuf;

pub use walk::Chain;

/// The files below a target whose pages are evicted too, the nearest first.
pub type Evictable = Vec<PathBuf>;
