//! Tests of block devices as targets, and of devices that fail during a reading: loop devices over
//! files, as root. Skipped with a message without loop devices.

use super::interrupt::wait_for_a_sample;
use super::{EVERY_METHOD, Home, READLAB, Said};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const SIZE_BYTES: u64 = 16 << 20;

/// A loop device; given back when dropped.
struct Loop {
    device: PathBuf,
    image: PathBuf,
}

impl Loop {
    /// Over a file of lines.
    fn of_lines(home: &Home) -> Option<Loop> {
        let line = b"a line of a device that is read as a whole\n";
        let mut lines = line.repeat(usize::try_from(SIZE_BYTES).unwrap() / line.len() + 1);
        lines.truncate(usize::try_from(SIZE_BYTES).unwrap());
        let image = home.file("image", lines);
        File::open(&image).unwrap().sync_all().unwrap();
        let made = Command::new("losetup").args(["--find", "--show"]).arg(&image).output();
        match made {
            Ok(output) if output.status.success() => {
                let device = String::from_utf8(output.stdout).unwrap().trim_end().into();
                Some(Loop { device, image })
            }
            Ok(output) => {
                eprintln!("SKIPPED: no loop device: {}", String::from_utf8_lossy(&output.stderr));
                None
            }
            Err(error) => {
                eprintln!("SKIPPED: losetup: {error}");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if !Command::new("losetup").arg("--detach").arg(&self.device).status().is_ok_and(|it| it.success()) {
            eprintln!("{}: still attached", self.device.display());
        }
    }
}

/// The place in a reason: `… at byte 8388608`.
fn place(reason: &str) -> Option<u64> {
    let (_, rest) = reason.split_once(" at byte ")?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// A race on a device of which half goes away in its middle.
fn race_on_half(home: &Home, disk: &Loop, words: &[&str]) -> Value {
    let record = home.at("run/record.jsonl");
    let mut race = home.command(READLAB);
    race.arg("race").arg(&disk.device).args(["--allow-device", "--quiet", "--export-json", "-"]);
    race.args(["--output", "run", "--runs", "1000", "--fills", "1", "--budget", "60s"]).args(words);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for_a_sample(&record);
            halve(&disk.image);
        });
        Said::by(&mut race)
    });
    assert_eq!(said.code, Some(1), "{said}");
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn halve(image: &Path) {
    File::options().write(true).open(image).unwrap().set_len(SIZE_BYTES / 2).unwrap();
}

mod ring2 {
    use super::*;

    #[test]
    fn a_device_is_read_only_where_that_is_allowed() {
        let home = Home::new();
        let Some(disk) = Loop::of_lines(&home) else { return };
        let refused = home.race(&disk.device, &[]);
        assert!(
            refused.refusal().ends_with("a block device (--allow-device reads it), not a file"),
            "{refused}"
        );
        let mapped =
            ["--method", "c/mmap/*", "--method", "go/syscall.Mmap/*", "--method", "python/mmap/slice"];
        let words = [&["--allow-device"], &EVERY_METHOD[..], &mapped].concat();
        let (json, said) = home.race_json(&disk.device, &words);
        assert_eq!(said.code, Some(0), "{said}");
        let target = &json["targets"][0];
        assert_eq!(
            (&target["size_bytes"], &target["filesystem"]),
            (&SIZE_BYTES.into(), &"block device".into())
        );
        let mut measured = 0;
        for trial in json["trials"].as_array().unwrap() {
            let what = format!("{} {}: {}", trial["id"], trial["state"], trial["reason"]);
            assert!(["measured", "unavailable"].contains(&trial["outcome"].as_str().unwrap()), "{what}");
            measured += u32::from(trial["outcome"] == "measured" && trial["cache"] != "none");
            if trial["outcome"] == "unavailable" {
                eprintln!("{what}");
            }
        }
        assert!(measured > 12, "{measured} measured");
    }

    #[test]
    fn a_device_that_fails_half_way_is_a_failure_with_the_byte_and_the_race_continues() {
        let home = Home::new();
        let Some(disk) = Loop::of_lines(&home) else { return };
        let others =
            ["--method", "c/read/*", "--method", "python/read/*", "--method", "go/os.*", "--state", "cold"];
        let methods = [&EVERY_METHOD[..], &others].concat();
        let json = race_on_half(&home, &disk, &methods);
        assert_eq!(json["end"]["reason"], "settled", "everybody had a turn after the first failure");
        let mut failed = 0;
        for trial in json["trials"].as_array().unwrap().iter().filter(|trial| trial["cache"] != "none") {
            let (id, reason) = (trial["id"].as_str().unwrap(), trial["reason"].as_str().unwrap_or_default());
            eprintln!("{id}: {} {reason}", trial["outcome"]);
            if trial["outcome"] == "unavailable" {
                continue;
            }
            assert_ne!(trial["outcome"], "measured", "{id}");
            failed += 1;
            let at = place(reason).unwrap_or_else(|| panic!("{id}: no byte: {reason}"));
            // A reading that was past the middle when the rest went away fails where it was.
            assert!((SIZE_BYTES / 2 - (1 << 20)..SIZE_BYTES).contains(&at), "{id}: {reason}");
        }
        assert!(failed > 10, "{failed}");
    }

    #[test]
    fn a_device_that_fails_while_the_cache_is_filled_ends_the_warm_state_only() {
        let home = Home::new();
        let Some(disk) = Loop::of_lines(&home) else { return };
        let json = race_on_half(&home, &disk, &["--method", "rust/read/memchr"]);
        for state in ["cold", "warm"] {
            let trials = json["trials"].as_array().unwrap();
            let is = |trial: &&Value| trial["method"] == "read" && trial["state"] == state;
            let trial = trials.iter().find(is).unwrap_or_else(|| panic!("no {state}: {json}"));
            assert_eq!(trial["outcome"], "failed", "{trial}");
            assert!(place(trial["reason"].as_str().unwrap()).is_some(), "{}", trial["reason"]);
        }
    }

    #[test]
    fn a_target_that_fails_from_the_start_is_refused_with_the_byte() {
        let home = Home::new();
        let Some(disk) = Loop::of_lines(&home) else { return };
        halve(&disk.image);
        let said = home.race(&disk.device, &["--allow-device"]);
        assert!(place(said.refusal()).is_some() && said.err.contains("Input/output error"), "{said}");
        assert!(fs::metadata(&disk.device).is_ok());
    }
}
