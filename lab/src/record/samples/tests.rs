//! Tests of packed samples: they come out as they went in, and take a few bytes.

use super::*;
use crate::trial::TrialIndex;
use proptest::prelude::*;

/// What was seen of a turn, of these meters.
fn turn(m: &[Option<u64>; 24]) -> TurnSeen {
    TurnSeen {
        wall_ns: m[10],
        cpu_ns: m[11],
        cpu_error_ns: m[12],
        delayed_ns: m[13],
        lab_delayed_ns: m[15],
        preemptions: m[17],
        steal_ns: m[18],
        cpu_pressure_ns: m[19],
        io_pressure_ns: m[20],
        memory_pressure_ns: m[21],
        throttled_ns: m[22],
        device_busy_ns: m[23],
        delivered: m[14].map(|by| if by & 1 == 0 { Delivered::Calls } else { Delivered::Faults }),
    }
}

/// Whatever may be, with the ends of every range often.
fn any_sample() -> impl Strategy<Value = Sample> {
    let end = prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()];
    let small = prop_oneof![Just(0), Just(u32::MAX), any::<u32>()];
    let meters = prop::array::uniform24(prop::option::of(end.clone()));
    let shares = prop::array::uniform2(prop::option::of(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64]));
    (prop::array::uniform6(small), any::<bool>(), any::<usize>(), end, meters, shares).prop_map(
        |([fill, round, position, rung, reading, turn_readings], searched, trial, wall_ns, m, shares)| {
            Sample {
                trial: TrialIndex::new(trial),
                fill,
                round,
                position,
                rung: searched.then_some(rung),
                reading,
                turn_readings,
                wall_ns,
                cpu_user_ns: m[0],
                cpu_system_ns: m[1],
                peak_rss_bytes: m[2],
                minor_faults: m[3],
                major_faults: m[4],
                device_read_bytes: m[5],
                below_read_bytes: m[16],
                resident_before: shares[0],
                resident_after: shares[1],
                resident_is_estimate: searched,
                turn: turn(&m),
                request: RequestMeters {
                    dns_ns: m[3],
                    connect_ns: m[5],
                    tls_ns: m[7],
                    first_byte_ns: m[11],
                    requests: m[19],
                    retries: m[21],
                },
                answer: Answer {
                    bytes: m[6],
                    newlines: m[7],
                    lines: m[8],
                    sum: m[9],
                    files: m[6],
                    blocks: m[8],
                    products: m[7],
                    output: m[9],
                },
            }
        },
    )
}

proptest! {
    #[test]
    fn samples_come_out_as_they_went_in(samples in prop::collection::vec(any_sample(), 0..40)) {
        let packed: Samples = samples.iter().cloned().collect();
        prop_assert_eq!((packed.len(), packed.is_empty()), (samples.len(), samples.is_empty()));
        prop_assert_eq!(packed.iter().len(), samples.len());
        prop_assert_eq!(packed.iter().collect::<Vec<_>>(), samples.clone());
        prop_assert_eq!(serde_json::to_string(&packed).unwrap(), serde_json::to_string(&samples).unwrap());
    }
}

#[test]
fn a_sample_of_a_long_race_takes_a_few_bytes() {
    let of_race = |reading: u32| Sample {
        round: reading / 500,
        reading: reading % 500,
        turn_readings: 500,
        wall_ns: 2_000 + u64::from(reading) * 7 % 900,
        cpu_user_ns: Some(u64::from(reading) * 11 % 1_000),
        cpu_system_ns: Some(u64::from(reading) * 13 % 2_000),
        peak_rss_bytes: Some(3 << 20),
        minor_faults: Some(0),
        resident_before: Some(1.0),
        answer: Answer { newlines: Some(200), ..Answer::default() },
        ..Sample::default()
    };
    let packed: Samples = (0..50_000).map(of_race).collect();
    assert!(packed.packed.len() < 12 * packed.len(), "{} bytes", packed.packed.len());
}
