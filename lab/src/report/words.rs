//! The wording of numbers and names in reports.

use crate::analysis::stats::{Ratio, Summary};
use crate::record::Metric;
use crate::units::{Bytes, Nanos, Throughput};
use std::fmt::Write;

/// A number as it is shown, with the value that tables sort by.
pub(super) struct Number {
    pub(super) text: String,
    pub(super) value: f64,
}

impl Number {
    pub(super) fn new(text: String, value: f64) -> Number {
        Number { text, value }
    }
}

/// Half the interval in percent of the median, such as `±0.42 %`; `None` where there is no
/// interval.
#[expect(clippy::cast_precision_loss, reason = "shown with two digits")]
pub(super) fn plus_minus(summary: &Summary) -> Option<String> {
    let [low, high] = summary.median_ci95?;
    let percent = 100.0 * (high - low) as f64 / 2.0 / summary.median.max(1) as f64;
    Some(format!("±{} %", two_digits(percent)))
}

/// `3.21 [3.10, 3.33]`, with `=` behind it where the interval holds 1 and `?` where there is none.
pub(super) fn ratio(ratio: &Ratio) -> String {
    let mut text = factor(ratio.estimate);
    match ratio.ci95 {
        Some(ends) => {
            // Writing into a String cannot fail.
            let _ = write!(text, " [{}, {}]", factor(ends.low), factor(ends.high));
            if ends.holds(1.0) {
                text.push_str(" =");
            }
        }
        None => text.push_str(" ?"),
    }
    text
}

/// A factor with two decimals below 10, one below 100, none above; three digits below one.
pub(super) fn factor(value: f64) -> String {
    let decimals = match value {
        ..0.995 => 3,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A share from 0 to 1 in percent, exact at both ends: only a true 0 or 1 is shown as 0 % or 100 %.
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

/// Two significant digits below ten, none behind the point above.
fn two_digits(percent: f64) -> String {
    let decimals = match percent {
        ..0.995 => 2,
        ..9.95 => 1,
        _ => 0,
    };
    format!("{percent:.decimals$}")
}

/// The median of a time.
pub(super) fn time(summary: &Summary) -> String {
    Nanos(summary.median).to_string()
}

/// A rate; a target of no bytes has none.
pub(super) fn rate(throughput: Option<Throughput>) -> String {
    throughput.map_or_else(|| NONE.to_owned(), |rate| rate.to_string())
}

/// Processors in use on average, such as `1.93 cores`.
pub(super) fn cores(cores: f64) -> String {
    format!("{cores:.2} cores")
}

/// A value of a metric with its unit.
pub(super) fn value(metric: Metric, value: u64) -> String {
    match metric {
        Metric::WallNs | Metric::CpuUserNs | Metric::CpuSystemNs => Nanos(value).to_string(),
        Metric::PeakRssBytes => Bytes(value).binary(),
        Metric::DeviceReadBytes => Bytes(value).to_string(),
        Metric::MinorFaults | Metric::MajorFaults => grouped(value),
    }
}

/// A count in the unit that its name carries.
pub(super) fn counted(kind: &str, value: u64) -> String {
    match kind.rsplit_once('_').map(|(_, unit)| unit) {
        Some("bytes") => Bytes(value).to_string(),
        Some("ns") => Nanos(value).to_string(),
        _ => grouped(value),
    }
}

/// What a metric is called by people.
pub(super) fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::WallNs => "wall time",
        Metric::CpuUserNs => "CPU time in user mode",
        Metric::CpuSystemNs => "CPU time in the kernel",
        Metric::PeakRssBytes => "peak memory",
        Metric::MinorFaults => "minor page faults",
        Metric::MajorFaults => "major page faults",
        Metric::DeviceReadBytes => "bytes from the device",
    }
}

/// The text with numbers and what they count kept on one line.
pub(super) fn unbroken(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let kept = |at: usize| {
        let next = letters.get(at + 1);
        let counts = at > 0 && letters[at - 1].is_ascii_digit();
        counts && next.is_some_and(|next| next.is_alphabetic() || *next == '%')
    };
    let joined = |(at, &letter): (usize, &char)| if letter == ' ' && kept(at) { '\u{a0}' } else { letter };
    letters.iter().enumerate().map(joined).collect()
}

/// A time of day in UTC as people read it: `2026-01-02 03:04:05 UTC`; as it is where it is none.
pub(super) fn moment(rfc3339: &str) -> String {
    match (rfc3339.get(..10), rfc3339.get(11..19), rfc3339.ends_with('Z')) {
        (Some(day), Some(time), true) => format!("{day} {time} UTC"),
        _ => rfc3339.to_owned(),
    }
}

/// A count with a thin space between thousands.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join("\u{202f}")
}

/// `1 trial`, `2 trials`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// With its first letter large.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// With its first letter small.
pub(super) fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The sign of what is below zero, in every text for people; exports for programs have the one of
/// ASCII.
pub(super) const MINUS: char = '\u{2212}';

/// A number that may be below zero, in the words for its size.
pub(super) fn signed(value: f64, shown: impl Fn(f64) -> String) -> String {
    if value < 0.0 { format!("{MINUS}{}", shown(-value)) } else { shown(value) }
}

/// Shown in place of an unknown number.
pub(super) const NONE: &str = "–";

/// Follows the name of a contender that did more than read; a caution says what it did.
pub(super) const CONDUCT_MARK: &str = " †";

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_number_stays_with_its_unit() {
        assert_eq!(
            unbroken("at 14.6 GB/s, 5 % of 3.18 × wc -l"),
            "at 14.6\u{a0}GB/s, 5\u{a0}% of 3.18 × wc -l"
        );
    }

    #[test]
    fn what_is_below_zero_has_one_sign() {
        let shown = |value: f64| format!("{value:.1} s");
        assert_eq!([-1.5, 0.0, 2.0].map(|value| signed(value, shown)), ["−1.5 s", "0.0 s", "2.0 s"]);
    }

    #[test]
    fn thousands_stand_apart() {
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
