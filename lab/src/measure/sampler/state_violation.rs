//! Why samples of a turn were not taken from the state that they claim: pages that were there or
//! were not, bytes that came from the device or did not. Whoever has a flaw is taken again
//! ([`crate::measure::attempt`]).

use super::ProcessSampler;
use super::samples::Observed;
use crate::record::{Sample, Trial};
use crate::trial::{CacheState, Transport};

/// Share of the file that must have come from the device for a reading to count as cold.
const DEVICE_SHARE_MIN: f64 = 0.99;

impl ProcessSampler<'_> {
    /// Why these samples were not taken from the state they claim; `None` when they were.
    pub(super) fn state_violation(
        &self,
        trial: &Trial,
        samples: &[Sample],
        observed: &Observed,
    ) -> Option<String> {
        if trial.is_control() || self.subject(trial.index).target.facts.size_bytes == 0 {
            return None;
        }
        match trial.state {
            CacheState::Warm => {
                let over = self.subject(trial.index).target.facts.over();
                samples.iter().find_map(|sample| warm_flaw(sample, observed, over))
            }
            CacheState::Unknown => None,
            CacheState::Cold => match &observed.before {
                // What is read past the page cache is proven by its bytes alone.
                Some(proof) if !proof.is_cold() && !trial.bypasses_cache() => {
                    Some(format!("{proof} before the reading"))
                }
                _ => samples.iter().find_map(|sample| self.cold_flaw(trial, sample, observed)),
            },
        }
    }

    /// Nothing resident was proven before the turn; here, that the bytes came from the device.
    fn cold_flaw(&self, trial: &Trial, sample: &Sample, observed: &Observed) -> Option<String> {
        let expected_bytes = self.subject(trial.index).target.facts.expected_device_bytes().map(least_of);
        match (sample.device_read_bytes, expected_bytes) {
            (Some(device_bytes), Some(expected_bytes)) if device_bytes < expected_bytes => Some(format!(
                "only {device_bytes} bytes came from the device, at least {expected_bytes} were expected"
            )),
            (Some(_), Some(1..)) => None,
            // Nothing can be expected: that nothing was resident is all there is to be proven.
            (Some(_), _) => observed.before.filter(|proof| !proof.is_cold()).map(|proof| {
                format!("{proof} before the reading, and nothing tells where its bytes came from")
            }),
            (None, _) => unseen_flaw(trial, observed),
        }
    }
}

/// The bytes that must have come from the device for a reading to count as cold, of those that a
/// reading of the whole fetches.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a file's size"
)]
fn least_of(bytes: u64) -> u64 {
    (bytes as f64 * DEVICE_SHARE_MIN) as u64
}

/// What keeps a cold sample from being proven of which nobody knows how many bytes came from the
/// device: what is read through the page cache lies there afterwards, and did not before; of what
/// does not, nothing is known.
fn unseen_flaw(trial: &Trial, observed: &Observed) -> Option<String> {
    const UNKNOWN: &str = "how many bytes came from the device cannot be read";
    if trial.bypasses_cache() {
        return Some(format!("{UNKNOWN}, and a method past the page cache leaves no other trace"));
    }
    match &observed.after {
        Some(proof) if proof.share().is_some_and(|share| share >= DEVICE_SHARE_MIN) => None,
        Some(proof) => {
            Some(format!("{UNKNOWN}, and {proof} after the reading: it need not have read the file"))
        }
        None => Some(format!("{UNKNOWN}, nor what is in the cache after the reading")),
    }
}

/// What keeps a sample from being a warm one.
fn warm_flaw(sample: &Sample, observed: &Observed, over: Transport) -> Option<String> {
    for (when, proof) in [("before", &observed.before), ("after", &observed.after)] {
        if let Some(proof) = proof.as_ref().filter(|proof| !proof.is_warm()) {
            return Some(format!("{proof} {when} the reading"));
        }
    }
    match (sample.major_faults, sample.device_read_bytes) {
        // Who asks a server maps nothing of the file.
        (Some(faults), _) if faults > 0 && over == Transport::File => {
            Some(format!("{faults} page faults waited for the device"))
        }
        (_, Some(bytes)) if bytes > 0 => Some(format!("{bytes} bytes came from the device")),
        _ => None,
    }
}
