//! The number of a tracepoint in this kernel, which only tracefs knows.
//!
//! Where tracefs is not mounted, a detached mount is used: it is attached to no folder and ends
//! with its descriptor.

use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The number of a tracepoint, named as in tracefs: `raw_syscalls/sys_enter`.
pub(super) fn id(name: &str) -> Result<u64, String> {
    let path = format!("events/{name}/id");
    let mut refused = None;
    for folder in TRACEFS {
        match File::open(format!("{folder}/{path}")) {
            Ok(file) => return parse(file, &path),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => refused = Some(format!("{folder}: {cause}")),
        }
    }
    detached(&path)
        .map_err(|cause| {
            refused.unwrap_or_else(|| format!("tracefs is not mounted, and may not be: {cause}"))
        })
        .and_then(|file| parse(file, &path))
}

/// The file of the number, on a mount of tracefs that is attached to no folder.
fn detached(path: &str) -> rustix::io::Result<File> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let mount = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    openat(&mount, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map(File::from)
}

fn parse(mut file: File, path: &str) -> Result<u64, String> {
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|cause| format!("tracefs: {path}: {cause}"))?;
    text.trim().parse().map_err(|_| format!("tracefs: {path}: no number: {text:?}"))
}
