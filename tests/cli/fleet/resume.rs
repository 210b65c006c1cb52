//! Tests of `readlab fleet race --resume`: a run that lost a rank goes on, with the same ranks on
//! the same hosts.

use super::super::Said;
use super::endings::{disturbed, rank, send};
use super::{Flavour, Home, file_of_each};
use readlab_record::{EndReason, Record};
use std::fs;

/// Readings of each trial, of which most are left when a rank is killed.
const RUNS: &str = "40";

/// The same record again, by so many ranks.
fn resumed(home: &Home, ranks: u32) -> Said {
    Flavour::any().unwrap().race(home, ranks, &["--resume", "run/record.jsonl", "--quiet"])
}

fn read(home: &Home) -> Record {
    Record::read(&home.at("run/record.jsonl")).unwrap()
}

mod ring2 {
    use super::*;

    #[test]
    fn a_run_that_lost_a_rank_goes_on_with_the_same_ranks_and_files() {
        let killed = disturbed(RUNS, |_, home| send("-9", rank(home, 1)));
        let Some((home, before)) = killed else { return };
        assert_ne!(before.end.map(|(reason, _)| reason), Some(EndReason::Settled), "it was cut short");
        let text = fs::read_to_string(home.at("run/record.jsonl")).unwrap();

        let alone = home.readlab(["race", "--resume", "run/record.jsonl"]);
        assert_eq!(alone.code, Some(2), "{alone}");
        assert!(alone.err.contains("it is of a fleet: start `readlab fleet race --resume`"), "{alone}");
        let other = resumed(&home, 3);
        assert_eq!(other.code, Some(2), "{other}");
        assert!(other.err.contains("rank 2: it had 2 ranks"), "{other}");
        let fewer = resumed(&home, 1);
        assert_eq!(fewer.code, Some(2), "{fewer}");
        let why = "it had 2 ranks that read, and the launcher started 1: begin anew";
        assert!(fewer.err.contains(why), "{fewer}");
        home.file("f.1", "other bytes\n".repeat(1 << 16));
        let changed = resumed(&home, 2);
        assert_eq!(changed.code, Some(2), "{changed}");
        assert!(changed.err.contains("rank 1: ") && changed.err.contains("begin anew"), "{changed}");
        assert_eq!(fs::read_to_string(home.at("run/record.jsonl")).unwrap(), text, "nothing was written");

        file_of_each(&home, 2);
        let goes_on = resumed(&home, 2);
        assert!(goes_on.err.contains("begin anew"), "rank 0's file was written anew: {goes_on}");
    }

    #[test]
    fn a_run_that_was_resumed_reads_as_often_as_was_planned() {
        let killed = disturbed(RUNS, |_, home| send("-9", rank(home, 1)));
        let Some((home, before)) = killed else { return };
        let said = resumed(&home, 2);
        let after = read(&home);
        super::super::assert_ended(&said, &after);
        assert_eq!((after.resumed.len(), &after.fleet), (1, &before.fleet));
        let read = |record: &Record| {
            let trials = record.trials.iter().filter(|it| it.trial.method() == "read" && it.is_accepted());
            trials.map(|it| it.samples.len()).collect::<Vec<_>>()
        };
        assert!(read(&after).iter().all(|samples| samples.to_string() == RUNS), "{:?}: {said}", read(&after));
        assert!(read(&before).iter().sum::<usize>() < read(&after).iter().sum());
        let again = resumed(&home, 2);
        assert!(again.err.contains("nothing is left to do"), "{again}");
    }

    #[test]
    fn a_record_of_one_process_is_no_fleets() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        file_of_each(&home, 1);
        let said =
            home.readlab(["race", "f.0", "--runs", "1", "--budget", "1s", "--output", "run", "--quiet"]);
        assert!(home.at("run/record.jsonl").exists(), "{said}");
        let said = flavour.race(&home, 2, &["--resume", "run/record.jsonl", "--quiet"]);
        assert_eq!(said.code, Some(2), "{said}");
    }
}
