//! More and more ranks read by turns.

use super::super::Home;
use super::{Flavour, assert_ended, file_of_each, words};
use readlab_record::{Outcome, Record};
use serde_json::Value;
use std::fs;

mod ring2 {
    use super::*;

    #[test]
    fn more_ranks_by_turns_show_how_the_rate_grows_and_the_law_of_it() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        file_of_each(&home, 5);
        let ranks = ["--share", "own", "f.{rank}", "--hosts", "1,2,3,4,5", "--state", "cold"];
        let mut given = words(&ranks, &["--output", "run", "--export-json", "out.json"]);
        let runs = given.iter().position(|word| *word == "4").unwrap();
        given[runs] = "6";
        let said = flavour.fleet(&home, 5, "scale", &given);
        assert!(said.out.contains("scaling: Cold, rust/read/memchr: "), "{said}");
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        assert_ended(&said, &record);
        let counts: Vec<Option<u32>> = record.targets.iter().map(|target| target.ranks).collect();
        assert_eq!(counts, [1, 2, 3, 4, 5].map(Some));
        for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
            let ranks = record.targets[trial.trial.target].ranks.unwrap();
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
        let json: Value = serde_json::from_slice(&fs::read(home.at("out.json")).unwrap()).unwrap();
        let scaling = &json["scaling"][0];
        assert_eq!(scaling["trial"], "rust/read/memchr");
        let whole = record.trials.iter().all(|it| it.outcome == Some(Outcome::Measured));
        assert!(
            !whole || scaling["law"]["predicted"].as_array().is_some_and(|it| it.len() == 10),
            "{scaling}"
        );
        let page = fs::read_to_string(home.at("run/report.html")).unwrap();
        assert!(page.contains("ranks that read together"), "the page has the chart");
    }

    #[test]
    fn more_ranks_than_there_are_and_files_of_several_sizes_do_not_scale() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        file_of_each(&home, 2);
        let scale = |hosts| {
            let said = flavour.fleet(
                &home,
                2,
                "scale",
                &words(&["--share", "own", "f.{rank}", "--hosts", hosts], &[]),
            );
            assert_eq!(said.code, Some(2), "{said}");
            said
        };
        assert!(scale("1,3").err.contains("--hosts 3: the launcher started 2"));
        home.file("f.1", "shorter\n");
        let said = scale("1,2");
        assert!(
            said.err.contains("(rank 1) differs from ") && said.err.contains("files have one size"),
            "{said}"
        );
    }
}
