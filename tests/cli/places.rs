//! Tests of blocks at places of a file: `readlab race FILE --pattern`.

use crate::fake::roster_of;
use crate::home::{Export, Home, Trials, items};
use readlab_record::Outcome;
use serde_json::Value;

const BLOCKS: u64 = 50;

/// A home with a file of blocks, each of one byte value that no other block has.
fn home() -> Home {
    let home = Home::new();
    let content: Vec<u8> = (0..BLOCKS as u8).flat_map(|block| [block; 4096]).collect();
    home.file("blocks", content);
    home
}

const TWO_METHODS: &str = "--method rust/places-pread --method rust/places-mmap/scalar";

fn race(home: &Home, words: &str) -> Export {
    home.race_json("blocks", format!("--pattern random --reads 20 {words}"))
}

#[test]
fn every_block_is_proven_every_read_is_timed_and_the_state_is_that_of_the_whole_file() {
    let home = home();
    let json = race(&home, TWO_METHODS).exits(0);
    let facts = &json["targets"][0]["places"];
    assert_eq!((&facts["reads"], &facts["distinct"]), (&20.into(), &20.into()), "{facts}");
    assert_eq!(facts["file_bytes"], BLOCKS * 4096);
    let is_measured = |trial: &&Value| trial["outcome"] == "measured" && trial["cache"] != "none";
    let trials: Vec<&Value> = json.trials().iter().filter(is_measured).collect();
    assert!(trials.len() >= 4, "two methods in two states: {json}");
    for trial in trials {
        assert_eq!(trial["answer"]["bytes"], 20 * 4096, "{trial}");
        assert_eq!(trial["answer"]["blocks"], 20, "{trial}");
        assert!(trial["reads_per_s"].as_u64().unwrap() > 0, "{trial}");
        let latency = &trial["latency"];
        let readings = trial["summary"]["wall_ns"]["n"].as_u64().unwrap();
        assert_eq!(latency["reads"], readings * 20, "{trial}");
        let quantiles = items(&latency["quantiles"]).iter().map(|it| it["ns"].as_u64().unwrap());
        let quantiles: Vec<u64> = quantiles.chain([latency["max_ns"].as_u64().unwrap()]).collect();
        assert!(quantiles.len() > 1 && quantiles.is_sorted() && quantiles[0] > 0, "{trial}");
    }
    // Cold readings begin without any page of the file, and warm ones with all pages.
    let record = home.record(&home.runs()[0]);
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
fn a_parameter_that_no_method_takes_is_refused() {
    let home = home();
    for (words, why) in [
        ("--method rust/places-ahead/scalar --param threads=3", "no method that is raced has threads to set"),
        ("--method rust/places-pread --param depth=3", "no method that is raced has depth to set"),
        (
            "--method rust/places-ahead/scalar --param depth=5000",
            "the methods that are raced take depth of 1 to",
        ),
    ] {
        home.race("blocks", format!("--pattern random --state warm {words}")).refuses(why);
    }
}

#[test]
fn a_target_without_places_is_refused_before_anything_is_read() {
    let home = home();
    home.file("small", "x".repeat(4095));
    for (file, words, why) in [
        (".", "--pattern random", "--pattern reads places of a file, and this is none"),
        ("http://127.0.0.1:9/x", "--pattern random", "and this is none"),
        ("small", "--pattern random", "has no block of 4KiB"),
        ("blocks", "--pattern random --http", "not with --http, --s3 or --files-from"),
        ("blocks", "--pattern random --work lines", "a line may begin before a block"),
    ] {
        home.race(file, words).exits(2).tells(why);
    }
}

/// The turns of a contender of places that knows the right sum, and makes these claims about the
/// blocks and about single reads.
fn lying_turn(says: &str, latencies: &str) -> String {
    format!(
        r#"answered=$count
    while [ "$count" -gt 0 ]; do
        say '{{"say":"sample","wall_ns":1000,"bytes":8192{says}}}'
        count=$((count - 1))
    done
    {latencies}
    say '{{"say":"done","count":'"$answered"'}}'"#
    )
}

#[test]
fn a_contender_that_does_not_prove_each_block_or_times_other_reads_is_refused() {
    // The proof of two blocks of 4096 bytes: 1 × 4097 + 2 × 4097.
    const PROVEN: &str = ",\"blocks\":2,\"products\":12291";
    // An encoded histogram of two reads.
    let two = "HISTFAAAACh4nJNpmSzMwMDAxgABTFCakYGBoXvTyQIG+w8QgV4OpsesTAB7IQZ2";
    let timed = |histogram: &str| format!("say '{{\"say\":\"latencies\",\"histogram\":\"{histogram}\"}}'");
    let home = home();
    let cases = [
        ("unproven", lying_turn("", ""), "do not prove that it read each file or block once"),
        ("misproven", lying_turn(",\"blocks\":2,\"products\":1", ""), "do not prove"),
        ("short", lying_turn(",\"blocks\":1,\"products\":12291", ""), "right is"),
        ("garbled", lying_turn(PROVEN, &timed("AAAA")), "no histogram of HdrHistogram"),
        ("twice", lying_turn(PROVEN, &format!("{0}; {0}", timed(two))), "out of turn"),
        (
            "thrifty",
            lying_turn(&format!("{PROVEN},\"read_bytes\":8191"), ""),
            "its reads asked for 8191 bytes",
        ),
        ("honest", lying_turn(PROVEN, ""), ""),
    ];
    let fakes = cases.each_ref().map(|(name, turn, _)| (*name, turn.as_str()));
    let roster = roster_of(&home, r#""method":"places","scans":{"discard":["-"]},"reads":"places""#, &fakes);
    let methods = fakes.map(|(name, _)| format!(" --method {name}/places")).concat();
    let words = "--state warm --work discard --pattern stride --reads 2";
    let json = home.race_json("blocks", format!("--roster {roster} {words}{methods}")).exits(1);
    for (name, _, why) in &cases {
        let trial = json.trial_with("contender", name);
        assert_eq!(trial["outcome"] == "measured", why.is_empty(), "{name}: {trial}");
        assert!(trial["reason"].as_str().unwrap_or_default().contains(why), "{name}: {trial}");
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_seed_picks_the_places_and_a_run_that_was_cut_short_goes_on_with_them() {
        let home = home();
        let digest = |seed: u32, name: &str| {
            let options = format!("--pattern random --reads 20 --seed {seed} --output {name}");
            let brief = "--state warm --runs 6 --quiet --export-json -";
            let json = home.readlab(format!("race blocks {options} {brief} {TWO_METHODS}")).exits(0).json();
            json["targets"][0]["digest"].as_str().unwrap().to_owned()
        };
        let (one, again, other) = (digest(1, "a"), digest(1, "b"), digest(2, "c"));
        assert_eq!(one, again);
        assert_ne!(one, other);
        home.cut_short("a/record.jsonl");
        home.readlab("race --resume a/record.jsonl").exits(0).shows("20 random reads of 4KiB");
    }

    #[test]
    fn a_depth_holds_for_every_method() {
        let json =
            race(&home(), &format!("{TWO_METHODS} --method rust/places-ahead/scalar --depth 3 --state warm"));
        let trials: Vec<&Value> = json.trials().iter().filter(|it| it["cache"] != "none").collect();
        assert!(trials.len() >= 3, "{json}");
        for trial in trials {
            let name = if trial["method"] == "places-ahead" { "depth" } else { "threads" };
            assert_eq!(trial["params"][name], 3, "{trial}");
        }
    }

    #[test]
    fn methods_for_whole_files_take_no_part_with_places_and_methods_for_places_none_without() {
        let home = home();
        let words = "--method rust/read --method rust/places-pread --state warm";
        let json = race(&home, words).exits(1);
        let reason = &json.trial_with("method", "read")["reason"];
        assert_eq!(reason, "it reads whole files, and only places of one are read");
        let words_of_command = "--pattern random -c 'sha256sum {}' --check none --state warm";
        home.race("blocks", words_of_command).exits(2).tells(
            "nothing was measured: command/sha256sum: it reads whole files, and only places of one are read",
        );
        let json = home.race_json("blocks", words).exits(1);
        let reason = &json.trial_with("method", "places-pread")["reason"];
        assert_eq!(reason, "it reads places of a file, which --pattern picks or --ranges names");
        for words in ["--pattern random --method rust/pread*", "--method rust/http*"] {
            home.race("blocks", words).refuses("reads what is raced (`readlab list` shows what each reads)");
        }
    }
}
