//! Tests of several readers at once: `readlab race FILE --readers N`.

use super::fake::{Fake, roster};
use super::interrupt::{assert_nothing_left, descendants, long_run, send};
use super::{Home, Said};
use readlab_model::trial::CacheState;
use readlab_record::{Outcome, ReaderTiming, Record};
use rustix::process::Signal;
use serde_json::Value;

const LINES: usize = 1 << 16;
const ONE: [&str; 4] = ["--method", "rust/read/scalar", "--command", "wc -l"];

/// The same file for all tests of this kind.
fn file(home: &Home) -> std::path::PathBuf {
    home.file("f", "a line\n".repeat(LINES))
}

/// What a fake does of which the second process that is started says this at its second turn.
fn second_says(home: &Home, deed: &str) -> String {
    let lock = home.at("first-is-there");
    let lock = lock.display();
    format!(
        "[ -n \"$who\" ] || if mkdir '{lock}' 2>/dev/null; then who=first; else who=second; fi; \
         if [ $who$turns = second2 ]; then {deed}; else answer; fi"
    )
}

#[test]
fn all_readers_of_a_turn_read_the_whole_file_and_their_time_is_that_of_all_together() {
    let home = Home::new();
    let (json, said) = home.race_json(&file(&home), &[&ONE[..], &["--readers", "1,3"]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    let record = Record::read(&home.runs()[0].join("record.jsonl")).unwrap();
    assert_eq!(record.targets.iter().map(|it| it.readers).collect::<Vec<_>>(), [Some(1), Some(3)]);
    let bytes = 7 * LINES as u64;
    let mut turns = 0;
    for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
        let target = &record.targets[trial.trial.target];
        let readers = target.readers.unwrap() as usize;
        assert_eq!(target.size_bytes, readers as u64 * bytes);
        assert_eq!(trial.samples.len(), trial.readers_turns.len(), "one sample for each turn of all");
        for (turn, sample) in trial.readers_turns.iter().zip(&trial.samples) {
            assert_eq!(turn.readers.len(), readers);
            let is_limit = trial.trial.limit().is_some();
            let took = |it: &ReaderTiming| if is_limit { it.wall_ns } else { it.answered_ns };
            let ended = turn.readers.iter().map(|it| it.began_ns + took(it)).max();
            assert_eq!(ended, Some(sample.wall_ns), "from the first start to the last answer");
            assert!(turn.readers.iter().all(|it| it.wall_ns <= it.answered_ns), "{turn:?}");
            turns += 1;
        }
    }
    assert!(turns >= 4 * 2 * 2 * 2, "four rounds of two trials in two states by two numbers: {turns}");
    let rows = json["readers"].as_array().unwrap();
    let row = |readers: u64, state: &str| {
        let is_it = |it: &&Value| {
            it["trial"] == "rust/read/scalar" && it["readers"] == readers && it["state"] == state
        };
        rows.iter().find(is_it).unwrap_or_else(|| panic!("{readers} readers, {state}: {rows:?}"))
    };
    for state in ["cold", "warm"] {
        assert!(row(1, state)["of_alone"].is_null());
        let fairness = row(3, state)["fairness"]["estimate"].as_f64().unwrap();
        assert!((1.0 / 3.0..=1.0).contains(&fairness), "{fairness}");
        assert!(row(3, state)["of_alone"]["estimate"].as_f64().unwrap() > 0.0);
    }
    let scaling = json["scaling"].as_array().unwrap();
    let it = scaling.iter().find(|it| it["trial"] == "rust/read/scalar" && it["state"] == "warm").unwrap();
    let counts: Vec<u64> =
        it["points"].as_array().unwrap().iter().map(|it| it["count"].as_u64().unwrap()).collect();
    assert_eq!((&it["unit"], counts), (&"reader".into(), vec![1, 3]));
}

#[test]
fn one_reader_of_several_that_lies_or_dies_ends_the_trial_with_the_reason() {
    for (deed, outcome, reason) in [
        (
            r#"say '{"say":"sample","wall_ns":1000,"newlines":9}'; say '{"say":"done","count":1}'"#,
            "refused",
            "9",
        ),
        ("exit 7", "failed", "7"),
    ] {
        let home = Home::new();
        let roster = roster(&home, &[Fake { name: "second", turn: &second_says(&home, deed) }]);
        let words = ["--readers", "2", "--method", "second/read", "--roster", &roster, "--state", "warm"];
        let (json, said) = home.race_json(&file(&home), &words);
        assert_eq!(said.code, Some(1), "{said}");
        let trials = json["trials"].as_array().unwrap();
        let trial = trials.iter().find(|it| it["id"] == "second/read").unwrap();
        assert_eq!(trial["outcome"], outcome, "{trial}");
        assert!(trial["reason"].as_str().unwrap().contains(reason), "{trial}");
    }
}

#[test]
fn numbers_that_are_none_and_a_fleet_are_refused() {
    let home = Home::new();
    let file = file(&home);
    for number in ["0", "257", "two", ""] {
        let said = home.race(&file, &["--readers", number]);
        assert_eq!(said.code, Some(2), "{said}");
    }
    let said = home.readlab(["race", "--resume", "last", "--readers", "2"]);
    assert!(said.code == Some(2) && said.err.contains("--readers"), "{said}");
    let said = home.readlab([
        "fleet".as_ref(),
        "race".as_ref(),
        file.as_os_str(),
        "--readers".as_ref(),
        "2".as_ref(),
    ]);
    assert!(said.code == Some(2) && said.err.contains("--readers: the ranks of a fleet"), "{said}");
}

#[test]
fn each_reader_of_copies_reads_its_own_and_the_copies_are_gone_afterwards() {
    let home = Home::new();
    let copies = home.at("copies");
    std::fs::create_dir(&copies).unwrap();
    let words = ["--readers", "1,2", "--copies", "copies", "--command", "wc -l {}"];
    let (json, said) = home.race_json(&file(&home), &[&ONE[..2], &words].concat());
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(std::fs::read_dir(&copies).unwrap().count(), 0, "the copies are removed");
    let record = Record::read(&home.runs()[0].join("record.jsonl")).unwrap();
    assert!(record.targets.iter().all(|it| it.copies_in.as_deref() == copies.to_str()));
    let bytes = 7 * LINES as u64;
    let extents = |target: usize| record.targets[target].extents.as_ref().map(|it| it.count);
    assert!(extents(1) > extents(0), "those of both files: {:?}", record.targets);
    for trial in record.trials.iter().filter(|it| it.is_measured() && !it.trial.is_control()) {
        let readers = u64::from(record.targets[trial.trial.target].readers.unwrap());
        for sample in trial.samples.iter().filter(|_| trial.trial.state == CacheState::Cold) {
            // Where the device counts, each brings its own bytes.
            let fetched = sample.device_read_bytes.unwrap_or(u64::MAX);
            assert!(fetched >= readers * (bytes - bytes / 100), "{fetched} by {readers}");
        }
    }
    let id = |it: &&Value| it["id"] == "rust/read/scalar";
    let trials = json["trials"].as_array().unwrap();
    assert_eq!(trials.iter().filter(id).count(), 4, "two states by two numbers");
}

#[test]
fn copies_are_of_files_on_the_same_file_system_and_for_readers() {
    let home = Home::new();
    let file = file(&home);
    let of = |words: &[&str]| home.race(&file, words);
    for (words, told) in [
        (&["--copies", "."][..], "--readers"),
        (&["--readers", "2", "--copies", "absent"], "absent: No such file or directory"),
        (&["--readers", "2", "--copies", ".", "--http"], "--copies: not with --http"),
        (&["--readers", "2", "--copies", ".", "--pattern", "random"], "--copies: not with"),
        (&["--readers", "2", "--copies", "/dev/shm"], "on another file system than"),
    ] {
        let said = of(words);
        assert!(said.code == Some(2) && said.err.contains(told), "{words:?}: {said}");
    }
    let said = home.readlab(["race", ".", "--readers", "2", "--copies", "."]);
    assert!(said.code == Some(2) && said.err.contains(".: --copies are copies of a file"), "{said}");
}

mod ring2 {
    use super::*;

    #[test]
    fn the_table_and_the_page_say_how_many_read_and_what_each_had() {
        let home = Home::new();
        let said = home.race(
            &file(&home),
            &[&ONE[..], &["--readers", "1,2", "--state", "warm", "--output", "run"]].concat(),
        );
        assert_eq!(said.code, Some(0), "{said}");
        for told in
            ["by 2 readers · ", "scaling: Warm, rust/read/scalar: 2 readers read ", "saturation: Warm, "]
        {
            assert!(said.out.contains(told), "{told}: {said}");
        }
        let page = std::fs::read_to_string(home.at("run/report.html")).unwrap();
        for told in ["Readers at once", "readers that read together", "What each of several readers had"] {
            assert!(page.contains(told), "{told}");
        }
        let one = home.race(&file(&home), &[&ONE[..], &["--readers", "2", "--state", "warm"]].concat());
        assert!(one.code == Some(0) && one.out.contains("warm (2 readers)"), "{one}");
        assert!(!one.out.contains("scaling:"), "one number shows no growth: {one}");
    }

    #[test]
    fn readers_read_over_servers_out_of_archives_and_nothing_at_all() {
        let home = Home::new();
        let file = file(&home);
        let over_http =
            home.race(&file, &["--http", "--readers", "2", "--method", "rust/http", "--state", "warm"]);
        assert!(over_http.code == Some(0) && over_http.out.contains("(2 readers)"), "{over_http}");
        let packed = std::process::Command::new("gzip").arg("--keep").arg(&file).status().unwrap();
        assert!(packed.success());
        let words = ["--readers", "2", "--method", "rust/gzip", "--state", "warm"];
        let (json, said) = home.race_json(&home.at("f.gz"), &words);
        assert_eq!(said.code, Some(0), "{said}");
        let trials = json["trials"].as_array().unwrap();
        let decoded = trials.iter().find(|it| it["method"] == "gzip").unwrap();
        assert_eq!(decoded["bytes_out"], 2 * 7 * LINES, "{decoded}");
        let (json, said) = home.race_json(&home.file("empty", ""), &[&ONE[..], &["--readers", "2"]].concat());
        assert!(said.code == Some(0) && json["readers"].is_array(), "{said}");
    }

    #[test]
    fn ctrl_c_ends_all_readers_and_the_run_goes_on_with_as_many() {
        let home = Home::new();
        let words = [&ONE[..], &["--readers", "1,3", "--runs", "12", "--state", "warm", "--budget", "10m"]];
        let child = long_run(&home, "race", &words.concat());
        let children = descendants(child.id());
        send(&child, Signal::INT);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        assert_nothing_left(&home, &children);
        let before = Record::read(&home.at("run/record.jsonl")).unwrap();
        let resumed: Said = home.readlab(["race", "--resume", "run/record.jsonl"]);
        assert_eq!(resumed.code, Some(0), "{resumed}");
        let after = Record::read(&home.at("run/record.jsonl")).unwrap();
        assert_eq!((after.resumed.len(), &after.targets), (1, &before.targets));
        for trial in after.trials.iter().filter(|it| !it.trial.is_control()) {
            assert_eq!(trial.samples.len(), 12, "{}", trial.trial.id);
            let readers = after.targets[trial.trial.target].readers.unwrap() as usize;
            assert!(trial.readers_turns.iter().all(|turn| turn.readers.len() == readers));
        }
    }

    #[test]
    fn runs_by_different_numbers_of_readers_are_unlike() {
        let home = Home::new();
        let file = file(&home);
        for (readers, name) in [("1", "one"), ("2", "two")] {
            let words =
                ["--readers", readers, "--save", name, "--state", "warm", "--method", "rust/read/scalar"];
            assert_eq!(home.race(&file, &words).code, Some(0));
        }
        let said = home.readlab(["compare", "one", "two"]);
        assert!(format!("{said}").contains("read at once by 1 and 2"), "{said}");
    }
}
