//! Files that a program serves through /dev/fuse: cold is above it, and one that answers from its
//! own memory is never cold.

use super::home::{Home, Said, trials};
use super::layers::{Helper, Undo, cold, is_cold_above, lines, text};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A file that a program serves through /dev/fuse, and how its race ended; `None` where that cannot
/// be.
fn race_behind_a_program(home: &Home, words: &[&str], more: &[&str]) -> Option<(Value, Said, u32)> {
    if !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
        eprintln!("SKIPPED: only root can mount, and only where there is /dev/fuse");
        return None;
    }
    let (backing, point) = (home.file("backing", lines()), home.at("mounted"));
    fs::create_dir(&point).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/adversary/passthrough.py");
    let undo = Undo(vec![vec!["umount".to_owned(), text(&point)]]);
    // In a network of its own, so that nothing else arrives there.
    let mut command = Command::new("unshare");
    command.args(["--net", "python3"]).arg(script).args([&backing, &point]).args(more);
    // Prints "ready" at its first request, which is the kernel's at the mount.
    let Some(helper) = Helper::start(&mut command) else {
        std::mem::forget(undo);
        return None;
    };
    let (json, said) = home.race_json(&point.join("file"), words);
    Some((json, said, helper.0.id()))
}

/// Whether a record says who serves the file, which only newer kernels do.
fn shows_the_program(trial: &Value, pid: u32) -> bool {
    let cache = trial["cold_above"].as_str().unwrap_or_else(|| panic!("{trial}"));
    let is_shown = cache.contains(&format!("process {pid}"));
    if !is_shown {
        assert!(cache.contains("not visible from here"), "{cache}");
        eprintln!("SKIPPED: the rest, for this kernel does not say who serves a FUSE file system");
    }
    is_shown
}

#[test]
fn a_file_whose_pages_are_dropped_at_each_open_is_never_warm_and_one_that_keeps_them_is() {
    let warm = ["--state", "warm", "--method", "rust/read/scalar"];
    for (more, outcome, told) in [
        (&["drop"][..], "unavailable", "cannot be warm: fuse drops its pages from the cache at each open"),
        (&[], "measured", ""),
    ] {
        let home = Home::new();
        let Some((json, said, _)) = race_behind_a_program(&home, &warm, more) else { return };
        let trial = trials(&json, "rust/read/scalar", "warm");
        assert_eq!(trial["outcome"], outcome, "{said}");
        assert!(trial["reason"].as_str().unwrap_or_default().contains(told), "{trial}");
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_file_that_a_program_passes_to_the_kernel_is_cold_and_warm_by_the_file_that_is_read() {
        let home = Home::new();
        let methods = ["--method", "rust/read/scalar", "--method", "rust/mmap/scalar"];
        let Some((json, said, _)) = race_behind_a_program(&home, &methods, &["pass"]) else { return };
        if said.err.contains("Input/output error") {
            return eprintln!("SKIPPED: this kernel takes no files from FUSE programs");
        }
        assert_eq!(said.code, Some(0), "{said}");
        for name in ["rust/read/scalar", "rust/mmap/scalar"] {
            for (state, before) in [("cold", 0.0), ("warm", 1.0)] {
                let trial = trials(&json, name, state);
                assert_eq!(
                    (&trial["outcome"], trial.get("cold_above")),
                    (&"measured".into(), None),
                    "{trial}"
                );
                let samples = trial["samples"].as_array().unwrap();
                assert!(samples.iter().all(|it| it["resident_before"].as_f64() == Some(before)), "{trial}");
                let from_device = |it: &Value| it["device_read_bytes"].as_u64().unwrap() > 0;
                assert!(samples.iter().all(|it| from_device(it) == (state == "cold")), "{trial}");
            }
        }
    }

    #[test]
    fn a_file_behind_a_program_is_cold_above_it_and_what_it_reads_is_counted() {
        let home = Home::new();
        let Some((json, said, pid)) = race_behind_a_program(&home, &cold("rust/read/scalar"), &[]) else {
            return;
        };
        assert_eq!(said.code, Some(0), "{said}");
        let trial = trials(&json, "rust/read/scalar", "cold");
        is_cold_above(&json, trial["cold_above"].as_str().unwrap_or_else(|| panic!("{trial}")));
        if !shows_the_program(trial, pid) {
            return;
        }
        let samples = trial["samples"].as_array().unwrap();
        // It read its file for the correct answer, so the file is in the page cache.
        assert!(samples.iter().all(|sample| sample["below_read_bytes"].is_u64()), "{trial}");
        assert!(samples.iter().all(|sample| sample["device_read_bytes"] == 0), "{trial}");
    }

    #[test]
    fn a_file_that_a_program_keeps_in_its_memory_is_never_cold() {
        let home = Home::new();
        let Some((json, said, pid)) = race_behind_a_program(&home, &cold("rust/read/scalar"), &["keep"])
        else {
            return;
        };
        let trial = trials(&json, "rust/read/scalar", "cold");
        if !shows_the_program(trial, pid) {
            return;
        }
        assert_eq!((said.code, &trial["outcome"]), (Some(1), &json!("refused")), "{said}");
        let reason = trial["reason"].as_str().unwrap();
        assert!(reason.contains(&format!("process {pid}, got ")), "{reason}");
        assert!(reason.contains("it has a cache of its own"), "{reason}");
    }
}
