//! The confidence of a comparison with a trial that was chosen from several.
//!
//! The first was chosen because it looked fast, so it is slower than its readings: at 95 %, every
//! tenth of eight identical trials and every sixth of thirty would be called slower. So the error
//! is divided by the number of comparisons (Dunn, *Multiple Comparisons among Means*, Journal of
//! the American Statistical Association 56, 1961), by [`COMPARISONS_MAX`] at most: simulated races
//! show that this is enough.

use crate::interval::Confidence;

/// With more comparisons, the share that is called slower by chance hardly grows.
const COMPARISONS_MAX: usize = 7;

/// The confidence of each of so many comparisons with a trial that was chosen because it looked
/// fast.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
pub(crate) fn confidence_against_chosen(comparisons: usize) -> Confidence {
    Confidence::with_error(Confidence::REPORTED.error() / comparisons.clamp(1, COMPARISONS_MAX) as f64)
}
