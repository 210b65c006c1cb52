//! The states of the page cache: makes the files of a plan cold or warm, and proves it.
//!
//! [`crate::cache`] defines the states and makes them; `holder_search` handles processes that keep
//! pages in memory.

use super::holder_search::{EvictFn, HolderSearch, KnownHolders, leaves_pages};
use super::notes::Notes;
use super::session_pool::SessionPool;
use super::trials::Trials;
use crate::cache::{CacheError, FILL_OF_EVICTED_FILES, FILL_WITHOUT_EVICTION, FillResult, STANDARD_FILL};
use crate::holders::{Hold, Processes};
use crate::interface::{SampleError, TrialEnd};
use crate::names_cache::FILL_OF_NAMES;
use crate::residency::ResidencyProof;
use crate::target::CacheControl;
use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::{Fill, Line, Trial};
use std::time::Duration;

/// Number of tries to fill a file before it counts as impossible to make warm.
const FILL_TRIES: u32 = 4;

/// Number of checks whether a contender has released the file, with doubling pauses from
/// [`FIRST_PAUSE`]: some runtimes close a file in another thread after they have answered.
const RELEASE_CHECKS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Processes that keep pages in memory, and the number of the last fill.
#[derive(Default)]
pub(super) struct CacheStateHistory {
    pub(super) holders: KnownHolders,
    last_fill_number: Option<u32>,
}

impl CacheStateHistory {
    /// Makes the next fill a full fill, even if it has the number of the last fill.
    pub(super) fn forget_fill(&mut self) {
        self.last_fill_number = None;
    }

    pub(super) fn check_not_refused(&self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.holders.refusal(trial).map_or(Ok(()), |refused| Err(TrialEnd::Trial(refused)))
    }
}

/// Makes cache states, with borrowed parts of the sampler.
pub(super) struct StateMaker<'s, 'a> {
    pub(super) states: &'s mut CacheStateHistory,
    pub(super) trials: &'s Trials<'a>,
    pub(super) pool: &'s mut SessionPool,
    pub(super) notes: &'s mut Notes,
}

impl StateMaker<'_, '_> {
    /// Brings the cache into the state from which a trial's turn starts; returns the pages that are
    /// resident in that state, or `None` if no state is made or the pages cannot be counted.
    ///
    /// The last fill has made the warm state. Only the eviction proves the cold state: if residency
    /// is probed, a second proof would bring pages back.
    pub(super) fn make_state(&mut self, trial: &Trial) -> Result<Option<ResidencyProof>, SampleError> {
        let target = self.trials.target_of(trial.index);
        match (trial.state, target.cache()) {
            _ if self.trials.leaves_cache_alone(trial) => Ok(None),
            (CacheState::Cold, Some(_)) => self.make_cold(trial).map(Some),
            _ => Ok(self.notes.value_or_note("resident_before", target.residency())),
        }
    }

    /// Makes the cold state: no page of the target is resident. For a method that bypasses the page
    /// cache, pages may stay: the meters of the turn prove that its bytes came from the device.
    pub(super) fn make_cold(&mut self, trial: &Trial) -> Result<ResidencyProof, SampleError> {
        let is_time_up = || self.trials.clock.is_wait_over();
        self.trials.page_cache(trial.target).write_file_system(&is_time_up)?;
        let was_running = self.pool.has_session(trial.index);
        let evicted = self.evict(trial.target, |cache| cache.evict());
        self.states.check_not_refused(trial.index)?;
        if was_running && !self.pool.has_session(trial.index) {
            let reason = "its process was ended to find out which process keeps pages of the file in memory";
            return Err(SampleError::Unproven(reason.to_owned()));
        }
        match evicted {
            Err(CacheError::PagesRemain { proof, .. }) if trial.bypasses_cache() => Ok(proof),
            evicted => Ok(evicted?),
        }
    }

    /// Evicts the file of a target. If pages stay, searches for the process that keeps them.
    fn evict(&mut self, target: TargetIndex, evict: EvictFn) -> Result<ResidencyProof, CacheError> {
        let evicted = evict(self.trials.page_cache(target));
        let measured = self.trials.target(target);
        match measured.cache_control.identity() {
            Some(file) if leaves_pages(&evicted) => {
                let processes = Processes::now();
                HolderSearch { state_maker: self, target: measured, file, processes, evict }
                    .search_and_evict(evicted)
            }
            _ => evicted,
        }
    }

    /// Fills every file of the plan; if `fill` is the number of the last fill, only files that lost
    /// pages since then. Returns the fill of the first file; the fills of the others become notes.
    pub(super) fn fill_all(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        let is_again = self.states.last_fill_number.take() == Some(fill);
        let mut fills = Vec::new();
        let trials = self.trials;
        for file in trials.distinct_files() {
            let target = file.index;
            let is_of_many = matches!(file.cache_control, CacheControl::Tree { .. });
            let refilled = (is_again && is_of_many).then(|| trials.page_cache(target).refill());
            let (filled, how) = match refilled {
                Some(Ok(filled)) => (filled, FILL_OF_EVICTED_FILES),
                Some(Err(error)) if !self.may_fill_again(&error) => return Err(error.into()),
                Some(Err(_)) | None => self.fill_one(target)?,
            };
            let finds_names = matches!(file.cache_control, CacheControl::Names { .. });
            let how = if finds_names { FILL_OF_NAMES } else { how };
            let resident_after = filled.proof.resident_share();
            fills.push(Fill { fill, target, how: how.to_owned(), wall_ns: filled.wall_ns, resident_after });
        }
        self.states.last_fill_number = Some(fill);
        let first = fills.remove(0);
        fills.into_iter().for_each(|fill| self.notes.add(Line::Fill(fill)));
        Ok(first)
    }

    /// Fills one file by the standard fill, again if pages were evicted meanwhile, and returns how
    /// it was filled. Pages that another program keeps in memory stay, and the rest is filled
    /// around them.
    fn fill_one(&mut self, target: TargetIndex) -> Result<(FillResult, &'static str), CacheError> {
        let mut tries = 1;
        loop {
            let how = match self.evict(target, |cache| cache.evict_to_fill()) {
                Ok(_) | Err(CacheError::RamBacked { .. }) => Ok(STANDARD_FILL),
                Err(CacheError::PagesRemain { .. })
                    if tries == FILL_TRIES || self.states.holders.has_holding_programs() =>
                {
                    Ok(FILL_WITHOUT_EVICTION)
                }
                Err(error) => Err(error),
            };
            match how.and_then(|how| Ok((self.trials.page_cache(target).fill_evicted()?, how))) {
                Err(CacheError::PagesRemain { .. }) if tries < FILL_TRIES => tries += 1,
                Err(error) if tries < FILL_TRIES && self.may_fill_again(&error) => tries += 1,
                filled => return filled,
            }
        }
    }

    /// Whether a fill that failed is tried again.
    fn may_fill_again(&self, error: &CacheError) -> bool {
        error.may_be_temporary() && !self.trials.clock.is_firm_time_up()
    }

    /// Makes a target warm again, with another try if pages are evicted meanwhile.
    pub(super) fn refill(&self, target: TargetIndex) -> Result<(), CacheError> {
        let mut tries = 1;
        loop {
            match self.trials.page_cache(target).refill() {
                Err(error) if tries < FILL_TRIES && self.may_fill_again(&error) => tries += 1,
                filled => return filled.map(drop),
            }
        }
    }

    /// Checks once, after the first turn of a contender, that it has released the file as
    /// PROTOCOL.md demands.
    pub(super) fn check_file_released(&mut self, trial: &Trial) -> Result<(), TrialEnd> {
        let target = self.trials.target_of(trial.index);
        let opens_file = !target.target.facts.transport().has_server() && !trial.is_control();
        let processes = self.pool.process_ids_of(trial.index);
        if !opens_file || processes.is_empty() || !self.states.holders.mark_checked(trial.index) {
            return Ok(());
        }
        let mut pause = FIRST_PAUSE;
        for check in 1..=RELEASE_CHECKS {
            let now = Processes::now();
            let families = processes.iter().flat_map(|process| now.family(*process)).collect();
            let mut holders = target.holders(&now, &families);
            holders.sort_by_key(|holder| holder.hold == Hold::Open);
            let Some(holder) = holders.first() else { return Ok(()) };
            if check == RELEASE_CHECKS {
                self.pool.close_session(trial.index);
                self.states.holders.refuse_holder(trial.index, &target.target.facts.path, holder);
                return self.states.check_not_refused(trial.index);
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::run_clock::{GRACE_TIME, RunClock};
    use super::super::testing::Fixture;
    use super::*;
    use crate::cache::{EvictionScope, PageCache, TargetCache};
    use crate::plan::Budget;
    use crate::round::testing::{COLD, WARM};
    use crate::target::MeasuredTarget;
    use readlab_model::units::Nanos;
    use readlab_record::EndReason;

    /// The result of `make` on a new `StateMaker`, and its notes.
    fn with_state_maker<T>(trials: &Trials, make: impl FnOnce(&mut StateMaker) -> T) -> (T, Notes) {
        let (mut states, mut pool, mut notes) =
            (CacheStateHistory::default(), SessionPool::default(), Notes::default());
        let result =
            make(&mut StateMaker { states: &mut states, trials, pool: &mut pool, notes: &mut notes });
        (result, notes)
    }

    #[test]
    fn every_file_is_filled_once_and_proven_and_a_warm_state_is_only_inspected() {
        let fixture = Fixture::with_file(&[b'a'; 70_000]);
        let trials = fixture.trials(&[("a", WARM), ("b", WARM)]);
        let ((fill, before), mut notes) = with_state_maker(&trials, |maker| {
            (maker.fill_all(3).unwrap(), maker.make_state(trials.nth_trial(0)).unwrap())
        });
        assert_eq!((fill.fill, fill.target, fill.resident_after), (3, TargetIndex::new(0), Some(1.0)));
        assert!(notes.take_lines().is_empty(), "one file has one fill");
        assert!(before.is_some_and(|proof| proof.is_warm()), "{before:?}");
    }

    #[test]
    fn a_fill_with_the_last_number_fills_only_files_evicted_since() {
        let fixture = Fixture::with_files(3, &[b'a'; 9000]);
        with_state_maker(&fixture.trials(&[("a", WARM)]), |maker| {
            let mut fill = |number| maker.fill_all(number).unwrap();
            assert_eq!(fill(0).how, STANDARD_FILL);
            let second = PageCache::open(&fixture.folder_path().join("1"), EvictionScope::OfFile).unwrap();
            second.evict().unwrap();
            let again = fill(0);
            let shown = (again.fill, again.how.as_str(), again.resident_after);
            assert_eq!(shown, (0, FILL_OF_EVICTED_FILES, Some(1.0)));
            assert!(second.residency().unwrap().is_warm());
            assert_eq!(fill(1).how, STANDARD_FILL, "another number is another fill");
        });
        let fixture = Fixture::with_file(&[b'a'; 9000]);
        with_state_maker(&fixture.trials(&[("a", WARM)]), |maker| {
            let fills = [2, 2].map(|number| maker.fill_all(number).unwrap().how);
            assert_eq!(fills, [STANDARD_FILL; 2], "a single file is filled as a whole");
        });
    }

    #[test]
    fn the_wait_for_written_data_before_names_are_cold_ends_with_the_budget() {
        let fixture = Fixture::with_files(3, b"a");
        let make_cold = |eviction, grace_times: u32| {
            let mut trials = fixture.trials(&[("a", COLD)]);
            let measured = trials.target(TargetIndex::new(0));
            let cache_control = CacheControl::for_names(measured.target.tree().unwrap(), eviction);
            let measured = MeasuredTarget { cache_control, ..*measured };
            trials.replace_target(measured);
            trials.clock = RunClock::start(Budget::Firm(Nanos(1_000_000_000)));
            trials.clock.earlier_time = grace_times * GRACE_TIME;
            let (made, _) = with_state_maker(&trials, |maker| maker.make_cold(trials.nth_trial(0)));
            TrialEnd::from(made.unwrap_err())
        };
        let in_time = make_cold(EvictionScope::OfFile, 0);
        assert!(matches!(in_time, TrialEnd::Trial(_)), "only root may drop names: {in_time:?}");
        assert_eq!(make_cold(EvictionScope::OfSystem, 2), TrialEnd::Run(EndReason::Budget));
    }

    #[test]
    fn behind_a_foreign_server_no_cache_state_is_made_and_that_is_noted() {
        let fixture = Fixture::remote_of_size(1);
        let trials = fixture.trials(&[("a", COLD)]);
        let (proof, mut notes) =
            with_state_maker(&trials, |maker| maker.make_state(trials.nth_trial(0)).unwrap());
        assert_eq!((proof, notes.take_missing_meters().len()), (None, 1));
    }
}
