//! A device of known speed: a control group lets a whole race have 100 MB/s of the disk, so that whatever it reads cold is
//! stopped by the device, and says so. Skipped aloud where there is no such control group.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const BYTES_PER_SECOND: u64 = 100_000_000;
/// Large enough that what the kernel lets through at once, a tenth of a second's worth, is little of it.
const SIZE_BYTES: usize = 64 << 20;

/// A control group that throttles reads of one device; taken away when dropped.
struct Throttle(PathBuf);

impl Throttle {
    fn on(device: u64) -> Result<Throttle, String> {
        let root = Path::new("/sys/fs/cgroup/blkio");
        let folder = root.join(format!("readlab-test-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let group = Throttle(folder);
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

#[test]
fn whoever_reads_cold_from_a_throttled_device_is_stopped_by_it() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"a line of the file that is read slowly\n".repeat(SIZE_BYTES / 39)).unwrap();
    fs::File::open(&file).unwrap().sync_all().unwrap();
    let throttle = match Throttle::on(fs::metadata(&file).unwrap().dev()) {
        Ok(throttle) => throttle,
        Err(why) => return eprintln!("SKIPPED: {why}"),
    };
    let race = [
        &format!("echo $$ > '{}/cgroup.procs' && exec", throttle.0.display()),
        concat!("'", env!("CARGO_BIN_EXE_readlab"), "' race -r 5 -w 0 --state cold --quiet --export-json -"),
        "--method rust/read/memchr --method rust/mmap/memchr --method rust/direct/memchr",
        &format!("--output '{}/run' '{}'", folder.path().display(), file.display()),
    ];
    let raced = Command::new("sh").args(["-c", &race.join(" ")]).output().unwrap();
    let said = String::from_utf8_lossy(&raced.stderr);
    let export: serde_json::Value =
        serde_json::from_slice(&raced.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    for trial in export["trials"].as_array().unwrap() {
        if trial["contender"] == "rust" && ["read", "mmap", "direct"].iter().any(|it| trial["method"] == *it)
        {
            let verdict = &trial["verdict"];
            assert_eq!(verdict["is"]["kind"], "device", "{}: {verdict}", trial["id"]);
            assert_eq!(verdict["is"]["pace"]["pace"], "saturated", "{}: {verdict}", trial["id"]);
        }
    }
}
