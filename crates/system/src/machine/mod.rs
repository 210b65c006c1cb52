//! The facts about the machine that affect measurements: processor, memory, kernel and system.
//!
//! [`Machine::probe`] collects them, and `commands::doctor` judges them. An unknown fact is `None`,
//! never a guess.

#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(target_os = "linux")]
mod probe;

/// The random id of the current boot; each boot has a different id.
#[cfg(target_os = "linux")]
pub use crate::system::boot_id;

use readlab_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Operating system and architecture, such as `linux x86_64`.
    pub system: String,
    pub kernel: String,
    /// Distribution, from os-release.
    pub distribution: Option<String>,
    #[serde(rename = "cpu")]
    pub cpu_model: Option<String>,
    /// Number of processors that this process may use.
    #[serde(rename = "cpus")]
    pub cpu_count: u64,
    /// The CPU quota of this process's control groups as a number of processors, if it is below
    /// `cpus`. The process runs for its share of each period and then waits for the next period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// Highest clock rate of a processor, as its frequency driver reports it.
    pub max_turbo_ghz: Option<f64>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// True if a processor may exceed its nominal clock rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(rename = "turbo")]
    pub is_turbo_allowed: Option<bool>,
    /// Vector instructions that the scans may use.
    pub cpu_features: Vec<String>,
    pub memory_bytes: u64,
    /// Memory that can be allocated without swapping.
    pub memory_available_bytes: u64,
    /// Memory limit of this process's control group, if it is below `memory_bytes`.
    pub memory_limit_bytes: Option<u64>,
    pub page_bytes: u64,
    /// Mode of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Name of the hypervisor, if the machine is a virtual machine. A cold file is then absent from
    /// the virtual machine's page cache; the hypervisor may still cache it.
    pub hypervisor: Option<String>,
    /// Average number of runnable tasks over the last minute.
    pub load_1min: Option<f64>,
    /// True if the kernel reclaims memory before memory is short (DAMON).
    #[serde(rename = "proactive_reclaim")]
    pub has_proactive_reclaim: bool,
    #[serde(rename = "swap")]
    pub has_swap: bool,
    /// Why io_uring may not be used; `None` if it may be used.
    #[serde(rename = "io_uring_refused")]
    pub io_uring_refusal: Option<String>,
    #[serde(rename = "root")]
    pub is_root: bool,
    pub clock_resolution_ns: u64,
    /// Cost of reading the monotonic clock, as the median of many readings.
    pub clock_overhead_ns: u64,
}

impl Machine {
    /// The CPU quota as a number of processors, if it is below the number of processors.
    pub fn effective_cpu_quota(&self) -> Option<f64> {
        self.cpu_quota.filter(|quota| *quota > 0.0 && *quota < self.allowed_processor_count())
    }

    /// The number of processors whose time this process can use.
    pub fn usable_processor_count(&self) -> f64 {
        self.effective_cpu_quota().unwrap_or_else(|| self.allowed_processor_count())
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of processors")]
    fn allowed_processor_count(&self) -> f64 {
        self.cpu_count.max(1) as f64
    }

    /// One line for tables: processors, CPU quota, clock rate, usable memory, system, hypervisor.
    pub fn summary(&self) -> String {
        let mut parts = vec![self.cpu_model.clone().unwrap_or_else(|| self.system.clone())];
        parts.push(format!("{} {}", self.cpu_count, if self.cpu_count == 1 { "cpu" } else { "cpus" }));
        parts.extend(self.effective_cpu_quota().map(|quota| format!("quota of {quota:.2} cpus")));
        parts.extend(self.max_turbo_ghz.map(|ghz| format!("up to {ghz:.2} GHz")));
        let memory = self.memory_limit_bytes.unwrap_or(self.memory_bytes);
        parts.push(format!("{} memory", Bytes(memory).binary_text()));
        parts.push(format!("{} {}", self.system, self.kernel));
        parts.extend(self.hypervisor.as_ref().map(|name| format!("guest ({name})")));
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_a_machine_has_the_facts_that_affect_measurements() {
        let machine = Machine {
            system: "linux x86_64".into(),
            kernel: "6.8".into(),
            cpu_model: Some("Ryzen 7840HS".into()),
            cpu_count: 16,
            max_turbo_ghz: Some(5.1),
            memory_bytes: 32 << 30,
            hypervisor: Some("KVM".into()),
            ..Machine::default()
        };
        let expected =
            "Ryzen 7840HS, 16 cpus, up to 5.10 GHz, 32.0 GiB memory, linux x86_64 6.8, guest (KVM)";
        assert_eq!(machine.summary(), expected);
        let limited = Machine { memory_limit_bytes: Some(1 << 30), cpu_count: 1, ..machine.clone() };
        assert!(limited.summary().contains("1 cpu, ") && limited.summary().contains("1.00 GiB memory"));
        let granted = Machine { cpu_quota: Some(0.5), ..machine };
        assert!(granted.summary().contains("16 cpus, quota of 0.50 cpus, "), "{}", granted.summary());
    }

    #[test]
    fn a_cpu_quota_counts_if_it_is_below_the_number_of_processors() {
        for (cpu_quota, processors) in [(Some(0.25), 0.25), (Some(4.0), 2.0), (Some(-1.0), 2.0), (None, 2.0)]
        {
            let machine = Machine { cpu_count: 2, cpu_quota, ..Machine::default() };
            assert!((machine.usable_processor_count() - processors).abs() < 1e-9, "{cpu_quota:?}");
            assert_eq!(machine.effective_cpu_quota().is_some(), processors < 2.0);
        }
    }
}
