//! Tests of contenders and other programs that keep the file in memory between turns, and of
//! contenders whose device bytes cannot be read. The contender at fault is refused, the others are
//! measured, and unproven samples are counted separately.

use crate::fake::entry;
use crate::home::{Export, Home, QUICK, Trials, items, set_mode};
use crate::machine::{NOBODY, has_nobody, skip, succeeds_or_skip};
use crate::processes::{KilledOnDrop, processes_of_home};
use crate::repository;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use std::fs::File;
use std::os::unix::fs::chown;
use std::process::Command;

/// A home with the contender under test, and a file that can be cold; `None` with a message if that
/// is impossible.
fn home_with_keeper() -> Option<Home> {
    if !succeeds_or_skip("cc --version") {
        return None;
    }
    let home = Home::new();
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-o"]).arg(home.at("keeper")).arg(repository::path("tests/adversary/keeper.c"));
    assert!(compiler.status().unwrap().success(), "keeper.c does not compile");
    let file = home.file("f.txt", "0123456789abcde\n".repeat(1 << 18));
    set_mode(&file, 0o644);
    let filesystem = Filesystem::read(&File::open(&file).unwrap()).unwrap();
    if filesystem.backing != Backing::Device {
        skip(format!("the build folder is on {filesystem}, where nothing can be proven cold"));
        return None;
    }
    Some(home)
}

/// The arguments for these contenders, which break the contract, and for two that keep it.
fn contract_breakers(home: &Home, liars: &[&str]) -> String {
    let keeper = home.at("keeper");
    let entries = liars.iter().map(|liar| entry(liar, &[keeper.to_str().unwrap(), liar]));
    home.file("roster.toml", entries.collect::<String>());
    let methods: String = liars.iter().map(|liar| format!(" --method {liar}/read")).collect();
    format!("--roster roster.toml -c 'wc -l {{}}' --method rust/read/scalar{methods}")
}

/// Asserts that these trials were measured, and without cautions about their proof.
fn assert_measured(run: &Export, state: &str, ids: &[&str]) {
    for id in ids {
        assert!(run.measured(id, state)["reason"].is_null(), "{id}, {state}: {run}");
    }
}

#[test]
fn a_contender_that_keeps_the_file_between_turns_is_refused_and_the_others_are_measured() {
    let Some(home) = home_with_keeper() else { return };
    let liars = ["mapped", "opened", "late", "child"];
    let run = home.race_json(home.at("f.txt"), contract_breakers(&home, &liars)).exits(1);
    for state in ["cold", "warm"] {
        for (liar, why) in [
            ("mapped/read", "f.txt mapped between turns (process "),
            ("mapped/read", "(keeper)"),
            ("opened/read", "f.txt open between turns (process "),
            ("late/read", "so the cache cannot be emptied for any trial"),
            ("child/read", "so the cache cannot be emptied for any trial"),
        ] {
            run.ended(liar, state, "refused", why);
        }
        assert_measured(&run, state, &["rust/read/scalar", "command/wc -l"]);
    }
    assert!(!run["warnings"].to_string().contains("mapped"), "{}", run["warnings"]);
    assert!(processes_of_home(&home).is_empty(), "a child outlives its contender");
}

#[test]
fn a_foreign_program_is_named_once_and_the_rest_is_measured() {
    let Some(home) = home_with_keeper() else { return };
    let mut holder = Command::new(home.at("keeper"));
    let outsider = KilledOnDrop::ready(holder.arg("hold").arg(home.at("f.txt"))).unwrap();
    let words = "--method rust/read/scalar --method rust/direct/scalar -c 'wc -l {}'";
    let run = home.race_json(home.at("f.txt"), words);
    let named = format!("process {} (keeper)", outsider.0.id());
    assert_eq!(run.said.out.matches(&named).count(), 1, "{run}");
    let warnings = items(&run["warnings"]).iter().filter_map(|warning| warning.as_str());
    assert_eq!(warnings.filter(|it| it.contains(&format!("{named} has it mapped"))).count(), 1, "{run}");
    for through in ["rust/read/scalar", "command/wc -l"] {
        run.ended(through, "cold", "refused", "another program has it mapped");
    }
    assert_measured(&run, "warm", &["rust/read/scalar", "command/wc -l"]);
    let direct = run.trial("rust/direct/scalar", "cold");
    if direct["outcome"] == "unavailable" {
        skip(format!("O_DIRECT: {}", direct["reason"]));
    } else {
        // The bytes of a direct reading come from the device nevertheless.
        assert_measured(&run, "cold", &["rust/direct/scalar"]);
    }
    for fill in items(&run["fills"]) {
        assert!(fill["how"].as_str().unwrap().starts_with("not evicted, for another program"), "{fill}");
    }
}

/// A cold race by a user who owns only the file, with programs that this user may run but not read,
/// so that they cannot be inspected.
fn race_uninspectable(liars: &[&str]) -> Option<Export> {
    if !has_nobody() {
        return None;
    }
    let home = home_with_keeper()?;
    set_mode(home.at("keeper"), 0o711);
    chown(home.at("f.txt"), Some(NOBODY), Some(NOBODY)).unwrap();
    let words = contract_breakers(&home, liars);
    let said =
        home.as_nobody(format!("race f.txt {QUICK} --state cold {words} --export-json tmp/export.json"));
    said.map(|said| Export::from_file(said, home.json("tmp/export.json")))
}

#[test]
fn a_cold_reading_that_no_meter_saw_must_leave_the_file_in_the_cache() {
    let Some(run) = race_uninspectable(&["honest", "remembers", "direct"]) else { return };
    let run = run.exits(1);
    let honest = run.measured("honest/read", "cold");
    for sample in items(&honest["samples"]) {
        assert!(sample["device_read_bytes"].is_null() && sample["resident_after"] == 1.0, "{sample}");
    }
    let missing = honest["missing"]["device_read_bytes"].as_str().unwrap();
    assert!(missing.contains("permission denied"), "{missing}");
    for (liar, why) in [
        ("remembers/read", "pages resident after the reading: it need not have read the file"),
        ("direct/read", "a method past the page cache leaves no other trace"),
    ] {
        run.ended(liar, "cold", "refused", why);
        run.ended(liar, "cold", "refused", "how many bytes came from the device cannot be read");
    }
    assert_measured(&run, "cold", &["rust/read/scalar"]);
    let proof = &run["proofs"][0];
    let [known, samples] = ["device_bytes_known", "samples"].map(|field| proof[field].as_u64().unwrap());
    assert_eq!(samples - known, items(&honest["samples"]).len() as u64, "{proof}");
    run.said.shows(&format!("(device bytes known for {known} of {samples})"));
}

#[test]
fn an_uninspectable_contender_that_keeps_the_file_is_found_by_the_memory_that_its_end_frees() {
    let Some(run) = race_uninspectable(&["mapped"]) else { return };
    let why = "could be evicted only when its process was ended, 2 times";
    run.ended("mapped/read", "cold", "refused", why);
    assert_measured(&run, "cold", &["rust/read/scalar", "command/wc -l"]);
}
