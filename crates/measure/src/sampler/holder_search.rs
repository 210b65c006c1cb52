//! The search for a process that keeps pages of a file in memory and so makes eviction fail for all
//! trials.
//!
//! A contender of this run that keeps pages breaks PROTOCOL.md: its trial is refused, its process
//! is ended, and the other trials go on. Another program is named once in a warning, and trials
//! that it does not prevent are measured. [`crate::holders`] finds out which process holds a file;
//! [`crate::cache`] defines how often eviction is tried.

use super::cache_states::StateMaker;
use crate::cache::{CacheError, TargetCache};
use crate::holders::{Hold, Holder, Processes};
use crate::residency::ResidencyProof;
use crate::target::MeasuredTarget;
use readlab_model::target::identity::Identity;
use readlab_model::trial::TrialIndex;
use readlab_record::Outcome;
use readlab_system::process::may_be_inspected;
use readlab_system::terminal::printable::display_path;
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of searches in a run for an unknown holder; a search takes seconds. The first
/// search only reads /proc. Later searches also end contenders, one by one, and try to evict the
/// pages after each.
const SEARCHES_MAX: u32 = 4;

/// A trial is refused once pages have become evictable this many times when its contender was
/// ended. A single time may be chance.
const SUSPICIONS_TO_REFUSE: u32 = 2;

/// Largest number of other programs that one warning names.
const NAMED_PROGRAMS_MAX: usize = 3;

#[derive(Default)]
pub(super) struct KnownHolders {
    /// Trials whose contenders were checked after their first turn.
    checked_trials: BTreeSet<TrialIndex>,
    /// Trials that are refused for keeping the file, with the reason.
    refusal_reasons: BTreeMap<TrialIndex, String>,
    /// How often pages became evictable when the contender of a trial was ended.
    suspicions: BTreeMap<TrialIndex, u32>,
    /// Processes of other programs that were named in a warning.
    named_processes: BTreeSet<u32>,
    search_count: u32,
}

impl KnownHolders {
    /// The refusal of a trial that was seen to keep the file between turns.
    pub(super) fn refusal(&self, trial: TrialIndex) -> Option<Outcome> {
        self.refusal_reasons.get(&trial).map(|reason| Outcome::Refused { reason: reason.clone() })
    }

    /// Whether pages are known to stay because of another program.
    pub(super) fn has_holding_programs(&self) -> bool {
        !self.named_processes.is_empty()
    }

    pub(super) fn mark_checked(&mut self, trial: TrialIndex) -> bool {
        self.checked_trials.insert(trial)
    }

    /// Refuses a trial because a process of its contender holds the file of this path.
    pub(super) fn refuse_holder(&mut self, trial: TrialIndex, path: &str, holder: &Holder) {
        let why = match holder.hold {
            Hold::Mapped => "so the cache cannot be emptied for any trial",
            Hold::Open => "which the contract forbids",
        };
        let path = holder.file.as_deref().map_or_else(|| path.to_owned(), display_path);
        let reason = format!("it keeps {path} {} between turns ({holder}), {why}", holder.hold);
        self.refusal_reasons.insert(trial, reason);
    }

    /// Counts how often pages of the file at this path became evictable when a trial's contender
    /// was ended, and refuses the trial at [`SUSPICIONS_TO_REFUSE`].
    fn suspect(&mut self, trial: TrialIndex, path: &str) {
        let suspicions = self.suspicions.entry(trial).or_default();
        *suspicions += 1;
        if *suspicions == SUSPICIONS_TO_REFUSE {
            let reason = format!(
                "pages of {path} could be evicted only when its process was ended, {SUSPICIONS_TO_REFUSE} times: it keeps them in \
                 memory between turns"
            );
            self.refusal_reasons.insert(trial, reason);
        }
    }
}

/// An eviction: for a cold reading, or before a fill.
pub(super) type EvictFn = fn(&dyn TargetCache) -> Result<ResidencyProof, CacheError>;

pub(super) struct HolderSearch<'m, 's, 'a> {
    pub(super) state_maker: &'m mut StateMaker<'s, 'a>,
    pub(super) target: &'s MeasuredTarget<'a>,
    pub(super) file: Identity,
    pub(super) processes: Processes,
    pub(super) evict: EvictFn,
}

impl<'a> HolderSearch<'_, '_, 'a> {
    /// Searches after an eviction that left pages; contenders of this run that keep pages are
    /// ended, and their trials refused. Returns the proof of the last eviction.
    pub(super) fn search_and_evict(
        &mut self,
        mut evicted: Result<ResidencyProof, CacheError>,
    ) -> Result<ResidencyProof, CacheError> {
        if self.end_own_holders() {
            evicted = self.evict();
        }
        let named_still_hold = || {
            !self.processes.holders(&self.state_maker.states.holders.named_processes, &self.file).is_empty()
        };
        if !leaves_pages(&evicted)
            || named_still_hold()
            || self.state_maker.states.holders.search_count == SEARCHES_MAX
        {
            return evicted;
        }
        self.state_maker.states.holders.search_count += 1;
        if self.warn_of_other_holders() || self.state_maker.states.holders.search_count == 1 {
            return evicted;
        }
        let evicted = self.evict_without_contenders();
        if leaves_pages(&evicted) && self.state_maker.states.holders.search_count == 2 {
            let path = self.path();
            self.state_maker.notes.warn(format!(
                "{path}: some of its pages stay in the cache, and no process that this user can inspect has them mapped"
            ));
        }
        evicted
    }

    fn evict(&self) -> Result<ResidencyProof, CacheError> {
        (self.evict)(self.state_maker.trials.page_cache(self.target.index))
    }

    fn path(&self) -> &'a str {
        &self.target.target.facts.path
    }

    /// The running contenders that read this file: each trial with its processes.
    fn contenders(&self) -> Vec<(TrialIndex, u32)> {
        let mut running = self.state_maker.pool.all_process_ids();
        running.retain(|(trial, _)| self.state_maker.trials.target_of(*trial).shares_file(self.target));
        running
    }

    /// Refuses every trial of which a contender process, or a descendant of one, has the file
    /// mapped, and ends these processes. Returns whether there was any.
    fn end_own_holders(&mut self) -> bool {
        let mut any = false;
        for (trial, process) in self.contenders() {
            let holders = self.processes.holders(&self.processes.family(process), &self.file);
            let Some(first) = holders.iter().find(|holder| holder.hold == Hold::Mapped) else { continue };
            self.state_maker.pool.close_session(trial);
            self.state_maker.states.holders.refuse_holder(
                trial,
                &self.state_maker.trials.facts(trial).path,
                first,
            );
            // A process that left the process group of its contender does not end with it.
            holders.iter().filter(|holder| holder.pid != process).for_each(Holder::kill);
            any = true;
        }
        any
    }

    /// Names other programs that have the file mapped, each once in a run; returns whether there
    /// are any.
    fn warn_of_other_holders(&mut self) -> bool {
        let own = BTreeSet::from([std::process::id()]);
        let others = self.processes.others_that_map(&own, &self.file);
        if others.is_empty() {
            return false;
        }
        let named =
            others.iter().take(NAMED_PROGRAMS_MAX).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let more = match others.len().saturating_sub(NAMED_PROGRAMS_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let has = if others.len() == 1 { "has" } else { "have" };
        let path = self.path();
        self.state_maker.notes.warn(format!(
            "{path}: {named}{more} {has} it mapped, so its pages cannot be evicted: methods through the page cache have no \
             cold state, and the cache is filled around the pages that stay"
        ));
        self.state_maker.states.holders.named_processes.extend(others.iter().map(|other| other.pid));
        true
    }

    /// Ends one running contender after the other until the pages can be evicted: suspects first,
    /// then contenders whose processes this user may not inspect. Ended contenders are started
    /// again before their next turn. If the end of the same contender releases the pages again, its
    /// trial is refused.
    fn evict_without_contenders(&mut self) -> Result<ResidencyProof, CacheError> {
        let mut running = self.contenders();
        running.sort_by_key(|(trial, process)| {
            (!self.state_maker.states.holders.suspicions.contains_key(trial), may_be_inspected(*process))
        });
        for (trial, _) in running {
            self.state_maker.pool.close_session(trial);
            let evicted = self.evict();
            if !leaves_pages(&evicted) {
                self.state_maker.states.holders.suspect(trial, &self.state_maker.trials.facts(trial).path);
                return evicted;
            }
        }
        self.evict()
    }
}

pub(super) fn leaves_pages(evicted: &Result<ResidencyProof, CacheError>) -> bool {
    matches!(evicted, Err(CacheError::PagesRemain { .. }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::FIRST_TRIAL;
    use super::*;

    #[test]
    fn a_holder_is_refused_with_how_it_holds_the_file() {
        let mut known = KnownHolders::default();
        assert_eq!(known.refusal(FIRST_TRIAL), None);
        let program = "keeper".to_owned();
        let holder = Holder { pid: 7, handle: None, program, hold: Hold::Mapped, file: None };
        known.refuse_holder(FIRST_TRIAL, "/data", &holder);
        let reason = "it keeps /data mapped between turns (process 7 (keeper)), so the cache cannot be emptied for any trial";
        assert_eq!(known.refusal(FIRST_TRIAL), Some(Outcome::Refused { reason: reason.to_owned() }));
        assert_eq!(known.refusal(TrialIndex::new(2)), None);
    }

    #[test]
    fn one_suspicion_refuses_no_trial() {
        let mut known = KnownHolders::default();
        known.suspect(FIRST_TRIAL, "/data");
        assert_eq!(known.refusal(FIRST_TRIAL), None);
        known.suspect(FIRST_TRIAL, "/data");
        assert!(known.refusal(FIRST_TRIAL).is_some());
        assert!(known.mark_checked(FIRST_TRIAL) && !known.mark_checked(FIRST_TRIAL));
    }
}
