//! How many digits of a number are shown: as many as its interval allows, and at most three.
//!
//! The uncertainty is half the interval. It is shown with one digit, or with two where it begins
//! with a 1; the number ends at the same place: 19 ± 8, 1.43 ± 0.04, 2.31 ± 0.12. Without an
//! interval a number has two digits.

use readlab_analysis::stats::{Summary, float};
use readlab_model::units::{Nanos, Throughput, Unit};

/// Where a number ends: digits behind the point, or, below zero, zeros before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LastPlace(i32);

impl LastPlace {
    /// The place at which a number with this uncertainty ends.
    pub(super) fn of_interval(value: f64, half_width: Option<f64>) -> LastPlace {
        match half_width {
            None => LastPlace::with_digits(value, 2),
            Some(half) => {
                let at_least_one = LastPlace(-exponent(value));
                LastPlace::of_uncertainty(half).max(at_least_one).min(LastPlace::with_digits(value, 3))
            }
        }
    }

    fn of_uncertainty(half_width: f64) -> LastPlace {
        if half_width <= 0.0 || !half_width.is_finite() {
            return LastPlace(i32::MAX);
        }
        let first = exponent(half_width);
        let begins_with_one = half_width / 10_f64.powi(first) < 2.0;
        LastPlace(i32::from(begins_with_one) - first)
    }

    /// So many digits from the first one; of a number above those, all digits before the point.
    pub(super) fn with_digits(value: f64, digits: i32) -> LastPlace {
        // Half a unit of the last digit may carry: 9.996 is shown as 10.0.
        let rounded = value.abs() * (1.0 + 0.5 * 10_f64.powi(-digits));
        LastPlace((digits - 1 - exponent(rounded)).max(0))
    }

    pub(super) fn next(self) -> LastPlace {
        LastPlace(self.0.saturating_add(1))
    }

    pub(super) fn rounded(self, value: f64) -> f64 {
        let step = 10_f64.powi(-self.0);
        if step > 0.0 && step.is_finite() { (value / step).round() * step } else { value }
    }

    /// The number in digits, up to this place.
    pub(super) fn text(self, value: f64) -> String {
        let decimals = usize::try_from(self.0).unwrap_or(0);
        format!("{:.decimals$}", if self.0 < 0 { self.rounded(value) } else { value })
    }
}

/// A range whose upper end has two digits: `0.9 to 3.1`. The lower end is never shown as zero.
fn range([low, high]: [f64; 2]) -> String {
    let place = LastPlace::with_digits(high, 2);
    let of_low = if place.rounded(low) > 0.0 { place } else { LastPlace::with_digits(low, 1) };
    format!("{} to {}", of_low.text(low), place.text(high))
}

/// The power of ten of the first digit; zero for zero.
fn exponent(value: f64) -> i32 {
    if value > 0.0 && value.is_finite() { value.log10().floor() as i32 } else { 0 }
}

/// Where half the interval is more than this share of the value, the value says nothing without
/// its interval, and the ends are shown instead.
pub(super) const HALF_SHARE_MAX: f64 = 0.5;

/// A measured quantity in a unit that suits it.
pub(super) struct Measured {
    value: f64,
    half_width: Option<f64>,
    ends: Option<[f64; 2]>,
    unit: &'static str,
}

impl Measured {
    /// The median of a time.
    pub(super) fn time(summary: &Summary) -> Measured {
        let Unit { size, name } = Nanos(summary.median).unit();
        let ends = summary.median_ci95.map(|ends| ends.map(|end| float(end) / size));
        let half_width = ends.map(|[low, high]| (high - low) / 2.0);
        Measured { value: float(summary.median) / size, half_width, ends, unit: name }
    }

    /// A rate that follows from a time; `None` for a target of no bytes.
    pub(super) fn rate(throughput: Option<Throughput>, wall: &Summary) -> Option<Measured> {
        let rate = throughput.filter(|rate| rate.0.is_finite())?;
        let Unit { size, name } = rate.unit();
        let (value, median) = (rate.0 / size, float(wall.median.max(1)));
        // The same share as of the time: the inverse of a low end near zero has no use.
        let share = |[low, high]: [u64; 2]| float(high - low) / 2.0 / median;
        let half_width = wall.median_ci95.map(|ends| value * share(ends));
        let at = |wall_ns: u64| value * median / float(wall_ns.max(1));
        let ends = wall.median_ci95.map(|[low, high]| [at(high), at(low)]);
        Some(Measured { value, half_width, ends, unit: name })
    }

    fn place(&self) -> LastPlace {
        LastPlace::of_interval(self.value, self.half_width)
    }

    pub(super) fn text(&self) -> String {
        format!("{} {}", self.place().text(self.value), self.unit)
    }

    /// The value with half its interval: `12.3 ± 0.4 ms`; the ends of a wide interval. An
    /// uncertainty below the last of three digits is left out.
    pub(super) fn text_with_half(&self) -> String {
        if let Some(range) = self.range() {
            return range;
        }
        let place = self.place();
        match self.half_width.filter(|&half| place.rounded(half) > 0.0) {
            Some(half) => format!("{} ± {} {}", place.text(self.value), place.text(half), self.unit),
            None => self.text(),
        }
    }

    /// The ends of a wide interval: `0.9 to 3.1 GB/s`; `None` unless half of it is over half the value.
    pub(super) fn range(&self) -> Option<String> {
        self.half_width.filter(|half| *half > HALF_SHARE_MAX * self.value)?;
        Some(format!("{} {}", range(self.ends?), self.unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_two_digits_and_no_end_at_zero() {
        for (ends, text) in [
            ([0.91, 3.12], "0.9 to 3.1"),
            ([37.2, 251.0], "37 to 251"),
            ([0.04, 3.12], "0.04 to 3.1"),
            ([4.0, 99.7], "4 to 100"),
        ] {
            assert_eq!(range(ends), text);
        }
    }

    #[test]
    fn a_number_ends_where_its_uncertainty_does() {
        for (value, half, text) in [
            (19.4, Some(8.0), "19"),
            (19.4, Some(0.8), "19.4"),
            (19.4, Some(1.2), "19.4"),
            (194.0, Some(80.0), "190"),
            (194.3, Some(12.0), "194"),
            (1.4321, Some(0.035), "1.43"),
            (1.4321, Some(0.12), "1.43"),
            (1.4321, Some(0.3), "1.4"),
            (1.4321, Some(0.000_1), "1.43"),
            (1.4321, Some(0.0), "1.43"),
            (9.996, Some(0.0), "10.0"),
            (0.123_4, Some(0.000_2), "0.123"),
            (0.123_4, Some(0.02), "0.12"),
            (3.0, Some(40.0), "3"),
            (1_234.0, Some(0.5), "1234"),
            (1_234.0, Some(200.0), "1200"),
            (19.44, None, "19"),
            (1.944, None, "1.9"),
            (194.4, None, "194"),
            (0.0, None, "0.0"),
        ] {
            assert_eq!(LastPlace::of_interval(value, half).text(value), text, "{value} ± {half:?}");
        }
    }
}
