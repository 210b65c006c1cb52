//! Tests of every rule of [`super`], each with a line that breaks it.

use super::super::testing::{header, target_line, trial_line};
use super::super::{Fill, HotSpot, Line, Record, Resumption, WarmedUp, WarmupEnd, WriteTimes, WriteWay};
use super::*;
use crate::{EndReason, LimitKind, LimitUnit, ReaderTiming, Receipt};
use proptest::prelude::*;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{CacheState, TrialIndex};
use readlab_protocol::Cache;

/// A record that grows line by line, checked with every line.
struct GrowingRecord {
    record: Record,
    check: RecordCheck,
}

impl GrowingRecord {
    /// Begins a record with one target, one reading and one control.
    fn new() -> GrowingRecord {
        let mut growing = GrowingRecord { record: Record::new(header()), check: RecordCheck::default() };
        for line in [
            target_line(0, TargetFacts::default()),
            trial_line(0, "rust/read/scalar", CacheState::Warm, Cache::Through),
            trial_line(1, "rust/null", CacheState::Warm, Cache::None),
        ] {
            assert_eq!(growing.add(line), Ok(()));
        }
        growing
    }

    fn add(&mut self, line: Line) -> Result<(), String> {
        self.record.take_line(line, &mut self.check, 100)
    }
}

/// The reason for which this line is rejected after the lines of [`GrowingRecord::new`].
#[track_caller]
fn rejection_of(line: Line) -> String {
    GrowingRecord::new().add(line).unwrap_err()
}

fn sample_line(round: u32, change: impl FnOnce(&mut Sample)) -> Line {
    let mut sample = Sample { round, turn_readings: 1, wall_ns: 5, ..Sample::default() };
    change(&mut sample);
    Line::Sample(Box::new(sample))
}

fn end_line() -> Line {
    Line::End { reason: EndReason::Interrupted, wall_ns: 1 }
}

fn resumed_line(reopen: Vec<usize>) -> Line {
    let reopen = reopen.into_iter().map(TrialIndex::new).collect();
    let (at, state) = ("2024-01-02T00:00:00Z".to_owned(), CacheState::Warm);
    Line::Resumed(Resumption { resumed_at: at, elapsed_ns: 1, state, round: 5, reopened_trials: reopen })
}

fn limit_line(change: impl FnOnce(&mut Limit)) -> Line {
    let mut limit = Limit {
        kind: LimitKind::Device,
        name: String::new(),
        target: TargetIndex::new(0),
        state: None,
        trial: Some(TrialIndex::new(1)),
        threads: 1,
        unit: LimitUnit::BytesPerSecond,
        value: 2,
        ci95: Some([1, 2]),
        samples: vec![1, 2],
        how_measured: String::new(),
    };
    change(&mut limit);
    Line::Limit(Box::new(limit))
}

#[test]
fn impossible_samples_are_rejected_with_their_numbers() {
    for (change, cause) in [
        (
            (|it| it.trial = TrialIndex::new(7)) as fn(&mut Sample),
            "trial 7, which no earlier line introduces",
        ),
        (|it| it.wall_ns = 0, "a window of 0 ns"),
        (|it| it.wall_ns = u64::MAX, "wall_ns: 18446744073709551615, and 9007199254740992 is the most"),
        (|it| it.reading = 1, "reading 1 of a turn of 1"),
        (|it| it.turn_readings = 0, "reading 0 of a turn of 0"),
        (|it| it.resident_before = Some(1e308), "resident_before is 1e308, and a share is from 0 to 1"),
        (|it| it.resident_after = Some(-0.5), "resident_after is -5e-1, and a share is from 0 to 1"),
        (|it| it.resident_after = Some(f64::NAN), "resident_after is NaN, and a share is from 0 to 1"),
    ] {
        assert_eq!(rejection_of(sample_line(0, change)), cause);
    }
    let mut growing = GrowingRecord::new();
    let of_control = sample_line(0, |it| (it.trial, it.wall_ns) = (TrialIndex::new(1), 0));
    assert_eq!(growing.add(of_control), Ok(()), "a control may take none");
}

#[test]
fn a_reading_of_a_trial_cannot_be_recorded_twice() {
    let mut growing = GrowingRecord::new();
    assert_eq!(growing.add(sample_line(3, |it| it.turn_readings = 2)), Ok(()));
    let second = || sample_line(3, |it| (it.turn_readings, it.reading) = (2, 1));
    assert_eq!(growing.add(second()), Ok(()));
    let again = "reading 1 of round 3 of trial 0 does not come after the one before";
    assert_eq!(growing.add(second()).unwrap_err(), again);
    assert!(growing.add(sample_line(2, |_| {})).is_err());
    assert_eq!(growing.add(sample_line(0, |it| it.rung = Some(0))), Ok(()), "those of a search are apart");
    assert!(growing.add(sample_line(1, |it| it.rung = Some(0))).is_err(), "a rung is read once");
    assert_eq!(
        growing.add(sample_line(0, |it| it.trial = TrialIndex::new(1))),
        Ok(()),
        "each trial has its own"
    );
    assert_eq!(growing.record.trials[TrialIndex::new(0)].samples.len(), 2);
}

#[test]
fn an_impossible_meter_becomes_none_and_is_reported_once() {
    let mut growing = GrowingRecord::new();
    for round in 0..3 {
        let wild = |it: &mut Sample| (it.cpu_user_ns, it.minor_faults) = (Some(u64::MAX), Some(7));
        assert_eq!(growing.add(sample_line(round, wild)), Ok(()));
    }
    let it = &growing.record.trials[TrialIndex::new(0)];
    assert!(it.samples.iter().all(|it| (it.cpu_user_ns, it.minor_faults) == (None, Some(7))));
    let why = "the record says 18446744073709551615, which no meter can have shown";
    assert_eq!(it.missing_meters, BTreeMap::from([("cpu_user_ns".to_owned(), why.to_owned())]));
    let count = UntimedCount { value: Some(u64::MAX), how: "told".to_owned() };
    let counts = BTreeMap::from([("mallocs".to_owned(), count)]);
    assert_eq!(growing.add(Line::Counts { trial: TrialIndex::new(0), counts }), Ok(()));
    assert_eq!(growing.record.trials[TrialIndex::new(0)].counts["mallocs"].value, None);
}

#[test]
fn targets_contenders_and_trials_are_announced_once_and_in_order() {
    assert_eq!(rejection_of(Line::Header(Box::new(header()))), "a second header");
    assert_eq!(rejection_of(target_line(0, TargetFacts::default())), "target 0 where target 1 belongs");
    assert_eq!(rejection_of(target_line(2, TargetFacts::default())), "target 2 where target 1 belongs");
    let other = || trial_line(0, "rust/mmap/scalar", CacheState::Warm, Cache::Through);
    assert_eq!(rejection_of(other()), "trial 0 a second time, and another one");
    let mut growing = GrowingRecord::new();
    let same = trial_line(0, "rust/read/scalar", CacheState::Warm, Cache::Through);
    assert_eq!((growing.add(same), growing.record.trials.len()), (Ok(()), 2), "word for word is once");
    let Line::Trial(mut far) = other() else { panic!() };
    (far.index, far.target) = (TrialIndex::new(2), TargetIndex::new(1));
    assert_eq!(rejection_of(Line::Trial(far)), "target 1, which no earlier line introduces");
    let receipt =
        || Receipt { contender: "rust".into(), version: "1".into(), runtime: "r".into(), language: None };
    assert_eq!(growing.add(Line::Contender(receipt())), Ok(()));
    assert_eq!(growing.add(Line::Contender(receipt())).unwrap_err(), "contender \"rust\" a second time");
}

#[test]
fn lines_that_name_a_trial_or_a_target_must_come_after_it() {
    let unknown = "trial 9, which no earlier line introduces";
    let warmed =
        |trial, wall_ns| Line::Warmup(WarmedUp { trial, readings: 1, wall_ns, end: WarmupEnd::Steady });
    let nine = TrialIndex::new(9);
    for line in [
        warmed(nine, 1),
        Line::ColdProbe(Box::new(Sample { trial: nine, ..Sample::default() })),
        Line::Missing { trial: nine, meter: String::new(), reason: String::new() },
        Line::Counts { trial: nine, counts: BTreeMap::new() },
        Line::FlameGraph { trial: nine, graph: Box::default() },
        Line::Trace { trial: nine, trace: Box::default() },
        Line::Outcome { trial: nine, outcome: Outcome::Measured },
        resumed_line(vec![0, 9]),
        limit_line(|it| it.trial = Some(TrialIndex::new(9))),
    ] {
        assert_eq!(rejection_of(line), unknown);
    }
    assert!(rejection_of(warmed(TrialIndex::new(0), u64::MAX)).starts_with("wall_ns: "));
    let fill = |target, resident_after| {
        Line::Fill(Fill {
            fill: 0,
            target: TargetIndex::new(target),
            how: String::new(),
            wall_ns: 1,
            resident_after,
        })
    };
    assert_eq!(rejection_of(fill(1, None)), "target 1, which no earlier line introduces");
    assert_eq!(rejection_of(fill(0, Some(2.0))), "resident_after is 2e0, and a share is from 0 to 1");
    assert_eq!(
        rejection_of(limit_line(|it| it.target = TargetIndex::new(1))),
        "target 1, which no earlier line introduces"
    );
    let mut growing = GrowingRecord::new();
    let rejected = |trial| Line::Rejected { trial, round: 0, reason: String::new() };
    assert_eq!((growing.add(rejected(nine)), growing.add(rejected(TrialIndex::new(0)))), (Ok(()), Ok(())));
    let kept = growing.record.trials[TrialIndex::new(0)].rejected_readings.len();
    assert_eq!(kept, 1, "a sweep rejects before it announces");
    let write = |write_ns| {
        let times = WriteTimes { write_ns, sync_ns: None };
        Line::Write { target: TargetIndex::new(5), way: WriteWay::Plain, times }
    };
    assert_eq!(growing.add(write(1)), Ok(()), "a sweep writes before it announces");
    assert_eq!(rejection_of(write(0)), "a window of 0 ns");
}

#[test]
fn a_run_or_trial_ends_once_unless_it_is_resumed() {
    let mut growing = GrowingRecord::new();
    let outcome = |outcome| Line::Outcome { trial: TrialIndex::new(0), outcome };
    let failed = || Outcome::Failed { reason: String::new() };
    assert_eq!(growing.add(outcome(Outcome::Measured)), Ok(()));
    assert_eq!(growing.add(outcome(Outcome::Measured)), Ok(()), "the same is once");
    assert_eq!(growing.add(outcome(failed())).unwrap_err(), "trial 0 ends as failed, and before as measured");
    assert_eq!(growing.add(end_line()), Ok(()));
    assert_eq!(growing.add(end_line()).unwrap_err(), "a second end");
    let late = "something is measured after the end of the run";
    assert_eq!(growing.add(sample_line(0, |_| {})).unwrap_err(), late);
    assert_eq!(growing.add(limit_line(|_| {})), Ok(()), "fio is asked after the end");
    assert_eq!(growing.add(resumed_line(vec![0])), Ok(()));
    for line in [sample_line(0, |_| {}), outcome(failed()), end_line()] {
        assert_eq!(growing.add(line), Ok(()));
    }
}

#[test]
fn impossible_numbers_in_limits_graphs_and_traces_are_rejected() {
    assert_eq!(rejection_of(limit_line(|it| it.ci95 = Some([3, 2]))), "an interval from 3 to 2");
    assert!(rejection_of(limit_line(|it| it.samples.push(u64::MAX))).starts_with("a limit: 1844"));
    let hottest = vec![HotSpot { name: String::new(), share: 1e308 }];
    let graph = Box::new(FlameGraph { hottest, ..FlameGraph::default() });
    let too_much = rejection_of(Line::FlameGraph { trial: TrialIndex::new(0), graph });
    assert_eq!(too_much, "share is 1e308, and a share is from 0 to 1");
    let traced = |latency_ns| {
        let trace = Trace { latency_ns, ..Trace::default() };
        Line::Trace { trial: TrialIndex::new(0), trace: Box::new(trace) }
    };
    assert_eq!(GrowingRecord::new().add(traced(Distribution::from_numbers(vec![0, 1, u64::MAX]))), Ok(()));
    let buckets = vec![[0, u64::MAX], [1, u64::MAX]];
    let sums = rejection_of(traced(Distribution { n: 7, buckets, ..Distribution::default() }));
    assert_eq!(sums, "a spread of 7 whose parts do not add up to it");
    assert!(
        rejection_of(traced(Distribution { p90: 5, ..Distribution::default() }))
            .starts_with("percentiles that fall")
    );
}

#[test]
fn impossible_facts_in_the_header_are_removed() {
    let mut wild = header();
    (wild.machine.max_turbo_ghz, wild.machine.load_1min) = (Some(1e308), Some(0.5));
    assert_eq!(RecordCheck::check_header(&mut wild), Ok(()));
    assert_eq!((wild.machine.max_turbo_ghz, wild.machine.load_1min), (None, Some(0.5)));
}

#[test]
fn the_size_of_a_record_is_limited() {
    let mut growing = GrowingRecord::new();
    growing.check.sample_count = SAMPLES_MAX;
    assert_eq!(growing.add(sample_line(0, |_| {})).unwrap_err(), "samples: 4000001, and 4000000 is the most");
    growing.check.other_bytes = OTHER_BYTES_MAX - 50;
    let more = growing.add(Line::Warning { text: String::new() }).unwrap_err();
    assert_eq!(more, "bytes of lines that are no samples: 268435506, and 268435456 is the most");
}

proptest! {
    #[test]
    fn accepted_samples_have_possible_values(
        wall_ns: u64, cpu_user_ns: Option<u64>, faults: Option<u64>, share: Option<f64>, reading: u32, turn_readings: u32, trial in 0_usize..4,
    ) {
        let mut growing = GrowingRecord::new();
        let change = |it: &mut Sample| {
            it.trial = TrialIndex::new(trial);
            (it.wall_ns, it.cpu_user_ns, it.major_faults) = (wall_ns, cpu_user_ns, faults);
            (it.resident_before, it.reading, it.turn_readings) = (share, reading, turn_readings);
        };
        if growing.add(sample_line(0, change)).is_ok() {
            let it = growing.record.trials[TrialIndex::new(trial)].samples.iter().next().unwrap();
            prop_assert!(it.wall_ns <= NS_MAX && (it.wall_ns > 0 || trial == 1));
            prop_assert!(it.reading < it.turn_readings);
            prop_assert!(it.cpu_user_ns.is_none_or(|ns| ns <= NS_MAX));
            prop_assert!(it.resident_before.is_none_or(|share| (0.0..=1.0).contains(&share)));
        }
    }
}

#[test]
fn a_turn_of_readers_has_all_readers_with_possible_times() {
    let turn = |readers: u32, wall_ns: u64| {
        let timing = ReaderTiming { began_ns: 1, wall_ns, answered_ns: 9 };
        let readers = vec![timing; readers as usize];
        Line::ReadersTurn(Box::new(ReadersTurn { trial: TrialIndex::new(0), round: 0, readers }))
    };
    assert_eq!(rejection_of(turn(1, 5)), "1 readers in a turn of 0", "its target is read by one always");
    let mut growing = GrowingRecord { record: Record::new(header()), check: RecordCheck::default() };
    let facts = TargetFacts { reader_count: Some(2), ..TargetFacts::default() };
    for line in [
        target_line(0, facts),
        trial_line(0, "rust/read/scalar", CacheState::Warm, Cache::Through),
        turn(2, 5),
    ] {
        assert_eq!(growing.add(line), Ok(()));
    }
    assert_eq!(growing.add(turn(3, 5)), Err("3 readers in a turn of 2".to_owned()));
    assert!(growing.add(turn(2, u64::MAX)).is_err());
    assert!(growing.add(turn(2, 0)).is_err());
}

#[test]
fn the_proof_of_a_pressed_reading_has_possible_numbers() {
    let with = |proof| sample_line(0, |it| it.pressed = Some(proof));
    let fine = PressedProof { steady_share: 1.5, limit_bytes: 1 << 30, ..PressedProof::default() };
    assert_eq!(GrowingRecord::new().add(with(fine)), Ok(()));
    let said = rejection_of(with(PressedProof { before_share: f64::NAN, ..fine }));
    assert_eq!(said, "before_share: NaN is no share of a working set");
    let said = rejection_of(with(PressedProof { elsewhere_share: -0.5, ..fine }));
    assert!(said.starts_with("elsewhere_share: -0.5"), "{said}");
    let said = rejection_of(with(PressedProof { limit_bytes: u64::MAX, ..fine }));
    assert!(said.starts_with("limit_bytes: ") && said.ends_with("is the most"), "{said}");
}
