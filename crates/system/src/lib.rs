//! The kernel: page cache, processes, meters, devices, terminals; all unsafe code of the lab.

pub mod folder;
pub mod linux;
pub mod machine;
pub mod markup;
pub mod terminal;
