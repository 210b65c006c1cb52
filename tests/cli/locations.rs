//! Tests of several targets in one set of rounds: the same content at several places, and different
//! contents.

use super::archives::{gzip, zip};
use crate::home::{Export, Home, QUICK, Trials, items};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

const TEXT: &str = "one\ntwo\nthree\n";

const TWO_METHODS: &str = "--state warm --method rust/read/scalar --method rust/mmap/scalar";

/// A home with the same file in two folders.
fn home_with_two_places() -> Home {
    let home = Home::with_file("here/f.txt", TEXT.repeat(20_000));
    home.file("there/f.txt", TEXT.repeat(20_000));
    home
}

/// The export of a quick race with these arguments.
fn export_of_race(home: &Home, words: &str) -> Export {
    home.readlab(format!("race {words} {QUICK} --quiet --export-json -")).exits(0).export()
}

fn comparisons(json: &Value) -> &[Value] {
    items(&json["locations"]["compared"])
}

/// The rounds in which a trial read the target whose path ends in `path`.
fn rounds_of_trial(json: &Value, id: &str, path: &str) -> BTreeSet<u64> {
    let is_asked_for = |trial: &&Value| {
        trial["id"] == id && trial["target"].as_str().is_some_and(|target| target.ends_with(path))
    };
    let trial = json.trials().iter().find(is_asked_for).unwrap();
    assert_eq!(trial["outcome"], "measured", "{trial}");
    items(&trial["samples"]).iter().map(|sample| sample["round"].as_u64().unwrap()).collect()
}

#[test]
fn the_same_file_at_two_places_is_read_in_the_same_rounds_and_compared_for_each_method() {
    let home = home_with_two_places();
    let json = export_of_race(&home, &format!("here/f.txt there/f.txt {TWO_METHODS}"));
    assert_eq!(home.runs().len(), 1, "one run");
    for id in ["rust/read/scalar", "rust/mmap/scalar", "command/wc -l"] {
        let [here, there] = ["here/f.txt", "there/f.txt"].map(|path| rounds_of_trial(&json, id, path));
        assert_eq!((here.len(), &here), (3, &there), "{id}");
    }
    let [table] = comparisons(&json) else { panic!("one state: {}", json["locations"]) };
    assert_eq!((&table["state"], &table["work"]), (&"warm".into(), &"newlines".into()));
    let ids: Vec<&str> = items(&table["methods"]).iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["command/wc -l", "rust/read/scalar", "rust/mmap/scalar"]);
    assert_eq!(table["overall"]["pairs"], 3);
    let [low, high] = items(&table["overall"]["ci95"]) else { panic!("{table}") };
    assert!(low.as_f64().unwrap() < high.as_f64().unwrap(), "{table}");
    let record = home.record(&home.runs()[0]);
    assert_eq!(record.header.locations, Some(readlab_record::LocationOptions::default()));
}

#[test]
fn different_contents_are_raced_and_compared_only_if_the_user_asserts_that_they_are_the_same() {
    let home = home_with_two_places();
    home.file("other.txt", TEXT.repeat(19_999) + "three\ntwo\none\n");
    let words = format!("here/f.txt other.txt {TWO_METHODS}");
    let said = home.readlab(format!("race {words} {QUICK} --export-json a.json")).exits(0);
    said.shows("places: other.txt is not compared with f.txt: neither their bytes nor the right answers");
    said.shows("compare their rates").hides("there ÷ first");
    let json = home.json("a.json");
    assert_eq!((comparisons(&json).len(), items(&json["locations"]["not_compared"]).len()), (0, 1));
    let json = export_of_race(&home, &format!("{words} --same-content"));
    assert_eq!((comparisons(&json).len(), &comparisons(&json)[0]["same_by"]), (1, &"assertion".into()));
}

#[test]
fn a_folder_and_a_file_with_all_its_bytes_are_compared_because_their_answers_are_equal() {
    let home = home_with_two_places();
    home.file("both.txt", TEXT.repeat(40_000));
    home.file("folder/a", TEXT.repeat(20_000));
    home.file("folder/b", TEXT.repeat(20_000));
    let words = "--state warm --method rust/files-auto/memchr --method rust/read/memchr";
    let json = export_of_race(&home, &format!("folder both.txt {words}"));
    let [table] = comparisons(&json) else { panic!("{}", json["locations"]) };
    assert_eq!((&table["same_by"], &table["overall"]["pairs"]), (&"answers".into(), &3.into()));
    let ids: Vec<&Value> = items(&table["methods"]).iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["rust/read/memchr"], "the other method reads no single file");
}

/// A home with a folder of three files, of which one is empty and one has no newline at its end.
fn home_with_folder() -> Home {
    let home = Home::with_file("folder/a/one", TEXT.repeat(20_000));
    home.file("folder/two", TEXT.repeat(10_000) + "no newline at the end");
    home.file("folder/empty", "");
    home
}

/// Makes `folder.tar` of the folder, in this format.
fn make_tar(home: &Home, format: &str) {
    let format = format!("--format={format}");
    let tar = home.command("tar").args([&format, "-cf", "folder.tar", "folder"]).status();
    assert!(tar.unwrap().success());
}

#[test]
fn a_folder_is_compared_with_its_tar_by_the_answers_about_its_files() {
    let home = home_with_folder();
    let words = "folder folder.tar --state warm --method rust/read/memchr";
    // The headers of the format pax have newlines of their own.
    for format in ["gnu", "pax"] {
        make_tar(&home, format);
        let json = export_of_race(&home, words);
        let [table] = comparisons(&json) else { panic!("{format}: {}", json["locations"]) };
        let told = (&table["same_by"], &table["work"]);
        assert_eq!(told, (&"tar_files".into(), &"newlines".into()), "{format}: the folder is text");
        let ids: Vec<&Value> = items(&table["methods"]).iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, ["rust/read/memchr"], "{format}: {table}");
    }
    let said = home.readlab(format!("race {words} {QUICK}")).exits(0);
    said.shows("; the files are the same by the right answers").shows("the headers of a tar are read, too");
    home.file("folder/two", TEXT.repeat(10_000) + "no newline at the enD");
    // A tar alone is no text.
    let words = words.replace("memchr", "scalar --work sum");
    let said = home.readlab(format!("race {words} {QUICK}")).exits(0);
    said.shows("folder.tar is not compared with folder: neither their bytes nor");
}

#[test]
fn a_folder_is_compared_with_its_zip_and_its_compressed_tar() {
    let home = home_with_folder();
    let contents = ["folder/two", "folder/a/one", "folder/empty"].map(|name| home.read(name));
    let entries: Vec<(&str, &[u8])> = ["two", "a/one", "empty"]
        .into_iter()
        .zip(&contents)
        .map(|(name, content)| (name, content.as_bytes()))
        .collect();
    home.file("folder.zip", zip(&entries));
    make_tar(&home, "gnu");
    home.file("folder.tar.gz", gzip(&fs::read(home.at("folder.tar")).unwrap()));
    for (packed, method, same_by) in [("zip", "zip", "answers"), ("tar.gz", "gzip", "tar_files")] {
        // Each name fits one location only: the zip alone is no text.
        let methods = format!("--method rust/files-auto/memchr --method rust/{method}/memchr");
        let json = export_of_race(&home, &format!("folder folder.{packed} --state warm {methods}"));
        let [table] = comparisons(&json) else { panic!("{packed}: {}", json["locations"]) };
        let told = ["same_by", "there_decodes", "work"].map(|field| table[field].as_str().unwrap());
        assert_eq!(told, [same_by, method, "newlines"], "{table}");
        assert!(table["fastest"]["times"]["estimate"].as_f64().unwrap() > 0.0, "{table}");
    }
}

#[test]
fn ranges_and_names_are_compared_at_two_places_too() {
    let home = home_with_two_places();
    home.file("list", "0 100\n8192 50\n");
    let range = "--range 4KiB:16KiB --state warm --method rust/read/scalar";
    let ranges = "--ranges list --state warm --work newlines --method rust/places-pread/scalar";
    for (words, work) in [
        (format!("here/f.txt there/f.txt {range}"), "newlines"),
        (format!("here/f.txt there/f.txt {ranges}"), "newlines"),
        ("here there --work names --method rust/names-readdir".to_owned(), "names"),
    ] {
        let json = export_of_race(&home, &words);
        let [table] = comparisons(&json) else { panic!("{words}: {}", json["locations"]) };
        assert_eq!((&table["work"], &table["same_by"]), (&work.into(), &"digest".into()), "{words}");
        assert!(!items(&table["methods"]).is_empty(), "{words}: {table}");
    }
}

/// The outcome of a trial at the target whose path ends in `path`, with its reason; `None` if the
/// target does not have the trial.
fn outcome_at<'a>(json: &'a Export, id: &str, path: &str) -> Option<(&'a str, &'a str)> {
    let is_there = |trial: &&Value| {
        trial["id"] == id && trial["target"].as_str().is_some_and(|target| target.ends_with(path))
    };
    let trial = json.trials().iter().find(is_there)?;
    Some((trial["outcome"].as_str().unwrap_or_default(), trial["reason"].as_str().unwrap_or_default()))
}

#[test]
fn a_named_method_that_fits_one_place_only_is_unavailable_at_the_other_with_the_reason() {
    let home = home_with_two_places();
    home.file("binary", "a\0b".repeat(20_000));
    let other = "--method rust/read/scalar";
    for (there, id, reason) in [
        ("binary", "rust/read/memchr", "rust/read: no scan 'memchr' for sum here"),
        ("there", "rust/pread/scalar", "it reads single files, and the target is a folder or a list"),
    ] {
        for named in [format!("--method {id} {other}"), format!("{other} --reference {id}")] {
            let words = format!("here/f.txt {there} --state warm {named}");
            let json = export_of_race(&home, &words);
            let [here, there] = ["here/f.txt", there].map(|path| outcome_at(&json, id, path).unwrap());
            assert_eq!(here.0, "measured", "{words}");
            assert!(there.0 == "unavailable" && there.1.starts_with(reason), "{words}: {there:?}");
        }
    }
    // A glob selects what fits, and a setting needs an effect at one place.
    let glob = "--method rust/files-auto* --method rust/pread/scalar --param segment=2MiB";
    let json = export_of_race(&home, &format!("here/f.txt there --state warm {glob}"));
    assert_eq!(outcome_at(&json, "rust/files-auto/memchr", "here/f.txt"), None);
    assert_eq!(outcome_at(&json, "rust/files-auto/memchr", "there").unwrap().0, "measured");
}

#[test]
fn a_name_or_an_option_that_fits_no_place_is_refused() {
    let home = home_with_two_places();
    let places = "here/f.txt there/f.txt --state warm --method rust/read/scalar";
    for (words, why) in [
        ("--method rust/raed", "here/f.txt: no method matches rust/raed"),
        ("--method rust/files-auto*", "here/f.txt: none of the methods that match rust/files-auto* reads"),
        ("--reference rust/raed", "here/f.txt: no trial matches --reference 'rust/raed'"),
        ("--param threads=3", "here/f.txt: --param threads=3: no method that is raced has threads"),
    ] {
        home.readlab(format!("race {places} {words}")).refuses(why);
    }
    assert!(home.runs().is_empty());
}

#[test]
fn the_hooks_of_a_command_run_once_for_each_place() {
    let home = home_with_two_places();
    let own = "-c 'cat {} | cat' --check same --setup 'wc -l {} >> begun' --cleanup 'wc -l {} >> ended'";
    export_of_race(&home, &format!("here/f.txt there/f.txt --state warm {own}"));
    for log in ["begun", "ended"] {
        let text = home.read(log);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("here/f.txt") && text.contains("there/f.txt"), "{text}");
    }
}

#[test]
fn targets_that_cannot_share_their_rounds_are_refused() {
    let home = home_with_two_places();
    for (words, why) in [
        ("here/f.txt here/f.txt", "here/f.txt: named twice"),
        ("here/f.txt ./here/f.txt", "./here/f.txt: named twice"),
        ("here nowhere --work names", "nowhere: no such file"),
        ("here/f.txt there/f.txt --readers 2", "--readers: several targets only with --apart"),
        ("here there --per-file", "--per-file: several targets only with --apart"),
        ("here/f.txt there --range 0:1", "there: --range reads a part of a file, and this is none"),
        ("here there/f.txt --work names", "there/f.txt: --work names is about what is below a folder"),
        ("here/f.txt --same-content", "--same-content is about several targets, and there is one"),
        ("here/f.txt there/none.txt", "there/none.txt: "),
    ] {
        home.readlab(format!("race {words}")).refuses(why);
    }
    assert!(home.runs().is_empty());
}

mod ring2 {
    use super::*;
    use crate::machine::or_skip;
    use crate::mounted::{Undo, text};
    use readlab_model::sample::Sample;
    use readlab_model::trial::CacheState;
    use readlab_record::Outcome;
    use std::fs::File;

    #[test]
    fn an_interrupted_run_of_two_places_is_resumed_with_both() {
        let home = home_with_two_places();
        let words = format!("here/f.txt there/f.txt {TWO_METHODS} --output run --quiet");
        home.readlab(format!("race {words} --runs 6 --budget 20m")).exits(0);
        home.cut_short("run/record.jsonl");
        home.readlab("race --resume run/record.jsonl").exits(0).shows("there ÷ first");
        let record = home.record("run");
        for trial in record.trials.iter().filter(|it| !it.trial.is_control()) {
            assert_eq!(trial.samples.len(), 6, "{} of {}", trial.trial.id, trial.trial.target);
        }
    }

    #[test]
    fn a_file_is_compared_through_an_overlay_with_its_lower_file_cold_and_warm() {
        let home = Home::with_file("lower/f.txt", TEXT.repeat(200_000));
        File::open(home.at("lower/f.txt")).unwrap().sync_all().unwrap();
        let (mut undo, point) = (Undo::default(), home.at("overlay"));
        // An overlay without an upper layer has two lower ones.
        let [lower, empty] = ["lower", "empty"].map(|name| home.folder(name));
        let layers = format!("lowerdir={}:{}", text(&lower), text(&empty));
        if or_skip(undo.mount(&["-t", "overlay", "overlay", "-o", &layers], &point)).is_none() {
            return;
        }
        let methods = "--method rust/read/scalar --method rust/mmap/scalar --export-json a.json";
        let words = format!("race lower/f.txt overlay/f.txt {methods} {QUICK}");
        let said = home.readlab(words).exits(0);
        for shown in ["places: cold, newlines: over ", "places: warm, newlines: over ", "there ÷ first"] {
            said.shows(shown);
        }
        let record = home.record(&home.runs()[0]);
        for it in record.trials.iter().filter(|it| !it.trial.is_control()) {
            let (id, target) = (&it.trial.id, it.trial.target);
            assert_eq!(it.outcome, Some(Outcome::Measured), "{id} at {target}: {:?}", it.rejected_readings);
            let right = if it.trial.state == CacheState::Cold { 0.0 } else { 1.0 };
            let resident = |sample: Sample| sample.resident_before == Some(right);
            assert!(it.samples.iter().all(resident), "{id} at {target}, {}", it.trial.state);
        }
        let json = home.json("a.json");
        let tables = comparisons(&json);
        let states: BTreeSet<&str> = tables.iter().map(|table| table["state"].as_str().unwrap()).collect();
        assert_eq!((tables.len(), states), (2, BTreeSet::from(["cold", "warm"])), "{tables:?}");
        for table in tables {
            let ids: Vec<&Value> = items(&table["methods"]).iter().map(|it| &it["id"]).collect();
            let has_both =
                ["rust/read/scalar", "rust/mmap/scalar"].iter().all(|id| ids.iter().any(|it| it == id));
            assert!(has_both, "{table}");
            assert_eq!((&table["same_by"], &table["overall"]["pairs"]), (&"digest".into(), &3.into()));
            // Both are the same pages of the same file.
            let times = table["overall"]["estimate"].as_f64().unwrap();
            assert!((0.1..10.0).contains(&times), "{table}");
        }
    }
}

#[test]
fn contents_of_unlike_sizes_that_the_user_asserts_to_be_the_same_are_compared_by_byte() {
    let home = home_with_two_places();
    home.file("grown.txt", TEXT.repeat(30_000));
    let words = format!("race here/f.txt grown.txt --same-content {TWO_METHODS} {QUICK}");
    let said = home.readlab(format!("{words} --export-json grown.json")).exits(0);
    said.shows("; the bytes there are 1.500 times as many: times are compared by byte");
    let json = home.json("grown.json");
    let [table] = comparisons(&json) else { panic!("{}", json["locations"]) };
    assert_eq!(table["same_by"], "assertion");
    assert_eq!(table["bytes_times"], 1.5_f64);
}
