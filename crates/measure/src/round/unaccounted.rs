//! The time of a turn outside its windows. Readlab times each turn from outside. A contender may
//! spend time outside of windows and untimed readings only on its answer and on waiting for a
//! processor. The control `null` shows how long an answer takes on this machine at this time. A
//! trial whose turns repeatedly take longer works outside its windows.
//!
//! [`super::refutation`] decides whether such a trial is refused.

use readlab_analysis::stats::{float, quantile};
use readlab_model::sample::Sample;
use readlab_record::Trial;

/// Time that a contender in any language may take between a window and its answer. The longest
/// measured time is 1.3 ms, freeing memory included.
const REPLY_BOUND_NS: u64 = 2_000_000;

/// Time that a contender may take between a window and its answer if it collects garbage. Measured:
/// 8 ms, and 25 ms if a whole file of 256 MiB is freed.
const COLLECTING_REPLY_BOUND_NS: u64 = 10_000_000;

/// Divisor of the windows' total. The quotient is also allowed outside windows, because freeing the
/// memory of a larger file takes longer.
const WINDOWS_DIVISOR: u64 = 20;

/// The same divisor for a contender that collects garbage.
const COLLECTING_WINDOWS_DIVISOR: u64 = 4;

/// An untimed reading may take this many times as long as the longest window of its turn. A turn
/// has up to 64 untimed readings and little else; on a busy machine, untimed readings of commands
/// took twice as long as the ten timed readings after them.
const UNTIMED_READING_FACTOR: u64 = 3;

/// Time that is allowed outside windows for each reading of a turn.
const BETWEEN_READINGS_NS: u64 = 20_000;

/// Allowed multiple of the reply times of `null`, because other languages take longer to answer.
const NULL_REPLY_FACTOR: u64 = 3;

/// Waiting time that is always allowed: four time slices of 4 ms. The main thread may wait to run,
/// then the reading thread, then the main thread again.
const EXCUSED_WAIT_NS: u64 = 16_000_000;

/// Interval at which readlab wakes up while it waits for an answer, to check for an interruption.
const LAB_WAKE_INTERVAL_NS: u64 = 200_000_000;

/// Smallest number of turns of which the median is judged, and not only the smallest time: a
/// contender may report wrong windows in every other turn.
const TURNS_FOR_MEDIAN_MIN: usize = 8;

/// Smallest number of turns of `null` by which a trial is judged.
pub(super) const NULL_TURNS_MIN: usize = 3;

/// Unexplained times of turns of `null`, the control that reads nothing, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplyOverhead {
    null_unexplained_ns: Vec<u64>,
}

/// Times of one turn of a trial as readlab measured them, and the total of its windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TurnTiming {
    turn_ns: u64,
    /// Total of the windows, and the time that the untimed readings may take.
    readings_ns: u64,
    delayed_ns: u64,
    lab_delayed_ns: u64,
    reading_count: u32,
}

/// Whether a contender collects garbage between its windows and its answer, as its roster says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CollectsGarbage(pub(crate) bool);

impl CollectsGarbage {
    fn reply_bound_ns(self) -> u64 {
        if self.0 { COLLECTING_REPLY_BOUND_NS } else { REPLY_BOUND_NS }
    }
}

impl TurnTiming {
    /// The times of one turn; `None` if readlab's own time of the turn is missing.
    pub(super) fn from_turn(turn: &[Sample]) -> Option<TurnTiming> {
        let first = turn.first()?;
        let windows_ns = turn.iter().fold(0_u64, |sum, sample| sum.saturating_add(sample.wall_ns));
        let longest_ns = turn.iter().map(|sample| sample.wall_ns).max()?;
        let untimed = u64::from(first.turn_readings).saturating_sub(turn.len() as u64);
        Some(TurnTiming {
            turn_ns: first.turn.wall_ns?,
            readings_ns: windows_ns
                .saturating_add(longest_ns.saturating_mul(untimed).saturating_mul(UNTIMED_READING_FACTOR)),
            delayed_ns: first.turn.delayed_ns.unwrap_or_else(|| possible_wait_ns(first)),
            lab_delayed_ns: first.turn.lab_delayed_ns.unwrap_or(0),
            reading_count: first.turn_readings,
        })
    }

    fn outside_windows_ns(&self) -> u64 {
        self.turn_ns.saturating_sub(self.readings_ns)
    }

    /// The part of the time outside windows that is not explained by a share of the windows, by the
    /// number of readings, or by waiting for a processor.
    ///
    /// Readlab waits for a processor only outside of windows. In a long turn it wakes up from time
    /// to time, and only the wait at the last wake-up delays the answer. It is not known where in a
    /// turn the contender waited. A woken thread may have to wait for the end of other time slices,
    /// so the time of a few slices is allowed completely. A wait inside a window explains no time
    /// outside, so the rest of the waiting is assumed to be spread evenly over the turn.
    fn unexplained_ns(&self, collects: CollectsGarbage) -> u64 {
        let parts = if collects.0 { COLLECTING_WINDOWS_DIVISOR } else { WINDOWS_DIVISOR };
        let between_ns = u64::from(self.reading_count).saturating_mul(BETWEEN_READINGS_NS);
        let lab_ns =
            (self.lab_delayed_ns / (1 + self.turn_ns / LAB_WAKE_INTERVAL_NS)).min(self.outside_windows_ns());
        let without_lab_ns = self.turn_ns - lab_ns;
        let rest_ns = (self.outside_windows_ns() - lab_ns)
            .saturating_sub(self.readings_ns / parts)
            .saturating_sub(between_ns);
        let rest_ns = rest_ns.saturating_sub(self.delayed_ns.min(EXCUSED_WAIT_NS));
        let at_work_ns = without_lab_ns.saturating_sub(self.delayed_ns);
        let beyond = u128::from(rest_ns) * u128::from(at_work_ns) / u128::from(without_lab_ns.max(1));
        u64::try_from(beyond).expect("a share of a u64 fits")
    }
}

/// How long a contender may have waited for a processor where that was not counted, because it ran
/// other programs: not longer than some task of the machine waited, and a few time slices at most.
fn possible_wait_ns(sample: &Sample) -> u64 {
    sample.turn.cpu_pressure_ns.unwrap_or(0).min(EXCUSED_WAIT_NS)
}

impl ReplyOverhead {
    /// Learns from a turn, if it is a turn of `null`.
    pub(super) fn learn(&mut self, trial: &Trial, turn: &[Sample]) {
        if is_null_control(trial) {
            self.null_unexplained_ns
                .extend(TurnTiming::from_turn(turn).map(|turn| turn.unexplained_ns(CollectsGarbage(false))));
        }
    }

    pub(super) fn turn_count(&self) -> usize {
        self.null_unexplained_ns.len()
    }

    /// Why these turns cannot be true; `None` if they can, or if there are no turns.
    pub(super) fn refutation(&self, turns: &[TurnTiming], collects: CollectsGarbage) -> Option<String> {
        let mut sorted: Vec<&TurnTiming> = turns.iter().collect();
        sorted.sort_unstable_by_key(|turn| turn.unexplained_ns(collects));
        let why = |turn: &TurnTiming, which: &str, allowed_ns: u64| {
            let explained_ns =
                (turn.outside_windows_ns() - turn.unexplained_ns(collects)).saturating_add(allowed_ns);
            format!(
                "its windows leave out {} ns of a turn that took {} ns, {which} of {} turns; answering and waiting explain {explained_ns} ns",
                turn.outside_windows_ns(),
                turn.turn_ns,
                turns.len()
            )
        };
        let bound_ns = self.bound_ns(collects);
        let least = *sorted.first()?;
        if least.unexplained_ns(collects) > bound_ns {
            return Some(why(least, "the least", bound_ns));
        }
        let median_bound_ns = (2 * collects.reply_bound_ns())
            .saturating_add(NULL_REPLY_FACTOR.saturating_mul(self.null_unexplained_quantile_ns(0.9)));
        let median = *sorted.get(sorted.len() / 2)?;
        let is_beyond =
            turns.len() >= TURNS_FOR_MEDIAN_MIN && median.unexplained_ns(collects) > median_bound_ns;
        is_beyond.then(|| why(median, "the median", median_bound_ns))
    }

    /// Largest allowed unexplained time of the turn with the least unexplained time.
    fn bound_ns(&self, collects: CollectsGarbage) -> u64 {
        collects
            .reply_bound_ns()
            .saturating_add(NULL_REPLY_FACTOR.saturating_mul(self.null_unexplained_quantile_ns(0.5)))
    }

    /// A quantile of the unexplained times of `null`; 0 before its first turn.
    fn null_unexplained_quantile_ns(&self, share: f64) -> u64 {
        let mut sorted: Vec<f64> = self.null_unexplained_ns.iter().map(|&ns| float(ns)).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        if sorted.is_empty() { 0 } else { quantile(&sorted, share) as u64 }
    }
}

/// The smallest unexplained time of all turns of a trial, divided by the bound; a trial is refused
/// above 1.0. `None` if no turn has a time by readlab's clock. `null` has the samples of the
/// control that reads nothing in the same state. Both iterators are in the order of the record.
pub fn unexplained_share_of_bound(
    null: impl Iterator<Item = Sample>,
    samples: impl Iterator<Item = Sample>,
    collects: bool,
) -> Option<f64> {
    let unexplained_ns = |turn: Vec<Sample>, gc| Some(TurnTiming::from_turn(&turn)?.unexplained_ns(gc));
    let null_unexplained_ns = samples_by_turn(null)
        .into_iter()
        .filter_map(|turn| unexplained_ns(turn, CollectsGarbage(false)))
        .collect();
    let bound_ns = ReplyOverhead { null_unexplained_ns }.bound_ns(CollectsGarbage(collects));
    let least_ns = samples_by_turn(samples)
        .into_iter()
        .filter_map(|turn| unexplained_ns(turn, CollectsGarbage(collects)))
        .min()?;
    Some(float(least_ns) / float(bound_ns))
}

pub(super) fn samples_by_turn(samples: impl Iterator<Item = Sample>) -> Vec<Vec<Sample>> {
    let mut turns = Vec::<Vec<Sample>>::new();
    for sample in samples {
        match turns.last_mut() {
            Some(turn) if sample.reading > 0 => turn.push(sample),
            _ => turns.push(vec![sample]),
        }
    }
    turns
}

/// Whether a trial is readlab's own control that reads nothing. Another contender's `null` may take
/// any time outside its windows.
pub(super) fn is_null_control(trial: &Trial) -> bool {
    trial.is_control() && trial.method() == "null" && trial.contender() == "rust"
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::TurnSeen;

    const MS: u64 = 1_000_000;
    const NO_GC: CollectsGarbage = CollectsGarbage(false);

    /// A turn that took `turn_ns` by readlab's clock, with these timed windows among
    /// `turn_readings` readings.
    fn turn_timing(turn_ns: u64, windows: &[u64], turn_readings: u32) -> TurnTiming {
        let turn = TurnSeen { wall_ns: Some(turn_ns), ..TurnSeen::default() };
        let sample = |&wall_ns| Sample { wall_ns, turn_readings, turn, ..Sample::default() };
        TurnTiming::from_turn(&windows.iter().map(sample).collect::<Vec<_>>()).unwrap()
    }

    /// The unexplained time of a turn of one window, in which the contender and readlab waited for
    /// a processor.
    fn unexplained_ns(turn_ns: u64, window_ns: u64, delayed_ns: u64, lab_delayed_ns: u64) -> u64 {
        let turn = turn_timing(turn_ns, &[window_ns], 1);
        TurnTiming { delayed_ns, lab_delayed_ns, ..turn }.unexplained_ns(NO_GC)
    }

    #[test]
    fn windows_untimed_readings_and_shares_are_explained() {
        let one = turn_timing(150 * MS, &[100 * MS], 1);
        assert_eq!(one.unexplained_ns(NO_GC), 50 * MS - 5 * MS - 20_000);
        assert_eq!(one.unexplained_ns(CollectsGarbage(true)), 50 * MS - 25 * MS - 20_000);
        // Two untimed readings, each three times as long as the longest timed one.
        let four = turn_timing(850 * MS, &[80 * MS, 100 * MS], 4);
        assert_eq!(four.unexplained_ns(NO_GC), 70 * MS - 39 * MS - 80_000);
        assert_eq!(unexplained_ns(MS, 2 * MS, 0, 0), 0, "no window is longer than its turn");
    }

    #[test]
    fn waiting_excuses_its_share_of_the_turn() {
        let left = 200 * MS - 10 * MS - 20_000;
        // A few slices are excused completely. Half of the turn was waiting, so half of the rest is
        // excused, no matter how much of the waiting was in the window.
        assert_eq!(unexplained_ns(400 * MS, 200 * MS, 200 * MS, 0), (left - 16 * MS) / 2);
        assert_eq!(unexplained_ns(400 * MS, 200 * MS, 900 * MS, 0), 0);
        assert_eq!(unexplained_ns(30 * MS, 20 * MS, 8 * MS, 0), (MS - 20_000) * 22 / 30);
        // Only readlab's waiting for the answer counts.
        let left = 20 * MS - MS - 20_000;
        assert_eq!(unexplained_ns(40 * MS, 20 * MS, 0, 15 * MS), left - 15 * MS);
        assert_eq!(unexplained_ns(40 * MS, 20 * MS, 0, 90 * MS), 0);
        // In a turn of one second, readlab wakes up five times, so a sixth of its waiting counts.
        let long = 500 * MS - 25 * MS - 20_000;
        assert_eq!(unexplained_ns(1000 * MS, 500 * MS, 0, 60 * MS), long - 10 * MS);
        assert_eq!(unexplained_ns(0, 0, MS, MS), 0);
    }

    #[test]
    fn a_wait_that_was_not_counted_is_excused_where_some_task_of_the_machine_waited() {
        let delayed_ns = |delayed_ns, cpu_pressure_ns| {
            let turn = TurnSeen { wall_ns: Some(MS), delayed_ns, cpu_pressure_ns, ..TurnSeen::default() };
            TurnTiming::from_turn(&[Sample { turn, ..Sample::default() }]).unwrap().delayed_ns
        };
        assert_eq!(delayed_ns(None, Some(5 * MS)), 5 * MS);
        assert_eq!(delayed_ns(None, Some(500 * MS)), EXCUSED_WAIT_NS);
        assert_eq!(delayed_ns(Some(MS), Some(500 * MS)), MS);
        assert_eq!(delayed_ns(None, None), 0);
    }

    #[test]
    fn without_turns_no_trial_is_judged() {
        assert_eq!(ReplyOverhead::default().refutation(&[], NO_GC), None);
        assert_eq!(TurnTiming::from_turn(&[Sample::default()]), None);
    }
}
