//! The interval of ten values that earlier versions of the lab drew: a bootstrap of their median
//! over fills, widened by Student's t, and never narrower than over single values or than the
//! interval of the sign test.

use super::noise::Noise;
use crate::pairs::median;
use readlab_analysis::stats::Observation;
use std::collections::BTreeMap;

const RESAMPLES: usize = 400;

/// Half the width of the interval.
pub(super) fn half_width(ten: &[Observation]) -> f64 {
    let mut values: Vec<f64> = ten.iter().map(|it| it.value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let singles: Vec<Vec<f64>> = ten.iter().map(|it| vec![it.value]).collect();
    let mut fills: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for it in ten {
        fills.entry(it.fill).or_default().push(it.value);
    }
    let fills: Vec<Vec<f64>> = fills.into_values().collect();
    let reach = reach(&singles).max(reach(&fills));
    let centre = median(&values);
    // The sign test leaves out one of ten values on each side.
    let (low, high) = (values[1].min(centre - reach), values[values.len() - 2].max(centre + reach));
    (high - low) / 2.0
}

/// Student's t times the deviation of the medians of resampled groups.
#[expect(clippy::cast_precision_loss, reason = "ten groups at most")]
fn reach(groups: &[Vec<f64>]) -> f64 {
    let mut noise = Noise::new(1);
    let k = groups.len();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of ten groups")]
    let mut draw = || (noise.uniform() * k as f64) as usize;
    let mut resample = || median(&(0..k).flat_map(|_| groups[draw()].clone()).collect::<Vec<f64>>());
    let medians: Vec<f64> = (0..RESAMPLES).map(|_| resample()).collect();
    let mean = medians.iter().sum::<f64>() / RESAMPLES as f64;
    let squares: f64 = medians.iter().map(|it| (it - mean).powi(2)).sum();
    let deviation = (squares / (RESAMPLES as f64 - 1.0)).sqrt();
    // Ten values, or the three fills of four rounds that ten rounds have.
    let t = if k == 3 { 4.303 } else { 2.262 };
    t * (k as f64 / (k as f64 - 1.0)).sqrt() * deviation
}
