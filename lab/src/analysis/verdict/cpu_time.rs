//! The processor's time of one reading, in user mode and in the kernel.
//!
//! Many kernels divide a thread's time among the two by what it does at each tick of their clock,
//! so that a reading of a few ticks may seem to have none of one of them: the sum of a reading is
//! right, and its division only over all readings.

use crate::analysis::stats;
use crate::record::{Sample, TrialRecord};

/// Medians of the CPU time of one reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuTime {
    pub(super) user_ns: f64,
    pub(super) system_ns: f64,
}

impl CpuTime {
    /// `None` where a meter is missing.
    #[expect(clippy::cast_precision_loss, reason = "shares have three digits")]
    pub(super) fn of(it: &TrialRecord) -> Option<CpuTime> {
        let both = |sample: Sample| Some((sample.cpu_user_ns? as f64, sample.cpu_system_ns? as f64));
        let both: Vec<(f64, f64)> = it.samples.iter().filter_map(both).collect();
        let total_ns = stats::median(both.iter().map(|(user_ns, system_ns)| user_ns + system_ns))?;
        let sum = |of: fn(&(f64, f64)) -> f64| both.iter().map(of).sum::<f64>();
        let (user_ns, system_ns) = (sum(|it| it.0), sum(|it| it.1));
        let user_share = user_ns / (user_ns + system_ns).max(1.0);
        Some(CpuTime { user_ns: total_ns * user_share, system_ns: total_ns * (1.0 - user_share) })
    }

    pub(super) fn total_ns(self) -> f64 {
        self.user_ns + self.system_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Line, Record, testing};
    use crate::trial::CacheState;
    use readlab_protocol::Cache;

    #[test]
    fn a_reading_of_one_tick_has_the_division_of_all_readings() {
        let mut record = Record::new(testing::header());
        record.add(testing::trial(0, "rust/read", CacheState::Warm, Cache::Through));
        for (user_ns, system_ns) in [(10, 0), (0, 10), (0, 10), (0, 10), (0, 12)] {
            let (cpu_user_ns, cpu_system_ns) = (Some(user_ns), Some(system_ns));
            record.add(Line::Sample(Box::new(Sample { cpu_user_ns, cpu_system_ns, ..Sample::default() })));
        }
        let found = CpuTime::of(&record.trials[0]).unwrap();
        assert!((found.total_ns() - 10.0).abs() < 1e-9, "the median");
        assert!((found.user_ns - 10.0 * 10.0 / 52.0).abs() < 1e-9, "{found:?}");
    }
}
