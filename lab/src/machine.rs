//! Where a run took place: the facts of processor, memory, kernel and system that change a number.
//!
//! Data only; `commands::doctor` judges them. A fact that could not be found out is `None`, never a guess.

pub mod memory;

use serde::{Deserialize, Serialize};

/// The machine, as found before measuring.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    /// Kernel release.
    pub kernel: String,
    /// Distribution, from os-release.
    pub distribution: Option<String>,
    /// Processor model.
    pub cpu: Option<String>,
    /// Processors that this process may use.
    pub cpus: u64,
    /// Highest clock of a processor as its driver or maker states it.
    pub max_turbo_ghz: Option<f64>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Vector instructions that the scans may use.
    pub cpu_features: Vec<String>,
    /// All memory.
    pub memory_bytes: u64,
    /// Memory that could be had without swapping.
    pub memory_available_bytes: u64,
    /// Limit of the control group this process lives in, if it has one.
    pub memory_limit_bytes: Option<u64>,
    /// Size of a page.
    pub page_bytes: u64,
    /// Mode of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Hypervisor, if the machine is a guest: then cold means cold in the guest.
    pub hypervisor: Option<String>,
    /// Average number of runnable tasks over the last minute.
    pub load_1min: Option<f64>,
    /// Kernel threads that reclaim memory by themselves (DAMON).
    pub proactive_reclaim: bool,
    /// Whether any swap is on.
    pub swap: bool,
    /// Why io_uring may not be used, if it may not.
    pub io_uring_refused: Option<String>,
    /// Whether readlab runs with all rights.
    pub root: bool,
    /// Resolution of the monotonic clock.
    pub clock_resolution_ns: u64,
    /// Cost of reading the monotonic clock, median of many.
    pub clock_overhead_ns: u64,
}
