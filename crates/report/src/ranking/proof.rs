//! The proofs of a ranking. The proof of the state is what is known about the cache over all
//! accepted samples. The other proof is how many readings are known to have touched the bytes,
//! instead of answering from memory, by the meter that shows it.

use super::super::words;
use readlab_analysis::stats::float;
use readlab_model::sample::{Delivered, Sample};
use readlab_model::trial::{CacheState, Transport};
use readlab_model::units::Bytes;
use readlab_record::{Touch, TrialRecord, VisitCost};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The share of pages that counts as the whole file: the system may evict a few pages by itself.
const WHOLE_SHARE_MIN: f64 = 0.99;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct StateProof {
    /// Number of accepted samples.
    pub samples: usize,
    /// Number of samples whose residency is known both before and after.
    pub residency_known: usize,
    /// Number of samples whose residency is an estimate from some pages of the file.
    #[serde(rename = "residency_estimated", skip_serializing_if = "is_none")]
    pub residency_estimated: usize,
    /// Number of samples whose device bytes are known.
    #[serde(rename = "device_bytes_known")]
    pub device_known: usize,
    /// Number of cold samples that went through the page cache and left less than the file in it.
    /// Only their device bytes prove them.
    #[serde(rename = "by_device_bytes_alone")]
    pub by_device_alone: usize,
    /// Number of cold samples of commands run as they are that read a part of the file and left it
    /// in the cache; it came from below.
    #[serde(rename = "of_a_part", skip_serializing_if = "is_none")]
    pub of_part: usize,
    /// Number of cold samples of commands run as they are that left nothing in the cache: they read
    /// past it, or read nothing.
    #[serde(skip_serializing_if = "is_none")]
    pub left_nothing: usize,
    /// Number of cold samples that went through the page cache, left less than the file in it and
    /// read nothing from the device, as from a hole: nothing proves that they read the file.
    #[serde(skip_serializing_if = "is_none")]
    pub unproven: usize,
    pub rejected: usize,
    /// Share of the file's pages in the cache before a reading.
    #[serde(skip)]
    pub resident_before: Option<Range>,
    /// Share of the file's pages in the cache after a reading.
    #[serde(skip)]
    pub resident_after: Option<Range>,
    /// Device bytes divided by the target's size.
    #[serde(skip)]
    pub device_share: Option<Range>,
    /// Bytes that the layer below read, divided by the target's size.
    #[serde(skip)]
    pub below_share: Option<Range>,
}

fn is_none(samples: &usize) -> bool {
    *samples == 0
}

impl Range {
    /// The range of some values; `None` without values.
    pub(super) fn over(values: impl Iterator<Item = f64>) -> Option<Range> {
        values.fold(None, |range, value| {
            let Range { low, high } = range.unwrap_or(Range { low: value, high: value });
            Some(Range { low: low.min(value), high: high.max(value) })
        })
    }
}

impl StateProof {
    /// The number of samples whose device bytes are missing, of those that only device bytes prove,
    /// and of those that nothing proves; empty where all three are zero.
    fn of_device(&self) -> String {
        let StateProof { samples, device_known, by_device_alone, of_part, left_nothing, unproven, .. } = self;
        let mut text = String::new();
        if device_known < samples {
            text += &format!(" (device bytes known for {device_known} of {samples})");
        }
        for (count, what) in [
            (by_device_alone, "left less than the file in the cache: device bytes alone prove them"),
            (of_part, "read a part: what they left in the cache came from there"),
            (left_nothing, "left nothing in the cache: they read past it, or nothing"),
            (
                unproven,
                "left less than the file in the cache and took nothing from the device: that they read it is unproven",
            ),
        ] {
            if *count > 0 {
                text += &format!("; {count} {what}");
            }
        }
        text
    }

    pub(crate) fn words(&self, over: Transport) -> String {
        let from_device = match over {
            Transport::File | Transport::Tree | Transport::Places => {
                format!("from the device {} of the size{}", share_range(self.device_share), self.of_device())
            }
            Transport::Http | Transport::S3 => "what came from the device, the server read".to_owned(),
        };
        let estimated = match self.residency_estimated {
            0 => String::new(),
            some => format!(" (estimated for {some}, from sampled pages)"),
        };
        let below = self.below_share.map_or_else(String::new, |share| {
            format!("; the layer below read {} of the size", share_range(Some(share)))
        });
        format!(
            "residency known for {} of {} samples{}, {} rejected; in the cache before {}, after {}; {from_device}{below}",
            self.residency_known,
            self.samples,
            estimated,
            self.rejected,
            share_range(self.resident_before),
            share_range(self.resident_after),
        )
    }

    /// The proof of samples that find names and read no file.
    pub(crate) fn words_of_names(&self) -> String {
        format!(
            "names looked up (256 at most) for {} of {} samples, {} rejected; in memory before {}, after {}; device bytes \
             known for {}",
            self.residency_known,
            self.samples,
            self.rejected,
            share_range(self.resident_before),
            share_range(self.resident_after),
            self.device_known,
        )
    }

    /// The proof over all samples of these trials, each with the size of its target.
    pub(crate) fn from_trials<'a>(
        trials: impl Iterator<Item = (&'a TrialRecord, Option<Bytes>)> + Clone,
    ) -> StateProof {
        let all = || trials.clone().map(|(trial, _)| trial);
        let samples = || all().flat_map(|trial| &trial.samples);
        let known = || samples().filter(|it| it.resident_before.is_some() && it.resident_after.is_some());
        // A command run as it is may read only a part of its target.
        let cold_samples_that_left_less = |is_part: bool, is_counted: fn(&Sample) -> bool| {
            all()
                .filter(|it| it.trial.work.may_read_part() == is_part && !it.trial.work.finds_names())
                .map(|it| cold_samples_that_left_less(it, is_counted))
                .sum::<usize>()
        };
        StateProof {
            samples: samples().count(),
            residency_known: known().count(),
            residency_estimated: known().filter(|sample| sample.resident_is_estimate).count(),
            device_known: samples().filter(|sample| sample.device_read_bytes.is_some()).count(),
            by_device_alone: cold_samples_that_left_less(false, |it| it.device_read_bytes != Some(0)),
            unproven: cold_samples_that_left_less(false, |it| it.device_read_bytes == Some(0)),
            of_part: cold_samples_that_left_less(true, |it| !left_nothing(it)),
            left_nothing: cold_samples_that_left_less(true, left_nothing),
            rejected: all().map(|trial| trial.rejected.len()).sum(),
            resident_before: Range::over(samples().filter_map(|sample| sample.resident_before)),
            resident_after: Range::over(samples().filter_map(|sample| sample.resident_after)),
            device_share: Range::over(shares_of_size(trials.clone(), |sample| sample.device_read_bytes)),
            below_share: Range::over(shares_of_size(trials, |sample| sample.below_read_bytes)),
        }
    }
}

/// The lowest and the highest share, or one share if both are shown alike.
fn share_range(range: Option<Range>) -> String {
    match range {
        None => "not known".to_owned(),
        Some(Range { low, high }) if words::percent(low) == words::percent(high) => words::percent(low),
        Some(Range { low, high }) => format!("{} to {}", words::percent(low), words::percent(high)),
    }
}

/// Whether a reading left no page in the cache. An estimate sees only some of them.
fn left_nothing(sample: &Sample) -> bool {
    sample.resident_after == Some(0.0) && !sample.resident_is_estimate
}

/// Number of cold samples through the page cache that left less than the file in it and that
/// `is_counted` accepts.
fn cold_samples_that_left_less(trial: &TrialRecord, is_counted: impl Fn(&Sample) -> bool) -> usize {
    if trial.trial.state != CacheState::Cold || trial.trial.bypasses_cache() {
        return 0;
    }
    let is_less = |sample: &Sample| sample.resident_after.is_some_and(|share| share < WHOLE_SHARE_MIN);
    trial.samples.iter().filter(is_less).filter(|sample| is_counted(sample)).count()
}

/// A number of bytes divided by the target's size, for each sample.
fn shares_of_size<'a>(
    trials: impl Iterator<Item = (&'a TrialRecord, Option<Bytes>)>,
    bytes: fn(&Sample) -> Option<u64>,
) -> impl Iterator<Item = f64> {
    let sized = trials.filter_map(|(trial, size)| Some((trial, size.filter(|size| size.0 > 0)?)));
    sized.flat_map(move |(trial, size)| {
        trial.samples.iter().filter_map(move |it| Some(float(bytes(&it)?) / float(size.0)))
    })
}

/// The number of readings for each answer of the turns' meters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched(BTreeMap<Touch, usize>);

impl Touched {
    /// Counts the accepted readings, using the controls among all trials as the measure; `None` if
    /// no turn was metered.
    pub(super) fn count<'a>(
        all: &[&TrialRecord],
        ranked: impl Iterator<Item = &'a TrialRecord>,
    ) -> Option<Touched> {
        let mut visit = VisitCost::default();
        for control in all.iter().filter(|it| it.trial.is_control()) {
            control.samples.iter().for_each(|sample| visit.learn(&control.trial, &sample));
        }
        let mut found = BTreeMap::new();
        let mut is_metered = false;
        for it in ranked {
            for sample in &it.samples {
                is_metered |= !sample.turn.is_unknown();
                *found.entry(visit.touch(&it.trial, &sample)).or_insert(0) += 1;
            }
        }
        is_metered.then_some(Touched(found))
    }

    pub fn words(&self) -> String {
        let of = |touch| self.0.get(&touch).copied().unwrap_or(0);
        let all: usize = self.0.values().sum();
        let by = [
            (of(Touch::Delivered(Delivered::Calls)), "by read calls"),
            (of(Touch::Delivered(Delivered::Faults)), "by page faults"),
            (of(Touch::CpuTime), "by CPU time"),
        ];
        let known: usize = by.iter().map(|(n, _)| n).sum();
        let by: Vec<String> = by.iter().filter(|(n, _)| *n > 0).map(|(n, by)| format!("{n} {by}")).collect();
        let how = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
        let rest = if known < all { "; of the others the meters cannot tell" } else { "" };
        format!("{known} of {all} readings touched the bytes{how}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::{TrialIndex, Work};
    use readlab_protocol::Cache;
    use readlab_record::{Line, Record, testing};

    #[test]
    fn unproven_samples_are_counted_in_words() {
        let calls = Touch::Delivered(Delivered::Calls);
        let known = Touched([(calls, 20), (Touch::CpuTime, 7), (Touch::Unknown, 3)].into()).words();
        let of_both = "27 of 30 readings touched the bytes (20 by read calls, 7 by CPU time)";
        assert_eq!(known, format!("{of_both}; of the others the meters cannot tell"));
        let unknown = Touched([(Touch::Unknown, 2)].into()).words();
        assert_eq!(unknown, "0 of 2 readings touched the bytes; of the others the meters cannot tell");
    }
    #[test]
    fn a_command_that_left_nothing_in_the_cache_is_not_said_to_have_left_a_part() {
        let mut record = Record::new(testing::header());
        record.add(testing::trial(0, "command/dd", CacheState::Cold, Cache::Through));
        let trial = TrialIndex::new(0);
        record.trials[trial].trial.work = Work::Output;
        for (round, after) in (0..).zip([0.0, 0.03, 0.0]) {
            let (resident_before, resident_after) = (Some(0.0), Some(after));
            let sample =
                Sample { trial, round, wall_ns: 1, resident_before, resident_after, ..Sample::default() };
            record.add(Line::Sample(Box::new(sample)));
        }
        let proof = StateProof::from_trials(record.trials.iter().map(|it| (it, None)));
        assert_eq!((proof.of_part, proof.left_nothing), (1, 2));
        let words = proof.words(Transport::File);
        let told = "; 1 read a part: what they left in the cache came from there; 2 left nothing in the cache: they \
                    read past it, or nothing";
        assert!(words.ends_with(told), "{words}");
    }
}
