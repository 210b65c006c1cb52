//! Ranks race together; whoever differs, lies or cannot begin is named.

use super::super::fake::{Fake, roster};
use super::super::{Home, READLAB, Said};
use super::{Flavour, MPICH, OPEN_MPI, agents, assert_ended, file_of_each, on_path, words};
use readlab_record::{Outcome, Record, Share};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn options_that_no_fleet_follows_are_refused_and_so_is_a_start_without_a_launcher() {
    let home = Home::new();
    home.file("f", "a\n");
    for (given, told) in [
        (&["f"][..], "no MPI launcher started this: use 'mpirun -n 2 readlab fleet race FILE', or srun"),
        (&["f", "f"], "a fleet reads one file, or one a rank with {rank} in its path"),
        (&["--share", "own", "f"], "--share own: f: there is no {rank} in the path"),
        (&["--http", "f"], "--http: a fleet reads files"),
        (
            &["--pattern", "random", "f"],
            "--pattern: the ranks of a fleet read whole files or parts, not places",
        ),
        (
            &["--resume", "last"],
            "no MPI launcher started this: use 'mpirun -n 2 readlab fleet race FILE', or srun",
        ),
    ] {
        let mut command = home.command(READLAB);
        for name in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"] {
            command.env_remove(name);
        }
        let said = Said::by(command.args(["fleet", "race"]).args(given));
        assert_eq!(said.refusal(), format!("readlab: {told}"));
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn ranks_race_together_and_the_record_has_every_turn_of_each() {
        for flavour in Flavour::all() {
            let home = Home::new();
            file_of_each(&home, 2);
            let said = flavour.race(&home, 2, &words(&["--share", "own", "f.{rank}"], &["--output", "run"]));
            assert!(said.out.contains("fleet: 2 ranks on 1 host by "), "{said}");
            assert!(said.out.contains("; each reads a file of its own; "), "{said}");
            let record = Record::read(&home.at("run/record.jsonl")).unwrap();
            assert_ended(&said, &record);
            let fleet = record.fleet.as_ref().unwrap();
            assert_eq!((fleet.share, fleet.ranks.len()), (Share::Own, 2));
            assert_ne!(fleet.ranks[0].cache, fleet.ranks[1].cache);
            assert_eq!(record.targets[0].size_bytes, 2 * (7 << 16), "bytes are those of both");
            for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
                let id = &trial.trial.id;
                assert_eq!(trial.fleet_turns.len(), trial.samples.len(), "{id}");
                for (turn, sample) in trial.fleet_turns.iter().zip(&trial.samples) {
                    assert_eq!((turn.ranks.len(), turn.job_ns()), (2, sample.wall_ns), "{id}");
                    assert!(turn.bound_ns() < 1_000_000_000, "{id}: {turn:?}");
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
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        file_of_each(&home, 1);
        let export = ["--output", "run", "--export-json", "out.json", "--export-markdown", "out.md"];
        let said = flavour.race(&home, 2, &words(&["f.0", "--state", "cold", "--hide-hosts"], &export));
        let told = "ranks 0, 1 share a page cache: in a cold turn each byte comes to their host once for all of them";
        assert!(said.out.contains(told), "{said}");
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        assert_ended(&said, &record);
        let read = record.trials.iter().find(|it| it.trial.method() == "read").unwrap();
        let fetched: Vec<u64> = read.samples.iter().filter_map(|it| it.device_read_bytes).collect();
        assert!(
            fetched.iter().all(|bytes| (450_000..1_300_000).contains(bytes)),
            "once or little more: {fetched:?}"
        );
        let json: Value = serde_json::from_slice(&fs::read(home.at("out.json")).unwrap()).unwrap();
        assert_eq!(json["fleet"]["ranks"][1]["host"], "host 1", "{}", json["fleet"]);
        assert!(json["fleet"]["turns"].as_array().is_some_and(|turns| turns.len() > 4));
        let page = fs::read_to_string(home.at("run/report.html")).unwrap();
        for text in [&page, &fs::read_to_string(home.at("run/record.jsonl")).unwrap()] {
            assert!(!text.contains("f.0"), "the name of the file is hidden: {said}");
        }
        assert!(page.contains("Ranks, and how long each takes") && page.contains("host 1"));
        assert!(fs::read_to_string(home.at("out.md")).unwrap().contains("- fleet: 2 ranks on 2 hosts"));
    }

    #[test]
    fn who_differs_or_cannot_begin_is_named_before_anything_is_measured() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        file_of_each(&home, 2);
        for (given, told) in
            [(&["--share", "own", "f.{rank}"][..], "readlab: rank 2: "), (&["f.{rank}"], "readlab: rank 2: ")]
        {
            let said = flavour.race(&home, 3, &words(given, &[]));
            assert_eq!(said.code, Some(2), "{said}");
            assert!(said.err.contains(told) && said.err.contains("f.2: no such file"), "{said}");
        }
        home.file("f.1", "other lines\n");
        let said = flavour.race(&home, 2, &words(&["f.{rank}"], &[]));
        assert_eq!(said.code, Some(2), "{said}");
        assert!(
            said.err.contains("(rank 1) differs from ") && said.err.contains("f.1 has 12 bytes"),
            "{said}"
        );
        assert!(home.runs().is_empty(), "nothing is left of a run that did not begin");
    }

    #[test]
    fn the_paths_of_ranks_come_from_a_list_and_one_too_few_ends_the_job() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        let content = "line\n".repeat(1 << 14);
        let files = ["here", "there"].map(|name| home.file(name, &content).display().to_string());
        home.file("list", files.join("\n"));
        let race =
            |ranks| flavour.race(&home, ranks, &words(&["@list", "--state", "warm"], &["--output", "run"]));
        let said = race(2);
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        assert_ended(&said, &record);
        let fleet = record.fleet.unwrap();
        assert_eq!(fleet.ranks.iter().map(|rank| rank.path.clone()).collect::<Vec<_>>(), files);
        fs::remove_dir_all(home.at("run")).unwrap();
        let said = race(3);
        assert_ne!(said.code, Some(0), "{said}");
        assert!(said.err.contains("list: it has 2 paths, and none for rank 2"), "{said}");
    }

    #[test]
    fn a_launcher_that_does_not_belong_to_the_agent_is_refused_by_every_rank() {
        let [Some(_), Some(_)] = [OPEN_MPI, MPICH].map(|it| on_path(it.compiler)) else {
            eprintln!("SKIPPED: a launcher of another MPI: only one is here");
            return;
        };
        let home = Home::new();
        home.file("f", "a\n");
        let mixed = Flavour { compiler: OPEN_MPI.compiler, ..MPICH };
        let said = mixed.race(&home, 2, &["f"]);
        assert_ne!(said.code, Some(0), "{said}");
        let told = "the launcher started 2 ranks (PMI_SIZE), and the agent, built with Open MPI";
        assert!(said.err.contains(told) && said.err.contains(", sees 1: build it with the mpicc"), "{said}");
    }

    #[test]
    fn a_contender_that_lies_on_one_rank_is_refused_with_its_host() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        home.file("f", "a\nb\n");
        let lie = r#"if [ $turns = 3 ] && [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ]; then
        say '{"say":"sample","wall_ns":1000,"newlines":7}'; say '{"say":"done","count":1}'; else answer; fi"#;
        let roster = roster(&home, &[Fake { name: "liar", turn: lie }]);
        let given = ["f", "--state", "cold", "--roster", &roster, "--method", "liar/read", "--output", "run"];
        let said = flavour.race(&home, 2, &words(&given, &[]));
        assert_eq!(said.code, Some(1), "{said}");
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        let liar = record.trials.iter().find(|it| it.trial.contender() == "liar").unwrap();
        let Some(Outcome::Refused { reason }) = &liar.outcome else { panic!("{:?}", liar.outcome) };
        assert!(reason.contains("(rank 1): it answered 7 newlines; right is "), "{reason}");
    }

    #[test]
    fn the_agent_is_built_by_its_name() {
        let home = Home::new();
        let without =
            Said::by(home.command(READLAB).args(["build", "fleet-agent"]).env("PATH", home.at("tmp")));
        assert_eq!(without.code, Some(1), "{without}");
        assert!(
            without.err.contains("it needs mpicc: not found; an MPI library with its compiler"),
            "{without}"
        );
        let doctor = Said::by(home.command(READLAB).arg("doctor").env("PATH", home.at("tmp")));
        assert!(doctor.out.contains("this host cannot be one of a fleet"), "{doctor}");
        assert!(doctor.out.contains("cannot be built: it needs mpicc: not found"), "{doctor}");
        let Some(flavour) = Flavour::any() else { return };
        // Prepares the home for this compiler.
        let path = flavour
            .command(&home, 1)
            .get_envs()
            .find(|(name, _)| *name == "PATH")
            .unwrap()
            .1
            .unwrap()
            .to_owned();
        let doctor = || Said::by(home.command(READLAB).arg("doctor").env("PATH", &path));
        assert!(doctor().out.contains("this host can be one of a fleet: readlab build fleet-agent"));
        let said = Said::by(home.command(READLAB).args(["build", "fleet-agent"]).env("PATH", &path));
        assert!(doctor().out.contains("this host can be one of a fleet\n"));
        assert_eq!(said.code, Some(0), "{said}");
        assert!(Path::new(said.out.trim()).is_file(), "{said}");
    }
}
