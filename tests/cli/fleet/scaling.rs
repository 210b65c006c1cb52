//! Tests of growing numbers of ranks that read in turns.

use super::{Mpi, RACE, assert_ended, home_for_ranks};
use readlab_record::Outcome;

mod ring2 {
    use super::*;

    #[test]
    fn more_ranks_by_turns_show_how_the_rate_grows_and_the_law_of_it() {
        let Some(flavour) = Mpi::any() else { return };
        let home = home_for_ranks(5);
        let ranks = "--share own f.{rank} --hosts 1,2,3,4,5 --state cold";
        let words = format!("scale {ranks} {RACE} --runs 6 --output run --export-json out.json");
        let said = flavour.fleet(&home, 5, &words);
        said.shows("scaling: Cold, rust/read/memchr: ");
        let record = home.record("run");
        assert_ended(&said, &record);
        let counts: Vec<Option<u32>> = record.targets.iter().map(|target| target.rank_count).collect();
        assert_eq!(counts, [1, 2, 3, 4, 5].map(Some));
        for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
            let ranks = record.targets[trial.trial.target].rank_count.unwrap();
            assert_eq!(record.targets[trial.trial.target].size_bytes, u64::from(ranks) * (7 << 16));
            let newlines = u64::from(ranks) << 16;
            assert!(trial.samples.iter().all(|it| it.answer.newlines.is_none_or(|found| found == newlines)));
            let mut taken = [0; 5];
            for turn in &trial.fleet_turns {
                assert_eq!(turn.ranks.len(), ranks as usize);
                turn.ranks.iter().for_each(|timing| taken[timing.rank as usize] += 1);
            }
            let spread = taken.iter().max().unwrap() - taken.iter().min().unwrap();
            assert!(spread <= ranks, "{taken:?} of {ranks}");
        }
        let json = home.json("out.json");
        let scaling = &json["scaling"][0];
        assert_eq!(scaling["trial"], "rust/read/memchr");
        let whole = record.trials.iter().all(|it| it.outcome == Some(Outcome::Measured));
        let predicted = scaling["law"]["predicted"].as_array().map(Vec::len);
        assert!(!whole || predicted == Some(10), "{scaling}");
        let page = home.read("run/report.html");
        assert!(page.contains("ranks that read together"), "the page has the chart");
    }

    #[test]
    fn too_many_ranks_and_files_of_several_sizes_are_refused() {
        let Some(flavour) = Mpi::any() else { return };
        let home = home_for_ranks(2);
        let scale = |hosts: &str| {
            let words = format!("scale --share own f.{{rank}} --hosts {hosts} {RACE} --runs 4");
            flavour.fleet(&home, 2, &words).exits(2)
        };
        scale("1,3").tells("--hosts 3: the launcher started 2");
        home.file("f.1", "shorter\n");
        scale("1,2").tells("(rank 1) differs from ").tells("files have one size");
    }
}
