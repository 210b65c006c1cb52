//! Samples that were taken at the same time as one sample: its time is that of all together, its
//! counts are sums. Ranks of a fleet take samples together, and readers of one host.

use readlab_model::sample::{Joint, Meter, Sample};
use readlab_model::trial::{Answer, CacheState};

/// The sample of all together, which took so long; `None` without any. What one lacks is missing.
pub fn joint_sample(state: CacheState, wall_ns: u64, samples: &[Sample]) -> Option<Sample> {
    let first = samples.first()?;
    let farthest = |of: fn(&Sample) -> Option<f64>| {
        let shares: Option<Vec<f64>> = samples.iter().map(of).collect();
        // From the reader whose cache state is farthest from the one requested.
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
        let together = match meter.joint() {
            Joint::Sum => readings.sum::<Option<u64>>(),
            Joint::Largest => readings.max().flatten(),
        };
        meter.field(&mut joint).into_iter().for_each(|field| *field = together);
    }
    Some(joint)
}

/// The answer about all that was read, added up; outputs, whose digests have no sum, were compared.
pub fn joint_answer(answers: impl Iterator<Item = Answer> + Clone) -> Answer {
    let sum = |of: fn(Answer) -> Option<u64>| answers.clone().map(of).sum::<Option<u64>>();
    Answer {
        bytes: sum(|it| it.bytes),
        newlines: sum(|it| it.newlines),
        lines: sum(|it| it.lines),
        sum: sum(|it| it.sum).map(|sum| sum % 256),
        files: sum(|it| it.files),
        blocks: sum(|it| it.blocks),
        products: sum(|it| it.products).map(|products| products % (1 << 32)),
        output: answers.clone().map(|it| it.output).min().flatten(),
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
    fn it_has_the_time_of_all_and_the_sums_of_what_each_counted() {
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
