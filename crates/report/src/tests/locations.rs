//! Tests of several places of the same content: their sentences and tables, in every format.

use super::*;
use crate::html;
use readlab_analysis::compare::Side;
use readlab_record::{Header, LocationOptions};

/// The paths of the first and the second place.
const PLACE_PATHS: [&str; 2] = ["/ext4/f.txt", "/overlay/f.txt"];

/// A warm run of three methods at two places whose contents have these digests. At the second place
/// the methods take `there_ms`.
pub(super) fn record_at_two_places(digests: [&str; 2], there_ms: [u64; 3]) -> Record {
    let mut record = Record::new(Header { locations: Some(LocationOptions::default()), ..header() });
    for (index, (path, digest)) in PLACE_PATHS.iter().zip(digests).enumerate() {
        let filesystem = path.split('/').nth(1).map(str::to_owned);
        let (path, digest) = ((*path).to_owned(), Some(digest.to_owned()));
        let facts = TargetFacts { path, digest, filesystem, size_bytes: SIZE, ..TargetFacts::default() };
        record.add(testing::target_line(index, facts));
    }
    let names = ["command/wc -l", "rust/mmap/avx2", "rust/read"];
    for (target, walls_ms) in [[200, 60, 100], there_ms].into_iter().enumerate() {
        for (method, (name, wall_ms)) in names.iter().zip(walls_ms).enumerate() {
            let index = 3 * target + method;
            announce(&mut record, index, name, CacheState::Warm).target = TargetIndex::new(target);
            let wobble = |round: u32| u64::from(round * 7 % 5) + (index as u64 + u64::from(round)) % 2;
            let wall_ns = |round| wall_ms * (1_000_000 + 1_000 * wobble(round));
            add_readings(&mut record, index, (0..8).map(|round| reading(index, round, wall_ns(round))));
        }
    }
    record
}

fn place_sentences(record: &Record) -> Vec<String> {
    Page::from_record(record).locations.lines().collect()
}

#[test]
fn the_sentence_has_the_factor_of_a_slower_place_and_that_of_a_method_unlike_the_others() {
    let slower = place_sentences(&record_at_two_places(["d", "d"], [250, 75, 125]));
    let [slower] = &slower[..] else { panic!("{slower:?}") };
    let begins = "places: warm, newlines: over 3 methods overlay/f.txt (overlay) reads at 0.80";
    assert!(slower.starts_with(begins), "{slower}");
    assert!(slower.ends_with(" × ext4/f.txt (ext4), slower"), "{slower}");
    let same = &place_sentences(&record_at_two_places(["d", "d"], [200, 60, 100]))[0];
    assert!(same.contains("reads at 1.0") && same.ends_with(", no difference is seen"), "{same}");
    let unlike = &place_sentences(&record_at_two_places(["d", "d"], [200, 200, 100]))[0];
    assert!(unlike.contains("; it differs by method: rust/mmap/avx2 0.30"), "{unlike}");
    let fastest = "; the fastest there, rust/read, is 0.6";
    assert!(unlike.contains(fastest) && unlike.contains("× rust/mmap/avx2, the fastest at ext4"), "{unlike}");
}

#[test]
fn a_tie_of_the_fastest_methods_is_a_number_in_the_sentence() {
    let tied = &place_sentences(&record_at_two_places(["d", "d"], [200, 100, 60]))[0];
    assert!(tied.contains("; the fastest there, rust/read, is 1.0") && !tied.contains('='), "{tied}");
}

#[test]
fn a_comparison_of_records_keeps_the_places_of_one_content_apart() {
    let side = Side::of_record(&record_at_two_places(["d", "d"], [250, 75, 125]), "a", "a");
    let paths: Vec<&str> = side.cases.iter().map(|it| it.key.path.as_deref().unwrap()).collect();
    let [first, there] = PLACE_PATHS;
    assert_eq!(paths, [first, first, first, there, there, there]);
}

#[test]
fn a_place_with_another_content_has_no_table_and_the_reason() {
    let mut record = record_at_two_places(["d", "e"], [250, 75, 125]);
    let lines = place_sentences(&record);
    let expected =
        "places: overlay/f.txt (overlay) is not compared with ext4/f.txt (ext4): neither their bytes nor";
    assert!(lines.len() == 1 && lines[0].starts_with(expected), "{lines:?}");
    assert!(lines[0].contains("compare their rates"), "{lines:?}");
    assert!(!terminal_text(&record).contains("there ÷ first"));
    record.header.locations = Some(LocationOptions { asserts_same_content: true });
    assert!(place_sentences(&record)[0].ends_with("; the user asserts that both have the same content"));
    assert!(terminal_text(&record).contains("there ÷ first"));
}

#[test]
fn the_sentence_says_if_contents_of_unlike_sizes_are_compared_by_byte() {
    let mut record = record_at_two_places(["d", "e"], [400, 120, 200]);
    record.header.locations = Some(LocationOptions { asserts_same_content: true });
    record.targets[TargetIndex::new(1)].size_bytes = 2 * SIZE;
    let sentence = &place_sentences(&record)[0];
    assert!(sentence.contains(" reads at 1.0"), "{sentence}");
    let by_byte =
        "both have the same content; the bytes there are 2.000 times as many: times are compared by byte";
    assert!(sentence.ends_with(by_byte), "{sentence}");
    assert_eq!(document(&record)["locations"]["compared"][0]["bytes_times"], 2.0_f64);
}

#[test]
fn the_sentence_names_the_settings_under_which_both_places_are_read() {
    let mut record = record_at_two_places(["d", "d"], [250, 75, 125]);
    let under = |value: &str| {
        let (name, value) = ("read-ahead".to_owned(), value.to_owned());
        vec![SettingValue { name, value, is_initial: true, is_read_back: true }]
    };
    record.targets.iter_mut().for_each(|facts| facts.settings = under("4MiB"));
    let begins = "places: warm, newlines, read-ahead=4MiB: over 3 methods overlay/f.txt";
    assert!(place_sentences(&record)[0].starts_with(begins), "{:?}", place_sentences(&record));
    assert_eq!(document(&record)["locations"]["compared"][0]["settings"], "read-ahead=4MiB");
    // The two devices had different values at the start.
    record.targets[TargetIndex::new(1)].settings = under("128KiB");
    let begins = "places: warm, newlines, read-ahead=128KiB beside read-ahead=4MiB, as they were found: over 3 methods";
    assert!(place_sentences(&record)[0].starts_with(begins), "{:?}", place_sentences(&record));
}

#[test]
fn the_sentence_says_if_contents_are_the_same_by_answers_and_not_by_a_digest() {
    let mut record = record_at_two_places(["d", "e"], [250, 75, 125]);
    let answer = Answer { bytes: Some(SIZE), newlines: Some(9), sum: Some(7), ..Answer::default() };
    record.targets[TargetIndex::new(0)].answer = Some(answer);
    record.targets[TargetIndex::new(1)].tar_files = Some(answer);
    let sentence = &place_sentences(&record)[0];
    assert!(sentence.contains("; the files are the same by the right answers"), "{sentence}");
    assert!(sentence.ends_with("not by a digest; the headers of a tar are read, too"), "{sentence}");
    assert_eq!(document(&record)["locations"]["compared"][0]["same_by"], "tar_files");
}

#[test]
fn rankings_of_files_with_one_name_are_told_apart_by_their_folders() {
    let page = Page::from_record(&record_at_two_places(["d", "d"], [250, 75, 125]));
    let titles: Vec<&str> = page.headlines.iter().map(|it| it.title.as_str()).collect();
    assert_eq!(titles, ["Warm · newlines (ext4/f.txt)", "Warm · newlines (overlay/f.txt)"]);
}

#[test]
fn every_format_has_the_places_and_the_page_has_a_dumbbell_for_each_method() {
    let record = record_at_two_places(["d", "d"], [250, 75, 125]);
    let page = Page::from_record(&record);
    let text = terminal_text(&record);
    for part in
        ["places · warm · newlines · overlay/f.txt (overlay) beside ext4/f.txt (ext4)", "there ÷ first"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let table = markdown(&page);
    assert!(table.contains("| method | first | there | there ÷ first |"), "{table}");
    let html = html(&page);
    let section = html.split("id=\"places\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(section.matches("<circle").count(), 3, "{section}");
    assert!(crate::svg_files(&page).iter().any(|(name, _)| name == "places-0-warm"));
    let places = &document(&record)["locations"]["compared"][0];
    assert_eq!((&places["first"], &places["there"]), (&PLACE_PATHS[0].into(), &PLACE_PATHS[1].into()));
    assert!((places["overall"]["estimate"].as_f64().unwrap() - 0.8).abs() < 0.01, "{places}");
    assert_eq!(places["methods"].as_array().unwrap().len(), 3);
    let targets: Vec<bool> = csv(&record).lines().map(|row| row.contains(PLACE_PATHS[1])).collect();
    assert_eq!(targets.iter().filter(|is_there| **is_there).count(), 24, "three methods of eight readings");
}
