//! Quantities with their units: time, size, rate. Parsing, arithmetic and display.
//!
//! Files hold plain integers in nanoseconds and bytes; these types are for everything that a user
//! reads or types. Rates and measured sizes are shown in powers of ten, as drives and networks are
//! sold; buffers in powers of two, as programs allocate them. Every shown number carries its unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A span of time in nanoseconds.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A rate in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Throughput(pub f64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    #[error("'{0}' does not start with a number")]
    NoNumber(String),
    #[error("'{text}': unknown unit '{unit}' (known: {known})")]
    UnknownUnit { text: String, unit: String, known: &'static str },
    #[error("'{0}' is out of range")]
    OutOfRange(String),
}

impl Nanos {
    /// Converts seconds; negative values and NaN become zero.
    pub fn from_secs_f64(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as u64)
    }

    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The largest of ns, µs, ms and s in which the number is at least one.
    pub fn unit(self) -> Unit {
        largest_fitting_unit(self.0 as f64, &TIME_UNITS)
    }
}

impl From<Duration> for Nanos {
    fn from(duration: Duration) -> Nanos {
        Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(nanos: Nanos) -> Duration {
        Duration::from_nanos(nanos.0)
    }
}

impl Throughput {
    /// Bytes over a span of time; infinite when no time passed.
    pub fn per(bytes: Bytes, time: Nanos) -> Throughput {
        Throughput(bytes.0 as f64 / time.as_secs_f64())
    }

    /// The largest of B/s, kB/s, MB/s, GB/s and TB/s in which the number is at least one.
    pub fn unit(self) -> Unit {
        largest_fitting_unit(self.0, &RATE_UNITS)
    }
}

/// Formats with three significant digits; numbers above 1000 keep all digits: 1.23, 12.3, 123,
/// 1234.
fn three_digit_text(value: f64) -> String {
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$}")
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// The unit's size in nanoseconds, bytes or bytes per second.
    pub size: f64,
    pub name: &'static str,
}

const fn unit(size: f64, name: &'static str) -> Unit {
    Unit { size, name }
}

const TIME_UNITS: [Unit; 4] = [unit(1.0, "ns"), unit(1e3, "µs"), unit(1e6, "ms"), unit(1e9, "s")];
const SIZE_UNITS: [Unit; 5] =
    [unit(1.0, "B"), unit(1e3, "kB"), unit(1e6, "MB"), unit(1e9, "GB"), unit(1e12, "TB")];
const MEMORY_UNITS: [Unit; 5] = [
    unit(1.0, "B"),
    unit(1024.0, "KiB"),
    unit(1_048_576.0, "MiB"),
    unit(1_073_741_824.0, "GiB"),
    unit(1_099_511_627_776.0, "TiB"),
];
const RATE_UNITS: [Unit; 5] =
    [unit(1.0, "B/s"), unit(1e3, "kB/s"), unit(1e6, "MB/s"), unit(1e9, "GB/s"), unit(1e12, "TB/s")];

fn largest_fitting_unit(value: f64, units: &[Unit]) -> Unit {
    let fitting = units.windows(2).find(|pair| value < pair[1].size);
    fitting.map_or(units[units.len() - 1], |pair| pair[0])
}

/// Formats a value in its largest fitting unit: an integer in the first unit, otherwise three
/// digits.
fn format_in_unit(value: u64, units: &[Unit]) -> String {
    let Unit { size, name } = largest_fitting_unit(value as f64, units);
    if size > 1.0 {
        format!("{} {name}", three_digit_text(value as f64 / size))
    } else {
        format!("{value} {name}")
    }
}

impl fmt::Display for Nanos {
    /// Formats in the largest fitting unit, with three digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_in_unit(self.0, &TIME_UNITS))
    }
}

impl fmt::Display for Bytes {
    /// Formats in powers of ten: B, kB, MB, GB, TB.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_in_unit(self.0, &SIZE_UNITS))
    }
}

impl Bytes {
    /// Formats exactly, in the largest power of two that divides the size (`8KiB`);
    /// [`Bytes::from_str`] parses it.
    pub fn exact_text(self) -> String {
        for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return format!("{}{unit}", self.0 >> shift);
            }
        }
        self.0.to_string()
    }

    /// Formats in powers of two, rounded, for memory: B, KiB, MiB, GiB, TiB.
    pub fn binary_text(self) -> String {
        format_in_unit(self.0, &MEMORY_UNITS)
    }
}

impl fmt::Display for Throughput {
    /// Formats in the largest fitting unit, with three digits; below 1 kB/s as an integer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, Unit { size, name }) = (self.0, self.unit());
        let text = if !rate.is_finite() {
            "–".to_owned()
        } else if rate < 1e3 {
            format!("{rate:.0} {name}")
        } else {
            format!("{} {name}", three_digit_text(rate / size))
        };
        f.pad(&text)
    }
}

/// Splits `12.5MiB` into 12.5 and `MiB`.
fn number_and_unit(text: &str) -> Result<(f64, &str), UnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().map_err(|_| UnitError::NoNumber(text.to_owned()))?;
    Ok((number, text[end..].trim()))
}

fn unknown_unit(text: &str, unit: &str, known: &'static str) -> UnitError {
    UnitError::UnknownUnit { text: text.to_owned(), unit: unit.to_owned(), known }
}

/// Converts a float, which must be an integer in the range of `u64`.
fn parse_integral(value: f64, text: &str) -> Result<u64, UnitError> {
    if value.fract() != 0.0 || !(0.0..18_446_744_073_709_551_615.0).contains(&value) {
        return Err(UnitError::OutOfRange(text.to_owned()));
    }
    Ok(value as u64)
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// Parses a size. `64KiB`, `64K` and `64k` are 65,536; `64kB` is 64,000; a number without a
    /// unit is bytes.
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        if let Ok(exact) = text.trim().parse() {
            return Ok(Bytes(exact));
        }
        let (number, unit) = number_and_unit(text)?;
        let factor: u64 = match unit {
            "" | "B" => 1,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            "k" | "K" | "KiB" => 1 << 10,
            "m" | "M" | "MiB" => 1 << 20,
            "g" | "G" | "GiB" => 1 << 30,
            "t" | "T" | "TiB" => 1 << 40,
            _ => return Err(unknown_unit(text, unit, "B, kB, MB, GB, TB, K, KiB, M, MiB, G, GiB, T, TiB")),
        };
        // An integer is parsed as an integer, because a float is exact only up to 2^53.
        if let Ok(number) = text.trim().trim_end_matches(unit).trim_end().parse::<u64>() {
            let bytes = number.checked_mul(factor).ok_or_else(|| UnitError::OutOfRange(text.to_owned()))?;
            return Ok(Bytes(bytes));
        }
        let factor = factor as f64;
        Ok(Bytes(parse_integral(number * factor, text)?))
    }
}

impl FromStr for Throughput {
    type Err = UnitError;

    /// Parses a rate: `3400MB/s`, `3.4GB/s`.
    fn from_str(text: &str) -> Result<Throughput, UnitError> {
        let Some(size) = text.trim().strip_suffix("/s") else {
            let unit = number_and_unit(text).map_or("", |(_, unit)| unit);
            return Err(unknown_unit(text, unit, "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s"));
        };
        let bytes: Bytes = size.parse()?;
        let rate = (bytes.0 > 0).then(|| Throughput::per(bytes, Nanos(1_000_000_000)));
        rate.ok_or_else(|| UnitError::OutOfRange(text.to_owned()))
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// Parses a time: `30s`, `1.5m`, `250ms`, `2h`; a number without a unit is seconds, as in other
    /// tools.
    fn from_str(text: &str) -> Result<Nanos, UnitError> {
        let (number, unit) = number_and_unit(text)?;
        let factor = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "" | "s" => 1e9,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            _ => return Err(unknown_unit(text, unit, "ns, us, ms, s, m, h")),
        };
        Ok(Nanos(parse_integral((number * factor).round(), text)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_are_read_in_both_bases() {
        for (text, bytes) in [
            ("0", 0),
            ("8192", 8192),
            ("64k", 65_536),
            ("64KiB", 65_536),
            ("64kB", 64_000),
            ("1.5MiB", 1_572_864),
            ("2GB", 2_000_000_000),
            ("1 GiB", 1 << 30),
            ("18446744073709551615", u64::MAX),
            ("17324234205568029KiB", 17_740_015_826_501_661_696),
        ] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_the_units_that_exist() {
        assert!("".parse::<Bytes>().is_err());
        assert!("KiB".parse::<Bytes>().is_err());
        assert!("0.3".parse::<Bytes>().is_err());
        assert!("-1".parse::<Bytes>().is_err());
        let error = "3 parsecs".parse::<Nanos>().unwrap_err().to_string();
        assert!(error.contains("parsecs") && error.contains("ms"), "{error}");
    }

    #[test]
    fn times_are_shown_with_three_digits_and_their_unit() {
        for (ns, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (123_456_789, "123 ms"),
            (1_500_000_000, "1.50 s"),
            (99_960_000_000, "100 s"),
        ] {
            assert_eq!(Nanos(ns).to_string(), text);
        }
    }

    #[test]
    fn rates_are_bytes_over_time() {
        assert_eq!(Throughput::per(Bytes(15_700_000_000), Nanos(1_000_000_000)).to_string(), "15.7 GB/s");
        assert_eq!(Throughput::per(Bytes(1), Nanos(0)).to_string(), "–");
        assert_eq!(Throughput::per(Bytes(500), Nanos(1_000_000_000)).to_string(), "500 B/s");
    }

    #[test]
    fn rates_are_parsed_as_sizes_per_second() {
        assert_eq!("3400MB/s".parse(), Ok(Throughput(3.4e9)));
        assert_eq!("3.4GB/s".parse(), Ok(Throughput(3.4e9)));
        for wrong in ["3400", "3400MB", "0MB/s", "fast", "/s", "-1MB/s"] {
            assert!(wrong.parse::<Throughput>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn an_exact_size_is_parsed_back(bytes: u64) {
            prop_assert_eq!(Bytes(bytes).exact_text().parse(), Ok(Bytes(bytes)));
        }
    }
}
