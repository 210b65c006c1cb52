//! Tests of SIGKILL of the lab at any moment: no process is left, all written lines of the record
//! are complete, and the next start names the remaining files with the command that removes them.

use super::fake::{Fake, roster};
use super::interrupt::soon;
use super::{Home, READLAB, Said};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use readlab_record::Record;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills of races and of sweeps in each of the homes that work at the same time.
const HOMES: u64 = 4;
const RACES: usize = 15;
const SWEEPS: usize = 10;

/// Time until all processes of a killed lab must have ended; long, because machines may be busy.
const LINGER: Duration = Duration::from_secs(30);

/// What was found over all kills.
#[derive(Default)]
struct Found {
    kills: usize,
    records: usize,
    samples: usize,
    torn: usize,
}

/// The processes that were given this home, by its path in their environment.
fn processes_of(home: &Path) -> Vec<u32> {
    let home = home.as_os_str().as_bytes();
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_of = |pid: &u32| {
        // One that has ended and was not reaped has no environment any more.
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environ| environ.windows(home.len()).any(|window| window == home))
    };
    pids.filter(is_of).collect()
}

pub(super) fn start(home: &Home, words: &[&str]) -> Child {
    let mut command = Command::new(READLAB);
    command.args(words).envs(home.environment()).current_dir(home.at(""));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Starts a lab, kills it after a delay, and checks which processes remain. If a text is given, the
/// delay begins when the record has it: on a busy machine that may take long.
fn kill_after(home: &Home, words: &[&str], wait: Duration, from: Option<&str>) {
    let lab = start(home, words);
    let record = home.at("run/record.jsonl");
    let has_come = |what: &str| fs::read_to_string(&record).is_ok_and(|text| text.contains(what));
    assert!(from.is_none_or(|what| soon(|| has_come(what))), "the record never held {from:?}");
    std::thread::sleep(wait);
    kill(home, lab);
}

/// Kills a lab, and waits until all its processes have ended.
pub(super) fn kill(home: &Home, mut lab: Child) {
    lab.kill().unwrap();
    let killed = Instant::now();
    lab.wait().unwrap();
    let path = home.at("");
    while !processes_of(&path).is_empty() {
        assert!(killed.elapsed() < LINGER, "{:?} outlived the lab", processes_of(&path));
        std::thread::sleep(Duration::from_millis(10));
    }
}

impl Found {
    /// Checks the record of a killed lab, if there is one.
    fn look(&mut self, record: &Path) {
        self.kills += 1;
        let Ok(text) = fs::read(record) else { return };
        // A kill may tear the line that is being written, and no other.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        self.torn += usize::from(whole < text.len());
        match Record::read(record) {
            Ok(found) => {
                self.records += 1;
                let lines = std::str::from_utf8(&text[..whole]).unwrap();
                let written = lines.matches("\"line\":\"sample\"").count();
                let read: usize = found.trials.iter().map(|it| it.samples.len() + it.searched.len()).sum();
                assert_eq!(read, written, "every sample that was written is read");
                self.samples += read;
            }
            Err(error) => panic!("a name means a record with a header: {error}"),
        }
    }
}

/// Folders that sweeps left in a folder.
fn left(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// That the next start names every folder that is left, with the command that removes it; and
/// removes them by it.
fn clean_up(home: &Home, swept: &Path) {
    let folders = left(swept);
    let said = home.readlab(["race", "none"]);
    let doctor = home.readlab(["doctor"]);
    for folder in &folders {
        let remedy = format!("rm -r {}", folder.display());
        assert!(said.err.contains(&remedy), "{remedy}: {said}");
        assert!(doctor.out.contains(&remedy), "{remedy}: {doctor}");
        assert!(Said::by(home.command("sh").args(["-c", &remedy])).code == Some(0));
    }
    assert!(left(swept).is_empty());
    assert!(!home.readlab(["race", "none"]).err.contains("left by"), "what is gone is not told again");
    assert_eq!(fs::read_dir(home.temporary()).unwrap().count(), 0, "temporary files were left");
}

fn killings(seed: u64) -> Found {
    let home = Home::new();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let file = home.file("f", "line\n".repeat(1 << 16));
    let (file, mut found) = (file.to_str().unwrap().to_owned(), Found::default());
    let race = ["race", &file, "--runs", "1000", "--method", "rust/*", "-c", "wc -l {}", "--output", "run"];
    // From the very start, from a record on, and from a sample on.
    let mut from = [None, Some("\"line\":\"header\""), Some("\"line\":\"sample\"")].into_iter().cycle();
    let mut next = || from.next().flatten();
    for _ in 0..RACES {
        kill_after(&home, &race, Duration::from_millis(random.random_range(0..700)), next());
        found.look(&home.at("run/record.jsonl"));
        let _ = fs::remove_dir_all(home.at("run"));
    }
    let swept = home.at("swept");
    fs::create_dir(&swept).unwrap();
    let sweep = ["sweep", "swept", "--sizes", "10kB,1MB,4MB", "--repeat", "3", "--output", "run"];
    for _ in 0..SWEEPS {
        // A sweep is short: it is killed at any moment.
        kill_after(&home, &sweep, Duration::from_millis(random.random_range(0..700)), None);
        found.look(&home.at("run/record.jsonl"));
        let _ = fs::remove_dir_all(home.at("run"));
    }
    eprintln!("{} folders of sweeps were left, and each was named", left(&swept).len());
    clean_up(&home, &swept);
    found
}

#[test]
fn a_process_that_ignores_the_end_of_the_lab_ends_with_it() {
    let home = Home::new();
    let file = home.file("f", "a\nb\n");
    let roster = roster(&home, &[Fake { name: "deaf", turn: "touch deaf; exec sleep 1000" }]);
    let words = ["race", file.to_str().unwrap(), "--roster", &roster, "--method", "deaf/read"];
    let lab = start(&home, &words);
    assert!(soon(|| home.at("deaf").exists()), "it had no turn");
    kill(&home, lab);
}

mod ring2 {
    use super::*;

    #[test]
    fn a_hundred_kills_leave_no_process_and_lose_no_sample() {
        let found = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..HOMES).map(|seed| scope.spawn(move || killings(seed))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let sum = |part: fn(&Found) -> usize| found.iter().map(part).sum::<usize>();
        let (kills, records, samples, torn) =
            (sum(|it| it.kills), sum(|it| it.records), sum(|it| it.samples), sum(|it| it.torn));
        eprintln!("{kills} kills, {records} records, {samples} samples in them, {torn} lines torn");
        assert_eq!(kills, 100);
        assert!(records > 0 && samples > 0, "the kills came too early to tell anything");
    }
}
