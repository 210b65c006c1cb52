//! Tests of `readlab sweep` with a wrong folder, disk or file; and of the files that it leaves.

use super::{AS_NOBODY, Home, READLAB, Said, no_other_user};
use rustix::fs::inotify;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

const TWO_SIZES: [&str; 4] = ["--sizes", "10kB,1MB", "--repeat", "2"];

impl Home {
    /// A sweep in a folder of this home with further words; what it exports.
    fn sweep(&self, words: &[&str]) -> (Value, Said) {
        let words = [&["sweep"], words, &["--quiet", "--export-json", "-"]].concat();
        let said = self.readlab(words);
        (serde_json::from_str(&said.out).unwrap_or(Value::Null), said)
    }

    fn folder(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir(&path).unwrap();
        path
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

/// A file system in memory in a separate mount namespace, and the program that runs in it.
fn in_memory(home: &Home, options: &str, script: &str) -> Result<Said, &'static str> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root can mount");
    }
    let point = home.folder("mounted");
    let script = format!("mount -t tmpfs -o {options} none '{}' && {script}", point.display());
    let said =
        Said::by(home.command("unshare").args(["--mount", "--propagation", "private", "sh", "-c", &script]));
    if said.err.contains("unshare") { Err("nobody may make a mount namespace here") } else { Ok(said) }
}

#[test]
fn a_sweep_is_exported_and_leaves_nothing_but_its_record() {
    let home = Home::new();
    let folder = home.folder("swept");
    let (json, said) = home.sweep(&[&[folder.to_str().unwrap()], &TWO_SIZES[..]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    let series = json["sweep"]["series"].as_array().unwrap();
    let sizes: Vec<u64> = series[0]["sizes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["size_bytes"].as_u64().unwrap())
        .collect();
    assert_eq!((series[0]["name"].as_str(), sizes), (Some("write plain"), vec![10_000, 1_000_000]));
    assert!(series.iter().all(|one| one["points"].as_array().unwrap().len() == 4), "{series:?}");
    assert!(is_empty(&folder), "files were left behind");
}

#[test]
fn a_write_that_fails_half_way_is_reported_with_the_file_and_nothing_is_left() {
    let home = Home::new();
    let folder = home.folder("swept");
    // A limit on the size of files simulates the full disk: the write of the second file stops in
    // its middle.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8192; exec '{READLAB}' sweep '{}' --sizes 2MB,30MB --repeat 1 --quiet",
        folder.display()
    );
    let said = Said::by(home.command("sh").args(["-c", &script]));
    assert!(said.refusal().contains("0001-30.0MB.bin: "), "{said}");
    assert!(is_empty(&folder), "files were left behind");
}

#[test]
fn a_command_is_warmed_up_on_another_file_and_reads_each_file_of_the_sweep_once() {
    let home = Home::new();
    let (folder, log) = (home.folder("swept"), home.at("log"));
    let script = format!("echo \"$1\" >> '{}'; wc -l \"$1\"", log.display());
    let script = home.file("logged.sh", script);
    let method = format!("command/sh {}", script.display());
    let words = ["--work", "newlines", "--method", &method];
    let (json, said) = home.sweep(&[&[folder.to_str().unwrap()], &TWO_SIZES[..], &words].concat());
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(json["sweep"]["series"][0]["points"].as_array().map(Vec::len), Some(4), "{json}");
    let log = fs::read_to_string(log).unwrap();
    let mut read: Vec<&str> = log.lines().map(|path| path.rsplit('/').next().unwrap()).collect();
    read.sort_unstable();
    let swept = ["0000-10.0kB.bin", "0001-1.00MB.bin", "0002-10.0kB.bin", "0003-1.00MB.bin"];
    assert_eq!(read[..4], swept, "each once: {log}");
    assert!(read.len() > 4 && read[4..].iter().all(|name| *name == "warm-up"), "{log}");
    assert!(is_empty(&folder), "files were left behind");
}

/// How often each file of a folder was read from an opening to the next, by the kernel's own events
/// since the watch began.
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
    let home = Home::new();
    let parent = home.folder("swept");
    let only = ["--method", "rust/read"];
    let keep = [&[parent.to_str().unwrap()], &TWO_SIZES[..], &["--keep"], &only].concat();
    let (_, said) = home.sweep(&keep);
    assert_eq!(said.code, Some(0), "{said}");
    let kept = fs::read_dir(&parent).unwrap().next().unwrap().unwrap().path();
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
    let events = inotify::WatchFlags::ACCESS | inotify::WatchFlags::OPEN | inotify::WatchFlags::CLOSE;
    inotify::add_watch(&watch, &kept, events).unwrap();
    let (json, said) = home.sweep(&[&[kept.to_str().unwrap(), "--read-only"], &only[..]].concat());
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(json["warnings"], serde_json::json!([]), "it was not warmed up");
    let mut readings = readings(&watch);
    readings.remove("sweep.json");
    let counts: Vec<u32> = readings.into_values().collect();
    assert_eq!(counts, [2; 4], "the timed one, and the comparison of contents after all of them");
}

mod ring2 {
    use super::*;

    #[test]
    fn a_disk_that_is_full_half_way_is_reported_with_the_file_and_nothing_is_left() {
        let home = Home::new();
        let words = TWO_SIZES.join(" ");
        // Room for the folder and two files: the third finds the disk full.
        let script = format!("'{READLAB}' sweep mounted {words} --quiet; echo code $?; ls -A mounted");
        let said = match in_memory(&home, "nr_inodes=4,size=400m", &script) {
            Ok(said) => said,
            Err(why) => return eprintln!("SKIPPED: {why}"),
        };
        assert_eq!(said.out, "code 2\n", "{said}");
        assert!(said.err.contains("0002-10.0kB.bin: ") && said.err.contains("No space left"), "{said}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_one_line() {
        let home = Home::new();
        let script = format!("mount -o remount,ro mounted && '{READLAB}' sweep mounted --sizes 10kB --quiet");
        match in_memory(&home, "size=1m", &script) {
            Ok(said) => assert!(said.refusal().contains("mounted: "), "{said}"),
            Err(why) => eprintln!("SKIPPED: {why}"),
        }
        let folder = home.folder("of-root");
        if let Some(why) = no_other_user() {
            return eprintln!("SKIPPED: {why}");
        }
        let words =
            [READLAB, "sweep", folder.to_str().unwrap(), "--sizes", "10kB", "--quiet", "--output", "out"];
        let said = Said::by(home.command("setpriv").args(AS_NOBODY).args(words));
        assert!(said.refusal().contains("of-root: Permission denied"), "{said}");
        assert!(
            home.readlab(["sweep", "/nowhere", "--sizes", "10kB"])
                .refusal()
                .contains("/nowhere: No such file")
        );
    }

    #[test]
    fn a_folder_in_memory_is_written_and_reported_as_not_cold() {
        let home = Home::new();
        let script = format!("'{READLAB}' sweep mounted --sizes 10kB,1MB --repeat 1");
        match in_memory(&home, "size=200m", &script) {
            Ok(said) => {
                assert!(
                    said.out.contains("write plain") && said.out.contains("cold is impossible on tmpfs"),
                    "{said}"
                );
                assert!(said.out.contains("caution: The file is in memory (tmpfs)"), "{said}");
            }
            Err(why) => eprintln!("SKIPPED: {why}"),
        }
    }

    #[test]
    fn a_kept_folder_is_read_again_and_one_that_was_changed_is_refused() {
        let home = Home::new();
        let parent = home.folder("swept");
        let words =
            [&[parent.to_str().unwrap()], &TWO_SIZES[..], &["--keep", "--method", "rust/read"]].concat();
        let (json, said) = home.sweep(&words);
        assert_eq!(said.code, Some(0), "{said}");
        let kept = fs::read_dir(&parent).unwrap().next().unwrap().unwrap().path();
        let warning = json["warnings"].as_array().unwrap().iter().filter_map(Value::as_str);
        let mut warning = warning.filter_map(|text| text.split_once("to read them again: readlab "));
        let (_, command) = warning.next().unwrap_or_else(|| panic!("{json}"));
        let typed = format!("cd / && '{READLAB}' {command} --quiet");
        let said = Said::by(home.command("sh").args(["-c", &typed]));
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{typed}: {said}");
        assert!(typed.contains("--method rust/read"), "as it was read before: {typed}");
        let again = || home.sweep(&[kept.to_str().unwrap(), "--read-only", "--method", "rust/read"]);
        let (json, said) = again();
        assert_eq!(said.code, Some(0), "{said}");
        let series = json["sweep"]["series"].as_array().unwrap();
        assert_eq!((series.len(), series[0]["points"].as_array().unwrap().len()), (1, 4));
        // The same size, other bytes.
        fs::write(kept.join("0001-1.00MB.bin"), vec![b'B'; 1_000_000]).unwrap();
        let (_, said) = again();
        assert!(said.refusal().contains("0001-1.00MB.bin holds other bytes than were written"), "{said}");
        fs::remove_file(kept.join("0000-10.0kB.bin")).unwrap();
        let (_, said) = again();
        assert!(said.refusal().contains("0000-10.0kB.bin is missing"), "{said}");
    }

    #[test]
    fn a_sweep_looks_for_a_cache_below_in_a_file_of_its_own() {
        let home = Home::new();
        let folder = home.folder("swept");
        let words = [&[folder.to_str().unwrap()], &TWO_SIZES[..], &["--method", "rust/read"]].concat();
        let (json, said) = home.sweep(&words);
        assert_eq!(said.code, Some(0), "{said}");
        let found: Vec<&Value> =
            json["targets"].as_array().unwrap().iter().map(|it| &it["hidden_cache"]).collect();
        assert_eq!(found.iter().filter(|it| it.is_object()).count(), 1, "one for the file system: {found:?}");
        // What was found depends on the machine; that it was not for the sweep's small files does
        // not.
        assert!(
            found[0]["why"]["reason"] != "small_file" && found[0]["why"]["reason"] != "no_own_file",
            "{found:?}"
        );
        let (json, said) = home.sweep(&[&words[..], &["--max-bytes", "3MB"]].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let not_probed = &json["targets"][0]["hidden_cache"]["why"];
        assert_eq!(not_probed["cause"], "--max-bytes leaves no room for it", "{not_probed}");
        let below = json["sweep"]["below"].to_string();
        assert!(
            below.contains("whether a cache lies below was not probed: no file of readlab's own"),
            "{below}"
        );
        assert!(is_empty(&folder), "files were left behind");
    }

    #[test]
    fn what_a_contender_does_beside_reading_is_counted_of_a_sweep_too() {
        let home = Home::new();
        let folder = home.folder("swept");
        let leaves =
            home.file("leaves.sh", "setsid sleep 60 </dev/null >/dev/null 2>&1 &\nexec wc -l \"$1\"\n");
        let method = format!("command/sh {}", leaves.display());
        let exports = ["--export-markdown", "out.md", "--output", "run"];
        let words = [&["--work", "newlines", "--method", &method], &exports[..]].concat();
        let (json, said) = home.sweep(&[&[folder.to_str().unwrap()], &TWO_SIZES[..], &words].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let series = &json["sweep"]["series"][1];
        // The untimed readings that warm it up leave something too.
        assert!(series["conduct"]["left_behind"]["processes"].as_u64() >= Some(4), "{series}");
        let caution = |text: &str| text.contains("†: left 1 process behind after each of ");
        assert!(json["sweep"]["cautions"].as_array().unwrap().iter().any(|it| caution(it.as_str().unwrap())));
        let markdown = fs::read_to_string(home.at("out.md")).unwrap();
        assert_eq!(markdown.lines().filter(|line| caution(line)).count(), 1, "{markdown}");
        assert!(markdown.contains("</code> †\n"), "{markdown}");
        let page = fs::read_to_string(home.at("run/report.html")).unwrap().replace('\u{a0}', " ");
        assert!(page.contains("leaves.sh †</h3>") && caution(&page), "the page");
    }
}
