//! The kernel: page cache, processes, meters, devices, terminals; all unsafe code of the lab.
//!
//! All calls that need Linux are in `linux`, whose signatures use no types of Linux. Support for
//! another system would be one more folder with modules of the same names. `unix` has the calls that
//! need only POSIX. On systems where readlab does not measure, `other` has what is needed to keep,
//! judge and show records.

pub mod folder;
#[cfg(target_os = "linux")]
mod linux;
pub mod machine;
pub mod markup;
#[cfg(not(target_os = "linux"))]
mod other;
pub mod terminal;
mod unix;
pub mod visit;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(not(target_os = "linux"))]
pub use other::*;
pub use unix::*;
