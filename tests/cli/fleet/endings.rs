//! A fleet that is killed or interrupted: its job is over, its record readable, nothing is left.

use super::super::interrupt::soon;
use super::super::{Home, READLAB};
use super::{Flavour, agents, file_of_each, words};
use readlab_record::{EndReason, Record};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// More readings than a fleet ever takes.
const FOR_LONG: &str = "100000";

/// Starts a fleet of two that would take so many readings of each trial, and does something to it
/// when it has a turn.
pub(super) fn disturbed(
    runs: &str,
    deed: impl FnOnce(&mut std::process::Child, &Home),
) -> Option<(Home, Record)> {
    let flavour = Flavour::any()?;
    let home = Home::new();
    file_of_each(&home, 2);
    let mut given = words(&["--share", "own", "f.{rank}"], &["--output", "run", "--quiet"]);
    given.extend(["--budget", "20m"]);
    let place = given.iter().position(|word| *word == "4").unwrap();
    given[place] = runs;
    let mut command = flavour.command(&home, 2);
    let mut launcher = command.arg(READLAB).args(["fleet", "race"]).args(given).spawn().unwrap();
    let record = home.at("run/record.jsonl");
    if !soon(|| is_under_way(&record)) {
        launcher.kill().unwrap();
        let said = launcher.wait_with_output().unwrap();
        panic!("no turn was ever taken: {said:?}, {:?}", fs::read_to_string(&record));
    }
    deed(&mut launcher, &home);
    let ended = soon(|| launcher.try_wait().unwrap().is_some());
    assert!(ended, "the job is over soon");
    assert!(soon(|| agents(&home).is_empty()), "no agent is left");
    Some((home, Record::read(&record).unwrap()))
}

/// Whether a turn was taken. On a busy machine the first ones may be rejected for a late start.
fn is_under_way(record: &Path) -> bool {
    let text = fs::read_to_string(record).unwrap_or_default();
    ["fleet_turn", "rejected"].iter().any(|line| text.contains(&format!("\"line\":\"{line}\"")))
}

/// The process of the rank of this number: the parent of its agent.
pub(super) fn rank(home: &Home, number: u32) -> u32 {
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

pub(super) fn send(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

mod ring2 {
    use super::*;

    #[test]
    fn a_rank_that_is_killed_ends_the_job_and_the_record_stays_readable() {
        let killed = disturbed(FOR_LONG, |_, home| send("-9", rank(home, 1)));
        let Some((_, record)) = killed else { return };
        assert!(!record.trials.is_empty());
        let end = record.end.map(|(reason, _)| reason);
        let known = [None, Some(EndReason::Interrupted), Some(EndReason::RankLost)];
        assert!(known.contains(&end), "it is no whole run: {end:?}");
    }

    #[test]
    fn a_launcher_that_is_interrupted_keeps_what_was_measured() {
        let stopped = disturbed(FOR_LONG, |launcher, _| send("-INT", launcher.id()));
        let Some((_, record)) = stopped else { return };
        assert!(record.trials.iter().any(|it| !it.samples.is_empty() || !it.rejected.is_empty()));
    }
}
