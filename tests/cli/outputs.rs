//! Tests of the files that readlab writes: it replaces none that it reads, writes through no link,
//! and never two outputs to one place.

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
    home.file("a.json", "an earlier one");
    is_written(&["report", "run", "--export-json", "a.json"], "a.json");
    is_written(&["report", "run"], "run/report.html");
    let left: Vec<_> = listed(home.folder.path()).into_iter().filter(|it| is_temporary(it)).collect();
    assert!(left.is_empty(), "{left:?}");
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".readlab-"))
}
