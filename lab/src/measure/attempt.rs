//! A turn from a proven state, taken again a few times while the state cannot be proven.

use super::interface::{SampleError, Sampler, TrialEnd};
use crate::record::{Outcome, Sample};
use crate::trial::CacheState;

/// How often a turn is taken whose state could not be proven.
const TRIES: u32 = 4;

/// The samples of a turn, or the ending that it brought. Of every try whose state was not proven
/// `rejected` hears the reason, and may mend the state before the next.
///
/// # Errors
/// Only those of `rejected`.
pub(super) fn proven<E>(
    sampler: &mut dyn Sampler,
    (trial, state): (usize, CacheState),
    mut rejected: impl FnMut(&mut dyn Sampler, String) -> Result<(), E>,
) -> Result<Result<Vec<Sample>, TrialEnd>, E> {
    let mut last = String::new();
    for _ in 0..TRIES {
        match sampler.turn(trial, state) {
            Ok(samples) => return Ok(Ok(samples)),
            Err(SampleError::TrialEnd(ending)) => return Ok(Err(ending)),
            Err(SampleError::Unproven(reason)) => {
                rejected(sampler, reason.clone())?;
                last = reason;
            }
        }
    }
    let reason = format!("the {state} state could not be proven in {TRIES} tries: {last}");
    Ok(Err(TrialEnd::Trial(Outcome::Refused { reason })))
}
