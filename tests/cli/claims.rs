//! Tests of `readlab claims` and of `--claims`: what publications claim, by their own figures and
//! by a record; claims of one's own; wrong claims.

use super::{Home, QUICK, Said};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

fn claims(home: &Home, words: &[&str]) -> Said {
    home.readlab([&["claims"], words].concat())
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// Three claims about the golden race: of one the interval is clear, of one the opposite is, and
/// the trial of one is not there.
const OWN: &str = r#"name = "mine"
source = "what we were told"

[[claim]]
says = "mapping is slower than nothing"
where = "a meeting"
kind = "ratio"
state = "warm"
pairs = [{ of = "FIRST", to = "SECOND" }]
at_least = 0.001

[[claim]]
says = "mapping takes no time"
where = "a meeting"
kind = "ratio"
state = "warm"
pairs = [{ of = "FIRST", to = "SECOND" }]
at_most = 0.001

[[claim]]
question = "What else?"
says = "telepathy is faster"
where = "a dream"
kind = "ratio"
pairs = [{ of = "rust/telepathy", to = "SECOND" }]
at_most = 1.0
"#;

fn own(home: &Home, first: &str, second: &str) -> String {
    let text = OWN.replace("FIRST", first).replace("SECOND", second);
    home.file("mine.toml", text).to_str().unwrap().to_owned()
}

fn verdicts(claims: &Value, by: &str) -> Vec<String> {
    let all = claims[0]["claims"].as_array().unwrap();
    all.iter().map(|it| it[by]["verdict"].as_str().unwrap_or("none").to_owned()).collect()
}

#[test]
fn without_a_record_publications_are_judged_by_their_own_figures() {
    let home = Home::new();
    let all = claims(&home, &[]);
    assert_eq!((all.code, all.err.as_str()), (Some(0), ""), "{all}");
    assert_eq!(all.out.matches("claims of ").count(), 4, "{all}");
    assert!(!all.out.contains(" here "), "{all}");
    let one = claims(&home, &["byte-stream", "--export-markdown", "-"]);
    for line in [
        "6.81 to 20.0 × | does not hold",
        "7 of 14 ranks differ | does not hold",
        "1.14 to 1.58 × | does not hold",
    ] {
        assert!(one.out.contains(line), "no {line:?} in {one}");
    }
    let exported = json(&claims(&home, &["byte-stream", "--export-json", "-"]));
    assert_eq!(exported["schema"], "readlab.claims");
    assert!(exported["claims"][0]["claims"].as_array().unwrap().iter().all(|it| it["here"].is_null()));
}

#[test]
fn a_record_answers_the_claims_of_its_suite_or_those_that_are_named() {
    let home = Home::new();
    let (suite, sweep, race) = (golden("made/suite.jsonl"), golden("sweep.jsonl"), golden("race.jsonl"));
    let [suite, sweep, race] = [&suite, &sweep, &race].map(|path| path.to_str().unwrap());
    let by_suite = claims(&home, &[suite, "--export-markdown", "-"]);
    assert!(by_suite.out.contains("| here |") && by_suite.out.contains("How fast can I read?"), "{by_suite}");
    assert!(by_suite.out.contains("cannot be told: zip (cold) did not take part"), "{by_suite}");
    assert!(claims(&home, &[sweep]).out.contains("Internal SSDs"), "a sweep answers the claims on sizes");
    let named = claims(&home, &["newlines", race, "--export-json", "-"]);
    assert_eq!(named.code, Some(0), "{named}");
    assert!(verdicts(&json(&named)["claims"], "here").iter().any(|it| it == "cannot_be_told"));
    let said = claims(&home, &[race]);
    assert!(said.refusal().contains("no claims are about this record"), "{said}");
}

#[test]
fn claims_of_ones_own_are_judged_by_any_record() {
    let home = Home::new();
    let mine = own(&home, "rust/mmap/avx2@threads=2", "rust/read/avx2@buffer=64KiB");
    let race = golden("race.jsonl");
    let said = claims(&home, &["--claims", &mine, race.to_str().unwrap(), "--export-json", "-"]);
    let exported = json(&said);
    let expected = ["holds", "does_not_hold", "cannot_be_told"];
    assert_eq!(verdicts(&exported["claims"], "here"), expected, "{said}");
    assert_eq!(verdicts(&exported["claims"], "by_its_own_figures"), ["cannot_be_told"; 3]);
    let why = exported["claims"][0]["claims"][2]["here"]["why"].as_str().unwrap();
    assert_eq!(why, "rust/telepathy did not take part");
}

#[test]
fn wrong_claims_are_refused_before_anything_is_measured() {
    let home = Home::new();
    let file = home.file("f.txt", "one\n");
    let wrong = home.file("wrong.toml", "name = \"x\"\nsource = \"x\"\n[[claim]]\nsays = \"x\"\nwhere = \"x\"\nkind = \"ratio\"\nat_least = 2\n");
    let wrong = wrong.to_str().unwrap();
    let expected = "line 6, column 8: kind 'ratio' has no 'pairs', expected pairs";
    for words in [&["claims", "--claims", wrong][..], &["race", file.to_str().unwrap(), "--claims", wrong]] {
        let said = home.readlab(words);
        assert!(said.refusal().contains(expected), "{said}");
        assert!(home.runs().is_empty(), "{said}");
    }
    let said = claims(&home, &["newlnes"]);
    assert!(said.refusal().contains("newlines, byte-stream, sizes, zip-lines"), "{said}");
    let said = claims(&home, &["newlines", "no-such-record"]);
    assert!(said.refusal().contains("no-such-record"), "{said}");
    let said = claims(&home, &["--claims", "none.toml"]);
    assert!(said.refusal().contains("none.toml"), "{said}");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_run_ends_with_the_claims_in_every_form() {
        let home = Home::new();
        let (file, mine) =
            (home.file("f.txt", "one\ntwo\n"), own(&home, "rust/mmap/scalar", "rust/read/scalar"));
        let suite = "name = \"s\"\nabout = \"\"\nstate = \"warm\"\ncontrols = false\n[[trial]]\ntrial = \"rust/read/scalar\"\n\
                 [[trial]]\ntrial = \"rust/mmap/scalar\"\n";
        let (suite, table, export) = (home.file("s.toml", suite), home.at("t.md"), home.at("e.json"));
        let words =
            ["suite", suite.to_str().unwrap(), file.to_str().unwrap(), "--claims", &mine, "--output", "run"];
        let exports =
            ["--export-markdown", table.to_str().unwrap(), "--export-json", export.to_str().unwrap()];
        let said = home.readlab([&words[..], &exports, &QUICK].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let page = fs::read_to_string(home.at("run/report.html")).unwrap();
        for (form, text) in
            [("terminal", &said.out), ("page", &page), ("table", &fs::read_to_string(table).unwrap())]
        {
            for part in ["laims of what we were told", "telepathy is faster", "did not take part"] {
                assert!(text.contains(part), "no {part:?} in the {form}: {text}");
            }
            assert!(!text.contains("a single round has no interval"), "three rounds have intervals: {text}");
        }
        let exported: Value = serde_json::from_str(&fs::read_to_string(export).unwrap()).unwrap();
        // What three rounds of two bytes show is up to the machine.
        assert_eq!(verdicts(&exported["claims"], "here")[2], "cannot_be_told");
    }
}
