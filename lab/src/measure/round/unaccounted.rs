//! The time of a turn that its windows leave out. The lab sees a turn from outside; what is neither
//! in a window, nor in an untimed reading, nor explained by waiting for a processor, is left for
//! answering. The control `null` shows what answering takes on this machine at this time; a trial
//! whose turns leave out more, again and again, does something beside its windows.
//!
//! What becomes of such a trial is decided in [`super::doubt`].

use crate::analysis::stats::quantile;
use crate::record::{Sample, Trial};

/// What may lie between a window and the answer in any language: measured, the most is 1.3 ms,
/// freeing memory included.
const FIXED_NS: u64 = 2_000_000;

/// And in one that collects its garbage there: measured, 8 ms, with 25 ms where a whole file of 256
/// MiB is given back.
const COLLECTING_FIXED_NS: u64 = 10_000_000;

/// A part of the windows may be left out besides, as what is given back grows with the file: one in
/// so many.
const SHARE_PARTS: u64 = 20;

/// The same where garbage is collected.
const COLLECTING_SHARE_PARTS: u64 = 4;

/// An untimed reading may take so many times the longest window of its turn. There are up to 64 of
/// them, in turns that hold little else, and of commands beside much other work they were seen to
/// take twice as long as the ten timed ones behind them.
const UNTIMED_FACTOR: u64 = 3;

/// Between two readings of a turn.
const BETWEEN_READINGS_NS: u64 = 20_000;

/// Other languages take longer to answer than `null`: so many times its median is allowed.
const NULL_FACTOR: u64 = 3;

/// Four slices of 4 ms: the first thread may be woken, then the one that reads, then the first
/// again.
const SLICES_NS: u64 = 16_000_000;

/// How often the lab wakes up while it waits for an answer, to see whether the user wants to stop.
const LAB_WAKES_NS: u64 = 200_000_000;

/// Turns after which the median, not the smallest alone, is judged: one who lies in every other
/// turn.
const TURNS_FOR_MEDIAN: usize = 8;

/// Turns of `null` before anything is judged by it.
pub(super) const NULL_TURNS_MIN: usize = 3;

/// What the turns of the control that reads nothing have left out.
#[derive(Debug, Clone, Default)]
pub(in crate::measure) struct Answering {
    left_out_ns: Vec<u64>,
}

/// What the lab saw of one turn of a trial, and what its windows say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::measure) struct LeftOut {
    seen_ns: u64,
    /// Windows, and what the untimed readings may take.
    readings_ns: u64,
    delayed_ns: u64,
    lab_delayed_ns: u64,
    readings: u32,
}

/// Whether a contender collects garbage between its windows and its answer, by its roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::measure) struct Collects(pub(in crate::measure) bool);

impl Collects {
    fn fixed_ns(self) -> u64 {
        if self.0 { COLLECTING_FIXED_NS } else { FIXED_NS }
    }
}

impl LeftOut {
    /// Of one turn; `None` where the lab's own clock is not known, as in records of before.
    pub(super) fn of(turn: &[Sample]) -> Option<LeftOut> {
        let first = turn.first()?;
        let windows_ns = turn.iter().fold(0_u64, |sum, sample| sum.saturating_add(sample.wall_ns));
        let longest_ns = turn.iter().map(|sample| sample.wall_ns).max()?;
        let untimed = u64::from(first.turn_readings).saturating_sub(turn.len() as u64);
        Some(LeftOut {
            seen_ns: first.turn.wall_ns?,
            readings_ns: windows_ns
                .saturating_add(longest_ns.saturating_mul(untimed).saturating_mul(UNTIMED_FACTOR)),
            delayed_ns: first.turn.delayed_ns.unwrap_or(0),
            lab_delayed_ns: first.turn.lab_delayed_ns.unwrap_or(0),
            readings: first.turn_readings,
        })
    }

    /// The turn without its readings.
    fn whole_ns(&self) -> u64 {
        self.seen_ns.saturating_sub(self.readings_ns)
    }

    /// What of it neither a share of the windows, nor the number of readings, nor waiting for a
    /// processor explains.
    ///
    /// The lab waits outside of windows, but in a long turn it wakes up from time to time without
    /// need, and only what it waited for the answer counts. Where in a turn the contender waited is
    /// not known. Who is woken may have to wait for the end of others' slices, so as much as some
    /// of these take is excused whole; of the rest, what was waited inside windows excuses nothing
    /// outside of them, and it is taken to lie evenly over the turn.
    fn beyond_ns(&self, collects: Collects) -> u64 {
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

impl Answering {
    /// Learns from a turn, if it is that of the control that reads nothing.
    pub(super) fn learn(&mut self, trial: &Trial, turn: &[Sample]) {
        if is_null(trial) {
            self.left_out_ns.extend(LeftOut::of(turn).map(|turn| turn.beyond_ns(Collects(false))));
        }
    }

    pub(super) fn turns(&self) -> usize {
        self.left_out_ns.len()
    }

    /// Why these turns cannot be true; `None` where they can, or where there are none.
    pub(super) fn refutes(&self, turns: &[LeftOut], collects: Collects) -> Option<String> {
        let mut sorted: Vec<(u64, &LeftOut)> =
            turns.iter().map(|turn| (turn.beyond_ns(collects), turn)).collect();
        sorted.sort_unstable_by_key(|(beyond_ns, _)| *beyond_ns);
        let why = |(beyond_ns, turn): (u64, &LeftOut), which: &str, allowed_ns: u64| {
            let explained_ns = (turn.whole_ns() - beyond_ns).saturating_add(allowed_ns);
            format!(
                "its windows leave out {} ns of a turn that took {} ns, {which} of {} turns; answering and waiting explain {explained_ns} ns",
                turn.whole_ns(),
                turn.seen_ns,
                turns.len()
            )
        };
        let bound_ns = self.bound_ns(collects);
        let least = *sorted.first()?;
        if least.0 > bound_ns {
            return Some(why(least, "the least", bound_ns));
        }
        let loose_ns = (2 * collects.fixed_ns()).saturating_add(NULL_FACTOR.saturating_mul(self.at(0.9)));
        let median = *sorted.get(sorted.len() / 2)?;
        let is_beyond = turns.len() >= TURNS_FOR_MEDIAN && median.0 > loose_ns;
        is_beyond.then(|| why(median, "the median", loose_ns))
    }

    /// What the least of a trial's turns may leave out beyond its own share.
    fn bound_ns(&self, collects: Collects) -> u64 {
        collects.fixed_ns().saturating_add(NULL_FACTOR.saturating_mul(self.at(0.5)))
    }

    /// A quantile of what `null` left out; 0 before it had a turn.
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

/// How near the turns of a trial come to what is refused, 1.0 being that: the least that any of
/// them left out beyond its own share, over the bound. `null` is what the control that reads
/// nothing showed in the same state; each in the order of the record.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "times below 104 days")]
pub fn share_of_bound(
    null: impl Iterator<Item = Sample>,
    samples: impl Iterator<Item = Sample>,
    collects: bool,
) -> Option<f64> {
    let mut answering = Answering::default();
    let null = turns(null);
    answering.left_out_ns = null
        .iter()
        .filter_map(|turn| LeftOut::of(turn))
        .map(|turn| turn.beyond_ns(Collects(false)))
        .collect();
    let turns = turns(samples);
    let beyond = turns.iter().filter_map(|turn| LeftOut::of(turn)).map(|it| it.beyond_ns(Collects(collects)));
    Some(beyond.min()? as f64 / answering.bound_ns(Collects(collects)) as f64)
}

/// Samples turn by turn.
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

/// The control that reads nothing and comes with readlab: one of somebody else's may itself leave
/// out what it likes.
pub(super) fn is_null(trial: &Trial) -> bool {
    trial.is_control() && trial.method() == "null" && trial.contender() == "rust"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TurnSeen;

    const MS: u64 = 1_000_000;
    const NO: Collects = Collects(false);

    fn turn(
        seen_ns: u64,
        windows: &[u64],
        (readings, delayed_ns, lab_delayed_ns): (u32, u64, u64),
    ) -> LeftOut {
        let turn = TurnSeen {
            wall_ns: Some(seen_ns),
            delayed_ns: Some(delayed_ns),
            lab_delayed_ns: Some(lab_delayed_ns),
            ..TurnSeen::default()
        };
        let sample = |&wall_ns| Sample { wall_ns, turn_readings: readings, turn, ..Sample::default() };
        LeftOut::of(&windows.iter().map(sample).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn windows_untimed_readings_and_shares_are_explained() {
        let one = turn(150 * MS, &[100 * MS], (1, 0, 0));
        assert_eq!(one.beyond_ns(NO), 50 * MS - 5 * MS - 20_000);
        assert_eq!(one.beyond_ns(Collects(true)), 50 * MS - 25 * MS - 20_000);
        // Two untimed ones, each three times as long as the longest timed.
        let four = turn(850 * MS, &[80 * MS, 100 * MS], (4, 0, 0));
        assert_eq!(four.beyond_ns(NO), 70 * MS - 39 * MS - 80_000);
        assert_eq!(turn(MS, &[2 * MS], (1, 0, 0)).beyond_ns(NO), 0, "no window is longer than its turn");
    }

    #[test]
    fn waiting_excuses_its_part_of_the_turn() {
        let left = 200 * MS - 10 * MS - 20_000;
        // Some slices whole; then half of the turn was waited, so half of what is left out was,
        // however much lay in the window.
        assert_eq!(turn(400 * MS, &[200 * MS], (1, 200 * MS, 0)).beyond_ns(NO), (left - 16 * MS) / 2);
        assert_eq!(turn(400 * MS, &[200 * MS], (1, 900 * MS, 0)).beyond_ns(NO), 0);
        assert_eq!(turn(30 * MS, &[20 * MS], (1, 8 * MS, 0)).beyond_ns(NO), (MS - 20_000) * 22 / 30);
        // The lab waits for the answer alone.
        let left = 20 * MS - MS - 20_000;
        assert_eq!(turn(40 * MS, &[20 * MS], (1, 0, 15 * MS)).beyond_ns(NO), left - 15 * MS);
        assert_eq!(turn(40 * MS, &[20 * MS], (1, 0, 90 * MS)).beyond_ns(NO), 0);
        // In a second it wakes up five times before.
        let long = 500 * MS - 25 * MS - 20_000;
        assert_eq!(turn(1000 * MS, &[500 * MS], (1, 0, 60 * MS)).beyond_ns(NO), long - 10 * MS);
        assert_eq!(turn(0, &[0], (1, MS, MS)).beyond_ns(NO), 0);
    }

    #[test]
    fn nobody_is_judged_by_nothing() {
        assert_eq!(Answering::default().refutes(&[], NO), None);
        assert_eq!(LeftOut::of(&[Sample::default()]), None, "a record of before");
    }
}
