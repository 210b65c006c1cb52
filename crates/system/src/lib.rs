//! The kernel: page cache, processes, meters, devices, terminals; all unsafe code of the lab.
//!
//! What asks the kernel is in `linux`, whose signatures name nothing of Linux: another system is
//! one more folder, with the modules of the same names.

pub mod folder;
mod linux;
pub mod machine;
pub mod markup;
pub mod terminal;

pub use linux::*;
