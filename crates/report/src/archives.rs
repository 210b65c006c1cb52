//! Compares reading the content of an archive with reading the same content from a plain file, in
//! one race, with the ratio of the two.
//!
//! For each contender, the fastest trial of each kind with the same work and state is compared. The
//! ratio is computed within rounds, like every ratio, with the noise of all trials on both targets.
//! Only an archive whose content has the digest of the plain target is compared: a user's own
//! archive has no plain file beside it.

use super::groups;
use super::ranking::Ranking;
use super::words;
use readlab_analysis::noise::SharedNoise;
use readlab_analysis::stats::{Interval, IntervalRule, Significance};
use readlab_model::target::TargetIndex;
use readlab_model::trial::{CacheState, Work};
use readlab_protocol::Archive;
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// How many times as fast a contender reads an archive as it reads the same content in a plain
/// file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ArchiveRatio {
    pub archive: Archive,
    pub state: CacheState,
    pub work: Work,
    #[serde(rename = "decoding")]
    pub decoding_trial: String,
    #[serde(rename = "plain")]
    pub plain_trial: String,
    pub estimate: f64,
    /// 95 % interval; `None` with a single common round.
    pub ci95: Option<Interval>,
    #[serde(rename = "interval")]
    pub rule: Option<IntervalRule>,
}

impl ArchiveRatio {
    pub(super) fn all(record: &Record, rankings: &[Ranking]) -> Vec<ArchiveRatio> {
        let mut all = Vec::new();
        for packed in rankings {
            let Some(archive) = packed.archive else { continue };
            let is_same = |plain: &&Ranking| {
                plain.archive.is_none()
                    && (plain.state, plain.work) == (packed.state, packed.work)
                    && is_content_of_archive(record, packed.target, plain.target)
            };
            let Some(plain) = rankings.iter().find(is_same) else { continue };
            let measured = packed.rows.iter().chain(&plain.rows).filter_map(|row| record.trial(row.index));
            let noise = SharedNoise::from_trials(measured);
            // The rows of a ranking are sorted: the first of a contender is its fastest.
            let firsts = groups::firsts(&packed.rows, |row| &row.method.contender).into_iter();
            let ratios = firsts.filter_map(|decoding| {
                let contender = &decoding.method.contender;
                let plain = plain.rows.iter().find(|row| row.method.contender == *contender)?;
                let ratio = noise.ratio(decoding.index, plain.index)?;
                Some(ArchiveRatio {
                    archive,
                    state: packed.state,
                    work: packed.work,
                    decoding_trial: decoding.name.clone(),
                    plain_trial: plain.name.clone(),
                    estimate: ratio.estimate,
                    ci95: ratio.ci95.map(|it| it.ends),
                    rule: ratio.ci95.map(|it| it.rule),
                })
            });
            all.extend(ratios);
        }
        all
    }

    pub fn sentence(&self) -> String {
        let ends = self
            .ci95
            .map_or_else(|| " (1 round)".to_owned(), |ends| words::ratio_ends_text(ends, words::factor));
        let winner = match self.ci95.map(Significance::from_interval) {
            Some(Significance::Faster) => ": decoding is faster than reading the plain file",
            Some(Significance::Slower) => ": reading the plain file is faster",
            Some(Significance::Tie) if self.ci95.is_some_and(words::is_clear_tie) => ": they tie",
            Some(Significance::Tie) | None => "",
        };
        format!(
            "{}, {}: {} out of the {} is {}{ends} times as fast as {} on the same content as a plain file{winner}",
            self.state,
            self.work,
            self.decoding_trial,
            self.archive,
            words::factor(self.estimate),
            self.plain_trial,
        )
    }
}

/// Whether the plain target holds the content of the archive, and both are read under the same
/// settings of the system and the same bound on memory.
fn is_content_of_archive(record: &Record, archive: TargetIndex, plain: TargetIndex) -> bool {
    let facts = |target: TargetIndex| record.targets.get(target);
    let conditions = |target: TargetIndex| {
        facts(target).map(|it| (&it.settings, it.memory_bound.as_ref().map(|memory| memory.bound)))
    };
    let content = facts(archive).and_then(|it| it.decoded.as_ref()).map(|decoded| &decoded.digest);
    let is_same = content == facts(plain).and_then(|it| it.digest.as_ref());
    content.is_some() && is_same && conditions(archive) == conditions(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{add_readings, announce, read_ahead_setting, reading};
    use readlab_model::target::{DecodedContent, TargetFacts};
    use readlab_model::trial::Answer;
    use readlab_record::testing::{self, header};

    /// A record in which a contender reads lines in 100 ms from a plain file, and in `zip_ms` from
    /// a zip whose content has the digest `d1`. The plain file has the digest `digest`.
    fn race_with_zip(zip_ms: u64, digest: &str) -> Record {
        let mut record = Record::new(header());
        let answer = Answer { bytes: Some(600), ..Answer::default() };
        let decoded = Some(DecodedContent { archive: Archive::Zip, digest: "d1".to_owned(), answer });
        let plain = TargetFacts {
            path: "p".into(),
            size_bytes: 600,
            digest: Some(digest.to_owned()),
            ..TargetFacts::default()
        };
        let zip = TargetFacts { path: "z".into(), size_bytes: 100, decoded, ..TargetFacts::default() };
        record.add(testing::target_line(0, plain));
        record.add(testing::target_line(1, zip));
        let reads = [("java/BufferedReader", 0, None, 100), ("java/zip", 1, Some(Archive::Zip), zip_ms)];
        for (index, (name, target, decodes, wall_ms)) in reads.into_iter().enumerate() {
            let it = announce(&mut record, index, name, CacheState::Warm);
            (it.target, it.decoded_format) = (TargetIndex::new(target), decodes);
            let wall_ns = |round: u32| wall_ms * 1_000_000 + u64::from(round * 37 % 5) * 100_000;
            add_readings(&mut record, index, (0..8).map(|round| reading(index, round, wall_ns(round))));
        }
        record
    }

    fn ratios(record: &Record) -> Vec<ArchiveRatio> {
        ArchiveRatio::all(record, &Ranking::all(record, &[]))
    }

    #[test]
    fn decoding_is_compared_with_the_plain_file_within_rounds() {
        let found = ratios(&race_with_zip(200, "d1"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].estimate - 0.5).abs() < 0.01, "{found:?}");
        let sentence = found[0].sentence();
        assert!(sentence.starts_with("warm, newlines: java/zip out of the zip is 0.5"), "{sentence}");
        assert!(sentence.ends_with("on the same content as a plain file: reading the plain file is faster"));
        assert!(
            ratios(&race_with_zip(50, "d1"))[0]
                .sentence()
                .ends_with("decoding is faster than reading the plain file")
        );
        assert!(ratios(&race_with_zip(100, "d1"))[0].sentence().ends_with(": they tie"));
    }

    #[test]
    fn an_archive_of_other_content_or_under_other_settings_is_not_compared() {
        assert_eq!(ratios(&race_with_zip(200, "d2")), []);
        let mut record = race_with_zip(200, "d1");
        for (values, compared) in [(["128KiB", "4MiB"], 0), (["4MiB", "4MiB"], 1)] {
            for (target, value) in record.targets.iter_mut().zip(values) {
                target.settings = vec![read_ahead_setting(value, false)];
            }
            assert_eq!(ratios(&record).len(), compared, "{values:?}");
        }
    }
}
