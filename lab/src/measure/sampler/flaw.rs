//! Why samples of a turn were not taken from the state that they claim: pages that were there or were not, bytes that
//! came from the device or did not. Whoever has a flaw is taken again ([`crate::measure::attempt`]).

use super::Hired;
use super::samples::Observed;
use crate::record::{Sample, Trial};
use crate::trial::{CacheState, Over};

/// Share of the file that must have come from the device for a reading to count as cold.
const DEVICE_SHARE_MIN: f64 = 0.99;

impl Hired<'_> {
    /// Why these samples were not taken from the state they claim; `None` when they were.
    pub(super) fn flaw(&self, trial: &Trial, samples: &[Sample], observed: &Observed) -> Option<String> {
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
                Some(proof) if !proof.is_cold() => Some(format!("{proof} before the reading")),
                _ => samples.iter().find_map(|sample| self.cold_flaw(sample)),
            },
        }
    }

    /// Nothing resident was proven before the turn; here, that the bytes came from the device.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a file's size"
    )]
    fn cold_flaw(&self, sample: &Sample) -> Option<String> {
        let device_bytes = sample.device_read_bytes?;
        let least_bytes = self.subject(sample.trial).target.facts.expected_device_bytes()?;
        let expected_bytes = (least_bytes as f64 * DEVICE_SHARE_MIN) as u64;
        (device_bytes < expected_bytes).then(|| {
            format!("only {device_bytes} bytes came from the device, at least {expected_bytes} were expected")
        })
    }
}

/// What keeps a sample from being a warm one.
fn warm_flaw(sample: &Sample, observed: &Observed, over: Over) -> Option<String> {
    for (when, proof) in [("before", &observed.before), ("after", &observed.after)] {
        if let Some(proof) = proof.as_ref().filter(|proof| !proof.is_warm()) {
            return Some(format!("{proof} {when} the reading"));
        }
    }
    match (sample.major_faults, sample.device_read_bytes) {
        // Who asks a server maps nothing of the file.
        (Some(faults), _) if faults > 0 && over == Over::File => {
            Some(format!("{faults} page faults waited for the device"))
        }
        (_, Some(bytes)) if bytes > 0 => Some(format!("{bytes} bytes came from the device")),
        _ => None,
    }
}
