//! Tests with few rounds, few trials and unusual readings: reports do not panic, show no infinite
//! number, and say which numbers are missing.

use super::*;
use crate::html;
use proptest::prelude::*;

/// Names of trials; the first is the reference.
const TRIAL_NAMES: [&str; 8] = [
    "command/wc -l",
    "rust/lines",
    "rust/read/memchr@buffer=64KiB",
    "rust/mmap/avx2",
    "c/getline",
    "c/mmap/memchr",
    "python/lines",
    "go/bufio.Scanner/Bytes",
];

/// A race with these wall times by trial and round; `None` where a round failed.
fn race(walls_ns: &[Vec<Option<u64>>]) -> Record {
    let mut record = super::record();
    for (index, (name, walls)) in TRIAL_NAMES.into_iter().zip(walls_ns).enumerate() {
        announce(&mut record, index, name, CacheState::Warm);
        let rounds = (0..).zip(walls);
        add_readings(
            &mut record,
            index,
            rounds.filter_map(|(round, wall)| Some(reading(index, round, (*wall)?))),
        );
    }
    record
}

fn evenly_slower_walls(trials: usize, rounds: u64) -> Vec<Vec<Option<u64>>> {
    let walls = |trial: u64| {
        (0..rounds)
            .map(|round| Some(10_000_000 * (trial + 1) + 100_000 * (round * (trial + 3) % 5)))
            .collect()
    };
    (0..trials as u64).map(walls).collect()
}

fn checked_texts(record: &Record) -> Vec<String> {
    let page = Page::from_record(record);
    let narrow = terminal_page(&page, Style { width: 80, may_use_color: false }, None);
    let wide = terminal_page(&page, Style { width: 200, may_use_color: false }, None);
    let texts = vec![narrow, wide, markdown(&page), super::json(record), html(&page)];
    // JSON is left out: it also contains code of methods.
    for text in &texts[..3] {
        for wrong in ["inf ", "inf]", "NaN", " ? ", " ?\n"] {
            assert!(!text.contains(wrong), "{wrong:?} in {text}");
        }
    }
    for table in table_bodies(&texts[4]) {
        let is_no_number = |word: &str| ["inf", "NaN"].contains(&word);
        let has_no_number = table.split(|it: char| !it.is_alphanumeric()).any(is_no_number);
        assert!(!has_no_number && !table.contains('?'), "{table}");
    }
    texts
}

/// The rows of each table of a page with their tags, because drawings have their numbers in
/// attributes. Other parts of a page have scripts and links.
fn table_bodies(page: &str) -> Vec<&str> {
    let from_body = page.split("<tbody>").skip(1);
    from_body.map(|it| it.split_once("</tbody>").expect("a table's body ends").0).collect()
}

#[test]
fn every_text_says_that_one_round_has_no_interval() {
    let record = race(&evenly_slower_walls(5, 1));
    let [_, wide, markdown, json, page] = &checked_texts(&record)[..] else { panic!("five texts") };
    assert!(wide.contains("1 reading") && wide.contains("(1 round)"), "{wide}");
    assert!(wide.contains("no advice: 5 trials may be the fastest and need 1 more round"), "{wide}");
    assert!(markdown.contains("1 reading") && page.contains("1 round"), "{markdown}");
    assert!(table_bodies(page).iter().any(|table| table.contains("getline")), "{page}");
    assert!(json.contains("\"rank\": \"1 more round is needed\""), "{json}");
}

#[test]
fn one_trial_and_two_trials_have_intervals() {
    let alone = Page::from_record(&race(&evenly_slower_walls(1, 2)));
    assert!(alone.rankings[0].rows[0].wall.median_ci95.is_some() && alone.advice.is_empty());
    checked_texts(&race(&evenly_slower_walls(1, 2)));
    let two = race(&evenly_slower_walls(2, 3));
    checked_texts(&two);
    let row = Page::from_record(&two).rankings[0].rows.iter().find_map(|row| row.ratio_to_reference).unwrap();
    assert!(row.ci95.is_some() && row.unit_count == 3, "{row:?}");
}

#[test]
fn readings_that_are_all_equal_tie() {
    let record = race(&vec![vec![Some(5_000_000); 4]; 6]);
    checked_texts(&record);
    let page = Page::from_record(&record);
    assert!(page.rankings[0].rows.iter().all(|row| row.rank.unwrap().place == 1));
}

#[test]
fn one_trial_a_thousand_times_as_noisy_leaves_the_ranks_of_the_others_separate() {
    let mut walls = evenly_slower_walls(7, 4);
    walls[6] = [3, 40_000, 900, 7].map(|ms| Some(ms * 1_000_000)).to_vec();
    let record = race(&walls);
    let [_, wide, ..] = &checked_texts(&record)[..] else { panic!("five texts") };
    let ranking = &Page::from_record(&record).rankings[0];
    let places: Vec<usize> = ranking.rows.iter().take(6).map(|row| row.rank.unwrap().place).collect();
    assert_eq!(places, [1, 2, 3, 4, 5, 6], "{wide}");
    let noisy = ranking.rows.iter().find(|row| row.index == TrialIndex::new(6)).unwrap();
    assert!(noisy.wall.median_ci95.is_some() && noisy.rank.is_some());
    let line = wide.lines().find(|line| line.contains("python/lines") && line.contains(" to ")).unwrap();
    assert!(!line.contains('±'), "a wide interval is a range: {line}");
}

#[test]
fn a_reference_that_failed_in_half_of_its_rounds_has_ratios_by_the_other_half() {
    let mut walls = evenly_slower_walls(6, 4);
    (walls[0][1], walls[0][3]) = (None, None);
    let record = race(&walls);
    checked_texts(&record);
    let ranking = &Page::from_record(&record).rankings[0];
    for row in ranking.rows.iter().filter(|row| row.index != TrialIndex::new(0)) {
        let ratio = row.ratio_to_reference.unwrap();
        assert!(ratio.unit_count == 2 && ratio.ci95.is_some(), "{}: {ratio:?}", row.name);
    }
    // The reference and the other trial share one round. The ratio says this, and all trials have a
    // rank.
    walls[0][2] = None;
    let record = race(&walls);
    let [_, wide, ..] = &checked_texts(&record)[..] else { panic!("five texts") };
    assert!(wide.contains("(1 round)") && wide.contains("needs 1 more round for an interval"), "{wide}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_times_have_texts_without_infinite_numbers(
        walls in prop::collection::vec(
            prop::collection::vec(prop::option::weighted(0.8, 1_u64..100_000_000_000), 0..7),
            1..8,
        ),
    ) {
        let record = race(&walls);
        checked_texts(&record);
        let page = Page::from_record(&record);
        for row in page.rankings.iter().flat_map(|it| &it.rows) {
            let rounds = row.wall.n;
            prop_assert_eq!(row.rank.is_some(), rounds > 1);
            prop_assert_eq!(row.wall.median_ci95.is_some(), rounds > 1);
            if let Some([low, high]) = row.wall.median_ci95 {
                prop_assert!(low <= row.wall.median && row.wall.median <= high, "{:?}", row.wall);
            }
            if let Some(ratio) = row.ratio_to_reference {
                prop_assert_eq!(ratio.ci95.is_some(), ratio.unit_count > 1);
            }
        }
    }
}
