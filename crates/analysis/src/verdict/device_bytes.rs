//! Explanations of device bytes: why the bytes requested, the bytes stored and the bytes read from
//! the device differ.

use crate::stats::float;
use readlab_model::sample::Meter;
use readlab_model::target::TargetIndex;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};

/// If less than this share of the size comes from the device, an explanation is given.
const EXPLAINED_BELOW_SHARE: f64 = 0.97;

/// Sentences with numbers that explain why cold readings of a target seem faster than its device;
/// empty if they do not.
pub fn device_bytes_sentences(record: &Record, target: TargetIndex) -> Vec<String> {
    let Some(facts) = record.targets.get(target).filter(|facts| facts.size_bytes > 0) else {
        return Vec::new();
    };
    let mut said = Vec::new();
    let size = Bytes(facts.size_bytes);
    if let Some(extents) = &facts.extents {
        let file_size = Bytes(facts.cached_bytes());
        let places = [
            (
                extents.encoded_bytes,
                "stored encoded (compressed or encrypted), so the device gives other bytes than are read",
            ),
            (extents.hole_bytes, "in holes, which read as zeros without the device"),
            (extents.unwritten_bytes, "reserved and never written, which reads as zeros without the device"),
        ];
        for (bytes, what) in places.into_iter().filter(|(bytes, _)| *bytes > 0) {
            said.push(format!("{} of {file_size} are {what}", Bytes(bytes)));
        }
    }
    if let Some((least, most)) =
        device_bytes_range(record, target).filter(|(least, _)| share(*least, size) < EXPLAINED_BELOW_SHARE)
    {
        let from = if least == most {
            Bytes(least).to_string()
        } else {
            format!("{} to {}", Bytes(least), Bytes(most))
        };
        said.push(format!(
            "a cold reading asks for {size} and takes {from} from the device: its rate is up to {:.1} times the device's",
            1.0 / share(least, size).max(f64::MIN_POSITIVE)
        ));
    }
    said
}

/// The smallest and the largest median of device bytes among the accepted cold trials that read the
/// whole target.
fn device_bytes_range(record: &Record, target: TargetIndex) -> Option<(u64, u64)> {
    let cold = |it: &&TrialRecord| {
        it.trial.target == target
            && it.trial.state == CacheState::Cold
            && !it.trial.is_control()
            && it.is_accepted()
            && record.wholly_read_target(it).is_some()
    };
    let medians = record.trials.iter().filter(cold).filter_map(|it| {
        let mut bytes: Vec<u64> =
            it.samples.iter().filter_map(|sample| Meter::DeviceReadBytes.read(&sample)).collect();
        bytes.sort_unstable();
        bytes.get(bytes.len() / 2).copied().filter(|bytes| *bytes > 0)
    });
    medians.fold(None, |range, bytes| {
        let (least, most) = range.unwrap_or((bytes, bytes));
        Some((bytes.min(least), bytes.max(most)))
    })
}

fn share(bytes: u64, size: Bytes) -> f64 {
    float(bytes) / float(size.0)
}
