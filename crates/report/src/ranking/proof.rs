//! The proofs of a ranking. The proof of the state is what is known about the cache over all
//! accepted samples. The other proof counts the readings that certainly touched the bytes instead
//! of answering from memory, by the meter that shows this.

use super::super::words;
use readlab_analysis::stats::float;
use readlab_model::sample::{DeliveryMeter, Sample};
use readlab_model::trial::{CacheState, Transport};
use readlab_model::units::Bytes;
use readlab_record::{TouchProof, Trial, TrialRecord, VisitCost};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The share of pages that counts as the whole file: the system may evict a few pages by itself.
const WHOLE_SHARE_MIN: f64 = 0.99;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareRange {
    pub low: f64,
    pub high: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct StateProof {
    /// Number of accepted samples.
    #[serde(rename = "samples")]
    pub sample_count: usize,
    /// Number of samples for which the residency before and after the reading is known.
    #[serde(rename = "residency_known")]
    pub known_residency_count: usize,
    /// Number of samples whose residency is an estimate from some pages of the file.
    #[serde(rename = "residency_estimated", skip_serializing_if = "is_zero")]
    pub estimated_residency_count: usize,
    /// Number of samples whose device bytes are known.
    #[serde(rename = "device_bytes_known")]
    pub known_device_bytes_count: usize,
    /// Number of cold samples that went through the page cache and left less than the file in it.
    /// Only their device bytes prove them.
    #[serde(rename = "by_device_bytes_alone")]
    pub proven_by_device_count: usize,
    /// Number of cold samples of commands without a contender that read a part of the file and left
    /// this part in the cache.
    #[serde(rename = "of_a_part", skip_serializing_if = "is_zero")]
    pub part_read_count: usize,
    /// Number of cold samples of commands without a contender that left nothing in the cache: they
    /// bypassed the cache, or read nothing.
    #[serde(skip_serializing_if = "is_zero")]
    #[serde(rename = "left_nothing")]
    pub left_nothing_count: usize,
    /// Number of cold samples that left less than the file in the page cache and read nothing from
    /// the device, for example because the file is a hole. Nothing proves that they read the file.
    #[serde(skip_serializing_if = "is_zero")]
    #[serde(rename = "unproven")]
    pub unproven_count: usize,
    #[serde(rename = "rejected")]
    pub rejected_count: usize,
    /// Share of the file's pages in the cache before a reading.
    #[serde(skip)]
    pub resident_before: Option<ShareRange>,
    /// Share of the file's pages in the cache after a reading.
    #[serde(skip)]
    pub resident_after: Option<ShareRange>,
    /// Device bytes divided by the target's size.
    #[serde(skip)]
    pub device_share: Option<ShareRange>,
    /// Bytes that the layer below read, divided by the target's size.
    #[serde(skip)]
    pub lower_layer_share: Option<ShareRange>,
}

fn is_zero(samples: &usize) -> bool {
    *samples == 0
}

impl ShareRange {
    /// The range of some values; `None` without values.
    pub(super) fn covering(values: impl Iterator<Item = f64>) -> Option<ShareRange> {
        values.fold(None, |range, value| {
            let ShareRange { low, high } = range.unwrap_or(ShareRange { low: value, high: value });
            Some(ShareRange { low: low.min(value), high: high.max(value) })
        })
    }
}

impl StateProof {
    /// The numbers of samples without device bytes, of samples that only device bytes prove, and of
    /// samples that are not proven; empty if all of them are zero.
    fn device_words(&self) -> String {
        let StateProof {
            sample_count: samples,
            known_device_bytes_count: device_known,
            proven_by_device_count: proven_by_device_alone,
            part_read_count: part_reads,
            left_nothing_count: left_nothing,
            unproven_count: unproven,
            ..
        } = self;
        let mut text = String::new();
        if device_known < samples {
            text += &format!(" (device bytes known for {device_known} of {samples})");
        }
        for (count, what) in [
            (proven_by_device_alone, "left less than the file in the cache: device bytes alone prove them"),
            (part_reads, "read a part: what they left in the cache came from there"),
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
                format!(
                    "from the device {} of the size{}",
                    share_range_words(self.device_share),
                    self.device_words()
                )
            }
            Transport::Http | Transport::S3 => "what came from the device, the server read".to_owned(),
        };
        let estimated = match self.estimated_residency_count {
            0 => String::new(),
            some => format!(" (estimated for {some}, from sampled pages)"),
        };
        let below = self.lower_layer_share.map_or_else(String::new, |share| {
            format!("; the layer below read {} of the size", share_range_words(Some(share)))
        });
        format!(
            "residency known for {} of {} samples{}, {} rejected; in the cache before {}, after {}; {from_device}{below}",
            self.known_residency_count,
            self.sample_count,
            estimated,
            self.rejected_count,
            share_range_words(self.resident_before),
            share_range_words(self.resident_after),
        )
    }

    /// The proof of samples that find names and read no file.
    pub(crate) fn names_words(&self) -> String {
        format!(
            "names looked up (256 at most) for {} of {} samples, {} rejected; in memory before {}, after {}; device bytes \
             known for {}",
            self.known_residency_count,
            self.sample_count,
            self.rejected_count,
            share_range_words(self.resident_before),
            share_range_words(self.resident_after),
            self.known_device_bytes_count,
        )
    }

    /// The proof over all samples of these trials, each with the size of its target.
    pub(crate) fn from_trials<'a>(
        trials: impl Iterator<Item = (&'a TrialRecord, Option<Bytes>)> + Clone,
    ) -> StateProof {
        let all = || trials.clone().map(|(trial, _)| trial);
        let samples = || all().flat_map(|trial| &trial.samples);
        let known = || samples().filter(|it| it.resident_before.is_some() && it.resident_after.is_some());
        // A command without a contender may read only a part of its target.
        let count_cold_samples_that_left_less = |is_part: bool, is_counted: fn(&Trial, &Sample) -> bool| {
            all()
                .filter(|it| it.trial.work.may_read_part() == is_part && !it.trial.work.finds_names())
                .map(|it| count_cold_samples_that_left_less(it, is_counted))
                .sum::<usize>()
        };
        StateProof {
            sample_count: samples().count(),
            known_residency_count: known().count(),
            estimated_residency_count: known().filter(|sample| sample.resident_is_estimate).count(),
            known_device_bytes_count: samples().filter(|sample| sample.device_read_bytes.is_some()).count(),
            proven_by_device_count: count_cold_samples_that_left_less(false, |trial, it| {
                !trial.bypasses_cache() && it.device_read_bytes.is_some_and(|bytes| bytes > 0)
            }),
            unproven_count: count_cold_samples_that_left_less(false, |_, it| {
                it.device_read_bytes == Some(0) && it.below_read_bytes.unwrap_or(0) == 0
            }),
            part_read_count: count_cold_samples_that_left_less(true, |trial, it| {
                !trial.bypasses_cache() && !left_no_page_in_cache(it)
            }),
            left_nothing_count: count_cold_samples_that_left_less(true, |trial, it| {
                !trial.bypasses_cache() && left_no_page_in_cache(it)
            }),
            rejected_count: all().map(|trial| trial.rejected_readings.len()).sum(),
            resident_before: ShareRange::covering(samples().filter_map(|sample| sample.resident_before)),
            resident_after: ShareRange::covering(samples().filter_map(|sample| sample.resident_after)),
            device_share: ShareRange::covering(shares_of_size(trials.clone(), |sample| {
                sample.device_read_bytes
            })),
            lower_layer_share: ShareRange::covering(shares_of_size(trials, |sample| sample.below_read_bytes)),
        }
    }
}

/// The lowest and the highest share, or one share if both have the same text.
fn share_range_words(range: Option<ShareRange>) -> String {
    match range {
        None => "not known".to_owned(),
        Some(ShareRange { low, high }) if words::percent(low) == words::percent(high) => words::percent(low),
        Some(ShareRange { low, high }) => format!("{} to {}", words::percent(low), words::percent(high)),
    }
}

/// Whether a reading left no page in the cache. An estimate cannot show this, because it is made
/// from only some of the pages.
fn left_no_page_in_cache(sample: &Sample) -> bool {
    sample.resident_after == Some(0.0) && !sample.resident_is_estimate
}

/// Number of cold samples that left less than the file in the page cache, and that `is_counted`
/// accepts.
fn count_cold_samples_that_left_less(trial: &TrialRecord, is_counted: fn(&Trial, &Sample) -> bool) -> usize {
    if trial.trial.state != CacheState::Cold {
        return 0;
    }
    let is_less = |sample: &Sample| sample.resident_after.is_some_and(|share| share < WHOLE_SHARE_MIN);
    trial.samples.iter().filter(is_less).filter(|sample| is_counted(&trial.trial, sample)).count()
}

/// The bytes of each sample divided by the size of its target.
fn shares_of_size<'a>(
    trials: impl Iterator<Item = (&'a TrialRecord, Option<Bytes>)>,
    bytes: fn(&Sample) -> Option<u64>,
) -> impl Iterator<Item = f64> {
    let sized = trials.filter_map(|(trial, size)| Some((trial, size.filter(|size| size.0 > 0)?)));
    sized.flat_map(move |(trial, size)| {
        trial.samples.iter().filter_map(move |it| Some(float(bytes(&it)?) / float(size.0)))
    })
}

/// The number of readings for each kind of evidence that the bytes were touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TouchCounts(BTreeMap<TouchProof, usize>);

impl TouchCounts {
    /// Counts the accepted readings by their evidence. The controls show how much CPU time a visit
    /// of the bytes takes. `None` if no turn was metered.
    pub(super) fn from_trials<'a>(
        all: &[&TrialRecord],
        ranked: impl Iterator<Item = &'a TrialRecord>,
    ) -> Option<TouchCounts> {
        let mut visit = VisitCost::default();
        for control in all.iter().filter(|it| it.trial.is_control()) {
            control.samples.iter().for_each(|sample| visit.learn(&control.trial, &sample));
        }
        let mut found = BTreeMap::new();
        let mut is_metered = false;
        for it in ranked {
            for sample in &it.samples {
                is_metered |= !sample.turn.is_unknown();
                *found.entry(visit.touch_proof(&it.trial, &sample)).or_insert(0) += 1;
            }
        }
        is_metered.then_some(TouchCounts(found))
    }

    pub fn words(&self) -> String {
        let of = |touch| self.0.get(&touch).copied().unwrap_or(0);
        let all: usize = self.0.values().sum();
        let by = [
            (of(TouchProof::DeliveryMeter(DeliveryMeter::Calls)), "by read calls"),
            (of(TouchProof::DeliveryMeter(DeliveryMeter::Faults)), "by page faults"),
            (of(TouchProof::CpuTime), "by CPU time"),
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
        let calls = TouchProof::DeliveryMeter(DeliveryMeter::Calls);
        let known =
            TouchCounts([(calls, 20), (TouchProof::CpuTime, 7), (TouchProof::Unknown, 3)].into()).words();
        let of_both = "27 of 30 readings touched the bytes (20 by read calls, 7 by CPU time)";
        assert_eq!(known, format!("{of_both}; of the others the meters cannot tell"));
        let unknown = TouchCounts([(TouchProof::Unknown, 2)].into()).words();
        assert_eq!(unknown, "0 of 2 readings touched the bytes; of the others the meters cannot tell");
    }

    #[test]
    fn only_bytes_from_the_device_prove_a_reading_that_left_less_than_the_file() {
        for (cache, device_read_bytes, counts) in [
            (Cache::Through, Some(4096), (1, 0)),
            (Cache::Through, Some(0), (0, 1)),
            // Over HTTP the server reads the device.
            (Cache::Through, None, (0, 0)),
            (Cache::Bypass, Some(4096), (0, 0)),
            // A hole.
            (Cache::Bypass, Some(0), (0, 1)),
        ] {
            let mut record = Record::new(testing::header());
            let (resident_before, resident_after) = (Some(0.0), Some(0.0));
            let reading = Sample { device_read_bytes, resident_before, resident_after, ..Sample::default() };
            testing::add_trial(&mut record, "rust/read", CacheState::Cold, cache, [reading]);
            let proof = StateProof::from_trials(record.trials.iter().map(|it| (it, None)));
            let counted = (proof.proven_by_device_count, proof.unproven_count);
            assert_eq!(counted, counts, "{cache:?}, {device_read_bytes:?}");
        }
    }

    #[test]
    fn a_command_that_left_nothing_in_the_cache_is_not_said_to_have_left_a_part() {
        let mut record = Record::new(testing::header());
        record.add(testing::trial_line(0, "command/dd", CacheState::Cold, Cache::Through));
        let trial = TrialIndex::new(0);
        record.trials[trial].trial.work = Work::Output;
        for (round, after) in (0..).zip([0.0, 0.03, 0.0]) {
            let (resident_before, resident_after) = (Some(0.0), Some(after));
            let sample =
                Sample { trial, round, wall_ns: 1, resident_before, resident_after, ..Sample::default() };
            record.add(Line::Sample(Box::new(sample)));
        }
        let proof = StateProof::from_trials(record.trials.iter().map(|it| (it, None)));
        assert_eq!((proof.part_read_count, proof.left_nothing_count), (1, 2));
        let words = proof.words(Transport::File);
        let told = "; 1 read a part: what they left in the cache came from there; 2 left nothing in the cache: they \
                    read past it, or nothing";
        assert!(words.ends_with(told), "{words}");
    }
}
