//! Places for files that are not a usual disk: memory, other file systems on a separate device, one
//! on top of another, and a slow one in user space. All but the first are made by the bench, need
//! root, and are removed when dropped.

use crate::paced_file::{self, DeviceUse};
use crate::programs::Programs;
use anyhow::{Context, bail};
use fuser::BackgroundSession;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long each read of a slow file system waits: with the kernel's requests of 128 KiB, about as
/// slow as a network.
const SLOW: DeviceUse = DeviceUse::Every(Duration::from_millis(2));

/// What the file in a place is called.
const NAME: &str = "lines.txt";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// tmpfs.
    Memory,
    /// btrfs with zstd.
    Compressed,
    Xfs,
    /// ext4 on a device for which the kernel reads ahead 16 KiB.
    ShortReadAhead,
    /// overlayfs, as containers have it, on top of the usual file system.
    Overlay,
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
    /// The kernel, over folders that are removed, too.
    Overlay { parts: PathBuf },
    /// A thread of this process, until it is dropped.
    Own(Option<BackgroundSession>),
}

impl Place {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Memory => "on tmpfs",
            Place::Compressed => "on btrfs with zstd",
            Place::Xfs => "on xfs",
            Place::ShortReadAhead => "on ext4 with a read-ahead of 16 KiB",
            Place::Overlay => "on overlayfs",
            Place::Slow => "on a slow FUSE",
        }
    }

    /// The states that a file can be in there.
    pub(crate) fn states(self) -> &'static [CacheState] {
        match self {
            Place::Memory => &[CacheState::Warm],
            _ => &[CacheState::Warm, CacheState::Cold],
        }
    }

    /// Makes the place, and copies a file of this size to it.
    pub(crate) fn make(self, programs: &Programs, size: Bytes) -> anyhow::Result<Made> {
        let original = programs.lines(size)?;
        let made = match self {
            Place::Memory => Made::folder(&PathBuf::from("/dev/shm/readlab-bench"))?,
            Place::Compressed => {
                Made::image(programs.folder(), "btrfs", &["-q", "-f"], "compress-force=zstd")?
            }
            Place::Xfs => Made::image(programs.folder(), "xfs", &["-q", "-f"], "defaults")?,
            Place::ShortReadAhead => {
                let made = Made::image(programs.folder(), "ext4", &["-q", "-F"], "defaults")?;
                let device = run("findmnt", &["-n", "-o", "SOURCE", "-T"], &[&made.folder])?;
                run("blockdev", &["--setra", "32"], &[Path::new(device.trim())])?;
                made
            }
            Place::Overlay => Made::overlay(programs.folder())?,
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
        made.mount = Mount::Own(Some(paced_file::mount(original, &made.folder, NAME, SLOW)?));
        Ok(made)
    }

    /// A file system in a file, mounted through a loop device that reads past the page cache: the
    /// image's pages would be a second cache below the file's own.
    fn image(beside: &Path, kind: &str, options: &[&str], mounting: &str) -> anyhow::Result<Made> {
        let image = beside.join(kind).with_extension("img");
        fs::File::create(&image)?.set_len(1 << 30)?;
        run(&format!("mkfs.{kind}"), options, &[&image])?;
        let mut made = Made::folder(&beside.join(kind))?;
        let device = run("losetup", &["--find", "--show", "--direct-io=on"], &[&image])?;
        let device = Path::new(device.trim());
        let mounted = run("mount", &["-t", kind, "-o", mounting], &[device, &made.folder]);
        // The kernel keeps both for as long as it is mounted.
        run("losetup", &["--detach"], &[device])?;
        fs::remove_file(&image)?;
        mounted?;
        made.mount = Mount::Kernel;
        Ok(made)
    }

    /// A folder on top of another one of the same file system.
    fn overlay(beside: &Path) -> anyhow::Result<Made> {
        let parts = beside.join("overlay-parts");
        let part = |name: &str| parts.join(name);
        ["lower", "upper", "work"].iter().try_for_each(|name| fs::create_dir_all(part(name)))?;
        let mut made = Made::folder(&beside.join("overlay"))?;
        let [lower, upper, work] = ["lower", "upper", "work"].map(|name| part(name).display().to_string());
        let layers = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        run("mount", &["-t", "overlay", "overlay", "-o", &layers], &[&made.folder])?;
        made.mount = Mount::Overlay { parts };
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
            Mount::Kernel => unmount(&self.folder),
            Mount::Overlay { parts } => unmount(&self.folder).and_then(|()| Ok(fs::remove_dir_all(parts)?)),
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

pub(crate) fn unmount(folder: &Path) -> anyhow::Result<()> {
    run("umount", &[], &[folder])?;
    Ok(fs::remove_dir(folder)?)
}

/// What a program prints.
pub(crate) fn run(program: &str, options: &[&str], paths: &[&Path]) -> anyhow::Result<String> {
    let done =
        Command::new(program).args(options).args(paths).output().with_context(|| program.to_owned())?;
    if !done.status.success() {
        bail!("{program}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
