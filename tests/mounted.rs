//! Loop devices and mounts that a test makes as root. They are undone when they are dropped.

use crate::machine::is_root;
use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

/// How often a command that undoes something is tried. Processes that a failed test has killed keep its
/// mounts busy for a moment.
const UNDO_TRIES: usize = 50;
const UNDO_PAUSE: Duration = Duration::from_millis(100);

/// Commands that undo something. They run when this value is dropped, the last first.
#[derive(Default)]
pub(crate) struct Undo(Vec<Vec<String>>);

impl Undo {
    /// Adds a command to run at the end.
    pub(crate) fn later(&mut self, words: &[&str]) {
        self.0.push(words.iter().copied().map(str::to_owned).collect());
    }

    /// Mounts with these arguments of `mount` at a folder, which is made if necessary.
    pub(crate) fn mount(&mut self, words: &[&str], point: &Path) -> Result<(), String> {
        if !is_root() {
            return Err("only root can mount".to_owned());
        }
        fs::create_dir_all(point).unwrap();
        run(&[&["mount"], words, &[text(point)]].concat())?;
        self.later(&["umount", text(point)]);
        Ok(())
    }

    /// Makes a loop device over a file, with these options of `losetup`.
    pub(crate) fn attach(&mut self, options: &[&str], image: &Path) -> Result<PathBuf, String> {
        let device = run(&[&["losetup", "--find", "--show"], options, &[text(image)]].concat())?;
        self.later(&["losetup", "--detach", &device]);
        Ok(device.into())
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        for words in self.0.iter().rev() {
            let mut undone = run(words);
            for _ in 1..UNDO_TRIES {
                if undone.is_ok() {
                    break;
                }
                thread::sleep(UNDO_PAUSE);
                undone = run(words);
            }
            if let Err(why) = undone {
                eprintln!("{why}");
            }
        }
    }
}

/// The standard output of a command, or the reason of its failure in one line.
pub(crate) fn run<S: AsRef<OsStr> + Debug>(words: &[S]) -> Result<String, String> {
    let output = Command::new(&words[0]).args(&words[1..]).output();
    let output = output.map_err(|error| format!("{words:?}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(said(&output.stdout))
    } else {
        Err(format!("{words:?}: {}", said(&output.stderr)))
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
