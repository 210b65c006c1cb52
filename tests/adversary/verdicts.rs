//! Tests of hand-made records that could make a shared result wrong: a record with the name of a
//! published case that read something else, and would move the fitted line.

use crate::home::{Home, ProgramOutput};
use readlab_record::testing::scripted;
use serde_json::{Value, json};

/// Changes to the scripted race that give its first trial the name `zip`.
struct ForgedRecord {
    size_bytes: u64,
    work: &'static str,
    readers: u64,
}

/// The same properties as the published zip.
const AS_PUBLISHED: ForgedRecord = ForgedRecord { size_bytes: 1_010_000_000, work: "lines", readers: 1 };

impl ForgedRecord {
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

    fn save_in(&self, home: &Home) {
        let race = scripted::text("race");
        home.file("crafted.jsonl", race.lines().map(|line| self.line(line)).collect::<String>());
    }
}

fn run_fit(home: &Home, words: &str) -> ProgramOutput {
    let line = "--state cold --fit zip/wall machine.max_turbo_ghz";
    home.readlab(format!("compare published:zip-lines crafted.jsonl {line} {words}"))
}

#[test]
fn a_record_of_something_else_does_not_move_the_line_through_the_machines() {
    let home = Home::new();
    for (crafted, why) in [
        (ForgedRecord { size_bytes: 2_000_000_000, ..AS_PUBLISHED }, "the files differ, 1.01 GB and 2.00 GB"),
        (ForgedRecord { work: "newlines", ..AS_PUBLISHED }, "work lines and newlines"),
        (ForgedRecord { readers: 2, ..AS_PUBLISHED }, "readers 1 and 2"),
    ] {
        crafted.save_in(&home);
        let unlike = format!("zip of Old desktop and of crafted.jsonl: {why}");
        run_fit(&home, "").refuses(&format!("not alike, so no line: {unlike}; --force fits"));
        let forced = run_fit(&home, "--force").exits(0);
        forced.shows("unlike, fitted because it was forced: zip of Old desktop");
        forced.hides("max_turbo_ghz 5.52\n");
    }
}

#[test]
fn a_comparable_record_is_one_more_point() {
    let home = Home::new();
    AS_PUBLISHED.save_in(&home);
    run_fit(&home, "").exits(0).shows("crafted.jsonl (9.9, ").hides("unlike, fitted");
}

#[test]
fn a_record_counts_for_the_mean_of_a_machine_only_if_it_is_comparable() {
    let home = Home::new();
    ForgedRecord { size_bytes: 2_000_000_000, ..AS_PUBLISHED }.save_in(&home);
    let text = home.read("crafted.jsonl").replace("a processor that nobody has", "i7 9700T");
    home.file("crafted.jsonl", text.replace("9.9,", "4.3,"));
    run_fit(&home, "").refuses("zip of Old desktop and of crafted.jsonl: the files differ");
}
