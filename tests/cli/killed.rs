//! Tests of SIGKILL of the lab at any moment: no process is left, all written lines of the record
//! are complete, and the next start names the remaining files with the command that removes them.

use crate::home::{Home, ProgramOutput, paths_in};
use crate::processes::{happens_in_time, kill};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_record::Record;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Number of homes that work at the same time, and kills of races and of sweeps in each.
const HOMES: u64 = 4;
const RACES: usize = 15;
const SWEEPS: usize = 10;

#[derive(Default)]
struct KillCounts {
    kills: usize,
    records: usize,
    samples: usize,
    torn: usize,
}

/// Starts a lab, kills it after a delay, and checks which processes remain. If a text is given, the
/// delay begins when the record contains it, because on a busy machine that may take long.
fn kill_after(home: &Home, words: &str, wait: Duration, from: Option<&str>) {
    let lab = home.start(words);
    let record = home.at("run/record.jsonl");
    let has_come = |what: &str| fs::read_to_string(&record).is_ok_and(|text| text.contains(what));
    assert!(from.is_none_or(|what| happens_in_time(|| has_come(what))), "the record never held {from:?}");
    std::thread::sleep(wait);
    kill(home, lab);
}

impl KillCounts {
    fn check_record(&mut self, record: &Path) {
        self.kills += 1;
        let Ok(text) = fs::read(record) else { return };
        // A kill may cut the line that is being written, and no other.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        self.torn += usize::from(whole < text.len());
        match Record::read(record) {
            Ok(found) => {
                self.records += 1;
                let lines = std::str::from_utf8(&text[..whole]).unwrap();
                let written = lines.matches("\"line\":\"sample\"").count();
                let read: usize =
                    found.trials.iter().map(|it| it.samples.len() + it.search_samples.len()).sum();
                assert_eq!(read, written, "every sample that was written is read");
                self.samples += read;
            }
            Err(error) => panic!("a name means a record with a header: {error}"),
        }
    }
}

/// Checks that the next start names every remaining folder with the command that removes it, and
/// runs these commands.
fn clean_up(home: &Home, swept: &Path) {
    let said = home.readlab("race none");
    let doctor = home.readlab("doctor");
    for folder in paths_in(swept) {
        let remedy = format!("rm -r {}", folder.display());
        said.tells(&remedy);
        doctor.shows(&remedy);
        ProgramOutput::by(&mut home.shell(&remedy)).exits(0);
    }
    assert!(paths_in(swept).is_empty());
    assert!(!home.readlab("race none").err.contains("left by"), "what is gone is not told again");
    home.assert_no_temporary_file();
}

fn kill_runs(seed: u64) -> KillCounts {
    let home = Home::new();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    home.file("f", "line\n".repeat(1 << 16));
    let mut found = KillCounts::default();
    let race = "race f --runs 1000 --method rust/* -c 'wc -l {}' --output run";
    // The delay begins at the start, at the record, or at the first sample.
    let mut from = [None, Some("\"line\":\"header\""), Some("\"line\":\"sample\"")].into_iter().cycle();
    let mut next = || from.next().flatten();
    for _ in 0..RACES {
        kill_after(&home, race, Duration::from_millis(random.random_range(0..700)), next());
        found.check_record(&home.at("run/record.jsonl"));
        let _ = fs::remove_dir_all(home.at("run"));
    }
    let swept = home.folder("swept");
    let sweep = "sweep swept --sizes 10kB,1MB,4MB --repeat 3 --output run";
    for _ in 0..SWEEPS {
        // A sweep is short, so it is killed at any moment.
        kill_after(&home, sweep, Duration::from_millis(random.random_range(0..700)), None);
        found.check_record(&home.at("run/record.jsonl"));
        let _ = fs::remove_dir_all(home.at("run"));
    }
    eprintln!("{} folders of sweeps were left, and each was named", paths_in(&swept).len());
    clean_up(&home, &swept);
    found
}

mod ring2 {
    use super::*;

    #[test]
    fn a_hundred_kills_leave_no_process_and_lose_no_sample() {
        let found = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..HOMES).map(|seed| scope.spawn(move || kill_runs(seed))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let sum = |part: fn(&KillCounts) -> usize| found.iter().map(part).sum::<usize>();
        let (kills, records, samples, torn) =
            (sum(|it| it.kills), sum(|it| it.records), sum(|it| it.samples), sum(|it| it.torn));
        eprintln!("{kills} kills, {records} records, {samples} samples in them, {torn} lines torn");
        assert_eq!(kills, 100);
        assert!(records > 0 && samples > 0, "the kills came too early to tell anything");
    }
}
