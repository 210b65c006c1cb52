//! Tests of `readlab report`: places of pages, and files that are not complete records.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

fn report(arguments: &[&Path]) -> (i32, String, String) {
    let output = Command::cargo_bin("readlab").unwrap().arg("report").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A file in a separate folder, with this text.
fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("record.jsonl");
    fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn a_page_is_written_beside_the_record_or_where_one_says() {
    let (folder, record) = file(&fs::read_to_string(golden("race.jsonl")).unwrap());
    assert_eq!(report(&[&record]), (0, String::new(), String::new()));
    let beside = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(beside.starts_with("<!DOCTYPE html>"));
    // The folder of a run can replace the path of its record.
    let elsewhere = folder.path().join("x.html");
    assert_eq!(report(&[folder.path(), Path::new("-o"), &elsewhere]).0, 0);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), beside);
    assert_eq!(report(&[&record, Path::new("-o"), Path::new("-")]).1, beside);
}

#[test]
fn charts_are_files_that_stand_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (page, charts) = (folder.path().join("x.html"), folder.path().join("charts"));
    assert_eq!(report(&[&golden("race.jsonl"), Path::new("-o"), &page, Path::new("--svg"), &charts]).0, 0);
    let mut names: Vec<String> = fs::read_dir(&charts)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    let expected = ["effort-0-cold", "effort-1-warm", "parameter-0-cold", "parameter-1-warm"];
    let more = ["ranking-0-cold", "ranking-1-warm", "ratio-0-cold", "ratio-1-warm"];
    let last = ["rounds-0-cold", "rounds-1-warm", "states-0"];
    let expected: Vec<String> =
        expected.iter().chain(&more).chain(&last).map(|name| format!("{name}.svg")).collect();
    assert_eq!(names, expected);
    for name in names {
        let text = fs::read_to_string(charts.join(name)).unwrap();
        assert!(text.starts_with("<?xml") && !text.contains("var(--"), "{text}");
    }
}

#[test]
fn the_results_for_programs_are_those_that_a_race_exports() {
    let (folder, record) = file(&fs::read_to_string(golden("made/race.jsonl")).unwrap());
    let stored = fs::read_to_string(golden("made/race.json")).unwrap();
    assert_eq!(
        report(&[&record, Path::new("--export-json"), Path::new("-")]),
        (0, stored.clone(), String::new())
    );
    let export = folder.path().join("x.json");
    assert_eq!(report(&[&record, Path::new("--export-json"), &export]).0, 0);
    assert_eq!(fs::read_to_string(&export).unwrap(), stored);
    for (page, export) in [("-", "-"), ("x.html", "x.html")] {
        let (code, out, error) = report(
            &["-o", page, "--export-json", export]
                .map(Path::new)
                .into_iter()
                .chain([record.as_path()])
                .collect::<Vec<_>>(),
        );
        assert_eq!((code, out.as_str(), error.lines().count()), (2, "", 1), "{error}");
    }
    let (code, _, error) = report(&[&record, Path::new("--export-json"), &record]);
    assert!(code == 2 && error.contains("is read, so --"), "{error}");
}

#[test]
fn a_record_that_was_cut_short_gives_a_page_with_a_note() {
    let whole = fs::read_to_string(golden("race.jsonl")).unwrap();
    let (folder, record) = file(&whole[..whole.len() * 2 / 3]);
    assert_eq!(report(&[&record]), (0, String::new(), String::new()));
    assert!(fs::read_to_string(folder.path().join("report.html")).unwrap().contains("cut short"));
}

#[test]
fn what_is_no_record_is_refused_in_one_line_and_leaves_nothing() {
    let later =
        fs::read_to_string(golden("race.jsonl")).unwrap().replacen("\"version\": 1", "\"version\": 99", 1);
    for (text, cause) in [
        (later.as_str(), "schema version 99, this readlab reads up to"),
        ("", "not a readlab record"),
        ("{\"schema\":\"other\"}\n", "not a readlab record"),
        ("\u{0}\u{1}binary\n", "not a readlab record"),
    ] {
        let (folder, record) = file(text);
        let (code, out, error) = report(&[&record]);
        assert_eq!((code, out.as_str(), error.lines().count()), (2, "", 1), "{error}");
        assert!(error.contains(cause) && error.contains("record.jsonl"), "{error}");
        assert!(!folder.path().join("report.html").exists());
    }
    let (code, _, error) = report(&[Path::new("nowhere.jsonl")]);
    assert!(code == 2 && error.contains("nowhere.jsonl"), "{error}");
}

#[test]
fn a_record_is_never_written_over() {
    let text = fs::read_to_string(golden("race.jsonl")).unwrap();
    let (folder, record) = file(&text);
    let link = folder.path().join("link.html");
    std::os::unix::fs::symlink(&record, &link).unwrap();
    for output in [&record, &link] {
        let (code, _, error) = report(&[&record, Path::new("-o"), output]);
        assert!(code == 2 && error.contains("is read, so --"), "{error}");
    }
    assert_eq!(fs::read_to_string(&record).unwrap(), text);
}

#[test]
fn a_page_shows_the_inspection() {
    let (folder, record) = file(&fs::read_to_string(golden("inside.jsonl")).unwrap());
    let charts = folder.path().join("charts");
    assert_eq!(report(&[&record, Path::new("--svg"), &charts]).0, 0);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    for text in ["Inside a reading", "href=\"./flamegraphs/warm-", "it makes no read calls: mmap of "] {
        assert!(page.contains(text), "no {text:?} in the page");
    }
    assert!(charts.join("latencies-warm.svg").exists() && charts.join("sizes-of-calls-warm.svg").exists());
    // A page in another folder links to the same pictures.
    let elsewhere = tempfile::tempdir().unwrap();
    let moved = elsewhere.path().join("x.html");
    assert_eq!(report(&[&record, Path::new("-o"), &moved]).0, 0);
    let link = format!("href=\"{}/flamegraphs/warm-", folder.path().display());
    assert!(fs::read_to_string(moved).unwrap().contains(&link), "no {link}");
}
