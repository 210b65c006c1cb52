//! The number of digits that are shown: as many as the interval of a number allows, and at most
//! three.
//!
//! The uncertainty is half the interval. It is shown with one digit, or with two if the first is a
//! 1, and the number ends at the same place: 19 ± 8, 1.43 ± 0.04, 2.31 ± 0.12. Without an interval,
//! a number has two digits.

use readlab_analysis::stats::{Summary, float};
use readlab_model::units::{Nanos, Throughput, Unit};

/// The place of the last shown digit: the number of decimals. A negative place counts the digits
/// before the point that are rounded to zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LastDigit(i32);

impl LastDigit {
    /// The last place of a number with this uncertainty.
    pub(super) fn for_interval(value: f64, half_width: Option<f64>) -> LastDigit {
        match half_width {
            None => LastDigit::with_digits(value, 2),
            Some(half) => {
                let at_least_one = LastDigit(-decimal_exponent(value));
                LastDigit::for_uncertainty(half).max(at_least_one).min(LastDigit::with_digits(value, 3))
            }
        }
    }

    fn for_uncertainty(half_width: f64) -> LastDigit {
        if half_width <= 0.0 || !half_width.is_finite() {
            return LastDigit(i32::MAX);
        }
        let first = decimal_exponent(half_width);
        let begins_with_one = half_width / 10_f64.powi(first) < 2.0;
        LastDigit(i32::from(begins_with_one) - first)
    }

    /// The last place of a number with this many significant digits, at least all digits before the
    /// point.
    pub(super) fn with_digits(value: f64, digits: i32) -> LastDigit {
        // Rounding may add a digit before the point: 9.996 is shown as 10.0.
        let rounded = value.abs() * (1.0 + 0.5 * 10_f64.powi(-digits));
        LastDigit((digits - 1 - decimal_exponent(rounded)).max(0))
    }

    pub(super) fn next_place(self) -> LastDigit {
        LastDigit(self.0.saturating_add(1))
    }

    pub(super) fn rounded(self, value: f64) -> f64 {
        let step = 10_f64.powi(-self.0);
        if step > 0.0 && step.is_finite() { (value / step).round() * step } else { value }
    }

    /// The number, rounded to this place.
    pub(super) fn text(self, value: f64) -> String {
        let decimals = usize::try_from(self.0).unwrap_or(0);
        format!("{:.decimals$}", if self.0 < 0 { self.rounded(value) } else { value })
    }
}

/// A range whose upper end has two digits: `0.9 to 3.1`. The lower end is never shown as zero.
fn range_text([low, high]: [f64; 2]) -> String {
    let place = LastDigit::with_digits(high, 2);
    let of_low = if place.rounded(low) > 0.0 { place } else { LastDigit::with_digits(low, 1) };
    format!("{} to {}", of_low.text(low), place.text(high))
}

/// The power of ten of the first digit; zero for zero.
fn decimal_exponent(value: f64) -> i32 {
    if value > 0.0 && value.is_finite() { value.log10().floor() as i32 } else { 0 }
}

/// If the upper end of an interval is more than this many times the lower end, the ends are not
/// shown. Such intervals come from two rounds that differ by chance, or from readings of two kinds.
const SPAN_RATIO_MAX: f64 = 1000.0;

/// The text that replaces ends that are too far apart.
pub(super) const TOO_FAR_APART: &str = "readings too far apart to tell";

/// Whether the ends of the interval of a positive number are too far apart to be shown.
pub(super) fn are_ends_too_far_apart([low, high]: [f64; 2]) -> bool {
    low > 0.0 && high > SPAN_RATIO_MAX * low
}

/// If half the interval is more than this share of the value, the value alone means nothing, and
/// the ends of the interval are shown instead.
pub(super) const HALF_WIDTH_SHARE_MAX: f64 = 0.5;

/// The ends of an interval that is wider than the number itself.
pub(super) enum WideEnds {
    /// Such as `0.9 to 3.1 GB/s`.
    Range(String),
    /// The ends are too far apart to be shown.
    TooFarApart,
}

/// A measured quantity with its uncertainty, in a unit of suitable size.
pub(super) struct MeasuredNumber {
    value: f64,
    half_width: Option<f64>,
    ends: Option<[f64; 2]>,
    unit: &'static str,
}

impl MeasuredNumber {
    /// Makes a time from the median of a summary in nanoseconds.
    pub(super) fn time(summary: &Summary) -> MeasuredNumber {
        MeasuredNumber::from_median(Nanos(summary.median), summary.median_ci95)
    }

    /// Makes a time from its median and the ends of its interval in nanoseconds.
    pub(super) fn from_median(median: Nanos, ends_ns: Option<[u64; 2]>) -> MeasuredNumber {
        let Unit { size, name } = median.unit();
        let ends = ends_ns.map(|ends| ends.map(|end| float(end) / size));
        let half_width = ends.map(|[low, high]| (high - low) / 2.0);
        MeasuredNumber { value: float(median.0) / size, half_width, ends, unit: name }
    }

    /// Makes a rate whose uncertainty is that of the wall time; `None` without a finite rate.
    pub(super) fn rate(throughput: Option<Throughput>, wall: &Summary) -> Option<MeasuredNumber> {
        MeasuredNumber::rate_from_median(throughput, Nanos(wall.median), wall.median_ci95)
    }

    /// Makes a rate whose uncertainty comes from the median of a time and the ends of its interval
    /// in nanoseconds; `None` without a finite rate.
    pub(super) fn rate_from_median(
        throughput: Option<Throughput>,
        median: Nanos,
        ends_ns: Option<[u64; 2]>,
    ) -> Option<MeasuredNumber> {
        let rate = throughput.filter(|rate| rate.0.is_finite())?;
        let Unit { size, name } = rate.unit();
        let (value, median) = (rate.0 / size, float(median.0.max(1)));
        // The rate gets the relative uncertainty of the time: half of the interval of inverse times
        // would be huge if the low end is near zero.
        let share = |[low, high]: [u64; 2]| float(high - low) / 2.0 / median;
        let half_width = ends_ns.map(|ends| value * share(ends));
        let at = |wall_ns: u64| value * median / float(wall_ns.max(1));
        let ends = ends_ns.map(|[low, high]| [at(high), at(low)]);
        Some(MeasuredNumber { value, half_width, ends, unit: name })
    }

    fn last_place(&self) -> LastDigit {
        LastDigit::for_interval(self.value, self.half_width)
    }

    pub(super) fn text(&self) -> String {
        format!("{} {}", self.last_place().text(self.value), self.unit)
    }

    /// The value with half its interval, such as `12.3 ± 0.4 ms`. For a wide interval, its ends, or
    /// the value with [`TOO_FAR_APART`]. An uncertainty below the last of three digits is left out.
    pub(super) fn text_with_half_width(&self) -> String {
        match self.wide_ends() {
            Some(WideEnds::Range(range)) => return range,
            Some(WideEnds::TooFarApart) => return format!("{} ({TOO_FAR_APART})", self.text()),
            None => {}
        }
        let place = self.last_place();
        match self.half_width.filter(|&half| place.rounded(half) > 0.0) {
            Some(half) => format!("{} ± {} {}", place.text(self.value), place.text(half), self.unit),
            None => self.text(),
        }
    }

    /// The ends of a wide interval; `None` if half the interval is at most half the value.
    pub(super) fn wide_ends(&self) -> Option<WideEnds> {
        self.half_width.filter(|half| *half > HALF_WIDTH_SHARE_MAX * self.value)?;
        let [low, high] = self.ends?;
        // A time is never zero; its lower end is rounded to nanoseconds.
        Some(match low <= 0.0 || are_ends_too_far_apart([low, high]) {
            true => WideEnds::TooFarApart,
            false => WideEnds::Range(format!("{} {}", range_text([low, high]), self.unit)),
        })
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
            assert_eq!(range_text(ends), text);
        }
    }

    #[test]
    fn ends_a_thousand_times_apart_say_nothing() {
        for (ends, is_nothing) in
            [([0.001, 0.9], false), ([0.001, 1.1], true), ([2.0, 1.0e10], true), ([0.0, 3.0], false)]
        {
            assert_eq!(are_ends_too_far_apart(ends), is_nothing, "{ends:?}");
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
            assert_eq!(LastDigit::for_interval(value, half).text(value), text, "{value} ± {half:?}");
        }
    }
}
