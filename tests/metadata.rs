//! Tests of cold dentries and inodes, which drop the caches of the whole machine. They are a
//! separate program, which `cargo test` runs only by name, so that they never run beside another
//! test, and one after the other.

use readlab_measure::cache::EvictionScope;
use readlab_measure::target::CacheControl;
use readlab_system::names::is_cached;
use readlab_targets::target::Target;
use readlab_targets::target::tree::{ListSource, TreeRequest};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Held by the test that runs, because the tests drop each other's caches.
static CACHES_LOCK: Mutex<()> = Mutex::new(());

#[test]
fn dentries_and_inodes_are_cold_after_pages_were_made_cold() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: only root may drop the caches of the machine");
    }
    let _alone = CACHES_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let paths: Vec<PathBuf> = (0..300).map(|index| folder.path().join(format!("file {index}"))).collect();
    for path in &paths {
        fs::write(path, "content\n").unwrap();
    }
    let source = ListSource::Folder(folder.path().to_owned());
    let target = Target::examine_tree(&TreeRequest::by_name(source)).unwrap();
    let cached = || paths.iter().filter(|path| is_cached(path).unwrap()).count();
    assert_eq!(cached(), 300, "who looks at a file brings its name into memory");
    let pages_alone = CacheControl::open(&target, EvictionScope::OfFile).unwrap();
    pages_alone.evict().unwrap();
    assert_eq!(cached(), 300, "pages are evicted without names");
    let with_names = CacheControl::open(&target, EvictionScope::OfSystem).unwrap();
    if let Err(why) = with_names.evict() {
        return eprintln!("SKIPPED: {why}");
    }
    assert_eq!(cached(), 0, "none is found without leaving memory");
    assert_eq!(with_names.cache().unwrap().residency().unwrap().resident_pages, 0);
}

/// The samples of `rust/stat-readdir` in this state; `None` with a message if the state could not be
/// made here.
fn samples_in_state<'a>(json: &'a Value, state: &str) -> Option<&'a Vec<Value>> {
    let is_it = |it: &&Value| it["id"] == "rust/stat-readdir" && it["state"] == state;
    let trial = json["trials"].as_array().unwrap().iter().find(is_it).unwrap();
    if trial["outcome"] != "measured" {
        eprintln!("SKIPPED: {state}: {}", trial["reason"]);
        return None;
    }
    trial["samples"].as_array()
}

#[test]
fn a_race_of_names_is_cold_and_warm_by_lookups_and_by_what_comes_from_the_device() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: only root may drop the caches of the machine");
    }
    let _alone = CACHES_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for number in 0..300 {
        let folder = home.path().join(format!("tree/{}", number % 10));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(number.to_string()), "content\n").unwrap();
    }
    let mut race = Command::new(env!("CARGO_BIN_EXE_readlab"));
    race.args(["race", "tree", "--work", "stat", "--metadata", "cold", "--method", "rust/stat-readdir"]);
    race.args([
        "--runs",
        "3",
        "--budget",
        "20m",
        "--no-progress",
        "--quiet",
        "--export-json",
        "-",
        "--output",
        "run",
    ]);
    let said = race.current_dir(home.path()).env("HOME", home.path()).output().unwrap();
    let error = String::from_utf8_lossy(&said.stderr);
    let json: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|why| panic!("{why}: {error}"));
    for (state, share) in [("cold", 0.0), ("warm", 1.0)] {
        for sample in samples_in_state(&json, state).into_iter().flatten() {
            assert_eq!(sample["resident_before"], share, "{state}: {sample}");
            assert_eq!(sample["answer"]["files"], 300, "{state}: {sample}");
            let from_device = sample["device_read_bytes"].as_u64();
            let is_right = from_device.is_none_or(|bytes| (bytes > 0) == (state == "cold"));
            assert!(is_right, "{state}: {sample}");
        }
    }
}
