//! Tests of blocks at places of a file: `readlab race FILE --pattern`.

use super::Home;
use readlab_record::{Outcome, Record};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const BLOCKS: u64 = 50;

/// A file of blocks, each of one byte that no other has.
fn file(home: &Home) -> PathBuf {
    let content: Vec<u8> = (0..BLOCKS as u8).flat_map(|block| [block; 4096]).collect();
    home.file("blocks", content)
}

const TWO: [&str; 4] = ["--method", "rust/places-pread", "--method", "rust/places-mmap/scalar"];

fn race(home: &Home, file: &Path, words: &[&str]) -> (Value, super::Said) {
    home.race_json(file, &[&["--pattern", "random", "--reads", "20"], words].concat())
}

/// The trials that are neither controls nor unavailable.
fn measured(json: &Value) -> Vec<&Value> {
    let trials = json["trials"].as_array().unwrap().iter();
    trials.filter(|it| it["outcome"] == "measured" && it["cache"] != "none").collect()
}

#[test]
fn every_block_is_proven_and_every_read_is_timed() {
    let home = Home::new();
    let (json, said) = race(&home, &file(&home), &TWO);
    assert_eq!(said.code, Some(0), "{said}");
    let facts = &json["targets"][0]["places"];
    assert_eq!((&facts["reads"], &facts["distinct"]), (&20.into(), &20.into()), "{facts}");
    assert_eq!(facts["file_bytes"], BLOCKS * 4096);
    let trials = measured(&json);
    assert!(trials.len() >= 4, "two methods in two states: {said}");
    for trial in trials {
        assert_eq!(trial["answer"]["bytes"], 20 * 4096, "{trial}");
        assert_eq!(trial["answer"]["blocks"], 20, "{trial}");
        assert!(trial["reads_per_s"].as_u64().unwrap() > 0, "{trial}");
        let latency = &trial["latency"];
        let readings = trial["summary"]["wall_ns"]["n"].as_u64().unwrap();
        assert_eq!(latency["reads"], readings * 20, "{trial}");
        let quantiles = latency["quantiles"].as_array().unwrap().iter().map(|it| it["ns"].as_u64().unwrap());
        let quantiles: Vec<u64> = quantiles.chain([latency["max_ns"].as_u64().unwrap()]).collect();
        assert!(quantiles.len() > 1 && quantiles.is_sorted() && quantiles[0] > 0, "{trial}");
    }
}

#[test]
fn cold_readings_begin_with_no_page_of_the_whole_file_and_warm_ones_with_all() {
    let home = Home::new();
    let (_, said) = race(&home, &file(&home), &TWO);
    assert_eq!(said.code, Some(0), "{said}");
    let record = Record::read(&home.runs()[0].join("record.jsonl")).unwrap();
    let trials = record.trials.iter().filter(|it| it.outcome == Some(Outcome::Measured));
    for it in trials.filter(|it| !it.trial.is_control()) {
        let right = if it.trial.state.to_string() == "cold" { 0.0 } else { 1.0 };
        for sample in &it.samples {
            assert_eq!(sample.resident_before, Some(right), "{}", it.trial.id);
            let least = if right > 0.0 { 0 } else { 20 * 4096 };
            assert!(sample.device_read_bytes.is_none_or(|bytes| bytes >= least), "{sample:?}");
        }
    }
}

#[test]
fn what_has_no_places_is_refused_before_anything_is_read() {
    let home = Home::new();
    let file = file(&home);
    let small = home.file("small", "x".repeat(4095));
    let refused = |file: &Path, words: &[&str], why: &str| {
        let said = home.race(file, words);
        assert_eq!(said.code, Some(2), "{words:?}: {said}");
        assert!(said.err.contains(why), "{words:?}: {said}");
    };
    let random = ["--pattern", "random"];
    refused(&home.at(""), &random, "--pattern reads places of a file, and this is none");
    refused(Path::new("http://127.0.0.1:9/x"), &random, "and this is none");
    refused(&small, &random, "has no block of 4KiB");
    refused(&file, &["--pattern", "random", "--http"], "not with --http, --s3 or --files-from");
    refused(&file, &["--pattern", "random", "--work", "lines"], "a line may begin before a block");
    refused(&file, &["--pattern", "often"], "'often' is no pattern");
    refused(&file, &["--pattern", "random", "--block", "0"], "not from 1 byte to 1 GiB");
    refused(&file, &["--block", "8KiB"], "--pattern");
    refused(&file, &["--pattern", "random", "--reads", "0"], "0 is not in");
}

/// A contender of places that knows the right sum, and says this of the blocks and of single reads.
fn liar(home: &Home, says: &str, latencies: &str) -> String {
    let script = format!(
        r#"say() {{ printf '%s\n' "$1"; }}
say '{{"say":"hello","protocol":1,"contender":"liar","version":"1","runtime":"sh"}}'
if [ "$1" = methods ]; then
    say '{{"say":"method","method":"places","scans":{{"discard":["-"]}},"about":"a fake","cache":"through","reads":"places"}}'
    exit
fi
say '{{"say":"ready","params":{{}}}}'
while read -r go lead count; do
    turns=$count
    while [ "$count" -gt 0 ]; do
        say '{{"say":"sample","wall_ns":1000,"bytes":8192{says}}}'
        count=$((count - 1))
    done
    {latencies}
    say '{{"say":"done","count":'"$turns"'}}'
done
"#
    );
    let script = home.file("liar.sh", script);
    let roster = format!(
        "[[contender]]\nname = \"liar\"\nabout = \"a fake\"\nrun = [\"/bin/sh\", \"{}\"]\n",
        script.display()
    );
    home.file("roster.toml", roster).to_str().unwrap().to_owned()
}

#[test]
fn a_contender_that_does_not_prove_each_block_or_times_other_reads_is_refused() {
    // Two blocks of 4096 bytes: 1 × 4097 + 2 × 4097.
    const PROVEN: &str = ",\"blocks\":2,\"products\":12291";
    // Two reads.
    let two = "HISTFAAAACh4nJNpmSzMwMDAxgABTFCakYGBoXvTyQIG+w8QgV4OpsesTAB7IQZ2";
    let timed = |histogram: &str| format!("say '{{\"say\":\"latencies\",\"histogram\":\"{histogram}\"}}'");
    let home = Home::new();
    let file = file(&home);
    for (says, latencies, why) in [
        ("", String::new(), Some("do not prove that it read each file or block once")),
        (",\"blocks\":2,\"products\":1", String::new(), Some("do not prove")),
        (",\"blocks\":1,\"products\":12291", String::new(), Some("right is")),
        (PROVEN, timed("AAAA"), Some("no histogram of HdrHistogram")),
        (PROVEN, format!("{0}; {0}", timed(two)), Some("out of turn")),
        (PROVEN, "count=$turns".to_owned(), None),
    ] {
        let roster = liar(&home, says, &latencies);
        let words = ["--roster", &roster, "--method", "liar/places", "--state", "warm", "--work", "discard"];
        let words = [&["--pattern", "stride", "--reads", "2"], &words[..]].concat();
        let (json, said) = home.race_json(&file, &words);
        let trials = json["trials"].as_array().unwrap();
        let trial = trials.iter().find(|it| it["contender"] == "liar").unwrap();
        match why {
            Some(why) => {
                assert_eq!(said.code, Some(1), "{said}");
                assert!(trial["reason"].as_str().unwrap().contains(why), "{why}: {trial}");
            }
            None => assert_eq!(trial["outcome"], "measured", "{trial}"),
        }
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn tables_have_reads_per_second_and_what_single_reads_take() {
        let home = Home::new();
        let words = [
            "--state",
            "warm",
            "--pattern",
            "zipf:1.5",
            "--block",
            "8KiB",
            "--reads",
            "200",
            "--percentiles",
        ];
        let said = home.race(&file(&home), &[&words[..], &TWO, &["--export-markdown", "table.md"]].concat());
        assert_eq!(said.code, Some(0), "{said}");
        for text in [
            "reads/s",
            "p50",
            "p99",
            "200 zipf:1.5 reads of 8KiB",
            "single reads: p50 ",
            "control: rust/places-null",
        ] {
            assert!(said.out.contains(text), "{text}: {said}");
        }
        let table = fs::read_to_string(home.at("table.md")).unwrap();
        assert!(table.contains("| reads/s | p50 | p99 | p99.9 |"), "{table}");
    }

    #[test]
    fn a_seed_picks_the_places_and_a_run_that_was_cut_short_goes_on_with_them() {
        let home = Home::new();
        let file = file(&home);
        let digest = |seed: &str, name: &str| {
            let options = ["race", "--pattern", "random", "--reads", "20", "--seed", seed, "--output", name];
            let brief = ["--state", "warm", "--runs", "6", "--quiet", "--export-json", "-"];
            let words = [&options[..], &brief, &TWO, &[file.to_str().unwrap()]].concat();
            let said = home.readlab(words);
            assert_eq!(said.code, Some(0), "{said}");
            let json: Value = serde_json::from_str(&said.out).unwrap();
            json["targets"][0]["digest"].as_str().unwrap().to_owned()
        };
        let (one, again, other) = (digest("1", "a"), digest("1", "b"), digest("2", "c"));
        assert_eq!(one, again);
        assert_ne!(one, other);
        let record = home.at("a/record.jsonl");
        let whole = fs::read_to_string(&record).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        fs::write(&record, lines[..lines.len() * 2 / 3].join("\n") + "\n").unwrap();
        let said = home.readlab(["race", "--resume", record.to_str().unwrap()]);
        assert_eq!(said.code, Some(0), "{said}");
        assert!(said.out.contains("20 random reads of 4KiB"), "{said}");
    }

    #[test]
    fn a_depth_holds_for_every_method() {
        let home = Home::new();
        let methods = [&TWO[..], &["--method", "rust/places-ahead/scalar"]].concat();
        let (json, said) =
            race(&home, &file(&home), &[&methods[..], &["--depth", "3", "--state", "warm"]].concat());
        let trials = json["trials"].as_array().unwrap().iter().filter(|it| it["cache"] != "none");
        let trials: Vec<&Value> = trials.collect();
        assert!(trials.len() >= 3, "{said}");
        for trial in trials {
            let name = if trial["method"] == "places-ahead" { "depth" } else { "threads" };
            assert_eq!(trial["params"][name], 3, "{trial}");
        }
    }

    #[test]
    fn methods_of_whole_files_say_that_only_places_are_read_and_the_other_way_round() {
        let home = Home::new();
        let file = file(&home);
        let (json, said) = race(
            &home,
            &file,
            &["--method", "rust/read", "--method", "rust/places-pread", "--state", "warm"],
        );
        assert_eq!(said.code, Some(1), "{said}");
        let reason = |json: &Value, method: &str| {
            let trials = json["trials"].as_array().unwrap().clone();
            let trial = trials.into_iter().find(|it| it["method"] == method).unwrap();
            trial["reason"].as_str().unwrap().to_owned()
        };
        assert_eq!(reason(&json, "read"), "it reads whole files, and only places of one are read");
        let (json, said) = home
            .race_json(&file, &["--method", "rust/places-pread", "--method", "rust/read", "--state", "warm"]);
        assert_eq!(said.code, Some(1), "{said}");
        assert_eq!(reason(&json, "places-pread"), "it reads places of a file, which --pattern picks");
    }
}
