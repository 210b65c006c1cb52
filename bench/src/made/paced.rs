//! Makes files of a known pace: a file system in user space with one file whose reads are answered
//! at the pace, a block device on that file, and a tree on a device of this kind. A reader waits
//! while neither a device nor a processor is busy.

use super::{Cleanup, command, loop_device, mount as mount_device};
use crate::programs::output;
use anyhow::Context;
use fuser::{
    Config, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo, InitFlags, KernelConfig,
    LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, Request,
};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The time at which a read is answered.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pace {
    /// Each read is answered this long after it arrived, however many others are in flight.
    After(Duration),
    /// Each read is answered this long after the previous answer, however many wait.
    Every(Duration),
}

/// A sleep may last longer by this. The rest of the wait is a loop that reads the clock.
const SLEEP_SLACK: Duration = Duration::from_micros(100);
/// Delay of each read. It is long enough to be most of a reading's time on any machine.
const READ_DELAY: Duration = Duration::from_millis(1);
const FILE_INODE: INodeNo = INodeNo(2);
const BLOCK_BYTES: u32 = 512;
/// How long the kernel may cache attributes, because the file system does not change.
const CACHE_TTL: Duration = Duration::from_secs(3600);

struct PacedFile {
    name: String,
    /// The content is in memory, so that no disk affects the pace.
    content: Vec<u8>,
    pace: Pace,
    answered: Mutex<Instant>,
}

pub(crate) fn mount(
    cleanup: &mut Cleanup,
    content: &Path,
    folder: &Path,
    name: &str,
    pace: Pace,
) -> anyhow::Result<PathBuf> {
    let content = fs::read(content).with_context(|| content.display().to_string())?;
    let file = PacedFile { name: name.to_owned(), content, pace, answered: Mutex::new(Instant::now()) };
    let mut config = Config::default();
    config.mount_options = vec![MountOption::RO, MountOption::FSName("readlab-paced".to_owned())];
    let session = fuser::spawn_mount(file, folder, &config).with_context(|| folder.display().to_string())?;
    cleanup.push(folder.display(), move || Ok(session.umount_and_join()?));
    Ok(folder.join(name))
}

/// Mounts a file's content in a folder of this name, at a pace.
pub(crate) fn file(
    cleanup: &mut Cleanup,
    beside: &Path,
    name: &str,
    content: &Path,
    pace: Pace,
) -> anyhow::Result<PathBuf> {
    let folder = cleanup.folder(beside.join(name), fs::remove_dir)?;
    mount(cleanup, content, &folder, "content", pace)
}

/// Makes a block device with a file's content, at a pace.
pub(crate) fn device(
    cleanup: &mut Cleanup,
    beside: &Path,
    content: &Path,
    pace: Pace,
) -> anyhow::Result<PathBuf> {
    let file = file(cleanup, beside, "paced", content, pace)?;
    loop_device(cleanup, "--read-only", &file)
}

/// Makes a copy of a tree on a device that answers each read late, however many are in flight.
pub(crate) fn late_tree(cleanup: &mut Cleanup, beside: &Path, tree: &Path) -> anyhow::Result<PathBuf> {
    let folder = cleanup.folder(beside.join("late"), fs::remove_dir)?;
    let image = cleanup.folder(beside.join("images"), fs::remove_dir_all)?.join("late");
    fs::File::create(&image)?.set_len(1 << 30)?;
    output(command("mkfs.ext4", "-q -F -O ^has_journal -d").args([tree, &image]))?;
    let device = device(cleanup, beside, &image, Pace::After(READ_DELAY))?;
    mount_device(cleanup, "ext4", "ro", &device, &folder)?;
    Ok(folder)
}

impl PacedFile {
    fn wait_for_turn(&self, interval: Duration) {
        let mut answered = self.answered.lock().expect("nothing panics while it is locked");
        let due = Instant::now().max(*answered + interval);
        thread::sleep(due.saturating_duration_since(Instant::now()).saturating_sub(SLEEP_SLACK));
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        *answered = due;
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let (kind, perm, size) = match inode {
            FILE_INODE => (FileType::RegularFile, 0o444, self.content.len() as u64),
            _ => (FileType::Directory, 0o555, 0),
        };
        FileAttr {
            ino: inode,
            size,
            blocks: size.div_ceil(u64::from(BLOCK_BYTES)),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: BLOCK_BYTES,
            flags: 0,
        }
    }
}

impl Filesystem for PacedFile {
    /// Allows parallel direct I/O, because otherwise a loop device on the file waits for each of
    /// its reads in turn.
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        if let Pace::After(_) = self.pace {
            let unsupported = |flags| io::Error::other(format!("this kernel has no {flags:?}"));
            config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(unsupported)?;
        }
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == OsStr::new(&self.name) {
            reply.entry(&CACHE_TTL, &self.attributes(FILE_INODE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&CACHE_TTL, &self.attributes(inode));
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.content.len());
        let bytes = &self.content[from..from.saturating_add(size as usize).min(self.content.len())];
        match self.pace {
            Pace::Every(interval) => {
                self.wait_for_turn(interval);
                reply.data(bytes);
            }
            Pace::After(delay) => {
                let bytes = bytes.to_vec();
                thread::spawn(move || {
                    thread::sleep(delay);
                    reply.data(&bytes);
                });
            }
        }
    }
}
