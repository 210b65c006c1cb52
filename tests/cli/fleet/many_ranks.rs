//! Tests rank 0 with more ranks than a machine can run. In place of the agent, a program reports
//! for all other ranks what rank 0 reports.

use super::{RACE, SHORT, path_of};
use crate::home::{Home, ProgramOutput, READLAB, Words};
use crate::machine::succeeds_or_skip;
use readlab_record::Outcome;

const AGENT_OF_MANY_RANKS: &str = include_str!("agent_of_many.py");

/// A compiler of the agent, as far as readlab knows.
const COMPILER: &str = r#"#!/bin/sh
while [ $# -gt 1 ]; do [ "$1" != -o ] || out=$2; shift; done
[ -z "$out" ] || cp -p "$(dirname "$0")/agent" "$out"
"#;

#[test]
fn rank_0_leads_sixty_four_ranks_and_the_record_has_each() {
    if !succeeds_or_skip("python3 --version") {
        return;
    }
    let home = Home::with_file("f", "a\n".repeat(1 << 16));
    let path = path_of(&home, |bin| {
        home.program(bin.join("mpicc"), COMPILER);
        home.program(bin.join("agent"), AGENT_OF_MANY_RANKS);
    });
    let mut command = home.command(READLAB);
    command.env("PATH", path).env("OMPI_COMM_WORLD_SIZE", "64");
    let words = format!("fleet race f --state cold {RACE} {SHORT} --export-json out.json");
    let said = ProgramOutput::by(command.args(words.words())).exits(0);
    said.shows("fleet: 64 ranks on 1 host by no MPI");
    let record = home.record("run");
    assert_eq!(record.targets.first().unwrap().size_bytes, 64 << 17);
    for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
        let ranks: Vec<u32> = trial.fleet_turns[0].ranks.iter().map(|timing| timing.rank).collect();
        assert_eq!(ranks, (0..64).collect::<Vec<u32>>());
        assert!(trial.samples.iter().all(|it| it.answer.newlines.is_none_or(|found| found == 64 << 16)));
    }
    let page = home.read("run/report.html");
    assert!(page.contains("how long each rank takes beside the others"), "the page has the map");
}
