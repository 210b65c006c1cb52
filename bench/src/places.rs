//! Places for files that are not a usual disk: memory, a compressing file system on a separate
//! device, and a slow file system in user space. The last two are made by the bench, need root, and
//! are removed when dropped.

use crate::programs::Programs;
use crate::slow;
use anyhow::{Context, bail};
use fuser::BackgroundSession;
use readlab::trial::CacheState;
use readlab::units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the file in a place is called.
const NAME: &str = "lines.txt";

/// A kind of place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// tmpfs.
    Memory,
    /// btrfs with zstd.
    Compressed,
    /// FUSE, every request of which waits.
    Slow,
}

/// A place with a file in it.
#[derive(Debug)]
pub(crate) struct Made {
    folder: PathBuf,
    file: PathBuf,
    mount: Mount,
}

/// What holds a place.
#[derive(Debug)]
enum Mount {
    /// A folder, and nothing else.
    None,
    /// The kernel, until it is configured otherwise.
    Kernel,
    /// A thread of this process, until it is dropped.
    Own(Option<BackgroundSession>),
}

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Memory => "on tmpfs",
            Place::Compressed => "on btrfs with zstd",
            Place::Slow => "on a slow FUSE",
        }
    }

    /// The states that a file can be in there.
    pub(crate) fn states(self) -> &'static [CacheState] {
        match self {
            Place::Memory => &[CacheState::Warm],
            Place::Compressed | Place::Slow => &[CacheState::Warm, CacheState::Cold],
        }
    }

    /// Makes the place, and copies a file of this size to it.
    pub(crate) fn make(self, programs: &Programs, size: Bytes) -> anyhow::Result<Made> {
        let original = programs.lines(size)?;
        let made = match self {
            Place::Memory => Made::folder(&PathBuf::from("/dev/shm/readlab-bench"))?,
            Place::Compressed => Made::mounted(programs.folder())?,
            Place::Slow => return Made::slow(programs.folder(), &original),
        };
        fs::copy(&original, &made.file).with_context(|| made.file.display().to_string())?;
        fs::File::open(&made.file)?.sync_all()?;
        Ok(made)
    }
}

impl Made {
    fn folder(folder: &Path) -> anyhow::Result<Made> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        Ok(Made { folder: folder.to_owned(), file: folder.join(NAME), mount: Mount::None })
    }

    /// The original's content, as it comes from a slow file system.
    fn slow(beside: &Path, original: &Path) -> anyhow::Result<Made> {
        let mut made = Made::folder(&beside.join("slow"))?;
        made.mount = Mount::Own(Some(slow::mount(original, &made.folder, NAME)?));
        Ok(made)
    }

    /// A file system in a file, mounted by the kernel's loop device.
    fn mounted(beside: &Path) -> anyhow::Result<Made> {
        let (image, folder) = (beside.join("btrfs.img"), beside.join("btrfs"));
        fs::File::create(&image)?.set_len(1 << 30)?;
        run("mkfs.btrfs", ["-q", "-f"], &[&image])?;
        let mut made = Made::folder(&folder)?;
        run("mount", ["-o", "loop,compress-force=zstd"], &[&image, &folder])?;
        made.mount = Mount::Kernel;
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
        let gone = match &mut self.mount {
            Mount::None => fs::remove_dir_all(&self.folder).map_err(anyhow::Error::from),
            Mount::Kernel => {
                run("umount", [], &[&self.folder]).and_then(|()| Ok(fs::remove_dir(&self.folder)?))
            }
            Mount::Own(session) => {
                let gone = session.take().map_or(Ok(()), BackgroundSession::umount_and_join);
                gone.and_then(|()| fs::remove_dir(&self.folder)).map_err(anyhow::Error::from)
            }
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
