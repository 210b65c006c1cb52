//! Tests of the files that readlab writes: it replaces none that it reads and none that it did not
//! make, writes through no link, and never two outputs to one place.

use super::{Home, READLAB, Said, listed};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

const TEXT: &str = "one\ntwo\nthree\n";

const ONLY: [&str; 4] = ["--method", "rust/read/scalar", "--state", "warm"];

/// Nothing is measured, the message names the file, and the user's files are as they were.
fn is_refused(home: &Home, said: &Said, name: &str) {
    let refusal = said.refusal();
    assert!(refusal.contains(name), "{name}: {said}");
    assert!(home.runs().is_empty(), "{name}: a run was begun");
    for file in ["f.txt", "tree/a.txt", "listed.txt"] {
        assert_eq!(fs::read_to_string(home.at(file)).unwrap(), TEXT, "{name}: {said}");
    }
}

#[test]
fn what_a_race_reads_is_replaced_by_none_of_its_outputs() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    fs::create_dir(home.at("tree")).unwrap();
    home.file("tree/a.txt", TEXT);
    home.file("listed.txt", TEXT);
    home.file("list", "listed.txt\n");
    home.file("mine.toml", "[[contender]]\nname = 'mine'\nabout = 'x'\nrun = ['cat']\n");
    home.file("claims.toml", "claims = []\n");
    symlink(&file, home.at("link")).unwrap();
    fs::hard_link(&file, home.at("second")).unwrap();
    symlink(home.at("nothing"), home.at("dangling")).unwrap();
    for option in ["--export-json", "--export-csv", "--export-markdown"] {
        for name in ["f.txt", "./tree/../f.txt", "link", "second", "dangling"] {
            is_refused(&home, &home.race(&file, &[&ONLY[..], &[option, name]].concat()), name);
        }
    }
    assert!(!home.at("nothing").exists(), "a dangling link was written through");
    let of = |words: &[&str], name| {
        is_refused(&home, &home.readlab([words, &ONLY, &["--export-json", name]].concat()), name);
    };
    of(&["race", "tree"], "tree/a.txt");
    of(&["race", "--files-from", "list"], "listed.txt");
    of(&["race", "f.txt", "--roster", "mine.toml"], "mine.toml");
    // What goes to standard output would be appended to the file.
    let out = fs::File::options().append(true).open(&file).unwrap();
    let mut command = std::process::Command::new(READLAB);
    command.args(["race", "f.txt"]).args(ONLY).envs(home.environment()).current_dir(home.folder.path());
    let ended = command.stdout(out).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("standard output: is read"));
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT);
}

#[test]
fn two_outputs_go_to_two_places_and_two_runs_share_none() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    fs::create_dir(home.at("tree")).unwrap();
    for name in ["tree/a.txt", "listed.txt"] {
        home.file(name, TEXT);
    }
    for (first, second) in [("out", "./tree/../out"), ("-", "-")] {
        let both = ["--export-json", first, "--export-csv", second];
        let said = home.race(&file, &[&ONLY[..], &both].concat());
        is_refused(&home, &said, "both --export-json and --export-csv write there");
    }
    for option in ["--export-json", "--export-csv", "--export-markdown"] {
        let said = home.readlab([&["race", "f.txt", "listed.txt", option, "out"][..], &ONLY].concat());
        is_refused(&home, &said, option);
    }
    assert!(!home.at("out").exists());
}

#[test]
fn a_report_that_is_there_is_replaced_by_no_run_and_a_page_replaces_nothing_that_was_read() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let users = home.file("users.html", "the user's");
    for link in [false, true] {
        let folder = home.at(format!("run-{link}"));
        fs::create_dir(&folder).unwrap();
        let page = folder.join("report.html");
        if link {
            symlink(&users, &page).unwrap()
        } else {
            fs::write(&page, "the user's").unwrap()
        }
        let said = home.race(&file, &[&ONLY[..], &["--output", folder.to_str().unwrap()]].concat());
        assert!(said.refusal().ends_with("has a report already, which is not overwritten"), "{said}");
        assert_eq!(fs::read_to_string(&page).unwrap(), "the user's");
        assert_eq!(listed(&folder), [page]);
    }
    let said =
        home.race(&file, &[&ONLY[..], &["--output", "run", "--quiet", "--export-json", "a.json"]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    symlink(&users, home.at("link.html")).unwrap();
    let record = "run/record.jsonl";
    let before = fs::read(home.at(record)).unwrap();
    for words in [
        &["report", "run", "-o", "f.txt"][..],
        &["report", "run", "-o", record],
        &["report", "run", "-o", "link.html"],
        &["report", "run", "-o", "same", "--export-json", "same"],
        &["report", "run", "-o", "page.html", "--export-json", "f.txt"],
        &["compare", "run", "run", "--export-html", "f.txt"],
        &["compare", "run", "run", "--export-json", record],
        &["compare", "run", "run", "--export-bmf", "x", "--export-github", "x"],
        &["claims", "newlines", "run", "--export-markdown", record],
        &["race", "--resume", "run", "--export-json", "f.txt"],
        &["race", "f.txt", "--flamegraph=users.html"],
    ] {
        let said = home.readlab(words);
        assert_eq!(said.code, Some(2), "{words:?}: {said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), TEXT, "{words:?}");
        assert_eq!(fs::read_to_string(&users).unwrap(), "the user's", "{words:?}");
        assert_eq!(fs::read(home.at(record)).unwrap(), before, "{words:?}");
    }
    // An earlier export and an earlier page are replaced, as the options say.
    let is_written = |words: &[&str], name: &str| {
        let said = home.readlab(words);
        assert_eq!(said.code, Some(0), "{words:?}: {said}");
        assert!(fs::metadata(home.at(name)).unwrap().len() > 100, "{words:?}");
    };
    is_written(&["report", "run", "--export-json", "a.json"], "a.json");
    is_written(&["report", "run"], "run/report.html");
    let left: Vec<_> = listed(home.folder.path()).into_iter().filter(|it| is_temporary(it)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A home with a run of `f.txt` in the folder `run`, and its claims.
fn with_a_run() -> Home {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let said = home.race(&file, &[&ONLY[..], &["--output", "run", "--quiet"]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    let claims = "name = 'x'\nsource = 'x'\n[[claim]]\nsays = 'x'\nwhere = 'x'\nkind = 'ratio'\nat_least = 2\npairs = [['rust/a', 'rust/b']]\n";
    home.file("claims.toml", claims);
    home
}

#[test]
fn a_file_that_readlab_did_not_make_is_replaced_by_no_verb() {
    let home = with_a_run();
    let claims = fs::read_to_string(home.at("claims.toml")).unwrap();
    home.file("record.json", fs::read(home.at("run/record.jsonl")).unwrap());
    home.file("run/report.html", "<!DOCTYPE html>\n<title>the user's</title>\n");
    fs::create_dir(home.at("charts")).unwrap();
    home.file("charts/ranking-0-warm.svg", "<svg/>");
    let said = home.readlab(["compare", "run", "run", "--export-json", "comparison.json"]);
    assert_eq!(said.code, Some(0), "{said}");
    for (name, text) in [
        ("a.json", "{\"schema\": 1}\n"),
        ("a.csv", "trial,id\n0,mine\n"),
        ("a.md", "### mine\n"),
        ("a.html", "<!DOCTYPE html>\n<html lang=\"en\"></html>\n"),
        ("bmf.json", "{\n  \"mine\": {\n    \"latency\": {\n      \"value\": 1\n    }\n  }\n}\n"),
        ("github.json", "[\n  {\n    \"name\": \"mine\",\n    \"unit\": \"ns\",\n    \"value\": 1\n  }\n]\n"),
        ("space", "\n"),
    ] {
        home.file(name, text);
    }
    let race = |words: &'static [&'static str]| [&["race", "f.txt"], &ONLY[..], words].concat();
    for (words, name) in [
        (race(&["--export-json", "a.json"]), "a.json"),
        (race(&["--export-csv", "a.csv"]), "a.csv"),
        (race(&["--export-markdown", "a.md"]), "a.md"),
        (race(&["--export-markdown", "space"]), "space"),
        (race(&["--export-json", "comparison.json"]), "comparison.json"),
        (race(&["--claims", "claims.toml", "--export-json", "record.json"]), "record.json"),
        (vec!["report", "run"], "run/report.html"),
        (vec!["report", "run", "-o", "a.html"], "a.html"),
        (vec!["report", "run", "-o", "b.html", "--export-json", "a.json"], "a.json"),
        (vec!["report", "run", "-o", "b.html", "--svg", "charts"], "charts/ranking-0-warm.svg"),
        (vec!["report", "run", "--claims", "claims.toml", "-o", "claims.toml"], "claims.toml"),
        (vec!["claims", "newlines", "--export-json", "a.json"], "a.json"),
        (vec!["claims", "newlines", "--export-markdown", "a.md"], "a.md"),
        (vec!["claims", "--claims", "claims.toml", "run", "--export-json", "f.txt"], "f.txt"),
        (vec!["compare", "run", "run", "--export-json", "a.json"], "a.json"),
        (vec!["compare", "run", "run", "--export-markdown", "a.md"], "a.md"),
        (vec!["compare", "run", "run", "--export-html", "a.html"], "a.html"),
        (vec!["compare", "run", "run", "--export-bmf", "bmf.json"], "bmf.json"),
        (vec!["compare", "run", "run", "--export-github", "github.json"], "github.json"),
    ] {
        let before = fs::read(home.at(name)).unwrap();
        let said = home.readlab(&words);
        let refusal = said.refusal();
        assert!(refusal.contains(name) && refusal.contains("another file"), "{words:?}: {said}");
        let cause =
            if name.ends_with(".toml") || name == "f.txt" { "is read" } else { "no export of readlab" };
        assert!(refusal.contains(cause), "{words:?}: {said}");
        assert_eq!(fs::read(home.at(name)).unwrap(), before, "{words:?}");
        assert!(home.runs().is_empty() && !home.at("b.html").exists(), "{words:?}");
    }
    assert_eq!(fs::read_to_string(home.at("claims.toml")).unwrap(), claims);
}

#[test]
fn an_earlier_output_of_the_same_format_is_replaced() {
    let home = with_a_run();
    for words in [
        &["race", "f.txt", "--export-json", "a.json", "--export-csv", "a.csv", "--export-markdown", "a.md"][..],
        &["report", "run"],
        &["report", "run", "-o", "a.html", "--export-json", "a.json", "--svg", "charts"],
        &["claims", "newlines", "--export-json", "claims.json", "--export-markdown", "claims.md"],
        &["compare", "run", "run", "--export-json", "b.json", "--export-markdown", "a.md"],
        &["compare", "run", "run", "--export-html", "a.html", "--export-bmf", "c", "--export-github", "d"],
        &["report", "run", "-o", "/dev/null", "--export-json", "/dev/null"],
        &["report", "run", "-o", "-", "--export-json", "/dev/null"],
    ] {
        let only = if words[0] == "race" { &ONLY[..] } else { &[] };
        for _ in 0..2 {
            let said = home.readlab([words, only].concat());
            assert_eq!(said.code, Some(0), "{words:?}: {said}");
        }
    }
    // What is there is empty before the first: a program that makes a temporary file hands it over.
    home.file("empty", "");
    let said = home.readlab(["report", "run", "--export-json", "empty"]);
    assert!(said.code == Some(0) && fs::metadata(home.at("empty")).unwrap().len() > 100, "{said}");
}

#[test]
fn a_flame_graph_replaces_no_file_that_is_raced_and_none_that_readlab_did_not_make() {
    let home = Home::new();
    let file = home.file("f.txt", TEXT);
    let draw = |target: &Path| home.race(target, &[&ONLY[..], &["--flamegraph=fl"]].concat());
    let said = draw(&file);
    assert_eq!(said.code, Some(0), "{said}");
    let Some(picture) = listed(&home.at("fl")).pop() else {
        eprintln!("SKIPPED: flame graphs that are there already: none was drawn: {said}");
        return;
    };
    assert_eq!(draw(&file).code, Some(0), "an earlier one is replaced");
    let made = fs::read(&picture).unwrap();
    let name = picture.file_name().unwrap().to_str().unwrap();
    let runs = home.runs().len();
    let said = draw(&picture);
    assert!(said.refusal().contains(name) && said.err.contains("is read, so --flamegraph"), "{said}");
    assert_eq!(fs::read(&picture).unwrap(), made);
    fs::write(&picture, "<svg/>").unwrap();
    let said = draw(&file);
    assert!(said.refusal().contains(name) && said.err.contains("no export of readlab"), "{said}");
    assert_eq!(fs::read(&picture).unwrap(), b"<svg/>");
    assert_eq!(home.runs().len(), runs, "nothing was measured");
}

#[test]
fn what_readlab_says_into_a_raced_folder_is_left_out_of_it() {
    let home = Home::new();
    fs::create_dir(home.at("tree")).unwrap();
    for name in ["tree/a.txt", "listed.txt"] {
        home.file(name, TEXT);
    }
    home.file("list", "listed.txt\n");
    // As a shell opens it, before readlab begins.
    let with_errors_in = |log: &str, words: &[&str]| {
        let log = fs::File::options().append(true).create(true).open(home.at(log)).unwrap();
        let mut command = std::process::Command::new(READLAB);
        command.args(words).args(ONLY).envs(home.environment()).current_dir(home.folder.path());
        command.stdout(Stdio::piped()).stderr(log).output().unwrap()
    };
    let ended = with_errors_in("tree/log.txt", &["race", "tree", "--runs", "3"]);
    let said = fs::read_to_string(home.at("tree/log.txt")).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("round 3"), "nothing was said into the folder: {said}");
    let out = String::from_utf8_lossy(&ended.stdout).replace(['\n', ' '], "");
    assert!(out.contains("Notread,forreadlabwritesthere:") && out.contains("tree/log.txt"), "{out}");
    // A list names its files: one of them would be written to while it is raced.
    let ended = with_errors_in("listed.txt", &["race", "--files-from", "list"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(fs::read_to_string(home.at("listed.txt")).unwrap().contains("standard error: is read"));
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".readlab-"))
}
