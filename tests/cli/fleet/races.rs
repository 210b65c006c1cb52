//! Tests of ranks that race together. A rank that differs, makes false claims or cannot begin is
//! named.

use super::{
    MPICH, Mpi, OPEN_MPI, RACE, SHORT, agents, assert_ended, device_bytes, home_for_ranks, read_trial,
};
use crate::fake::roster;
use crate::home::{Home, ProgramOutput, READLAB, items};
use crate::machine::{on_path, skip};
use readlab_record::{Outcome, ShareMode};
use std::path::{Path, PathBuf};

#[test]
fn unsupported_options_and_a_start_without_a_launcher_are_refused() {
    let home = Home::with_file("f", "a\n");
    let no_launcher = "no MPI launcher started this: use 'mpirun -n 2 readlab fleet race FILE', or srun";
    for (given, told) in [
        (&["f"][..], no_launcher),
        (&["f", "f"], "a fleet reads one file, or one a rank with {rank} in its path"),
        (&["--share", "own", "f"], "--share own: f: there is no {rank} in the path"),
        (&["--http", "f"], "--http: a fleet reads files"),
        (
            &["--pattern", "random", "f"],
            "--pattern: the ranks of a fleet read whole files or parts, not places",
        ),
        (&["--resume", "last"], no_launcher),
    ] {
        let mut command = home.command(READLAB);
        for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"] {
            command.env_remove(name);
        }
        let said = ProgramOutput::by(command.args(["fleet", "race"]).args(given));
        assert_eq!(said.refusal(), format!("readlab: {told}"));
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn ranks_race_together_and_the_record_has_every_turn_of_each() {
        for flavour in Mpi::all() {
            let home = home_for_ranks(2);
            let said = flavour.fleet(&home, 2, &format!("race --share own f.{{rank}} {RACE} {SHORT}"));
            said.shows("fleet: 2 ranks on 1 host by ").shows("; each reads a file of its own; ");
            let record = home.record("run");
            assert_ended(&said, &record);
            let fleet = record.fleet.as_ref().unwrap();
            assert_eq!((fleet.share, fleet.ranks.len()), (ShareMode::Own, 2));
            assert_ne!(fleet.ranks[0].page_cache_number, fleet.ranks[1].page_cache_number);
            assert_eq!(record.targets.first().unwrap().size_bytes, 2 * (7 << 16), "bytes are those of both");
            for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
                let id = &trial.trial.id;
                assert_eq!(trial.fleet_turns.len(), trial.samples.len(), "{id}");
                for (turn, sample) in trial.fleet_turns.iter().zip(&trial.samples) {
                    assert_eq!((turn.ranks.len(), turn.job_ns()), (2, sample.wall_ns), "{id}");
                    assert!(turn.error_bound_ns() < 1_000_000_000, "{id}: {turn:?}");
                    let newlines = sample.answer.newlines;
                    assert!(newlines.is_none_or(|count| count == 2 << 16), "{id}: {newlines:?}");
                }
            }
            assert!(record.clocks.iter().all(|(_, ranks)| ranks.len() == 2), "{:?}", record.clocks);
            assert_eq!(agents(&home), Vec::<PathBuf>::new());
        }
    }

    #[test]
    fn ranks_that_share_a_page_cache_are_proven_together_and_a_page_has_the_hosts() {
        let Some(flavour) = Mpi::any() else { return };
        let home = home_for_ranks(1);
        let exports = "--export-json out.json --export-markdown out.md";
        let words = format!("race f.0 --state cold --hide-hosts {RACE} {SHORT} {exports}");
        let said = flavour.fleet(&home, 2, &words);
        said.shows("ranks 0, 1 share a page cache: in a cold turn each byte comes to their host once for all of them");
        let record = home.record("run");
        assert_ended(&said, &record);
        let fetched = device_bytes(read_trial(&record));
        // The bytes are fetched once, or a little more.
        assert!(fetched.iter().all(|bytes| (450_000..1_300_000).contains(bytes)), "{fetched:?}");
        let json = home.json("out.json");
        assert_eq!(json["fleet"]["ranks"][1]["host"], "host 1", "{}", json["fleet"]);
        assert!(items(&json["fleet"]["turns"]).len() > 4);
        let page = home.read("run/report.html");
        for text in [&page, &home.read("run/record.jsonl")] {
            assert!(!text.contains("f.0"), "the name of the file is hidden: {said}");
        }
        assert!(page.contains("Ranks, and how long each takes") && page.contains("host 1"));
        assert!(home.read("out.md").contains("- fleet: 2 ranks on 2 hosts"));
    }

    #[test]
    fn hidden_names_are_in_no_reason_of_a_record() {
        let Some(flavour) = Mpi::any() else { return };
        let home = home_for_ranks(2);
        let tear = r#"say '{"say":"failed","reason":"'"$target"' is torn"}'; exit 1"#;
        let roster = roster(&home, &[("torn", tear)]);
        let words = format!("race --share own f.{{rank}} --hide-hosts --roster {roster} --method torn/read");
        flavour.fleet(&home, 2, &format!("{words} {RACE} {SHORT}")).exits(1);
        let record = home.record("run");
        let torn = record.trials.iter().find(|it| it.trial.contender() == "torn").unwrap();
        let reason = torn.outcome.as_ref().and_then(Outcome::reason).unwrap();
        assert!(reason.starts_with("host 0 (rank 0): ") && reason.contains("file 0 is torn"), "{reason}");
        let text = home.read("run/record.jsonl");
        for rank in 0..2 {
            assert!(!text.contains(&format!("f.{rank}")), "the name of the file is hidden: {text}");
        }
    }

    #[test]
    fn a_rank_that_differs_or_cannot_begin_is_named_before_anything_is_measured() {
        let Some(flavour) = Mpi::any() else { return };
        let home = home_for_ranks(2);
        let race = |ranks, words: &str| {
            flavour.fleet(&home, ranks, &format!("race {words} {RACE} --runs 4")).exits(2)
        };
        for given in ["--share own f.{rank}", "f.{rank}"] {
            race(3, given).tells("readlab: rank 2: ").tells("f.2: no such file");
        }
        home.file("f.1", "other lines\n");
        race(2, "f.{rank}").tells("(rank 1) differs from ").tells("f.1 has 12 bytes");
        assert!(home.runs().is_empty(), "nothing is left of a run that did not begin");
    }

    #[test]
    fn a_record_that_cannot_be_named_is_removed_and_nothing_is_measured() {
        let Some(flavour) = Mpi::any() else { return };
        let home = home_for_ranks(2);
        home.file(".local/share/readlab/names", "a file where names are kept\n");
        let words = format!("race --share own f.{{rank}} {RACE} --runs 4 --save x");
        let said = flavour.fleet(&home, 2, &words);
        assert_ne!(said.code, Some(0), "{said}");
        said.tells("readlab/names: ");
        assert!(home.runs().is_empty(), "{:?}", home.runs());
    }

    #[test]
    fn a_launcher_that_does_not_belong_to_the_agent_is_refused_by_every_rank() {
        let [Some(_), Some(_)] = [OPEN_MPI, MPICH].map(|it| on_path(it.compiler)) else {
            return skip("a launcher of another MPI: only one is here");
        };
        let home = Home::with_file("f", "a\n");
        let mixed = Mpi { compiler: OPEN_MPI.compiler, ..MPICH };
        let said = mixed.fleet(&home, 2, "race f");
        assert_ne!(said.code, Some(0), "{said}");
        said.tells("the launcher started 2 ranks (PMI_SIZE), and the agent, built with Open MPI");
        said.tells(", sees 1: build it with the mpicc");
    }

    #[test]
    fn a_contender_that_lies_on_one_rank_is_refused_with_its_host() {
        let Some(flavour) = Mpi::any() else { return };
        let home = Home::with_file("f", "a\nb\n");
        let lie = r#"if [ $turns = 3 ] && [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ]; then
        say '{"say":"sample","wall_ns":1000,"newlines":7}'; say '{"say":"done","count":1}'; else answer; fi"#;
        let roster = roster(&home, &[("liar", lie)]);
        let words = format!("race f --state cold --roster {roster} --method liar/read {RACE} {SHORT}");
        flavour.fleet(&home, 2, &words).exits(1);
        let record = home.record("run");
        let liar = record.trials.iter().find(|it| it.trial.contender() == "liar").unwrap();
        let Some(Outcome::Refused { reason }) = &liar.outcome else { panic!("{:?}", liar.outcome) };
        assert!(reason.contains("(rank 1): it answered 7 newlines; right is "), "{reason}");
    }

    #[test]
    fn the_agent_is_built_by_its_name() {
        let home = Home::new();
        let with_path = |path: &Path, words: &[&str]| {
            ProgramOutput::by(home.command(READLAB).args(words).env("PATH", path))
        };
        let build = ["build", "fleet-agent"];
        let without = with_path(&home.at("tmp"), &build).exits(1);
        without.tells("it needs mpicc: not found; an MPI library with its compiler");
        let doctor = with_path(&home.at("tmp"), &["doctor"]);
        doctor.shows("this host cannot be one of a fleet");
        doctor.shows("cannot be built: it needs mpicc: not found");
        let Some(flavour) = Mpi::any() else { return };
        // Prepares the home for this compiler.
        let launcher = flavour.command(&home, 1);
        let mut environment = launcher.get_envs();
        let path = Path::new(environment.find(|(name, _)| *name == "PATH").unwrap().1.unwrap());
        with_path(path, &["doctor"]).shows("this host can be one of a fleet: readlab build fleet-agent");
        let said = with_path(path, &build);
        with_path(path, &["doctor"]).shows("this host can be one of a fleet\n");
        let said = said.exits(0);
        assert!(Path::new(said.out.trim()).is_file(), "{said}");
    }
}
