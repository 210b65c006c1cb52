//! Tests of `readlab sweep` with a wrong folder, disk or file, and of the files that it leaves.

use crate::home::{Export, Home, ProgramOutput, READLAB, items, paths_in};
use crate::machine::{is_root, skip};
use rustix::fs::inotify;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

const TWO_SIZES: &str = "--sizes 10kB,1MB --repeat 2";

/// A home with an empty folder for sweeps.
fn home() -> Home {
    let home = Home::new();
    home.folder("swept");
    home
}

/// A sweep in a folder with further words, which succeeds. Returns its export.
fn sweep(home: &Home, words: &str) -> Export {
    home.readlab(format!("sweep {words} --quiet --export-json -")).exits(0).export()
}

fn assert_empty(home: &Home) {
    let left = paths_in(home.at("swept"));
    assert!(left.is_empty(), "files were left behind: {left:?}");
}

fn kept_folder(home: &Home) -> PathBuf {
    paths_in(home.at("swept")).remove(0)
}

/// A shell line that runs in a separate mount namespace, where `mounted` is a file system in
/// memory; `None` with a message if that is not allowed.
fn run_in_memory_folder(home: &Home, options: &str, line: &str) -> Option<ProgramOutput> {
    if !is_root() {
        skip("only root can mount");
        return None;
    }
    home.folder("mounted");
    let line = format!("mount -t tmpfs -o {options} none mounted && {line}");
    let mut command = home.command("unshare");
    let said = ProgramOutput::by(command.args(["--mount", "--propagation", "private", "sh", "-c", &line]));
    if said.err.contains("unshare") {
        skip("nobody may make a mount namespace here");
        return None;
    }
    Some(said)
}

#[test]
fn a_sweep_is_exported_and_leaves_nothing_but_its_record() {
    let home = home();
    let json = sweep(&home, &format!("swept {TWO_SIZES}"));
    let series = items(&json["sweep"]["series"]);
    let sizes = items(&series[0]["sizes"]).iter().map(|row| row["size_bytes"].as_u64().unwrap());
    assert_eq!(series[0]["name"], "write plain");
    assert_eq!(sizes.collect::<Vec<_>>(), [10_000, 1_000_000]);
    assert!(series.iter().all(|one| items(&one["points"]).len() == 4), "{series:?}");
    assert_empty(&home);
}

#[test]
fn the_file_for_warming_up_counts_for_max_bytes() {
    let home = home();
    let said = home.readlab(format!("sweep swept {TWO_SIZES} --max-bytes 2500kB --quiet"));
    said.refuses("--max-bytes allows ");
    assert_empty(&home);
}

#[test]
fn a_write_that_fails_half_way_is_reported_with_the_file_and_no_file_is_left() {
    let home = home();
    // A limit on the size of files simulates a full disk: the write of the second file stops in its
    // middle.
    let words = "sweep swept --sizes 2MB,30MB --repeat 1 --quiet";
    let said =
        ProgramOutput::by(&mut home.shell(format!("trap '' XFSZ; ulimit -f 8192; exec readlab {words}")));
    said.refuses("0001-30.0MB.bin: ");
    assert_empty(&home);
}

#[test]
fn a_command_is_warmed_up_on_another_file_and_reads_each_file_of_the_sweep_once() {
    let home = home();
    let log = home.at("log").display().to_string();
    let script = home.file("logged.sh", format!("echo \"$1\" >> '{log}'; wc -l \"$1\""));
    let method = format!("--work newlines --method 'command/sh {}'", script.display());
    let json = sweep(&home, &format!("swept {TWO_SIZES} {method}"));
    assert_eq!(items(&json["sweep"]["series"][0]["points"]).len(), 4, "{json}");
    let log = home.read("log");
    let mut read: Vec<&str> = log.lines().map(|path| path.rsplit('/').next().unwrap()).collect();
    read.sort_unstable();
    let swept = ["0000-10.0kB.bin", "0001-1.00MB.bin", "0002-10.0kB.bin", "0003-1.00MB.bin"];
    assert_eq!(read[..4], swept, "each once: {log}");
    assert!(read.len() > 4 && read[4..].iter().all(|name| *name == "warm-up"), "{log}");
    assert_empty(&home);
}

/// How often each file of a folder was opened and read, by the kernel's own events since the watch
/// began.
fn readings(watch: &OwnedFd) -> BTreeMap<String, u32> {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(watch, &mut buffer);
    let (mut readings, mut in_reading) = (BTreeMap::new(), BTreeMap::new());
    while let Ok(event) = events.next() {
        let Some(name) = event.file_name() else { continue };
        let name = name.to_string_lossy().into_owned();
        let reads = event.events().contains(inotify::ReadFlags::ACCESS);
        if reads && !in_reading.insert(name.clone(), reads).unwrap_or(false) {
            *readings.entry(name).or_insert(0) += 1;
        } else {
            in_reading.insert(name, reads);
        }
    }
    readings
}

#[test]
fn no_file_of_a_sweep_is_read_before_its_timed_reading() {
    let home = home();
    sweep(&home, &format!("swept {TWO_SIZES} --keep --method rust/read"));
    let kept = kept_folder(&home);
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    let events = inotify::WatchFlags::ACCESS | inotify::WatchFlags::OPEN | inotify::WatchFlags::CLOSE;
    inotify::add_watch(&watch, &kept, events).unwrap();
    let json = sweep(&home, &format!("{} --read-only --method rust/read", kept.display()));
    assert_eq!(json["warnings"], serde_json::json!([]), "it was not warmed up");
    let mut readings = readings(&watch);
    readings.remove("sweep.json");
    let counts: Vec<u32> = readings.into_values().collect();
    assert_eq!(counts, [2; 4], "the timed one, and the comparison of contents after all of them");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_written_is_one_line() {
        let home = Home::new();
        let line = format!("mount -o remount,ro mounted && '{READLAB}' sweep mounted --sizes 10kB --quiet");
        if let Some(said) = run_in_memory_folder(&home, "size=1m", &line) {
            said.refuses("mounted: ");
        }
        home.readlab("sweep /nowhere --sizes 10kB").refuses("/nowhere: No such file");
        home.folder("of-root");
        if let Some(said) = home.as_nobody("sweep of-root --sizes 10kB --quiet --output out") {
            said.refuses("of-root: Permission denied");
        }
    }

    #[test]
    fn a_folder_in_memory_is_written_and_reported_as_not_cold() {
        let line = format!("'{READLAB}' sweep mounted --sizes 10kB,1MB --repeat 1");
        let Some(said) = run_in_memory_folder(&Home::new(), "size=200m", &line) else { return };
        said.shows("write plain").shows("cold is impossible on tmpfs");
        said.shows("caution: The file is in memory (tmpfs)");
    }

    #[test]
    fn a_kept_folder_is_read_again_and_one_that_was_changed_is_refused() {
        let home = home();
        let json = sweep(&home, &format!("swept {TWO_SIZES} --keep --method rust/read"));
        let kept = kept_folder(&home);
        let warnings = items(&json["warnings"]).iter().filter_map(Value::as_str);
        let mut commands = warnings.filter_map(|text| text.split_once("to read them again: readlab "));
        let (_, command) = commands.next().unwrap_or_else(|| panic!("{json}"));
        // The command contains the same method as before.
        assert!(command.contains("--method rust/read"), "{command}");
        ProgramOutput::by(&mut home.shell(format!("cd / && readlab {command} --quiet"))).succeeds_silently();
        let again =
            format!("sweep {} --read-only --method rust/read --quiet --export-json -", kept.display());
        let json = home.readlab(&again).exits(0).json();
        let series = items(&json["sweep"]["series"]);
        assert_eq!((series.len(), items(&series[0]["points"]).len()), (1, 4));
        fs::remove_file(kept.join("0000-10.0kB.bin")).unwrap();
        home.readlab(&again).refuses("0000-10.0kB.bin is missing");
    }

    #[test]
    fn a_sweep_probes_for_a_cache_below_with_its_own_file() {
        let home = home();
        let words = format!("swept {TWO_SIZES} --method rust/read");
        let json = sweep(&home, &words);
        let found: Vec<&Value> = items(&json["targets"]).iter().map(|it| &it["hidden_cache"]).collect();
        assert_eq!(found.iter().filter(|it| it.is_object()).count(), 1, "one for the file system: {found:?}");
        // The result depends on the machine, but the reason is never that the sweep's files are too
        // small.
        let reason = &found[0]["why"]["reason"];
        assert!(reason != "small_file" && reason != "no_own_file", "{found:?}");
        let json = sweep(&home, &format!("{words} --max-bytes 4MB"));
        let not_probed = &json["targets"][0]["hidden_cache"]["why"];
        assert_eq!(not_probed["cause"], "--max-bytes leaves no room for it", "{not_probed}");
        let below = json["sweep"]["below"].to_string();
        let told = "whether a cache lies below was not probed: no file of readlab's own";
        assert!(below.contains(told), "{below}");
        assert_empty(&home);
    }

    #[test]
    fn side_effects_of_a_contender_are_counted_in_a_sweep_too() {
        let home = home();
        let script = "setsid sleep 60 </dev/null >/dev/null 2>&1 &\nexec wc -l \"$1\"\n";
        let leaves = home.file("leaves.sh", script);
        let method = format!("--work newlines --method 'command/sh {}'", leaves.display());
        let json = sweep(&home, &format!("swept {TWO_SIZES} {method}"));
        let series = &json["sweep"]["series"][1];
        // The untimed readings of the warm-up leave processes too.
        assert!(series["conduct"]["left_behind"]["processes"].as_u64() >= Some(4), "{series}");
        let caution = |text: &str| text.contains("†: left 1 process behind after each of ");
        assert!(items(&json["sweep"]["cautions"]).iter().any(|it| caution(it.as_str().unwrap())));
    }
}
