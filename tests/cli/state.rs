//! Tests that cold was cold and warm was warm: a race on the file system of the build, as the user
//! of the tests and as a user who owns no file.

use super::{AS_NOBODY, Home, READLAB, Said, no_other_user};
use readlab_targets::target::filesystem::{Backing, Filesystem};
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};

const SIZE_BYTES: u64 = 32 << 20;

/// A corpus on a file system where files can be cold; `None` with a message if there is none.
fn corpus(home: &Home) -> Option<PathBuf> {
    let made = home.readlab(["corpus", "--folder", "corpus", "make", "lines", "32MiB"]);
    assert_eq!(made.code, Some(0), "{made}");
    let path = home.at(made.out.trim_end());
    let filesystem = Filesystem::read(&File::open(&path).unwrap()).unwrap();
    if matches!(filesystem.backing, Backing::Memory | Backing::OwnCache) {
        eprintln!("SKIPPED: the build folder is on {filesystem}, where nothing can be proven cold");
        return None;
    }
    Some(path)
}

/// The words of a race through, past and around the page cache.
fn words(file: &Path) -> Vec<String> {
    let methods =
        ["rust/read/scalar", "rust/mmap/scalar", "rust/direct/scalar", "rust/pread/scalar@threads=2"];
    let mut words = vec!["race".to_owned(), file.to_str().unwrap().to_owned()];
    words.extend(methods.into_iter().flat_map(|method| ["--method".to_owned(), method.to_owned()]));
    words.extend(["-c", "wc -l {}", "--quiet", "--export-json", "-"].map(str::to_owned));
    words.extend(super::QUICK.map(str::to_owned));
    words
}

/// That every sample proves its state, and that nothing is `null` without a reason.
#[expect(clippy::cast_precision_loss, reason = "a share of 32 MiB")]
fn assert_proven(json: &Value) {
    let mut proven = 0;
    for trial in json["trials"].as_array().unwrap() {
        let id = &trial["id"];
        assert_eq!(trial["outcome"], "measured", "{id}: {}", trial["reason"]);
        for (name, count) in trial["counts"].as_object().unwrap() {
            assert!(count["how"].as_str().is_some_and(|how| !how.is_empty()), "{id} {name}: {count}");
        }
        for sample in trial["samples"].as_array().unwrap() {
            for (meter, value) in sample.as_object().unwrap() {
                let known = !value.is_null() || trial["missing"][meter].is_string();
                assert!(known, "{id}: {meter} is null without a reason: {}", trial["missing"]);
            }
            if trial["cache"] == "none" {
                continue;
            }
            proven += 1;
            let device_bytes = sample["device_read_bytes"].as_u64();
            if trial["state"] == "cold" {
                assert_eq!(sample["resident_before"], 0.0, "{id}: {sample}");
                let share = device_bytes.map(|bytes| bytes as f64 / SIZE_BYTES as f64);
                assert!(share.is_none_or(|share| share >= 0.99), "{id}: {sample}");
            } else {
                assert_eq!(
                    (&sample["resident_before"], &sample["resident_after"]),
                    (&1.0.into(), &1.0.into())
                );
                assert!(device_bytes.is_none_or(|bytes| bytes == 0), "{id}: {sample}");
            }
        }
    }
    assert!(proven >= 3 * (5 + 4), "too few samples: {proven}");
}

/// The facts that any user must be able to read about an own process.
fn assert_metered(json: &Value) {
    for trial in json["trials"].as_array().unwrap().iter().filter(|trial| trial["cache"] != "none") {
        for sample in trial["samples"].as_array().unwrap() {
            for meter in ["device_read_bytes", "cpu_user_ns", "peak_rss_bytes", "minor_faults"] {
                assert!(sample[meter].is_u64(), "{}: {meter}: {}", trial["id"], trial["missing"]);
            }
        }
    }
}

fn parsed(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{said}");
    serde_json::from_str(&said.out).unwrap()
}

fn assert_nothing_left(home: &Home, file: &Path) {
    let left: Vec<_> = std::fs::read_dir(home.temporary()).unwrap().collect();
    assert!(left.is_empty(), "temporary files were left: {left:?}");
    let beside = super::home::listed(file.parent().unwrap()).len();
    assert_eq!(beside, 2, "something was written beside the file");
}

#[test]
fn cold_was_cold_and_warm_was_warm() {
    let home = Home::new();
    let Some(file) = corpus(&home) else { return };
    let json = parsed(&home.readlab(words(&file)));
    assert_proven(&json);
    assert_metered(&json);
    assert_nothing_left(&home, &file);
}

mod ring2 {
    use super::*;

    #[test]
    fn so_it_was_for_a_user_who_does_not_own_the_file() {
        if let Some(why) = no_other_user() {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let home = Home::new();
        let Some(file) = corpus(&home) else { return };
        let mut command = home.command("setpriv");
        let said = Said::by(command.args(AS_NOBODY).arg(READLAB).args(words(&file)));
        if said.err.contains("setpriv:") || said.err.contains("no permission") {
            eprintln!("SKIPPED: other users may not reach the build folder: {}", said.err);
            return;
        }
        let json = parsed(&said);
        assert_eq!(json["machine"]["root"], false);
        assert_proven(&json);
        assert_metered(&json);
        assert_nothing_left(&home, &file);
    }
}
