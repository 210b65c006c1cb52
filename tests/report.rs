//! Tests of `readlab report`: the paths of pages, and files that are not complete records.

use crate::home::{Home, ProgramOutput};
use readlab_record::testing::scripted;
use std::fs;

fn home_with_record(text: &str) -> Home {
    Home::with_file("record.jsonl", text)
}

fn race() -> String {
    scripted::text("race")
}

/// Makes a report, which must print no message.
fn make_report(home: &Home, words: &str) -> ProgramOutput {
    home.readlab(format!("report {words}")).succeeds_silently()
}

#[test]
fn a_page_is_written_beside_the_record_or_to_the_given_path() {
    let home = home_with_record(&race());
    assert_eq!(make_report(&home, "record.jsonl").out, "");
    let beside = home.read("report.html");
    assert!(beside.starts_with("<!DOCTYPE html>"));
    // The folder of a run can replace the path of its record.
    make_report(&home, ". -o x.html");
    assert_eq!(home.read("x.html"), beside);
    assert_eq!(make_report(&home, "record.jsonl -o -").out, beside);
}

#[test]
fn charts_are_self_contained_files() {
    let home = home_with_record(&race());
    make_report(&home, "record.jsonl -o x.html --svg charts");
    let names = fs::read_dir(home.at("charts")).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort_unstable();
    let expected = "effort-0-cold effort-1-warm parameter-0-cold parameter-1-warm ranking-0-cold ranking-1-warm \
                    ratio-0-cold ratio-1-warm rounds-0-cold rounds-1-warm states-0";
    assert_eq!(names, expected.split(' ').map(|name| format!("{name}.svg")).collect::<Vec<_>>());
    for name in names {
        let text = home.read(format!("charts/{name}"));
        assert!(text.starts_with("<?xml") && !text.contains("var(--"), "{text}");
    }
}

#[test]
fn the_exports_equal_those_of_a_race() {
    let home = home_with_record(&race());
    let mut exported = Vec::new();
    readlab_report::write_json(&scripted::record("race"), &mut exported).unwrap();
    let exported = String::from_utf8(exported).unwrap();
    assert_eq!(make_report(&home, "record.jsonl --export-json -").out, exported);
    make_report(&home, "record.jsonl --export-json x.json");
    assert_eq!(home.read("x.json"), exported);
    home.readlab("report record.jsonl -o - --export-json -").refusal();
}

#[test]
fn a_record_that_was_cut_short_gives_a_page_with_a_note() {
    let whole = race();
    let home = home_with_record(&whole[..whole.len() * 2 / 3]);
    assert_eq!(make_report(&home, "record.jsonl").out, "");
    assert!(home.read("report.html").contains("cut short"));
}

#[test]
fn a_file_that_is_no_record_is_refused_in_one_line_and_leaves_no_file() {
    let other = race().replacen("\"version\":1", "\"version\":99", 1);
    for (text, cause) in [
        (other.as_str(), "schema version 99, and this readlab reads version 1"),
        ("\u{0}\u{1}binary\n", "not a readlab record"),
    ] {
        let home = home_with_record(text);
        home.readlab("report record.jsonl").refuses(cause).tells("record.jsonl");
        assert!(!home.at("report.html").exists());
    }
    Home::new().readlab("report nowhere.jsonl").refuses("nowhere.jsonl");
}

#[test]
fn a_page_shows_the_inspection() {
    let home = home_with_record(&scripted::text("inside"));
    make_report(&home, "record.jsonl --svg charts");
    let page = home.read("report.html");
    for text in ["Inside a reading", "href=\"./flamegraphs/warm-", "it makes no read calls: mmap of "] {
        assert!(page.contains(text), "no {text:?} in the page");
    }
    for chart in ["latencies-warm.svg", "sizes-of-calls-warm.svg"] {
        assert!(home.at("charts").join(chart).exists(), "{chart}");
    }
    // A page in another folder links to the same flame graphs.
    home.folder("elsewhere");
    make_report(&home, &format!("{} -o elsewhere/x.html", home.at("record.jsonl").display()));
    let link = format!("href=\"{}flamegraphs/warm-", home.at("").display());
    assert!(home.read("elsewhere/x.html").contains(&link), "no {link}");
}
