//! Contenders that wait between their turns, and who of them may stay: as many as memory allows.
//!
//! One that stays keeps what its runtime has compiled and allocated. Where memory would run short,
//! the one whose turn is over is let go, and is started and warmed up again before its next turn,
//! outside of every window: in rounds everybody is needed again equally soon, so whoever has just
//! been served is the one whose leaving costs the least. Memory that the raced files need to stay
//! in the page cache is not counted as free.

use super::meters::Meters;
use crate::contender::session::Session;
use crate::linux::process::anonymous_bytes;
use crate::machine::memory::Memory;
use std::collections::BTreeMap;

/// Left free in any case: a contender that starts needs room before anybody knows how much.
const ROOM_MIN_BYTES: u64 = 256 << 20;

/// A contender that holds less is never let go for its memory: starting it again costs more than it
/// gives back.
const LIGHT_BYTES: u64 = 32 << 20;

/// A contender at work: its conversation and its meters.
pub(super) struct PooledSession {
    pub(super) session: Session,
    pub(super) meters: Meters,
    /// Whether its warm-up is over.
    pub(super) warm: bool,
    held_bytes: u64,
}

impl PooledSession {
    pub(super) fn new(session: Session) -> PooledSession {
        PooledSession { meters: Meters::open(session.id()), session, warm: false, held_bytes: 0 }
    }
}

/// Everybody who waits, by the number of the trial.
#[derive(Default)]
pub(super) struct SessionPool {
    taken: BTreeMap<usize, PooledSession>,
}

impl SessionPool {
    pub(super) fn get_mut(&mut self, trial: usize) -> Option<&mut PooledSession> {
        self.taken.get_mut(&trial)
    }

    pub(super) fn has(&self, trial: usize) -> bool {
        self.taken.contains_key(&trial)
    }

    pub(super) fn take(&mut self, trial: usize, seat: PooledSession) {
        self.taken.insert(trial, seat);
    }

    pub(super) fn leave(&mut self, trial: usize) {
        self.taken.remove(&trial);
    }

    /// A contender that goes on elsewhere.
    pub(super) fn give_up(&mut self, trial: usize) -> Option<PooledSession> {
        self.taken.remove(&trial)
    }

    /// The trials whose contenders wait, with their processes.
    pub(super) fn processes(&self) -> Vec<(usize, u32)> {
        self.taken.iter().map(|(&trial, seat)| (trial, seat.session.id())).collect()
    }

    /// Lets the one whose turn is over go if memory would run short for the next; `cached_bytes` of
    /// files must stay cached.
    pub(super) fn release_if_low_memory(&mut self, trial: usize, cached_bytes: u64) {
        let Some(seat) = self.taken.get_mut(&trial) else { return };
        seat.held_bytes = anonymous_bytes(seat.session.id()).unwrap_or(0);
        let own_bytes = seat.held_bytes;
        let held: Vec<u64> = self.taken.values().map(|seat| seat.held_bytes).collect();
        let memory = Memory::read();
        if (own_bytes >= LIGHT_BYTES || is_crowded(&memory, &held)) && is_short(&memory, &held, cached_bytes)
        {
            self.leave(trial);
        }
    }
}

/// Whether there is too little room for one more contender as large as the largest so far. A
/// control group's limit covers everybody's memory; what is available on the machine is free of it
/// already.
fn is_short(memory: &Memory, held_bytes: &[u64], cached_bytes: u64) -> bool {
    let needed_bytes =
        held_bytes.iter().copied().max().unwrap_or(0).max(ROOM_MIN_BYTES).saturating_add(cached_bytes);
    let within_limit = |limit: u64| limit.saturating_sub(held_bytes.iter().sum());
    let room_bytes = memory.available_bytes.min(memory.limit_bytes.map_or(u64::MAX, within_limit));
    room_bytes < needed_bytes
}

/// Whether those who wait hold half of what the control group may have, however light each is.
fn is_crowded(memory: &Memory, held_bytes: &[u64]) -> bool {
    memory.limit_bytes.is_some_and(|limit| held_bytes.iter().sum::<u64>() > limit / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn memory(available_bytes: u64, limit_bytes: Option<u64>) -> Memory {
        Memory { total_bytes: 4 * GIB, available_bytes, limit_bytes }
    }

    #[test]
    fn room_is_kept_for_one_as_large_as_the_largest_and_for_the_files() {
        assert!(!is_short(&memory(GIB, None), &[GIB / 8; 4], 0));
        assert!(is_short(&memory(GIB, None), &[GIB / 8, 2 * GIB], 0));
        assert!(is_short(&memory(GIB, None), &[GIB / 8], GIB));
        assert!(is_short(&memory(ROOM_MIN_BYTES - 1, None), &[], 0));
    }

    #[test]
    fn within_a_limit_everybody_counts() {
        assert!(!is_short(&memory(4 * GIB, Some(GIB)), &[GIB / 8; 4], 0));
        assert!(is_short(&memory(4 * GIB, Some(GIB)), &[GIB / 8; 7], 0));
    }

    #[test]
    fn many_light_ones_fill_a_small_limit_too() {
        assert!(is_crowded(&memory(4 * GIB, Some(GIB)), &[GIB / 64; 33]));
        assert!(!is_crowded(&memory(4 * GIB, Some(GIB)), &[GIB / 64; 32]));
        assert!(!is_crowded(&memory(4 * GIB, None), &[GIB; 4]));
    }
}
