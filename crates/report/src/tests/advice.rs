//! Tests of advice, from records with known intervals: advised trials, ties, kept baselines, and
//! searches with all their readings.

use super::*;
use crate::advice::Advice;
use readlab_catalog::snippet;
use readlab_model::trial::Work;
use readlab_record::{INDEPENDENT_READERS, ReferenceCandidate, ReferenceReason};

/// A warm race for which the user named no reference, so it has the candidates that readlab chose.
fn race_with_references(trials: &[(&str, u64, [u64; 5])]) -> Record {
    let mut record = warm_race(trials);
    record.header.reference_candidates = references(&record);
    record
}

fn references(record: &Record) -> Vec<ReferenceCandidate> {
    let all = || record.trials.iter().map(|it| &it.trial.id);
    let independent = all().filter(|id| INDEPENDENT_READERS.contains(&id.to_string().as_str()));
    let independent = independent.map(|id| (id.clone(), ReferenceReason::Independent));
    let usual = all().filter(|id| snippet::is_usual(&id.method));
    let usual = usual.map(|id| (id.clone(), ReferenceReason::Usual));
    independent.chain(usual).map(|(trial, why)| ReferenceCandidate { trial, why }).collect()
}

fn advice(record: &Record) -> Option<Advice> {
    Page::from_record(record).advice.pop()
}

#[test]
fn a_command_is_advised_as_it_is_typed_without_the_settings_of_the_system() {
    let wc = ("command/wc -l", 30, STEADY_WOBBLE_US);
    let mut record = race_with_references(&[wc, ("rust/lines", 50, STEADY_WOBBLE_US)]);
    record.targets[TargetIndex::new(0)].settings = vec![read_ahead_setting("4MiB", true)];
    let sentence = advice(&record).unwrap().sentence;
    assert!(sentence.contains("keep 'wc -l': the reference itself is the fastest"), "{sentence}");
}

#[test]
fn the_fastest_trial_is_advised_with_its_interval_and_a_trial_that_needs_less() {
    let record = race_with_references(&[
        ("rust/mmap/avx2@threads=2", 50, STEADY_WOBBLE_US),
        ("rust/read/memchr@buffer=64KiB", 80, STEADY_WOBBLE_US),
        ("rust/read/iterator@buffer=64KiB", 100, STEADY_WOBBLE_US),
        ("rust/lines@buffer=16KiB", 200, STEADY_WOBBLE_US),
    ]);
    let result = advice(&record).unwrap();
    assert_eq!(
        result.sentence,
        "warm: use rust/mmap with avx2 and 2 threads: 4.00 [4.00, 4.00] times as fast as rust/lines with \
         16 KiB buffers; rust/read with iterator and 64 KiB buffers would already give 2.00 [2.00, 2.00] times \
         without several threads, the crate memmap2 or unsafe code"
    );
    assert_eq!(
        (result.advised_trial, result.cheaper.unwrap().index, result.code.len()),
        (Some(TrialIndex::new(0)), TrialIndex::new(2), 2)
    );
    assert!(result.code[0].code.contains("THREADS: usize = 2;"));
}

#[test]
fn a_trial_that_only_touches_pages_is_named_beside_trials_that_deliver_every_byte() {
    let touch = ("rust/mmap/touch", 5, STEADY_WOBBLE_US);
    let of =
        |trials: &[_]| Page::from_record(&race_with_references(trials)).rankings[0].explanations.concat();
    let said = of(&[touch, ("rust/read/count", 50, STEADY_WOBBLE_US)]);
    assert!(said.starts_with("rust/mmap/touch: one byte a page of the mapping is touched, where"), "{said}");
    assert_eq!(of(&[touch, ("rust/auto/touch", 6, STEADY_WOBBLE_US)]), "", "they do the same");
    assert_eq!(of(&[("rust/read/count", 50, STEADY_WOBBLE_US)]), "");
}

/// Deviations of up to 60 ms: a trial of 30 ms then takes from 30 to 90 ms.
const WILD_WOBBLE_US: [u64; 5] = [0, 1_000, 60_000, 0, 55_000];
/// Deviations of up to a tenth of a millisecond, in a different order for each trial.
const NOISY_WOBBLES_US: [[u64; 5]; 3] = [[0, 40, 80, 20, 60], [50, 10, 70, 80, 0], [60, 20, 50, 80, 10]];

#[test]
fn the_simplest_unbeaten_trial_is_advised_with_the_reason() {
    let lines = ("rust/lines", 100, STEADY_WOBBLE_US);
    let ring = [
        ("rust/io_uring/memchr@depth=8", 50, NOISY_WOBBLES_US[0]),
        ("rust/auto/memchr@threads=2", 50, NOISY_WOBBLES_US[1]),
        ("rust/auto-safe/memchr@threads=2", 50, NOISY_WOBBLES_US[2]),
        lines,
    ];
    for (trials, result, end) in [
        (
            &[
                ("rust/mmap/avx2", 50, NOISY_WOBBLES_US[0]),
                ("rust/pread/iterator@buffer=64KiB,threads=2", 50, NOISY_WOBBLES_US[1]),
                ("rust/read/iterator@buffer=64KiB", 50, NOISY_WOBBLES_US[2]),
                lines,
            ][..],
            "use rust/read with iterator and 64 KiB buffers: ",
            "; rust/mmap with avx2 has the best median, but ties with it and is less simple; 1 more tie",
        ),
        (&ring, "use rust/auto-safe with memchr and 2 threads: ", ""),
        (
            &[("rust/read/iterator", 50, NOISY_WOBBLES_US[0]), ("rust/lines", 50, NOISY_WOBBLES_US[2])],
            "keep rust/lines: ",
            "",
        ),
        // The reference itself is the fastest.
        (
            &[("command/wc -l", 30, STEADY_WOBBLE_US), ("rust/lines", 50, STEADY_WOBBLE_US)],
            "keep 'wc -l': the reference itself is the fastest",
            "",
        ),
        // The usual method in the language of the simplest trial is slower than another program.
        (
            &[
                ("command/wc -l", 30, STEADY_WOBBLE_US),
                ("c/mmap", 30, WILD_WOBBLE_US),
                ("c/getline", 51, STEADY_WOBBLE_US),
            ],
            "keep 'wc -l': nothing that was measured is faster beyond doubt; it ties with 1 more",
            "",
        ),
        // No other program is faster, so the usual method is kept.
        (
            &[("c/mmap", 30, WILD_WOBBLE_US), ("c/getline", 51, STEADY_WOBBLE_US)],
            "keep c/getline: nothing that was measured is faster beyond doubt; c/mmap has the best median, but ties",
            "",
        ),
        // Another trial is faster than the baseline, whichever trial is the fastest.
        (
            &[
                ("rust/mmap/avx2", 30, WILD_WOBBLE_US),
                ("rust/read/iterator", 40, STEADY_WOBBLE_US),
                ("rust/lines", 60, STEADY_WOBBLE_US),
            ],
            "use rust/read with iterator: 1.50 [1.50, 1.50] times as fast as rust/lines; rust/mmap with avx2 has",
            "",
        ),
    ] {
        let Advice { sentence, slower_baseline: against, cheaper, advised_trial, advised_name: name, .. } =
            advice(&race_with_references(trials)).unwrap();
        assert!(sentence.starts_with(&format!("warm: {result}")), "{trials:?}: {sentence}");
        assert!(sentence.ends_with(end), "{trials:?}: {sentence}");
        let is_kept = result.starts_with("keep");
        assert_eq!((against.is_none(), cheaper.is_none()), (is_kept, true), "{sentence}");
        assert_eq!(
            advised_trial,
            trials.iter().position(|it| Some(it.0) == name.as_deref()).map(TrialIndex::new)
        );
    }
    assert!(!advice(&race_with_references(&ring)).unwrap().code[0].code.contains("unsafe"));
}

#[test]
fn nothing_is_kept_without_a_baseline() {
    let record = warm_race(&[
        ("rust/places-mmap/avx2", 50, STEADY_WOBBLE_US),
        ("rust/places-pread/avx2", 90, STEADY_WOBBLE_US),
    ]);
    let said = advice(&record).unwrap();
    assert_eq!(said.sentence, "warm: use rust/places-mmap with avx2: nothing that was measured is faster");
    assert_eq!(Page::from_record(&record).headlines[0].action, said.action);
}

#[test]
fn advice_reports_that_more_rounds_are_needed() {
    for (trials, once, uses, end) in [
        (
            &[
                ("rust/read/iterator", 50, STEADY_WOBBLE_US),
                ("rust/mmap", 70, STEADY_WOBBLE_US),
                ("rust/lines", 99, STEADY_WOBBLE_US),
            ][..],
            &[2][..],
            Some(0),
            "use rust/read with iterator: nothing that was measured is faster; rust/lines needs 1 more round for an interval",
        ),
        (
            &[("rust/read/iterator", 50, STEADY_WOBBLE_US), ("rust/lines", 99, STEADY_WOBBLE_US)],
            &[0, 1],
            None,
            "no advice: 2 trials may be the fastest and need 1 more round for an interval",
        ),
        // A trial with a slower median does not prevent advice, even without a rank.
        (
            &[
                ("rust/read/iterator", 50, STEADY_WOBBLE_US),
                ("rust/lines", 99, STEADY_WOBBLE_US),
                ("rust/mmap", 200, STEADY_WOBBLE_US),
            ],
            &[2],
            Some(0),
            "times as fast as rust/lines",
        ),
    ] {
        let mut record = race_with_references(trials);
        once.iter().for_each(|&index| keep_first_readings(&mut record, index, 1));
        let advice = advice(&record).unwrap();
        assert!(advice.sentence.ends_with(end), "{}", advice.sentence);
        assert_eq!(
            (advice.advised_trial, advice.code.is_empty()),
            (uses.map(TrialIndex::new), uses.is_none())
        );
    }
    assert_eq!(
        advice(&race_with_references(&[("rust/read/iterator", 50, STEADY_WOBBLE_US)])),
        None,
        "of one trial"
    );
}

#[test]
fn the_answer_separates_faster_slower_tied_and_unknown() {
    let mut page = Page::from_record(&race_with_references(&[
        ("rust/mmap/avx2", 50, STEADY_WOBBLE_US),
        ("command/wc -l", 100, STEADY_WOBBLE_US),
    ]));
    let mut result = |estimate, ends| {
        page.rankings[0].rows[0].ratio_to_reference = Some(shared_ratio(estimate, ends));
        let answer = super::super::answer::sentence_of_rankings(&page.rankings);
        (answer, page.rankings[0].headline())
    };
    let (answer, headline) = result(2.0, Some((1.9, 2.1)));
    let fastest = "Warm, mmap avx2 is the fastest at 20.0 GB/s";
    assert_eq!(answer, format!("{fastest}, 2.00 [1.90, 2.10] times as fast as wc -l."));
    assert_eq!(headline, "fastest warm: rust/mmap/avx2, 20.0 GB/s, 2.00 [1.90, 2.10] × command/wc -l");
    let (answer, headline) = result(0.8, Some((0.7, 0.9)));
    assert_eq!(
        answer,
        "Warm, mmap avx2 has the best median, 20.0 GB/s, but is slower than wc -l within rounds, 0.80 [0.70, 0.90] times as fast."
    );
    assert!(headline.starts_with("best median warm: rust/mmap/avx2"), "{headline}");
    assert_eq!(result(1.1, Some((0.9, 1.2))).0, format!("{fastest}."));
    assert_eq!(result(1.1, None).0, format!("{fastest}, 1.1 (1 round) times as fast as wc -l."));
}

#[test]
fn every_text_says_that_the_reference_is_the_fastest() {
    let page = Page::from_record(&race_with_references(&[
        ("command/wc -l", 30, STEADY_WOBBLE_US),
        ("rust/lines", 50, STEADY_WOBBLE_US),
    ]));
    assert_eq!(page.answer, "Warm, wc -l, the reference itself, is the fastest at 33.3 GB/s.");
    assert_eq!(page.rankings[0].headline(), "fastest warm: command/wc -l, 33.3 GB/s, the reference itself");
    assert_eq!(page.headlines[0].ratio_words, "the reference itself");
}

#[test]
fn each_headline_names_its_work_if_a_record_has_several() {
    let trials = [
        ("rust/mmap/avx2", 50, STEADY_WOBBLE_US),
        ("rust/lines", 100, STEADY_WOBBLE_US),
        ("rust/null", 1, STEADY_WOBBLE_US),
    ];
    let both = [trials, trials].concat();
    let mut record = race_with_references(&both);
    for it in record.trials.iter_mut() {
        it.trial.work = if it.trial.index < TrialIndex::new(3) { Work::Newlines } else { Work::Lines };
        it.trial.cache = if it.trial.method() == "null" { Cache::None } else { Cache::Through };
    }
    let page = Page::from_record(&record);
    assert_eq!(
        page.answer,
        "Warm (newlines), mmap avx2 is the fastest at 20.0 GB/s, 2.00 [2.00, 2.00] times as fast as lines; warm (lines), \
         mmap avx2 is the fastest at 20.0 GB/s, 2.00 [2.00, 2.00] times as fast as lines."
    );
    let result: Vec<&str> = page.advice.iter().map(|it| it.condition.as_str()).collect();
    assert_eq!(result, ["warm (newlines)", "warm (lines)"]);
    assert!(page.rankings.iter().all(|it| it.headline().starts_with(&format!("fastest warm ({})", it.work))));
    // With a second target of the same work, headlines also name the target. A ranking that holds
    // only a control has no headline.
    let mut record = race_with_references(&both);
    let path = "/data/g.zip".into();
    record.add(testing::target_line(
        1,
        TargetFacts { path, size_bytes: 1_000_000_000, ..TargetFacts::default() },
    ));
    [3, 4].iter().for_each(|&index| trial_mut(&mut record, index).trial.target = TargetIndex::new(1));
    trial_mut(&mut record, 2).trial.cache = Cache::None;
    let control = &mut trial_mut(&mut record, 5).trial;
    (control.work, control.cache) = (Work::Sum, Cache::None);
    let text = super::terminal_text(&record);
    let headlines: Vec<&str> =
        text.lines().filter(|line| line.starts_with("fastest") || line.contains("nothing was")).collect();
    let named = |line: &&str, name: &str| line.starts_with(&format!("fastest warm ({name}): rust/mmap"));
    assert!(headlines.len() == 2 && named(&headlines[0], "f") && named(&headlines[1], "g.zip"), "{text}");
}

#[test]
fn advice_compares_with_the_reference_that_was_named() {
    let mut record = race_with_references(&[
        ("rust/mmap/avx2", 50, STEADY_WOBBLE_US),
        ("command/wc -l", 100, STEADY_WOBBLE_US),
        ("rust/lines", 200, STEADY_WOBBLE_US),
    ]);
    let against = |record: &Record| advice(record).unwrap().slower_baseline.unwrap().name;
    assert_eq!(against(&record), "command/wc -l");
    let named = ReferenceCandidate { trial: "rust/lines".parse().unwrap(), why: ReferenceReason::Named };
    record.header.reference_candidates.insert(0, named);
    assert_eq!(against(&record), "rust/lines");
    let line = |record: &Record| Page::from_record(record).rankings[0].reference_line().unwrap();
    assert_eq!(line(&record), "reference: rust/lines (named for this run)");
    // A named reference that was not measured is replaced by the next candidate.
    record.header.reference_candidates[0].trial = "rust/nowhere".parse().unwrap();
    assert_eq!(line(&record), "reference: command/wc -l (code that others wrote)");
}

/// A search over five buffers, of which two were measured again beside a reference.
fn searched_record() -> Record {
    let buffers =
        ["4KiB", "16KiB", "64KiB", "256KiB", "1MiB"].map(|size| format!("rust/read/iterator@buffer={size}"));
    let mut record = record();
    for (index, name) in buffers.iter().map(String::as_str).chain(["rust/lines"]).enumerate() {
        announce(&mut record, index, name, CacheState::Warm);
        let rungs = if index < 5 { 1 + index as u32 } else { 0 };
        for rung in 0..rungs {
            let wall_ns = 90_000_000 - 10_000_000 * index as u64;
            let sample = Sample { rung: Some(rung), ..reading(index, rung, wall_ns) };
            record.add(Line::Sample(Box::new(sample)));
        }
        if index > 2 {
            add_samples_with_wobble(&mut record, index, 60 + 20 * (index as u64 - 3), STEADY_WOBBLE_US);
        }
        add_outcome(&mut record, index, Outcome::Measured);
    }
    record.header.reference_candidates = references(&record);
    record
}

#[test]
fn readings_of_a_search_are_in_marked_curves_and_in_no_number() {
    let page = Page::from_record(&searched_record());
    let ranking = &page.rankings[0];
    let names: Vec<&str> = ranking.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["rust/read/iterator@buffer=256KiB", "rust/read/iterator@buffer=1MiB", "rust/lines"]);
    assert_eq!((ranking.rows[0].wall.n, ranking.unmeasured.len(), ranking.proof.sample_count), (10, 0, 30));
    assert!(page.answer.contains("16.7 GB/s"), "60.02 ms afresh, not 40 or 50: {}", page.answer);
    let curve = page.curves.iter().find(|curve| curve.is_from_search).unwrap();
    assert_eq!((curve.points.len(), curve.points[4].spelled_value.as_str()), (5, "1MiB"));
    assert!((curve.points[4].rate.0 - 1e9 / 0.05).abs() < 1.0 && curve.points[0].interval.is_none());
    let search = ranking.search.unwrap();
    assert_eq!(
        (
            search.setting_count,
            search.rung_count,
            search.search_turns,
            search.fresh_turns,
            search.exhaustive_turns
        ),
        (5, 5, 15, 30, 50)
    );
    assert!(page.shows_code());
}

#[test]
fn the_exports_hold_every_reading_of_a_search_apart() {
    let document = document(&searched_record());
    let count = |trial: usize, field: &str| document["trials"][trial][field].as_array().unwrap().len();
    assert_eq!(
        (count(0, "searched"), count(0, "samples"), count(4, "searched"), count(4, "samples")),
        (1, 0, 5, 10)
    );
    assert_eq!(document["searches"][0]["readings_exhaustive"], 50);
    assert_eq!(document["advice"][0]["against"]["id"], "rust/lines");
    let rows = super::csv(&searched_record());
    assert_eq!(rows.lines().count(), 1 + 15 + 30);
    let wide = super::terminal_text(&searched_record());
    insta::assert_snapshot!(wide);
}
