//! Tests of ranks that split a file. Each rank reads its part, and together the parts are the whole
//! file.

use super::{Mpi, RACE, SHORT, device_bytes, read_trial, reasons};
use crate::home::Home;
use readlab_record::{Outcome, ShareMode, TrialRecord};

/// The reason why a method takes no part.
const WHOLE_FILES_REASON: &str = "it reads whole files, and only a part of one is read";

/// Lines of many lengths, more than two large pages, with an unterminated last line.
fn text() -> String {
    let lines = (0..200_000).map(|n| format!("{n} {}\n", "x".repeat(n % 43)));
    lines.collect::<String>() + "end"
}

mod ring2 {
    use super::*;

    #[test]
    fn the_parts_of_all_ranks_make_up_the_file_and_their_answers_are_that_of_the_whole() {
        let Some(flavour) = Mpi::any() else { return };
        let home = Home::new();
        let text = text();
        home.file("f", &text);
        let methods = "--method c/mmap/memchr --method rust/lines --work newlines";
        let said = flavour.fleet(&home, 2, &format!("race f --share split {methods} {RACE} {SHORT}"));
        // The ranks share no bytes.
        said.shows("; each reads its part of one file; ");
        said.hides("each byte comes to their host once for all");
        let record = home.record("run");
        let fleet = record.fleet.as_ref().unwrap();
        let [first, last] = &fleet.ranks[..] else { panic!("{:?}", fleet.ranks) };
        let size_bytes = text.len() as u64;
        assert_eq!((fleet.share, first.start_bytes), (ShareMode::Split, Some(0)));
        assert_eq!(first.size_bytes % (2 << 20), 0);
        let parts = (last.start_bytes, first.size_bytes + last.size_bytes);
        assert_eq!(parts, (Some(first.size_bytes), size_bytes));
        let target = record.targets.first().unwrap();
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
        let whole_files = of("rust/lines").into_iter();
        let whole_files = whole_files.map(|it| it.outcome.as_ref().unwrap().reason().unwrap());
        assert_eq!(whole_files.collect::<Vec<_>>(), [WHOLE_FILES_REASON; 2]);
        // A requested method was not measured.
        said.exits(1);
    }

    #[test]
    fn a_cold_part_comes_from_the_device_on_each_rank() {
        let Some(flavour) = Mpi::any() else { return };
        let home = Home::with_file("f", text());
        flavour.fleet(&home, 2, &format!("race f --share split --state cold {RACE} {SHORT}"));
        let record = home.record("run");
        let reasons = reasons(&record);
        let known = |reason: &&str| reason.ends_with(" late") || *reason == WHOLE_FILES_REASON;
        assert!(reasons.iter().all(known), "{reasons:?}");
        let (fetched, size_bytes) =
            (device_bytes(read_trial(&record)), record.targets.first().unwrap().size_bytes);
        // The kernel reads ahead beyond the end of a part.
        let around = size_bytes - size_bytes / 100..size_bytes + (2 << 20);
        assert!(fetched.iter().all(|bytes| around.contains(bytes)), "{fetched:?} of {size_bytes}");
    }

    #[test]
    fn files_that_differ_or_are_too_small_to_be_split_are_refused_and_so_is_a_scale() {
        let Some(flavour) = Mpi::any() else { return };
        let home = Home::new();
        let mut text = text();
        home.file("f.0", &text);
        // The last byte is among those that are compared.
        text.replace_range(text.len() - 1.., "X");
        home.file("f.1", &text);
        home.file("small", "a\nb\n");
        let fleet = |words: &str| flavour.fleet(&home, 2, &format!("{words} --share split"));
        let other = fleet("race f.{rank}").exits(2);
        other.tells("f.1 has other bytes, or another size, than ");
        for (words, why) in [
            ("race small", "small: 4 B is too small to be split by 2"),
            ("scale f.0", "--share split: fleet scale compares ranks that read as much each"),
        ] {
            let said = fleet(words);
            assert_ne!(said.code, Some(0), "{said}");
            said.tells(why);
        }
        assert!(home.runs().is_empty(), "{:?}", home.runs());
    }
}
