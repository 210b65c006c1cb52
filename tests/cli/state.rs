//! Tests that cold samples were cold and warm samples warm, in a race on the file system of the
//! build, as the user of the tests and as a user who owns no file.

use crate::home::{Home, ProgramOutput, QUICK, Trials, items, paths_in};
use crate::machine::skip;
use readlab_targets::target::filesystem::{Backing, Filesystem};
use serde_json::Value;
use std::fs::File;

const SIZE_BYTES: u64 = 32 << 20;

/// The corpus of a home.
const FILE: &str = "corpus/lines-32MiB-seed1.txt";

/// A home with a corpus on a file system where files can be cold; `None` with a message if there is
/// none.
fn home_with_corpus() -> Option<Home> {
    let home = Home::new();
    let made = home.readlab("corpus --folder corpus make lines 32MiB").exits(0);
    assert_eq!(made.out.trim_end(), FILE, "{made}");
    let filesystem = Filesystem::read(&File::open(home.at(FILE)).unwrap()).unwrap();
    if matches!(filesystem.backing, Backing::Memory | Backing::OwnCache) {
        skip(format!("the build folder is on {filesystem}, where nothing can be proven cold"));
        return None;
    }
    Some(home)
}

/// The arguments of a race through and past the page cache.
fn words() -> String {
    let methods = "--method rust/read/scalar --method rust/mmap/scalar --method rust/direct/scalar \
                   --method rust/pread/scalar@threads=2 -c 'wc -l {}'";
    format!("race {FILE} {methods} --quiet --export-json - {QUICK}")
}

/// Asserts that every sample proves its state, that nothing is `null` without a reason, that all
/// facts are recorded which any user may read about an own process, and that no temporary file is
/// left.
fn assert_proven(home: &Home, said: ProgramOutput) -> Value {
    let json = said.exits(0).json();
    let mut proven = 0;
    for trial in json.trials() {
        let id = &trial["id"];
        assert_eq!(trial["outcome"], "measured", "{id}: {}", trial["reason"]);
        for (name, count) in trial["counts"].as_object().unwrap() {
            assert!(count["how"].as_str().is_some_and(|how| !how.is_empty()), "{id} {name}: {count}");
        }
        for sample in items(&trial["samples"]) {
            for (meter, value) in sample.as_object().unwrap() {
                let known = !value.is_null() || trial["missing"][meter].is_string();
                assert!(known, "{id}: {meter} is null without a reason: {}", trial["missing"]);
            }
            if trial["cache"] == "none" {
                continue;
            }
            proven += 1;
            for meter in ["device_read_bytes", "cpu_user_ns", "peak_rss_bytes", "minor_faults"] {
                assert!(sample[meter].is_u64(), "{id}: {meter}: {}", trial["missing"]);
            }
            let device_bytes = sample["device_read_bytes"].as_u64().unwrap();
            if trial["state"] == "cold" {
                assert_eq!(sample["resident_before"], 0.0, "{id}: {sample}");
                assert!(device_bytes as f64 / SIZE_BYTES as f64 >= 0.99, "{id}: {sample}");
            } else {
                let resident = (&sample["resident_before"], &sample["resident_after"]);
                assert_eq!(resident, (&1.0.into(), &1.0.into()), "{id}: {sample}");
                assert_eq!(device_bytes, 0, "{id}: {sample}");
            }
        }
    }
    assert!(proven >= 3 * (5 + 4), "too few samples: {proven}");
    home.assert_no_temporary_file();
    assert_eq!(paths_in(home.at("corpus")).len(), 2, "something was written beside the file");
    json
}

#[test]
fn cold_samples_were_cold_and_warm_ones_warm() {
    let Some(home) = home_with_corpus() else { return };
    assert_proven(&home, home.readlab(words()));
}

mod ring2 {
    use super::*;

    #[test]
    fn cold_samples_were_cold_and_warm_ones_warm_for_another_user_than_the_owner() {
        let Some(home) = home_with_corpus() else { return };
        let Some(said) = home.as_nobody(words()) else { return };
        let json = assert_proven(&home, said);
        assert_eq!(json["machine"]["root"], false);
    }
}
