//! Tests of what readlab executes. It never executes the name of a file, the raced file, or a file
//! that another user could have placed where readlab looks.

use crate::fake::entry;
use crate::home::{Home, ProgramOutput, READLAB, Words, set_mode};
use crate::machine::{has_nobody, skip};
use crate::repository;
use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::PathBuf;
use std::process::Command;

/// Races one command, warm.
fn race(home: &Home, file: &str, words: &[&str]) -> ProgramOutput {
    let more = ["--state", "warm", "--method", "command/*"];
    home.race(home.at(file), [words, &more].concat())
}

/// Writes a suite of one trial into the file `s.toml`.
fn suite(home: &Home, trial: &str) {
    home.file("s.toml", format!("name = 's'\nabout = 'x'\n[[trial]]\ntrial = {trial}\n"));
}

/// The options whose commands run around readings.
const HOOK_OPTIONS: [&str; 4] = ["--prepare", "--setup", "--cleanup", "--check"];

#[test]
fn the_name_of_a_file_is_code_in_no_command_and_a_quoted_placeholder_works() {
    let home = Home::new();
    let hostile = "a $(touch PWNED) `touch PWNED` 'b\"; touch PWNED #";
    home.file(hostile, "one\ntwo\n");
    let prepare = ["--prepare", "test -e '{}' && touch \"{}.seen\""];
    let by_argument = ["-c", "wc -l < {}", "-c", "sh -c 'cat \"$1\" | wc -l' sh {}"];
    race(&home, hostile, &[&["-c", "cat '{}' | wc -l"][..], &by_argument, &prepare].concat()).exits(0);
    race(&home, hostile, &[&["-c", "cat \"{}\" | wc -l"][..], &prepare].concat()).exits(0);
    assert!(home.at(format!("{hostile}.seen")).exists(), "the command before readings got another name");
    for line in ["sh -c 'cat {} | wc -l'", "sh -c {}", "eval wc -l {}"] {
        race(&home, hostile, &["-c", line]).refuses("sh -c 'cat \"$1\" | wc -l' sh {}");
    }
    // The shell of the line has the path as $1.
    race(&home, hostile, &["-c", "sh -c \"wc -l $1\" sh {}"]).refuses("within a script in double quotes");
    // A variable of the line has it, too, and so has a script that gets the name as an argument.
    for line in [
        "f={}; sh -c \"wc -l $f\"",
        "for f in {}; do eval \"wc -l $f\"; done",
        "sh -c 'sh -c \"wc -l $1\"' sh {}",
    ] {
        race(&home, hostile, &["-c", line]).refuses("within a script in double quotes");
    }
    for line in ["for f in {}; do wc -l \"$f\"; done", "f={}; sh -c 'wc -l < \"$1\"' sh \"$f\""] {
        race(&home, hostile, &["-c", line]).exits(0);
    }
    for option in HOOK_OPTIONS {
        let said = race(&home, hostile, &["-c", "wc -l", option, "sh -c 'test -e {}'"]);
        said.refuses("the file's name would be code");
        let said = race(&home, hostile, &["-c", "wc -l", option, "sh <<E\ntest -e {}\nE"]);
        said.refuses("a here-document may have the file's name in its text");
    }
    race(&home, hostile, &["-c", "wc -l {} <<E\nx\nE"]).refuses("a here-document");
    assert!(!home.at("PWNED").exists());
    // A name with a blank must not be split into the names of other files.
    home.file("my data", "one\n");
    home.file("my", "keep\n");
    let said = race(&home, "my data", &["-c", "wc -l", "--prepare", "rm -f \"{}.tmp\""]).exits(0);
    assert!(home.at("my").exists(), "{said}");
    let by_parameter = ["rm -f $1.tmp", "f={}; rm -f $f.tmp", "sh -c 'rm -f $1.tmp' sh {}"];
    for line in by_parameter.into_iter().chain(["rm -f $(basename {}).tmp", "rm -rf `dirname {}`/cache"]) {
        race(&home, "my data", &["-c", "wc -l", "--prepare", line])
            .refuses("splits the file's name at blanks");
    }
    assert!(home.at("my").exists());
}

#[test]
fn the_names_of_files_in_a_folder_are_code_in_no_command_and_are_read_as_arguments() {
    let home = Home::new();
    home.file("folder/$(touch PWNED)", "one\ntwo\n");
    home.file("folder/x;touch PWNED|", "one\n");
    for line in [
        "xargs -0 -I% sh -c 'wc -l %' < {list}",
        "find {} -type f | xargs -I% sh -c 'wc -l %'",
        "xargs -0 sh -c < {list}",
        "while read -r f; do sh -c \"wc -l $f\"; done < {list}",
    ] {
        let said = race(&home, "folder", &["-c", line, "--check", "none"]);
        said.refuses("code; ");
    }
    let by_argument = "xargs -0 -I% sh -c 'wc -l \"$1\"' sh % < {list}";
    race(&home, "folder", &["-c", by_argument, "--check", "none"]).exits(0);
    assert!(!home.at("PWNED").exists());
}

#[test]
fn perl_runs_no_name_that_ends_like_a_pipe() {
    let home = Home::new();
    home.file("x;touch PWNED|", "one\n");
    home.file("folder/x;touch PWNED|", "one\n");
    let perl = "perl -ne 'END{print $.}' {}";
    for words in [&["-c", perl][..], &["-c", "wc -l", "--prepare", perl]] {
        race(&home, "x;touch PWNED|", words).refuses("let the shell open the file");
    }
    // The contender knows the names in a folder. A machine without perl has another reason.
    race(&home, "folder", &["-c", "xargs -0 perl -ne 'END{print $.}' < {list}"]);
    assert!(!home.at("PWNED").exists());
}

/// A home whose raced file is a program that would leave a trace.
fn home_with_program() -> Home {
    let home = Home::new();
    home.program("data", "#!/bin/sh\ntouch RAN\necho 3\n");
    home
}

#[test]
fn the_raced_file_is_not_run() {
    let home = home_with_program();
    let without_place = "|env|env X=1|time|timeout 5|nohup|stdbuf -o0|taskset -c 0|$UNSET|sh|bash|.|python3|perl|node|\
                         env -S|./unknown";
    let with_place = "$UNSET {}|nice {}|env X=1 {}|timeout 5 {}|`true` {}|env $UNSET {}";
    let by_interpreter = [
        "sh {}",
        "sh < {}",
        "sh <(cat {})",
        ". {}",
        "cat {} | sh",
        "cat {} | sort | nice sh -s x",
        "python3 {}",
        "python3 - < {}",
        "awk -f {} /dev/null",
    ];
    for line in without_place.split('|').chain(with_place.split('|')).chain(by_interpreter) {
        let said = race(&home, "data", &["-c", line]);
        said.refusal();
        assert!(!home.at("RAN").exists(), "{line:?}: {said}");
    }
    for option in HOOK_OPTIONS {
        race(&home, "data", &["-c", "wc -l", option, "sh {}"]).refuses("would be run as a program");
    }
    for line in [
        "sh -c '\"$1\"' sh {}",
        "sh -c 'exec \"$1\"' sh {}",
        "sh -c '. \"$1\"' sh {}",
        "sh -c 'cat \"$1\" | sh' sh {}",
        "f={}; \"./${f#./}\"",
        "csh {}",
    ] {
        race(&home, "data", &["-c", line]).refuses("would be run as a program");
    }
    // A script of the user's reads the file.
    home.file("script", "wc -l < \"${1:-/dev/stdin}\"\n");
    for line in ["sh script {}", "cat {} | sh script", "sh -s {} < script"] {
        race(&home, "data", &["-c", line]).exits(0);
    }
    assert!(!home.at("RAN").exists());
}

#[test]
fn a_command_that_writes_to_the_raced_file_is_not_run() {
    let home = Home::new();
    let text = "b\na\n";
    home.file("data", text);
    home.file("tree/file", text);
    symlink("data", home.at("latest")).unwrap();
    let why = "this writes to the raced file";
    for line in [
        "sort {} > {}",
        "sort {} >> '{}'",
        "wc -l {} 1> \"$1\"",
        "sort data > data",
        "tee {} < /dev/null",
        "sort -o {} {}",
        "sed -i s/a/c/ {}",
        "dd if=/dev/zero of={} count=1",
        "gzip {}",
        "sh -c 'sort \"$1\" > \"$1\"' sh {}",
        "sh -c 'sort \"$0\" > \"$0\"' {}",
        "f={}; sort $f > \"$f\"",
        "find {} -delete",
        "sort {} | sponge {}",
        "zstd --rm {}",
        "uniq data {}",
    ] {
        race(&home, "data", &["-c", line]).refuses(why);
    }
    for option in HOOK_OPTIONS {
        race(&home, "data", &["-c", "wc -l", option, "touch {}"]).refuses(why);
        race(&home, "data", &["-c", "wc -l", option, "rm -f {}*"]).refuses(why);
        for line in ["> data", "f=data; rm \"$f\"", "sh -c 'rm -f data'", "cp latest data"] {
            race(&home, "data", &["-c", "wc -l", option, line]).refuses(why);
        }
        race(&home, "latest", &["-c", "wc -l", option, "truncate -s 0 latest"]).refuses(why);
        race(&home, "tree", &["-c", "du -s", option, "rm -f tree/file"]).refuses(why);
    }
    race(&home, "data", &["-c", "truncate -s 0 data; wc -l {}"]).refuses(why);
    for trial in ["'command/sort {} > {}'", "'command/wc -l'\ncommand = { prepare = 'truncate -s 0 data' }"] {
        suite(&home, trial);
        home.readlab("suite s.toml data").refuses(why);
    }
    assert_eq!((home.read("data"), home.read("tree/file")), (text.to_owned(), text.to_owned()));
    // The link is replaced, and not the file that it leads to.
    race(&home, "data", &["-c", "wc -l", "--prepare", "ln -sf data latest", "--cleanup", "rm latest"])
        .exits(0);
    // The output is a file beside the raced one.
    race(&home, "data", &["-c", "sort {} > {}.out; wc -l {}"]).exits(0);
}

#[test]
fn a_command_that_has_written_to_the_raced_file_is_named_at_the_end() {
    let home = Home::with_file("data", "b\na\n");
    home.program("writer", "#!/bin/sh\nwc -l < \"$1\"\nprintf c | dd of=\"$1\" conv=notrunc 2>/dev/null\n");
    // The new content has the same size and the same time.
    home.program("resets", "#!/bin/sh\ntouch -d 2001-01-01 \"$1.x\"\ntouch -r \"$1.x\" \"$1\"\n");
    for line in ["./writer {}", "./writer {}; ./resets data"] {
        let said = race(&home, "data", &["-c", line]);
        assert_ne!(said.code, Some(0), "{said}");
        let named = format!("seen after a reading by command/{}", line.trim_end_matches(" {}"));
        said.tells(&named).tells("while it was raced");
    }
}

#[test]
fn a_cleanup_command_that_has_written_to_the_raced_file_is_named_at_the_end() {
    let home = Home::new();
    home.file("data", "b\na\n");
    let cleanup = "./touches data";
    home.program("touches", "#!/bin/sh\ntouch -d 2001-01-01 \"$1\"\n");
    let said = race(&home, "data", &["-c", "wc -l", "--cleanup", cleanup, "--output", "run"]);
    let named = format!("data was written to, seen after --cleanup '{cleanup}', while it was raced");
    assert!(said.code == Some(1) && said.err.contains(&named), "{said}");
    assert!(fs::read_to_string(home.at("run/record.jsonl")).unwrap().contains("target_changed"), "{said}");
    let said = race(&home, "data", &["-c", "wc -l", "--cleanup", "touch data.old"]);
    assert_eq!(said.code, Some(0), "beside it: {said}");
}

#[test]
fn the_raced_file_is_not_run_by_a_suite_or_as_the_reference() {
    let home = home_with_program();
    suite(&home, "'command/nice'");
    for words in [
        "suite s.toml data",
        "tune data --reference command/nice --method rust/read --state warm",
        "race data --reference command/nice --state warm",
    ] {
        home.readlab(words).refuses("'nice' has no {}; write {}");
    }
    // Around a command, a suite may not use the name as code either.
    suite(&home, "'command/wc -l'\ncommand = { prepare = \"sh -c 'touch {}'\" }");
    home.readlab("suite s.toml data").refuses("the file's name would be code");
    assert!(!home.at("RAN").exists());
}

#[test]
fn a_file_that_another_user_could_have_placed_is_named_and_not_run() {
    if !has_nobody() {
        return;
    }
    let home = Home::with_file("f", "one\n");
    let folder = home.folder("theirs");
    let program = home.program("theirs/program", "#!/bin/sh\ntouch RAN\n");
    home.file("mine.toml", entry("mine", &[program.to_str().unwrap()]));
    let refused = |reason: &str| {
        let said = home.readlab("race f --state warm --roster mine.toml --method mine/*");
        said.tells(reason).tells("theirs");
        assert!(!home.at("RAN").exists(), "{said}");
    };
    chown(&folder, Some(4321), None).unwrap();
    refused("belongs to user 4321, who is neither root nor you, so nothing is run from there");
    chown(&folder, Some(0), None).unwrap();
    set_mode(&folder, 0o777);
    refused("every user may write there, so nothing is run from there");
}

#[test]
fn a_roster_a_suite_and_a_record_that_another_user_could_have_written_run_nothing() {
    let home = Home::with_file("f", "one\n");
    home.file("mine.toml", entry("mine", &["/bin/sh", "-c", "touch RAN"]));
    suite(&home, "'command/touch RAN; wc -l'");
    race(&home, "f", &["-c", "wc -l", "--output", "run"]).exits(0);
    home.cut_short("run/record.jsonl");
    let of_users = [
        ("mine.toml", "race f --state warm --roster mine.toml --method mine/*"),
        ("s.toml", "suite s.toml f"),
        ("run/record.jsonl", "race --resume run"),
    ];
    let refused = |(file, words): (&str, &str), why: &str| {
        let said = home.readlab(words);
        said.tells(file).tells(&format!("{why}, so nothing is run from there"));
        assert!(said.code == Some(2) && !home.at("RAN").exists(), "{said}");
    };
    for of_user in of_users {
        set_mode(home.at(of_user.0), 0o666);
        refused(of_user, "every user may write there");
        set_mode(home.at(of_user.0), 0o644);
    }
    if !has_nobody() {
        return;
    }
    // What is run is in the plan of the record, whatever trials it has.
    let record = home.read("run/record.jsonl");
    let (before_trials, _) = record.split_once("{\"line\":\"trial\"").unwrap();
    home.file("run/record.jsonl", before_trials);
    set_mode(home.at("run/record.jsonl"), 0o666);
    refused(of_users[2], "every user may write there");
    // A record of another user is refused for that alone.
    for of_user in &of_users[..2] {
        chown(home.at(of_user.0), Some(4321), None).unwrap();
        refused(*of_user, "belongs to user 4321, who is neither root nor you");
    }
}

/// Plants a toolchain of Swift in which each program leaves a trace; returns the trace's path.
fn plant_toolchain(home: &Home, toolchains: &str) -> PathBuf {
    let folder = home.folder(format!("{toolchains}/swift"));
    for mounted in ["proc", "tmp", "mnt"] {
        home.folder(format!("{toolchains}/swift/{mounted}"));
    }
    // Swift's compiler is started by `env` within the folder.
    home.program(format!("{toolchains}/swift/usr/libexec/swift/bin/swiftc"), "");
    home.program(format!("{toolchains}/swift/usr/bin/env"), "#!/bin/sh\n: >/RAN\n");
    let copy = "for file in /bin/sh $(ldd /bin/sh | grep -o '/[^ )]*'); do
        mkdir -p \"$1${file%/*}\" && cp -L \"$file\" \"$1$file\"
    done";
    let copied = Command::new("sh").args(["-c", copy, "sh"]).arg(&folder).status().unwrap();
    assert!(copied.success());
    folder.join("RAN")
}

#[test]
fn a_program_for_credentials_that_another_user_could_have_written_is_not_run() {
    let home = Home::new();
    let program = home.program("keys/program", "#!/bin/sh\ntouch RAN\n");
    let race = || home.readlab("race s3://bucket/key --endpoint http://127.0.0.1:9");
    for interpreter in ["", "sh "] {
        let line = format!("[default]\ncredential_process = {interpreter}'{}'\n", program.display());
        let config = home.file(".aws/config", line);
        for place in [&config, &home.at(".aws"), &program, &home.at("keys")] {
            set_mode(place, 0o777);
            let why = "every user may write there, so nothing is run from there";
            race().refuses(&format!("{}: {why}", place.display()));
            assert!(!home.at("RAN").exists(), "{}", place.display());
            set_mode(place, 0o755);
        }
        race().refuses("it did not print credentials in version 1");
        fs::remove_file(home.at("RAN")).unwrap();
    }
}

#[test]
fn toolchains_and_built_contenders_of_other_users_are_not_run() {
    if !has_nobody() {
        return;
    }
    let home = Home::with_file("f", "one\n");
    // For a program outside the folder of its build, a roster does not make a checkout.
    home.file("contenders/roster.toml", "");
    let trace = plant_toolchain(&home, "toolchains");
    let toolchains = home.at("toolchains");
    // No other compiler is on this path. The script that looks for one runs the planted compiler if
    // the variable names it.
    let path = "/usr/bin:/bin";
    let script = repository::path("contenders/swift/swiftc.sh");
    let mut command = home.command(script);
    ProgramOutput::by(command.env("READLAB_TOOLCHAINS", &toolchains).env("PATH", path));
    if fs::remove_file(&trace).is_err() {
        skip("the planted toolchain cannot be run here");
    }
    home.program("readlab", fs::read(READLAB).unwrap());
    for words in ["request swift/fread f", "list"] {
        let mut command = home.command(home.at("readlab"));
        let said = ProgramOutput::by(command.args(words.words()).env("PATH", path));
        assert!(!trace.exists(), "what was planted was run: {said}");
        assert!(!said.to_string().contains(toolchains.to_str().unwrap()), "{said}");
    }
    let folder = home.folder("chains/swift");
    chown(&folder, Some(4321), None).unwrap();
    let mut command = home.command(READLAB);
    ProgramOutput::by(command.env("READLAB_TOOLCHAINS", home.at("chains")).args(["build", "swift"]))
        .tells("chains/swift: belongs to user 4321");
    // The cache belongs to another user.
    let cache = home.folder("cache");
    chown(&cache, Some(4321), None).unwrap();
    let mut command = home.command(READLAB);
    ProgramOutput::by(command.env("XDG_CACHE_HOME", &cache).args(["build", "python"]))
        .tells("cache: belongs to user 4321");
    // A build tool would read what another user put into a sticky folder above the cache.
    let cache = home.folder("shared/own/cache");
    set_mode(home.at("shared"), 0o1777);
    chown(home.folder("shared/.cargo"), Some(4321), None).unwrap();
    let mut command = home.command(READLAB);
    ProgramOutput::by(command.env("XDG_CACHE_HOME", &cache).args(["build", "python"]))
        .tells("shared/.cargo: belongs to user 4321");
}

#[test]
fn a_secret_in_a_command_is_neither_run_nor_shown() {
    let home = Home::with_file("data", "a\n");
    for line in [
        "curl -H 'Authorization: Bearer hush' http://127.0.0.1:9/x {}",
        "curl 127.0.0.1:9/x?my_key=hush {}",
        "TOKEN=hush wc -l {}",
        "wc --token hush {}",
    ] {
        suite(&home, &format!("\"command/{line}\""));
        for said in [
            race(&home, "data", &["-c", line, "--output", "run"]),
            home.readlab("suite s.toml data --output run"),
        ] {
            said.refuses("has a secret, which would be in the record: export it as a variable");
            assert!(!said.err.contains("hush") && !home.at("run").exists(), "{line}: {said}");
        }
    }
    race(&home, "data", &["-c", "true \"Authorization: Bearer $TOKEN\" && wc -l {}"]).exits(0);
}
