//! Tests of several readers at once: `readlab race FILE --readers N`.

use crate::fake::roster;
use crate::home::{Home, Trials, items};
use crate::processes::{assert_nothing_left, descendants, send, start_until_sample};
use readlab_model::target::TargetIndex;
use readlab_model::trial::CacheState;
use readlab_record::{Outcome, ReaderTiming};
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;

const LINE_COUNT: usize = 1 << 16;
const ONE_METHOD_AND_COMMAND: &str = "--method rust/read/scalar --command 'wc -l'";

/// A home with a file of lines.
fn home() -> Home {
    Home::with_file("f", "a line\n".repeat(LINE_COUNT))
}

/// The turn of a fake with this name whose second process does this at its second turn.
fn second_process_turn(home: &Home, name: &str, deed: &str) -> String {
    let lock = home.at(format!("first-{name}-is-there"));
    let lock = lock.display();
    format!(
        "[ -n \"$who\" ] || if mkdir '{lock}' 2>/dev/null; then who=first; else who=second; fi; \
         if [ $who$turns = second2 ]; then {deed}; else answer; fi"
    )
}

#[test]
fn all_readers_of_a_turn_read_the_whole_file_and_their_common_time_counts() {
    let home = home();
    let json = home.race_json("f", format!("{ONE_METHOD_AND_COMMAND} --readers 1,3")).exits(0);
    let record = home.record(&home.runs()[0]);
    assert_eq!(record.targets.iter().map(|it| it.reader_count).collect::<Vec<_>>(), [Some(1), Some(3)]);
    let bytes = 7 * LINE_COUNT as u64;
    let mut turns = 0;
    for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
        let target = &record.targets[trial.trial.target];
        let readers = target.reader_count.unwrap() as usize;
        assert_eq!(target.size_bytes, readers as u64 * bytes);
        assert_eq!(trial.samples.len(), trial.readers_turns.len(), "one sample for each turn of all");
        for (turn, sample) in trial.readers_turns.iter().zip(&trial.samples) {
            assert_eq!(turn.readers.len(), readers);
            let is_limit = trial.trial.limit_kind().is_some();
            let took = |it: &ReaderTiming| if is_limit { it.wall_ns } else { it.answered_ns };
            let ended = turn.readers.iter().map(|it| it.began_ns + took(it)).max();
            assert_eq!(ended, Some(sample.wall_ns), "from the first start to the last answer");
            assert!(turn.readers.iter().all(|it| it.wall_ns <= it.answered_ns), "{turn:?}");
            turns += 1;
        }
    }
    assert!(turns >= 4 * 2 * 2 * 2, "four rounds of two trials in two states by two numbers: {turns}");
    let rows = items(&json["readers"]);
    let row = |readers: u64, state: &str| {
        let mut of_state = rows.iter().filter(|it| it["readers"] == readers && it["state"] == state);
        of_state.find(|it| it["trial"] == "rust/read/scalar").unwrap_or_else(|| panic!("{rows:?}"))
    };
    for state in ["cold", "warm"] {
        assert!(row(1, state)["of_alone"].is_null());
        let fairness = row(3, state)["fairness"]["estimate"].as_f64().unwrap();
        assert!((1.0 / 3.0..=1.0).contains(&fairness), "{fairness}");
        assert!(row(3, state)["of_alone"]["estimate"].as_f64().unwrap() > 0.0);
    }
    let mut scaling = items(&json["scaling"]).iter().filter(|it| it["state"] == "warm");
    let it = scaling.find(|it| it["trial"] == "rust/read/scalar").unwrap();
    let counts: Vec<u64> = items(&it["points"]).iter().map(|it| it["count"].as_u64().unwrap()).collect();
    assert_eq!((&it["unit"], counts), (&"reader".into(), vec![1, 3]));
}

#[test]
fn one_reader_of_several_that_lies_or_dies_ends_the_trial_with_the_reason() {
    let lie = r#"say '{"say":"sample","wall_ns":1000,"newlines":9}'; say '{"say":"done","count":1}'"#;
    let home = home();
    let turns = [("liar", lie), ("mortal", "exit 7")]
        .map(|(name, deed)| (name, second_process_turn(&home, name, deed)));
    let roster = roster(&home, &turns.each_ref().map(|(name, turn)| (*name, turn.as_str())));
    let words = format!("--readers 2 --method liar/read --method mortal/read --roster {roster} --state warm");
    let json = home.race_json("f", words).exits(1);
    json.ended("liar/read", "warm", "refused", "9");
    json.ended("mortal/read", "warm", "failed", "7");
}

#[test]
fn each_reader_of_copies_reads_its_own_and_the_copies_are_gone_afterwards() {
    let home = home();
    let copies = home.folder("copies");
    let words = "--method rust/read/scalar --readers 1,2 --copies copies --command 'wc -l {}'";
    let json = home.race_json("f", words).exits(0);
    assert_eq!(fs::read_dir(&copies).unwrap().count(), 0, "the copies are removed");
    let record = home.record(&home.runs()[0]);
    assert!(record.targets.iter().all(|it| it.copies_folder.as_deref() == copies.to_str()));
    let bytes = 7 * LINE_COUNT as u64;
    let extents =
        |target: usize| record.targets[TargetIndex::new(target)].extents.as_ref().map(|it| it.count);
    assert!(extents(1) > extents(0), "those of both files: {:?}", record.targets);
    for trial in record.trials.iter().filter(|it| it.is_measured() && !it.trial.is_control()) {
        let readers = u64::from(record.targets[trial.trial.target].reader_count.unwrap());
        for sample in trial.samples.iter().filter(|_| trial.trial.state == CacheState::Cold) {
            // If the device bytes are counted, each reader fetches its own bytes.
            let fetched = sample.device_read_bytes.unwrap_or(u64::MAX);
            assert!(fetched >= readers * (bytes - bytes / 100), "{fetched} by {readers}");
        }
    }
    let of_method = json.trials().iter().filter(|it| it["id"] == "rust/read/scalar");
    assert_eq!(of_method.count(), 4, "two states by two numbers");
}

#[test]
fn copies_need_the_same_file_system_and_a_fleet_has_ranks_instead_of_readers() {
    let home = home();
    for (target, words, told) in [
        ("f", "--readers 2 --copies absent", "absent: No such file or directory"),
        ("f", "--readers 2 --copies . --http", "--copies: not with --http"),
        ("f", "--readers 2 --copies . --pattern random", "--copies: not with"),
        ("f", "--readers 2 --copies /dev/shm", "on another file system than"),
        (".", "--readers 2 --copies .", ".: --copies are copies of a file"),
    ] {
        home.race(target, words).exits(2).tells(told);
    }
    home.readlab("fleet race f --readers 2").exits(2).tells("--readers: the ranks of a fleet");
}

mod ring2 {
    use super::*;

    #[test]
    fn an_archive_that_several_numbers_of_readers_read_as_it_is_is_said_to_be() {
        let home = home();
        let gzipped = super::super::archives::gzip(&[b'\n'; LINE_COUNT]);
        home.file("f.gz", &gzipped);
        let told = "it is a gzip, and every trial reads its bytes as they are";
        home.race("f.gz", "--readers 1,2 --state warm").exits(0).shows(told).shows("--method");
        home.race("f.gz", "--readers 1,2 --state warm --method rust/gzip").exits(0).hides(told);
    }

    #[test]
    fn the_table_and_the_page_show_the_number_of_readers_and_the_rate_of_each() {
        let home = home();
        let said = home
            .race("f", format!("{ONE_METHOD_AND_COMMAND} --readers 1,2 --state warm --output run"))
            .exits(0);
        for told in
            ["by 2 readers · ", "scaling: Warm, rust/read/scalar: 2 readers read ", "saturation: Warm, "]
        {
            said.shows(told);
        }
        let page = home.read("run/report.html");
        for told in ["Readers at once", "readers that read together", "What each of several readers had"] {
            assert!(page.contains(told), "{told}");
        }
        let one = home.race("f", format!("{ONE_METHOD_AND_COMMAND} --readers 2 --state warm")).exits(0);
        // A single number of readers shows no growth.
        one.shows("warm (2 readers)").hides("scaling:");
    }

    #[test]
    fn readers_work_with_servers_archives_and_empty_files() {
        let home = home();
        home.race("f", "--http --readers 2 --method rust/http --state warm").exits(0).shows("(2 readers)");
        assert!(home.command("gzip").args(["--keep", "f"]).status().unwrap().success());
        let json = home.race_json("f.gz", "--readers 2 --method rust/gzip --state warm").exits(0);
        let decoded = json.trial_with("method", "gzip");
        assert_eq!(decoded["bytes_out"], 2 * 7 * LINE_COUNT, "{decoded}");
        let json =
            home.race_json(home.file("empty", ""), format!("{ONE_METHOD_AND_COMMAND} --readers 2")).exits(0);
        assert!(json["readers"].is_array(), "{json}");
    }

    #[test]
    fn every_kind_of_target_is_read_by_each_number_of_readers_though_no_method_is_named() {
        let home = home();
        home.file("tree/one", "a line\n");
        home.file("tree/two", "another line\n");
        home.file("list", "0 4096\n65536 4096\n");
        let cases = [
            ("f", "--http"),
            ("f", "--s3"),
            ("f", "--http --ranges list"),
            ("f", "--s3 --ranges list"),
            ("tree", "--order name"),
            ("f", "--pattern random --reads 20"),
            ("f", "--ranges list"),
        ];
        for (number, (target, words)) in cases.into_iter().enumerate() {
            let run = format!("run-{number}");
            home.race(target, format!("{words} --readers 1,2 --state warm --output {run}")).exits(0);
            let record = home.record(&run);
            let read = record.trials.iter().filter(|it| it.is_measured() && !it.trial.is_control());
            let counts: BTreeSet<Option<u32>> =
                read.map(|it| record.targets[it.trial.target].reader_count).collect();
            assert_eq!(counts, BTreeSet::from([Some(1), Some(2)]), "{target} {words}");
        }
    }

    #[test]
    fn ctrl_c_ends_all_readers_and_the_run_goes_on_with_as_many() {
        let home = Home::new();
        let child = start_until_sample(
            &home,
            "race",
            &format!("{ONE_METHOD_AND_COMMAND} --readers 1,3 --runs 12 --state warm --budget 10m"),
        );
        let children = descendants(child.id());
        send(child.id(), Signal::INT);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        assert_nothing_left(&home, &children);
        let before = home.record("run");
        home.readlab("race --resume run/record.jsonl").exits(0);
        let after = home.record("run");
        assert_eq!((after.resumptions.len(), &after.targets), (1, &before.targets));
        for trial in after.trials.iter().filter(|it| !it.trial.is_control()) {
            assert_eq!(trial.samples.len(), 12, "{}", trial.trial.id);
            let readers = after.targets[trial.trial.target].reader_count.unwrap() as usize;
            assert!(trial.readers_turns.iter().all(|turn| turn.readers.len() == readers));
        }
    }

    #[test]
    fn runs_by_different_numbers_of_readers_cannot_be_compared() {
        let home = home();
        for (readers, name) in [("1", "one"), ("2", "two")] {
            let words = format!("--readers {readers} --save {name} --state warm --method rust/read/scalar");
            home.race("f", words).exits(0);
        }
        let said = home.readlab("compare one two").to_string();
        assert!(said.contains("read at once by 1 and 2"), "{said}");
    }
}
