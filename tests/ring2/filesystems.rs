//! Tests of verdicts on real file systems, which the test makes on loop devices as root:
//! compression is reported on btrfs with zstd, and the limit of the device is found on ext4 and
//! xfs. Skipped with a message if that is impossible.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A file system in a file, mounted; unmounted and its loop device given back when dropped.
struct Mounted {
    point: PathBuf,
    _folder: tempfile::TempDir,
}

impl Mounted {
    /// Makes and mounts it, or returns the reason of the failure.
    fn make(kind: &str, options: &str) -> Result<Mounted, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can mount".to_owned());
        }
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
        let (image, point) = (folder.path().join("image"), folder.path().join("mounted"));
        fs::create_dir(&point).map_err(|error| error.to_string())?;
        let file = fs::File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(400 << 20).map_err(|error| error.to_string())?;
        let quiet = if kind == "ext4" { "-Fq" } else { "-q" };
        told(Command::new(format!("mkfs.{kind}")).arg(quiet).arg(&image))?;
        told(
            Command::new("mount").args(["-t", kind, "-o", &format!("loop{options}")]).arg(&image).arg(&point),
        )?;
        Ok(Mounted { point, _folder: folder })
    }

    /// Writes a file of 32 MiB and has it raced; the export of the race.
    fn race(&self, bytes: &[u8]) -> serde_json::Value {
        let path = self.point.join("file");
        fs::write(&path, bytes.repeat((32 << 20) / bytes.len())).unwrap();
        let output = self.point.parent().unwrap().join("run");
        let raced = Command::new(env!("CARGO_BIN_EXE_readlab"))
            .args([
                "race",
                "-r",
                "2",
                "-w",
                "0",
                "--fills",
                "1",
                "--state",
                "cold",
                "--quiet",
                "--method",
                "rust/read/memchr",
            ])
            .args(["--export-json", "-", "--output"])
            .args([&output, &path])
            .output()
            .unwrap();
        serde_json::from_slice(&raced.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&raced)))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(error) = told(Command::new("umount").arg(&self.point)) {
            eprintln!("{}: {error}", self.point.display());
        }
    }
}

fn told(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(format!("{command:?}: {}", said(&output))) }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

fn mounted(kind: &str, options: &str) -> Option<Mounted> {
    Mounted::make(kind, options).map_err(|why| eprintln!("SKIPPED: {kind}: {why}")).ok()
}

fn verdict<'a>(export: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let trials = export["trials"].as_array().unwrap();
    let named = |trial: &&serde_json::Value| trial["id"].as_str().is_some_and(|id| id.starts_with(name));
    &trials.iter().find(named).unwrap_or_else(|| panic!("no {name} in {export}"))["verdict"]
}

#[test]
fn compression_is_reported_and_no_device_limit_is_invented() {
    let Some(btrfs) = mounted("btrfs", ",compress-force=zstd") else { return };
    let export = btrfs.race(b"the same line again and again, which zstd likes\n");
    let told = export["what_gives"][0].to_string();
    assert!(told.contains("stored encoded") && told.contains("from the device"), "{told}");
    let limits = export["limits"].as_array().cloned().unwrap_or_default();
    assert!(limits.iter().all(|limit| limit["kind"] != "device"), "{limits:?}");
    assert_ne!(verdict(&export, "rust/read")["is"]["kind"], "device");
}

#[test]
fn a_plain_file_has_a_device_limit_and_nothing_to_explain() {
    for kind in ["ext4", "xfs"] {
        let Some(plain) = mounted(kind, "") else { continue };
        let export = plain.race(b"the same line again and again, which nobody compresses\n");
        assert_eq!(export["what_gives"][0], serde_json::json!([]), "{kind}");
        let limits = export["limits"].as_array().cloned().unwrap_or_default();
        assert!(limits.iter().any(|limit| limit["kind"] == "device"), "{kind}: {}", export["trials"]);
        let read =
            &export["trials"].as_array().unwrap().iter().find(|trial| trial["method"] == "read").unwrap();
        // On a busy machine the wait for a processor may stop it, and that is no limit.
        let is_stopped_elsewhere = read["verdict"]["is"]["kind"] != "device" && read["limit"].is_null();
        let share = read["share_of_limit"].as_f64();
        assert!(is_stopped_elsewhere || share.is_some_and(|share| share > 0.0), "{kind}: {read}");
    }
}
