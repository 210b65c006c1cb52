//! The files of a plan made warm, each by the standard fill. What a fill is lives in
//! [`crate::measure::cache`]; what to do about processes that keep pages where they are, in
//! `holding`.

use super::ProcessSampler;
use crate::measure::cache::{CacheError, FILL, FILL_OVER, Filled};
use crate::measure::interface::TrialEnd;
use crate::measure::target::MeasuredTarget;
use crate::record::{Fill, Line};

/// How often the cache is filled before a file counts as one that cannot be warm.
const FILL_TRIES: u32 = 4;

impl<'a> ProcessSampler<'a> {
    /// Every file among the targets, once, however many of them are read from it.
    pub(super) fn files(&self) -> impl Iterator<Item = &MeasuredTarget<'a>> {
        let first = |at: usize, subject: &MeasuredTarget| {
            !self.subjects[..at].iter().any(|it| it.shares_file(subject))
        };
        let files = self.subjects.iter().enumerate().filter(|(_, subject)| subject.cache().is_some());
        files.filter(move |(at, subject)| first(*at, subject)).map(|(_, subject)| subject)
    }

    /// Every file filled; the fill of the first, and those of the others as notes.
    pub(super) fn fill_all(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        let targets: Vec<usize> = self.files().map(|subject| subject.index).collect();
        let filled: Result<Vec<_>, _> =
            targets.into_iter().map(|target| self.fill_one(target, fill)).collect();
        let mut fills = filled.map_err(|error| TrialEnd::Trial(super::cache_outcome(&error)))?;
        let first = fills.remove(0);
        self.notes.extend(fills.into_iter().map(Line::Fill));
        Ok(first)
    }

    /// Fills what is missing of one file, again if something takes pages away meanwhile.
    pub(super) fn fill_again(&mut self, target: usize) -> Result<(), CacheError> {
        let mut tried = 1;
        loop {
            match self.page_cache(target).fill() {
                Err(CacheError::NotFilled { .. }) if tried < FILL_TRIES => tried += 1,
                filled => return filled.map(drop),
            }
        }
    }

    /// The standard fill of one file, again if something took pages away meanwhile. Pages that
    /// somebody else keeps in memory are filled around, which the fill says.
    fn fill_one(&mut self, target: usize, fill: u32) -> Result<Fill, CacheError> {
        let mut tried = 1;
        let (Filled { wall_ns, proof }, how) = loop {
            let how = match self.evict(target) {
                Ok(_) | Err(CacheError::RamBacked { .. }) => Ok(FILL),
                Err(CacheError::Remains { .. }) if tried == FILL_TRIES || self.is_kept_by_others() => {
                    Ok(FILL_OVER)
                }
                Err(error) => Err(error),
            };
            let filled = how.and_then(|how| Ok((self.page_cache(target).fill_evicted()?, how)));
            match filled {
                Err(CacheError::NotFilled { .. } | CacheError::Remains { .. }) if tried < FILL_TRIES => {
                    tried += 1
                }
                filled => break filled?,
            }
        };
        Ok(Fill { fill, target, how: how.to_owned(), wall_ns, resident_after: proof.share() })
    }
}
