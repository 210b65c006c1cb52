//! Tests with a device of known speed. A control group limits a race to 100 MB/s of the disk, so
//! that every cold reading is limited by the device, and its verdict says so. Skipped with a
//! message without this control group.

use crate::control_group::ControlGroup;
use crate::home::{Home, ProgramOutput, Trials, items};
use crate::machine::or_skip;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

const BYTES_PER_SECOND: u64 = 100_000_000;
/// The rate of a device that one reading keeps busy for seconds.
const SLOW_BYTES_PER_SECOND: u64 = 20_000_000;
/// So large that the burst which the kernel allows, a tenth of a second, is a small part of it.
const SIZE_BYTES: usize = 64 << 20;

const QUIET_AND_COLD: &str = "--state cold --quiet --export-json - --output run";

/// The export of a cold run on a file of this size, in the folder `files` of a throttled device;
/// `None` with a message if none can be throttled.
fn throttled_run(size_bytes: usize, verb: &str, target: &str, methods: &str) -> Option<Value> {
    let line = format!("exec readlab {verb} -r 5 -w 0 {QUIET_AND_COLD} {methods} {target}");
    Some(throttled_output(BYTES_PER_SECOND, size_bytes, &line)?.json())
}

/// What a shell line prints whose device has this rate and a file of this size, `files/file`.
fn throttled_output(bytes_per_second: u64, size_bytes: usize, line: &str) -> Option<ProgramOutput> {
    let home = Home::new();
    let text = "a line of the file that is read slowly\n";
    let file = home.file("files/file", text.repeat(size_bytes / text.len()));
    fs::File::open(&file).unwrap().sync_all().unwrap();
    let device = fs::metadata(&file).unwrap().dev();
    let rule = format!("{}:{} {bytes_per_second}", rustix::fs::major(device), rustix::fs::minor(device));
    let (groups, rules) = (Path::new("/sys/fs/cgroup/blkio"), "blkio.throttle.read_bps_device");
    let group = or_skip(ControlGroup::below(groups, rules, &rule))?;
    Some(ProgramOutput::by(&mut home.shell(format!("{} && {line}", group.enter()))))
}

/// Asserts that the reading is limited by the quota of the device, or by the busy device itself if
/// the kernel granted more than the quota for a moment.
fn assert_limited(verdict: &Value) {
    let is = &verdict["is"];
    let is_saturated = is["kind"] == "device" && is["pace"]["pace"] == "saturated";
    assert!(is["kind"] == "io_quota" || is_saturated, "{verdict}");
}

#[test]
fn a_cold_reading_from_a_throttled_device_is_limited_by_it() {
    let methods = "--method rust/read/memchr --method rust/mmap/memchr --method rust/direct/memchr";
    let Some(export) = throttled_run(SIZE_BYTES, "race", "files/file", methods) else { return };
    for trial in export.trials() {
        if trial["contender"] == "rust" && ["read", "mmap", "direct"].iter().any(|it| trial["method"] == *it)
        {
            assert_limited(&trial["verdict"]);
        }
    }
}

#[test]
fn a_folder_is_under_the_quota_of_its_files() {
    let Some(export) = throttled_run(SIZE_BYTES / 2, "race", "files", "--method rust/read/memchr") else {
        return;
    };
    let quotas = &export["targets"][0]["io_quotas"];
    assert_eq!(quotas[0]["bytes_per_s"], BYTES_PER_SECOND, "{}", export["targets"]);
    assert_limited(&export.trial_with("method", "read")["verdict"]);
}

#[test]
fn a_suite_has_the_limit_of_the_device_and_no_trial_is_its_own_limit() {
    let method = "--method rust/direct/iterator@buffer=8KiB";
    let Some(export) = throttled_run(SIZE_BYTES / 2, "suite newlines", "files/file", method) else { return };
    let device = "rust/device@buffer=128KiB,depth=16";
    let shown: Vec<_> = items(&export["limits"]).iter().filter(|limit| limit["kind"] == "device").collect();
    assert!(shown.iter().any(|limit| limit["name"] == device), "{shown:?}");
    for id in ["command/wc -l", "rust/direct/iterator@buffer=8KiB"] {
        let trial = export.measured(id, "cold");
        assert_ne!(trial["limit"]["name"], id, "{}", trial["verdict"]);
        assert!(trial["share_of_limit"].as_f64().unwrap_or_default() <= 1.1, "{}", trial["share_of_limit"]);
    }
    let wc = export.trial("command/wc -l", "cold");
    let kind = &wc["verdict"]["is"]["kind"];
    assert!(kind == "device" || kind == "io_quota", "{}", wc["verdict"]);
}

/// The time of a run until its end.
fn run_time(export: &Value) -> Duration {
    Duration::from_nanos(export["end"]["wall_ns"].as_u64().unwrap())
}

#[test]
fn limits_of_a_slow_device_are_measured_within_the_budget() {
    let line = format!("exec readlab limits --budget 10s {QUIET_AND_COLD} files/file");
    let Some(said) = throttled_output(SLOW_BYTES_PER_SECOND, SIZE_BYTES, &line) else { return };
    let said = said.exits(0);
    assert!(!said.err.contains("nothing was measured"), "{said}");
    let export = said.json();
    // What has begun ends.
    assert!(run_time(&export) <= Duration::from_secs(15), "{}", export["end"]);
    let limits = items(&export["limits"]);
    let is_shown = |limit: &Value| limit["kind"] == "device" && limit["value"].as_u64() > Some(0);
    assert!(limits.iter().any(is_shown), "{limits:?}");
}

#[test]
fn a_race_of_a_slow_file_measures_what_fits_the_budget_and_says_how_long_a_reading_takes() {
    // The first reading, too, is from the device, so it predicts the others.
    let evict = "dd if=files/file iflag=nocache count=0 status=none";
    let line =
        format!("{evict} && exec readlab race --budget 20s --language rust {QUIET_AND_COLD} files/file");
    let Some(said) = throttled_output(SLOW_BYTES_PER_SECOND, SIZE_BYTES, &line) else { return };
    let said = said.exits(0);
    let export = said.json();
    let warnings = export["warnings"].to_string();
    assert!(warnings.contains("a reading takes about ") && warnings.contains("--budget"), "{said}");
    // A reading that began within the budget ends.
    assert!(run_time(&export) <= Duration::from_secs(30), "{}", export["end"]);
    let is_measured = |trial: &Value| trial["outcome"] == "measured" && trial["cache"] != "none";
    assert!(export.trials().iter().any(is_measured), "no method was measured: {said}");
}
