//! The kernel: page cache, processes, meters, devices, terminals; all unsafe code of the lab.
//!
//! What asks the kernel is in `linux`, whose signatures name nothing of Linux: another system is
//! one more folder, with the modules of the same names. `unix` has what needs no more than POSIX.
//! On systems that nothing is measured on, `other` has what a record needs to be kept, judged and
//! shown.

pub mod folder;
#[cfg(target_os = "linux")]
mod linux;
pub mod machine;
pub mod markup;
#[cfg(not(target_os = "linux"))]
mod other;
pub mod terminal;
mod unix;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(not(target_os = "linux"))]
pub use other::*;
pub use unix::*;
