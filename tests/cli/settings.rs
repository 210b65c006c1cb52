//! Tests of races under settings of the system: `readlab race FILE --setting` and
//! `--setting-command`. Without root, the setting is a file that commands write and read.

use crate::home::{Export, Home, QUICK, Trials, items};
use crate::machine::is_root;
use crate::processes::{happens_in_time, kill, send, start_until_sample};
use readlab_model::target::TargetIndex;
use readlab_record::{Line, Record};
use rustix::process::Signal;
use std::fs;

const ONE_METHOD: &str = "--method rust/read/scalar";

/// A home with a file of lines, and a file that serves as the setting and has the value 1.
fn home_with_setting() -> Home {
    let home = Home::with_file("f", "a line\n".repeat(1 << 14));
    home.file("setting", "1");
    home
}

/// The options that race the setting. Its `--apply` command begins with `apply`.
fn setting_options(home: &Home, apply: &str) -> String {
    let file = home.at("setting");
    let file = file.display();
    format!(
        "--setting-command x=1,2,3 --apply '{apply}printf %s {{x}} >\"{file}\"' --read 'cat \"{file}\"' {ONE_METHOD}"
    )
}

fn is_restored(home: &Home) -> bool {
    home.read("setting") == "1"
}

/// Waits until a race has set another value than the one that was found.
#[track_caller]
fn wait_for_a_changed_value(home: &Home) {
    let is_changed = || matches!(home.read("setting").as_str(), "2" | "3");
    assert!(happens_in_time(is_changed), "it is raced under other values");
}

fn setting_values(record: &Record) -> Vec<&str> {
    record.targets.iter().map(|it| it.settings[0].value.as_str()).collect()
}

#[test]
fn each_method_is_read_under_each_value_and_the_found_value_is_restored() {
    let home = home_with_setting();
    let json = home.race_json("f", setting_options(&home, "")).exits(0);
    assert!(is_restored(&home));
    let record = home.record(&home.runs()[0]);
    assert_eq!(setting_values(&record), ["1", "2", "3"]);
    assert!(
        record.targets[TargetIndex::new(0)].has_initial_settings()
            && !record.targets[TargetIndex::new(1)].has_initial_settings()
    );
    let mut names: Vec<String> = record.trials.iter().map(|it| record.trial_name(&it.trial)).collect();
    names.retain(|name| name.starts_with("rust/read/scalar"));
    names.sort();
    let expected = ["1", "1", "2", "2", "3", "3"].map(|value| format!("rust/read/scalar+x={value}"));
    assert_eq!(names, expected, "cold and warm");
    let effects = items(&json["settings"]).iter().filter(|it| it["trial"] == "rust/read/scalar");
    let effects: Vec<_> = effects.map(|it| &it["settings"][0]).collect();
    assert_eq!(effects.len(), 4, "two values in two states: {effects:?}");
    assert!(effects.iter().all(|it| it["name"] == "x" && it["is_read_back"] == true), "{effects:?}");
    assert!(json.trials().iter().any(|it| it["settings"] == "x=2"));
    // Settings are changed for each block, and once more at the end.
    let last = record.settings_changes.last().unwrap();
    assert!(
        record.settings_changes.len() > 6 && last.target == TargetIndex::new(0),
        "{:?}",
        record.settings_changes
    );
}

#[test]
fn names_and_ranges_are_read_under_each_value_too() {
    for (target, words) in [
        ("folder", "--work names --method rust/names-readdir"),
        ("f", "--range 0:16KiB --state warm --method rust/read/scalar"),
    ] {
        let home = home_with_setting();
        home.file("folder/a", "a line\n");
        let json = home.race_json(target, setting_options(&home, "").replace(ONE_METHOD, words)).exits(0);
        assert_eq!(setting_values(&home.record(&home.runs()[0])), ["1", "2", "3"], "{words}");
        assert!(!items(&json["settings"]).is_empty() && is_restored(&home), "{words}: {json}");
    }
}

#[test]
fn a_turn_during_which_the_value_changes_is_repeated() {
    let home = home_with_setting();
    // The raced command itself changes the setting, in its fourth reading: each of the three values has
    // an untimed reading before.
    let (count, setting) = (home.at("count"), home.at("setting"));
    let (count, setting) = (count.display(), setting.display());
    let change = format!("echo >>{count}; test $(wc -l <{count}) != 4 || printf 9 >{setting}");
    let command = home.program("meddle", format!("#!/bin/sh\n{change}\nwc -l \"$1\"\n"));
    let words = format!("{} -c '{} {{}}' --state cold", setting_options(&home, ""), command.display());
    home.race_json("f", words).exits(0);
    let record = home.record(&home.runs()[0]);
    let rejected: Vec<&str> =
        record.trials.iter().flat_map(|it| &it.rejected_readings).map(|(_, why)| why.as_str()).collect();
    assert!(rejected.iter().any(|why| why.starts_with("x was 9 after the reading, and ")), "{rejected:?}");
    assert!(is_restored(&home));
}

#[test]
fn a_command_that_always_changes_the_setting_is_refused_with_what_it_changed() {
    let home = home_with_setting();
    let setting = home.at("setting");
    let change = format!("#!/bin/sh\nprintf 9 >{}\nwc -l \"$1\"\n", setting.display());
    let command = home.program("meddle", &change);
    let words = format!("{} -c '{} {{}}' --state warm", setting_options(&home, ""), command.display());
    // A command that was named and has no reading is exit code 1.
    let said = home.race("f", words).exits(1);
    said.shows("the warm state could not be proven in 4 tries: x was 9 after the reading, and ");
    let record = home.record(&home.runs()[0]);
    let rejected: Vec<&str> =
        record.trials.iter().flat_map(|it| &it.rejected_readings).map(|(_, why)| why.as_str()).collect();
    // The kernel may drop pages of the command's own program, which then come from the device.
    let because_changed = |why: &&&str| why.starts_with("x was 9 after the reading, and ");
    assert!(rejected.iter().filter(because_changed).count() >= 4, "each try is recorded: {rejected:?}");
    assert!(is_restored(&home));
}

#[test]
fn a_value_that_no_command_reads_back_is_called_unproven() {
    let home = home_with_setting();
    let file = home.at("setting");
    let apply = format!("--apply 'printf %s {{x}} >\"{}\"'", file.display());
    let words = format!("--setting-command x=1,2 {apply} {ONE_METHOD} --state warm");
    home.race("f", words).exits(0).shows("; not proven: no command reads x back (--read)");
}

#[test]
fn a_value_is_named_as_it_is_read_back() {
    let home = home_with_setting();
    let file = home.at("setting");
    let file = file.display();
    home.file("setting", "16");
    let apply = format!("--apply 'echo $(( {{x}} / 4 * 4 )) >\"{file}\"' --read 'cat \"{file}\"'");
    let words = format!("--setting-command x=17,30 {apply} {ONE_METHOD} --state warm --output run");
    let said = home.race("f", words).exits(0);
    said.shows("x is still 16, as it was found, once 17 is set: not raced");
    assert_eq!(setting_values(&home.record("run")), ["16", "28"]);
    assert_eq!(home.read("setting").trim(), "16");
}

#[test]
fn impossible_settings_are_refused_in_a_line() {
    let home = home_with_setting();
    for (words, why) in [
        ("--setting warp=1", "--setting warp: known are read-ahead, scheduler,"),
        ("--setting swappiness=1,,2", "'' is no value"),
        ("--setting scheduler --setting scheduler=none", "is given twice"),
        ("--setting swappiness --readers 2", "--setting: not with --readers"),
        ("--setting-command x=1,2 --apply true", "does not use the value: write {x} in it"),
        ("--setting-command x=1,2 --apply 'exit 3; : {x}'", "--setting-command x: --apply 'exit 3; : 1'"),
        ("--setting-command x=1,2 --apply ': {x}' --read 'echo a b'", "printed no plain value: 'a b'"),
    ] {
        home.race("f", format!("{ONE_METHOD} {words}")).refuses(why);
    }
    home.readlab("tune f --setting swappiness --readers 2").refuses("--setting: not with --readers");
    home.readlab("fleet race f --setting swappiness").exits(2).tells("--setting: the ranks of a fleet");
    assert!(is_restored(&home));
}

#[test]
fn without_permission_a_setting_is_refused_with_its_file() {
    let home = home_with_setting();
    let words = format!("race f {QUICK} {ONE_METHOD} --setting swappiness=1");
    let said = if is_root() { home.as_nobody(words) } else { Some(home.readlab(words)) };
    if let Some(said) = said {
        said.exits(2).tells("--setting swappiness: /proc/sys/vm/swappiness: Permission denied");
    }
}

#[test]
fn a_setting_is_restored_after_ctrl_c_a_kill_and_a_failure() {
    let home = home_with_setting();
    let words = || format!("{} --runs 1000 --budget 10m", setting_options(&home, ""));
    let child = start_until_sample(&home, "race", &words());
    // A second lab would restore a raced value.
    let refused = home.race("f", setting_options(&home, "")).exits(2);
    refused.tells(&format!("another readlab (process {}) races settings of this machine", child.id()));
    wait_for_a_changed_value(&home);
    send(child.id(), Signal::INT);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(is_restored(&home), "Ctrl-C");
    home.readlab("race --resume run/record.jsonl").refuses(
        "settings of the system are not in force any more: begin anew; readlab report shows what it holds",
    );
    home.readlab("report run/record.jsonl").exits(0);
    fs::remove_dir_all(home.at("run")).unwrap();
    let child = start_until_sample(&home, "race", &words());
    wait_for_a_changed_value(&home);
    kill(&home, child);
    assert!(happens_in_time(|| is_restored(&home)), "killed");
    // From now on the setting can only be set to the value that it had.
    let broken = home.at("broken");
    let fails = format!("test {{x}} = 1 || ! test -e {} || exit 7; ", broken.display());
    fs::remove_dir_all(home.at("run")).unwrap();
    let child = start_until_sample(
        &home,
        "race",
        &format!("{} --runs 1000 --budget 10m", setting_options(&home, &fails)),
    );
    fs::write(&broken, "").unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("the run ended early: --setting-command x: --apply"), "{err}");
    assert!(is_restored(&home), "failed");
}

#[test]
fn the_lock_is_held_until_the_setting_of_a_killed_lab_is_restored() {
    let home = home_with_setting();
    let (killed, slow) = (home.at("killed"), home.at("slow"));
    // Only the command that restores the value finds the mark, and waits until the mark is gone.
    let wait = format!("while test -e {}; do : >{}; sleep 0.05; done; ", killed.display(), slow.display());
    let words = setting_options(&home, &wait);
    let mut child = start_until_sample(&home, "race", &format!("{words} --runs 1000 --budget 10m"));
    wait_for_a_changed_value(&home);
    fs::write(&killed, "").unwrap();
    let pid = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(happens_in_time(|| slow.exists()), "the value is being restored");
    let refused = home.race("f", setting_options(&home, "")).exits(2);
    refused
        .tells(&format!("those that another readlab (process {pid}) changed before it was killed are being"));
    fs::remove_file(&killed).unwrap();
    let mut next = home.race("f", setting_options(&home, ""));
    while next.err.contains("are being restored") {
        next = home.race("f", setting_options(&home, ""));
    }
    next.exits(0);
    let record = home.record(home.runs().last().unwrap());
    assert_eq!(setting_values(&record), ["1", "2", "3"], "the next lab finds the old value");
}

#[test]
fn settings_are_refused_before_a_contender_is_built_and_too_many_before_any_is_set() {
    let home = home_with_setting();
    let entry = "[[contender]]\nname = \"mine\"\nabout = \"x\"\nsources = \"mine\"\n\
                 build = [[\"sh\", \"-c\", \"echo built >>../built\"]]\nrun = [\"true\"]\nlanguage = \"sh\"\n";
    home.file("mine/source", "");
    home.file("mine.toml", entry);
    let file = home.at("setting");
    let file = file.display();
    let words = |values: &str| {
        format!(
            "--setting-command x={values} --apply 'echo {{x}} >>applied; echo 1 >\"{file}\"' --read 'cat \"{file}\"' \
             --roster mine.toml --method mine/*"
        )
    };
    let many: Vec<String> = (2..66).map(|value| value.to_string()).collect();
    let said = home.race("f", words(&many.join(",")));
    said.refuses("settings have 65 combinations of values, with those that were found; at most 64 are raced");
    assert!(!home.at("applied").exists(), "nothing was set");
    home.race("f", words("7")).refuses("it is 1, and still 1 once 7 is set");
    assert!(home.at("applied").exists() && !home.at("built").exists(), "nothing was built");
    assert!(home.runs().is_empty());
    home.race("f", "--roster mine.toml --method mine/*");
    assert!(home.at("built").exists(), "a race without settings builds it");
}

#[test]
fn each_value_that_only_a_prepare_command_uses_has_a_row() {
    let home = home_with_setting();
    let words = "-c 'wc -l {}' -L ra 32,256 --prepare 'echo {ra} >made' --state warm --method 'command/*'";
    let json: Export = home.race_json("f", words).exits(0);
    for value in [32, 256] {
        let id = format!("command/wc -l {{}} # ra={value}");
        assert_eq!(json.trial(&id, "warm")["outcome"], "measured");
    }
}

mod ring2 {
    use super::*;
    use crate::machine::{or_skip, skip};
    use crate::mounted::{Undo, run, text};
    use crate::processes::{KilledOnDrop, assert_no_process, wait_for_a_sample};
    use std::path::{Path, PathBuf};

    /// The file `mnt/f` of a home, on a device of its own, whose settings a test may change. It is
    /// unmounted when it is dropped, so the labs that read it must have ended.
    struct FileOnDevice {
        file: PathBuf,
        device: PathBuf,
        _undo: Undo,
    }

    impl FileOnDevice {
        /// Makes the device; `None` with a message if that is impossible.
        fn make(home: &Home) -> Option<FileOnDevice> {
            if !is_root() {
                skip("only root can change the settings of a device");
                return None;
            }
            let (mut undo, image) = (Undo::default(), home.file("image", vec![0; 64 << 20]));
            or_skip(run(&["mkfs.ext4", "-q", text(&image)]))?;
            let device = or_skip(undo.attach(&[], &image))?;
            let point = home.at("mnt");
            or_skip(undo.mount(&[text(&device)], &point))?;
            let file = point.join("f");
            fs::write(&file, "a line\n".repeat(1 << 20)).unwrap();
            Some(FileOnDevice { file, device, _undo: undo })
        }

        /// The text of a setting of the device, such as `read_ahead_kb`.
        fn setting(&self, name: &str) -> String {
            let device = Path::new("/sys/class/block").join(self.device.file_name().unwrap());
            fs::read_to_string(device.join("queue").join(name)).unwrap()
        }
    }

    #[test]
    fn the_found_value_is_restored_after_each_of_twenty_kills() {
        let home = home_with_setting();
        for _ in 0..20 {
            let child = start_until_sample(
                &home,
                "race",
                &format!("{} --runs 1000 --budget 10m", setting_options(&home, "")),
            );
            wait_for_a_changed_value(&home);
            kill(&home, child);
            assert!(happens_in_time(|| is_restored(&home)), "{}", home.read("setting"));
            fs::remove_dir_all(home.at("run")).unwrap();
        }
    }

    #[test]
    fn the_read_ahead_of_a_device_is_raced_proven_and_restored() {
        let home = Home::new();
        let Some(on) = FileOnDevice::make(&home) else { return };
        let found = on.setting("read_ahead_kb");
        let words = format!("--setting read-ahead=32KiB,4MiB {ONE_METHOD} --state cold --output run");
        let said = home.race(&on.file, words).exits(0);
        said.shows("settings: cold, read-ahead=4MiB beside read-ahead=");
        assert_eq!(on.setting("read_ahead_kb"), found);
        let record = home.record("run");
        let ahead = |value: &str| {
            let has_it = |it: &&readlab_model::target::TargetFacts| it.settings[0].value == value;
            record.targets.iter().find(has_it).and_then(|it| it.read_ahead()).map(|ahead| ahead.bytes)
        };
        assert_eq!((ahead("32KiB"), ahead("4MiB")), (Some(32 << 10), Some(4 << 20)));
        let text = home.read("run/record.jsonl");
        assert!(text.lines().any(|line| {
            matches!(serde_json::from_str(line), Ok(Line::Settings(applied)) if applied.target == TargetIndex::new(1))
        }));
        // The other commands that the documents show, on this device.
        let device = on.device.display();
        let by_command = format!(
            "--setting-command ra=256,8192 --apply 'blockdev --setra {{ra}} {device}' \
             --read 'blockdev --getra {device}' {ONE_METHOD} --state cold"
        );
        home.race(&on.file, by_command).exits(0).shows("ra=8192 beside ra=");
        let both = "--setting scheduler --setting swappiness=1,60 --method rust/read/scalar --state cold";
        match on.setting("scheduler").split_ascii_whitespace().count() {
            1 => skip("this kernel has one scheduler"),
            _ => {
                home.race(&on.file, both).exits(0).shows("settings: cold, scheduler=");
            }
        }
        let tune = "--setting read-ahead --state cold --method rust/read/scalar --space 'buffer=64KiB|1MiB' \
                    --budget 40s --no-progress";
        home.readlab(format!("tune mnt/f {tune}")).exits(0).shows("settings: cold, read-ahead=8MiB beside");
        assert_eq!(on.setting("read_ahead_kb"), found);
    }

    #[test]
    fn the_read_ahead_of_a_device_is_restored_after_ctrl_c_and_by_the_watcher_after_a_kill() {
        let home = Home::new();
        let Some(on) = FileOnDevice::make(&home) else { return };
        let found = on.setting("read_ahead_kb");
        let words = format!(
            "race mnt/f --setting read-ahead=32KiB,4MiB {ONE_METHOD} --state cold --runs 1000 --budget 10m \
             --no-progress --output run"
        );
        for signal in [Signal::INT, Signal::KILL] {
            let mut lab = KilledOnDrop(home.start(&words));
            wait_for_a_sample(&home.at("run/record.jsonl"));
            let is_changed = || on.setting("read_ahead_kb").trim() == "4096";
            assert!(happens_in_time(is_changed), "it is raced under 4 MiB");
            send(lab.0.id(), signal);
            let status = lab.0.wait().unwrap();
            assert_eq!(status.code(), (signal == Signal::INT).then_some(130), "{status}");
            assert_no_process(&home);
            assert_eq!(on.setting("read_ahead_kb"), found, "{signal:?}");
            fs::remove_dir_all(home.at("run")).unwrap();
        }
    }

    #[test]
    fn the_kernel_rounds_or_refuses_a_value_of_a_device_and_other_users_may_set_none() {
        let home = Home::new();
        let Some(on) = FileOnDevice::make(&home) else { return };
        let settings = || ["read_ahead_kb", "scheduler"].map(|name| on.setting(name));
        let found = settings();
        // The kernel counts whole pages.
        let rounded = format!("--setting read-ahead=5KiB {ONE_METHOD} --state cold --output run");
        home.race(&on.file, rounded).exits(0).shows("settings: cold, read-ahead=4KiB beside read-ahead=");
        assert_eq!(setting_values(&home.record("run"))[1..], ["4KiB"]);
        let refused = home.race(&on.file, format!("--setting scheduler=nonsense {ONE_METHOD}"));
        refused.refuses("--setting scheduler: ").tells("nonsense");
        for (words, file) in [("read-ahead=4MiB", "read_ahead_kb"), ("scheduler=nonsense", "scheduler")] {
            let of_nobody = home.as_nobody(format!("race mnt/f {QUICK} {ONE_METHOD} --setting {words}"));
            if let Some(said) = of_nobody {
                said.exits(2).tells(&format!("/queue/{file}: Permission denied"));
            }
        }
        assert_eq!(settings(), found);
    }
}

#[test]
fn places_are_compared_under_each_value_of_a_setting() {
    let home = home_with_setting();
    home.file("there/f", "a line\n".repeat(1 << 14));
    let words = format!("race f there/f {} {QUICK} --state warm", setting_options(&home, ""));
    let json = home.readlab(format!("{words} --quiet --export-json -")).exits(0).export();
    assert!(is_restored(&home));
    let runs = home.runs();
    assert_eq!(runs.len(), 1, "one run for both targets");
    assert_eq!(setting_values(&home.record(&runs[0])), ["1", "1", "2", "2", "3", "3"]);
    let compared = items(&json["locations"]["compared"]);
    let settings: Vec<&str> = compared.iter().map(|it| it["settings"].as_str().unwrap()).collect();
    assert_eq!(settings, ["x=1", "x=2", "x=3"]);
    for table in compared {
        assert!(items(&table["methods"]).iter().any(|it| it["id"] == "rust/read/scalar"), "{table}");
    }
    let effects = items(&json["settings"]).iter().filter(|it| it["trial"] == "rust/read/scalar");
    assert_eq!(effects.count(), 4, "two values at two places");
    let said = home.readlab(words).exits(0);
    said.shows("settings: warm, there/f, x=3 beside x=1: of ");
    said.shows("places: warm, newlines, x=3: over ");
}

#[test]
fn each_of_several_targets_apart_is_raced_under_each_value() {
    let home = home_with_setting();
    home.file("g", "another line\n".repeat(1 << 13));
    let words = format!("race f g --apart {} {QUICK} --state warm", setting_options(&home, ""));
    home.readlab(words).exits(0);
    assert!(is_restored(&home));
    let runs = home.runs();
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert_eq!(setting_values(&home.record(run)), ["1", "2", "3"]);
    }
}

#[test]
fn each_value_of_a_scan_is_in_force_in_prepare_and_is_refused_in_set_up_and_clean_up() {
    let home = home_with_setting();
    let race = "-c 'wc -l {}' --state warm --method 'command/*'";
    for parameter in ["-L ra 32,64", "-P ra 32 64 -D 32"] {
        for hooks in ["--setup 'echo {ra} >made'", "--cleanup 'echo {ra} >made'"] {
            home.race("f", format!("{race} {parameter} {hooks}"))
                .refuses("the parameter 'ra' is only in --setup or --cleanup, which run once");
        }
        let words = format!("{race} {parameter} --setup 'echo {{ra}} >up' --prepare 'echo {{ra}} >made'");
        let json = home.race_json("f", words).exits(0);
        for value in [32, 64] {
            let id = format!("command/wc -l {{}} # ra={value}");
            assert_eq!(json.trial(&id, "warm")["outcome"], "measured", "{parameter}");
        }
    }
    assert_eq!(home.runs().len(), 2, "what is refused has no run");
}
