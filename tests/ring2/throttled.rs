//! Test with a device of known speed: a control group limits a race to 100 MB/s of the disk, so
//! that every cold reading is limited by the device, and its verdict says so. Skipped with a
//! message without this control group.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;

const BYTES_PER_SECOND: u64 = 100_000_000;
/// Large enough that the burst that the kernel allows, a tenth of a second, is a small part of it.
const SIZE_BYTES: usize = 64 << 20;

/// A control group that throttles reads of one device; taken away when dropped.
struct Throttle(PathBuf);

impl Throttle {
    fn on(device: u64) -> Result<Throttle, String> {
        let root = "/sys/fs/cgroup/blkio";
        let folder = tempfile::Builder::new().prefix("readlab-test-").tempdir_in(root);
        let group = Throttle(folder.map_err(|error| format!("{root}: {error}"))?.keep());
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        let rule = format!("{major}:{minor} {BYTES_PER_SECOND}");
        fs::write(group.0.join("blkio.throttle.read_bps_device"), rule)
            .map_err(|error| format!("{major}:{minor} cannot be throttled: {error}"))?;
        Ok(group)
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

/// A file of this size on a throttled device, or the folder that it is in.
struct Slow {
    throttle: Throttle,
    target: PathBuf,
    folder: tempfile::TempDir,
}

impl Slow {
    fn new(size_bytes: usize) -> Result<Slow, String> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"a line of the file that is read slowly\n".repeat(size_bytes / 39)).unwrap();
        fs::File::open(&file).unwrap().sync_all().unwrap();
        let throttle = Throttle::on(fs::metadata(&file).unwrap().dev())?;
        Ok(Slow { throttle, target: file, folder })
    }

    /// What readlab exports of a cold run on it; `verb` is all that comes before the rules.
    fn export(&self, verb: &str, methods: &str) -> serde_json::Value {
        let run = [
            &format!("echo $$ > '{}/cgroup.procs' && exec", self.throttle.0.display()),
            concat!("'", env!("CARGO_BIN_EXE_readlab"), "'"),
            &format!("{verb} -r 5 -w 0 --state cold --quiet --export-json - {methods}"),
            &format!("--output '{}/run' '{}'", self.folder.path().display(), self.target.display()),
        ];
        let done = Command::new("sh").args(["-c", &run.join(" ")]).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

/// What stops a reading is the quota by which the device is slow; or the device, as busy as it can
/// be, where the kernel granted more than the quota for a moment.
fn is_limited(verdict: &serde_json::Value) {
    let is = &verdict["is"];
    let is_saturated = is["kind"] == "device" && is["pace"]["pace"] == "saturated";
    assert!(is["kind"] == "io_quota" || is_saturated, "{verdict}");
}

#[test]
fn a_cold_reading_from_a_throttled_device_is_limited_by_it() {
    let slow = match Slow::new(SIZE_BYTES) {
        Ok(slow) => slow,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let methods = "--method rust/read/memchr --method rust/mmap/memchr --method rust/direct/memchr";
    let export = slow.export("race", methods);
    for trial in export["trials"].as_array().unwrap() {
        if trial["contender"] == "rust" && ["read", "mmap", "direct"].iter().any(|it| trial["method"] == *it)
        {
            is_limited(&trial["verdict"]);
        }
    }
}

#[test]
fn a_folder_is_under_the_quota_of_its_files() {
    let mut slow = match Slow::new(SIZE_BYTES / 2) {
        Ok(slow) => slow,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let folder = slow.folder.path().join("files");
    fs::create_dir(&folder).unwrap();
    fs::rename(&slow.target, folder.join("file")).unwrap();
    slow.target = folder;
    let export = slow.export("race", "--method rust/read/memchr");
    let quotas = &export["targets"][0]["io_quotas"];
    assert_eq!(quotas[0]["bytes_per_s"], BYTES_PER_SECOND, "{}", export["targets"]);
    let trials = export["trials"].as_array().unwrap();
    is_limited(&trials.iter().find(|trial| trial["method"] == "read").unwrap()["verdict"]);
}

#[test]
fn a_suite_has_the_device_for_a_limit_and_no_trial_is_its_own() {
    let slow = match Slow::new(SIZE_BYTES / 2) {
        Ok(slow) => slow,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let export = slow.export("suite newlines", "--method 'rust/direct/iterator@buffer=8KiB'");
    let device = "rust/device@buffer=128KiB,depth=16";
    let of_device = |limit: &&serde_json::Value| limit["kind"] == "device";
    let shown: Vec<_> = export["limits"].as_array().unwrap().iter().filter(of_device).collect();
    assert!(shown.iter().any(|limit| limit["name"] == device), "{shown:?}");
    let trials = export["trials"].as_array().unwrap();
    for id in ["command/wc -l", "rust/direct/iterator@buffer=8KiB"] {
        let trial = trials.iter().find(|trial| trial["id"] == id).unwrap();
        assert_eq!(trial["outcome"], "measured", "{}", trial["reason"]);
        assert_ne!(trial["limit"]["name"], id, "{}", trial["verdict"]);
        assert!(trial["share_of_limit"].as_f64().unwrap_or_default() <= 1.1, "{}", trial["share_of_limit"]);
    }
    let wc = trials.iter().find(|trial| trial["id"] == "command/wc -l").unwrap();
    let kind = &wc["verdict"]["is"]["kind"];
    assert!(kind == "device" || kind == "io_quota", "{}", wc["verdict"]);
}
