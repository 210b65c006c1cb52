//! A turn that several processes of a contender take together; each reads the whole target. Readlab
//! sends the request to one process after the other and checks each answer; the turn gives one
//! sample.
//!
//! Readlab's clock times this sample, from the first `go` until the last answer: a reader that
//! waits for a processor begins its window late, so the windows do not contain the wait. Trials of
//! one reader are timed in the same way if other trials have several readers.

use super::notes::Notes;
use super::observed_turn::{CacheBeforeAfter, MeteredTurn, ObservedTurn};
use super::{ProcessSampler, claims};
use crate::interface::{SampleError, Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;
use readlab_protocol::TurnRequest;
use readlab_record::{LeftBehind, Line, ReaderTiming, ReadersTurn, Trial, joint_sample};
use readlab_roster::session::Session;
use readlab_system::program::LeftoverCounts;
use std::io;
use std::time::Duration;

impl ProcessSampler<'_> {
    /// Takes one turn of every reader between meters, then checks the side effects of each reader.
    pub(super) fn take_metered_turns(
        &mut self,
        trial: &Trial,
        request: TurnRequest,
    ) -> Result<Vec<MeteredTurn>, SampleError> {
        let limit = self.trials.repeated_turn_limit(trial.index, request.lead + request.count);
        let pooled = self.pool.session(trial.index)?;
        let wait = || self.gate.iter_mut().for_each(|gate| gate.wait_for_start());
        let turns = pooled.take_metered_turn(request, &limit, wait);
        for (reader, turn) in pooled.readers.iter().zip(turns.iter().flatten()) {
            check_side_effects(&reader.session, trial.index, turn, &mut self.notes)?;
        }
        let turns = turns?;
        let turn_ns = turns.iter().map(|turn| turn.answer.lab_wall_ns).max().unwrap_or_default();
        let longest_turn = self.trials.longest_turns.entry(trial.index).or_default();
        *longest_turn = Duration::from_nanos(turn_ns).max(*longest_turn);
        Ok(turns)
    }

    /// Compares the answers of one reader's turn, and refuses claims that cannot be true. Claims of
    /// controls are not recorded.
    pub(super) fn check_turn(&mut self, trial: &Trial, turn: &MeteredTurn) -> Result<(), SampleError> {
        self.compare_turn(trial, &turn.answer)?;
        self.note_adjusted_answer(trial, &turn.answer);
        let facts = self.trials.facts(trial.index);
        let blocks = facts.blocks();
        let useful_bytes = blocks.map(|_| facts.useful_bytes());
        let claim = claims::refute_claims(turn)
            .filter(|_| !trial.is_control())
            .or_else(|| claims::refute_latencies(&turn.answer, blocks))
            .or_else(|| claims::refute_read_bytes(&turn.answer, useful_bytes));
        if let Some(reason) = claim {
            return Err(SampleError::refused(reason));
        }
        self.counters.add(trial.index, turn);
        Ok(())
    }

    /// The samples of a turn, if they started from the cache state that they claim.
    pub(super) fn proven_samples(
        &mut self,
        trial: &Trial,
        slot: &Slot,
        turns: Vec<MeteredTurn>,
        surroundings: CacheBeforeAfter,
    ) -> Result<Vec<Sample>, SampleError> {
        let timings: Vec<ReaderTiming> = turns.iter().map(reader_timing).collect();
        let latencies = claims::latency_lines(trial, slot, &turns);
        let facts = self.trials.facts(trial.index);
        let mut turns = turns.into_iter();
        let first = turns.next().expect("a contender has one reader at least");
        // The counts of the layer below and of control groups cover all readers, so they are noted
        // only once.
        let surroundings_of_others =
            CacheBeforeAfter { lower_layer: None, pressed: None, ..surroundings.clone() };
        let first = ObservedTurn { trial, facts, turn: first, surroundings };
        let mut samples = first.samples(slot, &mut self.notes);
        if self.trials.reads_together() {
            let of_all = samples[0].clone();
            for turn in turns {
                let other = ObservedTurn { trial, facts, turn, surroundings: surroundings_of_others.clone() };
                samples.extend(other.samples(slot, &mut self.notes));
            }
            let joint = joint_sample(trial.state, joint_time_ns(trial, &timings), &samples);
            let joined = |it: Sample| Sample {
                below_read_bytes: of_all.below_read_bytes,
                refaults: of_all.refaults,
                pages_scanned: of_all.pages_scanned,
                memory_stall_ns: of_all.memory_stall_ns,
                answer: of_all.answer,
                ..it
            };
            samples = joint.into_iter().map(joined).collect();
        }
        // The joint sample must have fetched the bytes of all readers.
        let copied = self.trials.target_of(trial.index).target.copies.as_ref();
        let facts = copied.map_or(facts, |copies| &copies.tree_target.facts);
        ObservedTurn { facts, ..first }.check_state(&samples)?;
        latencies.into_iter().for_each(|line| self.notes.add(line));
        if self.trials.reads_together() {
            let turn = ReadersTurn { trial: trial.index, round: slot.round, readers: timings };
            self.notes.add(Line::ReadersTurn(Box::new(turn)));
        }
        Ok(samples)
    }
}

/// Ends processes that a trial's turn left behind, and notes scheduling changes that the contender
/// made.
///
/// Called outside of every window. After a turn that left no process behind, this check reads only
/// one list of /proc and one file for each thread.
fn check_side_effects(
    session: &Session,
    trial: TrialIndex,
    turn: &MeteredTurn,
    notes: &mut Notes,
) -> Result<(), TrialEnd> {
    let left = session.end_leftovers();
    let schedulings = session.own_schedulings(&turn.answer.samples);
    let gone =
        |cause: io::Error| TrialEnd::failed(format!("the process that supervises it has gone: {cause}"));
    let LeftoverCounts { ended, remaining } = left.map_err(gone)?;
    if ended > 0 {
        let left = LeftBehind { processes: u64::from(ended), readings: turn.reading_count() };
        notes.add(Line::LeftBehind { trial, left });
    }
    if remaining > 0 {
        let reason = format!("it left processes behind that could not be ended: {remaining}");
        return Err(TrialEnd::failed(reason));
    }
    schedulings.into_iter().for_each(|scheduling| notes.note_scheduling(trial, scheduling));
    Ok(())
}

/// Time from the first start to the last end. A reading ends with its answer, as readlab saw it. A
/// control that measures a limit ends with its window, because it also works outside the window.
fn joint_time_ns(trial: &Trial, timings: &[ReaderTiming]) -> u64 {
    let took_ns = |it: &ReaderTiming| if trial.limit_kind().is_some() { it.wall_ns } else { it.answered_ns };
    timings.iter().map(|it| it.began_ns.saturating_add(took_ns(it))).max().unwrap_or_default()
}

fn reader_timing(turn: &MeteredTurn) -> ReaderTiming {
    let wall_ns = turn.answer.samples.iter().map(|sample| sample.wall_ns).sum();
    ReaderTiming { began_ns: turn.start_delay_ns, wall_ns, answered_ns: turn.answer.lab_wall_ns }
}
