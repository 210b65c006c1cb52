//! Tests of records made by hand so that a common result becomes wrong: a record with the name of a
//! published case that read something else, and so would move the fitted line.

use super::home::{Home, Said};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The changes to the golden race that give its first trial the name `zip`.
struct Crafted {
    size_bytes: u64,
    work: &'static str,
    readers: u64,
}

/// As the published zip is.
const HONEST: Crafted = Crafted { size_bytes: 1_010_000_000, work: "lines", readers: 1 };

impl Crafted {
    fn line(&self, line: &str) -> String {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["line"] == "header" {
            line["machine"]["cpu"] = json!("a processor that nobody has");
            line["machine"]["max_turbo_ghz"] = json!(9.9);
        } else if line["line"] == "target" {
            line["facts"]["size_bytes"] = json!(self.size_bytes);
        } else if line["line"] == "trial" {
            line["work"] = json!(self.work);
            if line["index"] == 0 {
                line["label"] = json!("zip");
                line["params"] = json!({ "readers": self.readers });
            }
        }
        line.to_string() + "\n"
    }

    fn saved(&self, home: &Home) {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/race.jsonl");
        let text: String = fs::read_to_string(golden).unwrap().lines().map(|line| self.line(line)).collect();
        home.file("crafted.jsonl", text);
    }
}

fn fitted(home: &Home, words: &[&str]) -> Said {
    let asked = ["compare", "published:zip-lines", "crafted.jsonl", "--state", "cold"];
    let line = ["--fit", "zip/wall", "machine.max_turbo_ghz"];
    home.readlab([&asked[..], &line, words].concat())
}

#[test]
fn a_record_of_something_else_does_not_move_the_line_through_the_machines() {
    let home = Home::new();
    for (crafted, why) in [
        (Crafted { size_bytes: 2_000_000_000, ..HONEST }, "the files differ, 1.01 GB and 2.00 GB"),
        (Crafted { work: "newlines", ..HONEST }, "work lines and newlines"),
        (Crafted { readers: 2, ..HONEST }, "readers 1 and 2"),
    ] {
        crafted.saved(&home);
        let said = fitted(&home, &[]);
        let told =
            format!("not alike, so no line: zip of Old desktop and of crafted.jsonl: {why}; --force fits");
        assert!(said.refusal().contains(&told), "{said}");
        let forced = fitted(&home, &["--force"]);
        assert_eq!(forced.code, Some(0), "{forced}");
        assert!(forced.out.contains("unlike, fitted because it was forced: zip of Old desktop"), "{forced}");
        assert!(!forced.out.contains("max_turbo_ghz 5.52\n"), "{forced}");
    }
}

#[test]
fn a_record_that_is_alike_is_one_more_point() {
    let home = Home::new();
    HONEST.saved(&home);
    let said = fitted(&home, &[]);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.out.contains("crafted.jsonl (9.9, ") && !said.out.contains("unlike, fitted"), "{said}");
}

#[test]
fn a_record_that_calls_itself_the_same_machine_is_no_part_of_its_mean_unless_it_is_alike() {
    let home = Home::new();
    Crafted { size_bytes: 2_000_000_000, ..HONEST }.saved(&home);
    let text = fs::read_to_string(home.at("crafted.jsonl")).unwrap();
    let text = text.replace("a processor that nobody has", "i7 9700T").replace("9.9,", "4.3,");
    home.file("crafted.jsonl", text);
    let said = fitted(&home, &[]);
    assert!(said.refusal().contains("zip of Old desktop and of crafted.jsonl: the files differ"), "{said}");
}
