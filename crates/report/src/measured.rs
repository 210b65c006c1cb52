//! A measured quantity: its value in a unit that suits it, with the digits that its interval
//! allows.

use super::digits::LastPlace;
use readlab_analysis::stats::Summary;
use readlab_model::units::{Nanos, Throughput, Unit};

/// A measured quantity in its unit.
pub(super) struct Measured {
    value: f64,
    half_width: Option<f64>,
    unit: &'static str,
}

impl Measured {
    /// The median of a time.
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    pub(super) fn time(summary: &Summary) -> Measured {
        let Unit { size, name } = Nanos(summary.median).unit();
        let half_width = summary.median_ci95.map(|[low, high]| (high - low) as f64 / 2.0 / size);
        Measured { value: summary.median as f64 / size, half_width, unit: name }
    }

    /// A rate that follows from a time; `None` for a target of no bytes.
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    pub(super) fn rate(throughput: Option<Throughput>, wall: &Summary) -> Option<Measured> {
        let rate = throughput.filter(|rate| rate.0.is_finite())?;
        let Unit { size, name } = rate.unit();
        // The same share as of the time: the inverse of a low end near zero has no use.
        let share = |[low, high]: [u64; 2]| (high - low) as f64 / 2.0 / wall.median.max(1) as f64;
        let half_width = wall.median_ci95.map(|ends| rate.0 / size * share(ends));
        Some(Measured { value: rate.0 / size, half_width, unit: name })
    }

    fn place(&self) -> LastPlace {
        LastPlace::of_interval(self.value, self.half_width)
    }

    /// The value alone.
    pub(super) fn text(&self) -> String {
        format!("{} {}", self.place().text(self.value), self.unit)
    }

    /// The value with half its interval. An uncertainty below the last of three digits is left out.
    pub(super) fn text_with_half(&self) -> String {
        let place = self.place();
        match self.half_width.filter(|&half| place.rounded(half) > 0.0) {
            Some(half) => format!("{} ± {} {}", place.text(self.value), place.text(half), self.unit),
            None => self.text(),
        }
    }
}
