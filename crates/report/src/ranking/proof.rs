//! The state proof of a ranking: what was proven about the cache over all accepted samples.

use crate::words;
use readlab_model::sample::Sample;
use readlab_model::trial::{CacheState, Transport, Work};
use readlab_model::units::Bytes;
use readlab_record::TrialRecord;
use serde::Serialize;

/// Share of the pages that counts as the whole file: something in the system may evict a little by
/// itself.
const WHOLE_MIN: f64 = 0.99;

/// Lowest and highest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Lowest.
    pub low: f64,
    /// Highest.
    pub high: f64,
}

/// What was proven about the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct StateProof {
    /// Accepted samples.
    pub samples: usize,
    /// Of these, samples whose residency is known both before and after.
    pub residency_known: usize,
    /// Of these, samples whose residency is an estimate, from some pages of the file.
    #[serde(rename = "residency_estimated", skip_serializing_if = "is_none")]
    pub residency_estimated: usize,
    /// Of these, samples whose bytes from the device are known.
    #[serde(rename = "device_bytes_known")]
    pub device_known: usize,
    /// Of these, cold samples that went through the page cache and left less than the file in it.
    /// Only their bytes from the device prove them.
    #[serde(rename = "by_device_bytes_alone")]
    pub by_device_alone: usize,
    /// Of these, cold samples of commands as they are that read a part: what they left in the cache
    /// came from below.
    #[serde(rename = "of_a_part", skip_serializing_if = "is_none")]
    pub of_part: usize,
    /// Of these, cold samples that went through the page cache, left less than the file in it and
    /// took nothing from the device, as of a hole: nothing proves that they read the file.
    #[serde(skip_serializing_if = "is_none")]
    pub unproven: usize,
    /// Rejected readings.
    pub rejected: usize,
    /// Share of pages in the cache before.
    #[serde(skip)]
    pub resident_before: Option<Range>,
    /// Share of pages in the cache after.
    #[serde(skip)]
    pub resident_after: Option<Range>,
    /// Bytes from the device over the target's size.
    #[serde(skip)]
    pub device_share: Option<Range>,
    /// Bytes that the layer below read, over the target's size.
    #[serde(skip)]
    pub below_share: Option<Range>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(samples: &usize) -> bool {
    *samples == 0
}

impl Range {
    /// Over some values; `None` without any.
    pub(super) fn over(values: impl Iterator<Item = f64>) -> Option<Range> {
        values.fold(None, |range, value| {
            let Range { low, high } = range.unwrap_or(Range { low: value, high: value });
            Some(Range { low: low.min(value), high: high.max(value) })
        })
    }
}

impl StateProof {
    /// For how many samples the bytes from the device are missing, for how many they are the only
    /// proof, and for how many not even they are; empty where all three are none.
    fn of_device(&self) -> String {
        let StateProof { samples, device_known, by_device_alone, unproven, .. } = self;
        let mut text = String::new();
        if device_known < samples {
            text += &format!(" (device bytes known for {device_known} of {samples})");
        }
        if *by_device_alone > 0 {
            text += &format!(
                "; {by_device_alone} left less than the file in the cache: device bytes alone prove them"
            );
        }
        if self.of_part > 0 {
            text += &format!("; {} read a part: what they left in the cache came from there", self.of_part);
        }
        if *unproven > 0 {
            text += &format!(
                "; {unproven} left less than the file in the cache and took nothing from the device: that they read it is unproven"
            );
        }
        text
    }

    /// For how many samples the residency is an estimate; empty where for none.
    fn of_estimates(&self) -> String {
        match self.residency_estimated {
            0 => String::new(),
            estimated => format!(" (estimated for {estimated}, from sampled pages)"),
        }
    }

    /// What was proven, in words.
    pub(crate) fn words(&self, over: Transport) -> String {
        let from_device = match over {
            Transport::File | Transport::Tree | Transport::Places => {
                format!("from the device {} of the size{}", between(self.device_share), self.of_device())
            }
            Transport::Http | Transport::S3 => "what came from the device, the server read".to_owned(),
        };
        let below = self.below_share.map_or_else(String::new, |share| {
            format!("; the layer below read {} of the size", between(Some(share)))
        });
        format!(
            "residency known for {} of {} samples{}, {} rejected; in the cache before {}, after {}; {from_device}{below}",
            self.residency_known,
            self.samples,
            self.of_estimates(),
            self.rejected,
            between(self.resident_before),
            between(self.resident_after),
        )
    }

    /// Of trials, each with the size of what it reads.
    pub(crate) fn from_trials<'a>(
        trials: impl Iterator<Item = (&'a TrialRecord, Option<Bytes>)> + Clone,
    ) -> StateProof {
        let all = || trials.clone().map(|(trial, _)| trial);
        let samples = || all().flat_map(|trial| &trial.samples);
        let known = |sample: &Sample| sample.resident_before.is_some() && sample.resident_after.is_some();
        StateProof {
            samples: samples().count(),
            residency_known: samples().filter(known).count(),
            residency_estimated: samples()
                .filter(|sample| known(sample) && sample.resident_is_estimate)
                .count(),
            device_known: samples().filter(|sample| sample.device_read_bytes.is_some()).count(),
            by_device_alone: all()
                .filter(|it| !reads_part(it))
                .map(|trial| left_less(trial, |bytes| bytes != Some(0)))
                .sum(),
            unproven: all()
                .filter(|it| !reads_part(it))
                .map(|trial| left_less(trial, |bytes| bytes == Some(0)))
                .sum(),
            of_part: all().filter(|it| reads_part(it)).map(|trial| left_less(trial, |_| true)).sum(),
            rejected: all().map(|trial| trial.rejected.len()).sum(),
            resident_before: Range::over(samples().filter_map(|sample| sample.resident_before)),
            resident_after: Range::over(samples().filter_map(|sample| sample.resident_after)),
            device_share: Range::over(trials.clone().flat_map(|(trial, size)| device_shares(trial, size))),
            below_share: Range::over(trials.clone().flat_map(|(trial, size)| below_shares(trial, size))),
        }
    }
}

/// Lowest and highest share, or the one that all have.
fn between(range: Option<Range>) -> String {
    match range {
        None => "not known".to_owned(),
        Some(Range { low, high }) if words::percent(low) == words::percent(high) => words::percent(low),
        Some(Range { low, high }) => format!("{} to {}", words::percent(low), words::percent(high)),
    }
}

/// Whether a trial may read a part: what a command as it is reads is its own affair.
fn reads_part(trial: &TrialRecord) -> bool {
    trial.trial.work == Work::Output
}

/// Cold samples of a trial through the page cache that left less than the file in it and took such
/// bytes from the device.
fn left_less(trial: &TrialRecord, took: impl Fn(Option<u64>) -> bool) -> usize {
    if trial.trial.state != CacheState::Cold || trial.trial.bypasses_cache() {
        return 0;
    }
    let is_less = |sample: &Sample| sample.resident_after.is_some_and(|share| share < WHOLE_MIN);
    trial.samples.iter().filter(is_less).filter(|sample| took(sample.device_read_bytes)).count()
}

/// Bytes from the device over the target's size, sample by sample.
pub(super) fn device_shares(trial: &TrialRecord, size: Option<Bytes>) -> impl Iterator<Item = f64> {
    shares(trial.samples.iter().filter_map(|sample| sample.device_read_bytes), size)
}

/// Bytes that the layer below read over the target's size, sample by sample.
fn below_shares(trial: &TrialRecord, size: Option<Bytes>) -> impl Iterator<Item = f64> {
    shares(trial.samples.iter().filter_map(|sample| sample.below_read_bytes), size)
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown with three digits")]
fn shares(bytes: impl Iterator<Item = u64>, size: Option<Bytes>) -> impl Iterator<Item = f64> {
    let size = size.filter(|size| size.0 > 0);
    bytes.filter_map(move |bytes| size.map(|size| bytes as f64 / size.0 as f64))
}
