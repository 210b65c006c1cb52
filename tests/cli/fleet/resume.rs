//! Tests of a fleet that loses a rank or is interrupted: the job ends, its record is readable, and
//! no process is left. Also tests `readlab fleet race --resume`, which continues with the same
//! ranks on the same hosts.

use super::{Mpi, RACE, agents, assert_ended, home_for_ranks, write_file_of};
use crate::home::{Home, ProgramOutput, READLAB, Words};
use crate::processes::{happens_in_time, send};
use readlab_record::{EndReason, Record};
use rustix::process::Signal;
use std::fs;
use std::path::{Path, PathBuf};

/// More readings than a fleet ever takes.
const ENDLESS_RUNS: u32 = 100_000;

/// What ends a fleet's run early.
#[derive(Debug, Clone, Copy)]
enum Disturbance {
    KilledRank,
    /// A rank that hangs, because it is stopped.
    StoppedRank,
    InterruptedLauncher,
}

/// Starts a fleet of two with this number of readings of each trial, and disturbs it when it has a
/// turn.
fn start_and_disturb(runs: u32, disturbance: Disturbance) -> Option<(Home, Record)> {
    let flavour = Mpi::any()?;
    let home = home_for_ranks(2);
    let words =
        format!("fleet race --share own f.{{rank}} {RACE} --runs {runs} --output run --quiet --budget 20m");
    let mut command = flavour.command(&home, 2);
    let mut launcher = command.arg(READLAB).args(words.words()).spawn().unwrap();
    let record = home.at("run/record.jsonl");
    if !happens_in_time(|| is_under_way(&record)) {
        launcher.kill().unwrap();
        let said = ProgramOutput::from(launcher.wait_with_output().unwrap());
        panic!("no turn was ever taken: {said}, {:?}", fs::read_to_string(&record));
    }
    match disturbance {
        Disturbance::KilledRank => send(process_of_rank(&home, 1), Signal::KILL),
        Disturbance::StoppedRank => send(process_of_rank(&home, 1), Signal::STOP),
        Disturbance::InterruptedLauncher => send(launcher.id(), Signal::INT),
    }
    let ended = happens_in_time(|| launcher.try_wait().unwrap().is_some());
    assert!(ended, "the job is over soon");
    assert!(happens_in_time(|| agents(&home).is_empty()), "no agent is left");
    let record = home.record("run");
    Some((home, record))
}

/// Whether a turn was taken. On a busy machine the first turns may be rejected for a late start.
fn is_under_way(record: &Path) -> bool {
    let text = fs::read_to_string(record).unwrap_or_default();
    ["fleet_turn", "rejected"].iter().any(|line| text.contains(&format!("\"line\":\"{line}\"")))
}

/// The process of the rank with this number, which is the parent of its agent.
fn process_of_rank(home: &Home, number: u32) -> u32 {
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

/// Readings of each trial. Most are still missing when a rank is killed.
const RUNS: u32 = 40;

fn resume_with_ranks(home: &Home, ranks: u32) -> ProgramOutput {
    Mpi::any().unwrap().fleet(home, ranks, "race --resume run/record.jsonl --quiet")
}

mod ring2 {
    use super::*;

    #[test]
    fn an_interrupted_launcher_keeps_the_samples() {
        let Some((_, record)) = start_and_disturb(ENDLESS_RUNS, Disturbance::InterruptedLauncher) else {
            return;
        };
        assert!(record.trials.iter().any(|it| !it.samples.is_empty() || !it.rejected_readings.is_empty()));
    }

    #[test]
    fn a_rank_that_is_killed_ends_the_job_and_the_run_goes_on_with_the_same_ranks_and_files() {
        let Some((home, before)) = start_and_disturb(RUNS, Disturbance::KilledRank) else { return };
        assert!(!before.trials.is_empty());
        let end = before.end.map(|(reason, _)| reason);
        let known = [None, Some(EndReason::Interrupted), Some(EndReason::RankLost)];
        assert!(known.contains(&end), "it is no whole run: {end:?}");
        let text = home.read("run/record.jsonl");

        let alone = home.readlab("race --resume run/record.jsonl").exits(2);
        alone.tells("it is of a fleet: start `readlab fleet race --resume`");
        resume_with_ranks(&home, 3).exits(2).tells("rank 2: it had 2 ranks");
        let why = "it had 2 ranks that read, and the launcher started 1: begin anew";
        resume_with_ranks(&home, 1).exits(2).tells(why);
        home.file("f.1", "other bytes\n".repeat(1 << 16));
        resume_with_ranks(&home, 2).exits(2).tells("rank 1: ").tells("begin anew");
        assert_eq!(home.read("run/record.jsonl"), text, "nothing was written");

        // The file of rank 0 is written anew, too.
        (0..2).for_each(|rank| write_file_of(&home, rank));
        resume_with_ranks(&home, 2).tells("begin anew");
    }

    #[test]
    fn a_run_that_was_resumed_reads_as_often_as_was_planned() {
        for disturbance in [Disturbance::KilledRank, Disturbance::StoppedRank] {
            let Some((home, before)) = start_and_disturb(RUNS, disturbance) else { return };
            let said = resume_with_ranks(&home, 2);
            let after = home.record("run");
            assert_ended(&said, &after);
            assert_eq!((after.resumptions.len(), &after.fleet), (1, &before.fleet));
            let read = |record: &Record| {
                let trials =
                    record.trials.iter().filter(|it| it.trial.method() == "read" && it.is_accepted());
                trials.map(|it| it.samples.len()).collect::<Vec<_>>()
            };
            let all = read(&after);
            assert!(
                all.iter().all(|samples| *samples == RUNS as usize),
                "{disturbance:?}, {:?}: {all:?}: {said}",
                before.end
            );
            assert!(read(&before).iter().sum::<usize>() < all.iter().sum());
            resume_with_ranks(&home, 2).tells("nothing is left to do");
        }
    }

    #[test]
    fn a_record_of_one_process_cannot_be_resumed_by_a_fleet() {
        let Some(flavour) = Mpi::any() else { return };
        let home = home_for_ranks(1);
        let said = home.readlab("race f.0 --runs 1 --budget 1s --output run --quiet");
        assert!(home.at("run/record.jsonl").exists(), "{said}");
        flavour.fleet(&home, 2, "race --resume run/record.jsonl --quiet").exits(2);
    }
}
