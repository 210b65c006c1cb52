//! The calls to the kernel that need Linux: system calls, /proc and /sys, signals, perf. All `unsafe`
//! code of the lab is here.
//!
//! The signatures use no types of Linux, so that another system can be one more folder. The callers
//! decide what the answers mean for a measurement.

pub mod block_device;
pub mod clock;
pub mod control_group;
pub mod cpu;
pub mod descriptor;
pub mod direct_read;
pub mod extents;
pub mod file_size_limit;
pub mod file_status;
pub mod filesystem;
pub mod fuse;
pub mod instance;
pub mod interface;
pub mod interrupt;
pub mod io_quota;
pub mod io_uring;
pub mod kernel_file;
mod machine_stalls;
pub mod memory;
pub mod memory_group;
pub mod mounts;
pub mod names;
pub mod next_layer;
pub mod open_file;
pub mod page_cache;
pub mod perf;
pub mod preload;
pub mod process;
pub mod program;
pub mod random;
pub mod silent;
pub mod system;
pub mod system_root;
pub mod system_setting;
pub mod tcp;
pub mod terminal_mode;
pub mod trust;
pub mod tty;
pub mod turn_counters;
pub mod unnamed_file;
pub mod watchdog;
