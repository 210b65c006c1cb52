//! Tests of what readlab executes: never the name of a file, never the raced file, and nothing that
//! another user could have put where it looks.

use super::{Home, READLAB, Said, no_other_user};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};

/// A race of one command, warm.
fn race(home: &Home, file: &str, words: &[&str]) -> Said {
    let more = ["--state", "warm", "--method", "command/*"];
    home.race(&home.at(file), &[words, &more].concat())
}

#[test]
fn the_name_of_a_file_is_no_code_in_any_command_and_a_quoted_place_is_right() {
    let home = Home::new();
    let hostile = "a $(touch PWNED) `touch PWNED` 'b\"; touch PWNED #";
    home.file(hostile, "one\ntwo\n");
    let prepare = ["--prepare", "test -e '{}' && touch \"{}.seen\""];
    for line in ["cat '{}' | wc -l", "cat \"{}\" | wc -l", "wc -l < {}", "sh -c 'cat \"$1\" | wc -l' sh {}"] {
        let said = race(&home, hostile, &[&["-c", line][..], &prepare].concat());
        assert_eq!(said.code, Some(0), "{line}: {said}");
    }
    assert!(home.at(format!("{hostile}.seen")).exists(), "the command before readings got another name");
    for line in ["sh -c 'cat {} | wc -l'", "sh -c {}", "eval wc -l {}"] {
        let said = race(&home, hostile, &["-c", line]);
        assert!(said.refusal().contains("sh -c 'cat \"$1\" | wc -l' sh {}"), "{line}: {said}");
    }
    for option in ["--prepare", "--setup", "--cleanup", "--check"] {
        let said = race(&home, hostile, &["-c", "wc -l", option, "sh -c 'test -e {}'"]);
        assert!(said.refusal().contains("the file's name would be code"), "{option}: {said}");
    }
    assert!(!home.at("PWNED").exists());
    // Of a name with a blank no other file is a part.
    home.file("my data", "one\n");
    home.file("my", "keep\n");
    let said = race(&home, "my data", &["-c", "wc -l", "--prepare", "rm -f \"{}.tmp\""]);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(home.at("my").exists(), "{said}");
}

#[test]
fn the_raced_file_is_not_run() {
    let home = Home::new();
    let file = home.file("data", "#!/bin/sh\ntouch RAN\necho 3\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    let without_place = [
        "",
        "  ",
        "LC_ALL=C",
        "wc -l |",
        "nice",
        "env",
        "env X=1",
        "time",
        "timeout 5",
        "nohup",
        "stdbuf -o0",
        "taskset -c 0",
        "$UNSET",
        "sh",
        "bash",
        ".",
        "python3",
        "perl",
        "node",
        "env -S",
        "./unknown",
    ];
    let with_place =
        ["{}", "$UNSET {}", "nice {}", "env X=1 {}", "timeout 5 {}", "`true` {}", "env $UNSET {}"];
    for line in without_place.into_iter().chain(with_place) {
        let said = race(&home, "data", &["-c", line]);
        said.refusal();
        assert!(!home.at("RAN").exists(), "{line:?}: {said}");
    }
}

#[test]
fn a_command_that_writes_to_the_raced_file_is_not_run() {
    let home = Home::new();
    let text = "b\na\n";
    let file = home.file("data", text);
    let lines = [
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
    ];
    for line in lines {
        let said = race(&home, "data", &["-c", line]);
        assert!(said.refusal().contains("this writes to the raced file"), "{line}: {said}");
    }
    for option in ["--prepare", "--setup", "--cleanup", "--check"] {
        let said = race(&home, "data", &["-c", "wc -l", option, "touch {}"]);
        assert!(said.refusal().contains("this writes to the raced file"), "{option}: {said}");
    }
    home.file("s.toml", "name = 's'\nabout = 'x'\n[[trial]]\ntrial = 'command/sort {} > {}'\n");
    let said = home.readlab(["suite", "s.toml", "data"]);
    assert!(said.refusal().contains("this writes to the raced file"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    let said = race(&home, "data", &["-c", "sort {} > {}.out; wc -l {}"]);
    assert_eq!(said.code, Some(0), "beside it: {said}");
}

#[test]
fn a_command_that_has_written_to_the_raced_file_is_named_at_the_end() {
    let home = Home::new();
    home.file("data", "b\na\n");
    let script =
        home.file("writer", "#!/bin/sh\nwc -l < \"$1\"\nprintf c | dd of=\"$1\" conv=notrunc 2>/dev/null\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    // Of the same size, and with the time that it had.
    for line in ["./writer {}", "./writer {}; touch -d 2001-01-01 ./data.x; touch -r ./data.x ./data"] {
        let said = race(&home, "data", &["-c", line]);
        let named = format!("seen after a reading by command/{}", line.trim_end_matches(" {}"));
        let is_named = said.err.contains(&named) && said.err.contains("while it was raced");
        assert!(said.code != Some(0) && is_named, "{line}: {said}");
    }
}

#[test]
fn a_clean_up_that_has_written_to_the_raced_file_is_named_at_the_end() {
    let home = Home::new();
    home.file("data", "b\na\n");
    let cleanup = "./touches data";
    let script = home.file("touches", "#!/bin/sh\ntouch -d 2001-01-01 \"$1\"\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let said = race(&home, "data", &["-c", "wc -l", "--cleanup", cleanup, "--output", "run"]);
    let named = format!("data was written to, seen after --cleanup '{cleanup}', while it was raced");
    assert!(said.code == Some(1) && said.err.contains(&named), "{said}");
    assert!(fs::read_to_string(home.at("run/record.jsonl")).unwrap().contains("target_changed"), "{said}");
    let said = race(&home, "data", &["-c", "wc -l", "--cleanup", "touch data.old"]);
    assert_eq!(said.code, Some(0), "beside it: {said}");
}

#[test]
fn the_raced_file_is_not_run_by_a_suite_or_as_the_reference() {
    let home = Home::new();
    let file = home.file("data", "#!/bin/sh\ntouch RAN\necho 3\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    home.file("s.toml", "name = 's'\nabout = 'x'\n[[trial]]\ntrial = 'command/nice'\n");
    let tune = ["tune", "data", "--reference", "command/nice", "--method", "rust/read", "--state", "warm"];
    let race = ["race", "data", "--reference", "command/nice", "--state", "warm"];
    for words in [&["suite", "s.toml", "data"][..], &tune, &race] {
        let said = home.readlab(words);
        assert!(said.refusal().contains("'nice' names no file; write {}"), "{said}");
    }
    // What a suite runs around a command has no name as code either.
    let prepare = "command = { prepare = \"sh -c 'touch {}'\" }";
    home.file("s.toml", format!("name = 's'\nabout = 'x'\n[[trial]]\ntrial = 'command/wc -l'\n{prepare}\n"));
    let said = home.readlab(["suite", "s.toml", "data"]);
    assert!(said.refusal().contains("the file's name would be code"), "{said}");
    assert!(!home.at("RAN").exists());
}

#[test]
fn what_another_user_could_have_put_there_is_not_run_and_named() {
    if let Some(why) = no_other_user() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let home = Home::new();
    home.file("f", "one\n");
    let folder = home.at("theirs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("program"), "#!/bin/sh\ntouch RAN\n").unwrap();
    fs::set_permissions(folder.join("program"), fs::Permissions::from_mode(0o755)).unwrap();
    let run = folder.join("program");
    let entry = format!("[[contender]]\nname = 'mine'\nabout = 'x'\nrun = ['{}']\n", run.display());
    home.file("mine.toml", entry);
    let refused = |reason: &str| {
        let said =
            home.readlab(["race", "f", "--state", "warm", "--roster", "mine.toml", "--method", "mine/*"]);
        assert!(said.err.contains(reason) && said.err.contains("theirs"), "{said}");
        assert!(!home.at("RAN").exists(), "{said}");
    };
    chown(&folder, Some(4321), None).unwrap();
    refused("belongs to user 4321, who is neither root nor you, so nothing is run from there");
    chown(&folder, Some(0), None).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    refused("every user may write there, so nothing is run from there");
}

#[test]
fn toolchains_and_built_contenders_of_others_are_not_run() {
    if let Some(why) = no_other_user() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let home = Home::new();
    let file = home.file("f", "one\n");
    // Beside a program that is elsewhere than where it was built, a roster makes no checkout.
    fs::create_dir_all(home.at("contenders")).unwrap();
    home.file("contenders/roster.toml", "");
    let planted = home.at("toolchains/swift");
    fs::create_dir_all(&planted).unwrap();
    fs::copy(READLAB, home.at("readlab")).unwrap();
    let of_copy = |words: &[&str]| Said::by(home.command(home.at("readlab").to_str().unwrap()).args(words));
    let said = of_copy(&["request", "swift/fread", file.to_str().unwrap()]);
    assert!(!format!("{said}").contains(home.at("toolchains").to_str().unwrap()), "{said}");
    // A cache that belongs to somebody else.
    let cache = home.at("cache");
    fs::create_dir(&cache).unwrap();
    chown(&cache, Some(4321), None).unwrap();
    let mut command = home.command(READLAB);
    command.env("XDG_CACHE_HOME", &cache).args(["build", "python"]);
    let said = Said::by(&mut command);
    assert!(said.err.contains("cache: belongs to user 4321"), "{said}");
}

#[test]
fn a_secret_in_a_command_is_neither_run_nor_shown() {
    let home = Home::new();
    home.file("data", "a\n");
    let lines = [
        "curl -H 'Authorization: Bearer hush' http://127.0.0.1:9/x {}",
        "wget --header=X-Mine:hush {}",
        "curl 127.0.0.1:9/x?my_key=hush {}",
        "curl -u me:hush {}",
    ];
    for line in lines {
        let record = ["--output", "run"];
        let said = race(&home, "data", &[&["-c", line][..], &record].concat());
        assert!(said.refusal().contains("has a secret in a URL or a header"), "{line}: {said}");
        assert!(!format!("{said}").contains("hush") && !home.at("run").exists(), "{line}: {said}");
        home.file("s.toml", format!("name = 's'\nabout = 'x'\n[[trial]]\ntrial = \"command/{line}\"\n"));
        let said = home.readlab(["suite", "s.toml", "data"]);
        assert!(said.refusal().contains("has a secret in a URL or a header"), "{line}: {said}");
        assert!(!format!("{said}").contains("hush"), "{line}: {said}");
    }
    let said = race(&home, "data", &["-c", "true \"Authorization: Bearer $TOKEN\" && wc -l {}"]);
    assert_eq!(said.code, Some(0), "{said}");
}
