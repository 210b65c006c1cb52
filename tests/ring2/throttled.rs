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
use std::time::{Duration, Instant};

const BYTES_PER_SECOND: u64 = 100_000_000;
/// So large that the burst which the kernel allows, a tenth of a second, is a small part of it.
const SIZE_BYTES: usize = 64 << 20;

/// The export of a cold run on a file of this size, in the folder `files` of a throttled device;
/// `None` with a message if none can be throttled.
fn throttled_run(size_bytes: usize, verb: &str, target: &str, methods: &str) -> Option<Value> {
    let home = Home::new();
    let line = "a line of the file that is read slowly\n";
    let file = home.file("files/file", line.repeat(size_bytes / line.len()));
    fs::File::open(&file).unwrap().sync_all().unwrap();
    let device = fs::metadata(&file).unwrap().dev();
    let rule = format!("{}:{} {BYTES_PER_SECOND}", rustix::fs::major(device), rustix::fs::minor(device));
    let (groups, rules) = (Path::new("/sys/fs/cgroup/blkio"), "blkio.throttle.read_bps_device");
    let group = or_skip(ControlGroup::below(groups, rules, &rule))?;
    let words = "-r 5 -w 0 --state cold --quiet --export-json - --output run";
    let line = format!("{} && exec readlab {verb} {words} {methods} {target}", group.enter());
    Some(ProgramOutput::by(&mut home.shell(line)).json())
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

#[test]
fn limits_of_a_slow_device_are_measured_within_the_budget() {
    let begun = Instant::now();
    let Some(export) = throttled_run(SIZE_BYTES, "limits --budget 10s", "files/file", "") else { return };
    // The file is made before, and what has begun ends.
    assert!(begun.elapsed() < Duration::from_secs(30), "{}", export["end"]);
    let limits = items(&export["limits"]);
    let is_shown = |limit: &Value| limit["kind"] == "device" && limit["value"].as_u64() > Some(0);
    assert!(limits.iter().any(is_shown), "{limits:?}");
}
