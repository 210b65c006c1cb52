//! A slow file system in user space with one file: every request waits before it is answered. A
//! reader waits while neither the device nor a processor is busy. Needs root.

use anyhow::Context;
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, Generation, INodeNo,
    LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEntry, Request,
};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// How long every request waits: with the kernel's requests of 128 KiB, about as slow as a network.
const DELAY: Duration = Duration::from_millis(2);

const FILE: INodeNo = INodeNo(2);
const BLOCK_BYTES: u32 = 512;
/// How long the kernel may cache answers; the file system does not change.
const TTL: Duration = Duration::from_secs(3600);

struct Slow {
    name: String,
    content: File,
    size_bytes: u64,
}

/// Shows a file's content, slowly, under this name in a folder, until the value is dropped.
pub(crate) fn mount(content: &Path, folder: &Path, name: &str) -> anyhow::Result<BackgroundSession> {
    let content = File::open(content).with_context(|| content.display().to_string())?;
    let size_bytes = content.metadata()?.len();
    let slow = Slow { name: name.to_owned(), content, size_bytes };
    let mut config = Config::default();
    config.mount_options = vec![MountOption::RO, MountOption::FSName("readlab-slow".to_owned())];
    fuser::spawn_mount(slow, folder, &config).with_context(|| folder.display().to_string())
}

impl Slow {
    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let (kind, perm, size) = match inode {
            FILE => (FileType::RegularFile, 0o444, self.size_bytes),
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

impl Filesystem for Slow {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == OsStr::new(&self.name) {
            reply.entry(&TTL, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&TTL, &self.attributes(inode));
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
        std::thread::sleep(DELAY);
        let mut bytes = vec![0; size as usize];
        match self.content.read_at(&mut bytes, offset) {
            Ok(count) => reply.data(&bytes[..count]),
            Err(_) => reply.error(Errno::EIO),
        }
    }
}
