//! Samples that were taken at the same time as one sample: its time is that of all together, its
//! counts are sums. Ranks of a fleet take samples together, and readers of one host.

use crate::record::{RequestMeters, Sample, TurnSeen};
use crate::trial::{Answer, CacheState};

/// The sample of all together, which took so long; `None` without samples. A meter that one lacks
/// is missing.
pub fn joint_sample(state: CacheState, wall_ns: u64, samples: &[Sample]) -> Option<Sample> {
    let first = samples.first()?;
    let sum = |of: fn(&Sample) -> Option<u64>| samples.iter().map(of).sum::<Option<u64>>();
    let farthest = |of: fn(&Sample) -> Option<f64>| {
        let shares: Option<Vec<f64>> = samples.iter().map(of).collect();
        // From the reader whose cache state is farthest from the one requested.
        let farther = if state == CacheState::Warm { f64::min } else { f64::max };
        shares?.into_iter().reduce(farther)
    };
    Some(Sample {
        wall_ns,
        cpu_user_ns: sum(|it| it.cpu_user_ns),
        cpu_system_ns: sum(|it| it.cpu_system_ns),
        peak_rss_bytes: samples.iter().map(|it| it.peak_rss_bytes).max().flatten(),
        minor_faults: sum(|it| it.minor_faults),
        major_faults: sum(|it| it.major_faults),
        device_read_bytes: sum(|it| it.device_read_bytes),
        below_read_bytes: sum(|it| it.below_read_bytes),
        resident_before: farthest(|it| it.resident_before),
        resident_after: farthest(|it| it.resident_after),
        resident_is_estimate: samples.iter().any(|it| it.resident_is_estimate),
        turn: seen(samples),
        request: requests(samples),
        answer: joint_answer(samples.iter().map(|it| it.answer)),
        ..first.clone()
    })
}

/// The requests of all, and of each part of their time the longest.
fn requests(samples: &[Sample]) -> RequestMeters {
    let each = || samples.iter().map(|sample| sample.request);
    let longest = |of: fn(RequestMeters) -> Option<u64>| each().map(of).max().flatten();
    let sum = |of: fn(RequestMeters) -> Option<u64>| each().map(of).sum::<Option<u64>>();
    RequestMeters {
        dns_ns: longest(|it| it.dns_ns),
        connect_ns: longest(|it| it.connect_ns),
        tls_ns: longest(|it| it.tls_ns),
        first_byte_ns: longest(|it| it.first_byte_ns),
        requests: sum(|it| it.requests),
        retries: sum(|it| it.retries),
    }
}

/// What was seen of the turn from outside, of all together.
fn seen(samples: &[Sample]) -> TurnSeen {
    let turns = || samples.iter().map(|sample| sample.turn);
    let sum = |of: fn(TurnSeen) -> Option<u64>| turns().map(of).sum::<Option<u64>>();
    let delivered = turns().map(|it| it.delivered).collect::<Option<Vec<_>>>();
    TurnSeen {
        wall_ns: turns().map(|it| it.wall_ns).max().flatten(),
        cpu_ns: sum(|it| it.cpu_ns),
        cpu_error_ns: sum(|it| it.cpu_error_ns),
        delayed_ns: sum(|it| it.delayed_ns),
        lab_delayed_ns: sum(|it| it.lab_delayed_ns),
        preemptions: sum(|it| it.preemptions),
        steal_ns: sum(|it| it.steal_ns),
        cpu_pressure_ns: sum(|it| it.cpu_pressure_ns),
        io_pressure_ns: sum(|it| it.io_pressure_ns),
        memory_pressure_ns: sum(|it| it.memory_pressure_ns),
        throttled_ns: turns().map(|it| it.throttled_ns).max().flatten(),
        device_busy_ns: turns().map(|it| it.device_busy_ns).max().flatten(),
        delivered: delivered.and_then(|kinds| kinds.into_iter().max()),
    }
}

/// The answer about all that was read: what each knows, added up. A digest of output has no sum:
/// each was compared by itself.
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
