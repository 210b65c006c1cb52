//! A fleet that loses a rank or is interrupted: its job is over, its record readable, nothing is left;
//! and `readlab fleet race --resume`: it goes on, with the same ranks on the same hosts.

use super::{Flavour, RACE, agents, assert_ended, home_of, write_file_of};
use crate::home::{Home, READLAB, Said, Words};
use crate::processes::{send, soon};
use readlab_record::{EndReason, Record};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};

/// More readings than a fleet ever takes.
const FOR_LONG: u32 = 100_000;

/// Starts a fleet of two that would take so many readings of each trial, and kills its second rank,
/// or interrupts its launcher, when it has a turn.
fn disturbed(runs: u32, kills_rank: bool) -> Option<(Home, Record)> {
    let flavour = Flavour::any()?;
    let home = home_of(2);
    let words =
        format!("fleet race --share own f.{{rank}} {RACE} --runs {runs} --output run --quiet --budget 20m");
    let mut command = flavour.command(&home, 2);
    let mut launcher = command.arg(READLAB).args(words.words()).spawn().unwrap();
    let record = home.at("run/record.jsonl");
    if !soon(|| is_under_way(&record)) {
        launcher.kill().unwrap();
        let said = Said::from(launcher.wait_with_output().unwrap());
        panic!("no turn was ever taken: {said}, {:?}", fs::read_to_string(&record));
    }
    if kills_rank {
        send(rank(&home, 1), Signal::KILL);
    } else {
        send(launcher.id(), Signal::INT);
    }
    let ended = soon(|| launcher.try_wait().unwrap().is_some());
    assert!(ended, "the job is over soon");
    assert!(soon(|| agents(&home).is_empty()), "no agent is left");
    let record = home.record("run");
    Some((home, record))
}

/// Whether a turn was taken. On a busy machine the first ones may be rejected for a late start.
fn is_under_way(record: &Path) -> bool {
    let text = fs::read_to_string(record).unwrap_or_default();
    ["fleet_turn", "rejected"].iter().any(|line| text.contains(&format!("\"line\":\"{line}\"")))
}

/// The process of the rank of this number: the parent of its agent.
fn rank(home: &Home, number: u32) -> u32 {
    let given = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={number}"));
    let is_its = |agent: &&PathBuf| {
        let environment = fs::read(agent.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| given.iter().any(|given| given.as_bytes() == it))
    };
    let agents = agents(home);
    let agent = agents.iter().find(is_its).expect("its agent is running");
    let status = fs::read_to_string(agent.join("status")).unwrap();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
    parent.trim().parse().unwrap()
}

/// Readings of each trial, of which most are left when a rank is killed.
const RUNS: u32 = 40;

/// The same record again, by so many ranks.
fn resumed(home: &Home, ranks: u32) -> Said {
    Flavour::any().unwrap().fleet(home, ranks, "race --resume run/record.jsonl --quiet")
}

mod ring2 {
    use super::*;

    #[test]
    fn a_launcher_that_is_interrupted_keeps_what_was_measured() {
        let Some((_, record)) = disturbed(FOR_LONG, false) else { return };
        assert!(record.trials.iter().any(|it| !it.samples.is_empty() || !it.rejected.is_empty()));
    }

    #[test]
    fn a_rank_that_is_killed_ends_the_job_and_the_run_goes_on_with_the_same_ranks_and_files() {
        let Some((home, before)) = disturbed(RUNS, true) else { return };
        assert!(!before.trials.is_empty());
        let end = before.end.map(|(reason, _)| reason);
        let known = [None, Some(EndReason::Interrupted), Some(EndReason::RankLost)];
        assert!(known.contains(&end), "it is no whole run: {end:?}");
        let text = home.read("run/record.jsonl");

        let alone = home.readlab("race --resume run/record.jsonl").exits(2);
        alone.tells("it is of a fleet: start `readlab fleet race --resume`");
        resumed(&home, 3).exits(2).tells("rank 2: it had 2 ranks");
        let why = "it had 2 ranks that read, and the launcher started 1: begin anew";
        resumed(&home, 1).exits(2).tells(why);
        home.file("f.1", "other bytes\n".repeat(1 << 16));
        resumed(&home, 2).exits(2).tells("rank 1: ").tells("begin anew");
        assert_eq!(home.read("run/record.jsonl"), text, "nothing was written");

        // The file of rank 0 is written anew, too.
        (0..2).for_each(|rank| write_file_of(&home, rank));
        resumed(&home, 2).tells("begin anew");
    }

    #[test]
    fn a_run_that_was_resumed_reads_as_often_as_was_planned() {
        let Some((home, before)) = disturbed(RUNS, true) else { return };
        let said = resumed(&home, 2);
        let after = home.record("run");
        assert_ended(&said, &after);
        assert_eq!((after.resumed.len(), &after.fleet), (1, &before.fleet));
        let read = |record: &Record| {
            let trials = record.trials.iter().filter(|it| it.trial.method() == "read" && it.is_accepted());
            trials.map(|it| it.samples.len()).collect::<Vec<_>>()
        };
        assert!(read(&after).iter().all(|samples| *samples == RUNS as usize), "{:?}: {said}", read(&after));
        assert!(read(&before).iter().sum::<usize>() < read(&after).iter().sum());
        resumed(&home, 2).tells("nothing is left to do");
    }

    #[test]
    fn a_record_of_one_process_is_no_fleets() {
        let Some(flavour) = Flavour::any() else { return };
        let home = home_of(1);
        let said = home.readlab("race f.0 --runs 1 --budget 1s --output run --quiet");
        assert!(home.at("run/record.jsonl").exists(), "{said}");
        flavour.fleet(&home, 2, "race --resume run/record.jsonl --quiet").exits(2);
    }
}
