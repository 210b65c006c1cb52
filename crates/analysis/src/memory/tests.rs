//! Curves with known answers: hand-made records of methods that are read cold, under three bounds
//! on memory, and warm.

use super::*;
use readlab_model::target::extents::Extents;
use readlab_model::target::memory::MemoryBound;
use readlab_model::target::places::{Pattern, PlacesFacts};
use readlab_model::target::{TargetIndex, TargetKind};
use readlab_model::trial::TrialIndex;
use readlab_protocol::Cache;
use readlab_record::{Line, testing};

const FILE_BYTES: u64 = 1_000_000_000;
const ROUNDS: u64 = 8;
const BOUNDS: [&str; 3] = ["25%", "50%", "100%"];
const LEVELS: [MemoryLevel; 5] = [
    MemoryLevel::Cold,
    MemoryLevel::Share(0.25),
    MemoryLevel::Share(0.5),
    MemoryLevel::Share(1.0),
    MemoryLevel::Warm,
];

fn add_trial(record: &mut Record, name: &str, target: usize, state: CacheState, wall_ms: u64) {
    let index = record.trials.len() as u64;
    let reading = |round: u64| {
        let wobble = round * 7 % 5 + (index + round) % 2;
        Sample { wall_ns: wall_ms * (1_000_000 + 1_000 * wobble), ..Sample::default() }
    };
    let added = testing::add_trial(record, name, state, Cache::Through, (0..ROUNDS).map(reading));
    record.trials[TrialIndex::new(added)].trial.target = TargetIndex::new(target);
}

/// A record of these methods on a file of one gigabyte, each with the milliseconds of a reading at
/// each of the [`LEVELS`].
fn record(methods: &[(&str, [u64; 5])]) -> Record {
    let mut record = Record::new(testing::header());
    let facts = TargetFacts { path: "/f".to_owned(), size_bytes: FILE_BYTES, ..TargetFacts::default() };
    record.add(testing::target_line(0, facts.clone()));
    for (index, bound) in (1..).zip(BOUNDS) {
        let bound: MemoryBound = bound.parse().unwrap();
        let cache_bytes = bound.in_bytes(FILE_BYTES);
        let memory =
            Some(MemoryFacts { bound, cache_bytes, working_set_bytes: FILE_BYTES, is_shared: false });
        record.add(testing::target_line(index, TargetFacts { memory_bound: memory, ..facts.clone() }));
    }
    for (name, [cold, quarter, half, whole, warm]) in methods {
        add_trial(&mut record, name, 0, CacheState::Cold, *cold);
        for (target, wall_ms) in (1..).zip([quarter, half, whole]) {
            add_trial(&mut record, name, target, CacheState::Pressed, *wall_ms);
        }
        add_trial(&mut record, name, 0, CacheState::Warm, *warm);
    }
    record
}

fn assert_near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.01, "{value} is not {expected}");
}

#[test]
fn a_curve_has_the_cold_end_the_bounds_and_the_warm_end() {
    let record = record(&[("rust/mmap", [1000, 800, 500, 100, 50])]);
    let [curve] = &MemoryCurve::all(&record)[..] else { panic!("one method") };
    let levels: Vec<MemoryLevel> = curve.points.iter().map(|point| point.level).collect();
    assert_eq!(levels, LEVELS);
    for (point, rate) in curve.points.iter().zip([1e9, 1.25e9, 2e9, 10e9, 20e9]) {
        assert_near(point.rate, rate);
        let ends = point.interval.unwrap();
        assert!(ends.low <= point.rate && point.rate <= ends.high && ends.low > 0.98 * rate, "{ends:?}");
    }
    let shares: Vec<Option<f64>> = levels.iter().map(|level| level.share()).collect();
    assert_eq!(shares, [Some(0.0), Some(0.25), Some(0.5), Some(1.0), None]);
}

#[test]
fn the_cliff_is_the_step_with_the_largest_change() {
    let cliff = |walls_ms: [u64; 5]| {
        let record = record(&[("rust/mmap", walls_ms)]);
        MemoryCurve::all(&record)[0].cliff
    };
    for (walls_ms, between, times) in [
        ([1000, 800, 500, 100, 50], [LEVELS[2], LEVELS[3]], 5.0),
        ([1000, 250, 200, 190, 180], [LEVELS[0], LEVELS[1]], 4.0),
        ([1000, 1000, 1000, 1000, 100], [LEVELS[3], LEVELS[4]], 10.0),
    ] {
        let cliff = cliff(walls_ms).unwrap();
        assert_eq!(cliff.between_levels, between, "{walls_ms:?}");
        assert_near(cliff.ratio.estimate, times);
        let ends = cliff.ratio.ci95.unwrap();
        assert!(ends.low > 0.97 * times && ends.high < 1.03 * times && ends.low < ends.high, "{ends:?}");
    }
    assert_eq!(cliff([1000, 900, 800, 700, 600]), None, "no step changes the rate by half");
    assert_eq!(cliff([100, 200, 400, 800, 1600]), None, "more memory makes it slower");
}

#[test]
fn the_memory_from_which_more_adds_nothing_is_found_among_the_bounds() {
    let enough = |walls_ms: [u64; 5]| {
        let record = record(&[("rust/mmap", walls_ms)]);
        MemoryCurve::all(&record)[0].enough_memory
    };
    assert_eq!(enough([1000, 500, 495, 490, 100]), Some(MemoryLevel::Share(0.25)));
    assert_eq!(enough([1000, 500, 100, 99, 50]), Some(MemoryLevel::Share(0.5)));
    assert_eq!(enough([1000, 500, 250, 100, 100]), None);
}

#[test]
fn the_bound_that_helps_is_the_least_under_which_the_method_is_clearly_faster() {
    let record = record(&[("rust/mmap", [1000, 1000, 1000, 250, 100]), ("rust/direct", [500; 5])]);
    let helping = |index| least_faster_bound(&record, &record.trials[TrialIndex::new(index)]);
    let found = helping(1).unwrap();
    assert_eq!((found.share_of_working_set, found.cache_bytes), (1.0, FILE_BYTES));
    assert_near(found.speed_ratio, 4.0);
    assert_eq!(helping(3), None, "no greater bound was raced");
    assert_eq!(helping(6), None, "memory does not help a reading that bypasses the page cache");
    assert_eq!(helping(0), None, "a cold reading has no bound");
}

#[test]
fn two_methods_cross_between_the_last_level_of_one_and_the_first_of_the_other() {
    let record = record(&[("rust/mmap", [1000, 1000, 1000, 250, 100]), ("rust/direct", [500; 5])]);
    let [contest] = &MemoryContest::all(&record)[..] else { panic!("one contest") };
    let fastest: Vec<(MemoryLevel, &str)> =
        contest.fastest_methods.iter().map(|it| (it.level, it.trial.trial.method())).collect();
    let names = ["direct", "direct", "direct", "mmap", "mmap"];
    assert_eq!(fastest, LEVELS.into_iter().zip(names).collect::<Vec<_>>());
    assert!(contest.fastest_methods.iter().all(FastestMethod::is_clear));
    let crossing = contest.crossing.as_ref().unwrap();
    assert_eq!(
        [crossing.trial_with_less_memory, crossing.trial_with_more_memory].map(|it| it.trial.method()),
        ["direct", "mmap"]
    );
    assert_eq!(crossing.between_levels, [MemoryLevel::Share(0.5), MemoryLevel::Share(1.0)]);
    // The ratio is 0.5 at a share of one half and 2 at a share of 1, so it is 1 at three quarters.
    assert!((crossing.equal_share.unwrap() - 0.75).abs() < 0.005, "{crossing:?}");
    for (found, times) in crossing.ratios.iter().zip([0.5, 0.5, 0.5, 2.0, 5.0]) {
        assert_near(found.ratio.estimate, times);
        assert!(found.ratio.ci95.is_some_and(|ends| ends.low < ends.high), "{found:?}");
    }
}

#[test]
fn a_crossing_at_the_warm_end_has_no_share_and_a_method_that_leads_everywhere_has_no_crossing() {
    let late = record(&[("rust/mmap", [1000, 1000, 1000, 1000, 100]), ("rust/direct", [500; 5])]);
    let crossing = MemoryContest::all(&late)[0].crossing.clone().unwrap();
    assert_eq!((crossing.between_levels, crossing.equal_share), ([LEVELS[3], LEVELS[4]], None));
    let never = record(&[("rust/mmap", [1000, 900, 800, 700, 600]), ("rust/direct", [500; 5])]);
    let contest = &MemoryContest::all(&never)[0];
    assert!(contest.fastest_methods.iter().all(|it| it.trial.trial.method() == "direct"));
    assert_eq!(contest.crossing, None);
    // Both methods are equally fast at every bound, so no interval shows which is faster with
    // little memory.
    let tied = record(&[("rust/mmap", [500, 500, 500, 500, 100]), ("rust/direct", [500; 5])]);
    assert_eq!(MemoryContest::all(&tied)[0].crossing, None);
}

#[test]
fn files_works_and_records_without_a_bound_are_kept_apart() {
    let mut record = record(&[("rust/mmap", [1000, 800, 500, 100, 50]), ("rust/direct", [500; 5])]);
    record.targets[TargetIndex::new(2)].path = "/g".to_owned();
    let points =
        |record: &Record| MemoryCurve::all(record).iter().map(|curve| curve.points.len()).collect::<Vec<_>>();
    assert_eq!(points(&record), [4, 4], "the bound of the other file is not theirs");
    record.targets.iter_mut().for_each(|facts| facts.memory_bound = None);
    assert!(MemoryCurve::all(&record).is_empty() && MemoryContest::all(&record).is_empty());
}

#[test]
fn the_tail_and_the_device_share_are_those_of_the_point() {
    let mut record = record(&[("rust/places-pread", [1000, 800, 500, 100, 50])]);
    let pressed = TrialIndex::new(1);
    for round in 0..6 {
        // 990 reads of 0.1 ms and 20 of 4 ms: the 99th percentile is among the long ones.
        let times = std::iter::repeat_n(100_000, 990).chain(std::iter::repeat_n(4_000_000, 20));
        let histogram = testing::latencies(times);
        record.add(Line::Latencies { trial: pressed, fill: round, round, histogram });
    }
    let samples = record.trials[pressed].samples.iter();
    let changed = samples.map(|sample| Sample {
        device_read_bytes: Some(FILE_BYTES / 2),
        resident_before: Some(0.25),
        ..sample
    });
    record.trials[pressed].samples = changed.collect();
    let target = record.target_of(&record.trials[pressed].trial).unwrap();
    assert_eq!(hit_share(&record.trials[pressed], target), None, "the file is read whole");
    let asked_bytes = |reads| {
        let places = PlacesFacts {
            pattern: Pattern::Random,
            block_bytes: 4096,
            read_count: reads,
            distinct_blocks: reads / 2,
            file_bytes: FILE_BYTES,
        };
        let kind = TargetKind::Places(places);
        let extents = Some(Extents { count: 1, ..Extents::default() });
        TargetFacts { kind, extents, size_bytes: reads * 4096, ..TargetFacts::default() }
    };
    // 500 MB come from the device: a quarter of the 2 GB that the first target requests, and more
    // than the 400 MB that the second requests.
    let found = hit_share(&record.trials[pressed], &asked_bytes(2_000_000_000 / 4096)).unwrap();
    assert!((found - 0.75).abs() < 0.001, "{found}");
    assert_eq!(hit_share(&record.trials[pressed], &asked_bytes(400_000_000 / 4096)), None);
    let unknown = TargetFacts { extents: None, ..asked_bytes(2_000_000_000 / 4096) };
    assert_eq!(hit_share(&record.trials[pressed], &unknown), None, "not all that is missed may be counted");
    let warm = &record.trials[TrialIndex::new(4)];
    assert_eq!(hit_share(warm, &asked_bytes(1000)), None, "only a bound has hits and misses");
    let curve = &MemoryCurve::all(&record)[0];
    let point = curve.point_at(MemoryLevel::Share(0.25)).unwrap();
    let p99_ns = point.p99.as_ref().unwrap().latency_ns;
    assert!((3_900_000..4_100_000).contains(&p99_ns), "{p99_ns}");
    assert_eq!((point.device_share, point.resident_share), (Some(0.5), Some(0.25)));
    let cold = curve.point_at(MemoryLevel::Cold).unwrap();
    assert_eq!((&cold.p99, cold.device_share), (&None, None));
}
