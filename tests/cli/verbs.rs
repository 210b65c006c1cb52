//! Tests of the verbs that do not measure: help, list, request, corpus, schema, completions, man;
//! and of invalid arguments.

use crate::fake::{entry, roster};
use crate::home::{Home, ProgramOutput};
use crate::machine::skip;
use crate::repository;
use std::fs;

#[test]
fn the_version_is_that_of_the_package() {
    let said = Home::new().readlab("--version");
    assert_eq!(said.out, format!("readlab {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn list_shows_methods_scans_and_settings_and_why_a_contender_cannot_take_part() {
    let absent = entry("absent", &["/no/such/reader"]) + "hint = 'install it'\n";
    let home = Home::with_file("roster.toml", absent);
    let list = home.readlab("list --roster roster.toml").exits(0);
    for part in ["rust 0.", "rust/mmap\n", "rust/io_uring\n", "command 0.", "newlines", "buffer=", "settings"]
    {
        list.shows(part);
    }
    list.shows("absent · a fake\n  unavailable: cannot start /no/such/reader").shows("install it");
    let sums = home.readlab("list --work sum").succeeds_silently();
    sums.hides("rust/lines\n");
    assert!(sums.out.len() < list.out.len(), "{sums}");
}

#[test]
fn a_request_runs_by_hand() {
    let home = Home::with_file("a 'file'", "a\nb\n");
    let said = home.readlab("request rust/read/scalar@buffer=64KiB \"a 'file'\"").exits(0);
    ProgramOutput::by(&mut home.shell(&said.out)).shows("\"newlines\":2").shows("\"say\":\"done\"");
}

#[test]
fn a_request_for_a_method_without_dictionaries_is_refused_with_one() {
    let home = Home::with_file("d", "a dictionary\n");
    home.readlab("request rust/read/scalar d --dictionary d")
        .refuses("--dictionary: rust/read/scalar does not decode with a dictionary");
    home.readlab("request rust/zstd/memchr d --dictionary d").exits(0).shows("READLAB_DICTIONARY=");
}

/// Runs a verb about a folder of test files.
fn corpus(home: &Home, folder: &str, words: &str) -> ProgramOutput {
    home.readlab(format!("corpus --folder {folder} {words}")).exits(0)
}

#[test]
fn corpus_makes_lists_and_cleans() {
    let home = Home::new();
    assert_eq!(corpus(&home, "c", "make lines 1MiB").out, "c/lines-1MiB-seed1.txt\n");
    assert_eq!(fs::metadata(home.at("c/lines-1MiB-seed1.txt")).unwrap().len(), 1 << 20);
    insta::assert_snapshot!("corpus-list", corpus(&home, "c", "list").out);
    home.file("c/mine", "not yours");
    corpus(&home, "c", "clean");
    assert_eq!(corpus(&home, "c", "list").out, "");
    let left: Vec<_> = fs::read_dir(home.at("c")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["mine"]);
}

#[test]
fn a_mistake_in_a_file_of_the_user_is_one_line_with_its_position() {
    let home = Home::with_file("f", "a\n");
    home.file("r.toml", "[[contender]]\nname = \"mine\"\nabut = \"x\"\n");
    home.file("s.toml", "name = \"x\"\nabout = \"y\"\nwork = \"sums\"\ntrial = []\n");
    home.file("o.toml", "[[contender\nname = 3");
    for (words, why) in [
        ("list --roster r.toml", "r.toml: line 3, column 1: unknown field `abut`, expected"),
        ("list --roster o.toml", "o.toml: line 1, column 12: unclosed array table, expected"),
        ("suite s.toml f", "s.toml: line 3, column 8: unknown variant `sums`"),
    ] {
        let refused = home.readlab(words);
        let line = refused.refuses(why).refusal();
        assert!(!line.contains("\\n") && !line.contains('|'), "{line}");
    }
}

/// The code between backquotes in a document that has this beginning.
fn typed<'a>(document: &'a str, begin: &'a str) -> impl Iterator<Item = &'a str> {
    document.split('`').skip(1).step_by(2).filter(move |code| code.starts_with(begin))
}

#[test]
fn the_steps_for_your_own_contender_work_as_written() {
    let home = Home::new();
    // The contender comes as sources which must be built.
    home.folder("mine");
    let built = "sources = \"mine\"\nbuild = [[\"/bin/mkdir\", \"-p\", \"{build}\"]]\n";
    let mine = home.read(roster(&home, &[("mine", "answer")])) + built;
    home.file("my.toml", mine);
    home.file("FILE", "one\ntwo\n");
    let document = repository::text("CONTRIBUTING.md");
    let steps = typed(&document, "readlab ").filter(|step| step.contains("my.toml"));
    // The scene of an own contender in documents.toml has a contender that can be verified.
    let steps: Vec<&str> = steps.filter(|step| !step.contains(" verify ")).collect();
    assert_eq!(steps.len(), 4, "build, list, request and race: {steps:?}");
    for step in steps {
        let quick = if step.contains(" race ") { " --runs 2 --state warm" } else { "" };
        let step = format!("{}{quick}", step.replace("METHOD", "read"));
        ProgramOutput::by(&mut home.shell(step)).exits(0).shows("mine");
    }
}

#[test]
fn printed_schemas_equal_the_stored_ones() {
    let home = Home::new();
    let listed = home.readlab("schema").succeeds_silently().out;
    let names: Vec<&str> = listed.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(names, ["record", "export", "comparison", "claims", "verification"]);
    for name in names {
        let printed = home.readlab(["schema", name]).succeeds_silently();
        assert_eq!(printed.out, repository::text(&format!("docs/schema/{name}.json")));
    }
    home.readlab("schema nonsense").exits(2).refuses("'nonsense' has no schema");
}

#[test]
fn shells_and_man_accept_the_completions_and_the_manual() {
    let home = Home::new();
    let bash = home.readlab("completions bash").out;
    assert!(bash.contains("complete -F _readlab") && !bash.contains("contender"), "hidden verbs stay hidden");
    home.file("completions", bash);
    match home.command("bash").args(["-n", "completions"]).output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => skip(format!("bash did not look at its completions: {error}")),
    }
    let man = home.readlab("man");
    man.shows(".TH readlab 1").shows(".SH \"READLAB RACE\"").hides("READLAB CONTENDER");
}
