//! Makes file systems other than that of the build, each with one file.

use super::paced::{self, Pace};
use super::{Cleanup, command, loop_device, memory_device, mount, write_newlines};
use crate::programs::{Programs, output};
use anyhow::Context;
use readlab_model::units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// With the kernel's requests of 128 KiB, this is about as slow as a network.
const SLOW_PACE: Pace = Pace::Every(Duration::from_millis(2));
const FILE_NAME: &str = "lines.txt";

#[derive(Debug, Clone, Copy)]
pub(crate) enum FileSystem {
    Memory,
    /// btrfs with zstd.
    Compressed,
    /// EROFS with LZ4, which is written once, as a whole.
    CompressedImage,
    Btrfs,
    Ext4,
    Xfs,
    /// ext4 on a device with a read-ahead of 16 KiB.
    ShortReadAhead,
    /// overlayfs, as containers use it, on top of the default file system.
    Overlay,
    /// FUSE, where every request waits.
    Slow,
}

impl FileSystem {
    /// Copies a file of lines of this size to the file system. Returns the path of the copy.
    pub(crate) fn make(
        self,
        cleanup: &mut Cleanup,
        programs: &Programs,
        size: Bytes,
    ) -> anyhow::Result<PathBuf> {
        let (original, beside) = (programs.lines(size)?, &*programs.folder);
        let folder = match self {
            FileSystem::Memory => cleanup.folder("/dev/shm/readlab-bench".into(), fs::remove_dir_all)?,
            FileSystem::Compressed => mount_image(cleanup, beside, "btrfs", "-f", "compress-force=zstd")?,
            FileSystem::CompressedImage => return compressed_image(cleanup, &original, beside),
            FileSystem::Btrfs => mount_image(cleanup, beside, "btrfs", "-f", "defaults")?,
            FileSystem::Ext4 => mount_image(cleanup, beside, "ext4", "-F", "defaults")?,
            FileSystem::Xfs => mount_image(cleanup, beside, "xfs", "-f", "defaults")?,
            FileSystem::ShortReadAhead => {
                let folder = mount_image(cleanup, beside, "ext4", "-F", "defaults")?;
                let device = output(command("findmnt", "-n -o SOURCE -T").arg(&folder))?;
                output(command("blockdev", "--setra 32").arg(device.trim()))?;
                folder
            }
            FileSystem::Overlay => mount_overlay(cleanup, beside)?,
            FileSystem::Slow => {
                let folder = cleanup.folder(beside.join("slow"), fs::remove_dir)?;
                return paced::mount(cleanup, &original, &folder, FILE_NAME, SLOW_PACE);
            }
        };
        let file = folder.join(FILE_NAME);
        fs::copy(&original, &file).with_context(|| file.display().to_string())?;
        fs::File::open(&file)?.sync_all()?;
        Ok(file)
    }
}

/// Copies a file of lines of this size to ext4, and mounts a read-only overlay on top. Returns the path
/// of the copy on ext4 and through the overlay.
pub(crate) fn ext4_and_overlay(
    cleanup: &mut Cleanup,
    programs: &Programs,
    size: Bytes,
) -> anyhow::Result<[PathBuf; 2]> {
    let file = FileSystem::Ext4.make(cleanup, programs, size)?;
    let folder = cleanup.folder(programs.folder.join("overlay"), fs::remove_dir)?;
    // An overlay without an upper layer has two lower ones.
    let empty = cleanup.folder(programs.folder.join("overlay-empty"), fs::remove_dir)?;
    let below = file.parent().context("a file is in a folder")?;
    let layers = format!("lowerdir={}:{}", below.display(), empty.display());
    mount(cleanup, "overlay", &layers, Path::new("overlay"), &folder)?;
    Ok([file, folder.join(FILE_NAME)])
}

/// Makes a file of newlines on ext4 on a device in memory. A reader does not wait for this device,
/// which decodes nothing for a page of equal bytes.
pub(crate) fn newlines_in_memory(
    cleanup: &mut Cleanup,
    programs: &Programs,
    size: Bytes,
) -> anyhow::Result<PathBuf> {
    let folder = cleanup.folder(programs.folder.join("in-memory"), fs::remove_dir)?;
    // The file system needs room for its journal and its tables.
    let device = memory_device(cleanup, Bytes(2 * size.0))?;
    output(command("mkfs.ext4", "-q -F").arg(&device))?;
    mount(cleanup, "ext4", "defaults", &device, &folder)?;
    write_newlines(&folder, size)
}

fn mount_image(
    cleanup: &mut Cleanup,
    beside: &Path,
    kind: &str,
    force: &str,
    options: &str,
) -> anyhow::Result<PathBuf> {
    let folder = cleanup.folder(beside.join(kind), fs::remove_dir)?;
    let image = cleanup.folder(beside.join("images"), fs::remove_dir_all)?.join(kind);
    fs::File::create(&image)?.set_len(1 << 30)?;
    output(command(&format!("mkfs.{kind}"), "-q").arg(force).arg(&image))?;
    let device = loop_device(cleanup, "", &image)?;
    mount(cleanup, kind, options, &device, &folder)?;
    Ok(folder)
}

/// Makes an EROFS that has a copy of the file, and mounts it. Returns the path of the copy.
fn compressed_image(cleanup: &mut Cleanup, original: &Path, beside: &Path) -> anyhow::Result<PathBuf> {
    let folder = cleanup.folder(beside.join("erofs"), fs::remove_dir)?;
    let content = cleanup.folder(beside.join("erofs-content"), fs::remove_dir_all)?;
    fs::copy(original, content.join(FILE_NAME)).with_context(|| original.display().to_string())?;
    let image = cleanup.folder(beside.join("images"), fs::remove_dir_all)?.join("erofs");
    output(command("mkfs.erofs", "-zlz4").arg(&image).arg(&content))?;
    let device = loop_device(cleanup, "", &image)?;
    mount(cleanup, "erofs", "ro", &device, &folder)?;
    Ok(folder.join(FILE_NAME))
}

/// Mounts an overlay folder on top of another folder of the same file system.
fn mount_overlay(cleanup: &mut Cleanup, beside: &Path) -> anyhow::Result<PathBuf> {
    let folder = cleanup.folder(beside.join("overlay"), fs::remove_dir)?;
    let parts = cleanup.folder(beside.join("overlay-parts"), fs::remove_dir_all)?;
    for name in ["lower", "upper", "work"] {
        fs::create_dir_all(parts.join(name))?;
    }
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| parts.join(name).display().to_string());
    let layers = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    mount(cleanup, "overlay", &layers, Path::new("overlay"), &folder)?;
    Ok(folder)
}
