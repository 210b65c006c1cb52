//! Collects the facts about this machine.

use super::Machine;
use super::memory::MachineMemory;
use crate::{clock, cpu, io_uring, system, user};

impl Machine {
    /// Collects every fact; an unknown fact is `None`.
    pub fn probe() -> Machine {
        let memory = MachineMemory::read();
        Machine {
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            kernel: system::kernel_release(),
            distribution: system::distribution(),
            cpu_model: cpu::model(),
            cpu_count: cpu::allowed_processor_count(),
            cpu_quota: cpu::quota_processors(),
            max_turbo_ghz: cpu::max_clock_ghz(),
            governor: cpu::governor(),
            is_turbo_allowed: cpu::is_turbo_allowed(),
            cpu_features: cpu_features(),
            memory_bytes: memory.total_bytes,
            memory_available_bytes: memory.available_bytes,
            memory_limit_bytes: memory.limit_bytes,
            page_bytes: crate::memory::page_bytes(),
            transparent_huge_pages: crate::memory::transparent_huge_page_mode(),
            hypervisor: cpu::hypervisor(),
            load_1min: system::load_1min(),
            has_proactive_reclaim: crate::memory::is_reclaimed_proactively(),
            has_swap: crate::memory::is_swap_on(),
            io_uring_refusal: io_uring::refusal(),
            is_root: user::is_root(),
            clock_resolution_ns: clock::resolution_ns(),
            clock_overhead_ns: clock::reading_cost_ns(),
        }
    }
}

/// Extensions of the instruction set that this processor and kernel offer, older ones first.
fn cpu_features() -> Vec<String> {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("sse2", std::is_x86_feature_detected!("sse2")),
        ("sse4.2", std::is_x86_feature_detected!("sse4.2")),
        ("popcnt", std::is_x86_feature_detected!("popcnt")),
        ("avx", std::is_x86_feature_detected!("avx")),
        ("avx2", std::is_x86_feature_detected!("avx2")),
        ("bmi2", std::is_x86_feature_detected!("bmi2")),
        ("avx512f", std::is_x86_feature_detected!("avx512f")),
        ("avx512bw", std::is_x86_feature_detected!("avx512bw")),
        ("avx512vl", std::is_x86_feature_detected!("avx512vl")),
    ];
    #[cfg(target_arch = "aarch64")]
    let found = [
        ("neon", std::arch::is_aarch64_feature_detected!("neon")),
        ("sve", std::arch::is_aarch64_feature_detected!("sve")),
    ];
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let found: [(&str, bool); 0] = [];
    found.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_of_this_machine_are_found() {
        let machine = Machine::probe();
        assert_eq!(machine.system.split(' ').count(), 2);
        assert!(!machine.kernel.is_empty());
        assert!(machine.cpu_count >= 1 && machine.memory_bytes > 0 && machine.page_bytes >= 4096);
        assert!(machine.clock_resolution_ns >= 1);
        #[cfg(target_arch = "x86_64")]
        assert!(machine.cpu_features.contains(&"sse2".to_owned()));
        let json = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine);
    }
}
