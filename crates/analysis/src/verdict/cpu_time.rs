//! The processor's time of one reading, in user mode and in the kernel, and how many processors
//! that keeps busy.
//!
//! Many kernels divide a thread's time among the two by what it does at each tick of their clock,
//! so that a reading of a few ticks may seem to have none of one of them: the sum of a reading is
//! right, and its division only over all readings.
//!
//! The clock that counts CPU time is coarser than that of the window: getrusage(2) shows whole
//! microseconds. A window of a few of them has no CPU time that means anything: its error alone may
//! be more than the window.

use crate::stats::{self, float};
use readlab_model::sample::Sample;
use readlab_model::units::Nanos;
use readlab_record::TrialRecord;
use std::fmt;

/// The steps in which getrusage(2) shows CPU time.
const STEP_NS: u64 = 1_000;

/// A window takes at least so many steps of the clock that counts its CPU time: the two ends of
/// user and system time are then wrong by a twentieth at most, the smallest part that is shown.
const STEPS_MIN: u64 = 40;

/// Medians of the CPU time of one reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuTime {
    pub(super) user_ns: f64,
    pub(super) system_ns: f64,
}

/// Why the CPU time of a reading is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCpuTime {
    /// No sample holds it.
    NotMetered,
    /// The windows are too short for the clock that counts it.
    BelowResolution {
        /// The median window.
        window: Nanos,
    },
}

impl fmt::Display for NoCpuTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCpuTime::NotMetered => f.write_str("no sample holds them and no reason was recorded"),
            NoCpuTime::BelowResolution { window } => write!(
                f,
                "its clock counts CPU time in steps of {}, and a window of {window} has fewer than {STEPS_MIN} of them",
                Nanos(STEP_NS)
            ),
        }
    }
}

impl CpuTime {
    pub(super) fn from_trial(it: &TrialRecord) -> Result<CpuTime, NoCpuTime> {
        let all = Metered::all(it)?;
        let total_ns = stats::median(all.iter().map(Metered::cpu_ns)).ok_or(NoCpuTime::NotMetered)?;
        let sum = |of: fn(&Metered) -> u64| all.iter().map(|it| float(of(it))).sum::<f64>();
        let (user_ns, system_ns) = (sum(|it| it.user_ns), sum(|it| it.system_ns));
        let user_share = user_ns / (user_ns + system_ns).max(1.0);
        Ok(CpuTime { user_ns: total_ns * user_share, system_ns: total_ns * (1.0 - user_share) })
    }

    pub(super) fn total_ns(self) -> f64 {
        self.user_ns + self.system_ns
    }
}

/// Processors at work in a reading, median. Of each reading the time in user space and that in the
/// kernel are added first: clock ticks divide them wrongly where they are few.
///
/// The CPU clock is read around the window, so that a thread which never waits seems to work for a
/// little more than all of it: such an excess is no further thread.
pub fn processors_busy(it: &TrialRecord) -> Result<f64, NoCpuTime> {
    let all = Metered::all(it)?;
    let busy = stats::median(all.iter().map(|it| it.cpu_ns() / float(it.wall_ns.max(1))));
    Ok(of_threads(busy.ok_or(NoCpuTime::NotMetered)?, it))
}

/// So many busy processors, and no more than threads exist: those that the trial says it has, or as
/// many as must have worked.
pub(super) fn of_threads(busy: f64, it: &TrialRecord) -> f64 {
    busy.min(float(it.trial.threads().max(whole_processors(busy))))
}

/// The processors that so much work keeps busy, a little more than whole ones rounded down.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as many as a machine has processors"
)]
pub fn whole_processors(busy: f64) -> u64 {
    (busy - 0.15).ceil().max(1.0) as u64
}

/// A sample that holds CPU time.
struct Metered {
    wall_ns: u64,
    user_ns: u64,
    system_ns: u64,
}

impl Metered {
    /// Those of a trial, if the windows are long enough for the clock that counted their CPU time.
    /// Times that are no whole steps come from a finer clock.
    fn all(it: &TrialRecord) -> Result<Vec<Metered>, NoCpuTime> {
        let metered = |sample: Sample| {
            let (user_ns, system_ns) = (sample.cpu_user_ns?, sample.cpu_system_ns?);
            Some(Metered { wall_ns: sample.wall_ns, user_ns, system_ns })
        };
        let all: Vec<Metered> = it.samples.iter().filter_map(metered).collect();
        let window_ns = stats::median(all.iter().map(|it| float(it.wall_ns))).ok_or(NoCpuTime::NotMetered)?;
        let in_steps =
            |it: &Metered| it.user_ns.is_multiple_of(STEP_NS) && it.system_ns.is_multiple_of(STEP_NS);
        if window_ns < float(STEP_NS * STEPS_MIN) && all.iter().all(in_steps) {
            let window = Nanos::from_secs_f64(window_ns / 1e9);
            return Err(NoCpuTime::BelowResolution { window });
        }
        Ok(all)
    }

    fn cpu_ns(&self) -> f64 {
        float(self.user_ns.saturating_add(self.system_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::CacheState;
    use readlab_model::trial::TrialIndex;
    use readlab_protocol::Cache;
    use readlab_record::{Line, Record, testing};

    /// A trial whose readings took so long: in all, in user mode and in the kernel.
    fn record(name: &str, readings: &[[u64; 3]]) -> Record {
        let mut record = Record::new(testing::header());
        record.add(testing::trial(0, name, CacheState::Warm, Cache::Through));
        for &[wall_ns, user_ns, system_ns] in readings {
            let (cpu_user_ns, cpu_system_ns) = (Some(user_ns), Some(system_ns));
            let sample = Sample { wall_ns, cpu_user_ns, cpu_system_ns, ..Sample::default() };
            record.add(Line::Sample(Box::new(sample)));
        }
        record
    }

    fn busy(name: &str, readings: &[[u64; 3]]) -> Result<f64, NoCpuTime> {
        processors_busy(&record(name, readings).trials[TrialIndex::new(0)])
    }

    #[test]
    fn a_reading_of_one_tick_has_the_division_of_all_readings() {
        let readings = [[90, 10, 0], [90, 0, 11], [90, 0, 10], [90, 0, 10], [90, 0, 12]];
        let found = CpuTime::from_trial(&record("rust/read", &readings).trials[TrialIndex::new(0)]).unwrap();
        assert!((found.total_ns() - 10.0).abs() < 1e-9, "the median");
        assert!((found.user_ns - 10.0 * 10.0 / 53.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_window_below_the_steps_of_its_clock_has_no_cpu_time() {
        let below = |window| Err(NoCpuTime::BelowResolution { window: Nanos(window) });
        // A file of one byte.
        assert_eq!(busy("rust/read", &[[2_900, 1_000, 3_000], [3_100, 4_000, 0]]), below(3_000));
        assert_eq!(busy("rust/read", &[[5_000, 0, 0]]), below(5_000));
        assert_eq!(busy("rust/read", &[[40_001, 30_000, 10_000]]), Ok(40_000.0 / 40_001.0));
        let told =
            CpuTime::from_trial(&record("rust/read", &[[3_000, 1_000, 3_000]]).trials[TrialIndex::new(0)])
                .unwrap_err();
        let words = "its clock counts CPU time in steps of 1.00 µs, and a window of 3.00 µs has fewer than 40 of them";
        assert_eq!(told.to_string(), words);
        // By nanoseconds.
        assert_eq!(busy("rust/read", &[[3_000, 1_001, 1_002]]), Ok(2_003.0 / 3_000.0));
        assert_eq!(busy("rust/read", &[]), Err(NoCpuTime::NotMetered));
    }

    #[test]
    fn no_more_processors_are_busy_than_threads_exist() {
        let of_ms = |wall: u64, cpu: u64| [[wall * 1_000_000, cpu * 1_000_000 + 1_000, 0]; 3];
        assert_eq!(busy("rust/read", &of_ms(100, 110)), Ok(1.0), "the clocks differ");
        assert_eq!(busy("rust/pread@threads=2", &of_ms(100, 207)), Ok(2.0));
        let more = busy("go/read", &of_ms(100, 137)).unwrap();
        assert!((more - 1.370_01).abs() < 1e-9, "a runtime has threads of its own: {more}");
    }
}
