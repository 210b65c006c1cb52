//! The time of a turn that its windows leave out. The lab sees a turn from outside; time that is
//! neither in a window, nor in an untimed reading, nor explained by waiting for a processor, can
//! only be answering. The control `null` shows how long answering takes on this machine at this
//! time; a trial whose turns leave out more, again and again, does something outside its windows.
//!
//! What is done with a refused trial is decided in [`super::refutation`].

use readlab_analysis::stats::quantile;
use readlab_model::sample::Sample;
use readlab_record::Trial;

/// The time that a contender of any language may take between a window and its answer. The longest
/// time measured is 1.3 ms, freeing memory included.
const FIXED_NS: u64 = 2_000_000;

/// The same for a contender that collects its garbage there. Measured were 8 ms, and 25 ms if a
/// whole file of 256 MiB is freed.
const COLLECTING_FIXED_NS: u64 = 10_000_000;

/// One part in this many of the windows may be left out besides, because freeing memory takes
/// longer for larger files.
const SHARE_PARTS: u64 = 20;

const COLLECTING_SHARE_PARTS: u64 = 4;

/// An untimed reading may take this many times the longest window of its turn. A turn has up to 64
/// of them and little else, and on a busy machine those of commands were seen to take twice as long
/// as the ten timed ones after them.
const UNTIMED_FACTOR: u64 = 3;

const BETWEEN_READINGS_NS: u64 = 20_000;

/// Other languages take longer to answer than `null`: this many times its median is allowed.
const NULL_FACTOR: u64 = 3;

/// Four time slices of 4 ms: the first thread may be woken, then the reading thread, then the first
/// thread again.
const SLICES_NS: u64 = 16_000_000;

/// How often the lab wakes up while it waits for an answer, to check whether the user wants to
/// stop.
const LAB_WAKES_NS: u64 = 200_000_000;

/// Turns after which the median is judged, not only the smallest: a contender may lie in every
/// other turn.
const TURNS_FOR_MEDIAN: usize = 8;

/// Turns of `null` before a trial is judged by it.
pub(super) const NULL_TURNS_MIN: usize = 3;

/// The times that the turns of the control that reads nothing have left out.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplyOverhead {
    left_out_ns: Vec<u64>,
}

/// What the lab saw of one turn of a trial, and what its windows say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnaccountedTime {
    seen_ns: u64,
    /// Windows, and the time that the untimed readings may take.
    readings_ns: u64,
    delayed_ns: u64,
    lab_delayed_ns: u64,
    readings: u32,
}

/// Whether a contender collects garbage between its windows and its answer, by its roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HasGc(pub(crate) bool);

impl HasGc {
    fn fixed_ns(self) -> u64 {
        if self.0 { COLLECTING_FIXED_NS } else { FIXED_NS }
    }
}

impl UnaccountedTime {
    /// Of one turn; `None` without the lab's own time of it.
    pub(super) fn measured(turn: &[Sample]) -> Option<UnaccountedTime> {
        let first = turn.first()?;
        let windows_ns = turn.iter().fold(0_u64, |sum, sample| sum.saturating_add(sample.wall_ns));
        let longest_ns = turn.iter().map(|sample| sample.wall_ns).max()?;
        let untimed = u64::from(first.turn_readings).saturating_sub(turn.len() as u64);
        Some(UnaccountedTime {
            seen_ns: first.turn.wall_ns?,
            readings_ns: windows_ns
                .saturating_add(longest_ns.saturating_mul(untimed).saturating_mul(UNTIMED_FACTOR)),
            delayed_ns: first.turn.delayed_ns.unwrap_or(0),
            lab_delayed_ns: first.turn.lab_delayed_ns.unwrap_or(0),
            readings: first.turn_readings,
        })
    }

    fn whole_ns(&self) -> u64 {
        self.seen_ns.saturating_sub(self.readings_ns)
    }

    /// The part that is explained neither by a share of the windows, nor by the number of readings,
    /// nor by waiting for a processor.
    ///
    /// The lab waits outside of windows, but in a long turn it wakes up from time to time, and only
    /// its waiting for the answer counts. Where in a turn the contender waited is not known. A
    /// thread that is woken may have to wait for the end of other time slices, so the time of a few
    /// slices is excused wholly. Waiting inside windows excuses nothing outside of them, so the
    /// rest of the waiting is assumed to be spread evenly over the turn.
    fn beyond_ns(&self, collects: HasGc) -> u64 {
        let parts = if collects.0 { COLLECTING_SHARE_PARTS } else { SHARE_PARTS };
        let between_ns = u64::from(self.readings).saturating_mul(BETWEEN_READINGS_NS);
        let lab_ns = (self.lab_delayed_ns / (1 + self.seen_ns / LAB_WAKES_NS)).min(self.whole_ns());
        let without_lab_ns = self.seen_ns - lab_ns;
        let rest_ns =
            (self.whole_ns() - lab_ns).saturating_sub(self.readings_ns / parts).saturating_sub(between_ns);
        let rest_ns = rest_ns.saturating_sub(self.delayed_ns.min(SLICES_NS));
        let at_work_ns = without_lab_ns.saturating_sub(self.delayed_ns);
        let beyond = u128::from(rest_ns) * u128::from(at_work_ns) / u128::from(without_lab_ns.max(1));
        u64::try_from(beyond).expect("a share of a u64 fits")
    }
}

impl ReplyOverhead {
    /// Learns from a turn, if it is that of the control that reads nothing.
    pub(super) fn learn(&mut self, trial: &Trial, turn: &[Sample]) {
        if is_null(trial) {
            self.left_out_ns.extend(UnaccountedTime::measured(turn).map(|turn| turn.beyond_ns(HasGc(false))));
        }
    }

    pub(super) fn turns(&self) -> usize {
        self.left_out_ns.len()
    }

    /// Why these turns cannot be true; `None` if they can, or if there are none.
    pub(super) fn refutes(&self, turns: &[UnaccountedTime], collects: HasGc) -> Option<String> {
        let mut sorted: Vec<&UnaccountedTime> = turns.iter().collect();
        sorted.sort_unstable_by_key(|turn| turn.beyond_ns(collects));
        let why = |turn: &UnaccountedTime, which: &str, allowed_ns: u64| {
            let explained_ns = (turn.whole_ns() - turn.beyond_ns(collects)).saturating_add(allowed_ns);
            format!(
                "its windows leave out {} ns of a turn that took {} ns, {which} of {} turns; answering and waiting explain {explained_ns} ns",
                turn.whole_ns(),
                turn.seen_ns,
                turns.len()
            )
        };
        let bound_ns = self.bound_ns(collects);
        let least = *sorted.first()?;
        if least.beyond_ns(collects) > bound_ns {
            return Some(why(least, "the least", bound_ns));
        }
        let loose_ns = (2 * collects.fixed_ns()).saturating_add(NULL_FACTOR.saturating_mul(self.at(0.9)));
        let median = *sorted.get(sorted.len() / 2)?;
        let is_beyond = turns.len() >= TURNS_FOR_MEDIAN && median.beyond_ns(collects) > loose_ns;
        is_beyond.then(|| why(median, "the median", loose_ns))
    }

    /// What the turn that leaves out least may leave out beyond its own share.
    fn bound_ns(&self, collects: HasGc) -> u64 {
        collects.fixed_ns().saturating_add(NULL_FACTOR.saturating_mul(self.at(0.5)))
    }

    /// A quantile of the times that `null` left out; 0 before its first turn.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times below 104 days"
    )]
    fn at(&self, share: f64) -> u64 {
        let mut sorted: Vec<f64> = self.left_out_ns.iter().map(|&ns| ns as f64).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        if sorted.is_empty() { 0 } else { quantile(&sorted, share) as u64 }
    }
}

/// How near the turns of a trial come to being refused, which they are above 1.0: the least that
/// any of them left out beyond its own share, divided by the bound. `null` are the samples of the
/// control that reads nothing in the same state; both in the order of the record.
#[expect(clippy::cast_precision_loss, reason = "times below 104 days")]
pub fn share_of_bound(
    null: impl Iterator<Item = Sample>,
    samples: impl Iterator<Item = Sample>,
    collects: bool,
) -> Option<f64> {
    let beyond_ns = |turn: Vec<Sample>, gc| Some(UnaccountedTime::measured(&turn)?.beyond_ns(gc));
    let left_out_ns = turns(null).into_iter().filter_map(|turn| beyond_ns(turn, HasGc(false))).collect();
    let bound_ns = ReplyOverhead { left_out_ns }.bound_ns(HasGc(collects));
    let least_ns = turns(samples).into_iter().filter_map(|turn| beyond_ns(turn, HasGc(collects))).min()?;
    Some(least_ns as f64 / bound_ns as f64)
}

pub(super) fn turns(samples: impl Iterator<Item = Sample>) -> Vec<Vec<Sample>> {
    let mut turns = Vec::<Vec<Sample>>::new();
    for sample in samples {
        match turns.last_mut() {
            Some(turn) if sample.reading > 0 => turn.push(sample),
            _ => turns.push(vec![sample]),
        }
    }
    turns
}

/// Whether a trial is the control of readlab that reads nothing: another contender's `null` may
/// leave out any time.
pub(super) fn is_null(trial: &Trial) -> bool {
    trial.is_control() && trial.method() == "null" && trial.contender() == "rust"
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::sample::TurnSeen;

    const MS: u64 = 1_000_000;
    const NO: HasGc = HasGc(false);

    /// A turn of so long by the lab's clock, with these windows among so many readings.
    fn turn(seen_ns: u64, windows: &[u64], turn_readings: u32) -> UnaccountedTime {
        let turn = TurnSeen { wall_ns: Some(seen_ns), ..TurnSeen::default() };
        let sample = |&wall_ns| Sample { wall_ns, turn_readings, turn, ..Sample::default() };
        UnaccountedTime::measured(&windows.iter().map(sample).collect::<Vec<_>>()).unwrap()
    }

    /// What a turn of one window leaves out, after the contender and the lab waited for a processor.
    fn beyond_ns(seen_ns: u64, window_ns: u64, delayed_ns: u64, lab_delayed_ns: u64) -> u64 {
        let turn = turn(seen_ns, &[window_ns], 1);
        UnaccountedTime { delayed_ns, lab_delayed_ns, ..turn }.beyond_ns(NO)
    }

    #[test]
    fn windows_untimed_readings_and_shares_are_explained() {
        let one = turn(150 * MS, &[100 * MS], 1);
        assert_eq!(one.beyond_ns(NO), 50 * MS - 5 * MS - 20_000);
        assert_eq!(one.beyond_ns(HasGc(true)), 50 * MS - 25 * MS - 20_000);
        // Two untimed ones, each three times as long as the longest timed.
        let four = turn(850 * MS, &[80 * MS, 100 * MS], 4);
        assert_eq!(four.beyond_ns(NO), 70 * MS - 39 * MS - 80_000);
        assert_eq!(beyond_ns(MS, 2 * MS, 0, 0), 0, "no window is longer than its turn");
    }

    #[test]
    fn waiting_excuses_its_share_of_the_turn() {
        let left = 200 * MS - 10 * MS - 20_000;
        // Some slices are excused wholly. Half of the turn was waiting, so half of the rest is
        // excused, however much of the waiting was in the window.
        assert_eq!(beyond_ns(400 * MS, 200 * MS, 200 * MS, 0), (left - 16 * MS) / 2);
        assert_eq!(beyond_ns(400 * MS, 200 * MS, 900 * MS, 0), 0);
        assert_eq!(beyond_ns(30 * MS, 20 * MS, 8 * MS, 0), (MS - 20_000) * 22 / 30);
        // Only the lab's waiting for the answer counts.
        let left = 20 * MS - MS - 20_000;
        assert_eq!(beyond_ns(40 * MS, 20 * MS, 0, 15 * MS), left - 15 * MS);
        assert_eq!(beyond_ns(40 * MS, 20 * MS, 0, 90 * MS), 0);
        // In a second it wakes up five times before.
        let long = 500 * MS - 25 * MS - 20_000;
        assert_eq!(beyond_ns(1000 * MS, 500 * MS, 0, 60 * MS), long - 10 * MS);
        assert_eq!(beyond_ns(0, 0, MS, MS), 0);
    }

    #[test]
    fn without_turns_no_trial_is_judged() {
        assert_eq!(ReplyOverhead::default().refutes(&[], NO), None);
        assert_eq!(UnaccountedTime::measured(&[Sample::default()]), None);
    }
}
