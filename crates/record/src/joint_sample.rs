//! Combines samples that ranks of a fleet, or readers of one host, took at the same time into one
//! sample. Its time is the time of the whole turn, and its counts are sums.

use readlab_model::sample::{JointRule, Meter, Sample};
use readlab_model::trial::{Answer, CacheState};

/// The combined sample, with this wall time; `None` if there are no samples. A meter whose values
/// are added is missing if one sample lacks it.
pub fn joint_sample(state: CacheState, wall_ns: u64, samples: &[Sample]) -> Option<Sample> {
    let first = samples.first()?;
    let farthest = |of: fn(&Sample) -> Option<f64>| {
        let shares: Option<Vec<f64>> = samples.iter().map(of).collect();
        // The share is that of the reader whose cache state is farthest from the requested state.
        let farther = if state == CacheState::Warm { f64::min } else { f64::max };
        shares?.into_iter().reduce(farther)
    };
    let delivered = samples.iter().map(|it| it.turn.delivered).collect::<Option<Vec<_>>>();
    let mut joint = Sample {
        wall_ns,
        resident_before: farthest(|it| it.resident_before),
        resident_after: farthest(|it| it.resident_after),
        resident_is_estimate: samples.iter().any(|it| it.resident_is_estimate),
        answer: joint_answer(samples.iter().map(|it| it.answer)),
        ..first.clone()
    };
    joint.turn.delivered = delivered.and_then(|kinds| kinds.into_iter().max());
    for meter in Meter::ALL {
        let readings = samples.iter().map(|sample| meter.read(sample));
        let together = match meter.joint_rule() {
            JointRule::Sum => readings.sum::<Option<u64>>(),
            JointRule::Largest => readings.max().flatten(),
        };
        meter.field(&mut joint).into_iter().for_each(|field| *field = together);
    }
    Some(joint)
}

/// The answer about all bytes that were read: the sum of the answers. Digests of outputs cannot be
/// added; they were compared before.
pub fn joint_answer(answers: impl Iterator<Item = Answer> + Clone) -> Answer {
    let sum = |of: fn(Answer) -> Option<u64>| answers.clone().map(of).sum::<Option<u64>>();
    Answer {
        bytes: sum(|it| it.bytes),
        newlines: sum(|it| it.newlines),
        lines: sum(|it| it.lines),
        sum: sum(|it| it.sum).map(|sum| sum % 256),
        files: sum(|it| it.files),
        folders: sum(|it| it.folders),
        links: sum(|it| it.links),
        other_names: sum(|it| it.other_names),
        names: sum(|it| it.names),
        blocks: sum(|it| it.blocks),
        products: sum(|it| it.products).map(|products| products % (1 << 32)),
        output_digest: answers.clone().map(|it| it.output_digest).min().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(wall_ns: u64, faults: Option<u64>, before: f64, newlines: u64) -> Sample {
        let answer = Answer { newlines: Some(newlines), sum: Some(200), ..Answer::default() };
        Sample { wall_ns, minor_faults: faults, resident_before: Some(before), answer, ..Sample::default() }
    }

    #[test]
    fn a_joint_sample_has_the_time_of_all_and_the_sums_of_their_counts() {
        let samples = [sample(50, Some(3), 0.0, 5), sample(40, Some(4), 0.25, 6)];
        let cold = joint_sample(CacheState::Cold, 60, &samples).unwrap();
        assert_eq!((cold.wall_ns, cold.minor_faults, cold.resident_before), (60, Some(7), Some(0.25)));
        assert_eq!((cold.answer.newlines, cold.answer.sum, cold.answer.bytes), (Some(11), Some(144), None));
        let warm = joint_sample(CacheState::Warm, 60, &samples).unwrap();
        assert_eq!(warm.resident_before, Some(0.0));
        let without = [sample(50, Some(3), 0.0, 5), sample(40, None, 0.0, 6)];
        assert_eq!(joint_sample(CacheState::Cold, 60, &without).unwrap().minor_faults, None);
        assert_eq!(joint_sample(CacheState::Cold, 60, &[]), None);
    }
}
