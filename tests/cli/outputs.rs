//! Tests of the files that readlab writes. It replaces no file that it reads or did not make,
//! writes through no link, and never writes two outputs to one path.

use crate::home::{Home, ProgramOutput, QUICK, READLAB, Words, paths_in};
use crate::machine::skip;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

const TEXT: &str = "one\ntwo\nthree\n";

const WARM_READ: &str = "--method rust/read/scalar --state warm";

/// The options that write the results of a run into a file.
const EXPORTS: [&str; 3] = ["--export-json", "--export-csv", "--export-markdown"];

/// A home with a file, a folder with a file, and a list with a file.
fn home() -> Home {
    let home = Home::new();
    for name in ["f.txt", "tree/a.txt", "listed.txt"] {
        home.file(name, TEXT);
    }
    home.file("list", "listed.txt\n");
    home
}

/// Asserts that nothing is measured, that the message has these words, and that the user's files
/// are unchanged.
#[track_caller]
fn assert_refused(home: &Home, words: &str, why: &str) {
    let said = home.readlab(format!("{words} {WARM_READ}"));
    said.refuses(why);
    assert!(home.runs().is_empty(), "a run was begun: {said}");
    for file in ["f.txt", "tree/a.txt", "listed.txt"] {
        assert_eq!(home.read(file), TEXT, "{said}");
    }
}

/// Runs readlab with its standard output or standard error (by its number) appended to a file, as a
/// shell opens it before readlab begins.
fn run_with_stream_appended_to(home: &Home, stream: u32, file: &str, words: &str) -> ProgramOutput {
    let mut command = home.command(READLAB);
    command.args(format!("{words} {WARM_READ}").words());
    let file = File::options().append(true).create(true).open(home.at(file)).unwrap();
    ProgramOutput::by(if stream == 1 { command.stdout(file) } else { command.stderr(file) })
}

#[test]
fn no_output_of_a_race_replaces_a_file_that_it_reads() {
    let home = home();
    home.file("mine.toml", "[[contender]]\nname = 'mine'\nabout = 'x'\nrun = ['cat']\n");
    symlink(home.at("f.txt"), home.at("link")).unwrap();
    fs::hard_link(home.at("f.txt"), home.at("second")).unwrap();
    symlink(home.at("nothing"), home.at("dangling")).unwrap();
    for option in EXPORTS {
        for name in ["f.txt", "./tree/../f.txt", "link", "second", "dangling"] {
            assert_refused(&home, &format!("race f.txt {option} {name}"), name);
        }
    }
    assert!(!home.at("nothing").exists(), "a dangling link was written through");
    for (words, name) in [
        ("race tree", "tree/a.txt"),
        ("race --files-from list", "listed.txt"),
        ("race f.txt --roster mine.toml", "mine.toml"),
    ] {
        assert_refused(&home, &format!("{words} --export-json {name}"), name);
    }
    // Standard output would be appended to the file.
    run_with_stream_appended_to(&home, 1, "f.txt", "race f.txt").exits(2).tells("standard output: is read");
    assert_eq!(home.read("f.txt"), TEXT);
}

#[test]
fn two_outputs_or_two_runs_never_share_a_path() {
    let home = home();
    for (first, second) in [("out", "./tree/../out"), ("-", "-"), ("-", "/dev/stdout")] {
        let both = format!("race f.txt --export-json {first} --export-csv {second}");
        assert_refused(&home, &both, "both --export-json and --export-csv write there");
    }
    home.folder("there");
    for folder in ["there", "new"] {
        for (name, what) in [("report.html", "the page"), ("record.jsonl", "the record")] {
            let words = format!("race f.txt --output {folder} --export-json {folder}/{name}");
            assert_refused(&home, &words, &format!("both --export-json and {what} write there"));
        }
    }
    assert!(home.at("there").exists() && !home.at("new").exists());
    home.race("f.txt", format!("{WARM_READ} --output cut --quiet")).exits(0);
    home.cut_short("cut/record.jsonl");
    fs::remove_file(home.at("cut/report.html")).unwrap();
    let before = home.read("cut/record.jsonl");
    let said = home.readlab("race --resume cut --export-json cut/report.html").exits(2);
    said.tells("both --export-json and the page write there");
    assert_eq!(home.read("cut/record.jsonl"), before);
    for option in EXPORTS {
        assert_refused(&home, &format!("race f.txt listed.txt --apart {option} out"), option);
    }
    assert!(!home.at("out").exists());
}

#[test]
fn no_export_takes_the_place_of_a_file_to_which_a_stream_goes() {
    let home = home();
    for option in EXPORTS {
        for (stream, name) in [(1, "standard output"), (2, "standard error")] {
            let words = format!("race f.txt {option} ./out");
            let said = run_with_stream_appended_to(&home, stream, "out", &words).exits(2);
            let text = said.err.clone() + &home.read("out");
            assert!(text.contains(&format!("./out: both {name} and {option} write there")), "{said}");
            fs::remove_file(home.at("out")).unwrap();
        }
    }
    assert!(home.runs().is_empty());
    let mut compare = home.command(READLAB);
    let out = File::create(home.at("c.json")).unwrap();
    compare.args(["compare", "published:newlines", "--export-json", "c.json"]).stdout(out);
    ProgramOutput::by(&mut compare).exits(2).tells("c.json: both standard output and --export-json write");
    // An export on standard output goes to the file alone.
    for path in ["-", "/dev/stdout"] {
        let words = format!("race f.txt --runs 2 --export-json {path}");
        let said = run_with_stream_appended_to(&home, 1, "out", &words).exits(0);
        assert!(home.read("out").starts_with('{'), "{said}");
        fs::remove_file(home.at("out")).unwrap();
    }
}

#[test]
fn no_table_is_printed_where_an_export_has_the_path_of_standard_output() {
    let home = home();
    home.race("f.txt", format!("{WARM_READ} --output run --quiet")).exits(0);
    for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        home.race("f.txt", format!("{WARM_READ} --export-json {path}")).exits(0).json();
        let compared = home.readlab(format!("compare run run --export-json {path}")).exits(0);
        assert!(compared.out.starts_with('{'), "{compared}");
    }
}

#[test]
fn no_run_replaces_an_existing_report_and_no_page_replaces_a_file_that_was_read() {
    let home = home();
    let users = home.file("users.html", "the user's");
    for link in [false, true] {
        let page = home.file(format!("run-{link}/report.html"), "the user's");
        if link {
            fs::remove_file(&page).unwrap();
            symlink(&users, &page).unwrap();
        }
        let said = home.race("f.txt", format!("{WARM_READ} --output run-{link}"));
        said.refuses("has a report already, which is not overwritten\n");
        assert_eq!(fs::read_to_string(&page).unwrap(), "the user's");
        assert_eq!(paths_in(page.parent().unwrap()), [page]);
    }
    home.race("f.txt", format!("{WARM_READ} --output run --quiet --export-json a.json")).exits(0);
    symlink(&users, home.at("link.html")).unwrap();
    let record = "run/record.jsonl";
    symlink(home.at(record), home.at("record.html")).unwrap();
    let before = home.read(record);
    for (words, why) in [
        ("report run -o f.txt", "is read, so --"),
        ("report run -o run/record.jsonl", "is read, so --"),
        ("report run -o record.html", "is read, so --"),
        ("report run --export-json run/record.jsonl", "is read, so --"),
        ("report run -o link.html", ""),
        ("report run -o same --export-json same", ""),
        ("report run -o page.html --export-json f.txt", ""),
        ("compare run run --export-html f.txt", ""),
        ("compare run run --export-json run/record.jsonl", ""),
        ("compare run run --export-bmf x --export-github x", ""),
        ("claims newlines run --export-markdown run/record.jsonl", ""),
        ("race --resume run --export-json f.txt", ""),
        ("race f.txt --flamegraph=users.html", ""),
    ] {
        home.readlab(words).exits(2).tells(why);
        assert_eq!(home.read("f.txt"), TEXT, "{words}");
        assert_eq!(home.read("users.html"), "the user's", "{words}");
        assert_eq!(home.read(record), before, "{words}");
    }
    // An earlier export and an earlier page are replaced, as the options say.
    for (words, name) in [("report run --export-json a.json", "a.json"), ("report run", "run/report.html")] {
        home.readlab(words).exits(0);
        assert!(fs::metadata(home.at(name)).unwrap().len() > 100, "{words}");
    }
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut left = paths_in(home.at("")).into_iter().filter(|it| name(it).starts_with(".readlab-"));
    assert_eq!(left.next(), None);
}

/// A home with a run of `f.txt` in the folder `run`, and its claims.
fn home_with_a_run() -> Home {
    let home = home();
    home.race("f.txt", format!("{WARM_READ} --output run --quiet")).exits(0);
    let claims = "name = 'x'\nsource = 'x'\n[[claim]]\nsays = 'x'\nwhere = 'x'\nkind = 'ratio'\nat_least = 2\npairs = [['rust/a', 'rust/b']]\n";
    home.file("claims.toml", claims);
    home
}

#[test]
fn no_verb_replaces_a_file_that_readlab_did_not_make() {
    let home = home_with_a_run();
    let claims = home.read("claims.toml");
    home.file("record.json", home.read("run/record.jsonl"));
    home.file("run/report.html", "<!DOCTYPE html>\n<title>the user's</title>\n");
    home.folder("charts");
    home.readlab("compare run run --export-json comparison.json").exits(0);
    for (name, text) in [
        ("a.json", "{\"schema\": 1}\n"),
        ("a.csv", "trial,id\n0,mine\n"),
        ("a.md", "### mine\n"),
        ("a.html", "<!DOCTYPE html>\n<html lang=\"en\"></html>\n"),
        ("bmf.json", "{\n  \"mine\": {\n    \"latency\": {\n      \"value\": 1\n    }\n  }\n}\n"),
        ("github.json", "[\n  {\n    \"name\": \"mine\",\n    \"unit\": \"ns\",\n    \"value\": 1\n  }\n]\n"),
        ("space", "\n"),
        ("charts/ranking-0-warm.svg", "<svg/>"),
    ] {
        home.file(name, text);
    }
    for (words, name) in [
        ("race f.txt WARM_READ --export-json a.json", "a.json"),
        ("race f.txt WARM_READ --export-csv a.csv", "a.csv"),
        ("race f.txt WARM_READ --export-markdown a.md", "a.md"),
        ("race f.txt WARM_READ --export-markdown space", "space"),
        ("race f.txt WARM_READ --export-json comparison.json", "comparison.json"),
        ("race f.txt WARM_READ --claims claims.toml --export-json record.json", "record.json"),
        ("report run", "run/report.html"),
        ("report run -o a.html", "a.html"),
        ("report run -o b.html --export-json a.json", "a.json"),
        ("report run -o b.html --svg charts", "charts/ranking-0-warm.svg"),
        ("report run --claims claims.toml -o claims.toml", "claims.toml"),
        ("claims newlines --export-json a.json", "a.json"),
        ("claims newlines --export-markdown a.md", "a.md"),
        ("claims --claims claims.toml run --export-json f.txt", "f.txt"),
        ("compare run run --export-json a.json", "a.json"),
        ("compare run run --export-markdown a.md", "a.md"),
        ("compare run run --export-html a.html", "a.html"),
        ("compare run run --export-bmf bmf.json", "bmf.json"),
        ("compare run run --export-github github.json", "github.json"),
    ] {
        let before = home.read(name);
        let said = home.readlab(words.replace("WARM_READ", WARM_READ));
        let is_read = name.ends_with(".toml") || name == "f.txt";
        said.refuses(name).tells("another file");
        said.tells(if is_read { "is read" } else { "no export of readlab" });
        assert_eq!(home.read(name), before, "{words}");
        assert!(home.runs().is_empty() && !home.at("b.html").exists(), "{words}");
    }
    assert_eq!(home.read("claims.toml"), claims);
}

#[test]
fn an_earlier_output_of_the_same_format_is_replaced() {
    let home = home_with_a_run();
    let exports = "--export-json a.json --export-csv a.csv --export-markdown a.md";
    for words in [
        &*format!("race f.txt {WARM_READ} {QUICK} {exports}"),
        "report run",
        "report run -o a.html --export-json a.json --svg charts",
        "claims newlines --export-json claims.json --export-markdown claims.md",
        "compare run run --export-json b.json --export-markdown a.md",
        "compare run run --export-html a.html --export-bmf c --export-github d",
        "report run -o /dev/null --export-json /dev/null",
        "report run -o - --export-json /dev/null",
    ] {
        for _ in 0..2 {
            home.readlab(words).exits(0);
        }
    }
    // The file is empty before the first output: a program that makes a temporary file may pass it
    // on.
    home.file("empty", "");
    let said = home.readlab("report run --export-json empty").exits(0);
    assert!(home.read("empty").len() > 100, "{said}");
}

#[test]
fn an_export_through_a_pipe_waits_for_no_reader() {
    let home = home();
    let pipe = home.at("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    for option in EXPORTS {
        assert_refused(&home, &format!("race f.txt {option} pipe"), "start its reader first");
    }
    let reader = File::from(open(&pipe, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap());
    let said = home.race("f.txt", format!("{WARM_READ} --export-markdown pipe")).exits(0);
    let export = io::read_to_string(reader).unwrap();
    assert!(export.contains("rust/read/scalar"), "{export:?}: {said}");
}

#[test]
fn a_flame_graph_replaces_no_file_that_is_raced_and_none_that_readlab_did_not_make() {
    let home = home();
    let draw = |target: &Path| home.race(target, format!("{WARM_READ} --flamegraph=fl"));
    let file = home.at("f.txt");
    let said = draw(&file).exits(0);
    let Some(picture) = paths_in(home.at("fl")).pop() else {
        return skip(format!("flame graphs that are there already: none was drawn: {said}"));
    };
    let made = home.read(&picture);
    let name = picture.file_name().unwrap().to_str().unwrap();
    let runs = home.runs().len();
    draw(&picture).refuses(name).tells("is read, so --flamegraph");
    assert_eq!(home.read(&picture), made);
    fs::write(&picture, "<svg/>").unwrap();
    draw(&file).refuses(name).tells("no export of readlab");
    assert_eq!(home.read(&picture), "<svg/>");
    assert_eq!(home.runs().len(), runs, "nothing was measured");
}

#[test]
fn messages_written_into_a_raced_folder_are_no_part_of_it() {
    let home = home();
    let said = run_with_stream_appended_to(&home, 2, "tree/log.txt", "race tree --runs 3").exits(0);
    let log = home.read("tree/log.txt");
    assert!(log.contains("round "), "nothing was said into the folder: {log}");
    let out = said.out.replace(['\n', ' '], "");
    assert!(out.contains("Notread,forreadlabwritesthere:") && out.contains("tree/log.txt"), "{out}");
    // A list names its files, so one of them would be written to while it is raced.
    run_with_stream_appended_to(&home, 2, "listed.txt", "race --files-from list").exits(2);
    assert!(home.read("listed.txt").contains("standard error: is read"));
}
