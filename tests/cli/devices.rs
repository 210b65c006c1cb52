//! Tests of block devices as targets, and of devices that fail during a reading: loop devices over
//! files, as root. Skipped with a message without loop devices.

use crate::home::{EVERY_METHOD, Export, Home, ProgramOutput, READLAB, Trials, Words};
use crate::machine::or_skip;
use crate::mounted::Undo;
use crate::processes::wait_for_a_sample;
use std::fs::File;
use std::path::PathBuf;

const SIZE_BYTES: u64 = 16 << 20;

/// A loop device over a file of lines.
struct LoopDisk {
    _undo: Undo,
    device: PathBuf,
    home: Home,
}

impl LoopDisk {
    fn new() -> Option<LoopDisk> {
        let home = Home::new();
        let mut lines = "a line of a device that is read as a whole\n".repeat(400_000);
        lines.truncate(usize::try_from(SIZE_BYTES).unwrap());
        let image = home.file("image", lines);
        File::open(&image).unwrap().sync_all().unwrap();
        let mut undo = Undo::default();
        let device = or_skip(undo.attach(&[], &image))?;
        Some(LoopDisk { _undo: undo, device, home })
    }

    /// Removes the second half of the device.
    fn halve(&self) {
        let image = File::options().write(true).open(self.home.at("image")).unwrap();
        image.set_len(SIZE_BYTES / 2).unwrap();
    }

    /// Races on the device, whose second half is removed during the race.
    fn race_on_half(&self, words: &str) -> Export {
        let record = self.home.at("run/record.jsonl");
        let fixed = "--allow-device --quiet --export-json - --output run --runs 1000 --fills 1 --budget 60s";
        let mut race = self.home.command(READLAB);
        race.arg("race").arg(&self.device).args(format!("{fixed} {words}").words());
        let said = std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_for_a_sample(&record);
                self.halve();
            });
            ProgramOutput::by(&mut race)
        });
        said.exits(1).export()
    }
}

/// The offset in a reason such as `… at byte 8388608`.
fn failed_offset(reason: &str) -> Option<u64> {
    let (_, rest) = reason.split_once(" at byte ")?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

mod ring2 {
    use super::*;

    #[test]
    fn a_device_is_read_only_with_permission() {
        let Some(disk) = LoopDisk::new() else { return };
        let (home, device) = (&disk.home, &disk.device);
        home.race(device, "").refuses("a block device (--allow-device reads it), not a file\n");
        let mapped = "--method c/mmap/* --method go/syscall.Mmap/* --method python/mmap/slice";
        let json = home.race_json(device, format!("--allow-device {EVERY_METHOD} {mapped}")).exits(0);
        let target = &json["targets"][0];
        assert_eq!(target["size_bytes"], SIZE_BYTES, "{target}");
        assert_eq!(target["filesystem"], "block device", "{target}");
        let mut measured = 0;
        for trial in json.trials() {
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
    fn a_device_that_fails_half_way_is_a_failure_with_the_offset_and_the_race_continues() {
        let Some(disk) = LoopDisk::new() else { return };
        let others = "--method c/read/* --method python/read/* --method go/os.* --state cold";
        let json = disk.race_on_half(&format!("{EVERY_METHOD} {others}"));
        assert_eq!(json["end"]["reason"], "settled", "everybody had a turn after the first failure");
        let mut failed = 0;
        for trial in json.trials().iter().filter(|trial| trial["cache"] != "none") {
            let (id, reason) = (trial["id"].as_str().unwrap(), trial["reason"].as_str().unwrap_or_default());
            eprintln!("{id}: {} {reason}", trial["outcome"]);
            if trial["outcome"] == "unavailable" {
                continue;
            }
            assert_ne!(trial["outcome"], "measured", "{id}");
            failed += 1;
            let at = failed_offset(reason).unwrap_or_else(|| panic!("{id}: no byte: {reason}"));
            // A reading that had passed the middle when the second half of the device was removed fails
            // at the offset that it had reached, so any later offset is valid, too.
            assert!((SIZE_BYTES / 2 - (1 << 20)..SIZE_BYTES).contains(&at), "{id}: {reason}");
        }
        assert!(failed > 10, "{failed}");
    }

    #[test]
    fn a_device_that_fails_while_the_cache_is_filled_ends_the_warm_state_only() {
        let Some(disk) = LoopDisk::new() else { return };
        let json = disk.race_on_half("--method rust/read/memchr");
        for state in ["cold", "warm"] {
            let mut of_state = json.trials().iter().filter(|trial| trial["state"] == state);
            let trial = of_state.find(|trial| trial["method"] == "read").unwrap();
            assert_eq!(trial["outcome"], "failed", "{trial}");
            assert!(failed_offset(trial["reason"].as_str().unwrap()).is_some(), "{}", trial["reason"]);
        }
    }

    #[test]
    fn a_target_that_fails_from_the_start_is_refused_with_the_offset() {
        let Some(disk) = LoopDisk::new() else { return };
        disk.halve();
        let said = disk.home.race(&disk.device, "--allow-device");
        assert!(failed_offset(said.refusal()).is_some(), "{said}");
        said.tells("Input/output error");
        assert!(disk.device.exists());
    }
}
