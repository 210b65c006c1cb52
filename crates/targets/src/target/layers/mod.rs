//! The layers below a file: the walk that finds them.
//!
//! Each step asks the system one question: the file system of a file, the device below it, what a
//! device is made of, the file behind a loop device; then it continues with that file. The chain
//! ends at what is not visible, with the reason; nothing is guessed. Files behind loop devices are
//! opened for reading only, to see whether they can be evicted.

use crate::target::filesystem::{Backing, Filesystem};
use readlab_model::target::layers::{Layer, LayerKind};
use readlab_system::block_device::{BlockDevice, Composition, LoopDevice};
use readlab_system::file_status::{DeviceNumber, FileKind, FileStatus, size_bytes};
use readlab_system::fuse::FuseDaemon;
use readlab_system::mounts::Mount;
use readlab_system::page_cache;
use readlab_system::system_root::SystemRoot;
use readlab_system::terminal::printable::display_path;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The files below a target whose pages are evicted too, the nearest first.
pub type Evictable = Vec<PathBuf>;

/// Layers after which the walk ends: a longer chain is a loop in what the system says.
const LAYERS_MAX: usize = 64;

/// Why the cache of a server stays.
const NOT_OURS: &str = "it is not this machine's";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    pub layers: Vec<Layer>,
    /// The files among them whose pages are evicted for a cold reading, the nearest first.
    pub evictable: Evictable,
}

struct Walk<'a> {
    system: &'a SystemRoot,
    chain: Chain,
    seen: BTreeSet<BlockDevice>,
}

impl Chain {
    /// What is below an open file; `path` is absolute and without links.
    pub fn walk(system: &SystemRoot, path: &Path, file: &File) -> Chain {
        let mut walk = Walk { system, chain: Chain::default(), seen: BTreeSet::new() };
        walk.file(path, file);
        walk.chain
    }
}

impl Walk<'_> {
    fn add(&mut self, layer: Layer) {
        self.chain.layers.push(layer);
    }

    fn file(&mut self, path: &Path, file: &File) {
        let (Ok(status), Ok(filesystem)) = (FileStatus::read(file), Filesystem::read(file)) else { return };
        if self.chain.layers.len() >= LAYERS_MAX {
            return;
        }
        if let FileKind::BlockDevice(number) = status.kind {
            if let Some(device) = BlockDevice::find(self.system, number) {
                self.device(&device);
            }
            return;
        }
        let mount = Mount::find(self.system, path, status.device);
        let name = filesystem.to_string();
        match filesystem.backing {
            Backing::Device => {
                self.add(Layer::new(LayerKind::Filesystem, name));
                self.below_filesystem(status.device, mount.as_ref());
            }
            // A target there has no cold state at all.
            Backing::Memory | Backing::OwnCache if self.chain.layers.is_empty() => {
                self.add(Layer::new(LayerKind::Filesystem, name));
            }
            Backing::Memory => self.add(Layer::new(LayerKind::Memory, &name).remains(
                format!("memory ({name})"),
                format!("{} is in memory and nowhere else", display_path(path)),
            )),
            Backing::OwnCache => self.add(
                Layer::new(LayerKind::Filesystem, &name)
                    .remains(format!("the cache of {name}"), "it is beside the page cache"),
            ),
            Backing::Remote => self.server(&name, mount.as_ref()),
            Backing::Program if mount.as_ref().is_some_and(|mount| mount.kind == "virtiofs") => {
                self.server("virtiofs", mount.as_ref());
            }
            Backing::Program => self.program(file, status.device, mount.as_ref()),
            Backing::Stacked if name == "overlay" => self.overlay(path, &status, mount.as_ref()),
            Backing::Stacked => self.add(Layer::new(LayerKind::Overlay, &name).remains(
                format!("the page cache of the file below {name}"),
                "which file that is is not visible",
            )),
            Backing::Kernel => self.add(Layer::new(LayerKind::Filesystem, name)),
        }
    }

    /// Another machine, or the host.
    fn server(&mut self, filesystem: &str, mount: Option<&Mount>) {
        let source = mount.map_or_else(|| "another machine".to_owned(), |mount| display_path(&mount.source));
        let what = format!("the cache of the server of {source} ({filesystem})");
        self.add(Layer::new(LayerKind::Filesystem, filesystem));
        self.add(Layer::new(LayerKind::Server, source).remains(what, NOT_OURS));
    }

    /// The program behind a FUSE file system, or the file that it passes to the kernel, whose pages
    /// are evicted by way of a mapping.
    fn program(&mut self, file: &File, device: DeviceNumber, mount: Option<&Mount>) {
        let daemon = FuseDaemon::find(self.system, device);
        let kind = mount.map_or("fuse", |mount| mount.kind.as_str());
        let name = match &daemon {
            Some(FuseDaemon { pid, name }) => format!("{name}, process {pid}"),
            None => "a program that is not visible from here".to_owned(),
        };
        self.add(Layer::new(LayerKind::Filesystem, kind));
        if page_cache::is_passed_through(file).unwrap_or(false) {
            let name = format!("a file that the program passes to the kernel ({name})");
            return self.add(Layer::new(LayerKind::File, name).evicted());
        }
        let what = format!("the cache of the program that serves it ({name}, {kind})");
        let layer = Layer::new(LayerKind::Program, name)
            .remains(what, "neither its memory nor what it reads can be evicted from here");
        self.add(Layer { process: daemon.map(|daemon| daemon.pid), ..layer });
    }

    /// The file that an overlay shows. Both have the same pages, so nothing more is cached here;
    /// but only the file itself can be written back.
    fn overlay(&mut self, path: &Path, status: &FileStatus, mount: Option<&Mount>) {
        self.add(Layer::new(LayerKind::Overlay, "overlay"));
        let folders = mount.map(Mount::overlaid).unwrap_or_default();
        let inside = mount.and_then(|mount| mount.inside(path)).unwrap_or_default();
        for folder in folders.iter().filter(|folder| folder.is_absolute()) {
            let candidate = folder.join(&inside);
            let Ok(found) = fs::symlink_metadata(&candidate) else { continue };
            let found = FileStatus::from(&found);
            // A character device says that the file was removed from the folders below.
            if found.kind == FileKind::CharacterDevice {
                break;
            }
            if is_overlaid(&found, status)
                && let Ok(file) = File::open(&candidate)
            {
                self.add(Layer::new(LayerKind::File, display_path(&candidate)).evicted());
                self.chain.evictable.push(candidate.clone());
                return self.file(&candidate, &file);
            }
        }
        self.add(Layer::new(LayerKind::NotVisible, "a file that is not visible from here"));
    }

    /// The devices of a file system.
    fn below_filesystem(&mut self, number: DeviceNumber, mount: Option<&Mount>) {
        let own = BlockDevice::find(self.system, number);
        let mounted = || BlockDevice::find(self.system, mount?.source_device()?);
        let Some(device) = own.or_else(mounted) else {
            return mount.map_or((), |mount| self.mounted_file(mount));
        };
        self.device(&device);
        for other in device.btrfs_devices(self.system) {
            self.device(&other);
        }
    }

    fn device(&mut self, device: &BlockDevice) {
        if self.chain.layers.len() >= LAYERS_MAX || !self.seen.insert(device.clone()) {
            return;
        }
        let name = device.name();
        match device.composition() {
            Composition::Partition { disk } => {
                self.add(Layer::new(LayerKind::Device, name));
                disk.iter().for_each(|disk| self.device(disk));
            }
            Composition::Loop(it) => self.loop_device(&name, &it),
            Composition::Mapped(parts) => {
                self.add(Layer::new(LayerKind::Mapped, name));
                parts.iter().for_each(|part| self.device(part));
            }
            Composition::Memory => self.add(
                Layer::new(LayerKind::Memory, &name)
                    .remains(format!("memory ({name})"), "the device is made of memory"),
            ),
            Composition::Remote { by } => {
                let name = by.map_or_else(|| name.clone(), |by| format!("{name} ({by})"));
                let what = format!("the cache of the server of {name}");
                self.add(Layer::new(LayerKind::Server, &name).remains(what, NOT_OURS));
            }
            Composition::Cached { by, parts } => {
                let layer = Layer::new(LayerKind::Mapped, format!("{name} ({by})"));
                let why = "blocks that were read before may be on its faster device";
                self.add(layer.remains(format!("the cache of {name} ({by})"), why));
                parts.iter().for_each(|part| self.device(part));
            }
            Composition::Disk => self.add(Layer::new(LayerKind::Device, name)),
        }
    }

    fn loop_device(&mut self, name: &str, it: &LoopDevice) {
        let words = if it.is_direct_io { format!("{name} (direct I/O)") } else { name.to_owned() };
        self.add(Layer::new(LayerKind::Loop, words));
        let what = format!("the page cache of {} ({name}, no direct I/O)", display_path(&it.backing_file));
        self.backing_file(&it.backing_file, open_backing(name, it), it.is_direct_io, what);
    }

    /// The file that is mounted itself, without a loop device, as EROFS can be.
    fn mounted_file(&mut self, mount: &Mount) {
        let source = &mount.source;
        let is_file = source.is_absolute() && fs::metadata(source).is_ok_and(|meta| meta.is_file());
        if !is_file && mount.kind != "erofs" {
            return;
        }
        let opened = match is_file {
            true => File::open(source).map_err(|cause| not_opened(&cause)),
            false => Err("its whole path is not visible from here".to_owned()),
        };
        let what = format!("the page cache of {}, which is mounted as {}", display_path(source), mount.kind);
        self.backing_file(source, opened, mount.has_option("directio"), what);
    }

    /// A file that holds a file system, and what is below; `what` names its cache, if that stays.
    fn backing_file(&mut self, path: &Path, opened: Result<File, String>, is_direct_io: bool, what: String) {
        let layer = Layer::new(LayerKind::File, display_path(path));
        match opened {
            Ok(file) => {
                let has_pages = Filesystem::read(&file)
                    .is_ok_and(|it| !matches!(it.backing, Backing::Memory | Backing::OwnCache));
                if has_pages && !is_direct_io {
                    self.add(layer.evicted());
                    self.chain.evictable.push(path.to_owned());
                } else {
                    self.add(layer);
                }
                self.file(path, &file);
            }
            // Direct reads do not use the pages of the file.
            Err(_) if is_direct_io => self.add(layer),
            Err(why) => self.add(layer.remains(what, why)),
        }
    }
}

/// Whether a file in a folder of an overlay is the one that the overlay shows. One that holds
/// attributes alone has no blocks, and its bytes are in a folder further down.
fn is_overlaid(found: &FileStatus, shown: &FileStatus) -> bool {
    found.kind == FileKind::Regular
        && (found.size_bytes, found.content_changed) == (shown.size_bytes, shown.content_changed)
        && (found.has_blocks || found.size_bytes == 0)
}

fn open_backing(name: &str, it: &LoopDevice) -> Result<File, String> {
    if it.is_deleted {
        return Err("it was deleted".to_owned());
    }
    let file = File::open(&it.backing_file).map_err(|cause| not_opened(&cause))?;
    let file_bytes = size_bytes(&file).map_err(|cause| cause.to_string())?;
    // In a container, or below another mount, the name may mean another file.
    if it.may_be_of(file_bytes) {
        Ok(file)
    } else {
        Err(format!("the file of this name is smaller than {name}"))
    }
}

fn not_opened(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        ErrorKind::NotFound => "it is not visible from here".to_owned(),
        _ => cause.to_string(),
    }
}

#[cfg(test)]
mod tests;
