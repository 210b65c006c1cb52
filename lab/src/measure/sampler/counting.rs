//! What one reading of a trial does inside: counted by the kernel and a loaded library in a process
//! of its own that nobody times, and told by runtimes that count by themselves anyway, in every
//! turn.
//!
//! How counting is done lives in [`crate::measure::counts`]; here it is decided what is counted,
//! and per what.

use super::ProcessSampler;
use crate::contender::session::SessionError;
use crate::measure::counts::{self, ArcWay, Counting};
use crate::record::{Count, Trial};
use readlab_protocol::{CountLine, TurnRequest};
use std::collections::BTreeMap;

/// From this time on, under counting, starting and answering are lost in a reading, and three more
/// would cost too much.
const LONG_READING_NS: u64 = 500_000_000;

/// What a contender's runtime counted in all turns of one trial that stand.
#[derive(Debug, Default)]
pub(super) struct RuntimeCounts {
    readings: u64,
    counts: BTreeMap<String, Count>,
}

impl RuntimeCounts {
    /// Adds what was told of one turn.
    pub(super) fn add(&mut self, ask: TurnRequest, lines: &[CountLine]) {
        self.readings += u64::from(ask.lead) + u64::from(ask.count);
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

    /// The mean of a reading.
    fn per_reading(&self) -> BTreeMap<String, Count> {
        let mean = |total: u64| (total + self.readings / 2) / self.readings.max(1);
        let told = |(name, sum): (&String, &Count)| {
            let how = match sum.value {
                Some(_) => format!("{}, a mean of all turns", sum.how),
                None => sum.how.clone(),
            };
            (name.clone(), Count { value: sum.value.map(mean), how })
        };
        self.counts.iter().map(told).collect()
    }
}

impl ProcessSampler<'_> {
    /// What one reading does inside. Loading the library into programs that are started for a
    /// reading makes system calls, so those of such a contender are counted once more without it.
    pub(super) fn counted(&mut self, trial: usize) -> Result<BTreeMap<String, Count>, SessionError> {
        let mut counts = match self.counted_before(trial) {
            Some(counts) => counts.clone(),
            None => self.counted_anew(trial)?,
        };
        counts.extend(self.told.get(&trial).map(RuntimeCounts::per_reading).unwrap_or_default());
        Ok(counts)
    }

    /// What was counted of the same readings from another state of the cache: the file is in memory
    /// while one counts.
    pub(super) fn counted_before(&self, trial: usize) -> Option<&BTreeMap<String, Count>> {
        let it = self.planned(trial);
        let what = |it: &Trial| (it.id.clone(), it.params.clone(), it.target, it.work, it.decodes);
        let before = self.counts.iter().find(|(other, _)| what(self.planned(**other)) == what(it));
        before.map(|(_, counts)| counts)
    }

    fn counted_anew(&mut self, trial: usize) -> Result<BTreeMap<String, Count>, SessionError> {
        let contender = self.contenders.contender(self.planned(trial).contender());
        let runtime = contender.map_or("", |contender| contender.receipt.runtime.as_str());
        let mut loaded = Counting::prepare(ArcWay::for_runtime(runtime));
        let mut counts = self.one_reading(trial, &mut loaded)?;
        if loaded.programs_were_started() {
            counts.extend(self.one_reading(trial, &mut Counting::of_kernel())?);
        }
        self.counts.insert(trial, counts.clone());
        Ok(counts)
    }

    /// The difference between a turn of two readings and a turn of one, in a process that has read
    /// before: what is done once, and the answer, are in neither. A reading that takes long is
    /// counted once, for little else is in it.
    fn one_reading(
        &self,
        trial: usize,
        counting: &mut Counting,
    ) -> Result<BTreeMap<String, Count>, SessionError> {
        let (mut session, _) = self.start(trial, counting.env())?;
        counting.attach(session.id());
        let mut turn = |lead: u32| {
            counting.begin();
            let turn = session.turn(TurnRequest { lead, count: 1 }, self.patience(trial, lead + 1))?;
            Ok::<_, SessionError>((counting.end(), turn.seen_ns))
        };
        let (first, seen_ns) = turn(0)?;
        if seen_ns > LONG_READING_NS {
            return Ok(first.into_iter().map(|(name, count)| (name, of_first(count))).collect());
        }
        let (one, two) = (turn(0)?.0, turn(1)?.0);
        Ok(counts::difference(two, &one))
    }
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
    use super::*;

    fn line(of: &str, value: Option<u64>) -> CountLine {
        CountLine {
            of: of.to_owned(),
            value,
            how: if value.is_some() { "beans" } else { "nobody does" }.to_owned(),
        }
    }

    #[test]
    fn what_is_told_of_turns_is_divided_by_all_their_readings() {
        let mut told = RuntimeCounts::default();
        told.add(TurnRequest { lead: 3, count: 1 }, &[line("bytes", Some(401))]);
        told.add(TurnRequest { lead: 0, count: 2 }, &[line("bytes", Some(200))]);
        let counts = told.per_reading();
        assert_eq!(counts["bytes"].value, Some(100));
        assert!(counts["bytes"].how.starts_with("beans"));
    }

    #[test]
    fn what_was_not_counted_in_one_turn_is_not_known() {
        let mut told = RuntimeCounts::default();
        for value in [Some(1), None, Some(1)] {
            told.add(TurnRequest { lead: 0, count: 1 }, &[line("bytes", value)]);
        }
        assert_eq!(told.per_reading()["bytes"].value, None);
    }
}
