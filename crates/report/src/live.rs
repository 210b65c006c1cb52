//! The ends of wide intervals, as the live view shows them.

use super::digits::{MeasuredNumber, WideEnds};
use readlab_analysis::stats::{Interval, whole};
use readlab_model::units::{Nanos, Throughput};

/// The text in place of ends that are too far apart. It is shorter than the text in tables, because
/// the live view has little room.
const TOO_FAR_APART: &str = "too far apart";

/// The ends of the interval of a time, such as `8 to 38 ms`; `None` if half the interval is at most
/// half the median.
pub fn wide_time_words(median: Nanos, ends_ns: Interval) -> Option<String> {
    Some(ends_words(MeasuredNumber::from_median(median, Some(whole_ends(ends_ns))).wide_ends()?))
}

/// The ends of the interval of a rate, such as `1.1 to 5.0 GB/s`, computed from the interval of the
/// time; `None` if half the interval is at most half the rate.
pub fn wide_rate_words(rate: Throughput, median: Nanos, ends_ns: Interval) -> Option<String> {
    let rate = MeasuredNumber::rate_from_median(Some(rate), median, Some(whole_ends(ends_ns)))?;
    Some(ends_words(rate.wide_ends()?))
}

fn whole_ends(Interval { low, high }: Interval) -> [u64; 2] {
    [whole(low), whole(high)]
}

fn ends_words(ends: WideEnds) -> String {
    match ends {
        WideEnds::Range(range) => range,
        WideEnds::TooFarApart => TOO_FAR_APART.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_shown_by_its_ends_if_half_of_it_is_more_than_half_the_number() {
        let (median, rate) = (Nanos(20_000_000), Throughput(2e9));
        let shown = |low_ms: f64, high_ms: f64| {
            let ends = Interval { low: low_ms * 1e6, high: high_ms * 1e6 };
            (wide_time_words(median, ends), wide_rate_words(rate, median, ends))
        };
        let some = |time: &str, rate: &str| (Some(time.to_owned()), Some(rate.to_owned()));
        assert_eq!(shown(10.0, 30.0), (None, None));
        assert_eq!(shown(8.0, 38.0), some("8 to 38 ms", "1.1 to 5.0 GB/s"));
        assert_eq!(shown(0.01, 38.0), some("too far apart", "too far apart"));
    }
}
