//! Two recorded default races, in which most trials were read two to five times: every trial has a
//! rank, and every ratio and median has an interval. `real-tables.txt` is the output of an
//! independent implementation.

use super::*;
use crate::advice::UsualWay;
use crate::ranking::Ranking;

const EXPECTED_TABLES: &str = include_str!("../../../stats/src/simulation/real-tables.txt");
const RECORDED_RACES: [(&str, &str); 2] = [
    ("2-core guest", include_str!("../../../stats/src/simulation/race-2-core.jsonl")),
    ("16-core machine", include_str!("../../../stats/src/simulation/race-16-core.jsonl")),
];

/// The record of a race, with the names of its trials as the tables spell them.
fn recorded_race(race: &str) -> (Record, Vec<String>) {
    let mut record = super::record();
    let mut names = Vec::new();
    for (index, line) in race.lines().enumerate() {
        let it: Value = serde_json::from_str(line).unwrap();
        let name = it["id"].as_str().unwrap().to_owned();
        let state = if it["state"] == "cold" { CacheState::Cold } else { CacheState::Warm };
        announce(&mut record, index, &name, state);
        names.push(name);
        let walls = (0..).zip(it["walls_ns"].as_array().unwrap());
        let read = walls.map(|(round, wall)| reading(index, round, wall.as_u64().unwrap()));
        add_readings(&mut record, index, read);
    }
    (record, names)
}

struct ExpectedRow {
    name: String,
    /// The median in milliseconds, and half the interval of its logarithm in percent.
    median_and_half_width: [f64; 2],
    /// The middle and the ends of the interval of the ratio; `None` for the reference.
    ratio: Option<[f64; 3]>,
    rank: String,
}

/// The expected rows of a ranking, and the number of languages.
fn expected_table(machine: &str, state: &str) -> (Vec<ExpectedRow>, usize) {
    let head = format!("## {machine}, {state}:");
    let lines = EXPECTED_TABLES.lines().skip_while(|line| !line.starts_with(&head)).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("##")).collect();
    let (languages, trials): (Vec<&str>, Vec<&str>) =
        lines.into_iter().partition(|line| line.starts_with("   "));
    let number = |text: &str| text.trim_matches(['[', ']', ',']).parse::<f64>().unwrap();
    let trial = |line: &&str| {
        let (name, rest) = line.split_once(" n=").unwrap();
        // The words of a line: number of readings, median, ms, ±, half the interval, %, and the
        // ratio or "reference".
        let words: Vec<&str> = rest.split_whitespace().collect();
        let ratio = (words[6] != "reference").then(|| [6, 7, 8].map(|at| number(words[at])));
        ExpectedRow {
            name: name.trim().to_owned(),
            median_and_half_width: [number(words[1]), number(words[4])],
            ratio,
            rank: (*words.last().unwrap()).to_owned(),
        }
    };
    (trials.iter().map(trial).collect(), languages.len())
}

fn check_row(ranking: &Ranking, names: &[String], expected: &ExpectedRow) {
    let is_it = |index: TrialIndex| names[u64::from(index) as usize] == expected.name;
    let row = ranking.rows.iter().find(|row| is_it(row.index)).unwrap();
    let near = |found: f64, shown: f64, last: f64| {
        assert!((found - shown).abs() <= 0.501 * last, "{}: {found} is not {shown}", expected.name);
    };
    // The table holds the median of logarithms, which differs slightly for an even number of
    // readings.
    let [median_ms, half_percent] = expected.median_and_half_width;
    let median = row.wall.median as f64;
    assert!((median / 1e6 / median_ms - 1.0).abs() < 0.05, "{}: {median} ns", expected.name);
    let [low, high] = row.wall.median_ci95.unwrap().map(|ns| (ns as f64).ln());
    near(50.0 * (high - low), half_percent, 0.1);
    match (expected.ratio, row.ratio_to_reference) {
        (None, None) => {}
        (Some([middle, low, high]), Some(ratio)) => {
            let ends = ratio.ci95.unwrap().ends;
            near((ends.low * ends.high).sqrt(), middle, 0.001);
            near(ends.low, low, 0.001);
            near(ends.high, high, 0.001);
        }
        other => panic!("{}: {other:?}", expected.name),
    }
    let word = match row.rank.unwrap().word().as_str() {
        "1" => "first",
        "1=" => "tie",
        _ => "slower",
    };
    assert_eq!(word, expected.rank, "{}", expected.name);
}

#[test]
fn the_rows_of_recorded_races_are_those_of_another_implementation() {
    for (machine, race) in RECORDED_RACES {
        let (record, names) = recorded_race(race);
        let page = Page::from_record(&record);
        assert_eq!(page.rankings.len(), 2, "cold and warm");
        for ranking in &page.rankings {
            let (trials, _) = expected_table(machine, &ranking.state.to_string());
            let read_twice = ranking.rows.iter().filter(|row| row.wall.n > 1).count();
            assert_eq!(trials.len(), read_twice, "{machine}, {}", ranking.state);
            trials.iter().for_each(|expected| check_row(ranking, &names, expected));
        }
    }
}

#[test]
fn each_language_of_a_recorded_race_has_a_ratio_with_an_interval_in_both_states() {
    for (machine, race) in RECORDED_RACES {
        let page = Page::from_record(&recorded_race(race).0);
        assert_eq!(page.advice.len(), 2, "cold and warm");
        for advice in &page.advice {
            let ranking = &page.rankings[advice.ranking_index];
            let (_, languages) = expected_table(machine, &ranking.state.to_string());
            let has_ratio = advice.by_language.iter().filter(|it| it.ratio.is_some());
            assert!(has_ratio.clone().count() >= languages, "{machine}: {:#?}", advice.by_language);
            for it in has_ratio {
                let ratio = it.ratio.unwrap();
                let clear = ratio.ci95.unwrap().ends.low > 1.0;
                assert_eq!(
                    it.usual_standing == Some(UsualWay::Slower),
                    clear,
                    "{}: {}",
                    it.language,
                    it.words()
                );
            }
        }
    }
}

/// Columns and lines of the terminal whose first screen answers five questions.
const SCREEN_SIZE: [usize; 2] = [120, 40];

/// The lines of a text that are on the first screen; long lines take several rows.
fn first_screen(text: &str) -> Vec<&str> {
    let [columns, rows] = SCREEN_SIZE;
    let mut taken = 0;
    let is_shown = |line: &&str| {
        taken += line.chars().count().div_ceil(columns).max(1);
        taken <= rows
    };
    text.lines().take_while(is_shown).collect()
}

#[test]
fn the_first_screen_of_a_recorded_race_answers_five_questions() {
    for (machine, race) in RECORDED_RACES {
        let (mut record, names) = recorded_race(race);
        for index in 0..names.len() {
            // Meters that show what stops a trial.
            let it = trial_mut(&mut record, index);
            let is_cold = it.trial.state == CacheState::Cold;
            let metered = |it: Sample| Sample {
                cpu_user_ns: Some(it.wall_ns * 6 / 10),
                cpu_system_ns: Some(it.wall_ns * 4 / 10),
                device_read_bytes: Some(if is_cold { SIZE } else { 0 }),
                resident_before: Some(if is_cold { 0.0 } else { 1.0 }),
                resident_after: Some(1.0),
                ..it
            };
            it.samples = it.samples.iter().map(metered).collect();
        }
        let page = Page::from_record(&record);
        let text = terminal_page(&page, Style { width: 120, may_use_color: false }, None);
        let screen = first_screen(&text);
        assert_eq!(page.advice.len(), 2, "cold and warm");
        for advice in &page.advice {
            let state = page.rankings[advice.ranking_index].state;
            let fastest = screen.iter().find(|line| line.starts_with(&format!("fastest {state}: ")));
            let fastest = fastest.unwrap_or_else(|| panic!("{machine}: {text}"));
            assert!(fastest.contains('[') && fastest.contains("] × command/wc -l"), "how sure: {fastest}");
            assert!(fastest.contains("; stops at "), "what stops it: {fastest}");
            let begins = format!("advice, {}", advice.sentence);
            let at = screen.iter().position(|line| **line == begins);
            let at = at.unwrap_or_else(|| panic!("{machine}: no {begins}: {text}"));
            assert!(screen[at + 1].contains("best way") && screen[at + 1].contains("× usual"), "{text}");
            let languages = &advice.by_language;
            let shown: Vec<&&str> = screen.iter().skip(at + 2).take(languages.len()).collect();
            assert_eq!(shown.len(), languages.len(), "{machine}: {text}");
            for (line, it) in shown.into_iter().zip(languages) {
                assert!(line.trim_start().starts_with(&it.language), "{}: {line}", it.language);
            }
        }
    }
}

#[test]
fn no_rank_of_a_recorded_race_is_left_open() {
    for (_, race) in RECORDED_RACES {
        let record = recorded_race(race).0;
        let page = Page::from_record(&record);
        let style = Style { width: 200, may_use_color: false };
        for text in [terminal_page(&page, style, None), markdown(&page)] {
            for open in [" ?", "more round", "too few", "no rank", "no advice"] {
                assert!(!text.contains(open), "{open:?}: {text}");
            }
        }
        let export = document(&record);
        let rules = ["shared_variance", "signed_rank", "sign_test", "student"];
        for it in export["trials"].as_array().unwrap() {
            let has_rule = |at: &Value| rules.contains(&at["interval"].as_str().unwrap_or_default());
            let is_read_once = it["samples"].as_array().is_some_and(|all| all.len() == 1);
            assert!(is_read_once || has_rule(&it["summary"]["wall_ns"]), "{}", it["id"]);
            assert!(it["ratio"].is_null() || is_read_once || has_rule(&it["ratio"]), "{}", it["id"]);
        }
    }
}
