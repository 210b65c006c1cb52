//! A measured quantity: its value in a unit that suits it, with the digits that its interval
//! allows.

use super::digits::{self, LastPlace};
use readlab_analysis::stats::{Summary, float};
use readlab_model::units::{Nanos, Throughput, Unit};

/// Where half the interval is more than this share of the value, the value says nothing without
/// its interval, and the ends are shown instead.
pub(super) const HALF_SHARE_MAX: f64 = 0.5;

/// A measured quantity in its unit.
pub(super) struct Measured {
    value: f64,
    half_width: Option<f64>,
    /// The ends of its interval.
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

    /// The value alone.
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

    /// The ends of a wide interval: `0.9 to 3.1 GB/s`; `None` where half of it is no more than half
    /// of the value.
    pub(super) fn range(&self) -> Option<String> {
        self.half_width.filter(|half| *half > HALF_SHARE_MAX * self.value)?;
        Some(format!("{} {}", digits::range(self.ends?), self.unit))
    }
}
