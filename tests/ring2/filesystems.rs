//! Tests of verdicts on real file systems, which the test makes on loop devices as root.
//! Compression is reported on btrfs with zstd, and the limit of the device is found on ext4 and
//! xfs. Skipped with a message if that is impossible.

use crate::home::{Export, Home, Trials};
use crate::machine::skip;
use crate::mounted::{Undo, run, text};
use std::fs::File;

/// Makes and mounts a file system in a file, and races on a file of 32 MiB in it. Returns the
/// export, or `None` with a message if that is impossible.
fn race_on(kind: &str, options: &str, line: &str) -> Option<Export> {
    let (home, mut undo) = (Home::new(), Undo::default());
    let image = home.at("image");
    File::create(&image).unwrap().set_len(400 << 20).unwrap();
    let quiet = if kind == "ext4" { "-Fq" } else { "-q" };
    let mkfs = format!("mkfs.{kind}");
    let mounted = run(&[mkfs.as_str(), quiet, text(&image)]).and_then(|_| {
        let options = format!("loop{options}");
        undo.mount(&["-t", kind, "-o", &options, text(&image)], &home.at("mounted"))
    });
    if let Err(why) = mounted {
        skip(format!("{kind}: {why}"));
        return None;
    }
    home.file("mounted/file", line.repeat((32 << 20) / line.len()));
    let words = "-r 2 -w 0 --fills 1 --state cold --quiet --method rust/read/memchr --export-json -";
    Some(home.readlab(format!("race mounted/file {words} --output run")).export())
}

#[test]
fn compression_is_reported_and_no_device_limit_is_invented() {
    let line = "the same line again and again, which zstd likes\n";
    let Some(export) = race_on("btrfs", ",compress-force=zstd", line) else { return };
    let told = export["what_gives"][0].to_string();
    assert!(told.contains("stored encoded") && told.contains("from the device"), "{told}");
    let limits = export["limits"].as_array().cloned().unwrap_or_default();
    assert!(limits.iter().all(|limit| limit["kind"] != "device"), "{limits:?}");
    let read = export.trial_with("method", "read");
    assert_ne!(read["verdict"]["is"]["kind"], "device", "{read}");
}

#[test]
fn a_plain_file_has_a_device_limit_and_nothing_to_explain() {
    for kind in ["ext4", "xfs"] {
        let line = "the same line again and again, which nobody compresses\n";
        let Some(export) = race_on(kind, "", line) else { continue };
        assert_eq!(export["what_gives"][0], serde_json::json!([]), "{kind}");
        let limits = export["limits"].as_array().cloned().unwrap_or_default();
        assert!(limits.iter().any(|limit| limit["kind"] == "device"), "{kind}: {}", export["trials"]);
        let read = export.trial_with("method", "read");
        // On a busy machine the wait for a processor may limit the reading, which is no limit of
        // the device.
        let is_stopped_elsewhere = read["verdict"]["is"]["kind"] != "device" && read["limit"].is_null();
        let share = read["share_of_limit"].as_f64();
        assert!(is_stopped_elsewhere || share.is_some_and(|share| share > 0.0), "{kind}: {read}");
    }
}
