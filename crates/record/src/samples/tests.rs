//! Tests of packed samples: unpacking returns the same samples, and each takes a few bytes.

use super::*;
use proptest::prelude::*;
use readlab_model::sample::PressedProof;
use readlab_model::trial::TrialIndex;

/// Any sample; the ends of every range are frequent.
fn any_sample() -> impl Strategy<Value = Sample> {
    let end = prop_oneof![Just(0), Just(1), Just(u64::MAX), any::<u64>()];
    let small = prop_oneof![Just(0), Just(u32::MAX), any::<u32>()];
    let meters = prop::collection::vec(prop::option::of(end.clone()), Meter::ALL.len());
    let answers = prop::array::uniform4(prop::option::of(end.clone()));
    let delivered = prop::option::of(prop_oneof![Just(DeliveryMeter::Calls), Just(DeliveryMeter::Faults)]);
    let shares = prop::array::uniform2(prop::option::of(prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64]));
    let own = (prop::array::uniform6(small), any::<bool>(), any::<usize>(), end);
    (own, meters, answers, delivered, shares).prop_map(|(own, meters, answers, delivered, shares)| {
        let ([fill, round, position, rung, reading, turn_readings], searched, trial, wall_ns) = own;
        let [bytes, newlines, lines, sum] = answers;
        let [files, blocks, products, output] = [bytes, lines, newlines, sum];
        let [folders, links, other_names, names] = [sum, newlines, bytes, lines];
        let known = Answer { bytes, newlines, lines, sum, files, ..Answer::default() };
        let mut sample = Sample {
            trial: TrialIndex::new(trial),
            fill,
            round,
            position,
            rung: searched.then_some(rung),
            reading,
            turn_readings,
            wall_ns,
            resident_before: shares[0],
            resident_after: shares[1],
            resident_is_estimate: searched,
            answer: Answer {
                folders,
                links,
                other_names,
                names,
                blocks,
                products,
                output_digest: output,
                ..known
            },
            ..Sample::default()
        };
        sample.pressed = searched.then(|| PressedProof {
            steady_share: 0.5,
            before_share: shares[0].unwrap_or_default(),
            elsewhere_share: shares[1].unwrap_or_default(),
            untimed_readings: rung,
            limit_bytes: wall_ns,
            process_bytes: 0,
            non_cache_bytes: wall_ns / 2,
        });
        sample.turn.delivered = delivered;
        for (reading, meter) in meters.into_iter().zip(Meter::ALL) {
            *meter.field(&mut sample).unwrap() = reading;
        }
        sample
    })
}

proptest! {
    #[test]
    fn unpacked_samples_equal_the_packed_ones(samples in prop::collection::vec(any_sample(), 0..40)) {
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

#[test]
fn every_field_of_a_sample_is_counted_and_has_its_own_bit() {
    let mut passed = 0;
    pass_fields(&mut Sample::default(), |field| {
        passed += 1;
        field
    });
    assert_eq!(passed, FIELD_COUNT);
    for places in [vec![], vec![0, FIELD_COUNT - 1], (0..FIELD_COUNT).collect()] {
        let mask = mask(places.iter().copied());
        assert_eq!((0..FIELD_COUNT).filter(|&at| has_bit(&mask, at)).collect::<Vec<_>>(), places);
    }
}
