//! Tables in a terminal: groups of ties, rows without a rank, narrow tables, the baseline, the best
//! of languages.

use super::*;
use crate::advice::UsualWay;
use readlab_model::target::places::RangesFacts;
use readlab_model::target::range::RangeFacts;
use readlab_model::target::{ServerOptions, Targets};
use readlab_record::{
    ReferenceCandidate, ReferenceReason, ResumePlan, Rules, RunKind, Samples, StopReason, Stopped,
};

/// Deviations of up to a millisecond, in a different order for each trial.
const NOISY_WOBBLES_US: [[u64; 5]; 4] =
    [[0, 400, 800, 200, 600], [600, 200, 400, 800, 0], [400, 800, 0, 600, 200], [800, 0, 600, 400, 200]];

/// A warm race in several languages: four trials tie for the first rank, and one has a single
/// round.
fn race() -> Record {
    let mut record = warm_race(&[
        ("command/wc -l", 90, STEADY_WOBBLE_US),
        ("rust/lines", 200, STEADY_WOBBLE_US),
        ("rust/mmap/avx2", 50, NOISY_WOBBLES_US[0]),
        ("rust/read/iterator@buffer=64KiB", 50, NOISY_WOBBLES_US[1]),
        ("rust/io_uring/avx2@buffer=128KiB,depth=16", 50, NOISY_WOBBLES_US[2]),
        ("rust/vectored/iterator@buffer=8KiB,buffers=16", 50, NOISY_WOBBLES_US[3]),
        ("python/lines", 900, STEADY_WOBBLE_US),
        ("python/mmap/find", 300, STEADY_WOBBLE_US),
        ("go/bufio.Scanner", 120, STEADY_WOBBLE_US),
    ]);
    keep_first_readings(&mut record, 8, 1);
    record
}

fn terminal_lines(page: &Page, width: u16) -> Vec<String> {
    terminal_page(page, Style { width, may_use_color: false }, None).lines().map(str::to_owned).collect()
}

/// The table of the only ranking, without its header lines.
fn table_lines(page: &Page, width: u16) -> Vec<String> {
    let all = terminal_lines(page, width);
    let from = all.iter().position(|line| line.starts_with("warm · ")).unwrap();
    all.into_iter().skip(from + 2).take_while(|line| !line.starts_with("verdict:")).collect()
}

#[test]
fn trials_of_a_rank_are_a_group_and_a_trial_with_a_single_round_is_in_none() {
    let page = Page::from_record(&race());
    let ranking = &page.rankings[0];
    let groups: Vec<_> = ranking.rows_by_rank().iter().map(|(place, it)| (*place, it.len() - 1)).collect();
    assert_eq!(groups, [(1, 3), (5, 0), (6, 0), (7, 0), (8, 0)]);
    let unranked = ranking.rows.iter().filter(|row| row.rank.is_none());
    let unranked: Vec<&str> = unranked.map(|row| row.name.as_str()).collect();
    assert_eq!(unranked, ["go/bufio.Scanner"]);
    assert!(ranking.unranked_before_first().next().is_none() && ranking.is_leader(&ranking.rows[0]));
}

#[test]
fn tied_trials_are_folded_behind_a_count_except_the_advised_one() {
    let mut page = Page::from_record(&race());
    let folded = table_lines(&page, 200);
    assert_eq!(folded.len(), 8, "{folded:#?}");
    assert!(folded[0].contains("1 ") && folded[0].contains("rust/"), "{folded:#?}");
    assert!(folded.iter().any(|line| line.contains("rust/read/iterator")), "the advised: {folded:#?}");
    assert!(folded.iter().any(|line| line.trim_start().starts_with("+ 2 tied: ")), "{folded:#?}");
    assert!(folded.iter().any(|line| line.contains("go/bufio.Scanner") && line.contains("–")), "{folded:#?}");
    page.lists_all = true;
    let all = table_lines(&page, 200);
    assert_eq!((all.len(), all.iter().filter(|line| line.contains("1=")).count()), (9, 3), "{all:#?}");
    assert!(!markdown(&page).contains("tied:"), "exports hold every row");
    let mut suite = race();
    suite.header.kind = RunKind::Suite;
    assert_eq!(table_lines(&Page::from_record(&suite), 200).len(), 9, "a suite lists what it names");
}

/// A plan with this indifference zone.
fn plan_with_indifference(indifference: f64) -> ResumePlan {
    ResumePlan {
        boot_id: None,
        folder: String::new(),
        targets: Targets::default(),
        states: Vec::new(),
        rules: Rules { indifference, ..Rules::one_reading(0) },
        trials: Vec::new(),
        absent_trials: Vec::new(),
        roster_paths: Vec::new(),
        flame_graph_folder: None,
        has_trace: false,
        may_drop_caches: false,
        may_read_block_device: false,
        server: ServerOptions::default(),
        requested_names: Vec::new(),
    }
}

#[test]
fn the_end_line_says_what_the_indifference_zone_promises_of_the_trial_that_is_left() {
    use StopReason::{Budget, Decided, MostReadings, NotFirst, Precise};
    let trials = [
        ("rust/mmap/avx2", 50, STEADY_WOBBLE_US),
        ("rust/lines", 90, STEADY_WOBBLE_US),
        ("command/wc -l", 200, STEADY_WOBBLE_US),
    ];
    let tied = [trials[0], ("rust/lines", 50, STEADY_WOBBLE_US), trials[2]];
    let promise = "; warm: of those read, rust/mmap/avx2 is the fastest, or within 10 % of it";
    for (trials, zone, stops, is_promised) in [
        (trials, 0.1, [Decided, NotFirst, NotFirst], true),
        (trials, 0.1, [Decided, NotFirst, Decided], true),
        (trials, 0.1, [Precise, NotFirst, MostReadings], true),
        (trials, 0.1, [Budget, Budget, Budget], true),
        (tied, 0.1, [Budget, Budget, NotFirst], false),
        (tied, 0.1, [Precise, MostReadings, NotFirst], false),
        (trials, 0.0, [Decided, NotFirst, NotFirst], false),
        (trials, 0.0, [Budget, Budget, Budget], false),
    ] {
        let mut record = warm_race(&trials);
        record.header.resume_plan = Some(plan_with_indifference(zone));
        for (index, why) in stops.into_iter().enumerate() {
            trial_mut(&mut record, index).stopped = Some(Stopped { why, rounds: 10 });
        }
        record.add(Line::End { reason: EndReason::Budget, wall_ns: 52_000_000_000 });
        let end = Page::from_record(&record).end;
        let expected = if is_promised { promise } else { "" };
        assert_eq!(
            end,
            format!("the time for the whole run was used up, after 52.0 s{expected}"),
            "{stops:?}"
        );
    }
    let mut one_trial = warm_race(&trials[..1]);
    one_trial.header.resume_plan = Some(plan_with_indifference(0.1));
    one_trial.add(Line::End { reason: EndReason::Settled, wall_ns: 52_000_000_000 });
    assert!(!Page::from_record(&one_trial).end.contains("within"));
}

#[test]
fn commands_of_the_user_are_listed_even_if_they_tie() {
    let names: Vec<String> = (0..4).map(|value| format!("command/wc -l {{}} # value={value}")).collect();
    let trials: Vec<_> = names.iter().map(|name| (name.as_str(), 50_u64, NOISY_WOBBLES_US[0])).collect();
    let mut record = warm_race(&trials);
    let folded = table_lines(&Page::from_record(&record), 200);
    assert!(folded.iter().any(|line| line.contains("tied: ")), "{folded:#?}");
    let own = |name: &String| ReferenceCandidate { trial: name.parse().unwrap(), why: ReferenceReason::Own };
    record.header.reference_candidates = names.iter().map(own).collect();
    let listed = table_lines(&Page::from_record(&record), 200);
    let rows = listed.iter().filter(|line| line.contains("command/wc -l {} # value="));
    assert_eq!(rows.count(), 4, "{listed:#?}");
}

#[test]
fn a_row_is_one_line_within_any_width() {
    let mut page = Page::from_record(&race());
    for lists_all in [false, true] {
        page.lists_all = lists_all;
        let rows = table_lines(&page, 200).len();
        for width in 20..160 {
            let table = table_lines(&page, width);
            assert_eq!(table.len(), rows, "{width}: {table:#?}");
            let widest = table.iter().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= usize::from(width), "{width}: {table:#?}");
        }
    }
    let wide = table_lines(&page, 90);
    assert!(wide.iter().any(|line| line.contains("wc -l")), "{wide:#?}");
}

#[test]
fn the_baseline_is_named_once_at_the_top() {
    let page = Page::from_record(&race());
    let text = terminal_lines(&page, 200);
    assert_eq!(text[1], "ratios are to wc -l (code that others wrote)");
    assert!(!text.iter().any(|line| line.starts_with("reference:")), "{text:#?}");
    let mut own = race();
    let candidate =
        |name: &str| ReferenceCandidate { trial: name.parse().unwrap(), why: ReferenceReason::Own };
    own.header.reference_candidates = vec![candidate("command/not measured"), candidate("python/lines")];
    let page = Page::from_record(&own);
    assert_eq!(page.baseline.as_deref(), Some("ratios are to python/lines (the user's own program)"));
    assert_eq!(page.advice[0].slower_baseline.as_ref().unwrap().name, "python/lines");
    assert_eq!(Page::from_record(&Record::new(header())).baseline, None);
}

#[test]
fn each_language_has_its_usual_and_its_best_method() {
    let page = Page::from_record(&race());
    let advice = &page.advice[0].by_language;
    let shown: Vec<(&str, Option<&str>, &str)> = advice
        .iter()
        .map(|it| (it.language.as_str(), it.usual.as_ref().map(|it| it.name.as_str()), it.best.name.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            ("Rust", Some("rust/lines"), "rust/read/iterator@buffer=64KiB"),
            ("Go", Some("go/bufio.Scanner"), "go/bufio.Scanner"),
            ("Python", Some("python/lines"), "python/mmap/find")
        ],
        "the baseline alone is no language"
    );
    assert!(advice[0].needs.is_empty() && !advice[0].code.is_empty());
    let usual: Vec<Option<UsualWay>> = advice.iter().map(|it| it.usual_standing).collect();
    assert_eq!(usual, [UsualWay::Slower, UsualWay::TheSame, UsualWay::Slower].map(Some));
    assert!((advice[2].ratio.unwrap().estimate - 3.0).abs() < 1e-3, "{:?}", advice[2].ratio);
    assert_eq!(advice[2].words(), "3.00 [3.00, 3.00] × its usual way, which is slower");
    let text = terminal_lines(&page, 200);
    let row = text.iter().find(|line| line.trim_start().starts_with("Python ")).unwrap();
    assert!(row.contains("3.00 [3.00, 3.00]"), "{row}");
    for width in 20..100 {
        let text = terminal_lines(&page, width);
        let row = text.iter().find(|line| line.trim_start().starts_with("Python ")).unwrap();
        assert!(row.chars().count() <= usize::from(width), "{width}: {row}");
    }
}

#[test]
fn a_best_method_that_is_not_told_apart_from_the_usual_one_has_its_ratio_with_the_interval() {
    let page = Page::from_record(&warm_race(&[
        ("command/wc -l", 90, STEADY_WOBBLE_US),
        ("rust/read/iterator@buffer=64KiB", 50, [0, 300, 700, 100, 500]),
        ("rust/lines", 50, NOISY_WOBBLES_US[1]),
    ]));
    let [rust] = &page.advice[0].by_language[..] else { panic!("one language") };
    assert_eq!(rust.best.name, "rust/read/iterator@buffer=64KiB");
    assert_eq!(rust.usual_standing, Some(UsualWay::NotToldApart));
    let times = crate::words::ratio_words(rust.ratio.unwrap());
    assert!(times.ends_with(']') && rust.ratio.unwrap().ci95.unwrap().ends.holds(1.0), "{times}");
    assert_eq!(rust.words(), format!("not told apart from its usual way ({times})"));
    let text = terminal_lines(&page, 200);
    let row = text.iter().find(|line| line.trim_start().starts_with("Rust ")).unwrap();
    assert!(row.contains(&format!(" not told apart ({times}) ")), "{row}");
    assert!(markdown(&page).contains("not told apart"), "{}", markdown(&page));
}

#[test]
fn a_trial_in_another_language_never_counts_as_needing_less() {
    let mut record = race();
    // Python's mapping needs less than Rust's and is faster than the baseline.
    for (index, wall_ms) in [(3, 300), (5, 300), (7, 60)] {
        trial_mut(&mut record, index).samples = Samples::default();
        add_samples_with_wobble(&mut record, index, wall_ms, STEADY_WOBBLE_US);
    }
    let advice = Page::from_record(&record).advice.remove(0);
    assert!(
        advice.advised_name.unwrap().starts_with("rust/") && advice.cheaper.is_none(),
        "{}",
        advice.sentence
    );
}

#[test]
fn after_one_round_nothing_is_ranked_and_the_missing_round_is_reported() {
    let mut record = race();
    (0..9).for_each(|index| keep_first_readings(&mut record, index, 1));
    let page = Page::from_record(&record);
    assert!(page.rankings[0].rows_by_rank().is_empty());
    assert!(page.rankings[0].rows.iter().all(|row| row.wall.median_ci95.is_none() && row.rank.is_none()));
    let headline = page.rankings[0].headline();
    assert!(headline.starts_with("best median warm: "), "{headline}");
    assert!(headline.ends_with("; no rank: 1 more round is needed for this and 8 more"), "{headline}");
    assert!(
        page.answer.ends_with("but no rank: 1 more round is needed for this and 8 more."),
        "{}",
        page.answer
    );
    assert!(table_lines(&page, 200).iter().all(|line| line.trim_start().starts_with('–')));
    assert!(table_lines(&page, 200).iter().all(|line| line.contains("1 reading")));
    let advice = &page.advice[0];
    assert!(advice.advised_trial.is_none() && advice.by_language.len() == 3);
    assert_eq!(advice.by_language[2].words(), "not told apart from its usual way (3.0 (1 round))");
}

#[test]
fn bytes_before_a_range_count_for_its_amplification_and_for_no_rate() {
    let mut record = warm_race(&[("rust/read", 50, STEADY_WOBBLE_US)]);
    let (start_bytes, length_bytes, before_bytes, file_bytes) = (0, SIZE, SIZE / 4, 2 * SIZE);
    record.targets[TargetIndex::new(0)].range =
        Some(RangeFacts { start_bytes, length_bytes, before_bytes, file_bytes });
    let page = Page::from_record(&record);
    let row = &page.rankings[0].rows[0];
    assert_eq!(row.amplification, Some(4.0 / 3.0));
    let trial = &document(&record)["trials"][0];
    assert_eq!((&trial["bytes_in"], &trial["bytes_out"]), (&SIZE.into(), &(SIZE / 4 * 3).into()), "{trial}");
    record.targets[TargetIndex::new(0)].range =
        Some(RangeFacts { start_bytes, length_bytes, before_bytes: 0, file_bytes });
    assert_eq!(Page::from_record(&record).rankings[0].rows[0].amplification, None, "nothing more was read");
}

#[test]
fn amplification_of_ranges_is_the_ratio_of_read_bytes_to_useful_bytes() {
    let mut record =
        warm_race(&[("rust/places-pread", 50, STEADY_WOBBLE_US), ("rust/places-mmap", 60, STEADY_WOBBLE_US)]);
    let read_bytes = Some(SIZE);
    let asking = trial_mut(&mut record, 0).samples.iter().map(|it| Sample { read_bytes, ..it }).collect();
    trial_mut(&mut record, 0).samples = asking;
    announce(&mut record, 2, "rust/places-pread", CacheState::Cold);
    add_samples_with_wobble(&mut record, 2, 70, STEADY_WOBBLE_US);
    add_outcome(&mut record, 2, Outcome::Measured);
    record.targets[TargetIndex::new(0)].ranges = Some(RangesFacts {
        list_path: "/data/list".to_owned(),
        is_sorted: false,
        read_count: 4,
        shortest_bytes: SIZE / 4,
        longest_bytes: SIZE / 4,
        // A quarter is read again, so three quarters are useful.
        repeated_bytes: SIZE / 4,
        pages_bytes: SIZE / 4 * 3,
        file_bytes: 2 * SIZE,
    });
    let page = Page::from_record(&record);
    let row = |name: &str, state| {
        let ranking = page.rankings.iter().find(|it| it.state == state).unwrap();
        ranking.rows.iter().find(|row| row.name == name).unwrap().amplification
    };
    let third_more = Some(4.0 / 3.0);
    assert_eq!(row("rust/places-pread", CacheState::Warm), third_more, "its reads requested all bytes");
    assert_eq!(row("rust/places-mmap", CacheState::Warm), None, "the reads of a mapping are not known");
    assert_eq!(row("rust/places-pread", CacheState::Cold), third_more, "the device read all bytes");
    let tables = markdown(&page);
    assert!(tables.contains("| ranges/s | amplification |") && tables.contains("| 1.33 |"), "{tables}");
}
