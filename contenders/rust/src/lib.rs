//! Methods of reading a file and of visiting its bytes, for Linux.
//!
//! A *method* brings the bytes (`read`, `mmap`, `io_uring` …), a *scan* visits them (`avx512`,
//! `memchr`, `iterator` …), and a *work* is the purpose (count newlines, find lines, sum, nothing).
//! [`Reading`] joins the three with a file:
//!
//! ```
//! use readlab_rust::{Reading, Work};
//! # let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
//! let mut reading = Reading::new("mmap", "memchr", Work::Newlines, path, [("threads", 2)])?;
//! reading.prepare()?;
//! let answer = reading.read()?;
//! assert_eq!(answer.bytes, Some(std::fs::metadata(path)?.len()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The modules, from the bytes up: `segments` is shared by methods; [`scan`] and [`Consumer`] visit
//! bytes; [`method`] contains the methods of reading and their list; [`reading`] makes and times a
//! reading, and [`traffic`] counts its requests; [`serve`] implements the protocol, and [`heap`]
//! keeps the allocator's behaviour constant for it. No module here knows rounds, caches or
//! statistics.

mod consumer;
mod files_answer;
pub mod method;
pub mod reading;
pub mod scan;
mod segments;
pub mod serve;
mod source;
pub mod traffic;

pub use consumer::Consumer;
pub use method::{Fault, Method};
pub use reading::{ReadError, Reading, RequestError};
pub use readlab_protocol::contender::{Latencies, heap};
pub use readlab_protocol::{Answer, UnknownWork, Work, setting};
