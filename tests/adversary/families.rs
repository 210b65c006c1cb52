//! Tests of contenders that read in a process below their own: behind a shell, in a pool.

use super::home::{Home, READLAB, trials};
use serde_json::Value;

/// Rust's contender behind a shell, as `behind`.
const BEHIND: &str = r#""$0" contender rust "$@" | sed -u 's/"contender":"rust"/"contender":"behind"/'"#;

fn numbers(trial: &Value, meter: &str) -> Vec<u64> {
    let samples = trial["samples"].as_array().unwrap_or_else(|| panic!("{trial}")).iter();
    samples.map(|sample| sample[meter].as_u64().unwrap_or_else(|| panic!("{meter}: {trial}"))).collect()
}

#[test]
fn what_a_process_below_the_contender_does_is_the_contenders() {
    let home = Home::new();
    let run = serde_json::to_string(&["/bin/sh", "-c", BEHIND, READLAB]).unwrap();
    let roster =
        home.file("roster.toml", format!("[[contender]]\nname = \"behind\"\nabout = \"\"\nrun = {run}\n"));
    let (size, file) = (4 << 20, home.file("f", "x\n".repeat(2 << 20)));
    let method = ["--method", "behind/fs-read/scalar", "--method", "rust/fs-read/scalar"];
    let words = ["--roster", roster.to_str().unwrap(), "--state", "both"];
    let (json, said) = home.race_json(&file, &[&method[..], &words].concat());
    if trials(&json, "rust/fs-read/scalar", "cold")["outcome"] != "measured" {
        return eprintln!("SKIPPED: no file is cold here: {said}");
    }
    for (state, bytes) in [("cold", size..2 * size), ("warm", 0..1)] {
        let trial = trials(&json, "behind/fs-read/scalar", state);
        assert_eq!(trial["outcome"], "measured", "{said}");
        assert!(numbers(trial, "device_read_bytes").iter().all(|read| bytes.contains(read)), "{trial}");
        // The whole file is in its memory, which a shell never has.
        assert!(numbers(trial, "peak_rss_bytes").iter().all(|peak| *peak > size), "{trial}");
        assert!(numbers(trial, "minor_faults").iter().all(|faults| *faults > 0), "{trial}");
    }
}
