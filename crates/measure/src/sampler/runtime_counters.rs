//! Counts of what one reading of a trial does inside. The kernel and a preloaded library count in a
//! process of its own that is not timed; runtimes that count anyway report their counts in every
//! turn.
//!
//! How counting works lives in [`crate::counts`]; here is decided what is counted, and per
//! what.

use super::observed_turn::MeteredTurn;
use super::own_commands::before_reading;
use super::trials::Trials;
use crate::counts::{self, ArcWay, Counting};
use crate::interface::TrialEnd;
use readlab_model::trial::TrialIndex;
use readlab_protocol::{CountLine, TurnRequest};
use readlab_record::Count;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

/// A reading that takes longer than this while it is counted is counted once: starting and
/// answering hardly matter in it, and three more readings would cost too much.
const LONG_READING_NS: u64 = 500_000_000;

/// What a contender's runtime reported in all recorded turns of one trial.
#[derive(Debug, Default)]
struct RuntimeCounts {
    readings: u64,
    counts: BTreeMap<String, Count>,
}

impl RuntimeCounts {
    /// Adds what was reported of a turn of so many readings.
    fn add(&mut self, readings: u64, lines: &[CountLine]) {
        self.readings += readings;
        for line in lines {
            let nothing = Count { value: Some(0), how: line.how.clone() };
            let sum = self.counts.entry(line.of.clone()).or_insert(nothing);
            // Once unknown, the sum stays unknown, with the first reason.
            if let Some(before) = sum.value {
                let value = line.value.map(|more| before.saturating_add(more));
                *sum = Count { value, how: line.how.clone() };
            }
        }
    }

    fn per_reading(&self) -> BTreeMap<String, Count> {
        let mean = |total: u64| (total + self.readings / 2) / self.readings.max(1);
        let mut means = BTreeMap::new();
        for (name, sum) in &self.counts {
            let how = match sum.value {
                Some(_) => format!("{}, a mean of all turns", sum.how),
                None => sum.how.clone(),
            };
            means.insert(name.clone(), Count { value: sum.value.map(mean), how });
        }
        means
    }
}

type Counts = Result<BTreeMap<String, Count>, TrialEnd>;

/// Where the counts of a trial come from.
enum Counted<'scope> {
    Before(BTreeMap<String, Count>),
    Now(ScopedJoinHandle<'scope, Counts>),
}

impl Counted<'_> {
    fn counts(self) -> Counts {
        match self {
            Counted::Before(counts) => Ok(counts),
            Counted::Now(counting) => counting.join().unwrap_or_else(|panic| resume_unwind(panic)),
        }
    }
}

/// The counts of all trials of a run.
#[derive(Default)]
pub(super) struct RuntimeCounters {
    /// What runtimes reported, by trial.
    reported: BTreeMap<TrialIndex, RuntimeCounts>,
    /// What was counted in untimed runs, by trial, without what runtimes reported.
    counted: BTreeMap<TrialIndex, BTreeMap<String, Count>>,
}

impl RuntimeCounters {
    /// Adds what the runtime of a trial's contender reported in a turn.
    pub(super) fn add(&mut self, trial: TrialIndex, turn: &MeteredTurn) {
        self.reported.entry(trial).or_default().add(turn.readings(), &turn.answer.counts);
    }

    /// Counts what one reading of each of these trials does inside, side by side: nothing is timed.
    pub(super) fn count(&mut self, numbers: &[TrialIndex], trials: &Trials) -> Vec<Counts> {
        let alone = &Mutex::new(());
        let counted: Vec<_> = thread::scope(|scope| {
            let counting = |&trial: &TrialIndex| match self.counted_before(trial, trials) {
                Some(counts) => Counted::Before(counts.clone()),
                None => Counted::Now(scope.spawn(move || count_anew(trial, trials, alone))),
            };
            let counting: Vec<_> = numbers.iter().map(counting).collect();
            counting.into_iter().map(Counted::counts).collect()
        });
        let found = numbers.iter().zip(counted);
        found.map(|(&trial, counts)| Ok(self.with_reported(trial, counts?))).collect()
    }

    /// Keeps what was counted of a trial, and adds what its runtime reported.
    fn with_reported(
        &mut self,
        trial: TrialIndex,
        mut counts: BTreeMap<String, Count>,
    ) -> BTreeMap<String, Count> {
        self.counted.insert(trial, counts.clone());
        counts.extend(self.reported.get(&trial).map(RuntimeCounts::per_reading).unwrap_or_default());
        counts
    }

    /// What was counted of the same readings from another state of the cache: the file is in memory
    /// during counting.
    pub(super) fn counted_before(
        &self,
        trial: TrialIndex,
        trials: &Trials,
    ) -> Option<&BTreeMap<String, Count>> {
        let own = trials.trial(trial);
        let before = self.counted.iter().find(|(other, _)| trials.trial(**other).reads_like(own));
        before.map(|(_, counts)| counts)
    }
}

/// Counts again what one reading of each of these trials does inside, side by side, in new
/// processes.
pub(super) fn count_again(numbers: &[TrialIndex], trials: &Trials) -> Vec<Counts> {
    let alone = &Mutex::new(());
    thread::scope(|scope| {
        let counting: Vec<_> =
            numbers.iter().map(|&trial| scope.spawn(move || count_anew(trial, trials, alone))).collect();
        counting.into_iter().map(|counting| Counted::Now(counting).counts()).collect()
    })
}

/// Counts in untimed runs. Loading the library into programs that are started for each reading
/// makes system calls, so those of a contender that does this are counted once more without it.
fn count_anew(trial: TrialIndex, trials: &Trials, alone: &Mutex<()>) -> Counts {
    // What is run before the readings of one command must not disturb those of another.
    let is_prepared = trials.trial(trial).command.prepare.is_some();
    let _alone = is_prepared.then(|| alone.lock().unwrap_or_else(PoisonError::into_inner));
    let mut loaded = Counting::prepare(ArcWay::for_runtime(trials.runtime(trial)));
    let mut counts = count_reading(trial, trials, &mut loaded)?;
    if loaded.programs_were_started() {
        counts.extend(count_reading(trial, trials, &mut Counting::of_kernel())?);
    }
    Ok(counts)
}

/// The difference between a turn of two readings and a turn of one, in a process that has read
/// before: neither contains what is done once, nor the answer. A long reading is counted once, and
/// one before which something is run.
fn count_reading(trial: TrialIndex, trials: &Trials, counting: &mut Counting) -> Counts {
    let (mut session, _) = trials.start(trial, counting.env().into())?;
    counting.attach(session.id());
    let is_prepared = trials.trial(trial).command.prepare.is_some();
    let mut turn = |lead: u32| {
        before_reading(trials.trial(trial), trials)?;
        counting.begin();
        let turn = session.turn(TurnRequest { lead, count: 1 }, trials.time_limit(trial, lead + 1))?;
        Ok::<_, TrialEnd>((counting.end(), turn.seen_ns))
    };
    let (first, seen_ns) = turn(0)?;
    if seen_ns > LONG_READING_NS || is_prepared {
        return Ok(first.into_iter().map(|(name, count)| (name, of_first(count))).collect());
    }
    let (one, two) = (turn(0)?.0, turn(1)?.0);
    Ok(counts::difference(two, &one))
}

/// A count of the first reading of a process says so.
fn of_first(count: Count) -> Count {
    match count.value {
        Some(_) => Count {
            how: format!("{}; of the first reading of a process, and its answer", count.how),
            ..count
        },
        None => count,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Fixture;
    use super::*;
    use crate::round::testing::{COLD, WARM};

    fn line(of: &str, value: Option<u64>) -> CountLine {
        CountLine {
            of: of.to_owned(),
            value,
            how: if value.is_some() { "beans" } else { "not counted" }.to_owned(),
        }
    }

    #[test]
    fn what_is_reported_of_turns_is_divided_by_all_their_readings() {
        let mut reported = RuntimeCounts::default();
        reported.add(4, &[line("bytes", Some(401))]);
        reported.add(2, &[line("bytes", Some(200))]);
        let counts = reported.per_reading();
        assert_eq!(counts["bytes"].value, Some(100));
        assert!(counts["bytes"].how.starts_with("beans"));
    }

    #[test]
    fn what_was_not_counted_in_one_turn_is_not_known() {
        let mut reported = RuntimeCounts::default();
        for value in [Some(1), None, Some(1)] {
            reported.add(1, &[line("bytes", value)]);
        }
        assert_eq!(reported.per_reading()["bytes"].value, None);
    }

    #[test]
    fn the_same_readings_from_another_state_are_counted_once() {
        let fixture = Fixture::of_size(1);
        let trials = fixture.trials(&[("a", COLD), ("b", COLD), ("a", WARM)]);
        let mut counters = RuntimeCounters::default();
        counters.counted.insert(TrialIndex::new(0), BTreeMap::new());
        let is_counted = |trial| counters.counted_before(trial, &trials).is_some();
        assert_eq!([0, 1, 2].map(TrialIndex::new).map(is_counted), [true, false, true]);
    }
}
