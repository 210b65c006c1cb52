//! Rank 0 with more ranks than a machine can have: in place of the agent, a program reports for all
//! others what rank 0 reports.

use super::super::{Home, READLAB, Said};
use super::{path_of, words};
use readlab_record::{Outcome, Record};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const AGENT: &str = include_str!("agent_of_many.py");

/// What compiles the agent, as far as readlab knows.
const COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" != -o ] || out=$2; shift; done
[ -z "$out" ] || cp -p "$(dirname "$0")/agent" "$out"
"#;

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn race(home: &Home, ranks: u32, given: &[&str]) -> Said {
    let path = path_of(home, |bin| {
        program(&bin.join("mpicc"), COMPILER);
        program(&bin.join("agent"), AGENT);
    });
    let mut command = home.command(READLAB);
    command.env("PATH", path).env("OMPI_COMM_WORLD_SIZE", ranks.to_string());
    command.args(["fleet", "race"]).args(given);
    Said::by(&mut command)
}

#[test]
fn rank_0_leads_sixty_four_ranks_and_the_record_has_each() {
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: an agent of sixty-four ranks: no python3");
    }
    let home = Home::new();
    home.file("f", "a\n".repeat(1 << 16));
    let given = words(&["f", "--state", "cold"], &["--output", "run", "--export-json", "out.json"]);
    let said = race(&home, 64, &given);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.out.contains("fleet: 64 ranks on 1 host by no MPI"), "{said}");
    let record = Record::read(&home.at("run/record.jsonl")).unwrap();
    assert_eq!(record.targets[0].size_bytes, 64 << 17);
    for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
        let ranks: Vec<u32> = trial.fleet_turns[0].ranks.iter().map(|timing| timing.rank).collect();
        assert_eq!(ranks, (0..64).collect::<Vec<u32>>());
        assert!(trial.samples.iter().all(|it| it.answer.newlines.is_none_or(|found| found == 64 << 16)));
    }
    let page = fs::read_to_string(home.at("run/report.html")).unwrap();
    assert!(page.contains("how long each rank takes beside the others"), "the page has the map");
}
