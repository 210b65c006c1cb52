//! Ranks that split a file: each reads its part, and the parts make up the file.

use super::super::Home;
use super::{Flavour, words};
use readlab_record::{Outcome, Record, Share, TrialRecord};
use std::fs;

/// Why a method does not take part.
const WHOLE_FILES: &str = "it reads whole files, and each rank reads a part";

/// Lines of many lengths, of more than two large pages, with a last one that is not terminated.
fn text() -> String {
    let lines = (0..200_000).map(|n| format!("{n} {}\n", "x".repeat(n % 43)));
    lines.collect::<String>() + "end"
}

mod ring2 {
    use super::*;

    #[test]
    fn the_parts_of_all_ranks_make_up_the_file_and_their_answers_are_that_of_the_whole() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        let text = text();
        home.file("f", &text);
        let given = ["f", "--share", "split", "--method", "c/mmap/memchr", "--method", "rust/lines"];
        let said = flavour.race(&home, 2, &words(&given, &["--output", "run", "--work", "newlines"]));
        assert!(said.out.contains("; each reads its part of one file; "), "{said}");
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        let fleet = record.fleet.as_ref().unwrap();
        let [first, last] = &fleet.ranks[..] else { panic!("{:?}", fleet.ranks) };
        let size_bytes = text.len() as u64;
        assert_eq!(
            (fleet.share, first.start_bytes, first.size_bytes % (2 << 20)),
            (Share::Split, Some(0), 0)
        );
        assert_eq!(
            (last.start_bytes, first.size_bytes + last.size_bytes),
            (Some(first.size_bytes), size_bytes)
        );
        let target = &record.targets[0];
        assert_eq!((target.size_bytes, &target.digest), (size_bytes, &None));
        let newlines = text.matches('\n').count() as u64;
        assert_eq!(target.answer.unwrap().newlines, Some(newlines));
        for trial in record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured)) {
            let right = |answer: Option<u64>| answer.is_none_or(|it| it == newlines);
            assert!(trial.samples.iter().all(|it| right(it.answer.newlines)), "{}", trial.trial.id);
        }
        let of = |name: &str| -> Vec<&TrialRecord> {
            record.trials.iter().filter(|it| it.trial.id.to_string().starts_with(name)).collect()
        };
        for trial in [of("c/mmap"), of("rust/read")].concat() {
            assert!(trial.samples.len() >= 4, "{}: {:?}", trial.trial.id, trial.outcome);
        }
        let whole_files =
            of("rust/lines").into_iter().map(|it| it.outcome.as_ref().unwrap().reason().unwrap());
        let whole_files: Vec<&str> = whole_files.collect();
        assert_eq!(whole_files, [WHOLE_FILES; 2]);
        assert_eq!(said.code, Some(1), "a method that was asked for was not measured: {said}");
        assert!(
            !said.out.contains("each byte comes to their host once for all"),
            "they share no bytes: {said}"
        );
    }

    #[test]
    fn a_cold_part_comes_from_the_device_on_each_rank() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        home.file("f", text());
        let given = words(&["f", "--share", "split", "--state", "cold"], &["--output", "run"]);
        flavour.race(&home, 2, &given);
        let record = Record::read(&home.at("run/record.jsonl")).unwrap();
        let reasons: Vec<&str> =
            record.trials.iter().filter_map(|it| it.outcome.as_ref()?.reason()).collect();
        let known = |reason: &&str| reason.ends_with(" late") || *reason == WHOLE_FILES;
        assert!(reasons.iter().all(known), "{reasons:?}");
        let read = record.trials.iter().find(|it| it.trial.method() == "read").unwrap();
        let fetched: Vec<u64> = read.samples.iter().filter_map(|it| it.device_read_bytes).collect();
        let size_bytes = record.targets[0].size_bytes;
        // The kernel reads ahead beyond the end of a part.
        let around = size_bytes - size_bytes / 100..size_bytes + (2 << 20);
        assert!(fetched.iter().all(|bytes| around.contains(bytes)), "{fetched:?} of {size_bytes}");
    }

    #[test]
    fn files_that_differ_or_are_too_small_to_be_split_are_refused_and_so_is_a_scale() {
        let Some(flavour) = Flavour::any() else { return };
        let home = Home::new();
        let mut text = text();
        home.file("f.0", &text);
        // The last place is among those that are compared.
        text.replace_range(text.len() - 1.., "X");
        home.file("f.1", &text);
        let race = |ranks, words: &[&str]| flavour.race(&home, ranks, words);
        let other = race(2, &["f.{rank}", "--share", "split"]);
        assert_eq!(other.code, Some(2), "{other}");
        assert!(other.err.contains("f.1 has other bytes, or another size, than "), "{other}");
        home.file("small", "a\nb\n");
        let small = race(2, &["small", "--share", "split"]);
        assert_ne!(small.code, Some(0), "{small}");
        assert!(small.err.contains("small: 4 B is too small to be split by 2"), "{small}");
        let scale = flavour.fleet(&home, 2, "scale", &["f.0", "--share", "split"]);
        assert_ne!(scale.code, Some(0), "{scale}");
        assert!(
            scale.err.contains("--share split: fleet scale compares ranks that read as much each"),
            "{scale}"
        );
        assert!(home.runs().is_empty(), "{:?}", fs::read_dir(home.at("")));
    }
}
