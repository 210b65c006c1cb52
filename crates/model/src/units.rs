//! Quantities with their units: time, size, rate. Parsing, arithmetic and display.
//!
//! Files hold plain integers in nanoseconds and bytes; these types are for everything that a person
//! reads or types. Rates and measured sizes are shown in powers of ten, as drives and networks are
//! sold; buffers in powers of two, as programs allocate them. Every shown number carries its unit.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A span of time in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A rate in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Throughput(pub f64);

/// Why a quantity was not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// There is no number in front.
    #[error("'{0}' does not start with a number")]
    NoNumber(String),
    /// The letters behind the number are no unit of this kind.
    #[error("'{text}': unknown unit '{unit}' (known: {known})")]
    UnknownUnit {
        text: String,
        /// The part behind the number.
        unit: String,
        known: &'static str,
    },
    /// The value does not fit, or is not whole.
    #[error("'{0}' is out of range")]
    OutOfRange(String),
}

impl Nanos {
    /// From seconds; negative and not-a-number become zero.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
    pub fn from_secs_f64(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as u64)
    }

    #[expect(clippy::cast_precision_loss, reason = "exact up to 104 days")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
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
    #[expect(clippy::cast_precision_loss, reason = "a rate is shown with three digits")]
    pub fn per(bytes: Bytes, time: Nanos) -> Throughput {
        Throughput(bytes.0 as f64 / time.as_secs_f64())
    }
}

/// Three significant digits, as many decimals as that takes: 1.23, 12.3, 123, 1234.
fn three_digits(value: f64) -> String {
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$}")
}

/// A unit in which a quantity is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// How many nanoseconds, bytes or bytes per second it is.
    pub size: f64,
    /// Its name, such as `ms`.
    pub name: &'static str,
}

impl Nanos {
    /// The largest unit that leaves a number of at least one: ns, µs, ms, s.
    pub fn unit(self) -> Unit {
        let (size, name) = match self.0 {
            0..1_000 => (1.0, "ns"),
            1_000..1_000_000 => (1e3, "µs"),
            1_000_000..1_000_000_000 => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        Unit { size, name }
    }
}

impl Throughput {
    /// The largest unit that leaves a number of at least one: B/s, kB/s, MB/s, GB/s, TB/s.
    pub fn unit(self) -> Unit {
        let (size, name) = match self.0 {
            ..1e3 => (1.0, "B/s"),
            ..1e6 => (1e3, "kB/s"),
            ..1e9 => (1e6, "MB/s"),
            ..1e12 => (1e9, "GB/s"),
            _ => (1e12, "TB/s"),
        };
        Unit { size, name }
    }
}

impl fmt::Display for Nanos {
    /// In its unit, with three digits.
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unit { size, name } = self.unit();
        let text = match self.0 {
            0..1_000 => format!("{} {name}", self.0),
            ns => format!("{} {name}", three_digits(ns as f64 / size)),
        };
        f.pad(&text)
    }
}

impl fmt::Display for Bytes {
    /// In powers of ten: B, kB, MB, GB, TB.
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        let text = match self.0 {
            0..1_000 => format!("{} B", self.0),
            1_000..1_000_000 => format!("{} kB", three_digits(bytes / 1e3)),
            1_000_000..1_000_000_000 => format!("{} MB", three_digits(bytes / 1e6)),
            1_000_000_000..1_000_000_000_000 => format!("{} GB", three_digits(bytes / 1e9)),
            _ => format!("{} TB", three_digits(bytes / 1e12)),
        };
        f.pad(&text)
    }
}

impl Bytes {
    /// Exactly, in the largest power of two that divides it: `8KiB`, `2MiB`, `1000`. What
    /// [`Bytes::from_str`] reads.
    pub fn exact(self) -> String {
        for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return format!("{}{unit}", self.0 >> shift);
            }
        }
        self.0.to_string()
    }

    /// In powers of two, rounded: B, KiB, MiB, GiB, TiB. For memory.
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    pub fn binary(self) -> String {
        let bytes = self.0 as f64;
        match self.0 {
            0..0x400 => format!("{} B", self.0),
            0x400..0x10_0000 => format!("{} KiB", three_digits(bytes / 1024.0)),
            0x10_0000..0x4000_0000 => format!("{} MiB", three_digits(bytes / 1_048_576.0)),
            0x4000_0000..0x100_0000_0000 => format!("{} GiB", three_digits(bytes / 1_073_741_824.0)),
            _ => format!("{} TiB", three_digits(bytes / 1_099_511_627_776.0)),
        }
    }
}

impl fmt::Display for Throughput {
    /// In its unit, with three digits; whole bytes per second.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, Unit { size, name }) = (self.0, self.unit());
        let text = if !rate.is_finite() {
            "–".to_owned()
        } else if rate < 1e3 {
            format!("{rate:.0} {name}")
        } else {
            format!("{} {name}", three_digits(rate / size))
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

/// A float that is a whole number in the range of `u64`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked in the line above the cast"
)]
fn whole(value: f64, text: &str) -> Result<u64, UnitError> {
    if value.fract() != 0.0 || !(0.0..18_446_744_073_709_551_615.0).contains(&value) {
        return Err(UnitError::OutOfRange(text.to_owned()));
    }
    Ok(value as u64)
}

impl FromStr for Bytes {
    type Err = UnitError;

    /// `64KiB`, `64K`, `64k` are 65,536; `64kB` is 64,000; a bare number is bytes.
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
            _ => {
                return Err(UnitError::UnknownUnit {
                    text: text.to_owned(),
                    unit: unit.to_owned(),
                    known: "B, kB, MB, GB, TB, K, KiB, M, MiB, G, GiB, T, TiB",
                });
            }
        };
        // Whole numbers stay whole: a float holds them only up to 2^53.
        if let Ok(number) = text.trim().trim_end_matches(unit).trim_end().parse::<u64>() {
            let bytes = number.checked_mul(factor).ok_or_else(|| UnitError::OutOfRange(text.to_owned()))?;
            return Ok(Bytes(bytes));
        }
        #[expect(clippy::cast_precision_loss, reason = "a power of two or of ten, each exact in a float")]
        let factor = factor as f64;
        Ok(Bytes(whole(number * factor, text)?))
    }
}

impl FromStr for Throughput {
    type Err = UnitError;

    /// `3400MB/s`, `3.4GB/s`: a size for each second.
    fn from_str(text: &str) -> Result<Throughput, UnitError> {
        let size = text.trim().strip_suffix("/s").ok_or_else(|| UnitError::UnknownUnit {
            text: text.to_owned(),
            unit: number_and_unit(text).map_or_else(|_| String::new(), |(_, unit)| unit.to_owned()),
            known: "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s, TiB/s",
        })?;
        let bytes: Bytes = size.parse()?;
        if bytes.0 == 0 {
            Err(UnitError::OutOfRange(text.to_owned()))
        } else {
            Ok(Throughput::per(bytes, Nanos(1_000_000_000)))
        }
    }
}

impl FromStr for Nanos {
    type Err = UnitError;

    /// `30s`, `1.5m`, `250ms`, `2h`; a bare number is seconds, as in the tools people know.
    fn from_str(text: &str) -> Result<Nanos, UnitError> {
        let (number, unit) = number_and_unit(text)?;
        let factor = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "" | "s" => 1e9,
            "m" | "min" => 60e9,
            "h" => 3600e9,
            _ => {
                return Err(UnitError::UnknownUnit {
                    text: text.to_owned(),
                    unit: unit.to_owned(),
                    known: "ns, us, ms, s, m, h",
                });
            }
        };
        Ok(Nanos(whole((number * factor).round(), text)?))
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
    fn rates_are_sizes_for_each_second() {
        assert_eq!("3400MB/s".parse(), Ok(Throughput(3.4e9)));
        assert_eq!("3.4GB/s".parse(), Ok(Throughput(3.4e9)));
        for wrong in ["3400", "3400MB", "0MB/s", "fast", "/s", "-1MB/s"] {
            assert!(wrong.parse::<Throughput>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn an_exact_size_reads_back(bytes: u64) {
            prop_assert_eq!(Bytes(bytes).exact().parse(), Ok(Bytes(bytes)));
        }
    }
}
