//! Everything that speaks to the kernel: system calls, /proc and /sys, signals, perf, and all
//! `unsafe` code of the lab.
//!
//! Functions here name no type of Linux in their signatures, so that another system is one more
//! folder. What the answers mean for a measurement is decided by the callers.

pub mod direct_read;
pub mod instance_lock;
pub mod interrupt;
pub mod next_layer;
pub mod own_file;
pub mod page_cache;
pub mod perf;
pub mod preload;
pub mod process;
pub mod program;
