//! Reads a file in the fastest safe way, chosen by file and machine.
//!
//! | the file | how it is read |
//! | --- | --- |
//! | up to 1 MiB | once, through one small buffer |
//! | cached, mapping allowed | mapped |
//! | cached | copied through a buffer that stays in the processor's cache |
//! | cold, larger than 8 MiB, on ext4, xfs or f2fs, or on overlayfs over them | many reads in flight past the page cache |
//! | partly cached | both at once |
//! | anything else: other file systems, pipes, files of the kernel | copied |
//!
//! [`Files`] reads many files, each once. The number of threads, or of files in flight, depends on
//! where the files are.
//!
//! On systems other than Linux files are copied, or mapped if that is allowed (not on Windows). If
//! the kernel refuses a call, read(2) is used, which works everywhere. The crate compiles for
//! macOS, where it was never run.
//!
//! [`Auto`] is all that most programs need:
//!
//! ```
//! use readlab_auto::Auto;
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
//! let mut bytes = 0;
//! Auto::open(path)?.for_each(|_offset, piece| bytes += piece.len() as u64)?;
//! assert_eq!(bytes, std::fs::metadata(path)?.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

mod auto;
pub mod buffer;
mod copied;
pub mod crew;
#[cfg(target_os = "linux")]
pub mod direct;
mod error;
pub mod files;
mod from_front;
#[cfg(target_os = "linux")]
pub mod in_flight;
mod in_pieces;
mod lines;
#[cfg(target_os = "linux")]
mod linux;
mod map;
mod ordered;
mod pieces;
#[cfg(not(target_os = "linux"))]
mod portable;
mod reader;
mod source;
mod strategy;
mod visitor;
mod workers;

pub use auto::Auto;
pub use error::ReadError;
pub use files::{FileError, FilePaths, Files, OneOfFiles};
pub use lines::Lines;
pub use reader::Reader;
pub use strategy::Strategy;
pub use visitor::Visitor;
