//! Places that are no usual disk: memory, and a compressing file system on a device of its own, which is made for the
//! purpose, needs root, and is taken away when it is dropped.

use crate::programs::Programs;
use anyhow::{Context, bail};
use readlab::trial::CacheState;
use readlab::units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kind of place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// tmpfs.
    Memory,
    /// btrfs with zstd.
    Compressed,
}

/// A place with a file in it.
#[derive(Debug)]
pub(crate) struct Made {
    folder: PathBuf,
    file: PathBuf,
    mounted: bool,
}

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Memory => "on tmpfs",
            Place::Compressed => "on btrfs with zstd",
        }
    }

    /// The states that a file can be in there.
    pub(crate) fn states(self) -> &'static [CacheState] {
        match self {
            Place::Memory => &[CacheState::Warm],
            Place::Compressed => &[CacheState::Warm, CacheState::Cold],
        }
    }

    /// Makes the place, and copies a file of this size to it.
    pub(crate) fn make(self, programs: &Programs, size: Bytes) -> anyhow::Result<Made> {
        let original = programs.lines(size)?;
        let made = match self {
            Place::Memory => Made::folder(&PathBuf::from("/dev/shm/readlab-bench"))?,
            Place::Compressed => Made::mounted(programs.folder())?,
        };
        fs::copy(&original, &made.file).with_context(|| made.file.display().to_string())?;
        fs::File::open(&made.file)?.sync_all()?;
        Ok(made)
    }
}

impl Made {
    fn folder(folder: &Path) -> anyhow::Result<Made> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        Ok(Made { folder: folder.to_owned(), file: folder.join("lines.txt"), mounted: false })
    }

    /// A file system in a file, mounted by the kernel's loop device.
    fn mounted(beside: &Path) -> anyhow::Result<Made> {
        let (image, folder) = (beside.join("btrfs.img"), beside.join("btrfs"));
        fs::File::create(&image)?.set_len(1 << 30)?;
        run("mkfs.btrfs", ["-q", "-f"], &[&image])?;
        let mut made = Made::folder(&folder)?;
        run("mount", ["-o", "loop,compress-force=zstd"], &[&image, &folder])?;
        made.mounted = true;
        // The kernel keeps it for as long as it is mounted.
        fs::remove_file(&image)?;
        Ok(made)
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        let gone = match self.mounted {
            true => run("umount", [], &[&self.folder]).and_then(|()| Ok(fs::remove_dir(&self.folder)?)),
            false => fs::remove_dir_all(&self.folder).map_err(anyhow::Error::from),
        };
        if let Err(error) = gone {
            eprintln!("{}: left behind: {error:#}", self.folder.display());
        }
    }
}

fn run<const N: usize>(program: &str, options: [&str; N], paths: &[&Path]) -> anyhow::Result<()> {
    let done =
        Command::new(program).args(options).args(paths).output().with_context(|| program.to_owned())?;
    if !done.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}
