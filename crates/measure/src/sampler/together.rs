//! A turn that several processes of a contender take together, each on the whole target: told to
//! read one after the other, checked one by one, and one sample of them all.
//!
//! The time of that sample is by the lab's clock, from the first `go` until the last answer: a
//! reader that waits for a processor begins its own window late, so that windows alone would hide
//! the wait. A trial of one reader is measured so as well where others have several.

use super::notes::Notes;
use super::observed_turn::{CacheBeforeAfter, MeteredTurn, ObservedTurn};
use super::{ProcessSampler, claims};
use crate::interface::{SampleError, Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;
use readlab_protocol::TurnRequest;
use readlab_record::{LeftBehind, Line, ReaderTiming, ReadersTurn, Trial, joint_sample};
use readlab_roster::session::Session;
use readlab_system::program::Leftovers;
use std::io;

impl ProcessSampler<'_> {
    /// One turn of every reader between meters, after which the conduct of each is checked.
    pub(super) fn metered_turns(
        &mut self,
        trial: &Trial,
        request: TurnRequest,
    ) -> Result<Vec<MeteredTurn>, SampleError> {
        let time_limit = self.trials.time_limit(trial.index, request.lead + request.count);
        let pooled = self.pool.session(trial.index)?;
        let wait = || self.gate.iter_mut().for_each(|gate| gate.wait());
        let turns = pooled.metered_turn(request, time_limit, wait);
        for (reader, turn) in pooled.readers.iter().zip(turns.iter().flatten()) {
            check_conduct(&reader.session, trial.index, turn, &mut self.notes)?;
        }
        Ok(turns?)
    }

    /// Compares the answers of one reader's turn, and refuses claims that cannot be true. Those of
    /// a control are not recorded.
    pub(super) fn check_turn(&mut self, trial: &Trial, turn: &MeteredTurn) -> Result<(), SampleError> {
        self.compare(trial, &turn.answer)?;
        self.note_adjusted(trial, &turn.answer);
        let claim = claims::refuted(turn).filter(|_| !trial.is_control());
        let places = self.trials.facts(trial.index).places();
        if let Some(reason) = claim.or_else(|| claims::refuted_latencies(&turn.answer, places)) {
            return Err(SampleError::refused(reason));
        }
        self.counters.add(trial.index, turn);
        Ok(())
    }

    /// The samples of a turn, if they started from the state that they claim.
    pub(super) fn proven_samples(
        &mut self,
        trial: &Trial,
        slot: &Slot,
        turns: Vec<MeteredTurn>,
        around: CacheBeforeAfter,
    ) -> Result<Vec<Sample>, SampleError> {
        let timings: Vec<ReaderTiming> = turns.iter().map(timing).collect();
        let latencies = claims::latencies(trial, slot, &turns);
        let facts = self.trials.facts(trial.index);
        let mut turns = turns.into_iter();
        let first = turns.next().expect("a contender has one reader at least");
        // What the layer below counted is of all readers, and is noted once.
        let around_others = CacheBeforeAfter { below: None, ..around.clone() };
        let first = ObservedTurn { trial, facts, turn: first, around };
        let mut samples = first.samples(slot, &mut self.notes);
        if self.trials.reads_together() {
            let below_read_bytes = samples.first().and_then(|sample| sample.below_read_bytes);
            for turn in turns {
                let other = ObservedTurn { trial, facts, turn, around: around_others.clone() };
                samples.extend(other.samples(slot, &mut self.notes));
            }
            let joint = joint_sample(trial.state, together_ns(trial, &timings), &samples);
            let answer = samples[0].answer;
            samples = joint.into_iter().map(|it| Sample { below_read_bytes, answer, ..it }).collect();
        }
        // What the joint sample must have fetched is all that is read.
        let copied = self.trials.target_of(trial.index).target.copies.as_ref();
        let facts = copied.map_or(facts, |copies| &copies.all.facts);
        ObservedTurn { facts, ..first }.check_state(&samples)?;
        latencies.into_iter().for_each(|line| self.notes.add(line));
        if self.trials.reads_together() {
            let turn = ReadersTurn { trial: trial.index, round: slot.round, readers: timings };
            self.notes.add(Line::ReadersTurn(Box::new(turn)));
        }
        Ok(samples)
    }
}

/// Ends what a trial's turn left behind, and notes what it did to its own scheduling.
///
/// Nothing here happens within a window. A turn after which no process is left costs reading one
/// list of /proc and, for each thread, one file.
fn check_conduct(
    session: &Session,
    trial: TrialIndex,
    turn: &MeteredTurn,
    notes: &mut Notes,
) -> Result<(), TrialEnd> {
    let left = session.end_leftovers();
    let schedulings = session.scheduled(&turn.answer.samples);
    let gone =
        |cause: io::Error| TrialEnd::failed(format!("the process that supervises it has gone: {cause}"));
    let Leftovers { ended, remaining } = left.map_err(gone)?;
    if ended > 0 {
        let left = LeftBehind { processes: u64::from(ended), readings: turn.readings() };
        notes.add(Line::LeftBehind { trial, left });
    }
    if remaining > 0 {
        let reason = format!("it left processes behind that could not be ended: {remaining}");
        return Err(TrialEnd::failed(reason));
    }
    schedulings.into_iter().for_each(|scheduling| notes.scheduling(trial, scheduling));
    Ok(())
}

/// From the first start to the last end: of readings to the last answer, as the lab saw it; of a
/// control that measures a limit to the end of the last window, for it works outside of that too.
fn together_ns(trial: &Trial, timings: &[ReaderTiming]) -> u64 {
    let took_ns = |it: &ReaderTiming| if trial.limit().is_some() { it.wall_ns } else { it.answered_ns };
    timings.iter().map(|it| it.began_ns.saturating_add(took_ns(it))).max().unwrap_or_default()
}

/// When a reader read, whose turn has one reading.
fn timing(turn: &MeteredTurn) -> ReaderTiming {
    let wall_ns = turn.answer.samples.iter().map(|sample| sample.wall_ns).sum();
    ReaderTiming { began_ns: turn.began_ns, wall_ns, answered_ns: turn.answer.seen_ns }
}
