//! The wording of numbers and names in reports.

use super::digits::{LastDigit, MeasuredNumber, TOO_FAR_APART, WideEnds, are_ends_too_far_apart};
use readlab_analysis::compare::{Center, Unit};
use readlab_analysis::stats::{Interval, Ratio, SharedRatio, Summary, float, whole};
use readlab_model::sample::{Meter, MeterUnit};
use readlab_model::trial::CacheState;
use readlab_model::units::{Bytes, Nanos, Throughput};
use std::fmt::Display;

/// A number as text, with the value that tables sort by.
pub(super) struct Number {
    pub(super) text: String,
    pub(super) value: f64,
}

impl Number {
    pub(super) fn new(text: String, value: f64) -> Number {
        Number { text, value }
    }

    /// A small count without separators.
    pub(super) fn count(n: u64) -> Number {
        Number::new(n.to_string(), float(n))
    }

    pub(super) fn grouped(n: u64) -> Number {
        Number::new(grouped(n), float(n))
    }

    pub(super) fn bytes(n: u64) -> Number {
        Number::new(Bytes(n).to_string(), float(n))
    }

    pub(super) fn time(ns: u64) -> Number {
        Number::new(Nanos(ns).to_string(), float(ns))
    }

    pub(super) fn rate(bytes_per_s: f64) -> Number {
        Number::new(Throughput(bytes_per_s).to_string(), bytes_per_s)
    }

    pub(super) fn percent(share: f64) -> Number {
        Number::new(percent(share), share)
    }

    pub(super) fn factor(value: f64) -> Number {
        Number::new(factor(value), value)
    }

    pub(super) fn ratio(it: SharedRatio) -> Number {
        Number::new(ratio_words_with_tie(it), it.estimate)
    }

    /// A number with the ends of its interval, if it has one. `shown` is applied to each of them.
    pub(super) fn with_ends(value: f64, ci95: Option<Interval>, shown: impl Fn(f64) -> String) -> Number {
        Number::new(with_ends(value, ci95, shown), value)
    }
}

/// The text `3.21 [3.10, 3.33]`, or the value alone without an interval.
pub(super) fn with_ends(value: f64, ci95: Option<Interval>, shown: impl Fn(f64) -> String) -> String {
    shown(value) + &ci95.map_or_else(String::new, |it| ends_text(it, &shown))
}

/// The text ` [3.10, 3.33]`, or [`TOO_FAR_APART`] in parentheses.
pub(super) fn ends_text(ci95: Interval, shown: impl Fn(f64) -> String) -> String {
    match are_ends_too_far_apart([ci95.low, ci95.high]) {
        true => format!(" ({TOO_FAR_APART})"),
        false => format!(" [{}, {}]", shown(ci95.low), shown(ci95.high)),
    }
}

/// The text ` [3.10, 3.33]` for the interval of a ratio. An interval that does not hold 1 is shown
/// even if it is wide, because it shows which side is faster.
pub(super) fn ratio_ends_text(ci95: Interval, shown: impl Fn(f64) -> String) -> String {
    match ci95.holds(1.0) {
        true => ends_text(ci95, shown),
        false => format!(" [{}, {}]", shown(ci95.low), shown(ci95.high)),
    }
}

/// Whether a ratio ties, and its interval is narrow enough to call it a tie.
pub(super) fn is_clear_tie(ci95: Interval) -> bool {
    ci95.holds(1.0) && !are_ends_too_far_apart([ci95.low, ci95.high])
}

/// The reason why the number of a trial with one reading has no interval.
pub const ONE_READING: &str = "1 reading";
pub(super) const ONE_ROUND: &str = "1 round";

/// Half the interval in percent of the median, such as `±0.42 %`. For a wide interval, its ends or
/// [`TOO_FAR_APART`]. `None` without an interval.
pub(super) fn plus_minus(summary: &Summary) -> Option<String> {
    let [low, high] = summary.median_ci95?;
    Some(match MeasuredNumber::time(summary).wide_ends() {
        Some(WideEnds::Range(range)) => range,
        Some(WideEnds::TooFarApart) => TOO_FAR_APART.to_owned(),
        None => {
            let percent = 100.0 * float(high - low) / 2.0 / float(summary.median.max(1));
            format!("±{} %", two_digits(percent))
        }
    })
}

pub(super) fn median_or_mean(summary: &Summary, center: Center) -> String {
    match center {
        Center::Median => time(summary),
        Center::Mean => Nanos(summary.mean).to_string(),
    }
}

/// Half the interval of a median in percent, or the standard deviation of a mean. If the summary
/// has neither, the reason.
pub(super) fn scatter(summary: &Summary, center: Center) -> String {
    let scatter = match center {
        Center::Median => plus_minus(summary),
        Center::Mean => summary.sd.map(|sd| format!("± {}", Nanos(sd))),
    };
    let why = if summary.n == 1 { ONE_READING } else { ONE_ROUND };
    scatter.unwrap_or_else(|| why.to_owned())
}

/// The text `3.21 [3.10, 3.33]`, followed by `=` if the interval holds 1 and is narrow enough to
/// show a tie.
pub(super) fn ratio_words_with_tie(ratio: impl Into<Ratio>) -> String {
    let ratio: Ratio = ratio.into();
    let is_tie = ratio.ci95.is_some_and(is_clear_tie);
    ratio_words(ratio) + if is_tie { " =" } else { "" }
}

/// The text `3.21 [3.10, 3.33]`, or `3.2 (1 round)` without an interval. It has as many digits as
/// the interval allows, and as many as are needed to show that an interval does not hold 1.
pub(super) fn ratio_words(ratio: impl Into<Ratio>) -> String {
    let Ratio { estimate: value, ci95, .. } = ratio.into();
    let Some(interval) = ci95 else {
        return format!("{} ({ONE_ROUND})", LastDigit::for_interval(value, None).text(value));
    };
    let Interval { low, high } = interval;
    let mut place = LastDigit::for_interval(value, Some(interval.half_width()));
    let is_hidden = |place: LastDigit| {
        let is_clear = low > 1.0 || high < 1.0;
        is_clear && place.rounded(low) <= 1.0 && place.rounded(high) >= 1.0
    };
    for _ in 0..DIGITS_ADDED_MAX {
        if is_hidden(place) {
            place = place.next_place();
        }
    }
    // An end of an interval is never shown as zero.
    let end = |value: f64| {
        let place = if place.rounded(value) > 0.0 { place } else { LastDigit::with_digits(value, 1) };
        place.text(value)
    };
    place.text(value) + &ratio_ends_text(interval, end)
}

/// Up to this many digits are added to show that an interval does not hold 1.
const DIGITS_ADDED_MAX: usize = 4;

/// The median of a time, with as many digits as its interval allows.
pub(super) fn time(summary: &Summary) -> String {
    MeasuredNumber::time(summary).text()
}

/// The median of a time with half its interval: `12.3 ± 0.4 ms`.
pub(super) fn time_with_half_width(summary: &Summary) -> String {
    MeasuredNumber::time(summary).text_with_half_width()
}

/// A rate with as many digits as the interval of the time allows, or [`NONE`] without a rate.
pub(super) fn rate(throughput: Option<Throughput>, wall: &Summary) -> String {
    MeasuredNumber::rate(throughput, wall).map_or_else(|| NONE.to_owned(), |rate| rate.text())
}

/// A rate with half its interval: `19 ± 8 GB/s`.
pub(super) fn rate_with_half_width(throughput: Throughput, wall: &Summary) -> String {
    let rate = MeasuredNumber::rate(Some(throughput), wall);
    rate.map_or_else(|| NONE.to_owned(), |rate| rate.text_with_half_width())
}

/// A large count with its noun, such as `2,907 files`.
pub(super) fn grouped_plural(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Files or reads per second with three digits, such as `41,500`.
pub(super) fn pieces_per_s(rate: f64) -> String {
    let digits = rate.max(1.0).log10().floor() as i32;
    let step = 10_f64.powi((digits - 2).max(0));
    grouped(((rate / step).round() * step) as u64)
}

/// The names of the percentiles that tables list.
pub(super) const PERCENTILES: [&str; 7] = ["p0", "p25", "p50", "p75", "p90", "p99", "p100"];

/// With fewer readings, a percentile is hardly different from the largest reading.
const READINGS_FOR_P90: usize = 20;
const READINGS_FOR_P99: usize = 100;

/// The values of [`PERCENTILES`]; `None` where there are too few readings for a percentile.
pub(super) fn percentiles(summary: &Summary) -> [Option<u64>; PERCENTILES.len()] {
    let Summary { n, p0, p25, p50, p75, p90, p99, p100, .. } = *summary;
    let tail = |value: u64, readings: usize| Some(value).filter(|_| n >= readings);
    let (p90, p99) = (tail(p90, READINGS_FOR_P90), tail(p99, READINGS_FOR_P99));
    [Some(p0), Some(p25), Some(p50), Some(p75), p90, p99, Some(p100)]
}

/// A factor with two decimals below 10, one below 100, none from 100 on, and three significant
/// digits below one.
pub(super) fn factor(value: f64) -> String {
    let decimals = match value {
        ..0.995 => 3,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A share from 0 to 1 in percent. Only an exact 0 or 1 is shown as 0 % or 100 %.
pub(super) fn percent(share: f64) -> String {
    if share == 0.0 || share == 1.0 {
        return format!("{:.0} %", share * 100.0);
    }
    let percent = share * 100.0;
    if share < 1.0 && percent >= 99.95 {
        ">99.9 %".to_owned()
    } else if percent < 0.05 {
        "<0.1 %".to_owned()
    } else {
        format!("{percent:.1} %")
    }
}

/// Two significant digits below ten, no decimals above.
fn two_digits(percent: f64) -> String {
    let decimals = match percent {
        ..0.995 => 2,
        ..9.95 => 1,
        _ => 0,
    };
    format!("{percent:.decimals$}")
}

/// The number of processors in use on average, as text, such as `1.93 cores`.
pub(super) fn cores_words(cores: f64) -> String {
    format!("{cores:.2} cores")
}

pub(super) fn meter_value(meter: Meter, value: u64) -> String {
    match meter.unit() {
        MeterUnit::Nanoseconds => Nanos(value).to_string(),
        MeterUnit::Bytes => Bytes(value).to_string(),
        MeterUnit::Memory => Bytes(value).binary_text(),
        MeterUnit::Count => grouped(value),
    }
}

pub(super) fn value_in_unit(unit: Unit, value: f64) -> String {
    signed(value, |size| match unit {
        Unit::Nanoseconds => Nanos(whole(size)).to_string(),
        Unit::Bytes => Bytes(whole(size)).to_string(),
        Unit::BytesPerSecond => Throughput(size).to_string(),
        Unit::Count => grouped(whole(size)),
    })
}

/// A count in the unit at the end of its name: `bytes`, `ns`, or none.
pub(super) fn count_in_unit(kind: &str, value: u64) -> String {
    match kind.rsplit_once('_').map(|(_, unit)| unit) {
        Some("bytes") => Bytes(value).to_string(),
        Some("ns") => Nanos(value).to_string(),
        _ => grouped(value),
    }
}

/// Text with non-breaking spaces between numbers and the units or nouns after them.
pub(super) fn unbroken(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let kept = |at: usize| {
        let next = letters.get(at + 1);
        let before = at.checked_sub(1).map(|before| letters[before]);
        let counts = before.is_some_and(|before| before.is_ascii_digit());
        let is_counted = next.is_some_and(|next| next.is_alphabetic() || ['%', '±'].contains(next));
        counts && is_counted || before == Some('±')
    };
    let joined = |(at, &letter): (usize, &char)| if letter == ' ' && kept(at) { '\u{a0}' } else { letter };
    letters.iter().enumerate().map(joined).collect()
}

/// A time in UTC in readable form, such as `2026-01-02 03:04:05 UTC`; any other text is returned
/// unchanged.
pub(super) fn utc_time_text(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(11..19), rfc3339.ends_with('Z')) {
        (Some(day), Some(time), true) => format!("{day} {time} UTC"),
        _ => rfc3339.to_owned(),
    }
}

/// A count with thin spaces between thousands.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("\u{202f}")
}

/// A count with its noun, such as `1 trial` or `2 trials`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

pub(super) fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The cache state and the name of a trial, such as `Cold, rust/read`.
pub(super) fn state_and_id(state: CacheState, id: &impl Display) -> String {
    format!("{}, {id}", capitalized(&state.to_string()))
}

pub(super) fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The minus sign in texts for people. Exports for programs use the ASCII minus sign.
pub(super) const MINUS: char = '\u{2212}';

/// A number that may be negative, with its absolute value shown by `shown`.
pub(super) fn signed(value: f64, shown: impl Fn(f64) -> String) -> String {
    if value < 0.0 { format!("{MINUS}{}", shown(-value)) } else { shown(value) }
}

/// The text in place of an unknown number.
pub(super) const NONE: &str = "–";

/// The mark after the name of a contender that did more than read. A caution says what else it did.
pub(super) const CONDUCT_MARK: &str = " †";

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::stats::Outliers;

    #[test]
    fn shares_are_rounded_but_never_to_all_or_nothing() {
        for (share, text) in [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.9999, ">99.9 %"),
            (0.0001, "<0.1 %"),
            (0.995, "99.5 %"),
            (1.02, "102.0 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    fn summary(n: usize, median: u64, median_ci95: Option<[u64; 2]>) -> Summary {
        Summary {
            n,
            mean: median,
            sd: None,
            median,
            median_ci95,
            p0: 1,
            p25: 2,
            p50: 3,
            p75: 4,
            p90: 5,
            p99: 6,
            p100: 7,
            outliers: Outliers::default(),
        }
    }

    #[test]
    fn a_time_and_its_rate_have_the_digits_that_the_interval_allows() {
        for (median, ends, time, half, rate) in [
            (51_500_000, Some([37_000_000, 85_000_000]), "50 ms", "50 ± 20 ms", "19 ± 9 GB/s"),
            (51_500_000, Some([26_000_000, 118_000_000]), "50 ms", "26 to 118 ms", "8 to 38 GB/s"),
            (
                51_500_000,
                Some([1_000, 11_755_041_518_000_000]),
                "50 ms",
                "50 ms (readings too far apart to tell)",
                "20 GB/s (readings too far apart to tell)",
            ),
            (51_500_000, Some([51_000_000, 52_000_000]), "51.5 ms", "51.5 ± 0.5 ms", "19.4 ± 0.2 GB/s"),
            (51_500_000, Some([51_499_000, 51_501_000]), "51.5 ms", "51.5 ms", "19.4 GB/s"),
            (51_500_000, None, "52 ms", "52 ms", "19 GB/s"),
            (800, Some([700, 950]), "800 ns", "800 ± 130 ns", "1.25 ± 0.20 TB/s"),
        ] {
            let wall = summary(10, median, ends);
            let throughput = Throughput::per(Bytes(1_000_000_000), Nanos(median));
            let throughput = if median < 1_000 { Throughput(1.25e12) } else { throughput };
            assert_eq!(
                [super::time(&wall), time_with_half_width(&wall), rate_with_half_width(throughput, &wall)],
                [time, half, rate].map(str::to_owned)
            );
        }
        assert_eq!(super::rate(None, &summary(10, 1, None)), NONE);
    }

    #[test]
    fn a_ratio_has_the_digits_that_its_interval_allows_and_shows_on_which_side_of_1_it_is() {
        for (estimate, ends, text) in [
            (1.4321, Some((1.401, 1.472)), "1.43 [1.40, 1.47]"),
            (4.0, Some((4.0, 4.0)), "4.00 [4.00, 4.00]"),
            (4.19, Some((0.985, 17.9)), "4 [1, 18] ="),
            (4.19, Some((0.2, 17.9)), "4 [0.2, 18] ="),
            (1.02, Some((1.004, 1.04)), "1.020 [1.004, 1.040]"),
            (0.98, Some((0.97, 0.999_6)), "0.9800 [0.9700, 0.9996]"),
            (0.8, Some((0.7, 0.9)), "0.80 [0.70, 0.90]"),
            (23.14, Some((22.0, 25.0)), "23.1 [22.0, 25.0]"),
            (231.4, Some((150.0, 330.0)), "230 [150, 330]"),
            (1.62, None, "1.6 (1 round)"),
            (0.0004, Some((0.000_000_1, 1.4025)), "0.0004 (readings too far apart to tell)"),
            (58.0, Some((1.6, 2300.0)), "58 [2, 2300]"),
        ] {
            let ci95 = ends.map(|(low, high)| Interval { low, high });
            assert_eq!(ratio_words_with_tie(Ratio { estimate, ci95, rule: None, pairs: 10 }), text);
        }
    }

    #[test]
    fn p90_and_p99_are_shown_from_20_and_100_readings() {
        let tail = |n| percentiles(&summary(n, 3, None))[4..6].to_vec();
        assert_eq!(tail(19), [None, None]);
        assert_eq!(tail(20), [Some(5), None]);
        assert_eq!(tail(99), [Some(5), None]);
        assert_eq!(tail(100), [Some(5), Some(6)]);
    }

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(
            unbroken("at 14.6 GB/s, 5 % of 3.18 × wc -l"),
            "at 14.6\u{a0}GB/s, 5\u{a0}% of 3.18 × wc -l"
        );
        assert_eq!(unbroken("at 19 ± 8 GB/s"), "at 19\u{a0}±\u{a0}8\u{a0}GB/s");
    }

    #[test]
    fn negative_numbers_have_the_minus_sign() {
        let shown = |value: f64| format!("{value:.1} s");
        assert_eq!([-1.5, 0.0, 2.0].map(|value| signed(value, shown)), ["−1.5 s", "0.0 s", "2.0 s"]);
    }

    #[test]
    fn thousands_are_separated_by_thin_spaces() {
        for (count, text) in
            [(0, "0"), (999, "999"), (1_000, "1\u{202f}000"), (2_456_933, "2\u{202f}456\u{202f}933")]
        {
            assert_eq!(grouped(count), text);
        }
    }

    #[test]
    fn factors_keep_three_digits() {
        for (value, text) in
            [(0.1234, "0.123"), (0.9999, "1.00"), (3.204, "3.20"), (23.14, "23.1"), (231.4, "231")]
        {
            assert_eq!(factor(value), text);
        }
    }
}
