//! The started contenders that wait for their next turn, as many as memory allows.
//!
//! A contender that keeps running keeps what its runtime has compiled and allocated. Where memory
//! would run short, the session whose turn just ended is closed: in round order it is needed last.
//! It is started and warmed up again before its next turn, outside of every window. Memory that the
//! measured files need to stay in the page cache does not count as free.

use super::observed_turn::MeteredTurn;
use super::trials::Trials;
use crate::interface::TrialEnd;
use crate::meters::Meters;
use readlab_model::trial::{Params, TrialIndex};
use readlab_model::units::Nanos;
use readlab_protocol::TurnRequest;
use readlab_roster::session::{LaunchedSession, Session, SessionError, Turn};
use readlab_system::machine::memory::Memory;
use readlab_system::process::anonymous_bytes;
use readlab_system::program::Additions;
use std::collections::BTreeMap;
use std::time::Duration;

/// Memory that is left free in any case: how much a contender needs is known only after it started.
const ROOM_MIN_BYTES: u64 = 256 << 20;

/// A contender that holds less than this is not closed for its memory: starting it again costs more
/// than its memory is worth.
const LIGHT_BYTES: u64 = 32 << 20;

/// A started contender of a trial: a process of it for each reader that reads at the same time.
pub(super) struct PooledSession {
    pub(super) readers: Vec<Reader>,
    params: Params,
    /// Whether it has read until it was steady, where it must.
    pub(super) is_steady: bool,
    /// Whether it read in another state of the cache before.
    pub(super) is_taken_over: bool,
    held_bytes: u64,
}

pub(super) struct Reader {
    pub(super) session: Session,
    meters: Meters,
}

impl PooledSession {
    pub(super) fn new(sessions: Vec<Session>, params: Params) -> PooledSession {
        let reader =
            |session: Session| Reader { meters: Meters::open(session.id(), session.supervisor()), session };
        let readers = sessions.into_iter().map(reader).collect();
        PooledSession { readers, params, is_steady: false, is_taken_over: false, held_bytes: 0 }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.readers.iter().map(|reader| reader.session.id())
    }

    /// One turn of all readers between two readings of their meters, which begins when `wait`
    /// returns.
    pub(super) fn metered_turn(
        &mut self,
        request: TurnRequest,
        time_limit: Duration,
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
            let answer = reader.session.end_turn(request, start, time_limit);
            (reader, Nanos::from(start.duration_since(first.unwrap_or(start))).0, answer)
        });
        // Meters are read only when the last has answered: that would disturb the others.
        let answered: Vec<(&mut Reader, u64, Result<Turn, SessionError>)> = answered.collect();
        let turn = |(reader, began_ns, answer): (&mut Reader, u64, Result<Turn, SessionError>)| {
            let metered = reader.meters.end();
            Ok(MeteredTurn { request, began_ns, answer: answer?, metered })
        };
        answered.into_iter().map(turn).collect()
    }
}

#[derive(Default)]
pub(super) struct SessionPool {
    sessions: BTreeMap<TrialIndex, PooledSession>,
    launched: BTreeMap<TrialIndex, Result<LaunchedSession, SessionError>>,
    /// Contenders of trials that are done, for trials that differ only in the state of the cache.
    retired: BTreeMap<TrialIndex, PooledSession>,
}

impl SessionPool {
    pub(super) fn session(&mut self, trial: TrialIndex) -> Result<&mut PooledSession, TrialEnd> {
        self.sessions.get_mut(&trial).ok_or_else(|| TrialEnd::failed("it was not started".to_owned()))
    }

    pub(super) fn has(&self, trial: TrialIndex) -> bool {
        self.sessions.contains_key(&trial)
    }

    pub(super) fn close(&mut self, trial: TrialIndex) {
        self.sessions.remove(&trial);
        self.retired.remove(&trial);
    }

    /// Keeps the contender of a trial that has no further turns, if it is running.
    pub(super) fn retire(&mut self, trial: TrialIndex) {
        if let Some(pooled) = self.sessions.remove(&trial) {
            self.retired.insert(trial, PooledSession { is_taken_over: true, ..pooled });
        }
    }

    /// Starts the contenders of these trials without waiting for them; others that were started
    /// like this are ended.
    pub(super) fn launch(&mut self, trials: &Trials, next: &[TrialIndex]) {
        self.launched.retain(|trial, _| next.contains(trial));
        for &trial in next {
            if self.retired_for(trials, trial).is_none() {
                self.launched.entry(trial).or_insert_with(|| trials.launch(trial, 0, Additions::default()));
            }
        }
    }

    /// Starts the contender of a trial; a session that it had before is closed first. A contender
    /// that has made the same readings in another state is taken over instead.
    pub(super) fn restart(&mut self, trials: &Trials, trial: TrialIndex) -> Result<Params, SessionError> {
        self.close(trial);
        let taken = self.retired_for(trials, trial).and_then(|other| self.retired.remove(&other));
        let pooled = match taken {
            Some(pooled) => pooled,
            None => {
                let launch = |reader| trials.launch(trial, reader, Additions::default());
                let first = self.launched.remove(&trial).unwrap_or_else(|| launch(0));
                let mut sessions = vec![first?.hello()?];
                for reader in 1..trials.readers(trial) as usize {
                    sessions.push(launch(reader)?.hello()?);
                }
                let params = sessions.iter_mut().map(Session::ready).collect::<Result<Vec<_>, _>>()?;
                PooledSession::new(sessions, params.into_iter().next().unwrap_or_default())
            }
        };
        let params = pooled.params.clone();
        self.sessions.insert(trial, pooled);
        Ok(params)
    }

    /// The trial whose contender can make the readings of this one.
    fn retired_for(&self, trials: &Trials, trial: TrialIndex) -> Option<TrialIndex> {
        let own = trials.trial(trial);
        let reads_like = |&other: &TrialIndex| {
            trials.trial(other).reads_like(own) && trials.readers(other) == trials.readers(trial)
        };
        self.retired.keys().copied().find(reads_like)
    }

    /// Starts the contender of a trial unless it is running; whether it had to be started. One that
    /// was retired and took over no other trial goes on.
    pub(super) fn ensure_running(
        &mut self,
        trials: &Trials,
        trial: TrialIndex,
    ) -> Result<bool, SessionError> {
        if let Some(pooled) = self.retired.remove(&trial) {
            self.sessions.insert(trial, PooledSession { is_taken_over: false, ..pooled });
        }
        if self.has(trial) {
            return Ok(false);
        }
        self.restart(trials, trial).map(|_| true)
    }

    pub(super) fn processes_of(&self, trial: TrialIndex) -> Vec<u32> {
        self.sessions.get(&trial).into_iter().flat_map(PooledSession::ids).collect()
    }

    pub(super) fn processes(&self) -> Vec<(TrialIndex, u32)> {
        let running = self.sessions.iter().chain(&self.retired);
        running.flat_map(|(&trial, pooled)| pooled.ids().map(move |id| (trial, id))).collect()
    }

    /// Closes the session whose turn just ended if memory would run short for the next one.
    /// `cached_bytes` of files must stay in the page cache.
    pub(super) fn release_if_low_memory(&mut self, trial: TrialIndex, cached_bytes: u64) {
        let Some(pooled) = self.sessions.get_mut(&trial) else { return };
        pooled.held_bytes = pooled.ids().filter_map(anonymous_bytes).sum();
        let own_bytes = pooled.held_bytes;
        let held: Vec<u64> = self.sessions.values().map(|pooled| pooled.held_bytes).collect();
        let memory = Memory::read();
        if is_short(&memory, &held, cached_bytes) {
            self.retired.clear();
        }
        let is_worth_it = own_bytes >= LIGHT_BYTES || is_crowded(&memory, &held);
        if is_worth_it && is_short(&memory, &held, cached_bytes) {
            self.close(trial);
        }
    }
}

/// Whether there is too little room for one more contender as large as the largest so far. The
/// limit of a control group covers the memory of all contenders; what is available on the machine
/// does not include it.
fn is_short(memory: &Memory, held_bytes: &[u64], cached_bytes: u64) -> bool {
    let largest_bytes = held_bytes.iter().copied().max().unwrap_or(0).max(ROOM_MIN_BYTES);
    let needed_bytes = largest_bytes.saturating_add(cached_bytes);
    let within_limit = |limit: u64| limit.saturating_sub(held_bytes.iter().sum());
    let room_bytes = memory.available_bytes.min(memory.limit_bytes.map_or(u64::MAX, within_limit));
    room_bytes < needed_bytes
}

/// Whether all sessions together hold half of what the control group may have, however light each
/// one is.
fn is_crowded(memory: &Memory, held_bytes: &[u64]) -> bool {
    memory.limit_bytes.is_some_and(|limit| held_bytes.iter().sum::<u64>() > limit / 2)
}

#[cfg(test)]
mod tests {
    use super::super::testing::FIRST;
    use super::*;

    const GIB: u64 = 1 << 30;

    fn memory(available_bytes: u64, limit_bytes: Option<u64>) -> Memory {
        Memory { total_bytes: 4 * GIB, available_bytes, limit_bytes }
    }

    #[test]
    fn room_is_kept_for_a_contender_as_large_as_the_largest_and_for_the_files() {
        assert!(!is_short(&memory(GIB, None), &[GIB / 8; 4], 0));
        assert!(is_short(&memory(GIB, None), &[GIB / 8, 2 * GIB], 0));
        assert!(is_short(&memory(GIB, None), &[GIB / 8], GIB));
        assert!(is_short(&memory(ROOM_MIN_BYTES - 1, None), &[], 0));
        // Within a limit the memory of all contenders counts.
        assert!(!is_short(&memory(4 * GIB, Some(GIB)), &[GIB / 8; 4], 0));
        assert!(is_short(&memory(4 * GIB, Some(GIB)), &[GIB / 8; 7], 0));
    }

    #[test]
    fn many_light_contenders_fill_a_small_limit() {
        assert!(is_crowded(&memory(4 * GIB, Some(GIB)), &[GIB / 64; 33]));
        assert!(!is_crowded(&memory(4 * GIB, Some(GIB)), &[GIB / 64; 32]));
        assert!(!is_crowded(&memory(4 * GIB, None), &[GIB; 4]));
    }

    #[test]
    fn a_trial_that_was_not_started_has_no_session() {
        let mut pool = SessionPool::default();
        assert!(!pool.has(FIRST) && pool.processes_of(FIRST).is_empty() && pool.processes().is_empty());
        assert_eq!(pool.session(FIRST).err(), Some(TrialEnd::failed("it was not started".to_owned())));
    }
}
