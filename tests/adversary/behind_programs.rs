//! Tests of files that a program serves through /dev/fuse. A file that the program caches is cold
//! above that cache, and a file that the program answers from its own memory is never cold.

use super::layers::{COLD_RACE, assert_cold_above, lines};
use crate::home::{Export, Home, QUICK, Trials, items};
use crate::machine::{is_root, skip};
use crate::mounted::{Undo, text};
use crate::processes::KilledOnDrop;
use crate::repository;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A program that serves the file `file` through /dev/fuse at this folder of a home; `None` if this
/// is impossible.
fn serve_file(home: &Home, point: &str, more: &[&str]) -> Option<(KilledOnDrop, Undo)> {
    if !is_root() || !Path::new("/dev/fuse").exists() {
        skip("only root can mount, and only where there is /dev/fuse");
        return None;
    }
    let (backing, point) = (home.file("backing", lines()), home.folder(point));
    let script = repository::path("tests/adversary/passthrough.py");
    // In a separate network, so that no other traffic arrives there.
    let mut command = Command::new("unshare");
    command.args(["--net", "python3"]).arg(script).args([&backing, &point]).args(more);
    // The program prints "ready" at its first request, which the kernel sends at the mount.
    let program = KilledOnDrop::ready(&mut command)?;
    let mut undo = Undo::default();
    undo.later(&["umount", text(&point)]);
    Some((program, undo))
}

/// The export of a race on a file that a program serves through /dev/fuse, and the process id of
/// the program; `None` if this is impossible.
fn race_behind_a_program(words: &str, more: &[&str]) -> Option<(Export, u32)> {
    race_below_the_mount("mounted/file", words, more)
}

/// The same, on a path at or below the mount.
fn race_below_the_mount(path: &str, words: &str, more: &[&str]) -> Option<(Export, u32)> {
    let home = Home::new();
    let (program, _undo) = serve_file(&home, "mounted", more)?;
    let run = home.race_json(path, words);
    Some((run, program.0.id()))
}

/// Checks that a record names the process that serves the file, which only newer kernels show.
fn names_the_program(trial: &Value, pid: u32) -> bool {
    let cache = trial["cold_above"].as_str().unwrap_or_else(|| panic!("{trial}"));
    let is_shown = cache.contains(&format!("process {pid}"));
    if !is_shown {
        assert!(cache.contains("not visible from here"), "{cache}");
        skip("the rest, for this kernel does not say who serves a FUSE file system");
    }
    is_shown
}

#[test]
fn a_file_whose_pages_are_dropped_at_each_open_or_never_kept_is_never_warm() {
    for (more, outcome, why) in [
        (&["drop"][..], "unavailable", "cannot be warm: fuse drops its pages from the cache at each open"),
        (&["direct"], "unavailable", "cannot be warm: fuse keeps nothing of it in the page cache"),
        (&[], "measured", ""),
    ] {
        let warm = "--state warm --method rust/read/scalar";
        let Some((run, _)) = race_behind_a_program(warm, more) else { return };
        run.ended("rust/read/scalar", "warm", outcome, why);
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn names_that_the_kernel_may_not_keep_are_found_in_an_unknown_state() {
        let words = "--work names --method rust/names-readdir";
        let Some((run, _)) = race_below_the_mount("mounted", words, &["forget"]) else { return };
        let run = run.exits(0);
        run.measured("rust/names-readdir", "unknown");
        let cautions = run["targets"][0]["cautions"].to_string();
        assert!(cautions.contains("the kernel forgets them soon"), "{cautions}");
    }

    #[test]
    fn a_file_passed_through_to_the_kernel_is_cold_and_warm_like_its_backing_file() {
        let methods = "--method rust/read/scalar --method rust/mmap/scalar";
        let Some((run, _)) = race_behind_a_program(methods, &["pass"]) else { return };
        if run.said.err.contains("Input/output error") {
            return skip("this kernel takes no files from FUSE programs");
        }
        let run = run.exits(0);
        for name in ["rust/read/scalar", "rust/mmap/scalar"] {
            for (state, before) in [("cold", 0.0), ("warm", 1.0)] {
                let trial = run.measured(name, state);
                assert_eq!(trial.get("cold_above"), None, "{trial}");
                for sample in items(&trial["samples"]) {
                    assert_eq!(sample["resident_before"].as_f64(), Some(before), "{trial}");
                    let is_from_device = sample["device_read_bytes"].as_u64().unwrap() > 0;
                    assert_eq!(is_from_device, state == "cold", "{trial}");
                }
            }
        }
    }

    #[test]
    fn files_of_a_list_that_are_passed_through_are_cold_like_their_backing_files() {
        let home = Home::new();
        let Some((_program, _undo)) = serve_file(&home, "mounted", &["pass"]) else { return };
        home.file("list", "mounted/file\n");
        let words = "--state cold --method rust/files-threads/scalar --quiet --export-json -";
        let said = home.readlab(format!("race --files-from list {QUICK} {words}"));
        if said.err.contains("Input/output error") {
            return skip("this kernel takes no files from FUSE programs");
        }
        let json = said.exits(0).json();
        let trial = json.measured("rust/files-threads/scalar", "cold");
        assert_eq!(trial.get("cold_above"), None, "{trial}");
        for sample in items(&trial["samples"]) {
            assert!(sample["device_read_bytes"].as_u64() > Some(0), "{trial}");
        }
    }

    #[test]
    fn a_mount_whose_program_is_gone_is_left_out_of_the_folder_around_it() {
        let home = Home::new();
        home.file("tree/file", lines());
        let Some((program, _undo)) = serve_file(&home, "tree/mounted", &[]) else { return };
        drop(program);
        let json = home.race_json("tree", "--state warm --method rust/files-threads/scalar").exits(0);
        json.measured("rust/files-threads/scalar", "warm");
        let target = &json["targets"][0];
        let facts = &target["tree"];
        assert_eq!((&facts["files"], &facts["skipped"]["unreadable"]), (&1.into(), &1.into()), "{target}");
    }

    #[test]
    fn a_file_behind_a_program_is_cold_above_it_and_the_reads_below_are_counted() {
        let Some((run, pid)) = race_behind_a_program(COLD_RACE, &[]) else { return };
        let run = run.exits(0);
        let trial = run.trial("rust/read/scalar", "cold");
        assert_cold_above(&run, trial["cold_above"].as_str().unwrap_or_else(|| panic!("{trial}")));
        if !names_the_program(trial, pid) {
            return;
        }
        for sample in items(&trial["samples"]) {
            // The program read its file for the correct answer, so the file is in the page cache.
            assert!(sample["below_read_bytes"].is_u64() && sample["device_read_bytes"] == 0, "{trial}");
        }
    }

    #[test]
    fn a_file_that_a_program_keeps_in_its_memory_is_never_cold() {
        let Some((run, pid)) = race_behind_a_program(COLD_RACE, &["keep"]) else { return };
        if !names_the_program(run.trial("rust/read/scalar", "cold"), pid) {
            return;
        }
        let run = run.exits(1);
        let why = format!("process {pid}, got ");
        run.ended("rust/read/scalar", "cold", "refused", &why);
        run.ended("rust/read/scalar", "cold", "refused", "it has a cache of its own");
    }
}
