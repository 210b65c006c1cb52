//! Repeats a turn a few times until its cache state is proven.

use super::interface::{SampleError, Sampler, Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::TrialIndex;
use readlab_record::Outcome;

/// Largest number of tries of a turn whose cache state cannot be proven.
pub(super) const PROOF_TRIES: u32 = 4;

/// Takes the samples of a turn, or returns how the trial ended. Calls `rejected` with the reason
/// after each try whose state was not proven; this callback may repair the state before the next
/// try.
pub(super) fn take_until_proven<E>(
    sampler: &mut dyn Sampler,
    trial: TrialIndex,
    slot: &Slot,
    mut rejected: impl FnMut(&mut dyn Sampler, String) -> Result<(), E>,
) -> Result<Result<Vec<Sample>, TrialEnd>, E> {
    let mut last = String::new();
    for _ in 0..PROOF_TRIES {
        match sampler.take_turn(trial, slot) {
            Ok(samples) => return Ok(Ok(samples)),
            Err(SampleError::TrialEnd(end)) => return Ok(Err(end)),
            Err(SampleError::Unproven(reason)) => {
                rejected(sampler, reason.clone())?;
                last = reason;
            }
        }
    }
    let reason = format!("the {} state could not be proven in {PROOF_TRIES} tries: {last}", slot.state);
    Ok(Err(TrialEnd::Trial(Outcome::Refused { reason })))
}
