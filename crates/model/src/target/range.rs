//! A range of one file that a reading reads instead of the whole file, as the user writes it and as
//! a record keeps it.

use crate::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The range of a file as the user writes it: `START:LENGTH`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FileRange {
    start: FileAmount,
    /// True if the start is counted from the end of the file.
    is_from_end: bool,
    /// Length of the range; `None` if the range ends where the file ends.
    length: Option<FileAmount>,
}

/// A number of bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
enum FileAmount {
    Bytes(u64),
    /// A percentage of the file's size, from 0 to 100.
    Percent(f64),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no range: START:LENGTH, each in bytes (64KiB) or percent (10%); with -START from the end, without LENGTH to the end"
)]
pub struct FileRangeError(String);

/// The range of a file that is read, as a record keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RangeFacts {
    pub start_bytes: u64,
    pub length_bytes: u64,
    /// Bytes from the start of a page to the start of the user's range. They are read too, but no
    /// rate counts them.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub before_bytes: u64,
    pub file_bytes: u64,
}

impl FileRange {
    /// The range in a file of this size. It may end after the end of the file; `None` if it begins
    /// before the file.
    pub fn bytes_in_file(self, file_bytes: u64) -> Option<Range<u64>> {
        let start = self.start.in_bytes(file_bytes);
        let start = if self.is_from_end { file_bytes.checked_sub(start)? } else { start };
        let length = self.length.map(|length| length.in_bytes(file_bytes));
        Some(start..length.map_or(file_bytes.max(start), |length| start.saturating_add(length)))
    }
}

impl FileAmount {
    fn in_bytes(self, file_bytes: u64) -> u64 {
        match self {
            FileAmount::Bytes(bytes) => bytes,
            FileAmount::Percent(percent) => (file_bytes as f64 * percent / 100.0) as u64,
        }
    }
}

impl FromStr for FileAmount {
    type Err = ();

    fn from_str(text: &str) -> Result<FileAmount, ()> {
        let Some(percent) = text.strip_suffix('%') else {
            return text.parse::<Bytes>().map(|bytes| FileAmount::Bytes(bytes.0)).map_err(drop);
        };
        let percent = percent.trim().parse::<f64>().map_err(drop)?;
        if (0.0..=100.0).contains(&percent) { Ok(FileAmount::Percent(percent)) } else { Err(()) }
    }
}

impl FromStr for FileRange {
    type Err = FileRangeError;

    fn from_str(text: &str) -> Result<FileRange, FileRangeError> {
        let wrong = || FileRangeError(text.to_owned());
        let amount = |text: &str| text.trim().parse::<FileAmount>().map_err(|()| wrong());
        let (start, length) = text.split_once(':').ok_or_else(wrong)?;
        let from_end = start.trim().strip_prefix('-');
        Ok(FileRange {
            start: amount(from_end.unwrap_or(start))?,
            is_from_end: from_end.is_some(),
            length: if length.trim().is_empty() { None } else { Some(amount(length)?) },
        })
    }
}

impl fmt::Display for FileAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileAmount::Bytes(bytes) => f.write_str(&Bytes(*bytes).exact_text()),
            FileAmount::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for FileRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileRange { start, is_from_end, length } = self;
        write!(f, "{}{start}:", if *is_from_end { "-" } else { "" })?;
        length.map_or(Ok(()), |length| write!(f, "{length}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_range(text: &str) -> FileRange {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_is_formatted_as_it_was_written() {
        for text in ["0:64KiB", "-10MiB:10MiB", "50%:1MiB", "-12.5%:", "1000:1", "0:100%"] {
            assert_eq!(parse_range(text).to_string(), text);
        }
        for malformed in ["", "5", ":", "x:1", "1:x", "--1:1", "1:-1", "101%:1", "-1%x:1", "nan%:1", "1:2:3"]
        {
            assert!(malformed.parse::<FileRange>().is_err(), "{malformed}");
        }
    }

    #[test]
    fn a_range_is_counted_from_either_end_in_bytes_or_percent() {
        for (text, right) in [
            ("0:64", 0..64),
            ("100:", 100..1000),
            ("-100:50", 900..950),
            ("-100:", 900..1000),
            ("25%:50%", 250..750),
            ("-10%:", 900..1000),
            ("990:20", 990..1010),
            ("2000:", 2000..2000),
            ("-0:1", 1000..1001),
        ] {
            assert_eq!(parse_range(text).bytes_in_file(1000), Some(right), "{text}");
        }
        assert_eq!(parse_range("-1001:1").bytes_in_file(1000), None);
        assert_eq!(parse_range("1:18446744073709551615").bytes_in_file(1000), Some(1..u64::MAX));
    }
}
