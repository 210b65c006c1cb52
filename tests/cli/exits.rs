//! Tests of exit codes: trials that were requested by name and did not take part, runs without a
//! sample, and gates with a missing side.

use super::{AS_NOBODY, Home, QUICK, READLAB, Said, no_other_user, trials};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TEXT: &str = "one\ntwo\nthree\n";

/// A race among the warm on one method and on what the words add.
fn race(home: &Home, words: &[&str]) -> Said {
    let file = home.file("f.txt", TEXT);
    home.race(&file, &[&["--method", "rust/read/scalar", "--state", "warm", "--quiet"], words].concat())
}

/// Exactly these lines on standard error.
fn assert_reported(said: &Said, code: i32, lines: &[&str]) {
    assert_eq!(said.code, Some(code), "{said}");
    let told: Vec<&str> = said.err.lines().filter(|line| !line.contains("another readlab")).collect();
    assert_eq!(told.len(), lines.len(), "{said}");
    for (line, part) in told.iter().zip(lines) {
        assert!(line.contains(part), "no {part:?} in {said}");
    }
}

#[test]
fn a_command_that_is_not_there_is_exit_1_and_named() {
    let home = Home::new();
    assert_reported(&race(&home, &[]), 0, &[]);
    let said = race(&home, &["-c", "./my-reader {}", "-c", "wc -l {}"]);
    assert_reported(&said, 1, &["-c './my-reader {}' did not take part: ./my-reader: no such program"]);
}

#[test]
fn a_method_that_does_not_take_part_is_exit_1_and_a_glob_needs_one_of_its_own() {
    let home = Home::new();
    let absent = ["--method", "rust/direct/scalar"];
    let said = race(&home, &absent);
    assert_reported(
        &said,
        1,
        &["--method 'rust/direct/scalar' did not take part: reads past the page cache"],
    );
    // The glob has rust/mmap beside it, and the name has the cold.
    assert_reported(&race(&home, &["--method", "rust/{direct,mmap}/scalar"]), 0, &[]);
    let file = home.file("f.txt", TEXT);
    let both = home.race(&file, &[&absent[..], &["--quiet", "--export-json", "-"]].concat());
    let json: serde_json::Value = serde_json::from_str(&both.out).unwrap();
    if trials(&json, "rust/direct/scalar", "cold")["outcome"] == "measured" {
        assert_reported(&both, 0, &[]);
    } else {
        eprintln!("SKIPPED: no O_DIRECT in the folder of the build");
    }
}

#[test]
fn a_reference_or_a_language_that_matches_nothing_is_exit_2_with_the_nearest_names() {
    let home = Home::new();
    for (words, line) in [
        (["--reference", "rust/raed"], "no trial matches --reference 'rust/raed' (nearest: rust/read, "),
        (
            ["--reference", "rust/read/sclar"],
            "no trial matches --reference 'rust/read/sclar' (nearest: rust/read/scalar",
        ),
        (
            ["--reference", "command/wc -L"],
            "no trial matches --reference 'command/wc -L' (nearest: command/wc -l",
        ),
        (["--language", "rust,pyton"], "no language 'pyton' (nearest: Python"),
    ] {
        let said = race(&home, &words);
        assert_reported(&said, 2, &[line]);
        assert!(said.out.is_empty() && home.runs().is_empty(), "{said}");
    }
}

#[test]
fn what_exists_and_takes_no_part_here_is_refused_with_the_reason() {
    let home = Home::new();
    home.file("text", TEXT);
    home.file("binary", "a\0b".repeat(1000));
    for (words, line) in [
        (
            "binary --method rust/read/memchr",
            "no method matches rust/read/memchr here: rust/read/memchr does lines or newlines, and sum is done with the bytes",
        ),
        ("text --work sum --method rust/lines", "no method matches rust/lines here: rust/lines"),
        (
            "text --method rust/read/scalar --language python",
            "no method matches rust/read/scalar here: --language leaves rust/read/scalar out",
        ),
        (
            "text --pattern random --block 1B --reference 'command/wc -l'",
            "--reference 'command/wc -l': no command of this run is called so; -c 'wc -l {}' adds it",
        ),
        (
            "text --method rust/pread/scalar --param threads=100000",
            "--param threads=100000: the methods that are raced take threads of 1 to ",
        ),
        (
            "text --method rust/read/scalar --param threads=3",
            "--param threads=3: no method that is raced has threads to set",
        ),
        (
            "text -c 'wc -l {}' --method 'command/*' --param buffer=64KiB",
            "--param buffer=64KiB: no method that is raced has buffer to set",
        ),
        ("text --http --files-from text", "text: a list of files, and a server needs one file"),
    ] {
        let words = shell_words::split(&format!("race {words} --state warm --runs 2 --quiet")).unwrap();
        assert_reported(&home.readlab(words.iter().map(String::as_str)), 2, &[line]);
        assert!(home.runs().is_empty(), "{words:?}");
    }
}

#[test]
fn a_run_that_ends_as_its_file_grows_says_so_at_its_end_and_on_standard_error() {
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
        let race = |words: &[&str]| {
            let only = ["--method", "rust/read/scalar", "--state", "warm"];
            home.race(&file, &[&only, words].concat())
        };
        let said = [race(&["--quiet"]), race(&[])];
        grows.store(false, Ordering::Relaxed);
        said
    });
    assert!(quiet.code != Some(0) && quiet.err.contains("while it was raced"), "{quiet}");
    let end = shown.out.lines().find(|line| line.starts_with("end: ")).unwrap_or_default();
    assert!(end.contains(" grew from ") && shown.err.contains("while it was raced"), "{shown}");
}

#[test]
fn a_trial_of_an_own_suite_that_does_not_take_part_is_exit_1() {
    let home = Home::new();
    let suite = "name = \"mine\"\nabout = \"\"\nstate = \"warm\"\n[[trial]]\ntrial = \"rust/read/scalar\"\n\
                 [[trial]]\ntrial = \"command/./my-reader {}\"\n";
    let (suite, file) = (home.file("mine.toml", suite), home.file("f.txt", TEXT));
    let words = ["suite", suite.to_str().unwrap(), file.to_str().unwrap(), "--quiet"];
    let said = home.readlab([&words[..], &QUICK].concat());
    assert_reported(
        &said,
        1,
        &["trial 'command/./my-reader {}' of the suite did not take part: ./my-reader: no such program"],
    );
}

#[test]
fn where_nothing_is_measured_the_code_is_2_with_the_first_reason() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let words = ["-c", "./my-reader {}", "--method", "rust/direct/scalar", "--state", "warm", "--quiet"];
    let suite =
        "name = \"mine\"\nabout = \"\"\nstate = \"warm\"\n[[trial]]\ntrial = \"command/./my-reader {}\"\n";
    let suite = home.file("mine.toml", suite);
    let said = home.readlab(["suite", suite.to_str().unwrap(), file.to_str().unwrap(), "--quiet"]);
    assert_reported(&said, 2, &["nothing was measured: command/./my-reader: ./my-reader: no such program"]);
    // What the suite of a race adds by itself is a number too.
    assert_eq!(home.race(&file, &words).code, Some(1));
    let late = home.readlab(["race", file.to_str().unwrap(), "--budget", "1ms", "--quiet"]);
    assert_eq!(late.code, Some(2), "{late}");
    assert!(
        late.err.contains("(--budget)") || late.err.contains("the time for the whole run was used up"),
        "{late}"
    );
}

#[test]
fn without_descriptors_for_contenders_the_code_is_2() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let line = format!(
        "ulimit -n 16; exec \"$0\" race {} --method rust/read/scalar --runs 2 --state warm --quiet",
        file.display()
    );
    let said = Said::by(home.command("sh").args(["-c", &line, READLAB]));
    assert_eq!(said.code, Some(2), "{said}");
    assert!(said.err.contains("Too many open files"), "{said}");
}

/// A change breaks the program, and the gate must fail.
#[test]
fn a_gate_with_a_trial_missing_on_one_side_is_exit_1_unless_that_is_allowed() {
    let home = Home::new();
    home.file("my-reader", "#!/bin/sh\nexec wc -l \"$1\"\n");
    let program = home.at("my-reader");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let words = |name| ["-c", "./my-reader {}", "--runs", "7", "--output", name];
    let run = |name| {
        let file = home.file("f.txt", TEXT);
        let mut command = home.command(READLAB);
        let method = ["--method", "rust/read/scalar", "--state", "warm", "--quiet", "--budget", "20m"];
        Said::by(command.arg("race").arg(file).args(words(name)).args(method))
    };
    assert_eq!(run("before").code, Some(0));
    std::fs::remove_file(program).unwrap();
    assert_eq!(run("after").code, Some(1));
    let gate = |words: &[&str]| home.readlab([&["compare", "before", "after"], words].concat());
    let missing = "not judged: command/./my-reader: unavailable in after: ./my-reader: no such program";
    let judged = |said: &Said| said.err.lines().filter(|line| line.contains("not judged")).count();
    let said = gate(&["--fail-over", "99%"]);
    assert!(said.code == Some(1) && said.err.contains(missing) && judged(&said) == 1, "{said}");
    let said = gate(&["--fail-over", "99%", "--allow-missing"]);
    assert!(said.code == Some(0) && judged(&said) == 0, "{said}");
    assert_eq!(gate(&[]).code, Some(0), "without a gate nothing is judged");
    // The same with the sides exchanged.
    let said = home.readlab(["compare", "after", "before", "--fail-over", "99%"]);
    assert!(said.code == Some(1) && said.err.contains("unavailable in after"), "{said}");
}

#[test]
fn a_gate_is_not_passed_by_a_trial_that_the_other_side_never_had() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let run = |name: &str, more: &[&str]| {
        let words =
            ["--method", "rust/read/scalar", "--state", "warm", "--output", name, "--quiet", "--runs=7"];
        let said = Said::by(home.command(READLAB).arg("race").arg(Path::new(&file)).args(words).args(more));
        assert_eq!(said.code, Some(0), "{said}");
    };
    run("before", &["--method", "rust/mmap/scalar"]);
    run("after", &[]);
    let said = home.readlab(["compare", "before", "after", "--fail-over", "99%"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.err.contains("not judged: rust/mmap/scalar (warm): after does not have it"), "{said}");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_reference_takes_part_beside_the_methods_and_one_that_cannot_is_exit_1() {
        let home = Home::new();
        assert_reported(&race(&home, &["--reference", "rust/read/scalar"]), 0, &[]);
        let file = home.file("f.txt", TEXT);
        let words = ["--method", "rust/read/scalar", "--state", "warm", "--reference", "rust/mmap/scalar"];
        let (json, said) = home.race_json(&file, &words);
        assert_eq!(said.code, Some(0), "{said}");
        assert_eq!(trials(&json, "rust/mmap/scalar", "warm")["outcome"], "measured");
        assert_eq!(trials(&json, "rust/read/scalar", "warm")["ratio"]["reference"], "rust/mmap/scalar");
        let said = race(&home, &["--reference", "rust/direct/scalar"]);
        assert_reported(
            &said,
            1,
            &["--reference 'rust/direct/scalar' did not take part: reads past the page cache"],
        );
    }

    #[test]
    fn where_nothing_is_measured_every_verb_ends_with_2_and_a_line() {
        let home = Home::new();
        home.file("f.txt", TEXT.repeat(1000));
        fs::create_dir(home.at("tree")).unwrap();
        home.file("tree/a", TEXT);
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
            let said = home.readlab(words.split(' ').chain(["--budget", "1ms", "--quiet"]));
            let line = said.err.lines().last().unwrap_or_default();
            let is_named =
                line.starts_with("readlab: ") && (line.contains("budget") || line.contains("time"));
            assert!(said.code == Some(2) && is_named, "{words}: {said}");
        }
    }

    #[test]
    fn a_language_restricts_the_race_and_the_baseline_and_the_users_command_stay() {
        let home = Home::new();
        let file = home.file("f.txt", TEXT);
        let (json, said) =
            home.race_json(&file, &["--language", "RUST", "--state", "warm", "-c", "cat {} | wc -l"]);
        assert_eq!(said.code, Some(0), "{said}");
        let ids = json["trials"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap());
        let ids: Vec<&str> = ids.collect();
        assert!(ids.contains(&"command/wc -l") && ids.contains(&"command/cat {} | wc -l"), "{ids:?}");
        assert!(ids.iter().all(|id| id.starts_with("rust/") || id.starts_with("command/")), "{ids:?}");
        assert!(ids.iter().any(|id| id.starts_with("rust/mmap")), "{ids:?}");
        assert_eq!(trials(&json, "command/wc -l", "warm")["ratio"]["reference"], "command/cat {} | wc -l");
        let said = home.race(&file, &["--language", "python", "--method", "rust/*"]);
        assert_eq!(
            (said.code, said.refusal().contains("no method matches rust/*")),
            (Some(2), true),
            "{said}"
        );
    }

    #[test]
    fn an_ordinary_user_is_refused_the_caches_of_the_machine_before_anything_is_read() {
        if let Some(why) = no_other_user() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let home = Home::new();
        let file = home.file("f.txt", TEXT);
        let words = [READLAB, "race", file.to_str().unwrap(), "--drop-caches"];
        let said = Said::by(home.command("setpriv").args(AS_NOBODY).args(words));
        let refusal = said.refusal();
        assert!(refusal.contains("--drop-caches: /proc/sys/vm/drop_caches: "), "{said}");
        assert!(home.runs().is_empty(), "nothing was begun");
    }

    #[test]
    fn a_resumed_run_still_knows_what_was_requested() {
        let home = Home::new();
        let said = race(&home, &["-c", "./my-reader {}", "--output", "run"]);
        assert_eq!(said.code, Some(1), "{said}");
        // As if it had been killed before its last line.
        let path = home.at("run/record.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        let (cut, end) = text.trim_end().rsplit_once('\n').unwrap();
        assert!(end.contains("settled"), "{end}");
        std::fs::write(&path, format!("{cut}\n")).unwrap();
        let said = home.readlab(["race", "--resume", path.to_str().unwrap(), "--quiet"]);
        assert_reported(&said, 1, &["-c './my-reader {}' did not take part"]);
    }
}
