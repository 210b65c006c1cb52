//! The pool of started contenders that wait for their next turn, as many as memory allows.
//!
//! A contender that keeps running keeps what its runtime has compiled and allocated. If memory
//! would run short, the session whose turn just ended is closed, because in round order it is
//! needed last. It is started and warmed up again before its next turn, outside of every window.
//! Memory that the measured files need to stay in the page cache does not count as free.

use super::observed_turn::MeteredTurn;
use super::trials::Trials;
use super::turn_limit::TurnLimit;
use crate::interface::TrialEnd;
use crate::memory_bound::ReaderGroups;
use crate::meters::Meters;
use readlab_model::trial::{Params, TrialIndex};
use readlab_model::units::Nanos;
use readlab_protocol::TurnRequest;
use readlab_roster::session::{LaunchedSession, Session, SessionError, Turn};
use readlab_system::machine::memory::MachineMemory;
use readlab_system::process::anonymous_bytes;
use readlab_system::program::CommandLineAdditions;
use std::collections::BTreeMap;

/// Memory that stays free in any case, because the memory that a contender needs is known only
/// after its start.
const FREE_BYTES_MIN: u64 = 256 << 20;

/// A contender with less memory than this is closed only if all contenders together hold more than
/// half of the memory limit: closing it frees little, and starting it again takes long.
const SMALL_CONTENDER_BYTES: u64 = 32 << 20;

/// The started contender of a trial: one process for each reader that reads at the same time.
pub(super) struct PooledSession {
    pub(super) readers: Vec<PooledReader>,
    /// The control groups of the readers; dropped after the readers, because groups with processes
    /// cannot be removed.
    pub(super) groups: ReaderGroups,
    params: Params,
    /// Whether the contender has read until it was steady; used only for contenders that must be
    /// steady before their first turn.
    pub(super) is_steady: bool,
    /// Whether the contender made readings in another cache state before.
    pub(super) is_taken_over: bool,
    held_bytes: u64,
}

pub(super) struct PooledReader {
    pub(super) session: Session,
    meters: Meters,
}

impl PooledSession {
    pub(super) fn new(sessions: Vec<Session>, params: Params, groups: ReaderGroups) -> PooledSession {
        let reader = |session: Session| PooledReader {
            meters: Meters::open(session.process_id(), session.supervisor_id()),
            session,
        };
        let readers = sessions.into_iter().map(reader).collect();
        PooledSession { readers, groups, params, is_steady: false, is_taken_over: false, held_bytes: 0 }
    }

    pub(super) fn process_ids(&self) -> impl Iterator<Item = u32> {
        self.readers.iter().map(|reader| reader.session.process_id())
    }

    /// Takes one turn of all readers between two readings of their meters; it begins when `wait`
    /// returns.
    pub(super) fn take_metered_turn(
        &mut self,
        request: TurnRequest,
        limit: &TurnLimit,
        wait: impl FnOnce(),
    ) -> Result<Vec<MeteredTurn>, SessionError> {
        self.readers.iter_mut().for_each(|reader| reader.meters.begin());
        wait();
        let mut begun = Vec::new();
        for reader in &mut self.readers {
            let start = reader.session.begin_turn(request)?;
            begun.push((reader, start));
        }
        let first = begun.first().map(|(_, start)| *start);
        let answered = begun.into_iter().map(|(reader, start)| {
            let answer = reader.session.end_turn(request, start, limit.time);
            let answer = answer.map_err(|error| limit.explain(error));
            (reader, Nanos::from(start.duration_since(first.unwrap_or(start))).0, answer)
        });
        let buffers_bytes = self.params.buffers_bytes();
        // Meters are read only after the last answer, because reading them would disturb readers
        // still at work.
        let answered: Vec<(&mut PooledReader, u64, Result<Turn, SessionError>)> = answered.collect();
        let turn =
            |(reader, start_delay_ns, answer): (&mut PooledReader, u64, Result<Turn, SessionError>)| {
                let metered = reader.meters.end();
                Ok(MeteredTurn { request, buffers_bytes, start_delay_ns, answer: answer?, metered })
            };
        answered.into_iter().map(turn).collect()
    }
}

#[derive(Default)]
pub(super) struct SessionPool {
    sessions: BTreeMap<TrialIndex, PooledSession>,
    launched_sessions: BTreeMap<TrialIndex, Result<LaunchedSession, SessionError>>,
    /// Contenders of finished trials, kept for trials that differ only in the cache state.
    retired_sessions: BTreeMap<TrialIndex, PooledSession>,
}

impl SessionPool {
    pub(super) fn session(&mut self, trial: TrialIndex) -> Result<&mut PooledSession, TrialEnd> {
        self.sessions.get_mut(&trial).ok_or_else(|| TrialEnd::failed("it was not started".to_owned()))
    }

    pub(super) fn has_session(&self, trial: TrialIndex) -> bool {
        self.sessions.contains_key(&trial)
    }

    pub(super) fn close_session(&mut self, trial: TrialIndex) {
        self.sessions.remove(&trial);
        self.retired_sessions.remove(&trial);
    }

    /// Keeps the contender of a trial that has no further turns, if it is running. A contender in a
    /// control group serves no other trial.
    pub(super) fn retire_session(&mut self, trial: TrialIndex) {
        if let Some(pooled) = self.sessions.remove(&trial).filter(|pooled| pooled.groups.is_empty()) {
            self.retired_sessions.insert(trial, PooledSession { is_taken_over: true, ..pooled });
        }
    }

    /// Starts the contenders of these trials without waiting for them. Ends contenders that an
    /// earlier call started, that were not used and that are not in `next`. Contenders in control
    /// groups are not started ahead.
    pub(super) fn launch(&mut self, trials: &Trials, next: &[TrialIndex]) {
        self.launched_sessions.retain(|trial, _| next.contains(trial));
        for &trial in next {
            let is_free = trials.memory_bound(trial).is_none();
            if is_free && self.retired_with_same_readings(trials, trial).is_none() {
                self.launched_sessions
                    .entry(trial)
                    .or_insert_with(|| trials.launch(trial, 0, CommandLineAdditions::default()));
            }
        }
    }

    /// Starts the contender of a trial and closes its earlier session. If a retired contender has
    /// made the same readings in another cache state, it is taken over instead.
    pub(super) fn restart(&mut self, trials: &Trials, trial: TrialIndex) -> Result<Params, SessionError> {
        self.close_session(trial);
        let taken = self
            .retired_with_same_readings(trials, trial)
            .and_then(|other| self.retired_sessions.remove(&other));
        let pooled = match taken {
            Some(pooled) => pooled,
            None => {
                let groups = trials.make_groups(trial)?;
                let launch = |reader| trials.launch(trial, reader, group_additions(&groups, reader));
                let first = self.launched_sessions.remove(&trial).unwrap_or_else(|| launch(0));
                let mut sessions = vec![first?.receive_hello()?];
                for reader in 1..trials.reader_count(trial) as usize {
                    sessions.push(launch(reader)?.receive_hello()?);
                }
                let params =
                    sessions.iter_mut().map(Session::wait_until_ready).collect::<Result<Vec<_>, _>>()?;
                PooledSession::new(sessions, params.into_iter().next().unwrap_or_default(), groups)
            }
        };
        let params = pooled.params.clone();
        self.sessions.insert(trial, pooled);
        Ok(params)
    }

    /// The retired trial whose contender can make the readings of this trial.
    fn retired_with_same_readings(&self, trials: &Trials, trial: TrialIndex) -> Option<TrialIndex> {
        if trials.memory_bound(trial).is_some() {
            return None;
        }
        let own = trials.trial(trial);
        let reads_like = |&other: &TrialIndex| {
            trials.trial(other).reads_like(own) && trials.reader_count(other) == trials.reader_count(trial)
        };
        self.retired_sessions.keys().copied().find(reads_like)
    }

    /// Starts the contender of a trial unless it is running, and returns whether it had to be
    /// started. The retired process of the same trial continues if no other trial has taken it
    /// over.
    pub(super) fn ensure_running(
        &mut self,
        trials: &Trials,
        trial: TrialIndex,
    ) -> Result<bool, SessionError> {
        if let Some(pooled) = self.retired_sessions.remove(&trial) {
            self.sessions.insert(trial, PooledSession { is_taken_over: false, ..pooled });
        }
        if self.has_session(trial) {
            return Ok(false);
        }
        self.restart(trials, trial).map(|_| true)
    }

    pub(super) fn process_ids_of(&self, trial: TrialIndex) -> Vec<u32> {
        self.sessions.get(&trial).into_iter().flat_map(PooledSession::process_ids).collect()
    }

    /// The process ids of all contenders, retired ones included, each with its trial.
    pub(super) fn all_process_ids(&self) -> Vec<(TrialIndex, u32)> {
        let running = self.sessions.iter().chain(&self.retired_sessions);
        running.flat_map(|(&trial, pooled)| pooled.process_ids().map(move |id| (trial, id))).collect()
    }

    /// Closes the session whose turn just ended if memory would run short for the next turn.
    /// `cached_bytes` is the size of the files that must stay in the page cache.
    pub(super) fn close_session_if_low_memory(&mut self, trial: TrialIndex, cached_bytes: u64) {
        let Some(pooled) = self.sessions.get_mut(&trial) else { return };
        pooled.held_bytes = pooled.process_ids().filter_map(anonymous_bytes).sum();
        let own_bytes = pooled.held_bytes;
        let held: Vec<u64> = self.sessions.values().map(|pooled| pooled.held_bytes).collect();
        let memory = MachineMemory::read();
        if is_memory_short(&memory, &held, cached_bytes) {
            self.retired_sessions.clear();
        }
        let is_worth_it = own_bytes >= SMALL_CONTENDER_BYTES || is_memory_crowded(&memory, &held);
        if is_worth_it && is_memory_short(&memory, &held, cached_bytes) {
            self.close_session(trial);
        }
    }
}

/// Additions to the start of a reader: the control group that its process enters.
fn group_additions(groups: &ReaderGroups, reader: usize) -> CommandLineAdditions {
    let enters = groups.group_of_reader(reader).map(|group| group.processes_file().into());
    CommandLineAdditions { cgroup_procs_path: enters, ..CommandLineAdditions::default() }
}

/// Whether there is too little memory for another contender as large as the largest so far. A
/// control group's limit covers the memory of all contenders; the machine's available memory does
/// not include that memory.
fn is_memory_short(memory: &MachineMemory, held_bytes: &[u64], cached_bytes: u64) -> bool {
    let largest_bytes = held_bytes.iter().copied().max().unwrap_or(0).max(FREE_BYTES_MIN);
    let needed_bytes = largest_bytes.saturating_add(cached_bytes);
    let within_limit = |limit: u64| limit.saturating_sub(held_bytes.iter().sum());
    let room_bytes = memory.available_bytes.min(memory.limit_bytes.map_or(u64::MAX, within_limit));
    room_bytes < needed_bytes
}

/// Whether all sessions together hold more than half of the control group's limit, even if each is
/// small.
fn is_memory_crowded(memory: &MachineMemory, held_bytes: &[u64]) -> bool {
    memory.limit_bytes.is_some_and(|limit| held_bytes.iter().sum::<u64>() > limit / 2)
}

#[cfg(test)]
mod tests {
    use super::super::testing::FIRST_TRIAL;
    use super::*;

    const GIB: u64 = 1 << 30;

    fn memory(available_bytes: u64, limit_bytes: Option<u64>) -> MachineMemory {
        MachineMemory { total_bytes: 4 * GIB, available_bytes, limit_bytes }
    }

    #[test]
    fn memory_is_kept_free_for_a_contender_as_large_as_the_largest_and_for_the_files() {
        assert!(!is_memory_short(&memory(GIB, None), &[GIB / 8; 4], 0));
        assert!(is_memory_short(&memory(GIB, None), &[GIB / 8, 2 * GIB], 0));
        assert!(is_memory_short(&memory(GIB, None), &[GIB / 8], GIB));
        assert!(is_memory_short(&memory(FREE_BYTES_MIN - 1, None), &[], 0));
        // Under a limit, the memory of all contenders counts.
        assert!(!is_memory_short(&memory(4 * GIB, Some(GIB)), &[GIB / 8; 4], 0));
        assert!(is_memory_short(&memory(4 * GIB, Some(GIB)), &[GIB / 8; 7], 0));
    }

    #[test]
    fn many_small_contenders_fill_a_small_limit() {
        assert!(is_memory_crowded(&memory(4 * GIB, Some(GIB)), &[GIB / 64; 33]));
        assert!(!is_memory_crowded(&memory(4 * GIB, Some(GIB)), &[GIB / 64; 32]));
        assert!(!is_memory_crowded(&memory(4 * GIB, None), &[GIB; 4]));
    }

    #[test]
    fn a_trial_that_was_not_started_has_no_session() {
        let mut pool = SessionPool::default();
        assert!(
            !pool.has_session(FIRST_TRIAL)
                && pool.process_ids_of(FIRST_TRIAL).is_empty()
                && pool.all_process_ids().is_empty()
        );
        assert_eq!(pool.session(FIRST_TRIAL).err(), Some(TrialEnd::failed("it was not started".to_owned())));
    }
}
