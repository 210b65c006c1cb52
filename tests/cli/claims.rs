//! Tests of `readlab claims` and of `--claims`: claims of publications, judged by their own figures
//! and by a record; the user's own claims; and invalid claims.

use crate::home::{Home, QUICK, items};
use crate::repository::record_file;
use serde_json::Value;

/// Three claims about the scripted race. The interval confirms the first and contradicts the
/// second, and the trial of the third does not exist.
const OWN_CLAIMS: &str = r#"name = "mine"
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

/// Writes these claims, about these two trials, into `mine.toml`.
fn write_own_claims(home: &Home, first: &str, second: &str) {
    home.file("mine.toml", OWN_CLAIMS.replace("FIRST", first).replace("SECOND", second));
}

fn verdicts(claims: &Value, by: &str) -> Vec<String> {
    let all = items(&claims[0]["claims"]).iter();
    all.map(|it| it[by]["verdict"].as_str().unwrap_or("none").to_owned()).collect()
}

#[test]
fn without_a_record_publications_are_judged_by_their_own_figures() {
    let home = Home::new();
    let all = home.readlab("claims").succeeds_silently();
    assert_eq!(all.out.matches("claims of ").count(), 6, "{all}");
    all.hides(" here ");
    let one = home.readlab("claims byte-stream --export-markdown -");
    for line in ["6.81 to 20.0 ×", "7 of 14 ranks differ", "1.14 to 1.58 ×"] {
        one.shows(&format!("{line} | does not hold"));
    }
    let exported = home.readlab("claims byte-stream --export-json -").json();
    assert_eq!(exported["schema"], "readlab.claims");
    assert!(items(&exported["claims"][0]["claims"]).iter().all(|it| it["here"].is_null()));
}

#[test]
fn a_record_answers_the_claims_of_its_suite_or_the_named_claims() {
    let home = Home::new();
    let [suite, sweep, race] = ["suite", "sweep", "race"].map(|name| record_file(name).display().to_string());
    let by_suite = home.readlab(["claims", &suite, "--export-markdown", "-"]);
    for text in ["| here |", "How fast can I read?", "cannot be told: zip (cold) did not take part"] {
        by_suite.shows(text);
    }
    // A sweep answers the claims about sizes.
    home.readlab(["claims", &sweep]).shows("Internal SSDs");
    let named = home.readlab(["claims", "newlines", &race, "--export-json", "-"]).exits(0);
    assert!(verdicts(&named.json()["claims"], "here").iter().any(|it| it == "cannot_be_told"));
    home.readlab(["claims", &race]).refuses("no claims are about this record");
}

#[test]
fn the_users_own_claims_are_judged_by_any_record() {
    let home = Home::new();
    write_own_claims(&home, "rust/mmap/avx2@threads=2", "rust/read/avx2@buffer=64KiB");
    let words = format!("claims --claims mine.toml {} --export-json -", record_file("race").display());
    let exported = home.readlab(words).json();
    let expected = ["holds", "does_not_hold", "cannot_be_told"];
    assert_eq!(verdicts(&exported["claims"], "here"), expected);
    assert_eq!(verdicts(&exported["claims"], "by_its_own_figures"), ["cannot_be_told"; 3]);
    let why = exported["claims"][0]["claims"][2]["here"]["why"].as_str().unwrap();
    assert_eq!(why, "rust/telepathy did not take part");
}

#[test]
fn wrong_claims_are_refused_before_anything_is_measured() {
    let home = Home::with_file("f.txt", "one\n");
    let claim = "[[claim]]\nsays = \"x\"\nwhere = \"x\"\nkind = \"ratio\"\nat_least = 2\n";
    home.file("wrong.toml", format!("name = \"x\"\nsource = \"x\"\n{claim}"));
    let no_pairs = "line 6, column 8: kind 'ratio' has no 'pairs', expected pairs";
    for (words, why) in [
        ("claims --claims wrong.toml", no_pairs),
        ("race f.txt --claims wrong.toml", no_pairs),
        ("claims newlnes", "newlines, byte-stream, sizes, zip-lines"),
        ("claims newlines no-such-record", "no-such-record"),
        ("claims --claims none.toml", "none.toml"),
    ] {
        home.readlab(words).refuses(why);
        assert!(home.runs().is_empty(), "{words}");
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_run_ends_with_the_claims_in_every_form() {
        let home = Home::with_file("f.txt", "one\ntwo\n");
        write_own_claims(&home, "rust/mmap/scalar", "rust/read/scalar");
        let suite = "name = 's'\nabout = ''\nstate = 'warm'\ncontrols = false\n[[trial]]\ntrial = 'rust/read/scalar'\n\
                     [[trial]]\ntrial = 'rust/mmap/scalar'\n";
        home.file("s.toml", suite);
        let exports = "--output run --export-markdown t.md --export-json e.json";
        let said = home.readlab(format!("suite s.toml f.txt --claims mine.toml {exports} {QUICK}")).exits(0);
        let (page, table) = (home.read("run/report.html"), home.read("t.md"));
        for (form, text) in [("terminal", said.out), ("page", page), ("table", table)] {
            for part in ["laims of what we were told", "telepathy is faster", "did not take part"] {
                assert!(text.contains(part), "no {part:?} in the {form}: {text}");
            }
            assert!(!text.contains("a single round has no interval"), "three rounds have intervals: {text}");
        }
        // The result of three rounds of two bytes depends on the machine.
        assert_eq!(verdicts(&home.json("e.json")["claims"], "here")[2], "cannot_be_told");
    }
}
