//! The states of the page cache: the files of a plan made cold or warm, and proven.
//!
//! What a state is and how it is made lives in [`crate::cache`]; what is done about
//! processes that keep pages in memory, in `holder_search`.

use super::holder_search::{Evict, HolderSearch, KnownHolders, is_kept};
use super::notes::Notes;
use super::session_pool::SessionPool;
use super::trials::Trials;
use crate::cache::{CacheError, FILL, FILL_OF_MISSING, FILL_OVER, Filled};
use crate::holders::{Hold, Processes};
use crate::interface::{SampleError, TrialEnd};
use crate::residency::ResidencyProof;
use crate::target::CacheControl;
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_record::{Fill, Line, Trial};
use std::time::Duration;

/// How often a file is filled before it counts as one that cannot be warm.
const FILL_TRIES: u32 = 4;

/// How often it is checked whether a contender has released the file, with doubling pauses from
/// [`FIRST_PAUSE`]: some runtimes close a file in a thread of their own, after they have answered.
const RELEASE_CHECKS: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

/// Which processes keep pages in memory, and what was filled.
#[derive(Default)]
pub(super) struct CacheStates {
    pub(super) holders: KnownHolders,
    filled: Option<u32>,
}

impl CacheStates {
    pub(super) fn check_not_refused(&self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.holders.refusal(trial).map_or(Ok(()), |refused| Err(TrialEnd::Trial(refused)))
    }
}

/// Makes states, with the parts of the sampler that it takes to do so.
pub(super) struct StateMaker<'s, 'a> {
    pub(super) states: &'s mut CacheStates,
    pub(super) trials: &'s Trials<'a>,
    pub(super) pool: &'s mut SessionPool,
    pub(super) notes: &'s mut Notes,
}

impl StateMaker<'_, '_> {
    /// Brings the cache into the state that a trial's turn starts from; what is resident then.
    ///
    /// The warm state was made by the last fill. The cold state is proven by its eviction: another
    /// proof would bring pages back where residency is probed.
    pub(super) fn prepare(&mut self, trial: &Trial) -> Result<Option<ResidencyProof>, SampleError> {
        let target = self.trials.target_of(trial.index);
        match (trial.state, target.cache()) {
            _ if self.trials.leaves_cache_alone(trial) => Ok(None),
            (CacheState::Cold, Some(_)) => self.make_cold(trial).map(Some),
            _ => Ok(self.notes.value("resident_before", target.resident())),
        }
    }

    /// The state before a cold turn: nothing resident. A method past the page cache is measured
    /// even where pages stay: its bytes come from the device all the same, which is proven after
    /// the turn.
    fn make_cold(&mut self, trial: &Trial) -> Result<ResidencyProof, SampleError> {
        let was_running = self.pool.has(trial.index);
        let evicted = self.evict(trial.target, |cache| cache.evict());
        self.states.check_not_refused(trial.index)?;
        if was_running && !self.pool.has(trial.index) {
            let reason = "its process was ended to find out which process keeps pages of the file in memory";
            return Err(SampleError::Unproven(reason.to_owned()));
        }
        match evicted {
            Err(CacheError::Remains { proof, .. }) if trial.bypasses_cache() => Ok(proof),
            evicted => Ok(evicted?),
        }
    }

    /// Evicts the file of a target. Where pages stay, the process that keeps them is searched for.
    fn evict(&mut self, target: usize, evict: Evict) -> Result<ResidencyProof, CacheError> {
        let evicted = evict(self.trials.page_cache(target));
        let measured = self.trials.target(target);
        match measured.cache_control.identity() {
            Some(file) if is_kept(&evicted) => {
                let now = Processes::now();
                HolderSearch { maker: self, target: measured, file, now, evict }.evict_after(evicted)
            }
            _ => evicted,
        }
    }

    /// Fills every file of the plan, or what was evicted since the last fill if this one has its
    /// number; the fill of the first file. The fills of the others become notes.
    pub(super) fn fill_all(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        let is_again = self.states.filled.take() == Some(fill);
        let mut fills = Vec::new();
        let trials = self.trials;
        for file in trials.files() {
            let target = file.index;
            let is_of_many = matches!(file.cache_control, CacheControl::Tree { .. });
            let refilled = (is_again && is_of_many).then(|| trials.page_cache(target).refill());
            let (filled, how) = match refilled {
                Some(Ok(filled)) => (filled, FILL_OF_MISSING),
                Some(Err(CacheError::NotFilled { .. })) | None => self.fill_one(target)?,
                Some(Err(error)) => return Err(error.into()),
            };
            let resident_after = filled.proof.share();
            fills.push(Fill { fill, target, how: how.to_owned(), wall_ns: filled.wall_ns, resident_after });
        }
        self.states.filled = Some(fill);
        let first = fills.remove(0);
        fills.into_iter().for_each(|fill| self.notes.add(Line::Fill(fill)));
        Ok(first)
    }

    /// The standard fill of one file, repeated if pages were evicted meanwhile, and how it was
    /// done. Pages that another program keeps in memory stay, and the rest is filled around them.
    fn fill_one(&mut self, target: usize) -> Result<(Filled, &'static str), CacheError> {
        let mut tries = 1;
        loop {
            let how = match self.evict(target, |cache| cache.evict_to_fill()) {
                Ok(_) | Err(CacheError::RamBacked { .. }) => Ok(FILL),
                Err(CacheError::Remains { .. })
                    if tries == FILL_TRIES || self.states.holders.are_others() =>
                {
                    Ok(FILL_OVER)
                }
                Err(error) => Err(error),
            };
            match how.and_then(|how| Ok((self.trials.page_cache(target).fill_evicted()?, how))) {
                Err(CacheError::NotFilled { .. } | CacheError::Remains { .. }) if tries < FILL_TRIES => {
                    tries += 1;
                }
                filled => return filled,
            }
        }
    }

    /// Makes a target warm again, once more if pages are evicted meanwhile.
    pub(super) fn refill(&self, target: usize) -> Result<(), CacheError> {
        let mut tries = 1;
        loop {
            match self.trials.page_cache(target).refill() {
                Err(CacheError::NotFilled { .. }) if tries < FILL_TRIES => tries += 1,
                filled => return filled.map(drop),
            }
        }
    }

    /// Checks once, after the first turn of a contender, that it has released the file as
    /// PROTOCOL.md says.
    pub(super) fn check_released(&mut self, trial: &Trial) -> Result<(), TrialEnd> {
        let target = self.trials.target_of(trial.index);
        let opens_file = !target.target.facts.transport().has_server() && !trial.is_control();
        let processes = self.pool.processes_of(trial.index);
        if !opens_file || processes.is_empty() || !self.states.holders.is_first_check(trial.index) {
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
                self.pool.close(trial.index);
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
    use super::super::testing::Fixture;
    use super::*;
    use crate::cache::{Eviction, PageCache, TargetCache};
    use crate::round::testing::{COLD, WARM};

    /// What a maker of states says that has made none, and what it noted.
    fn made<T>(trials: &Trials, make: impl FnOnce(&mut StateMaker) -> T) -> (T, Notes) {
        let (mut states, mut pool, mut notes) =
            (CacheStates::default(), SessionPool::default(), Notes::default());
        let made = make(&mut StateMaker { states: &mut states, trials, pool: &mut pool, notes: &mut notes });
        (made, notes)
    }

    #[test]
    fn every_file_is_filled_once_and_proven_and_a_warm_state_is_only_looked_at() {
        let fixture = Fixture::with_file(&[b'a'; 70_000]);
        let trials = fixture.trials(&[("a", WARM), ("b", WARM)]);
        let ((fill, before), mut notes) =
            made(&trials, |maker| (maker.fill_all(3).unwrap(), maker.prepare(trials.nth(0)).unwrap()));
        assert_eq!((fill.fill, fill.target, fill.resident_after), (3, 0, Some(1.0)));
        assert!(notes.take_lines().is_empty(), "one file has one fill");
        assert!(before.is_some_and(|proof| proof.is_warm()), "{before:?}");
    }

    #[test]
    fn the_fill_of_the_last_number_fills_only_what_was_evicted_since() {
        let fixture = Fixture::with_files(3, &[b'a'; 9000]);
        made(&fixture.trials(&[("a", WARM)]), |maker| {
            let mut fill = |number| maker.fill_all(number).unwrap();
            assert_eq!(fill(0).how, FILL);
            let second = PageCache::open(&fixture.path().join("1"), Eviction::OfFile).unwrap();
            second.evict().unwrap();
            let again = fill(0);
            let shown = (again.fill, again.how.as_str(), again.resident_after);
            assert_eq!(shown, (0, FILL_OF_MISSING, Some(1.0)));
            assert!(second.resident().unwrap().is_warm());
            assert_eq!(fill(1).how, FILL, "another number is another fill");
        });
        let fixture = Fixture::with_file(&[b'a'; 9000]);
        made(&fixture.trials(&[("a", WARM)]), |maker| {
            let fills = [2, 2].map(|number| maker.fill_all(number).unwrap().how);
            assert_eq!(fills, [FILL; 2], "a single file is filled as a whole");
        });
    }

    #[test]
    fn behind_a_foreign_server_no_state_is_made_and_its_absence_is_noted() {
        let fixture = Fixture::of_size(1);
        let trials = fixture.trials(&[("a", COLD)]);
        let (proof, mut notes) = made(&trials, |maker| maker.prepare(trials.nth(0)).unwrap());
        assert_eq!((proof, notes.take_missing().len()), (None, 1));
    }
}
