//! Tests of comparisons with hand-made sides.

use super::*;
use crate::stats::{Interval, IntervalRule, Observation, Ratio, float};
use readlab_model::sample::Sample;
use readlab_model::target::range::RangeFacts;
use readlab_model::target::{DecodedContent, TargetFacts};
use readlab_model::trial::{Answer, CacheState, TrialIndex, Work};
use readlab_protocol::{Archive, Cache};
use readlab_record::{Record, StartMode, testing};
use std::collections::BTreeMap;

fn sampled_figure(values: impl IntoIterator<Item = f64>) -> Figure {
    Figure::Samples(Observation::from_rounds(values))
}

fn case(name: &str, digest: &str, state: CacheState, level: f64) -> Case {
    let wobble = |nth: u32| level * (1.0 + 0.002 * f64::from(nth % 5));
    Case {
        name: name.to_owned(),
        names: BTreeSet::from([name.to_owned()]),
        key: ComparisonKey {
            digest: Some(digest.to_owned()),
            work: Some(Work::Newlines),
            state: Some(state),
            ..ComparisonKey::default()
        },
        figures: BTreeMap::from([(Measure::Wall, sampled_figure((0..20).map(wobble)))]),
        noise: BTreeMap::new(),
        why_unmeasured: None,
    }
}

fn side(name: &str, cases: Vec<Case>) -> Side {
    let (name, about) = (name.to_owned(), String::new());
    Side { name, about, facts: BTreeMap::new(), notes: Vec::new(), cases }
}

/// A side with one warm case of this name.
fn side_with_case(name: &str, case_name: &str, digest: &str, level: f64) -> Side {
    side(name, vec![case(case_name, digest, CacheState::Warm, level)])
}

fn compare(sides: Vec<Side>) -> Result<Comparison, CompareError> {
    Comparison::new(sides, &[Measure::Wall], Center::Median, false)
}

fn comparison_of_two(slower: f64) -> Comparison {
    compare(vec![side_with_case("a", "read", "d", 1e6), side_with_case("b", "read", "d", 1e6 * slower)])
        .unwrap()
}

fn ratio_of_second_side(comparison: &Comparison) -> Ratio {
    comparison.tables[0].rows[0].cells[1].unwrap().ratio.unwrap()
}

#[test]
fn a_ratio_above_one_is_an_improvement() {
    assert!((ratio_of_second_side(&comparison_of_two(2.0)).estimate - 0.5).abs() < 1e-9);
    assert!(ratio_of_second_side(&comparison_of_two(0.5)).ci95.unwrap().low > 1.9);
}

#[test]
fn readings_under_one_bound_on_memory_are_compared_and_those_under_another_are_not() {
    let pressed = |bound: &str, level| {
        let mut case = case("read", "d", CacheState::Pressed, level);
        case.key.memory_bound = Some(bound.parse().unwrap());
        case
    };
    let a = side("a", vec![pressed("25%", 1e6), pressed("50%", 5e5)]);
    let b = side("b", vec![pressed("50%", 5e5), pressed("25%", 1e6)]);
    let found = compare(vec![a.clone(), b]).unwrap();
    for row in &found.tables[0].rows {
        let ratio = row.cells[1].unwrap().ratio.unwrap().estimate;
        assert!((ratio - 1.0).abs() < 1e-9, "{ratio}");
    }
    assert_eq!(found.tables[0].rows.len(), 2);
    assert!(compare(vec![a, side("b", vec![pressed("90%", 1e6)])]).is_err(), "no bound is the same");
}

#[test]
fn one_content_at_several_locations_is_compared_by_location() {
    let at = |path: &str, level| {
        let mut case = case("read", "d", CacheState::Warm, level);
        case.key.path = Some(path.to_owned());
        case
    };
    let a = side("a", vec![at("/ext4/f", 1e6), at("/nfs/f", 2e6)]);
    let b = side("b", vec![at("/nfs/f", 2e6), at("/ext4/f", 1e6)]);
    let found = compare(vec![a.clone(), b]).unwrap();
    assert_eq!(found.tables[0].rows.len(), 2);
    for row in &found.tables[0].rows {
        let ratio = row.cells[1].unwrap().ratio.unwrap().estimate;
        assert!((ratio - 1.0).abs() < 1e-9, "{:?}: {ratio}", row.key.path);
    }
    // On a machine with other paths, the locations are compared in their order.
    let moved = side("b", vec![at("/xfs/f", 1e6), at("/cifs/f", 2e6)]);
    let found = compare(vec![a, moved]).unwrap();
    let ratio = |row: usize| found.tables[0].rows[row].cells[1].unwrap().ratio.unwrap().estimate;
    assert!((ratio(0) - 1.0).abs() < 1e-9 && (ratio(1) - 1.0).abs() < 1e-9);
}

#[test]
fn the_gate_fails_only_if_the_whole_interval_is_beyond_its_limit() {
    let gate = Gate { allowed_share: 0.05 };
    for (slower, fails) in [(1.0, 0), (1.04, 0), (1.05, 0), (1.07, 1), (0.5, 0)] {
        assert_eq!(gate.worse_sentences(&comparison_of_two(slower)).unwrap().len(), fails, "{slower}");
    }
    let ci95 = Some(Interval { low: 0.6, high: 0.97 });
    let straddling = Ratio { estimate: 0.8, ci95, rule: None, pairs: 0 };
    assert!(!gate.fails(&straddling) && !gate.fails(&Ratio { ci95: None, ..straddling }));
}

#[test]
fn the_gate_refuses_to_judge_without_intervals_or_without_another_side() {
    let gate = Gate { allowed_share: 0.05 };
    let mean = |name, value| published_side(name, Figure::of_value(value, Statistic::Mean));
    let comparison = compare(vec![mean("a", 1.0), mean("b", 9.0)]).unwrap();
    assert!(comparison.lacks_intervals());
    assert_eq!(gate.worse_sentences(&comparison), Err(GateError::NoInterval));
    assert_eq!(gate.worse_sentences(&compare(vec![mean("a", 1.0)]).unwrap()), Err(GateError::OneSide));
    let mean_without_count = vec![mean("a", 1.0), mean("b", 9.0)];
    let no_number = Comparison::for_gate(mean_without_count, &[Measure::Mallocs], Center::Median, false);
    let refusal = CompareError::NoNumber("mallocs".to_owned());
    assert_eq!(gate.worse_sentences(&no_number.unwrap()), Err(GateError::NothingCompared(refusal)));
}

/// A warm case that failed.
fn failed_case(name: &str) -> Case {
    let why_unmeasured = Some(Outcome::Failed { reason: "it crashed".to_owned() });
    Case { figures: BTreeMap::new(), why_unmeasured, ..case(name, "d", CacheState::Warm, 1e6) }
}

/// What a gate finds of two sides with these cases: the broken trials, and what is not judged. It
/// finds nothing worse.
fn gate_findings(first: Vec<Case>, second: Vec<Case>) -> (Vec<String>, Vec<String>) {
    let sides = vec![side("a", first), side("b", second)];
    let comparison = Comparison::for_gate(sides, &[Measure::Wall], Center::Median, false).unwrap();
    let worse = Gate { allowed_share: 0.05 }.worse_sentences(&comparison);
    assert_eq!(worse, Ok(Vec::new()));
    (Gate::broken_sentences(&comparison), Gate::unjudged_sentences(&comparison))
}

#[test]
fn a_trial_that_failed_on_a_later_side_is_broken_and_a_failed_baseline_is_not_judged() {
    let read = || case("read", "d", CacheState::Warm, 1e6);
    let broken = || vec!["mmap: failed in b: it crashed".to_owned()];
    let unjudged = || vec!["mmap: failed in a: it crashed".to_owned()];
    let mmap = || case("mmap", "d", CacheState::Warm, 1e6);
    for (first, second, expected) in [
        (vec![read(), mmap()], vec![read(), failed_case("mmap")], (broken(), vec![])),
        (vec![read(), failed_case("mmap")], vec![read(), mmap()], (vec![], unjudged())),
        (vec![read(), failed_case("mmap")], vec![read(), failed_case("mmap")], (broken(), unjudged())),
        (vec![read()], vec![read(), failed_case("mmap")], (broken(), vec![])),
        (vec![read(), failed_case("mmap")], vec![read()], (vec![], unjudged())),
        // Nothing else is compared.
        (vec![mmap()], vec![failed_case("mmap")], (broken(), vec![])),
        (vec![failed_case("mmap")], vec![failed_case("mmap")], (broken(), unjudged())),
    ] {
        assert_eq!(gate_findings(first, second), expected);
    }
}

#[test]
fn the_gate_lists_what_a_side_lacks_though_nothing_else_is_compared() {
    let read = || case("read", "d", CacheState::Warm, 1e6);
    let apart = gate_findings(vec![read()], vec![case("mmap", "d", CacheState::Warm, 1e6)]);
    let lacking = ["read (warm): b does not have it", "mmap (warm): a does not have it"];
    assert_eq!(apart, (vec![], lacking.map(str::to_owned).to_vec()));
    // A run that was cut short has no outcome that says why.
    let without_numbers = || Case { figures: BTreeMap::new(), ..read() };
    for (first, second, name) in [(read(), without_numbers(), "b"), (without_numbers(), read(), "a")] {
        let found = gate_findings(vec![first], vec![second]);
        assert_eq!(found, (vec![], vec![format!("read (warm): {name} has no number for wall")]));
    }
}

#[test]
fn the_gate_says_why_a_number_has_no_interval() {
    let unjudged = |measure: Measure, readings: usize| {
        let side = |name: &str| {
            let mut case = case("read", "d", CacheState::Warm, 1e6);
            case.figures = BTreeMap::from([(measure, sampled_figure(vec![1e6; readings]))]);
            side(name, vec![case])
        };
        let comparison = Comparison::new(vec![side("a"), side("b")], &[measure], Center::Median, false);
        Gate::unjudged_sentences(&comparison.unwrap())
    };
    for (measure, readings, why) in [
        (Measure::Wall, 1, ONE_ROUND_WORDS),
        (Measure::Peak, 1, ONE_ROUND_WORDS),
        (Measure::Peak, 3, FEW_READINGS_WORDS),
    ] {
        let found = unjudged(measure, readings);
        assert!(found.len() == 1 && found[0].ends_with(why), "{found:?}");
    }
    assert!(unjudged(Measure::Peak, 5).is_empty());
}

#[test]
fn unlike_cases_of_one_name_are_refused_unless_forced() {
    let sides = || vec![side_with_case("a", "read", "d", 1e6), side_with_case("b", "read", "e", 1e6)];
    let error = compare(sides()).unwrap_err().to_string();
    assert!(error.contains("read (warm) of a and of b: the files differ (digest d and e)"), "{error}");
    let forced = Comparison::new(sides(), &[Measure::Wall], Center::Median, true).unwrap();
    assert_eq!((forced.forced_differences.len(), forced.tables[0].rows.len()), (1, 1));
}

#[test]
fn a_state_that_one_side_lacks_is_listed_for_the_other() {
    let both = vec![case("read", "d", CacheState::Cold, 5e6), case("read", "d", CacheState::Warm, 1e6)];
    let comparison = compare(vec![side("a", both), side_with_case("b", "read", "d", 1e6)]).unwrap();
    assert_eq!(comparison.tables[0].rows.len(), 1);
    assert_eq!(comparison.tables[0].rows[0].key.state, Some(CacheState::Warm));
    assert_eq!(
        (comparison.unlike_case_sentences, comparison.one_side_sentences),
        (vec![], vec!["only in a: read (cold)".to_owned()])
    );
}

#[test]
fn cold_above_a_cache_is_not_compared_with_cold() {
    let with = |name, is_above_cache| {
        let mut case = case("read", "d", CacheState::Cold, 1e6);
        case.key.is_above_cache = is_above_cache;
        side(name, vec![case])
    };
    let of = |one, other| compare(vec![with("a", one), with("b", other)]);
    let error = of(Some(true), Some(false)).unwrap_err().to_string();
    assert!(error.contains("cold above a cache and of the device"), "{error}");
    assert!(of(Some(true), Some(true)).is_ok() && of(Some(true), None).is_ok());
}

#[test]
fn sides_without_common_cases_are_an_error_that_lists_their_cases() {
    let error = compare(vec![side_with_case("a", "read", "d", 1e6), side_with_case("b", "mmap", "d", 1e6)])
        .unwrap_err()
        .to_string();
    assert!(error.contains("only in a: read") && error.contains("only in b: mmap"), "{error}");
}

#[test]
fn facts_that_differ_between_machines_are_listed_and_equal_ones_are_not() {
    let mut sides: Vec<Side> = comparison_of_two(1.0).sides;
    sides[0].facts = BTreeMap::from([("cpu".into(), "x".into()), ("cpus".into(), 2.into())]);
    sides[1].facts = BTreeMap::from([("cpu".into(), "y".into()), ("cpus".into(), 2.into())]);
    let comparison = compare(sides).unwrap();
    let facts: Vec<&str> = comparison.differing_facts.iter().map(|it| it.fact.as_str()).collect();
    assert_eq!(facts, ["cpu"]);
}

/// A side with these cases, measured on a machine with this clock rate.
fn side_on_machine(name: &str, ghz: f64, cases: Vec<Case>) -> Side {
    let facts = BTreeMap::from([("cpu".to_owned(), name.into()), ("ghz".to_owned(), ghz.into())]);
    Side { facts, ..side(name, cases) }
}

#[test]
fn a_line_is_fitted_only_through_cases_that_are_alike() {
    let warm = |name, digest, level| case(name, digest, CacheState::Warm, level);
    let request =
        |force| FitRequest { is_forced: force, ..FitRequest::parse("zip/wall", "machine.ghz").unwrap() };
    let with = |third: Vec<Case>| {
        vec![
            side_on_machine("a", 3.0, vec![warm("zip", "d", 3e6), warm("plain", "e", 2e6)]),
            side_on_machine("b", 4.0, vec![warm("zip", "d", 2e6), warm("plain", "e", 1e6)]),
            side_on_machine("c", 5.0, third),
        ]
    };
    let alike = fit(&with(vec![warm("zip", "d", 1e6)]), &request(false)).unwrap();
    assert_eq!((alike.points.len(), alike.forced_differences.len()), (3, 0));
    let mut works = warm("zip", "d", 9e6);
    works.key.work = Some(Work::Sum);
    let mut readers = warm("zip", "d", 9e6);
    readers.key.params = Some("readers=2".parse().unwrap());
    let mut by_one = with(vec![readers]);
    by_one[0].cases[0].key.params = Some("readers=1".parse().unwrap());
    for (sides, why) in [
        (with(vec![warm("zip", "x", 9e6)]), "zip of a and of c: the files differ (digest d and x)"),
        (with(vec![case("zip", "d", CacheState::Cold, 9e6)]), "zip of a and of c: state warm and cold"),
        (with(vec![works]), "zip of a and of c: work newlines and sum"),
        (by_one, "zip of a and of c: parameters [readers=1] and [readers=2]"),
        // The cases to reach must be alike, too.
        (
            with(vec![warm("zip", "d", 1e6), warm("plain", "x", 9e6)]),
            "plain of a and of c: the files differ (digest e and x)",
        ),
    ] {
        let refused = fit(&sides, &request(false)).unwrap_err();
        assert_eq!(refused, FitError::Unlike(vec![why.to_owned()]));
        assert!(refused.to_string().ends_with("--force fits nevertheless"));
        let forced = fit(&sides, &request(true)).unwrap();
        assert_eq!((forced.points.len(), forced.forced_differences), (3, vec![why.to_owned()]));
    }
}

#[test]
fn a_difference_from_the_second_side_is_found_where_the_first_has_no_facts() {
    let known = |digest: Option<&str>| {
        let mut case = case("zip", "d", CacheState::Warm, 1e6);
        case.key.digest = digest.map(str::to_owned);
        case
    };
    let sides = vec![
        side_on_machine("a", 3.0, vec![known(None)]),
        side_on_machine("b", 4.0, vec![known(Some("d"))]),
        side_on_machine("c", 5.0, vec![known(Some("x"))]),
    ];
    let refused = fit(&sides, &FitRequest::parse("zip/wall", "ghz").unwrap()).unwrap_err();
    assert!(refused.to_string().contains("zip of b and of c"), "{refused}");
}

fn published_side(name: &str, figure: Figure) -> Side {
    let mut case = case("read", "d", CacheState::Warm, 1.0);
    case.figures.insert(Measure::Wall, figure);
    side(name, vec![case])
}

fn mean_of_ten(value: f64, sd: f64) -> Figure {
    let spread = Spread { sd: Some(sd), reading_count: Some(10), percentiles: None };
    Figure::Value { value, statistic: Statistic::Mean, spread }
}

#[test]
fn a_published_mean_is_compared_with_the_mean_of_samples_and_has_its_interval() {
    let uneven = sampled_figure((0..10).map(|nth| if nth == 9 { 2e6 } else { 1e6 }));
    let sides = vec![published_side("table", mean_of_ten(2.2e6, 1e4)), published_side("here", uneven)];
    let comparison = compare(sides).unwrap();
    let here = comparison.tables[0].rows[0].cells[1].unwrap();
    assert_eq!((here.value, here.n, here.statistic), (1.1e6, Some(10), Some(Statistic::Mean)));
    assert!((here.sd.unwrap() - 316_227.766).abs() < 0.001);
    let ratio = ratio_of_second_side(&comparison);
    assert!((ratio.estimate - 2.0).abs() < 1e-9 && ratio.ci95.unwrap().holds(2.0), "{ratio:?}");
}

#[test]
fn a_mean_and_a_median_have_no_ratio_and_chosen_means_stay_means() {
    let median = Figure::of_value(1e6, Statistic::Median);
    let sides = vec![published_side("a", mean_of_ten(1e6, 1e4)), published_side("b", median)];
    let comparison = compare(sides).unwrap();
    assert!(comparison.tables[0].rows[0].cells[1].unwrap().ratio.is_none());
    assert!(comparison.has_unlike_statistics() && !comparison_of_two(1.0).has_unlike_statistics());
    let sides = vec![side_with_case("a", "read", "d", 1e6), side_with_case("b", "read", "d", 1e6)];
    let means = Comparison::new(sides, &[Measure::Wall], Center::Mean, false).unwrap();
    let cell = means.tables[0].rows[0].cells[0].unwrap();
    assert_eq!((cell.statistic, cell.n), (Some(Statistic::Mean), Some(20)));
    assert!(cell.percentiles.unwrap()[0] <= cell.value && cell.value <= cell.percentiles.unwrap()[6]);
}

#[test]
fn a_number_of_zero_or_less_has_no_ratio_and_is_not_judged() {
    let gate = Gate { allowed_share: 0.05 };
    let has_ratio = |one: f64, other: f64| {
        let sides = [("a", one), ("b", other)];
        let sides = sides.map(|(name, value)| published_side(name, sampled_figure(vec![value; 20])));
        let comparison = compare(sides.into()).unwrap();
        let ratio = comparison.tables[0].rows[0].cells[1].unwrap().ratio;
        let unjudged = Gate::unjudged_sentences(&comparison);
        assert_eq!(comparison.has_numbers_without_quotient(), ratio.is_none());
        assert!(!comparison.has_unlike_statistics());
        assert_eq!(unjudged.len(), usize::from(ratio.is_none()), "{one} {other}: {unjudged:?}");
        assert!(unjudged.iter().all(|it| it.ends_with("a number that is 0 or less has no ratio")));
        assert_eq!(gate.worse_sentences(&comparison), Ok(Vec::new()));
        ratio.is_some()
    };
    assert!(!has_ratio(0.0, 1.0) && !has_ratio(5e4, 0.0) && !has_ratio(-300.0, 5e4));
    assert!(!has_ratio(-1.0, -2.0) && has_ratio(1.0, 1.0));
    assert!(has_ratio(0.0, 0.0), "equal numbers");
    // Counts and fitted costs have no samples, and are not judged in any case.
    let of_fit = |value| published_side("fit", Figure::of_value(value, Statistic::Slope));
    let comparison = compare(vec![of_fit(-300.0), of_fit(5e4)]).unwrap();
    assert!(comparison.tables[0].rows[0].cells[1].unwrap().ratio.is_none());
    assert!(Gate::unjudged_sentences(&comparison).is_empty());
}

#[test]
fn a_side_without_the_fact_is_named_beside_the_line() {
    let fact = |name: &str, ghz: Option<f64>| {
        let facts = ghz.map(|ghz| ("ghz".to_owned(), Value::from(ghz))).into_iter().collect();
        Side { facts, ..published_side(name, mean_of_ten(1e6 * ghz.unwrap_or(1.0), 1e4)) }
    };
    let sides = [fact("a", Some(3.0)), fact("b", Some(4.0)), fact("c", None)];
    let found = fit(&sides, &FitRequest::parse("read/wall", "machine.ghz").unwrap()).unwrap();
    assert_eq!((found.points.len(), found.sides_without_fact), (2, vec!["c".to_owned()]));
}

/// A side from a record with `trials` warm trials of `rounds` rounds each. Each reading takes
/// `slower` times as long.
fn recorded_side(name: &str, trials: u64, rounds: u64, slower: f64) -> Side {
    let mut record = Record::new(testing::header());
    record.add(testing::target_line_of_size(0, 1_000_000_000));
    for trial in 0..trials {
        let reading = |round: u64| {
            let wobble = 1.0 + 0.01 * float((3 * trial + 5 * round) % 7);
            let wall_ns = (1e8 * slower * (1.0 + 0.1 * float(trial)) * wobble) as u64;
            Sample { wall_ns, ..Sample::default() }
        };
        let (name, readings) = (format!("rust/read{trial}"), (0..rounds).map(reading));
        testing::add_trial(&mut record, &name, CacheState::Warm, Cache::Through, readings);
    }
    Side::of_record(&record, name, "here")
}

#[test]
fn a_recorded_rate_counts_the_bytes_of_a_range_and_the_stored_bytes_of_an_archive() {
    let rate = |facts: TargetFacts, decoded_format: Option<Archive>| {
        let mut record = Record::new(testing::header());
        record.add(testing::target_line(0, facts));
        let reading = Sample { wall_ns: 1_000_000_000, ..Sample::default() };
        let (state, cache) = (CacheState::Warm, Cache::Through);
        let trial = testing::add_trial(&mut record, "rust/read", state, cache, [reading]);
        record.trials[TrialIndex::new(trial)].trial.decoded_format = decoded_format;
        Side::of_record(&record, "a", "here").cases[0].figures[&Measure::Rate].value()
    };
    let file = TargetFacts { size_bytes: 10_000, ..TargetFacts::default() };
    assert_eq!(rate(file.clone(), None), 10_000.0);
    let range =
        RangeFacts { start_bytes: 4_000, length_bytes: 6_000, before_bytes: 4_000, file_bytes: 20_000 };
    assert_eq!(rate(TargetFacts { range: Some(range), ..file.clone() }, None), 6_000.0);
    let answer = Answer { bytes: Some(60_000), ..Answer::default() };
    let decoded = Some(DecodedContent { archive: Archive::Zip, digest: "d".to_owned(), answer });
    assert_eq!(rate(TargetFacts { decoded, ..file }, Some(Archive::Zip)), 10_000.0);
}

#[test]
fn methods_that_are_started_for_each_reading_are_cases_of_their_own() {
    let side = |name: &str| {
        let mut record = Record::new(testing::header());
        record.add(testing::target_line_of_size(0, 1_000));
        for (name, wall_ns, start) in [
            ("java/a", 1_000, StartMode::EachReading),
            ("java/b", 2_000, StartMode::EachReading),
            ("java/a", 500, StartMode::Kept),
        ] {
            let readings = [Sample { wall_ns, ..Sample::default() }];
            let trial = testing::add_trial(&mut record, name, CacheState::Warm, Cache::Through, readings);
            record.trials[TrialIndex::new(trial)].trial.start_session = start;
        }
        Side::of_record(&record, name, "here")
    };
    let one = side("a");
    let walls = one.cases.iter().map(|it| (it.name.as_str(), it.figures[&Measure::Wall].value()));
    let expected =
        [("java/a (each reading)", 1_000.0), ("java/b (each reading)", 2_000.0), ("java/a", 500.0)];
    assert_eq!(walls.collect::<Vec<_>>(), expected);
    let found = compare(vec![one, side("b")]).unwrap();
    let ratios = found.tables[0].rows.iter().map(|row| row.cells[1].unwrap().ratio.unwrap().estimate);
    assert_eq!(ratios.collect::<Vec<_>>(), [1.0; 3]);
}

#[test]
fn recorded_cells_of_few_rounds_share_their_noise_and_tell_a_factor_of_two() {
    use IntervalRule::{SharedVariance, Student};
    for (trials, rounds, rule) in [
        (9, 2, Some(SharedVariance)),
        (9, 3, Some(SharedVariance)),
        // With few trials, each trial's number has Student's interval.
        (4, 3, Some(Student)),
        (9, 1, None),
    ] {
        let sides = vec![recorded_side("a", trials, rounds, 1.0), recorded_side("b", trials, rounds, 2.0)];
        let found = Comparison::new(sides, &[Measure::Wall, Measure::Rate], Center::Median, false).unwrap();
        assert_eq!(found.tables.len(), 2, "time and rate");
        for row in found.tables.iter().flat_map(|table| &table.rows) {
            let [before, after] = [0, 1].map(|side| row.cells[side].unwrap());
            for cell in [before, after] {
                assert_eq!((cell.rule, cell.ci95.is_some()), (rule, rule.is_some()), "{cell:?}");
            }
            let ratio = after.ratio.unwrap();
            assert!((ratio.estimate - 0.5).abs() < 0.01, "{ratio:?}");
            assert_eq!(ratio.ci95.map(|ends| ends.high < 1.0), rule.map(|_| true), "{rounds}: {ratio:?}");
        }
    }
}

#[test]
fn two_cases_of_one_side_have_a_ratio_by_shared_noise_and_those_of_two_sides_have_none() {
    for rounds in [2, 3] {
        let sides = ["a", "b"].map(|name| recorded_side(name, 9, rounds, 1.0));
        let [noise, of_other_side] = sides.each_ref().map(|side| side.cases[0].noise[&Measure::Wall].clone());
        let of_same_side = &sides[0].cases[8].noise[&Measure::Wall];
        let ratio = of_same_side.ratio_to(&noise).unwrap();
        let ci95 = ratio.ci95.unwrap();
        assert_eq!((ci95.rule, ratio.unit_count), (IntervalRule::SharedVariance, rounds as usize));
        assert!(ci95.ends.low > 1.0 && ci95.ends.holds(ratio.estimate), "{ratio:?}");
        assert_eq!(noise.ratio_to(&of_other_side), None);
    }
}
