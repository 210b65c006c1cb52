//! Tests of reports on methods under bounds on memory. Two methods cross: a mapping is slow with
//! little memory and fast with much memory; the other method does not use the page cache.

use super::*;
use crate::html;
use crate::ranking::Ranking;
use crate::words;
use readlab_model::target::TargetKind;
use readlab_model::target::extents::Extents;
use readlab_model::target::memory::{MemoryBound, MemoryFacts};
use readlab_model::target::places::{Pattern, PlacesFacts};
use std::collections::BTreeSet;

const MEMORY_BOUNDS: [&str; 3] = ["25%", "50%", "100%"];

/// Methods with the wall times of a reading in milliseconds: cold, under each of the
/// [`MEMORY_BOUNDS`], and warm.
const METHODS: [(&str, [u64; 5]); 2] =
    [("rust/mmap/avx2", [1000, 1000, 1000, 250, 100]), ("rust/direct@buffer=1MiB", [500; 5])];

pub(super) fn record_under_bounds() -> Record {
    let mut record = record();
    for (index, bound) in (1..).zip(MEMORY_BOUNDS) {
        let bound: MemoryBound = bound.parse().unwrap();
        let cache_bytes = bound.in_bytes(SIZE);
        let memory = Some(MemoryFacts { bound, cache_bytes, working_set_bytes: SIZE, is_shared: false });
        record.add(testing::target_line(
            index,
            TargetFacts { memory_bound: memory, ..record.targets[TargetIndex::new(0)].clone() },
        ));
    }
    METHODS.into_iter().for_each(|(name, walls_ms)| add_method(&mut record, name, walls_ms));
    record
}

/// Adds a method with these times in milliseconds: cold, under each of the [`MEMORY_BOUNDS`], and
/// warm.
fn add_method(record: &mut Record, name: &str, [cold, quarter, half, whole, warm]: [u64; 5]) {
    let pressed = [quarter, half, whole].map(|wall_ms| (CacheState::Pressed, wall_ms));
    let ends = [(CacheState::Cold, cold), (CacheState::Warm, warm)].map(|it| (0, it));
    for (target, (state, wall_ms)) in (1..).zip(pressed).chain(ends) {
        let index = record.trials.len();
        announce(record, index, name, state).target = TargetIndex::new(target);
        let read = |round: u32| {
            let wobble = u64::from(round * 7 % 5) + (index as u64 + u64::from(round)) % 2;
            let device_read_bytes = Some(if state == CacheState::Pressed { SIZE / 2 } else { 0 });
            let wall_ns = wall_ms * (1_000_000 + 1_000 * wobble);
            Sample { device_read_bytes, ..reading(index, round, wall_ns) }
        };
        add_readings(record, index, (0..8).map(read));
    }
}

fn memory_sentences(record: &Record) -> Vec<String> {
    Page::from_record(record).memory_views.iter().flat_map(|view| view.lines().collect::<Vec<_>>()).collect()
}

#[test]
fn sentences_say_which_method_wins_on_which_side_and_what_falls_most() {
    let lines = memory_sentences(&record_under_bounds());
    let [crossing, cliff, ..] = &lines[..] else { panic!("{lines:?}") };
    let begins = "memory: newlines: rust/direct@buffer=1MiB is faster up to memory for 50 % of the working set, \
                  rust/mmap/avx2 from 100 % on; they cross near 75 %; rust/mmap/avx2 is 0.50";
    assert!(crossing.starts_with(begins), "{crossing}");
    assert!(crossing.contains("] cold and 5.0") && crossing.ends_with("] warm times as fast"), "{crossing}");
    let begins =
        "memory: newlines: rust/mmap/avx2 falls most: with memory for 100 % of the working set it is 4.0";
    assert!(cliff.starts_with(begins), "{cliff}");
    assert!(cliff.ends_with("times as fast as with memory for 50 % of the working set"), "{cliff}");
    let enough = "memory: newlines: rust/direct@buffer=1MiB: beyond memory for 25 % of the working set, more adds less \
                  than 5 %";
    assert!(lines.iter().any(|line| line == enough), "{lines:?}");
}

#[test]
fn a_method_that_is_the_fastest_everywhere_is_named_once() {
    let mut record = record_under_bounds();
    for it in record.trials.iter_mut().filter(|it| it.trial.id.to_string() == METHODS[0].0) {
        it.samples = it.samples.iter().map(|sample| Sample { wall_ns: 4_000_000_000, ..sample }).collect();
    }
    let lines = memory_sentences(&record);
    assert_eq!(lines[0], "memory: newlines: rust/direct@buffer=1MiB is the fastest at every memory");
    assert_eq!(
        lines[1],
        "memory: newlines: no method falls by a third or more beyond doubt, from one level to the next"
    );
    record.targets.iter_mut().for_each(|facts| facts.memory_bound = None);
    assert!(memory_sentences(&record).is_empty());
}

#[test]
fn a_method_that_is_the_fastest_at_both_ends_is_not_said_to_overtake_itself() {
    let mut record = record_under_bounds();
    for it in record.trials.iter_mut().filter(|it| it.trial.id.to_string() == METHODS[0].0) {
        let wall_ns = if it.trial.target == TargetIndex::new(2) { 100_000_000 } else { 4_000_000_000 };
        it.samples = it.samples.iter().map(|sample| Sample { wall_ns, ..sample }).collect();
    }
    let said = "memory: newlines: rust/direct@buffer=1MiB has the best median cold and warm, rust/mmap/avx2 with \
                 memory for 50 % of the working set";
    assert_eq!(memory_sentences(&record)[0], said);
}

#[test]
fn every_format_has_the_curve() {
    let record = record_under_bounds();
    let page = Page::from_record(&record);
    let text = terminal_text(&record);
    for part in ["rate by memory · newlines", "falls most", "× from 100 % to 50 %"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("p99 of single reads by memory"), "no single reads were timed: {text}");
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    let (title, numbers) = (row(" method"), row(" rust/mmap/avx2"));
    let end = |line: &str, word: &str| line.find(word).map(|at| line[..at + word.len()].chars().count());
    assert_eq!(end(title, "cold"), end(numbers, "998 MB/s"), "numbers are aligned at the right: {text}");
    let table = markdown(&page);
    assert!(table.contains("| method | cold | 25 % | 50 % | 100 % | warm | falls most |"), "{table}");
    let row = "<code>rust/mmap/avx2</code> | 998 MB/s | 998 MB/s | 998 MB/s | 3.99 GB/s | 9.98 GB/s | 4.0";
    assert!(table.contains(row), "{table}");
    let html = html(&page);
    let section = html.split("id=\"memory\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(section.matches("<svg").count(), 1, "{section}");
    assert!(section.contains("where the fastest method changes"), "{section}");
    assert!(crate::svg_files(&page).iter().any(|(name, _)| name == "memory-0-rate"));
    let exported = &document(&record)["memory"][0];
    assert_eq!((&exported["target"], &exported["work"]), (&"/data/f".into(), &"newlines".into()));
    assert!((exported["crossing"]["near_share"].as_f64().unwrap() - 0.75).abs() < 0.01, "{exported}");
    let curve = &exported["curves"][0];
    assert_eq!(curve["points"].as_array().unwrap().len(), 5);
    let half = &curve["points"][2];
    assert_eq!((&half["state"], &half["share"]), (&"pressed".into(), &0.5.into()));
    assert_eq!((&half["cache_bytes"], &half["device_share"]), (&(SIZE / 2).into(), &0.5.into()));
    assert_eq!(
        (&curve["cliff"]["below"]["share"], &curve["cliff"]["above"]["share"]),
        (&0.5.into(), &1.0.into())
    );
    let rows = csv(&record);
    let ends = |end: &str| rows.lines().filter(|row| row.ends_with(end)).count();
    assert_eq!(ends(",memory,memory_cache_bytes,memory_share"), 1, "{}", rows.lines().next().unwrap());
    assert_eq!((ends(",50%,500000000,0.5"), ends(",,,")), (16, 32), "of two methods eight readings each");
}

#[test]
fn a_chart_has_one_line_for_each_method_and_not_one_for_each_scan() {
    let mut record = record_under_bounds();
    for scan in ["avx512", "scalar", "iterator"] {
        add_method(&mut record, &format!("rust/mmap/{scan}"), [1000, 1000, 1000, 260, 110]);
    }
    let charts = crate::svg_files(&Page::from_record(&record));
    let (_, chart) = charts.iter().find(|(name, _)| name == "memory-0-rate").unwrap();
    assert!(chart.contains("1 mmap avx2") && chart.contains("2 direct"), "{chart}");
    assert!(!chart.contains("mmap scalar"), "{chart}");
    let text = terminal_text(&record);
    assert!(text.contains("rust/mmap/scalar"), "the table has all scans: {text}");
}

#[test]
fn a_file_under_several_bounds_has_one_title() {
    let mut record = record_under_bounds();
    for (index, bound) in [(4, "90%"), (5, "200%")] {
        let memory = record.targets[TargetIndex::new(1)].memory_bound.clone().unwrap();
        let memory = Some(MemoryFacts { bound: bound.parse().unwrap(), ..memory });
        record.add(testing::target_line(
            index,
            TargetFacts { memory_bound: memory, ..record.targets[TargetIndex::new(0)].clone() },
        ));
    }
    let titles = Page::from_record(&record).target_titles;
    assert!(titles.len() == 1 && titles[0].starts_with("/data/f · 1.00 GB"), "{titles:?}");
}

#[test]
fn pressed_readings_are_shown_with_what_they_read_again() {
    let record = record_under_bounds();
    let page = Page::from_record(&record);
    let is_pressed = |ranking: &&Ranking| ranking.state == CacheState::Pressed;
    let pressed: Vec<&Ranking> = page.rankings.iter().filter(is_pressed).collect();
    assert_eq!(pressed.len(), MEMORY_BOUNDS.len(), "each bound has a ranking");
    assert!(pressed.iter().flat_map(|ranking| &ranking.rows).all(|row| row.reread_ratio == Some(0.5)));
    assert!(
        page.rankings
            .iter()
            .filter(|it| !is_pressed(it))
            .flat_map(|it| &it.rows)
            .all(|row| row.reread_ratio.is_none())
    );
    assert!(markdown(&page).contains(" re-read |"), "{}", markdown(&page));
    let trial = &document(&record)["trials"][0];
    assert_eq!((&trial["state"], &trial["reread"]), (&"pressed".into(), &0.5.into()));
}

#[test]
fn rows_below_the_heading_of_a_bound_do_not_repeat_it_and_exports_name_it() {
    let mut record = record_under_bounds();
    let index = record.trials.len();
    announce(&mut record, index, "rust/pread", CacheState::Pressed).target = TargetIndex::new(2);
    let text = terminal_text(&record);
    let section = text.split("pressed to 50% · newlines").nth(1).unwrap().split("\n\n").next().unwrap();
    let is_row = |line: &&str| !line.starts_with("verdict:");
    assert!(
        section.contains("rust/mmap/avx2 ") && section.contains("not measured: rust/pread: "),
        "{section}"
    );
    assert!(section.lines().filter(is_row).all(|line| !line.contains("+memory=")), "{section}");
    let table = markdown(&Page::from_record(&record));
    assert!(table.contains("### pressed to 50%, newlines"), "{table}");
    assert!(table.lines().filter(|line| line.starts_with('|')).all(|line| !line.contains("+memory=")));
    assert!(csv(&record).contains("rust/mmap/avx2+memory=50%"));
}

#[test]
fn readings_under_a_bound_that_read_different_shares_again_are_told() {
    let mut record = record_under_bounds();
    let explained = |record: &Record| {
        let page = Page::from_record(record);
        page.rankings.iter().flat_map(|it| it.explanations.clone()).collect::<Vec<String>>()
    };
    assert!(explained(&record).is_empty(), "all readings read half of the bytes again");
    let half = TargetIndex::new(2);
    let is_half = |it: &TrialRecord| it.trial.target == half && it.trial.id.to_string() == METHODS[0].0;
    let half = record.trials.iter_mut().find(|it| is_half(it)).unwrap();
    let uneven = half.samples.iter().map(|sample| {
        let share = if sample.round % 2 == 0 { 0 } else { SIZE / 100 * 53 };
        Sample { device_read_bytes: Some(share), ..sample }
    });
    half.samples = uneven.collect();
    let [told] = &explained(&record)[..] else { panic!("{:?}", explained(&record)) };
    let begins =
        "readings differ in the share of their bytes that they read again (rust/mmap/avx2 0 % to 53.0 %)";
    assert!(told.starts_with(begins), "{told}");
    assert!(terminal_text(&record).contains(&format!("explanation: {begins}")));
}

#[test]
fn what_memory_stops_is_told_with_what_helps_though_another_method_is_the_fastest() {
    let mut record = record_under_bounds();
    let waits = |it: &&mut TrialRecord| {
        it.trial.state == CacheState::Pressed && it.trial.id.to_string() == METHODS[0].0
    };
    for it in record.trials.iter_mut().filter(waits) {
        let with_cpu = |sample: Sample| {
            let cpu_ns = Some(sample.wall_ns / 50);
            Sample { cpu_user_ns: cpu_ns, cpu_system_ns: cpu_ns, ..sample }
        };
        it.samples = it.samples.iter().map(with_cpu).collect();
    }
    let lines = memory_sentences(&record);
    let begins = "memory: newlines: rust/mmap/avx2 with memory for 25 % of the working set: stopped by a bound on memory \
                  that is too small: 50 % of the working set comes from the device again in each reading, with memory \
                  for 25 % of it; with memory for 100 % of the working set (1.00 GB) it is 4.0 times as fast; O_DIRECT";
    let told: Vec<&String> = lines.iter().filter(|line| line.contains("stopped by")).collect();
    assert!(told.len() == 1 && told[0].starts_with(begins), "{told:?}");
    let remedy = "rust/direct@buffer=1MiB, under the same bound, is 2.0 times as fast";
    assert!(told[0].contains(remedy), "{told:?}");
    assert!(
        terminal_text(&record).contains(begins) && markdown(&Page::from_record(&record)).contains(remedy)
    );
    assert!(html(&Page::from_record(&record)).contains("stopped by a bound on memory that is too small"));
}

#[test]
fn the_tail_of_single_reads_has_a_table_and_a_chart_of_its_own() {
    let mut record = record_under_bounds();
    let trials: Vec<TrialIndex> = record.trials.iter().map(|it| it.trial.index).collect();
    for trial in trials {
        for round in 0..6 {
            let histogram = testing::latencies((0..2000).map(|read| 100_000 + 1_000 * (read % 100)));
            record.add(Line::Latencies { trial, fill: round, round, histogram });
        }
    }
    let text = terminal_text(&record);
    assert!(text.contains("p99 of single reads by memory · newlines"), "{text}");
    let page = Page::from_record(&record);
    let names: Vec<String> = crate::svg_files(&page).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"memory-0-p99".to_owned()), "{names:?}");
    let p99 = &document(&record)["memory"][0]["curves"][0]["points"][0]["p99"];
    assert!((195_000..=201_000).contains(&p99["ns"].as_u64().unwrap()), "{p99}");
}

#[test]
fn blocks_of_a_file_and_all_of_it_have_titles_that_differ() {
    let mut record = record_under_bounds();
    let places = PlacesFacts {
        pattern: Pattern::Random,
        block_bytes: 4096,
        read_count: SIZE / 4096,
        distinct_blocks: SIZE / 4096,
        file_bytes: SIZE,
    };
    // The mapping reads blocks, and the other method all of the file.
    let (base, bounded) = (record.targets.len(), MEMORY_BOUNDS.len() + 1);
    for number in 0..bounded {
        let facts = record.targets[TargetIndex::new(number)].clone();
        let extents = Some(Extents { count: 1, ..Extents::default() });
        let facts = TargetFacts { kind: TargetKind::Places(places.clone()), extents, ..facts };
        record.add(testing::target_line(base + number, facts));
    }
    for it in record.trials.iter_mut().filter(|it| it.trial.id.to_string() == METHODS[0].0) {
        it.trial.target = it.trial.target.under_condition(1, base);
    }
    let page = Page::from_record(&record);
    let titles: Vec<&str> = page.memory_views.iter().map(|view| view.title.as_str()).collect();
    let blocks = format!("newlines · {} random reads of 4KiB", words::grouped(SIZE / 4096));
    assert_eq!(titles, [blocks.as_str(), "newlines"]);
    let overs: Vec<String> =
        document(&record)["memory"].as_array().unwrap().iter().map(|it| it["over"].to_string()).collect();
    assert_eq!(overs, ["\"places\"", "\"file\""]);
    // Half of the bytes come from the device, so the other half is found in the page cache.
    let pressed = |ranking: &&Ranking| ranking.state == CacheState::Pressed;
    let hits = |ranking: &Ranking| ranking.rows.iter().map(|row| row.hit_share).collect::<Vec<_>>();
    let hits: BTreeSet<String> =
        page.rankings.iter().filter(pressed).map(|it| format!("{:?} {:?}", it.transport, hits(it))).collect();
    assert_eq!(hits.iter().collect::<Vec<_>>(), ["File [None]", "Places [Some(0.5)]"]);
    assert!(terminal_text(&record).contains("hits by memory · newlines · "));
    assert!(markdown(&page).contains(" hits |"), "{}", markdown(&page));
    let exported = document(&record);
    let points = &exported["memory"][0]["curves"][0]["points"];
    assert_eq!((&points[0]["hit_share"], &points[1]["hit_share"]), (&Value::Null, &0.5.into()));
    let trials = exported["trials"].as_array().unwrap();
    assert_eq!(trials.iter().filter(|trial| trial["hit_share"] == 0.5).count(), MEMORY_BOUNDS.len());
    let distinctions: Vec<String> = page.rankings.iter().map(Ranking::full_condition).collect();
    let unique: BTreeSet<&String> = distinctions.iter().collect();
    assert_eq!(unique.len(), distinctions.len(), "{distinctions:?}");
}
