//! Conversions between whole numbers and floats, sums, and sorting.

/// A count, a time in nanoseconds or a size as a float: exact below 2^53, which is 104 days or 9
/// PB.
pub fn float(value: u64) -> f64 {
    value as f64
}

/// The arithmetic mean; NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / count_as_float(values.len())
}

/// The values in rising order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

pub(crate) fn sum_of_squares_about_mean(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// A number of elements as a float.
pub fn count_as_float(n: usize) -> f64 {
    n as f64
}

/// The nearest whole number; 0 for a negative value.
pub fn whole(value: f64) -> u64 {
    value.round() as u64
}
