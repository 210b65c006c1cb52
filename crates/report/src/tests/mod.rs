//! Golden texts of hand-made records whose numbers can be checked by mental arithmetic.

use super::{JsonFormat, Page, Style, markdown, terminal_page};
use readlab_analysis::stats::{Interval, IntervalRule, IntervalWithRule, SharedRatio};
use readlab_model::sample::Sample;
use readlab_model::target::hidden_cache::{HiddenCache, NotProbed, SecondReadingRatio};
use readlab_model::target::setting::SettingValue;
use readlab_model::target::{DecodedContent, TargetFacts, TargetIndex};
use readlab_model::trial::{Answer, CacheState, TrialIndex};
use readlab_protocol::{Archive, Cache};
use readlab_record::testing::{self, add_outcome, header, trial_line};
use readlab_record::{EndReason, Line, Outcome, Record, Trial, TrialRecord};
use serde_json::Value;
use std::io::{self, Write};

mod advice;
mod evidence;
mod exports;
mod few_rounds;
mod locations;
mod memory;
mod page_records;
mod pages;
mod percentiles;
mod recomputed;
mod recorded;
mod schemas;
mod settings;
mod tables;

const SIZE: u64 = 1_000_000_000;

fn target(path: &str) -> Line {
    testing::target_line(0, TargetFacts { path: path.into(), size_bytes: SIZE, ..TargetFacts::default() })
}

fn record() -> Record {
    let mut record = Record::new(header());
    record.add(target("/data/f"));
    record
}

fn trial_mut(record: &mut Record, trial: usize) -> &mut TrialRecord {
    &mut record.trials[TrialIndex::new(trial)]
}

/// Adds a trial and returns its plan, which the caller may change.
pub(crate) fn announce<'r>(
    record: &'r mut Record,
    index: usize,
    name: &str,
    state: CacheState,
) -> &'r mut Trial {
    record.add(trial_line(index, name, state, Cache::Through));
    &mut trial_mut(record, index).trial
}

/// A reading with its own round and its own fill of the page cache.
pub(crate) fn reading(trial: usize, round: u32, wall_ns: u64) -> Sample {
    let trial = TrialIndex::new(trial);
    Sample { trial, fill: round, round, turn_readings: 1, wall_ns, ..Sample::default() }
}

pub(crate) fn add_readings(record: &mut Record, trial: usize, readings: impl IntoIterator<Item = Sample>) {
    readings.into_iter().for_each(|it| record.add(Line::Sample(Box::new(it))));
    add_outcome(record, trial, Outcome::Measured);
}

/// A ratio over ten rounds, with the ends of its interval.
pub(crate) fn shared_ratio(estimate: f64, ends: Option<(f64, f64)>) -> SharedRatio {
    let rule = IntervalRule::SignedRank;
    let ci95 = ends.map(|(low, high)| IntervalWithRule { ends: Interval { low, high }, rule });
    SharedRatio { estimate, ci95, unit_count: 10 }
}

pub(crate) fn read_ahead_setting(value: &str, is_found: bool) -> SettingValue {
    let (name, value) = ("read-ahead".to_owned(), value.to_owned());
    SettingValue { name, value, is_initial: is_found, is_read_back: true }
}

/// Drops all but the first readings of a trial.
fn keep_first_readings(record: &mut Record, trial: usize, readings: usize) {
    let trial = trial_mut(record, trial);
    trial.samples = trial.samples.iter().take(readings).collect();
}

/// Adds ten rounds, each with its own fill. A round takes `wall_ms` and one of the deviations
/// `wobble_us`.
fn add_samples_with_wobble(record: &mut Record, trial: usize, wall_ms: u64, wobble_us: [u64; 5]) {
    let cold = trial_mut(record, trial).trial.state == CacheState::Cold;
    for round in 0..10_u32 {
        let wobble = wobble_us[round as usize % 5] * 1_000;
        record.add(Line::Sample(Box::new(Sample {
            cpu_user_ns: Some(wall_ms * 600_000),
            cpu_system_ns: Some(wall_ms * 400_000),
            peak_rss_bytes: Some(2 << 20),
            device_read_bytes: Some(if cold { SIZE } else { 0 }),
            resident_before: Some(if cold { 0.0 } else { 1.0 }),
            resident_after: Some(1.0),
            answer: Answer { newlines: Some(9), ..Answer::default() },
            ..reading(trial, round, wall_ms * 1_000_000 + wobble)
        })));
    }
}

const STEADY_WOBBLE_US: [u64; 5] = [0, 10, 20, 30, 40];

/// A warm race of these trials, each with its time in milliseconds and its deviations in
/// microseconds.
fn warm_race(trials: &[(&str, u64, [u64; 5])]) -> Record {
    let mut record = record();
    for (index, (name, wall_ms, wobble_us)) in trials.iter().enumerate() {
        announce(&mut record, index, name, CacheState::Warm);
        add_samples_with_wobble(&mut record, index, *wall_ms, *wobble_us);
        add_outcome(&mut record, index, Outcome::Measured);
    }
    record
}

/// Warm: `mmap` at 50 ms, `pread` tied with it, `wc -l` at 200 ms, and a control; cold: two trials,
/// and one that is unavailable.
fn race() -> Record {
    let mut record = Record::new(header());
    record.add(target("/data/a b.txt"));
    let plan = [
        ("rust/mmap/avx2@threads=2", CacheState::Warm, Cache::Through, 50, [0, 40, 80, 20, 60]),
        ("rust/pread/avx2@buffer=64KiB", CacheState::Warm, Cache::Through, 50, [60, 20, 50, 80, 10]),
        ("command/wc -l", CacheState::Warm, Cache::Through, 200, [0, 100, 200, 300, 400]),
        ("rust/null", CacheState::Warm, Cache::None, 1, [0, 1, 2, 3, 4]),
        ("command/wc -l", CacheState::Cold, Cache::Through, 800, [0, 100, 200, 300, 400]),
        ("rust/direct@buffer=1MiB", CacheState::Cold, Cache::Bypass, 400, [0, 90, 80, 20, 60]),
    ];
    for (index, (name, state, cache, wall_ms, wobble)) in plan.into_iter().enumerate() {
        record.add(trial_line(index, name, state, cache));
        add_samples_with_wobble(&mut record, index, wall_ms, wobble);
        add_outcome(&mut record, index, Outcome::Measured);
    }
    let missing = "perf events are not permitted".to_owned();
    record.add(Line::Missing { trial: TrialIndex::new(0), meter: "minor_faults".into(), reason: missing });
    let reason = "0.2 % still in the cache".into();
    record.add(Line::Rejected { trial: TrialIndex::new(4), round: 3, reason });
    record.add(trial_line(6, "rust/io_uring@depth=8", CacheState::Cold, Cache::Through));
    add_outcome(&mut record, 6, Outcome::Unavailable { reason: "io_uring is switched off".into() });
    record.add(Line::Warning { text: "the machine is busy".into() });
    record.add(Line::End { reason: EndReason::Settled, wall_ns: 61_000_000_000 });
    record
}

fn failures() -> Record {
    let mut record = Record::new(header());
    record.add(target("/data/x|<script>alert(1)</script>\u{1b}[31m.txt"));
    announce(&mut record, 0, "command/cat | wc <script> \u{1b}[2J*_`", CacheState::Warm);
    add_samples_with_wobble(&mut record, 0, 10, [0; 5]);
    add_outcome(&mut record, 0, Outcome::Refused { reason: "answered 8 newlines, not 9\u{7}".into() });
    announce(&mut record, 1, "rust/mmap", CacheState::Warm);
    add_outcome(&mut record, 1, Outcome::Failed { reason: "killed by signal 9".into() });
    announce(&mut record, 2, "rust/read", CacheState::Warm);
    record
}

fn json(record: &Record) -> String {
    exported(record, super::write_json)
}

fn document(record: &Record) -> Value {
    let document = serde_json::from_str(&json(record)).unwrap();
    schemas::assert_described(JsonFormat::Export, &document);
    document
}

fn csv(record: &Record) -> String {
    exported(record, super::write_csv)
}

fn exported(record: &Record, export: fn(&Record, &mut dyn Write) -> io::Result<()>) -> String {
    let mut text = Vec::new();
    export(record, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn terminal_text(record: &Record) -> String {
    terminal_page(
        &Page::from_record(record),
        Style { width: 160, may_use_color: false },
        Some("/tmp/run/record.jsonl"),
    )
}

#[test]
fn a_race_in_the_terminal_and_in_markdown() {
    insta::assert_snapshot!("a_race_in_the_terminal", terminal_text(&race()));
    insta::assert_snapshot!("a_race_in_markdown", markdown(&Page::from_record(&race())));
}

#[test]
fn failures_in_the_terminal_and_in_markdown() {
    insta::assert_snapshot!(terminal_text(&failures()));
    insta::assert_snapshot!(markdown(&Page::from_record(&failures())));
}

#[test]
fn an_empty_record_says_so() {
    let empty = Record::new(header());
    insta::assert_snapshot!(terminal_text(&empty));
    insta::assert_snapshot!(markdown(&Page::from_record(&empty)));
    assert_eq!(csv(&empty).lines().count(), 1);
    assert_eq!(document(&empty)["trials"], serde_json::json!([]));
}

#[test]
fn ratios_and_rates_are_right_to_the_digit() {
    let page = Page::from_record(&race());
    let [cold, warm] = &page.rankings[..] else { panic!("two states") };
    assert_eq!(warm.reference.as_ref().unwrap().name, "command/wc -l");
    let mmap = &warm.rows[0];
    assert_eq!((mmap.name.as_str(), mmap.wall.median), ("rust/mmap/avx2@threads=2", 50_040_000));
    assert!((mmap.throughput.unwrap().0 - 1e9 / 0.050_04).abs() < 1.0);
    let pairs: [f64; 5] = [200.0 / 50.0, 200.1 / 50.04, 200.2 / 50.08, 200.3 / 50.02, 200.4 / 50.06];
    // The estimate is the Hodges–Lehmann estimate: the median of the means of all pairs of rounds,
    // a round paired with itself included. The five ratios occur in two rounds each.
    let logs = [pairs, pairs].concat().into_iter().map(f64::ln).collect::<Vec<f64>>();
    let means =
        (0..10).flat_map(|a| (a..10).map(move |b| (a, b))).map(|(a, b)| f64::midpoint(logs[a], logs[b]));
    let mut means = means.collect::<Vec<f64>>();
    means.sort_unstable_by(f64::total_cmp);
    let estimate = mmap.ratio_to_reference.unwrap().estimate;
    assert!((estimate.ln() - means[means.len() / 2]).abs() < 1e-9, "{estimate}");
    let places: Vec<String> =
        warm.rows.iter().map(|row| format!("{:?}", row.rank.unwrap().tie_status)).collect();
    assert_eq!(places, ["First", "Tied", "First"]);
    assert_eq!(warm.rows[2].rank.unwrap().place, 3);
    assert_eq!((warm.controls.len(), warm.proof.sample_count), (1, 30));
    assert_eq!((cold.proof.rejected_count, cold.unmeasured.len()), (1, 1));
    let share = cold.proof.device_share.unwrap();
    assert_eq!((share.low, share.high), (1.0, 1.0));
}

#[test]
fn samples_that_device_bytes_do_not_prove_are_counted_separately() {
    let mut record = record();
    let trials = [
        ("rust/read", Cache::Through, None, 1.0),
        ("rust/dontcache", Cache::Through, Some(SIZE), 0.0),
        ("rust/direct", Cache::Bypass, Some(SIZE), 0.0),
    ];
    for (index, (name, cache, device_read_bytes, resident_after)) in trials.into_iter().enumerate() {
        record.add(trial_line(index, name, CacheState::Cold, cache));
        let (resident_before, resident_after) = (Some(0.0), Some(resident_after));
        let read = |round| Sample {
            device_read_bytes,
            resident_before,
            resident_after,
            ..reading(index, round, 1000)
        };
        add_readings(&mut record, index, (0..6).map(read));
    }
    let page = Page::from_record(&record);
    let line = "from the device 100 % of the size (device bytes known for 12 of 18); 6 left less than the file in the cache: \
                device bytes alone prove them";
    assert!(page.rankings[0].proof_line().ends_with(line), "{}", page.rankings[0].proof_line());
    assert!(terminal_text(&record).contains(line) && markdown(&page).contains(line));
    let proof = &document(&record)["proofs"][0];
    let counted = ["samples", "residency_known", "device_bytes_known", "by_device_bytes_alone"];
    assert_eq!(counted.map(|name| proof[name].as_u64().unwrap()), [18, 18, 12, 6]);
}

/// A record with one trial that decodes a gzip file to 4.5 times its size.
fn decoding_race() -> Record {
    let mut record = warm_race(&[("rust/read", 1000, [0; 5]), ("rust/gzip", 1000, [0; 5])]);
    let answer = Answer { bytes: Some(9 * SIZE / 2), ..Answer::default() };
    record.targets[TargetIndex::new(0)].decoded =
        Some(DecodedContent { archive: Archive::Gzip, digest: "00".into(), answer });
    trial_mut(&mut record, 1).trial.decoded_format = Some(Archive::Gzip);
    record
}

#[test]
fn the_rate_of_encoded_bytes_is_beside_that_of_decoded_bytes() {
    let record = decoding_race();
    let page = Page::from_record(&record);
    let [plain, gzip] = &page.rankings[..] else { panic!("two rankings") };
    assert_eq!((plain.title().as_str(), plain.rows[0].encoded_rate), ("Warm · newlines", None));
    assert_eq!(gzip.title(), "Warm · newlines · out of the gzip");
    assert_eq!(gzip.size_words(), "1.00 GB in, 4.50 GB out (4.50 to 1; rates are of bytes out)");
    let mut grown = record.clone();
    grown.targets[TargetIndex::new(0)].answer = Some(Answer { bytes: Some(SIZE + 5), ..Answer::default() });
    assert_eq!(Page::from_record(&grown).rankings[0].size_words(), "1.00 GB");
    let row = &gzip.rows[0];
    assert_eq!((row.throughput.unwrap().0, row.encoded_rate.unwrap().0), (4.5e9, 1e9));
    let text = terminal_text(&record);
    assert!(text.contains("4.50 GB/s  1.00 GB/s") && text.matches("rate in").count() == 1, "{text}");
    let text = markdown(&page);
    assert!(text.contains("| 4.50 GB/s | 1.00 GB/s |"), "{text}");
    let it = &document(&record)["trials"][1];
    assert_eq!((&it["bytes_in"], &it["bytes_out"]), (&SIZE.into(), &(9 * SIZE / 2).into()));
    assert_eq!((&it["bytes_ratio"], &it["decodes"]), (&4.5.into(), &"gzip".into()));
    assert_eq!(it["throughput_in_bytes_per_s"], 1_000_000_000);
    assert!(csv(&record).lines().last().unwrap().ends_with(",gzip,1000000000,4500000000,,,"));
}

#[test]
fn a_detected_cache_below_is_in_the_machine_line_with_its_factor() {
    let mut record = race();
    let shown = |record: &Record| (Page::from_record(record).machine, markdown(&Page::from_record(record)));
    let times = SecondReadingRatio { estimate: 3.0, ci95: [2.5, 3.5], pairs: 12 };
    for silent in [None, Some(HiddenCache::NoneSeen(times))] {
        record.targets[TargetIndex::new(0)].hidden_cache = silent;
        assert!(!shown(&record).0.contains("below") && !shown(&record).1.contains("below"));
    }
    record.targets[TargetIndex::new(0)].hidden_cache = Some(HiddenCache::Seen(times));
    let (machine, text) = shown(&record);
    let expected = "a cache lies below: second cold readings are 3.00 [2.50, 3.50] times as fast";
    assert!(machine.ends_with(expected), "{machine}");
    assert!(text.contains(&super::markdown::escape_markup(expected)), "{text}");
    assert_eq!(document(&record)["targets"][0]["hidden_cache"]["found"], "seen");
    record.targets[TargetIndex::new(0)].hidden_cache =
        Some(HiddenCache::NotProbed { why: NotProbed::ShortBudget });
    let expected = "whether a cache lies below was not probed: the run has too little time";
    assert_eq!(terminal_text(&record).matches(expected).count(), 1, "{}", terminal_text(&record));
}

#[test]
fn rates_of_several_readers_count_what_all_of_them_read() {
    use readlab_analysis::compare::{Measure, Side};
    let record = warm_race(&[
        ("java/BufferedReader@readers=2", 1000, [0; 5]),
        ("java/BufferedReader@readers=1", 900, [0; 5]),
    ]);
    let page = Page::from_record(&record);
    let rows = &page.rankings[0].rows;
    // Rows are ordered by time, whatever the rates.
    assert_eq!(
        (rows[1].index, rows[1].throughput.unwrap().0, rows[1].delivered_bytes.unwrap().0),
        (TrialIndex::new(0), 2e9, 2 * SIZE)
    );
    assert!(terminal_text(&record).contains("2.00 GB/s"), "{}", terminal_text(&record));
    assert!(markdown(&page).contains("| 2.00 GB/s |"), "{}", markdown(&page));
    let it = &document(&record)["trials"][0];
    assert_eq!((&it["bytes_out"], &it["throughput_bytes_per_s"]), (&(2 * SIZE).into(), &(2 * SIZE).into()));
    assert!(csv(&record).lines().nth(1).unwrap().contains(",2000000000,2000000000,"), "{}", csv(&record));
    let html = crate::html(&page);
    assert!(html.contains("2.00\u{a0}GB/s") || html.contains("2.00 GB/s"));
    let side = Side::of_record(&record, "a", "a");
    let rates: Vec<f64> = side.cases.iter().map(|it| it.figures[&Measure::Rate].value().round()).collect();
    assert_eq!(rates, [2e9, 1_111_111_111.0]);
}

#[test]
fn the_rate_of_a_file_that_delivers_more_than_its_size_counts_delivered_bytes() {
    let mut record = warm_race(&[("rust/read", 1000, [0; 5])]);
    record.targets[TargetIndex::new(0)].answer =
        Some(Answer { bytes: Some(9 * SIZE / 2), ..Answer::default() });
    let ranking = &Page::from_record(&record).rankings[0];
    assert_eq!(
        (ranking.content_bytes.unwrap().0, ranking.rows[0].throughput.unwrap().0),
        (4_500_000_000, 4.5e9)
    );
}

#[test]
fn json_holds_every_sample_integers_and_a_reason_for_every_null() {
    let document = document(&race());
    assert_eq!((&document["schema"], &document["version"]), (&"readlab.export".into(), &1.into()));
    let first = &document["trials"][0];
    assert_eq!(first["samples"].as_array().unwrap().len(), 10);
    assert_eq!(first["summary"]["wall_ns"]["median"], 50_040_000);
    assert!(first["summary"]["wall_ns"]["median_ci95"][0].is_u64());
    assert_eq!(first["missing"]["minor_faults"], "perf events are not permitted");
    assert!(first["missing"]["major_faults"].is_string());
    assert_eq!(first["ratio"]["clear"], "faster");
    for trial in document["trials"].as_array().unwrap() {
        let fields = ["summary", "ratio", "rank", "limit", "verdict", "share_of_limit", "fills", "answer"];
        for field in fields.into_iter().chain(["decodes", "bytes_ratio", "throughput_in_bytes_per_s"]) {
            let shown = !trial[field].is_null() || trial["missing"][field].is_string();
            assert!(shown, "{}: {field} is null without a reason", trial["id"]);
        }
    }
}

#[test]
fn csv_quotes_special_texts_and_has_a_row_for_each_sample() {
    let text = csv(&race());
    assert_eq!(text.lines().count(), 61);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let column = reader.headers().unwrap().iter().position(|name| name == "id").unwrap();
    let ids: Vec<String> = reader.records().map(|row| row.unwrap()[column].to_owned()).collect();
    assert_eq!(ids[10], "rust/pread/avx2@buffer=64KiB");
    let hostile = csv(&failures());
    assert!(!hostile.contains('\u{1b}') && hostile.contains("refused"));
}

#[test]
fn no_format_passes_control_characters_or_markup_through() {
    let record = failures();
    let page = Page::from_record(&record);
    for text in [terminal_text(&record), markdown(&page), csv(&record), json(&record)] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
    }
    assert!(!markdown(&page).contains("<script>"));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let page = Page::from_record(&race());
    let colored =
        terminal_page(&page, Style { width: 160, may_use_color: true }, Some("/tmp/run/record.jsonl"));
    assert!(colored.contains("\u{1b}["));
    let plain = anstream::adapter::strip_str(&colored).to_string();
    let lines = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&plain), lines(&terminal_text(&race())));
}
