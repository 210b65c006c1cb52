//! The pressed state: a control group bounds the memory of a contender's processes, page cache
//! included, so that only a part of the target stays in memory.
//!
//! The target is evicted, then the contender reads it untimed until the share in memory and the
//! number of pages that are read again no longer change. The timed reading begins and ends in this
//! steady state. Pages that are charged to another group would not use the contender's bound, so a
//! turn with too many of these pages is repeated. [`crate::memory_bound`] has the groups.

use super::ProcessSampler;
use super::notes::Notes;
use super::observed_turn::CacheBeforeAfter;
use crate::holders::Processes;
use crate::interface::{SampleError, TrialEnd};
use crate::memory_bound::GroupState;
use crate::residency::{ResidencyMeans, ResidencyProof};
use crate::target::MeasuredTarget;
use readlab_model::sample::{Meter, PressedProof};
use readlab_model::target::memory::MemoryFacts;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_model::units::Bytes;
use readlab_record::{Outcome, Trial};
use readlab_system::machine::memory::MachineMemory;
use readlab_system::memory::page_bytes;
use readlab_system::memory_group::{GroupCounters, GroupMemory};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Largest number of untimed readings before a timed reading. If the state is not steady after
/// them, it is not proven.
const UNTIMED_READINGS_MAX: u32 = 16;

/// Two shares of the working set in memory count as equal up to this difference.
const SHARE_TOLERANCE: f64 = 0.02;

/// Two numbers of refaults count as equal if their difference is at most this share of the larger
/// number.
const REFAULT_TOLERANCE_RATIO: f64 = 0.1;

/// Two numbers of refaults also count as equal if their difference is at most this share of the
/// pages of the working set.
const REFAULT_NOISE_SHARE: f64 = 0.01;

/// A timed reading counts if, before and after it, the share of the working set in memory differs
/// from the steady share by at most this much, and if at most this share is charged to other
/// groups.
const STATE_TOLERANCE: f64 = 0.05;

/// Processes that need more memory than was measured, and other files, take memory from the page
/// cache of the target. More than this share of the bound is reported.
const REPORTED_PINNED_SHARE_MIN: f64 = 0.05;

/// Largest page cache of other files, such as the program and its libraries, that the need of a
/// group includes. The kernel reads up to 8 MiB around one page of a program. A process that keeps
/// more pages of other files does so on purpose.
const OTHER_FILES_BYTES_MAX: u64 = 8 << 20;

/// The need is raised if page cache of other files takes more than this share of the working set
/// from the target.
const TAKEN_SHARE_MIN: f64 = 0.005;

/// The need is raised only after one of this many first untimed readings. The other readings must
/// be enough to reach a steady state again, even if the kernel evicts pages alternately from the
/// target and from other files.
const RAISING_READINGS_MAX: u32 = UNTIMED_READINGS_MAX / 2;

/// A steady share that is below its bound by more than this is reported, if nothing else takes the
/// memory.
const REPORTED_SHORTFALL_SHARE_MIN: f64 = 0.1;

/// The kernel evicts whole folios, which have at most this size on the file systems that are
/// measured, and may evict several to make room for one.
const FOLIO_BYTES_MAX: u64 = 2 << 20;
const EVICTED_FOLIOS_MAX: u64 = 3;

/// A failed reading that read its working set again at least this many times counts as thrashing.
const THRASH_TIMES_MIN: f64 = 4.0;

/// Largest number of processes that are named as holders of a file.
const NAMED_HOLDERS_MAX: usize = 3;

/// State of the trials that are read under a bound, kept between their turns.
#[derive(Debug, Default)]
pub(super) struct PressedTrials {
    need_by_trial: BTreeMap<TrialIndex, MemoryNeed>,
    steady_readings: BTreeMap<TrialIndex, StateAfterReading>,
    /// Trials whose processes were reported to need more memory than was measured.
    reported_pinned: BTreeSet<TrialIndex>,
    /// Trials whose bound was reported to be smaller than their processes.
    reported_small: BTreeSet<TrialIndex>,
    /// Trials whose steady share was reported to be far below the bound.
    reported_short: BTreeSet<TrialIndex>,
}

/// Memory that one group needs beside the page cache of the target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct MemoryNeed {
    /// Largest memory of the processes beside the page cache so far.
    process_bytes: u64,
    /// Page cache of other files, such as the program.
    other_files_bytes: u64,
}

impl MemoryNeed {
    fn total_bytes(self) -> u64 {
        self.process_bytes.saturating_add(self.other_files_bytes)
    }
}

impl PressedTrials {
    pub(super) fn note_need(&mut self, trial: TrialIndex, process_bytes: u64) {
        let need = self.need_by_trial.entry(trial).or_default();
        need.process_bytes = process_bytes.max(need.process_bytes);
    }

    /// Raises the need of a trial by `taken_bytes`, the page cache of other files that takes memory
    /// from the target; returns whether the need grew.
    fn raise_need(&mut self, trial: TrialIndex, taken_bytes: u64) -> bool {
        let need = self.need_by_trial.entry(trial).or_default();
        let added_bytes = taken_bytes.min(OTHER_FILES_BYTES_MAX.saturating_sub(need.other_files_bytes));
        need.other_files_bytes = need.other_files_bytes.saturating_add(added_bytes);
        added_bytes > 0
    }

    /// Lowers the need of a trial by `excess_bytes`, the page cache of the target beyond the bound.
    /// The need for other files is lowered first, because their pages were evicted. Returns whether
    /// there was a need.
    fn lower_need(&mut self, trial: TrialIndex, excess_bytes: u64) -> bool {
        let Some(need) = self.need_by_trial.get_mut(&trial).filter(|need| need.total_bytes() > 0) else {
            return false;
        };
        let of_processes_bytes = excess_bytes.saturating_sub(need.other_files_bytes);
        need.other_files_bytes = need.other_files_bytes.saturating_sub(excess_bytes);
        need.process_bytes = need.process_bytes.saturating_sub(of_processes_bytes);
        true
    }

    fn need(&self, trial: TrialIndex) -> MemoryNeed {
        self.need_by_trial.get(&trial).copied().unwrap_or_default()
    }
}

/// The bytes of a target that are missing from memory in the steady state, and possible causes,
/// summed over all groups of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shortfall {
    group_count: u64,
    /// Bytes of the target that are not in memory although the bounds have room for them.
    short_bytes: u64,
    /// Page cache of other files that is charged to the groups and not included in their need.
    other_files_bytes: u64,
    /// Memory of processes beyond their need.
    pinned_bytes: u64,
    /// Bytes that could still be charged to the groups within their limits.
    free_bytes: u64,
}

impl Shortfall {
    /// The shortfall of `groups` groups; the limit of each group is the bound plus the need.
    fn new(
        bound: &MemoryFacts,
        need: MemoryNeed,
        groups: u64,
        resident_bytes: u64,
        held: GroupMemory,
    ) -> Shortfall {
        let of_all = |bytes: u64| bytes.saturating_mul(groups);
        let granted_bytes = of_all(bound.cache_bytes).min(bound.working_set_bytes);
        let limit_bytes = of_all(bound.cache_bytes.saturating_add(need.total_bytes()));
        let held_bytes = held.cache_bytes.saturating_add(held.other_bytes);
        Shortfall {
            group_count: groups,
            short_bytes: granted_bytes.saturating_sub(resident_bytes),
            other_files_bytes: held
                .cache_bytes
                .saturating_sub(resident_bytes)
                .saturating_sub(of_all(need.other_files_bytes)),
            pinned_bytes: held.other_bytes.saturating_sub(of_all(need.process_bytes)),
            free_bytes: limit_bytes.saturating_sub(held_bytes),
        }
    }

    /// Bytes of the target that are missing because pages of other files use the memory. Free
    /// memory has another cause: whole folios were evicted, or, if much is free, the contender does
    /// not fill its group.
    fn taken_bytes(&self) -> u64 {
        if self.free_bytes > (EVICTED_FOLIOS_MAX * FOLIO_BYTES_MAX).saturating_mul(self.group_count) {
            return 0;
        }
        self.short_bytes.saturating_sub(self.free_bytes).min(self.other_files_bytes)
    }

    /// A warning that the steady share is far below its bound, because of other files or without a
    /// known cause; `None` if it is not.
    fn warning_words(&self, bound: &MemoryFacts) -> Option<String> {
        let taken_bytes = self.taken_bytes();
        if share(taken_bytes, bound.cache_bytes) > REPORTED_PINNED_SHARE_MIN {
            let taken = Bytes(taken_bytes).binary_text();
            return Some(format!("its other files take {taken} of the bound of {}", bound.bound));
        }
        let explained_bytes = self.other_files_bytes.saturating_add(self.pinned_bytes);
        let unexplained_bytes = self.short_bytes.saturating_sub(explained_bytes);
        let by_folios = byte_share(EVICTED_FOLIOS_MAX * FOLIO_BYTES_MAX, bound);
        let share_min = REPORTED_SHORTFALL_SHARE_MIN.max(STATE_TOLERANCE + by_folios);
        (byte_share(unexplained_bytes, bound) > share_min).then(|| {
            format!(
                "under the bound of {} the page cache keeps {} less of the target than there is room for, and \
                 nothing else takes its place: the kernel evicts more than it must",
                bound.bound,
                Bytes(unexplained_bytes).binary_text()
            )
        })
    }
}

/// The state after an untimed reading.
#[derive(Debug, Clone, Copy, PartialEq)]
struct StateAfterReading {
    /// Share of the working set that is in memory.
    resident_share: f64,
    /// Share of the pages of the working set that were read again; `None` if that is not counted.
    refault_share: Option<f64>,
}

impl StateAfterReading {
    fn has_same_share(&self, other: &StateAfterReading) -> bool {
        (self.resident_share - other.resident_share).abs() <= SHARE_TOLERANCE
    }

    fn has_same_refaults(&self, other: &StateAfterReading) -> bool {
        let alike = |one: f64, two: f64| {
            (one - two).abs() <= REFAULT_NOISE_SHARE.max(REFAULT_TOLERANCE_RATIO * one.max(two))
        };
        self.refault_share.zip(other.refault_share).is_none_or(|(one, two)| alike(one, two))
    }
}

/// Decides whether untimed readings have reached a steady state.
#[derive(Debug, Default)]
struct SteadinessTracker {
    /// The steady state that the trial had before, if it was read before.
    known_steady: Option<StateAfterReading>,
    readings: Vec<StateAfterReading>,
}

impl SteadinessTracker {
    /// Adds the state after a reading; returns whether the state is steady: the share in memory
    /// equals that of the reading before, and the number of refaults equals that of any earlier
    /// reading, because readings with the same share may alternate between more and fewer refaults.
    /// The steady state before an earlier turn of the trial counts as such a reading, too.
    fn add(&mut self, reading: StateAfterReading) -> bool {
        let mut before = self.readings.last().into_iter().chain(&self.known_steady);
        let mut earlier = self.readings.iter().chain(&self.known_steady);
        let is_steady = before.any(|other| reading.has_same_share(other))
            && earlier.any(|other| reading.has_same_refaults(other));
        self.readings.push(reading);
        is_steady
    }

    fn reading_count(&self) -> u32 {
        u32::try_from(self.readings.len()).unwrap_or(u32::MAX)
    }

    fn is_exhausted(&self) -> bool {
        self.reading_count() >= UNTIMED_READINGS_MAX
    }

    fn describe(&self) -> String {
        let last = &self.readings[self.readings.len().saturating_sub(4)..];
        let has_steady_share = last.windows(2).all(|two| two[1].has_same_share(&two[0]));
        let refaults: Option<Vec<f64>> = last.iter().map(|reading| reading.refault_share).collect();
        let (what, last) = match refaults.filter(|_| has_steady_share) {
            Some(refaults) => ("that was read again", refaults),
            None => ("in memory", last.iter().map(|reading| reading.resident_share).collect()),
        };
        let last: Vec<String> = last.into_iter().map(percent).collect();
        let (count, last) = (self.reading_count(), last.join(", "));
        format!(
            "the share of the target {what} was not steady after {count} untimed readings: at last {last}"
        )
    }
}

/// A steady state under a bound, right before a reading that counts.
pub(super) struct SteadyState {
    pub(super) residency: ResidencyProof,
    proof: PressedProof,
    counters: GroupCounters,
    working_set_bytes: u64,
    /// Share of the working set for which the bounds of all groups have room; may be above 1.
    granted_share: f64,
    /// Names of processes outside of the lab that may keep pages charged to other groups; `None` if
    /// there are none.
    other_holders: Option<String>,
}

/// A turn under a bound, with what its groups counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PressedTurn {
    pub(super) proof: PressedProof,
    pub(super) counters: GroupCounters,
    /// Share of the working set in memory after the turn.
    pub(super) after_share: f64,
    /// Share of the working set for which the bounds of all groups have room; may be above 1.
    pub(super) granted_share: f64,
    pub(super) other_holders: Option<String>,
}

impl PressedTurn {
    /// The meters of the turn; a missing one becomes a note.
    pub(super) fn meters(&self, notes: &mut Notes) -> [(Meter, Option<u64>); 3] {
        let GroupCounters { refaults, pages_scanned, stall_ns, .. } = self.counters;
        let mut meter = |meter: Meter, value: Option<u64>, why: &str| {
            (meter, notes.value_or_note(meter.name(), value.ok_or(why)))
        };
        [
            meter(Meter::Refaults, refaults, "the kernel does not count refaults by control group"),
            meter(Meter::PagesScanned, pages_scanned, "the kernel does not count pages that it scans"),
            meter(
                Meter::MemoryStallNs,
                stall_ns,
                "version 1 of control groups, or a kernel without PSI: see memory_pressure_ns of the turn",
            ),
        ]
    }

    /// Why the reading was not in the steady state; `None` if it was.
    pub(super) fn violation(&self) -> Option<String> {
        let PressedProof { steady_share, before_share, elsewhere_share, .. } = self.proof;
        if elsewhere_share > STATE_TOLERANCE {
            let who =
                self.other_holders.as_deref().unwrap_or("no process that this user can inspect has it open");
            return Some(format!(
                "{} of the target were in memory before the reading and charged to other control groups: {who}",
                percent(elsewhere_share)
            ));
        }
        if before_share > self.granted_share + STATE_TOLERANCE {
            return Some(format!(
                "{} of the target were in memory before the reading, and the bound has room for {}",
                percent(before_share),
                percent(self.granted_share)
            ));
        }
        let is_far = |share: f64| (share - steady_share).abs() > STATE_TOLERANCE;
        let shares = [("before", before_share), ("after", self.after_share)];
        let (when, share) = shares.into_iter().find(|(_, share)| is_far(*share))?;
        Some(format!(
            "{} of the target were in memory {when} the reading, and {} in the steady state",
            percent(share),
            percent(steady_share)
        ))
    }
}

impl ProcessSampler<'_> {
    /// Makes the pressed state of a trial: bounds the memory of its processes, evicts the target,
    /// and makes the contender read it untimed until the state is steady.
    pub(super) fn make_pressed_state(&mut self, trial: &Trial) -> Result<SteadyState, SampleError> {
        let Some(bound) = self.trials.memory_bound(trial.index).cloned() else {
            return Err(TrialEnd::failed("it has no bound on memory".to_owned()).into());
        };
        let groups = self.pool.session(trial.index)?.groups.count();
        check_memory_available(&bound, groups, self.pressed.need(trial.index).total_bytes())?;
        self.report_small_bound(trial.index, &bound);
        let evicted = self.state_maker().make_cold(trial);
        evicted.map_err(|error| self.with_other_holders(trial.index, error))?;
        let mut limit_bytes = self.set_limit(trial.index, &bound)?;
        let granted_bytes = bound.cache_bytes.saturating_mul(groups);
        let known = self.pressed.steady_readings.get(&trial.index).copied();
        let mut steadiness = SteadinessTracker { known_steady: known, ..SteadinessTracker::default() };
        // If the target is a part of a file, the kernel may also read other parts of the file.
        let is_whole = self.trials.target_of(trial.index).target.part.is_none();
        let (reading, state, shortfall) = loop {
            let before = self.group_state(trial.index)?.counters;
            let untimed = self.take_untimed_turn(trial, 1);
            untimed.map_err(|error| self.with_thrash_words(trial.index, &bound, before, error))?;
            let left = self.counted_residency(trial.index)?;
            let state = self.group_state(trial.index)?;
            let reading = StateAfterReading {
                resident_share: byte_share(left.resident_bytes(), &bound),
                refault_share: state.counters.since(before).refaults.map(|pages| page_share(pages, &bound)),
            };
            let is_steady = steadiness.add(reading);
            let charged_bytes = state.memory.cache_bytes.min(left.resident_bytes());
            let excess_bytes = charged_bytes.saturating_sub(granted_bytes) / groups.max(1);
            // Processes that need less than was measured leave the difference to the page cache.
            let is_beyond = byte_share(excess_bytes, &bound) > SHARE_TOLERANCE;
            let need = self.pressed.need(trial.index);
            let shortfall = Shortfall::new(&bound, need, groups, left.resident_bytes(), state.memory);
            let taken_bytes = shortfall.taken_bytes();
            let is_short = is_whole
                && !trial.bypasses_cache()
                && byte_share(taken_bytes, &bound) > TAKEN_SHARE_MIN
                && steadiness.reading_count() <= RAISING_READINGS_MAX;
            let is_changed = (is_beyond && self.pressed.lower_need(trial.index, excess_bytes))
                || (is_steady
                    && is_short
                    && self.pressed.raise_need(trial.index, taken_bytes / groups.max(1)));
            if is_changed {
                limit_bytes = self.set_limit(trial.index, &bound)?;
            } else if is_steady {
                break (reading, state, shortfall);
            }
            if steadiness.is_exhausted() {
                return Err(SampleError::Unproven(steadiness.describe()));
            }
        };
        self.pressed.steady_readings.insert(trial.index, reading);
        let keeps_target = is_whole && !trial.bypasses_cache() && reading.resident_share > SHARE_TOLERANCE;
        // A small share is no shortfall in two cases: if several readers read one file, its pages may
        // be charged to the group of a single reader; and a command may read only a part of the file.
        if keeps_target && groups == 1 && !trial.work.may_read_part() {
            self.report_shortfall(trial, &bound, &shortfall);
        }
        let residency = self.counted_residency(trial.index)?;
        let elsewhere_bytes = residency.resident_bytes().saturating_sub(state.memory.cache_bytes_max);
        let elsewhere_share = byte_share(elsewhere_bytes, &bound);
        let target = self.trials.target_of(trial.index);
        let other_holders =
            (elsewhere_share > STATE_TOLERANCE).then(|| names_of_other_holders(target)).flatten();
        let proof = PressedProof {
            steady_share: reading.resident_share,
            before_share: byte_share(residency.resident_bytes(), &bound),
            untimed_readings: steadiness.reading_count(),
            limit_bytes: limit_bytes.saturating_mul(groups),
            process_bytes: self.pressed.need(trial.index).total_bytes().saturating_mul(groups),
            non_cache_bytes: 0,
            elsewhere_share,
        };
        let (counters, working_set_bytes) = (state.counters, bound.working_set_bytes);
        let granted_share = byte_share(granted_bytes, &bound);
        Ok(SteadyState { residency, proof, counters, working_set_bytes, granted_share, other_holders })
    }

    /// Adds to an error of eviction the names of processes outside of this lab that have the target
    /// open.
    fn with_other_holders(&self, trial: TrialIndex, error: SampleError) -> SampleError {
        match (error, names_of_other_holders(self.trials.target_of(trial))) {
            (SampleError::Unproven(reason), Some(holders)) => {
                SampleError::Unproven(format!("{reason}: {holders}"))
            }
            (error, _) => error,
        }
    }

    /// The turn under its bound, from the counters of its groups and from `after`, the residency
    /// after the turn.
    pub(super) fn observe_pressed(
        &mut self,
        trial: TrialIndex,
        steady: SteadyState,
        after: Option<&ResidencyProof>,
    ) -> Result<PressedTurn, SampleError> {
        let GroupState { memory, counters } = self.group_state(trial)?;
        let Some(after) = after else {
            return Err(SampleError::Unproven("what is in memory after the reading is not known".to_owned()));
        };
        let proof = PressedProof { non_cache_bytes: memory.other_bytes, ..steady.proof };
        let uncertain_bytes = memory.cache_bytes_max.saturating_sub(memory.cache_bytes);
        self.report_pinned_memory(trial, &proof, uncertain_bytes)?;
        Ok(PressedTurn {
            proof,
            counters: counters.since(steady.counters),
            after_share: share(after.resident_bytes(), steady.working_set_bytes),
            granted_share: steady.granted_share,
            other_holders: steady.other_holders,
        })
    }

    /// Warns once of processes that keep more memory than was measured.
    fn report_pinned_memory(
        &mut self,
        trial: TrialIndex,
        proof: &PressedProof,
        uncertain_bytes: u64,
    ) -> Result<(), SampleError> {
        let groups = self.pool.session(trial)?.groups.count();
        let process_bytes = self.pressed.need(trial).process_bytes.saturating_mul(groups);
        let Some(words) = pinned_words(proof, process_bytes, uncertain_bytes) else { return Ok(()) };
        if self.pressed.reported_pinned.insert(trial) {
            let id = &self.trials.trial(trial).id;
            self.notes.warn(format!("{id}: {words}"));
        }
        Ok(())
    }

    /// Warns once of a steady share that is far below its bound because of other files, or without
    /// a known cause.
    fn report_shortfall(&mut self, trial: &Trial, bound: &MemoryFacts, shortfall: &Shortfall) {
        let Some(words) = shortfall.warning_words(bound) else { return };
        if self.pressed.reported_short.insert(trial.index) {
            self.notes.warn(format!("{}: {words}", trial.id));
        }
    }

    /// Warns once of a bound that is smaller than the processes of a trial, before it is in force.
    fn report_small_bound(&mut self, trial: TrialIndex, bound: &MemoryFacts) {
        let need_bytes = self.pressed.need(trial).process_bytes;
        let Some(words) = small_bound_words(need_bytes, bound) else { return };
        if self.pressed.reported_small.insert(trial) {
            let id = &self.trials.trial(trial).id;
            self.notes.warn(format!("{id}: {words}"));
        }
    }

    /// Sets the limit of each group of a trial to the bound plus the measured need of its processes
    /// and of other files; returns that limit in bytes. If processes already need more than the
    /// limit, this is an error, because the kernel would kill them.
    fn set_limit(&mut self, trial: TrialIndex, bound: &MemoryFacts) -> Result<u64, SampleError> {
        let groups = &self.pool.session(trial)?.groups;
        let limit_bytes = bound.cache_bytes.saturating_add(self.pressed.need(trial).total_bytes());
        let held_bytes = groups.max_bytes_beside_cache().map_err(|error| group_failed(&error))?;
        if held_bytes >= limit_bytes {
            return Err(TrialEnd::failed(format!(
                "its processes hold {}, and its control group may have {} with the bound of {}: the kernel \
                 would kill them for memory",
                Bytes(held_bytes).binary_text(),
                Bytes(limit_bytes).binary_text(),
                bound.bound
            ))
            .into());
        }
        groups.set_limit(limit_bytes).map_err(|error| group_failed(&error))?;
        Ok(limit_bytes)
    }

    fn group_state(&mut self, trial: TrialIndex) -> Result<GroupState, SampleError> {
        let state = self.pool.session(trial)?.groups.combined_state();
        state.map_err(|error| group_failed(&error).into())
    }

    /// The residency of a target, counted page by page; an error if pages can only be probed,
    /// because a probe may read pages.
    fn counted_residency(&self, trial: TrialIndex) -> Result<ResidencyProof, SampleError> {
        let target = self.trials.target_of(trial);
        let proof = target.residency().map_err(SampleError::Unproven)?;
        if matches!(proof.means, ResidencyMeans::Probe | ResidencyMeans::Lookup) {
            let reason = "what is in memory under a bound must be counted page by page, and the kernel does \
                          so only for files that this user owns or may write";
            return Err(TrialEnd::Trial(Outcome::Unavailable { reason: reason.to_owned() }).into());
        }
        Ok(proof)
    }

    /// Adds to the error of a trial that its process was killed because its group had no memory
    /// left; any other error is unchanged.
    pub(super) fn with_group_kill(&mut self, trial: TrialIndex, error: SampleError) -> SampleError {
        let SampleError::TrialEnd(TrialEnd::Trial(Outcome::Failed { reason })) = &error else { return error };
        let Some(bound) = self.trials.memory_bound(trial).cloned() else { return error };
        let has_kill = self.group_state(trial).is_ok_and(|state| state.counters.oom_kills > 0);
        if !has_kill {
            return error;
        }
        let need_bytes = self.pressed.need(trial).total_bytes();
        TrialEnd::failed(format!(
            "killed for memory (OOM): its control group may have {} for the page cache and the {} that it \
             needed when it was measured, and it needs more ({reason})",
            Bytes(bound.cache_bytes).binary_text(),
            Bytes(need_bytes).binary_text()
        ))
        .into()
    }

    /// Adds to the error of a reading that thrashed how often it read its working set again; any
    /// other error is unchanged.
    fn with_thrash_words(
        &mut self,
        trial: TrialIndex,
        bound: &MemoryFacts,
        before: GroupCounters,
        error: SampleError,
    ) -> SampleError {
        let SampleError::TrialEnd(TrialEnd::Trial(Outcome::Failed { reason })) = &error else { return error };
        let refaults = self.group_state(trial).ok().and_then(|state| state.counters.since(before).refaults);
        match refaults.and_then(|pages| thrash_words(pages, bound)) {
            Some(words) => TrialEnd::failed(format!("{reason}; {words}")).into(),
            None => error,
        }
    }

    /// Runs `read`. For a trial with a bound, measures during `read` how much memory its processes
    /// need.
    pub(super) fn watch_memory_need<T>(
        &mut self,
        trial: TrialIndex,
        read: impl FnOnce(&mut Self) -> Result<T, SampleError>,
    ) -> Result<T, SampleError> {
        if self.trials.memory_bound(trial).is_none() {
            return read(self);
        }
        let watch = self.pool.session(trial)?.groups.watch();
        let result = read(self);
        self.pressed.note_need(trial, watch.end());
        result
    }
}

impl CacheBeforeAfter {
    /// Why a reading under a bound does not count.
    pub(super) fn pressed_violation(&self) -> Option<String> {
        match &self.pressed {
            Some(turn) => turn.violation(),
            None => Some(format!("the {} state was not made", CacheState::Pressed)),
        }
    }
}

/// Refuses a bound if the machine, or an enclosing control group, has too little memory for
/// `groups` groups with it.
fn check_memory_available(bound: &MemoryFacts, groups: u64, need_bytes: u64) -> Result<(), TrialEnd> {
    let available_bytes = MachineMemory::read().cacheable_now_bytes();
    let of_all = |bytes: u64| bytes.saturating_mul(groups);
    let cache_bytes = of_all(bound.cache_bytes).min(bound.working_set_bytes);
    let wanted_bytes = cache_bytes.saturating_add(of_all(need_bytes));
    if wanted_bytes <= available_bytes {
        return Ok(());
    }
    let reason = format!(
        "a bound of {} cannot be filled: only {} of memory are available",
        bound.bound,
        Bytes(available_bytes).binary_text()
    );
    Err(TrialEnd::Trial(Outcome::Unavailable { reason }))
}

/// A warning that a bound is smaller than processes that need `need_bytes`; `None` if it is not.
fn small_bound_words(need_bytes: u64, bound: &MemoryFacts) -> Option<String> {
    (need_bytes > bound.cache_bytes).then(|| {
        format!(
            "the bound of {} is smaller than its processes, which need {} besides the page cache: if they need a \
             little more, the kernel kills them for memory",
            bound.bound,
            Bytes(need_bytes).binary_text()
        )
    })
}

/// A warning that processes keep more memory than was measured, by more than the uncertainty of the
/// groups' counts; `None` if they do not.
fn pinned_words(proof: &PressedProof, process_bytes: u64, uncertain_bytes: u64) -> Option<String> {
    let cache_bytes = proof.limit_bytes.saturating_sub(proof.process_bytes);
    let pinned_bytes = proof.non_cache_bytes.saturating_sub(process_bytes);
    let certain_bytes = pinned_bytes.saturating_sub(uncertain_bytes);
    (share(certain_bytes, cache_bytes) > REPORTED_PINNED_SHARE_MIN).then(|| {
        format!(
            "its processes hold {} more than the {} that they needed when they were measured, so the page cache \
             has less than the {} of its bound",
            Bytes(pinned_bytes).binary_text(),
            Bytes(process_bytes).binary_text(),
            Bytes(cache_bytes).binary_text()
        )
    })
}

fn group_failed(error: &io::Error) -> TrialEnd {
    TrialEnd::failed(format!("its control group: {error}"))
}

/// The names of processes outside of this lab that have the target open or mapped; `None` if there
/// are none.
fn names_of_other_holders(target: &MeasuredTarget) -> Option<String> {
    let now = Processes::now();
    let own = now.family(std::process::id());
    let holders = target.holders(&now, &now.all_except(&own));
    let named =
        holders.iter().take(NAMED_HOLDERS_MAX).map(|holder| format!("{holder} has it {}", holder.hold));
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| named.join(", "))
}

/// A sentence on how often a reading under a bound read its working set again; `None` if it did not
/// thrash.
fn thrash_words(refaults: u64, bound: &MemoryFacts) -> Option<String> {
    let times = page_share(refaults, bound);
    let again = Bytes(refaults.saturating_mul(page_bytes())).binary_text();
    (times >= THRASH_TIMES_MIN).then(|| {
        format!("under the bound of {} it read {again} again, {times:.0} times its working set", bound.bound)
    })
}

fn byte_share(bytes: u64, bound: &MemoryFacts) -> f64 {
    share(bytes, bound.working_set_bytes)
}

fn page_share(pages: u64, bound: &MemoryFacts) -> f64 {
    byte_share(pages.saturating_mul(page_bytes()), bound)
}

fn share(bytes: u64, of_bytes: u64) -> f64 {
    bytes as f64 / of_bytes.max(1) as f64
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::target::memory::MemoryBound;

    fn reading(share: f64, refaults: f64) -> StateAfterReading {
        StateAfterReading { resident_share: share, refault_share: Some(refaults) }
    }

    /// The number of the reading, from 1, after which the state is steady; `None` if it never is.
    fn readings_until_steady(
        known: Option<StateAfterReading>,
        readings: &[StateAfterReading],
    ) -> Option<usize> {
        let mut steadiness = SteadinessTracker { known_steady: known, ..SteadinessTracker::default() };
        readings.iter().position(|reading| steadiness.add(*reading)).map(|at| at + 1)
    }

    #[test]
    fn a_state_is_steady_if_two_readings_leave_and_read_again_as_much() {
        let filling = [reading(0.49, 0.0), reading(0.50, 0.9), reading(0.49, 0.95)];
        assert_eq!(readings_until_steady(None, &filling), Some(3));
        assert_eq!(readings_until_steady(None, &filling[..1]), None, "one reading shows no change");
        let growing = [reading(0.1, 0.0), reading(0.2, 0.0), reading(0.3, 0.0), reading(0.31, 0.0)];
        assert_eq!(readings_until_steady(None, &growing), Some(4));
        assert_eq!(readings_until_steady(None, &[reading(0.0, 0.0); 2]), Some(2), "past the page cache");
        let by_turns = [reading(0.25, 0.0), reading(0.25, 1.0), reading(0.25, 1.6), reading(0.25, 1.03)];
        assert_eq!(readings_until_steady(None, &by_turns), Some(4), "as many pages again as once before");
        let uncounted =
            [0.4, 0.41].map(|share| StateAfterReading { resident_share: share, refault_share: None });
        assert_eq!(readings_until_steady(None, &uncounted), Some(2));
    }

    #[test]
    fn a_known_steady_state_is_found_again_sooner() {
        let known = Some(reading(0.49, 0.95));
        assert_eq!(readings_until_steady(known, &[reading(0.49, 0.0), reading(0.5, 0.93)]), Some(2));
        assert_eq!(readings_until_steady(Some(reading(1.0, 0.0)), &[reading(1.0, 0.0)]), Some(1));
    }

    #[test]
    fn a_state_that_never_settles_is_described() {
        let mut steadiness = SteadinessTracker::default();
        let mut shares = (0..).map(|number| if number % 2 == 0 { 0.2 } else { 0.4 });
        while !steadiness.is_exhausted() {
            assert!(!steadiness.add(reading(shares.next().unwrap(), 0.0)));
        }
        let said = steadiness.describe();
        assert!(
            said.ends_with("after 16 untimed readings: at last 20.0 %, 40.0 %, 20.0 %, 40.0 %"),
            "{said}"
        );
        let mut steadiness = SteadinessTracker::default();
        for number in 0..4 {
            assert!(!steadiness.add(reading(0.25, f64::from(1 << number))));
        }
        let said = steadiness.describe();
        assert!(said.contains("that was read again was not steady after 4 untimed"), "{said}");
        assert!(said.ends_with("at last 100.0 %, 200.0 %, 400.0 %, 800.0 %"), "{said}");
    }

    fn pressed_turn(before_share: f64, after_share: f64, elsewhere_share: f64) -> PressedTurn {
        let proof =
            PressedProof { steady_share: 0.5, before_share, elsewhere_share, ..PressedProof::default() };
        PressedTurn { proof, after_share, granted_share: 0.5, ..PressedTurn::default() }
    }

    fn bound(cache_bytes: u64, working_set_bytes: u64) -> MemoryFacts {
        let bound = MemoryBound::Bytes(cache_bytes);
        MemoryFacts { bound, cache_bytes, working_set_bytes, is_shared: false }
    }

    #[test]
    fn a_share_in_memory_for_which_the_bound_has_no_room_does_not_count() {
        let mut held = pressed_turn(0.594, 0.594, 0.0);
        held.proof.steady_share = 0.594;
        let said = held.violation().unwrap();
        assert_eq!(
            said,
            "59.4 % of the target were in memory before the reading, and the bound has room for 50.0 %"
        );
        // Two groups with the same bound have twice the room.
        held.granted_share = 1.0;
        assert_eq!(held.violation(), None);
    }

    #[test]
    fn a_reading_counts_within_five_points_of_the_steady_state() {
        assert_eq!(pressed_turn(0.46, 0.54, 0.04).violation(), None);
        let said = pressed_turn(0.5, 0.56, 0.0).violation().unwrap();
        assert_eq!(
            said,
            "56.0 % of the target were in memory after the reading, and 50.0 % in the steady state"
        );
        assert!(pressed_turn(0.44, 0.5, 0.0).violation().unwrap().contains("before the reading"));
    }

    #[test]
    fn pages_charged_to_others_are_reported_with_who_holds_them() {
        let held = PressedTurn {
            other_holders: Some("process 7 (tail) has it open".to_owned()),
            ..pressed_turn(0.5, 0.5, 0.31)
        };
        let said = held.violation().unwrap();
        assert!(
            said.starts_with("31.0 % of the target were in memory before the reading and charged to other")
        );
        assert!(said.ends_with("process 7 (tail) has it open"), "{said}");
    }

    #[test]
    fn a_meter_that_the_kernel_does_not_count_gives_its_reason() {
        let mut notes = Notes::default();
        let counters =
            GroupCounters { refaults: Some(3), pages_scanned: Some(9), ..GroupCounters::default() };
        let meters = PressedTurn { counters, ..pressed_turn(0.5, 0.5, 0.0) }.meters(&mut notes);
        let values = meters.map(|(_, value)| value);
        assert_eq!(values, [Some(3), Some(9), None]);
        let missing = notes.take_missing_meters();
        assert_eq!((missing.len(), missing[0].0), (1, "memory_stall_ns"));
    }

    #[test]
    fn a_bound_that_the_machine_cannot_give_is_unavailable() {
        let check = |cache_bytes, groups| check_memory_available(&bound(cache_bytes, u64::MAX), groups, 0);
        assert_eq!(check(4096, 1), Ok(()));
        assert!(check(4096, 1 << 50).is_err(), "of all groups together");
        let said = check(1 << 60, 1).unwrap_err();
        let TrialEnd::Trial(Outcome::Unavailable { reason }) = said else { panic!("{said:?}") };
        assert!(reason.starts_with("a bound of 1073741824GiB cannot be filled"), "{reason}");
    }

    #[test]
    fn a_bound_that_is_smaller_than_the_processes_is_told() {
        let words = |cache_bytes, need_bytes| small_bound_words(need_bytes, &bound(cache_bytes, 1 << 30));
        let said = words(4096, 2 << 20).unwrap();
        assert!(
            said.starts_with("the bound of 4KiB is smaller than its processes, which need 2.00 MiB"),
            "{said}"
        );
        assert!(words((2 << 20) - 4096, 2 << 20).is_some());
        assert_eq!(words(2 << 20, 2 << 20), None, "it is as large");
        assert_eq!(words(4096, 0), None, "nothing was measured yet");
    }

    #[test]
    fn memory_that_processes_keep_beyond_their_need_is_reported_from_a_twentieth_of_the_bound_on() {
        const MIB: u64 = 1 << 20;
        let words = |held_bytes, uncertain_bytes| {
            let (limit_bytes, process_bytes) = (12 * MIB, 2 * MIB);
            let proof = PressedProof {
                limit_bytes,
                process_bytes,
                non_cache_bytes: held_bytes,
                ..PressedProof::default()
            };
            pinned_words(&proof, proof.process_bytes, uncertain_bytes)
        };
        let said = words(3 * MIB, 0).unwrap();
        assert!(
            said.starts_with("its processes hold 1.00 MiB more than the 2.00 MiB that they needed"),
            "{said}"
        );
        assert!(said.ends_with("so the page cache has less than the 10.0 MiB of its bound"), "{said}");
        assert_eq!(words(2 * MIB + MIB / 2, 0), None, "a twentieth");
        assert_eq!(words(3 * MIB, MIB / 2), None, "the groups' counts are uncertain by the other half");
        assert_eq!(words(MIB, 0), None, "less than was measured");
    }

    #[test]
    fn a_reading_that_fails_while_it_thrashes_says_how_often_it_read_its_bytes_again() {
        let bound = MemoryFacts { bound: "50%".parse().unwrap(), ..bound(1 << 19, 1 << 20) };
        let pages = (100 << 20) / page_bytes();
        let said = thrash_words(pages, &bound).unwrap();
        assert_eq!(said, "under the bound of 50% it read 100 MiB again, 100 times its working set");
        assert_eq!(thrash_words(pages / 50, &bound), None, "twice is a bound that is too small");
    }

    #[test]
    fn the_need_of_a_trial_is_the_most_that_was_seen() {
        let (mut pressed, trial) = (PressedTrials::default(), TrialIndex::new(1));
        [30, 50, 20].into_iter().for_each(|bytes| pressed.note_need(trial, bytes));
        let need = |pressed: &PressedTrials| pressed.need(trial).total_bytes();
        assert_eq!((need(&pressed), pressed.need(TrialIndex::new(2)).total_bytes()), (50, 0));
        assert!(pressed.lower_need(trial, 20) && need(&pressed) == 30);
        assert!(pressed.lower_need(trial, 40) && need(&pressed) == 0);
        assert!(!pressed.lower_need(trial, 40) && !pressed.lower_need(TrialIndex::new(2), 1));
    }

    #[test]
    fn the_need_for_pages_of_other_files_is_limited_and_lowered_first() {
        let (mut pressed, trial) = (PressedTrials::default(), TrialIndex::new(1));
        pressed.note_need(trial, 100);
        assert!(pressed.raise_need(trial, 30) && pressed.raise_need(trial, 10));
        assert_eq!(pressed.need(trial), MemoryNeed { process_bytes: 100, other_files_bytes: 40 });
        assert!(pressed.lower_need(trial, 60));
        assert_eq!(pressed.need(trial), MemoryNeed { process_bytes: 80, other_files_bytes: 0 });
        assert!(pressed.raise_need(trial, u64::MAX));
        assert_eq!(pressed.need(trial).other_files_bytes, OTHER_FILES_BYTES_MAX);
        assert!(!pressed.raise_need(trial, 1), "a process that keeps more does so on purpose");
    }

    const MIB: u64 = 1 << 20;

    /// The shortfall of a file of 64 MiB under a bound of 32 MiB and a need of 4 MiB for processes.
    fn shortfall(files_mib: u64, resident_mib: u64, cache_mib: u64, other_mib: u64) -> Shortfall {
        let need = MemoryNeed { process_bytes: 4 * MIB, other_files_bytes: files_mib * MIB };
        let held = GroupMemory {
            cache_bytes: cache_mib * MIB,
            cache_bytes_max: cache_mib * MIB,
            other_bytes: other_mib * MIB,
        };
        Shortfall::new(&bound(32 * MIB, 64 * MIB), need, 1, resident_mib * MIB, held)
    }

    #[test]
    fn what_pages_of_other_files_take_from_the_target_is_added_to_the_need() {
        let taken_mib = |shortfall: Shortfall| shortfall.taken_bytes() / MIB;
        assert_eq!(taken_mib(shortfall(0, 32, 32, 4)), 0, "the target has its bound");
        assert_eq!(taken_mib(shortfall(0, 29, 32, 4)), 3, "3 MiB of the program");
        assert_eq!(taken_mib(shortfall(3, 32, 35, 4)), 0, "which are added");
        assert_eq!(taken_mib(shortfall(0, 27, 30, 4)), 3, "and a folio was evicted");
        assert_eq!(taken_mib(shortfall(3, 30, 33, 4)), 0, "the folio is lacking still, and is no reason");
        assert_eq!(taken_mib(shortfall(0, 28, 28, 4)), 0, "two folios are free");
        assert_eq!(taken_mib(shortfall(0, 28, 28, 8)), 0, "the processes hold more");
        assert_eq!(taken_mib(shortfall(0, 0, 3, 4)), 0, "past the page cache the group is not full");
        assert_eq!(
            taken_mib(shortfall(0, 32, 35, 1)),
            0,
            "what the processes leave is enough for the program"
        );
        let all_fits = Shortfall::new(
            &bound(128 * MIB, 64 * MIB),
            MemoryNeed::default(),
            1,
            64 * MIB,
            GroupMemory { cache_bytes: 70 * MIB, cache_bytes_max: 70 * MIB, other_bytes: MIB },
        );
        assert_eq!((all_fits.short_bytes, all_fits.taken_bytes()), (0, 0));
        // Two readers, each in its own group: bounds, needs and pages are summed.
        let need = MemoryNeed { process_bytes: 4 * MIB, other_files_bytes: MIB };
        let held = GroupMemory { cache_bytes: 34 * MIB, cache_bytes_max: 34 * MIB, other_bytes: 8 * MIB };
        let of_two = Shortfall::new(&bound(16 * MIB, 64 * MIB), need, 2, 28 * MIB, held);
        assert_eq!((of_two.short_bytes, of_two.other_files_bytes), (4 * MIB, 4 * MIB));
        assert_eq!((of_two.free_bytes, of_two.taken_bytes()), (0, 4 * MIB));
        let held = GroupMemory { cache_bytes: 26 * MIB, cache_bytes_max: 26 * MIB, other_bytes: 8 * MIB };
        let of_two = Shortfall::new(&bound(16 * MIB, 64 * MIB), need, 2, 20 * MIB, held);
        assert_eq!((of_two.free_bytes, of_two.taken_bytes()), (8 * MIB, 4 * MIB), "folios of each group");
    }

    #[test]
    fn a_share_far_below_its_bound_is_told_if_the_processes_do_not_take_its_place() {
        let words = |it: Shortfall| it.warning_words(&bound(32 * MIB, 64 * MIB));
        let said = words(shortfall(0, 22, 22, 4)).unwrap();
        assert!(said.contains("keeps 10.0 MiB less of the target than there is room for"), "{said}");
        assert_eq!(words(shortfall(0, 24, 24, 4)), None, "four folios of a small file");
        let said = words(shortfall(0, 22, 32, 4)).unwrap();
        assert_eq!(said, "its other files take 10.0 MiB of the bound of 32MiB");
        assert_eq!(words(shortfall(0, 31, 32, 4)), None, "1 MiB of other files");
        assert_eq!(words(shortfall(0, 22, 22, 14)), None, "10 MiB of the processes, which is told otherwise");
        let large = Shortfall { short_bytes: 12 * MIB, ..shortfall(0, 32, 32, 4) };
        assert!(large.warning_words(&bound(50 * MIB, 100 * MIB)).is_some(), "12 points");
        assert_eq!(large.warning_words(&bound(100 * MIB, 200 * MIB)), None, "6 points");
    }
}
