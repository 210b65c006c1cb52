//! Makes limits of known size, file systems, servers and hosts for the figures and cases. Most
//! kinds need root. Everything is undone when its [`Cleanup`] is dropped.

pub(crate) mod control_group;
pub(crate) mod file_system;
pub(crate) mod hosts;
pub(crate) mod network;
pub(crate) mod paced;

use crate::programs::{Programs, output};
use anyhow::Context;
use readlab_model::units::Bytes;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Actions to undo, the last first.
#[derive(Default)]
pub(crate) struct Cleanup(Vec<UndoAction>);

struct UndoAction {
    what: String,
    action: Box<dyn FnOnce() -> anyhow::Result<()>>,
}

impl Cleanup {
    fn push(&mut self, what: impl std::fmt::Display, action: impl FnOnce() -> anyhow::Result<()> + 'static) {
        self.0.push(UndoAction { what: what.to_string(), action: Box::new(action) });
    }

    /// Makes a folder that `remove` removes. If something is mounted on it, `remove` must only
    /// remove an empty folder.
    fn folder(&mut self, path: PathBuf, remove: fn(PathBuf) -> io::Result<()>) -> anyhow::Result<PathBuf> {
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        let made = path.clone();
        self.push(path.display(), move || Ok(remove(made)?));
        Ok(path)
    }

    fn command(&mut self, mut undo: Command) {
        self.push(format!("{undo:?}"), move || output(&mut undo).map(drop));
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        while let Some(UndoAction { what, action }) = self.0.pop() {
            if let Err(error) = action() {
                eprintln!("{what}: left behind: {error:#}");
            }
        }
    }
}

fn command(program: &str, words: &str) -> Command {
    let mut command = Command::new(program);
    command.args(words.split_whitespace());
    command
}

fn mount(
    cleanup: &mut Cleanup,
    kind: &str,
    options: &str,
    source: &Path,
    folder: &Path,
) -> anyhow::Result<()> {
    output(Command::new("mount").args(["-t", kind, "-o", options]).args([source, folder]))?;
    let mut undo = Command::new("umount");
    undo.arg(folder);
    cleanup.command(undo);
    Ok(())
}

/// A loop device on a file that reads past the page cache. Otherwise the file's pages would be a
/// second cache below the pages that are read.
fn loop_device(cleanup: &mut Cleanup, words: &str, file: &Path) -> anyhow::Result<PathBuf> {
    let words = format!("--find --show --direct-io=on {words}");
    let device = PathBuf::from(output(command("losetup", &words).arg(file))?.trim());
    let mut undo = command("losetup", "--detach");
    undo.arg(&device);
    cleanup.command(undo);
    Ok(device)
}

/// A block device in memory. For a page of equal bytes it stores one word.
fn memory_device(cleanup: &mut Cleanup, size: Bytes) -> anyhow::Result<PathBuf> {
    let size = size.0.to_string();
    let device = PathBuf::from(output(command("zramctl", "--find --size").arg(size))?.trim());
    let mut undo = command("zramctl", "--reset");
    undo.arg(&device);
    cleanup.command(undo);
    Ok(device)
}

/// Starts this number of busy loops for each processor.
pub(crate) fn busy_loops(cleanup: &mut Cleanup, each: usize) -> anyhow::Result<()> {
    for _ in 0..each * std::thread::available_parallelism()?.get() {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        let mut shell = shell.spawn().context("/bin/sh")?;
        cleanup.push("a busy loop", move || Ok(shell.kill().and_then(|()| shell.wait()).map(drop)?));
    }
    Ok(())
}

/// A folder of files of this size, each full of lines. It is made only if it does not exist.
pub(crate) fn tree(programs: &Programs, files: usize, bytes: usize) -> anyhow::Result<PathBuf> {
    let folder = programs.folder.join("trees").join(format!("{files}-{bytes}"));
    let complete = folder.with_extension("complete");
    if !complete.exists() {
        let content = "a line of the same forty bytes, as all.\n".repeat(bytes / 40 + 1);
        for index in 0..files {
            let part = folder.join(format!("{:03}", index / 500));
            if index % 500 == 0 {
                fs::create_dir_all(&part).with_context(|| part.display().to_string())?;
            }
            let path = part.join(format!("{:03}.txt", index % 500));
            fs::write(&path, &content[..bytes]).with_context(|| path.display().to_string())?;
        }
        fs::File::create(&complete)?;
    }
    Ok(folder)
}

pub(crate) fn newlines(cleanup: &mut Cleanup, programs: &Programs, size: Bytes) -> anyhow::Result<PathBuf> {
    write_newlines(&cleanup.folder(programs.folder.join("newlines"), fs::remove_dir_all)?, size)
}

/// Writes a file of newlines alone into a folder. Returns its path.
fn write_newlines(folder: &Path, size: Bytes) -> anyhow::Result<PathBuf> {
    let path = folder.join("newlines.txt");
    let write = || {
        let mut file = fs::File::create(&path)?;
        io::copy(&mut io::repeat(b'\n').take(size.0), &mut file)?;
        file.sync_all()
    };
    write().with_context(|| path.display().to_string())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn the_last_action_is_undone_first() {
        let undone = Rc::new(RefCell::new(Vec::new()));
        let mut cleanup = Cleanup::default();
        for number in 0..3 {
            let undone = Rc::clone(&undone);
            cleanup.push(number, move || {
                undone.borrow_mut().push(number);
                anyhow::ensure!(number != 1, "what fails hinders no other");
                Ok(())
            });
        }
        drop(cleanup);
        assert_eq!(*undone.borrow(), [2, 1, 0]);
    }
}
