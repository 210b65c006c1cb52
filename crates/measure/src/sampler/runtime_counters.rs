//! Counts of system calls, allocations and the like in one reading of a trial. The kernel and a
//! preloaded library count in a separate untimed process; some runtimes report counts of their own
//! in every turn.
//!
//! [`crate::counts`] does the counting; this module decides what is counted, and divides counts by
//! readings.

use super::observed_turn::MeteredTurn;
use super::own_commands::run_prepare_hook;
use super::trials::Trials;
use crate::counts::{self, CallCounter, Counts, SwiftRetainCounting};
use crate::interface::TrialEnd;
use readlab_model::trial::TrialIndex;
use readlab_protocol::{CountLine, TurnRequest};
use readlab_record::UntimedCount;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

/// A reading that takes longer than this during counting is counted only once: start and answer are
/// a small part of its counts, and three more readings would take too long.
const LONG_READING_NS: u64 = 500_000_000;

/// Counts that a contender's runtime reported in all recorded turns of one trial.
#[derive(Default)]
struct RuntimeCounts {
    reading_count: u64,
    count_sums: Counts,
}

impl RuntimeCounts {
    fn add(&mut self, readings: u64, lines: &[CountLine]) {
        self.reading_count += readings;
        for line in lines {
            let nothing = UntimedCount { value: Some(0), how: line.how.clone() };
            let sum = self.count_sums.entry(line.of.clone()).or_insert(nothing);
            // If one count is unknown, the sum stays unknown, with the first reason.
            if let Some(before) = sum.value {
                let value = line.value.map(|more| before.saturating_add(more));
                *sum = UntimedCount { value, how: line.how.clone() };
            }
        }
    }

    fn counts_per_reading(&self) -> Counts {
        let mean = |sum: &UntimedCount| match sum.value {
            Some(total) => UntimedCount {
                value: Some((total + self.reading_count / 2) / self.reading_count.max(1)),
                how: format!("{}, a mean of all turns", sum.how),
            },
            None => sum.clone(),
        };
        self.count_sums.iter().map(|(name, sum)| (name.clone(), mean(sum))).collect()
    }
}

#[derive(Default)]
pub(super) struct TrialCounters {
    reported_counts: BTreeMap<TrialIndex, RuntimeCounts>,
    /// Counts from untimed runs, by trial, without the counts that runtimes reported.
    untimed_counts: BTreeMap<TrialIndex, Counts>,
}

impl TrialCounters {
    /// Adds the counts that the runtime of a trial's contender reported in a turn.
    pub(super) fn add(&mut self, trial: TrialIndex, turn: &MeteredTurn) {
        self.reported_counts.entry(trial).or_default().add(turn.reading_count(), &turn.answer.counts);
    }

    /// Counts one reading of each of these trials, unless its counts are known, and adds the counts
    /// that runtimes reported.
    pub(super) fn count(&mut self, numbers: &[TrialIndex], trials: &Trials) -> Vec<Result<Counts, TrialEnd>> {
        let known = |trial| self.known_counts(trial, trials).cloned();
        let counted = count_side_by_side(numbers, trials, known);
        let found = numbers.iter().zip(counted);
        found.map(|(&trial, counts)| Ok(self.with_reported_counts(trial, counts?))).collect()
    }

    fn with_reported_counts(&mut self, trial: TrialIndex, mut counts: Counts) -> Counts {
        self.untimed_counts.insert(trial, counts.clone());
        counts.extend(
            self.reported_counts.get(&trial).map(RuntimeCounts::counts_per_reading).unwrap_or_default(),
        );
        counts
    }

    /// Counts of the same readings from another cache state; they are equal, because the file is in
    /// memory during counting.
    pub(super) fn known_counts(&self, trial: TrialIndex, trials: &Trials) -> Option<&Counts> {
        let own = trials.trial(trial);
        let before = self.untimed_counts.iter().find(|(other, _)| trials.trial(**other).reads_like(own));
        before.map(|(_, counts)| counts)
    }
}

/// Counts one reading of each of these trials, each in a new process; a trial for which `known`
/// returns counts is not counted again. The processes run at the same time, because nothing is
/// timed.
pub(super) fn count_side_by_side(
    numbers: &[TrialIndex],
    trials: &Trials,
    known: impl Fn(TrialIndex) -> Option<Counts>,
) -> Vec<Result<Counts, TrialEnd>> {
    let alone = &Mutex::new(());
    thread::scope(|scope| {
        let counting = |&trial: &TrialIndex| {
            known(trial).ok_or_else(|| scope.spawn(move || count_trial(trial, trials, alone)))
        };
        let counting: Vec<_> = numbers.iter().map(counting).collect();
        let ended = |known: Result<Counts, ScopedJoinHandle<Result<Counts, TrialEnd>>>| {
            known.or_else(|counting| counting.join().unwrap_or_else(|panic| resume_unwind(panic)))
        };
        counting.into_iter().map(ended).collect()
    })
}

/// Counts one reading in untimed runs. If the contender starts programs, they load the counting
/// library, which makes system calls of its own; then system calls are counted once more without
/// the library.
fn count_trial(trial: TrialIndex, trials: &Trials, alone: &Mutex<()>) -> Result<Counts, TrialEnd> {
    // A hook before the readings of one command must not disturb the readings of another.
    let is_prepared = trials.trial(trial).command_rules.prepare_command.is_some();
    let _alone = is_prepared.then(|| alone.lock().unwrap_or_else(PoisonError::into_inner));
    let mut loaded = CallCounter::prepare(SwiftRetainCounting::for_runtime(trials.runtime(trial)));
    let mut counts = count_reading(trial, trials, &mut loaded)?;
    if loaded.programs_were_started() {
        counts.extend(count_reading(trial, trials, &mut CallCounter::syscalls_only())?);
    }
    Ok(counts)
}

/// The difference between a turn of two readings and a turn of one, in a process that has read
/// before, so that one-time work and the answer cancel out. A long reading, or one with a hook
/// before it, is counted only once.
fn count_reading(trial: TrialIndex, trials: &Trials, counter: &mut CallCounter) -> Result<Counts, TrialEnd> {
    let (mut session, _) = trials.start(trial, counter.env().into())?;
    counter.attach(session.process_id());
    let is_prepared = trials.trial(trial).command_rules.prepare_command.is_some();
    let mut turn = |lead: u32| {
        run_prepare_hook(trials.trial(trial), trials)?;
        counter.begin();
        let limit = trials.turn_limit(trial, lead + 1);
        let turn = limit.run_turn(&mut session, TurnRequest { lead, count: 1 })?;
        Ok::<_, TrialEnd>((counter.end(), turn.lab_wall_ns))
    };
    let (mut first, seen_ns) = turn(0)?;
    if seen_ns > LONG_READING_NS || is_prepared {
        let of_first = "; of the first reading of a process, and its answer";
        let counted = first.values_mut().filter(|count| count.value.is_some());
        counted.for_each(|count| count.how.push_str(of_first));
        return Ok(first);
    }
    let (one, two) = (turn(0)?.0, turn(1)?.0);
    Ok(counts::difference(two, &one))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Fixture;
    use super::*;
    use crate::round::testing::{COLD, WARM};

    fn count_line(of: &str, value: Option<u64>) -> CountLine {
        let how = if value.is_some() { "beans" } else { "not counted" }.to_owned();
        CountLine { of: of.to_owned(), value, how }
    }

    #[test]
    fn counts_reported_for_turns_are_divided_by_all_their_readings() {
        let mut reported = RuntimeCounts::default();
        reported.add(4, &[count_line("bytes", Some(401))]);
        reported.add(2, &[count_line("bytes", Some(200))]);
        let counts = reported.counts_per_reading();
        assert_eq!(counts["bytes"].value, Some(100));
        assert!(counts["bytes"].how.starts_with("beans"));
        // A count that is missing in one turn is unknown for all turns.
        for value in [None, Some(1)] {
            reported.add(1, &[count_line("bytes", value)]);
        }
        assert_eq!(reported.counts_per_reading()["bytes"].value, None);
    }

    #[test]
    fn equal_readings_from_another_cache_state_are_counted_once() {
        let fixture = Fixture::remote_of_size(1);
        let trials = fixture.trials(&[("a", COLD), ("b", COLD), ("a", WARM)]);
        let mut counters = TrialCounters::default();
        counters.untimed_counts.insert(TrialIndex::new(0), BTreeMap::new());
        let is_counted = |trial| counters.known_counts(trial, &trials).is_some();
        assert_eq!([0, 1, 2].map(TrialIndex::new).map(is_counted), [true, false, true]);
    }
}
