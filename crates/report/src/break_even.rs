//! Break-even: the rate of a device below which its files are read faster compressed.
//!
//! An archive of C compressed bytes decodes to P plain bytes, and the fastest warm decoding takes
//! the time t. On a device that delivers r bytes a second, the plain file takes P/r. The compressed
//! file takes C/r + t if it is first read and then decoded, so it is faster below (P − C)/t. If
//! reading and decoding overlap completely, it takes the longer of C/r and t, and is faster below
//! P/t. Real decoders are between the two. The time t includes the copy out of the page cache and
//! the visit of the bytes, which a reading of the plain file takes as well. So the true rates are
//! higher, and this advice errs towards the plain file.

use super::ranking::{Ranking, RankingRow};
use super::words;
use readlab_analysis::stats::{Interval, IntervalRule};
use readlab_model::trial::{CacheState, Work};
use readlab_model::units::{Bytes, Nanos, Throughput};
use readlab_protocol::Archive;
use schemars::JsonSchema;
use serde::Serialize;

/// The rates of a device below which an archive is read faster than its content as a plain file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BreakEven {
    pub archive: Archive,
    pub path: String,
    pub work: Work,
    /// The fastest trial that decodes the archive out of the page cache.
    #[serde(rename = "decoding")]
    pub decoding_trial: String,
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// The median time of the decoding.
    pub decoding_ns: u64,
    /// The rate of the device below which the archive is faster, if it is first read and then
    /// decoded; `None` if the archive is not smaller than its content.
    #[serde(rename = "below_bytes_per_s")]
    pub break_even_bytes_per_s: Option<f64>,
    /// The 95 % interval of the rate if reading and decoding do not overlap, computed from the
    /// interval of the decoding time; `None` without that rate, and with a single round.
    #[serde(rename = "below_ci95")]
    pub break_even_ci95: Option<Interval>,
    #[serde(rename = "interval")]
    pub rule: Option<IntervalRule>,
    /// The rate of the device below which the archive is faster, if reading and decoding overlap
    /// completely; `None` if the archive is not smaller than its content.
    #[serde(rename = "below_overlapped_bytes_per_s")]
    pub overlapped_break_even_bytes_per_s: Option<f64>,
}

impl BreakEven {
    pub(super) fn all(rankings: &[Ranking]) -> Vec<BreakEven> {
        rankings
            .iter()
            .filter(|ranking| ranking.state == CacheState::Warm)
            .filter_map(BreakEven::from_ranking)
            .collect()
    }

    fn from_ranking(ranking: &Ranking) -> Option<BreakEven> {
        let (archive, first) = ranking.archive.zip(ranking.rows.first())?;
        let (Bytes(bytes_in), Bytes(bytes_out)) = ranking.size.zip(ranking.content_bytes)?;
        let RankingRow { name, wall, .. } = first;
        let saved = bytes_out.checked_sub(bytes_in).filter(|&saved| saved > 0).map(Bytes);
        let rate = |bytes: Bytes, time_ns: u64| Throughput::per(bytes, Nanos(time_ns)).0;
        let ends = saved.zip(wall.median_ci95);
        Some(BreakEven {
            archive,
            path: ranking.path.clone(),
            work: ranking.work,
            decoding_trial: name.clone(),
            bytes_in,
            bytes_out,
            decoding_ns: wall.median,
            break_even_bytes_per_s: saved.map(|saved| rate(saved, wall.median)),
            // The longest decoding time gives the lowest rate.
            break_even_ci95: ends
                .map(|(saved, [low, high])| Interval { low: rate(saved, high), high: rate(saved, low) }),
            rule: first.interval_rule.filter(|_| ends.is_some()),
            overlapped_break_even_bytes_per_s: saved.map(|_| rate(Bytes(bytes_out), wall.median)),
        })
    }

    pub fn sentence(&self) -> String {
        let what = format!(
            "{}: {} decodes {} out of {} of {} in {}",
            self.work,
            self.decoding_trial,
            Bytes(self.bytes_out),
            Bytes(self.bytes_in),
            self.archive,
            Nanos(self.decoding_ns),
        );
        let Some((below, overlapped)) =
            self.break_even_bytes_per_s.zip(self.overlapped_break_even_bytes_per_s)
        else {
            return format!("{what}; it is not smaller than its content, so it is read faster plain");
        };
        let ends = self.break_even_ci95.map_or_else(
            || " (1 round)".to_owned(),
            |ends| words::ends_text(ends, |rate| Throughput(rate).to_string()),
        );
        format!(
            "{what}; from a device slower than {}{ends} it is read faster than the plain file, and from one slower than \
             {} if reading and decoding overlap wholly",
            Throughput(below),
            Throughput(overlapped),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{add_readings, announce, reading};
    use readlab_model::target::{DecodedContent, TargetFacts};
    use readlab_model::trial::Answer;
    use readlab_record::Record;
    use readlab_record::testing::{self, header};

    /// A record in which an archive of `bytes_in` bytes decodes to 600 MB in a median time of 100
    /// ms.
    fn record_with_archive(bytes_in: u64, readings: u32, state: CacheState) -> Record {
        let mut record = Record::new(header());
        let answer = Answer { bytes: Some(600_000_000), ..Answer::default() };
        let decoded = Some(DecodedContent { archive: Archive::Zstd, digest: "d".to_owned(), answer });
        let path = "a.zst".into();
        let facts = TargetFacts { path, size_bytes: bytes_in, decoded, ..TargetFacts::default() };
        record.add(testing::target_line(0, facts));
        for (index, (name, middle_ms)) in [("rust/zstd", 100), ("command/zstd", 150)].into_iter().enumerate()
        {
            announce(&mut record, index, name, state).decoded_format = Some(Archive::Zstd);
            let wall_ms = |round: u32| middle_ms + u64::from(round) - u64::from(readings / 2);
            let read = |round| reading(index, round, wall_ms(round) * 1_000_000);
            add_readings(&mut record, index, (0..readings).map(read));
        }
        record
    }

    fn break_evens(record: &Record) -> Vec<BreakEven> {
        BreakEven::all(&Ranking::all(record, &[]))
    }

    #[test]
    fn the_rate_is_the_bytes_saved_over_the_time_of_the_fastest_decoding() {
        let [it] = &break_evens(&record_with_archive(100_000_000, 41, CacheState::Warm))[..] else {
            panic!("one archive")
        };
        assert_eq!((it.decoding_trial.as_str(), it.decoding_ns), ("rust/zstd", 100_000_000));
        assert_eq!(it.break_even_bytes_per_s, Some(5e9));
        assert_eq!(it.overlapped_break_even_bytes_per_s, Some(6e9));
        let ends = it.break_even_ci95.unwrap();
        assert!((4e9..5e9).contains(&ends.low) && (5e9..6.3e9).contains(&ends.high), "{ends:?}");
        let sentence = it.sentence();
        let head = "newlines: rust/zstd decodes 600 MB out of 100 MB of zstd in 100 ms; from a device slower than 5.00 GB/s [";
        assert!(sentence.starts_with(head), "{sentence}");
        let end =
            "than the plain file, and from one slower than 6.00 GB/s if reading and decoding overlap wholly";
        assert!(sentence.ends_with(end), "{sentence}");
    }

    #[test]
    fn one_round_has_no_interval_and_a_large_archive_no_rate() {
        let few = &break_evens(&record_with_archive(100_000_000, 2, CacheState::Warm))[0];
        assert!(few.break_even_ci95.is_some() && few.rule == Some(IntervalRule::Student), "{few:?}");
        let one = &break_evens(&record_with_archive(100_000_000, 1, CacheState::Warm))[0];
        assert!(one.break_even_ci95.is_none() && one.sentence().contains("(1 round)"));
        for bytes_in in [600_000_000, 700_000_000] {
            let large = &break_evens(&record_with_archive(bytes_in, 41, CacheState::Warm))[0];
            let none = (
                large.break_even_bytes_per_s,
                large.break_even_ci95,
                large.overlapped_break_even_bytes_per_s,
            );
            assert_eq!(none, (None, None, None));
            assert!(large.sentence().ends_with("not smaller than its content, so it is read faster plain"));
        }
    }

    #[test]
    fn two_and_three_rounds_of_many_trials_have_the_interval_of_their_shared_noise() {
        for readings in [2, 3] {
            let mut record = record_with_archive(100_000_000, readings, CacheState::Warm);
            // Locations share their noise from eight trials on.
            for index in 2..9 {
                let name = format!("command/unzip {index}");
                announce(&mut record, index, &name, CacheState::Warm).decoded_format = Some(Archive::Zstd);
                let wall_ms = |round: u32| 200 + 10 * index as u64 + u64::from(round);
                let read = |round| reading(index, round, wall_ms(round) * 1_000_000);
                add_readings(&mut record, index, (0..readings).map(read));
            }
            let it = &break_evens(&record)[0];
            assert_eq!(
                (it.decoding_trial.as_str(), it.rule),
                ("rust/zstd", Some(IntervalRule::SharedVariance))
            );
            let (below, ends) = (it.break_even_bytes_per_s.unwrap(), it.break_even_ci95.unwrap());
            assert!(ends.low < below && below < ends.high && ends.high < 1.2 * ends.low, "{it:?}");
            let sentence = it.sentence();
            assert!(sentence.contains("GB/s [") && !sentence.contains("round"), "{sentence}");
        }
    }

    #[test]
    fn cold_decoding_includes_the_device_and_is_left_out() {
        assert_eq!(break_evens(&record_with_archive(100_000_000, 41, CacheState::Cold)), []);
    }
}
