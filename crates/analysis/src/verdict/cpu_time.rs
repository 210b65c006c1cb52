//! The CPU time of one reading, in user mode and in the kernel, and the number of processors that
//! it keeps busy.
//!
//! Many kernels split a thread's time into user and system time by what the thread does at each
//! clock tick. In a reading of a few ticks one of the two may seem to be zero: their sum is right
//! for each reading, but the split is right only over all readings.
//!
//! The clock that counts CPU time is coarser than the wall clock: getrusage(2) shows whole
//! microseconds. In a window of a few microseconds, CPU time means nothing: its error may exceed
//! the window.

use crate::stats::{self, float};
use readlab_model::sample::Sample;
use readlab_model::units::Nanos;
use readlab_record::TrialRecord;

/// The resolution of CPU time in getrusage(2).
const STEP_NS: u64 = 1_000;

/// A window must be at least this many steps of the CPU clock long. The rounding at both ends of
/// user and system time is then at most a twentieth of the window, the smallest part that is shown.
const STEPS_MIN: u64 = 40;

/// Medians of the CPU time of one reading.
#[derive(Debug, Clone, Copy)]
pub(super) struct CpuTime {
    pub(super) user_ns: f64,
    pub(super) system_ns: f64,
}

/// Why the CPU time of a reading is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCpuTime {
    /// No sample holds CPU time.
    #[error("no sample holds them and no reason was recorded")]
    NotMetered,
    /// The windows are too short for the clock that counts CPU time.
    #[error(
        "its clock counts CPU time in steps of {}, and a window of {window} has fewer than {STEPS_MIN} of them",
        Nanos(STEP_NS)
    )]
    BelowResolution {
        /// The median length of the windows.
        window: Nanos,
    },
}

impl CpuTime {
    pub(super) fn from_trial(it: &TrialRecord) -> Result<CpuTime, NoCpuTime> {
        let all = MeteredSample::all(it)?;
        let total_ns = stats::median(all.iter().map(MeteredSample::cpu_ns)).ok_or(NoCpuTime::NotMetered)?;
        let sum = |of: fn(&MeteredSample) -> u64| all.iter().map(|it| float(of(it))).sum::<f64>();
        let (user_ns, system_ns) = (sum(|it| it.user_ns), sum(|it| it.system_ns));
        let user_share = user_ns / (user_ns + system_ns).max(1.0);
        Ok(CpuTime { user_ns: total_ns * user_share, system_ns: total_ns * (1.0 - user_share) })
    }

    pub(super) fn total_ns(self) -> f64 {
        self.user_ns + self.system_ns
    }
}

/// Median number of processors at work in a reading. User and system time of a reading are added
/// first, because clock ticks split short times wrongly.
///
/// CPU time is read just outside the window, so a thread that never waits seems to work for a
/// little longer than the window. This excess does not count as a further thread.
pub fn busy_processors(it: &TrialRecord) -> Result<f64, NoCpuTime> {
    let all = MeteredSample::all(it)?;
    let busy = stats::median(all.iter().map(|it| it.cpu_ns() / float(it.wall_ns.max(1))));
    Ok(limit_to_threads(busy.ok_or(NoCpuTime::NotMetered)?, it))
}

/// Limits a number of busy processors to the trial's threads: those that it declares, or as many as
/// must have worked. A native program may also have more threads than it declares: the kernel's
/// workers for a ring are threads of the process.
pub(super) fn limit_to_threads(busy: f64, it: &TrialRecord) -> f64 {
    busy.min(float(it.trial.thread_count().max(whole_processors(busy))))
}

/// The number of threads that keep this many processors busy. A small excess over a whole number is
/// ignored.
pub fn whole_processors(busy: f64) -> u64 {
    (busy - 0.15).ceil().max(1.0) as u64
}

/// The times of a sample that holds CPU time.
struct MeteredSample {
    wall_ns: u64,
    user_ns: u64,
    system_ns: u64,
}

impl MeteredSample {
    /// The metered samples of a trial, if the windows are long enough for the clock that counts CPU
    /// time. Times that are not whole steps come from a finer clock, which is always good enough.
    fn all(it: &TrialRecord) -> Result<Vec<MeteredSample>, NoCpuTime> {
        let metered = |sample: Sample| {
            let (user_ns, system_ns) = (sample.cpu_user_ns?, sample.cpu_system_ns?);
            Some(MeteredSample { wall_ns: sample.wall_ns, user_ns, system_ns })
        };
        let all: Vec<MeteredSample> = it.samples.iter().filter_map(metered).collect();
        let window_ns = stats::median(all.iter().map(|it| float(it.wall_ns))).ok_or(NoCpuTime::NotMetered)?;
        let in_steps =
            |it: &MeteredSample| it.user_ns.is_multiple_of(STEP_NS) && it.system_ns.is_multiple_of(STEP_NS);
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
    use readlab_model::trial::{CacheState, TrialIndex};
    use readlab_protocol::Cache;
    use readlab_record::{Record, testing};

    /// A trial with these readings: wall time, time in user mode and time in the kernel.
    fn record(name: &str, readings: &[[u64; 3]]) -> Record {
        let mut record = Record::new(testing::header());
        let reading = |&[wall_ns, user_ns, system_ns]: &[u64; 3]| {
            let (cpu_user_ns, cpu_system_ns) = (Some(user_ns), Some(system_ns));
            Sample { wall_ns, cpu_user_ns, cpu_system_ns, ..Sample::default() }
        };
        testing::add_trial(&mut record, name, CacheState::Warm, Cache::Through, readings.iter().map(reading));
        record
    }

    fn busy(name: &str, readings: &[[u64; 3]]) -> Result<f64, NoCpuTime> {
        busy_processors(&record(name, readings).trials[TrialIndex::new(0)])
    }

    #[test]
    fn a_reading_of_one_tick_is_divided_like_all_readings_together() {
        let readings = [[90, 10, 0], [90, 0, 11], [90, 0, 10], [90, 0, 10], [90, 0, 12]];
        let found = CpuTime::from_trial(&record("rust/read", &readings).trials[TrialIndex::new(0)]).unwrap();
        assert!((found.total_ns() - 10.0).abs() < 1e-9, "the median");
        assert!((found.user_ns - 10.0 * 10.0 / 53.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_window_below_the_steps_of_its_clock_has_no_cpu_time() {
        let below = |window| Err(NoCpuTime::BelowResolution { window: Nanos(window) });
        // Windows as short as those of a file of one byte.
        assert_eq!(busy("rust/read", &[[2_900, 1_000, 3_000], [3_100, 4_000, 0]]), below(3_000));
        assert_eq!(busy("rust/read", &[[5_000, 0, 0]]), below(5_000));
        assert_eq!(busy("rust/read", &[[40_001, 30_000, 10_000]]), Ok(40_000.0 / 40_001.0));
        let told =
            CpuTime::from_trial(&record("rust/read", &[[3_000, 1_000, 3_000]]).trials[TrialIndex::new(0)])
                .unwrap_err();
        let words = "its clock counts CPU time in steps of 1.00 µs, and a window of 3.00 µs has fewer than 40 of them";
        assert_eq!(told.to_string(), words);
        // CPU times that are not whole microseconds come from a finer clock.
        assert_eq!(busy("rust/read", &[[3_000, 1_001, 1_002]]), Ok(2_003.0 / 3_000.0));
        assert_eq!(busy("rust/read", &[]), Err(NoCpuTime::NotMetered));
    }

    #[test]
    fn no_more_processors_are_busy_than_threads_exist() {
        let of_ms = |wall: u64, cpu: u64| [[wall * 1_000_000, cpu * 1_000_000 + 1_000, 0]; 3];
        assert_eq!(busy("rust/read", &of_ms(100, 110)), Ok(1.0), "the clocks differ");
        assert_eq!(busy("rust/pread@threads=2", &of_ms(100, 207)), Ok(2.0));
        let shortest = [[40_000, 44_000, 1_000]; 3];
        assert_eq!(busy("rust/read", &shortest), Ok(1.0), "the clock is read around the shortest window");
        let more = busy("go/read", &of_ms(100, 137)).unwrap();
        assert!((more - 1.370_01).abs() < 1e-9, "a runtime has threads of its own: {more}");
    }
}
