//! The states of the page cache: the files of a plan made cold or warm, and proven.
//!
//! What a state is and how it is made lives in [`crate::cache`]; what is done about
//! processes that keep pages in memory, in `holder_search`.

use super::holder_search::{EvictRequest, HolderSearch, KnownHolders, is_kept};
use super::notes::Notes;
use super::session_pool::SessionPool;
use super::trials::Trials;
use crate::cache::{CacheError, FILL, FILL_OF_MISSING, FILL_OVER, Filled, TargetCache};
use crate::holders::{Hold, Processes};
use crate::interface::{SampleError, TrialEnd};
use crate::residency::ResidencyProof;
use crate::target::CacheControl;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::{Fill, Line, Outcome, Trial};
use std::time::Duration;

/// How often a file is filled before it counts as one that cannot be warm.
const FILL_TRIES: u32 = 4;

/// How often it is checked whether a contender has released the file, with doubling pauses from
/// [`FIRST_PAUSE`]: some runtimes close a file in a thread of their own, after they have answered.
const RELEASE_CHECKS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Makes states and knows which processes keep pages in memory.
#[derive(Default)]
pub(super) struct CacheStates {
    holders: KnownHolders,
    /// The number of the last fill that was complete.
    filled: Option<u32>,
}

impl CacheStates {
    /// Brings the cache into the state that a trial's turn starts from; what is resident then.
    ///
    /// The warm state was made by the last fill. The cold state is proven by its eviction: another
    /// proof would bring pages back where residency is probed.
    pub(super) fn prepare(
        &mut self,
        trial: &Trial,
        trials: &Trials,
        pool: &mut SessionPool,
        notes: &mut Notes,
    ) -> Result<Option<ResidencyProof>, SampleError> {
        let target = trials.target_of(trial.index);
        match (trial.state, target.cache()) {
            _ if trials.leaves_cache_alone(trial) => Ok(None),
            (CacheState::Cold, Some(_)) => self.make_cold(trial, trials, pool, notes).map(Some),
            _ => Ok(notes.value("resident_before", target.resident())),
        }
    }

    /// The state before a cold turn: nothing resident. A method past the page cache is measured
    /// even where pages stay: its bytes come from the device all the same, which is proven after
    /// the turn.
    fn make_cold(
        &mut self,
        trial: &Trial,
        trials: &Trials,
        pool: &mut SessionPool,
        notes: &mut Notes,
    ) -> Result<ResidencyProof, SampleError> {
        let was_running = pool.has(trial.index);
        let evicted = self.evict(EvictRequest::for_reading(trial.target), trials, pool, notes);
        self.check_not_refused(trial.index)?;
        if was_running && !pool.has(trial.index) {
            let reason = "its process was ended to find out which process keeps pages of the file in memory";
            return Err(SampleError::Unproven(reason.to_owned()));
        }
        match evicted {
            Err(CacheError::Remains { proof, .. }) if trial.bypasses_cache() => Ok(proof),
            evicted => Ok(evicted?),
        }
    }

    /// Evicts the file of a target. Where pages stay, the process that keeps them is searched for.
    fn evict(
        &mut self,
        request: EvictRequest,
        trials: &Trials,
        pool: &mut SessionPool,
        notes: &mut Notes,
    ) -> Result<ResidencyProof, CacheError> {
        let evicted = request.done(trials);
        let target = trials.target(request.target);
        match target.cache_control.identity() {
            Some(file) if is_kept(&evicted) => {
                let now = Processes::now();
                let known = &mut self.holders;
                HolderSearch { known, trials, pool, notes, target, file, now, request }.evict_after(evicted)
            }
            _ => evicted,
        }
    }

    /// Fills every file of the plan, or what was evicted since the last fill if this one has its
    /// number; the fill of the first file. The fills of the others become notes.
    pub(super) fn fill_all(
        &mut self,
        fill: u32,
        trials: &Trials,
        pool: &mut SessionPool,
        notes: &mut Notes,
    ) -> Result<Fill, TrialEnd> {
        let is_again = self.filled.take() == Some(fill);
        let mut fills = Vec::new();
        for target in trials.files().map(|file| file.index) {
            let is_of_many = matches!(trials.target(target).cache_control, CacheControl::Tree { .. });
            let refilled = (is_again && is_of_many).then(|| trials.page_cache(target).refill());
            let (filled, how) = match refilled {
                Some(Ok(filled)) => (filled, FILL_OF_MISSING),
                Some(Err(CacheError::NotFilled { .. })) | None => {
                    self.fill_one(target, trials, pool, notes)?
                }
                Some(Err(error)) => return Err(error.into()),
            };
            let resident_after = filled.proof.share();
            fills.push(Fill { fill, target, how: how.to_owned(), wall_ns: filled.wall_ns, resident_after });
        }
        self.filled = Some(fill);
        let first = fills.remove(0);
        fills.into_iter().for_each(|fill| notes.add(Line::Fill(fill)));
        Ok(first)
    }

    /// The standard fill of one file, repeated if pages were evicted meanwhile, and how it was
    /// done. Pages that another program keeps in memory stay, and the rest is filled around them.
    fn fill_one(
        &mut self,
        target: usize,
        trials: &Trials,
        pool: &mut SessionPool,
        notes: &mut Notes,
    ) -> Result<(Filled, &'static str), CacheError> {
        let mut tries = 1;
        loop {
            let how = match self.evict(EvictRequest::to_fill(target), trials, pool, notes) {
                Ok(_) | Err(CacheError::RamBacked { .. }) => Ok(FILL),
                Err(CacheError::Remains { .. }) if tries == FILL_TRIES || self.holders.are_others() => {
                    Ok(FILL_OVER)
                }
                Err(error) => Err(error),
            };
            match how.and_then(|how| Ok((trials.page_cache(target).fill_evicted()?, how))) {
                Err(CacheError::NotFilled { .. } | CacheError::Remains { .. }) if tries < FILL_TRIES => {
                    tries += 1;
                }
                filled => return filled,
            }
        }
    }

    /// Makes a target warm again, once more if pages are evicted meanwhile.
    pub(super) fn refill(cache: &dyn TargetCache) -> Result<(), CacheError> {
        let mut tries = 1;
        loop {
            match cache.refill() {
                Err(CacheError::NotFilled { .. }) if tries < FILL_TRIES => tries += 1,
                filled => return filled.map(drop),
            }
        }
    }

    /// That a trial was seen to keep the file between turns.
    pub(super) fn refusal(&self, trial: TrialIndex) -> Option<Outcome> {
        self.holders.refusal(trial)
    }

    /// Ends a trial that was seen to keep the file between turns.
    pub(super) fn check_not_refused(&self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.refusal(trial).map_or(Ok(()), |refused| Err(TrialEnd::Trial(refused)))
    }

    /// Checks once, after the first turn of a contender, that it has released the file as
    /// PROTOCOL.md says.
    pub(super) fn check_released(
        &mut self,
        trial: &Trial,
        trials: &Trials,
        pool: &mut SessionPool,
    ) -> Result<(), TrialEnd> {
        let target = trials.target_of(trial.index);
        let opens_file = !target.target.facts.transport().has_server() && !trial.is_control();
        let processes = pool.processes_of(trial.index);
        if !opens_file || processes.is_empty() || !self.holders.is_first_check(trial.index) {
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
                pool.close(trial.index);
                self.holders.refuse_holder(trial.index, &target.target.facts.path, holder);
                return self.check_not_refused(trial.index);
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Fixture;
    use super::*;
    use crate::cache::{Eviction, PageCache};
    use crate::round::testing::{COLD, WARM};

    #[test]
    fn every_file_is_filled_once_and_proven() {
        let fixture = Fixture::with_file(&[b'a'; 70_000]);
        let trials = fixture.trials(&[("a", WARM), ("b", WARM)]);
        let (mut pool, mut notes) = (SessionPool::default(), Notes::default());
        let fill = CacheStates::default().fill_all(3, &trials, &mut pool, &mut notes).unwrap();
        assert_eq!((fill.fill, fill.target, fill.resident_after), (3, 0, Some(1.0)));
        assert!(notes.take_lines().is_empty(), "one file has one fill");
    }

    #[test]
    fn the_fill_of_the_last_number_fills_only_what_was_evicted_since() {
        let fixture = Fixture::with_files(3, &[b'a'; 9000]);
        let trials = fixture.trials(&[("a", WARM)]);
        let (mut pool, mut notes) = (SessionPool::default(), Notes::default());
        let mut states = CacheStates::default();
        let mut fill = |number| states.fill_all(number, &trials, &mut pool, &mut notes).unwrap();
        assert_eq!(fill(0).how, FILL);
        let second = PageCache::open(&fixture.path().join("1"), Eviction::OfFile).unwrap();
        second.evict().unwrap();
        let again = fill(0);
        assert_eq!((again.fill, again.how.as_str(), again.resident_after), (0, FILL_OF_MISSING, Some(1.0)));
        assert!(second.resident().unwrap().is_warm());
        assert_eq!(fill(1).how, FILL, "another number is another fill");
        let fixture = Fixture::with_file(&[b'a'; 9000]);
        let trials = fixture.trials(&[("a", WARM)]);
        let mut fill = |number| states.fill_all(number, &trials, &mut pool, &mut notes).unwrap();
        assert_eq!([fill(2).how, fill(2).how], [FILL; 2], "a single file is filled as a whole");
    }

    #[test]
    fn a_warm_state_is_only_looked_at() {
        let fixture = Fixture::with_file(&[b'a'; 70_000]);
        let trials = fixture.trials(&[("a", WARM)]);
        let (mut pool, mut notes) = (SessionPool::default(), Notes::default());
        let mut states = CacheStates::default();
        states.fill_all(0, &trials, &mut pool, &mut notes).unwrap();
        let proof = states.prepare(trials.trial(TrialIndex::new(0)), &trials, &mut pool, &mut notes).unwrap();
        assert!(proof.is_some_and(|proof| proof.is_warm()), "{proof:?}");
    }

    #[test]
    fn behind_a_foreign_server_no_state_is_made_and_its_absence_is_noted() {
        let fixture = Fixture::of_size(1);
        let trials = fixture.trials(&[("a", COLD)]);
        let (mut pool, mut notes) = (SessionPool::default(), Notes::default());
        let mut states = CacheStates::default();
        let proof = states.prepare(trials.trial(TrialIndex::new(0)), &trials, &mut pool, &mut notes).unwrap();
        assert_eq!(proof, None);
        assert_eq!(notes.take_missing().len(), 1);
        assert_eq!(states.refusal(TrialIndex::new(0)), None);
    }
}
