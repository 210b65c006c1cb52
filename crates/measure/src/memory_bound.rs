//! Bounds on memory: the control groups of trials with a bound, and the memory that their processes
//! need beside the page cache. A bound is on the page cache alone, so the memory of the processes
//! is measured first and added to the limit of the group.

use crate::settings::FixedSetting;
use readlab_model::target::memory::MemoryFacts;
use readlab_model::trial::TrialIndex;
use readlab_system::memory_group::{GroupCounters, GroupMemory, MemoryGroup, MemoryGroups};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Interval at which the memory of a group is read during untimed readings. A reader allocates its
/// buffers within a reading, and may free them at its end.
const WATCH_INTERVAL: Duration = Duration::from_millis(1);

/// The bounds of a run and where their control groups are made.
#[derive(Debug)]
pub struct MemoryControl {
    /// The changed read-ahead; `None` if it was not changed. Declared before `groups`, because
    /// dropping `groups` cancels the launcher's commands, so the read-ahead must be restored first.
    _read_ahead: Option<FixedSetting>,
    groups: MemoryGroups,
    bounds: BTreeMap<TrialIndex, MemoryFacts>,
}

impl MemoryControl {
    /// Prepares the machine for groups, and applies the read-ahead unless it is `None`. If the lab
    /// is killed, the launcher restores the read-ahead and removes the groups that are left.
    pub fn begin(
        mut groups: MemoryGroups,
        bounds: BTreeMap<TrialIndex, MemoryFacts>,
        mut read_ahead: Option<FixedSetting>,
    ) -> io::Result<MemoryControl> {
        let undo = read_ahead.as_ref().map(FixedSetting::undo_commands).transpose();
        let lock = read_ahead.as_ref().and_then(FixedSetting::lock);
        groups.begin(&undo.map_err(io::Error::other)?.unwrap_or_default(), lock)?;
        read_ahead.as_mut().map(FixedSetting::apply).transpose().map_err(io::Error::other)?;
        Ok(MemoryControl { _read_ahead: read_ahead, groups, bounds })
    }

    pub(crate) fn bound(&self, trial: TrialIndex) -> Option<&MemoryFacts> {
        self.bounds.get(&trial)
    }

    /// New groups for a trial with this number of readers; none for a trial without a bound.
    pub(crate) fn make_groups(&self, trial: TrialIndex, readers: u32) -> io::Result<ReaderGroups> {
        let count = match self.bound(trial) {
            None => 0,
            Some(bound) if bound.is_shared => 1,
            Some(_) => readers,
        };
        let groups = (0..count).map(|_| self.groups.make().map(Arc::new)).collect::<io::Result<_>>()?;
        Ok(ReaderGroups { groups })
    }
}

/// The control groups of the processes of one trial: one for each reader, or one for all.
#[derive(Debug, Default)]
pub(crate) struct ReaderGroups {
    groups: Vec<Arc<MemoryGroup>>,
}

/// Memory and counters of all groups of a trial together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GroupState {
    pub(crate) memory: GroupMemory,
    pub(crate) counters: GroupCounters,
}

impl ReaderGroups {
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn count(&self) -> u64 {
        self.groups.len() as u64
    }

    /// The group of a reader, by the reader's number from 0; `None` if readers are in no group.
    pub(crate) fn group_of_reader(&self, reader: usize) -> Option<&MemoryGroup> {
        self.groups.get(reader % self.groups.len().max(1)).map(Arc::as_ref)
    }

    pub(crate) fn set_limit(&self, bytes: u64) -> io::Result<()> {
        self.groups.iter().try_for_each(|group| group.set_limit(bytes))
    }

    /// Memory beside the page cache, in bytes, of the group that has most of it now.
    pub(crate) fn max_bytes_beside_cache(&self) -> io::Result<u64> {
        let needs = self.groups.iter().map(|group| Ok(group.memory()?.other_bytes));
        Ok(needs.collect::<io::Result<Vec<u64>>>()?.into_iter().max().unwrap_or_default())
    }

    pub(crate) fn combined_state(&self) -> io::Result<GroupState> {
        let mut all = GroupState::default();
        for (number, group) in self.groups.iter().enumerate() {
            let state = GroupState { memory: group.memory()?, counters: group.counters()? };
            all = if number == 0 { state } else { all.together_with(state) };
        }
        Ok(all)
    }

    /// Starts to watch the memory that the processes need beside the page cache.
    pub(crate) fn watch(&self) -> MemoryWatch {
        let watched = ReaderGroups { groups: self.groups.clone() };
        let (end_signal, end) = mpsc::channel();
        let most = move || {
            let mut most_bytes = watched.max_bytes_beside_cache().unwrap_or_default();
            loop {
                let is_over = end.recv_timeout(WATCH_INTERVAL) != Err(RecvTimeoutError::Timeout);
                most_bytes = watched.max_bytes_beside_cache().unwrap_or_default().max(most_bytes);
                if is_over {
                    return most_bytes;
                }
            }
        };
        MemoryWatch { end_signal, thread: thread::spawn(most) }
    }
}

impl GroupState {
    fn together_with(self, other: GroupState) -> GroupState {
        let sum = |one: Option<u64>, two: Option<u64>| Some(one?.saturating_add(two?));
        let (one, two) = (self.counters, other.counters);
        GroupState {
            memory: GroupMemory {
                cache_bytes: self.memory.cache_bytes.saturating_add(other.memory.cache_bytes),
                cache_bytes_max: self.memory.cache_bytes_max.saturating_add(other.memory.cache_bytes_max),
                other_bytes: self.memory.other_bytes.saturating_add(other.memory.other_bytes),
            },
            counters: GroupCounters {
                refaults: sum(one.refaults, two.refaults),
                // If the counts are of the whole machine, all groups give nearly the same count.
                pages_scanned: if one.has_scans_of_machine {
                    one.pages_scanned
                } else {
                    sum(one.pages_scanned, two.pages_scanned)
                },
                has_scans_of_machine: one.has_scans_of_machine,
                stall_ns: one.stall_ns.max(two.stall_ns),
                oom_kills: one.oom_kills.saturating_add(two.oom_kills),
            },
        }
    }
}

/// A thread that reads the memory of groups until `end_signal` is dropped.
#[derive(Debug)]
pub(crate) struct MemoryWatch {
    end_signal: Sender<()>,
    thread: JoinHandle<u64>,
}

impl MemoryWatch {
    /// Largest memory beside the page cache, in bytes, that a group had while it was watched.
    pub(crate) fn end(self) -> u64 {
        drop(self.end_signal);
        self.thread.join().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_readers_are_counted_together() {
        let state = |refaults, scanned, stall_ns, has_scans_of_machine| GroupState {
            memory: GroupMemory { cache_bytes: 10, cache_bytes_max: 11, other_bytes: 3 },
            counters: GroupCounters {
                refaults,
                pages_scanned: Some(scanned),
                has_scans_of_machine,
                stall_ns,
                oom_kills: 1,
            },
        };
        let newer = state(Some(5), 7, Some(100), false).together_with(state(Some(6), 8, Some(40), false));
        let memory = GroupMemory { cache_bytes: 20, cache_bytes_max: 22, other_bytes: 6 };
        assert_eq!(newer.memory, memory);
        let counters = GroupCounters {
            refaults: Some(11),
            pages_scanned: Some(15),
            has_scans_of_machine: false,
            stall_ns: Some(100),
            oom_kills: 2,
        };
        assert_eq!(newer.counters, counters);
        let without_pressure = state(None, 7, None, false).together_with(state(None, 8, None, false));
        assert_eq!(without_pressure.counters.pages_scanned, Some(15), "a kernel without PSI counts scans");
        let older = state(Some(5), 7, None, true).together_with(state(None, 8, None, true));
        assert_eq!((older.counters.refaults, older.counters.pages_scanned), (None, Some(7)));
    }

    #[test]
    fn without_groups_there_is_nothing_to_bound_or_to_watch() {
        let none = ReaderGroups::default();
        assert!(none.is_empty() && none.group_of_reader(0).is_none() && none.group_of_reader(3).is_none());
        assert_eq!(none.combined_state().unwrap(), GroupState::default());
        assert_eq!(none.watch().end(), 0);
        assert!(none.set_limit(1).is_ok());
    }
}
