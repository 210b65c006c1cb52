//! Tests of records made by hand so that a common result becomes wrong: a record with the name of a
//! published case that read something else, and so would move the fitted line.

use crate::home::{Home, Said};
use readlab_record::testing::scripted;
use serde_json::{Value, json};

/// The changes to the scripted race that give its first trial the name `zip`.
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
        let race = scripted::text("race");
        home.file("crafted.jsonl", race.lines().map(|line| self.line(line)).collect::<String>());
    }
}

fn fitted(home: &Home, words: &str) -> Said {
    let line = "--state cold --fit zip/wall machine.max_turbo_ghz";
    home.readlab(format!("compare published:zip-lines crafted.jsonl {line} {words}"))
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
        let unlike = format!("zip of Old desktop and of crafted.jsonl: {why}");
        fitted(&home, "").refuses(&format!("not alike, so no line: {unlike}; --force fits"));
        let forced = fitted(&home, "--force").exits(0);
        forced.shows("unlike, fitted because it was forced: zip of Old desktop");
        forced.hides("max_turbo_ghz 5.52\n");
    }
}

#[test]
fn a_record_that_is_alike_is_one_more_point() {
    let home = Home::new();
    HONEST.saved(&home);
    fitted(&home, "").exits(0).shows("crafted.jsonl (9.9, ").hides("unlike, fitted");
}

#[test]
fn a_record_that_calls_itself_the_same_machine_is_no_part_of_its_mean_unless_it_is_alike() {
    let home = Home::new();
    Crafted { size_bytes: 2_000_000_000, ..HONEST }.saved(&home);
    let text = home.read("crafted.jsonl").replace("a processor that nobody has", "i7 9700T");
    home.file("crafted.jsonl", text.replace("9.9,", "4.3,"));
    fitted(&home, "").refuses("zip of Old desktop and of crafted.jsonl: the files differ");
}
