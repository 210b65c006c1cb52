//! Tests of exit codes: trials that were requested by name and did not take part, and runs without
//! a sample.

use crate::home::{Home, ProgramOutput, QUICK, READLAB, Trials};
use crate::machine::{is_root, skip};
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A home with a file of three lines.
fn home() -> Home {
    Home::with_file("f.txt", "one\ntwo\nthree\n")
}

/// Races one method and the trials of these words, warm.
fn race(home: &Home, words: &str) -> ProgramOutput {
    home.race("f.txt", format!("--method rust/read/scalar --state warm --quiet {words}"))
}

/// Asserts that there is nothing on standard output, and lines with exactly these parts on standard
/// error.
#[track_caller]
fn assert_reported(said: &ProgramOutput, code: i32, lines: &[&str]) {
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{said}");
    let told: Vec<&str> = said.err.lines().filter(|line| !line.contains("another readlab")).collect();
    assert_eq!(told.len(), lines.len(), "{said}");
    for part in lines {
        assert!(told.iter().any(|line| line.contains(part)), "no {part:?} in {said}");
    }
}

/// Writes a suite of these trials, warm, into the file `mine.toml`.
fn suite(home: &Home, trials: &[&str]) {
    let trials: String = trials.iter().map(|trial| format!("[[trial]]\ntrial = '{trial}'\n")).collect();
    home.file("mine.toml", format!("name = 'mine'\nabout = ''\nstate = 'warm'\n{trials}"));
}

const MISSING_COMMAND: &str = "command/./my-reader {}";

#[test]
fn a_command_or_method_that_takes_no_part_is_exit_1_and_a_glob_needs_one_participant() {
    let home = home();
    let no_program = "-c './my-reader {}' did not take part: ./my-reader: no such program";
    let direct = "--method 'rust/direct/scalar' did not take part: reads past the page cache";
    assert_reported(&race(&home, "-c './my-reader {}' -c 'wc -l {}'"), 1, &[no_program]);
    assert_reported(&race(&home, "--method rust/direct/scalar"), 1, &[direct]);
    // The glob also matches rust/mmap.
    assert_reported(&race(&home, "--method rust/{direct,mmap}/scalar"), 0, &[]);
    // The name also matches the cold trial.
    let both = home.race_json("f.txt", "--method rust/direct/scalar");
    if both.trial("rust/direct/scalar", "cold")["outcome"] == "measured" {
        assert_eq!((both.said.code, both.said.err.as_str()), (Some(0), ""), "{both}");
    } else {
        skip("no O_DIRECT in the folder of the build");
    }
}

#[test]
fn a_trial_that_does_not_exist_or_cannot_take_part_is_exit_2_with_the_nearest_names_or_the_reason() {
    let home = home();
    home.file("binary", "a\0b".repeat(1000));
    for (words, line) in [
        (
            "f.txt --method rust/read/scalar --reference rust/raed",
            "no trial matches --reference 'rust/raed' (nearest: rust/read, ",
        ),
        (
            "f.txt --method rust/read/scalar --reference rust/read/sclar",
            "no trial matches --reference 'rust/read/sclar' (nearest: rust/read/scalar",
        ),
        (
            "f.txt --method rust/read/scalar --reference 'command/wc -L'",
            "no trial matches --reference 'command/wc -L' (nearest: command/wc -l",
        ),
        ("f.txt --method rust/read/scalar --language rust,pyton", "no language 'pyton' (nearest: Python"),
        (
            "binary --method rust/read/memchr",
            "no method matches rust/read/memchr here: rust/read/memchr does lines or newlines, and sum is done with the bytes",
        ),
        ("f.txt --work sum --method rust/lines", "no method matches rust/lines here: rust/lines"),
        (
            "f.txt --method rust/read/scalar --language python",
            "no method matches rust/read/scalar here: --language leaves rust/read/scalar out",
        ),
        (
            "f.txt --pattern random --block 1B --reference 'command/wc -l'",
            "--reference 'command/wc -l': no command of this run is called so; -c 'wc -l {}' adds it",
        ),
        (
            "f.txt --method rust/pread/scalar --param threads=100000",
            "--param threads=100000: the methods that are raced take threads of 1 to ",
        ),
        (
            "f.txt --method rust/read/scalar@buffer=8KiB --param buffer=4KiB",
            "--param buffer=4KiB: the methods that take it have their own buffer behind an @",
        ),
        (
            "f.txt --method rust/read/scalar --param threads=3",
            "--param threads=3: no method that is raced has threads to set",
        ),
        (
            "f.txt -c 'wc -l {}' --method 'command/*' --param buffer=64KiB",
            "--param buffer=64KiB: no method that is raced has buffer to set",
        ),
        ("f.txt --http --files-from f.txt", "f.txt: a list of files, and a server needs one file"),
    ] {
        let said = home.readlab(format!("race {words} --state warm --runs 2 --quiet"));
        assert_reported(&said, 2, &[line]);
        assert!(home.runs().is_empty(), "{words:?}");
    }
}

#[test]
fn a_run_that_ends_because_its_file_grew_reports_it_at_its_end_and_on_standard_error() {
    let home = Home::new();
    let file = home.file("log", "line\n".repeat(100_000));
    let grows = AtomicBool::new(true);
    let [quiet, shown] = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = fs::File::options().append(true).open(&file).unwrap();
            while grows.load(Ordering::Relaxed) {
                log.write_all(b"line\n").unwrap();
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let only = "--method rust/read/scalar --state warm";
        let said = ["--quiet", ""].map(|words| home.race(&file, format!("{only} {words}")));
        grows.store(false, Ordering::Relaxed);
        said
    });
    assert_ne!(quiet.code, Some(0), "{quiet}");
    quiet.tells("while it was raced");
    let end = shown.out.lines().find(|line| line.starts_with("end: ")).unwrap_or_default();
    assert!(end.contains(" grew from "), "{shown}");
    shown.tells("while it was raced");
}

#[test]
fn a_trial_of_an_own_suite_that_does_not_take_part_is_exit_1() {
    let home = home();
    suite(&home, &["rust/read/scalar", MISSING_COMMAND]);
    let said = home.readlab(format!("suite mine.toml f.txt --quiet {QUICK}"));
    let why =
        format!("trial '{MISSING_COMMAND}' of the suite did not take part: ./my-reader: no such program");
    assert_reported(&said, 1, &[&why]);
}

#[test]
fn a_trial_of_an_own_suite_without_a_target_of_its_kind_is_exit_1() {
    let home = home();
    suite(&home, &["rust/read/scalar"]);
    let of_folder = "[[trial]]\ntrial = 'rust/read/memchr'\nover = 'tree'\n";
    home.file("mine.toml", home.read("mine.toml") + of_folder);
    let said = home.readlab(format!("suite mine.toml f.txt --quiet {QUICK}"));
    let why = "trial 'rust/read/memchr' of the suite did not take part: no target is a folder or a list";
    assert_reported(&said, 1, &[why]);
}

#[test]
fn a_run_without_a_measurement_exits_with_2_and_the_first_reason() {
    let home = home();
    suite(&home, &[MISSING_COMMAND]);
    let said = home.readlab("suite mine.toml f.txt --quiet");
    assert_reported(&said, 2, &["nothing was measured: command/./my-reader: ./my-reader: no such program"]);
    // The trial that race adds by itself is a number too.
    let words = "-c './my-reader {}' --method rust/direct/scalar --state warm --quiet";
    home.race("f.txt", words).exits(1);
    let late = home.readlab("race f.txt --budget 1ms --quiet").exits(2);
    let reasons = ["(--budget)", "the time for the whole run was used up"];
    assert!(reasons.iter().any(|reason| late.err.contains(reason)), "{late}");
}

#[test]
fn without_descriptors_for_contenders_the_code_is_2() {
    let words = "race f.txt --method rust/read/scalar --runs 2 --state warm --quiet";
    let line = format!("ulimit -n 16; exec {READLAB} {words}");
    ProgramOutput::by(&mut home().shell(line)).exits(2).tells("Too many open files");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_reference_takes_part_beside_the_methods_and_an_unavailable_one_is_exit_1() {
        let home = home();
        let direct = "--reference 'rust/direct/scalar' did not take part: reads past the page cache";
        assert_reported(&race(&home, "--reference rust/read/scalar"), 0, &[]);
        assert_reported(&race(&home, "--reference rust/direct/scalar"), 1, &[direct]);
        let words = "--method rust/read/scalar --state warm --reference rust/mmap/scalar";
        let json = home.race_json("f.txt", words).exits(0);
        let reference = json.measured("rust/mmap/scalar", "warm");
        assert_eq!(reference["missing"]["ratio"], "it is the reference");
        assert_eq!(json.trial("rust/read/scalar", "warm")["ratio"]["reference"], "rust/mmap/scalar");
    }

    #[test]
    fn every_verb_without_a_measurement_exits_with_2_and_a_line() {
        let home = Home::new();
        home.file("f.txt", "one\ntwo\nthree\n".repeat(1000));
        fs::create_dir(home.at("tree")).unwrap();
        home.file("tree/a", "one\n");
        for words in [
            "race f.txt",
            "race tree",
            "race f.txt --pattern random --block 4KiB",
            "race f.txt --readers 1,2",
            "suite newlines f.txt",
            "tune f.txt",
            "tune f.txt --readers 1,2",
            "limits f.txt",
        ] {
            let said = home.readlab(format!("{words} --budget 1ms --quiet"));
            let line = said.err.lines().last().unwrap_or_default();
            let is_named =
                line.starts_with("readlab: ") && (line.contains("budget") || line.contains("time"));
            assert!(said.code == Some(2) && is_named, "{words}: {said}");
        }
    }

    #[test]
    fn a_language_restricts_the_race_and_the_baseline_and_the_users_command_stay() {
        let home = home();
        let words = "--language RUST --state warm -c 'cat {} | wc -l'";
        let json = home.race_json("f.txt", words).exits(0);
        let ids: Vec<&str> = json.trials().iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert!(ids.contains(&"command/wc -l") && ids.contains(&"command/cat {} | wc -l"), "{ids:?}");
        assert!(ids.iter().all(|id| id.starts_with("rust/") || id.starts_with("command/")), "{ids:?}");
        assert!(ids.iter().any(|id| id.starts_with("rust/mmap")), "{ids:?}");
        let ratio = &json.trial("command/wc -l", "warm")["ratio"];
        assert_eq!(ratio["reference"], "command/cat {} | wc -l");
        home.race("f.txt", "--language python --method rust/*").refuses("no method matches rust/*");
    }

    #[test]
    fn an_ordinary_user_may_not_drop_the_caches_and_is_refused_before_anything_is_read() {
        let home = home();
        let Some(said) = home.as_nobody("race f.txt --drop-caches") else { return };
        said.refuses("--drop-caches: /proc/sys/vm/drop_caches: ");
        assert!(home.runs().is_empty(), "nothing was begun");
    }

    /// A script has one command line for all states.
    #[test]
    fn a_warm_command_is_measured_beside_cold_readings_after_dropped_caches() {
        if !is_root() {
            return skip("--drop-caches: root alone may");
        }
        let home = home();
        assert_reported(&race(&home, "-c 'wc -l {}' --drop-caches"), 0, &[]);
    }

    #[test]
    fn a_resumed_run_still_knows_the_requested_trials() {
        let home = home();
        race(&home, "-c './my-reader {}' --output run").exits(1);
        // The record ends as if the run had been killed before its last line.
        let text = home.read("run/record.jsonl");
        let (cut, end) = text.trim_end().rsplit_once('\n').unwrap();
        assert!(end.contains("settled"), "{end}");
        home.file("run/record.jsonl", format!("{cut}\n"));
        let said = home.readlab("race --resume run/record.jsonl --quiet");
        assert_reported(&said, 1, &["-c './my-reader {}' did not take part"]);
    }
}
