//! The layers below a file: the walk that finds them.
//!
//! Each step asks the system one question: the file system of a file, the device below a file, the
//! parts of a device, or the file behind a loop device. The next step continues with the answer.
//! The chain ends at a layer that is not visible, and states the reason; nothing is guessed. Files
//! behind loop devices are opened only for reading, to find out whether they can be evicted.

use crate::target::device::{self, DeviceFacts};
use crate::target::filesystem::{Backing, Filesystem};
use readlab_model::target::layers::{Layer, LayerKind};
use readlab_system::block_device::{BlockDevice, Composition, LoopDevice};
use readlab_system::file_status::{DeviceNumber, FileKind, FileStatus, size_bytes};
use readlab_system::fuse::FuseDaemon;
use readlab_system::mounts::Mount;
use readlab_system::open_file;
use readlab_system::page_cache;
use readlab_system::system_root::SystemRoot;
use readlab_system::terminal::printable::display_path;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The files below a target whose pages are evicted too, from the nearest layer downwards.
pub type EvictableFiles = Vec<PathBuf>;

/// Number of layers after which the walk ends, because a longer chain means that the system's
/// answers form a loop.
const LAYERS_MAX: usize = 64;

/// The name of the file system whose files are those of others.
const OVERLAY: &str = "overlay";

/// The reason why the cache of a server stays filled.
const SERVER_CACHE_REASON: &str = "it is not this machine's";

/// The reason why the cache of a program stays filled.
const PROGRAM_CACHE_REASON: &str = "neither its memory nor what it reads can be evicted from here";

/// The reason why the own cache of a file system stays filled.
const OWN_CACHE_REASON: &str = "it is beside the page cache";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LayerChain {
    pub layers: Vec<Layer>,
    /// The files in the chain whose pages are evicted before a cold reading, from the nearest layer
    /// downwards.
    pub evictable: EvictableFiles,
    /// The device of the first file, below an overlay that of the file that the overlay shows: the
    /// kernel reads from there, and as far ahead as is set there. `None` if that file is not visible.
    pub device_facts: Option<DeviceFacts>,
}

/// What distinguishes files of one target that may have different layers below them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LayerGroup {
    /// The device number of a layer of an overlay, or of a subvolume of btrfs.
    device: DeviceNumber,
    /// The highest bits of the inode number in an overlay; 0 elsewhere. With the mount option `xino`,
    /// all files of an overlay have one device number, and these bits have the number of the layer's
    /// file system.
    inode_prefix: u64,
    /// A FUSE program may pass only some of its files to the kernel.
    is_passed_through: bool,
}

/// Number of the lower bits of an inode number, which do not distinguish layers.
const INODE_PREFIX_SHIFT: u32 = 56;

struct Walk<'a> {
    system: &'a SystemRoot,
    chain: LayerChain,
    visited: BTreeSet<BlockDevice>,
}

impl LayerChain {
    /// Finds the layers below an open file; `path` must be absolute and without symbolic links.
    pub fn walk(system: &SystemRoot, path: &Path, file: &File) -> LayerChain {
        let mut walk = Walk { system, chain: LayerChain::default(), visited: BTreeSet::new() };
        walk.add_file(path, file);
        walk.chain
    }

    /// Finds the layers below several files of one target; a layer of several files is there once. A
    /// file that cannot be opened any more has none.
    pub fn walk_all(system: &SystemRoot, paths: &[PathBuf]) -> LayerChain {
        let mut all = LayerChain::default();
        for path in paths {
            let opened = open_file::open_without_waiting(path);
            if let (Ok(real), Ok(file)) = (fs::canonicalize(path), opened) {
                all.add_missing(LayerChain::walk(system, &real, &file));
            }
        }
        all
    }

    fn add_missing(&mut self, other: LayerChain) {
        self.device_facts = self.device_facts.take().or(other.device_facts);
        for layer in other.layers {
            if !self.layers.contains(&layer) {
                self.layers.push(layer);
            }
        }
        for path in other.evictable {
            if !self.evictable.contains(&path) {
                self.evictable.push(path);
            }
        }
    }
}

impl LayerGroup {
    /// The group of a file in a file system with this backing, if that is known.
    pub fn of_file(file: &File, status: &FileStatus, backing: Option<Backing>) -> LayerGroup {
        // Some programs and servers spread the numbers of their files over all 64 bits.
        let has_layers = backing == Some(Backing::Stacked);
        let is_of_program = backing == Some(Backing::Program);
        LayerGroup {
            device: status.device,
            inode_prefix: if has_layers { status.inode >> INODE_PREFIX_SHIFT } else { 0 },
            is_passed_through: is_of_program && page_cache::uses_fuse_passthrough(file).unwrap_or(false),
        }
    }
}

impl Walk<'_> {
    fn add(&mut self, layer: Layer) {
        self.chain.layers.push(layer);
    }

    fn add_file(&mut self, path: &Path, file: &File) {
        let (Ok(status), Ok(filesystem)) = (FileStatus::read(file), Filesystem::read(file)) else { return };
        if self.chain.layers.len() >= LAYERS_MAX {
            return;
        }
        if let FileKind::BlockDevice(number) = status.kind {
            if let Some(device) = BlockDevice::find(self.system, number) {
                self.chain.device_facts.get_or_insert_with(|| DeviceFacts::of_device(&device));
                self.add_device(&device);
            }
            return;
        }
        let mount = Mount::find(self.system, path, status.device);
        let name = filesystem.to_string();
        if name != OVERLAY && self.chain.device_facts.is_none() {
            self.chain.device_facts = Some(DeviceFacts::of_file(self.system, mount.as_ref(), status.device));
        }
        match filesystem.backing {
            Backing::Device => {
                self.add(Layer::new(LayerKind::Filesystem, name));
                self.add_devices_of_filesystem(status.device, mount.as_ref());
            }
            // A target on a file system in memory, or with a cache of its own, has no cold state at
            // all.
            Backing::Memory | Backing::OwnCache if self.chain.layers.is_empty() => {
                self.add(Layer::new(LayerKind::Filesystem, name));
            }
            Backing::Memory => self.add(Layer::new(LayerKind::Memory, &name).with_unevictable_cache(
                format!("memory ({name})"),
                format!("{} is in memory and nowhere else", display_path(path)),
            )),
            Backing::OwnCache => self.add(
                Layer::new(LayerKind::Filesystem, &name)
                    .with_unevictable_cache(format!("the cache of {name}"), OWN_CACHE_REASON),
            ),
            Backing::Remote => self.add_server(&name, mount.as_ref()),
            Backing::Program if mount.as_ref().is_some_and(|mount| mount.kind == "virtiofs") => {
                self.add_server("virtiofs", mount.as_ref());
            }
            Backing::Program => self.add_program(file, status.device, mount.as_ref()),
            Backing::Stacked if name == OVERLAY => self.add_overlay(path, &status, mount.as_ref()),
            Backing::Stacked => self.add(Layer::new(LayerKind::Overlay, &name).with_unevictable_cache(
                format!("the page cache of the file below {name}"),
                "which file that is is not visible",
            )),
            Backing::Kernel => self.add(Layer::new(LayerKind::Filesystem, name)),
        }
    }

    /// Adds another machine, or the host, as a layer.
    fn add_server(&mut self, filesystem: &str, mount: Option<&Mount>) {
        let source = mount.map_or_else(|| "another machine".to_owned(), |mount| display_path(&mount.source));
        let what = format!("the cache of the server of {source} ({filesystem})");
        self.add(Layer::new(LayerKind::Filesystem, filesystem));
        self.add(Layer::new(LayerKind::Server, source).with_unevictable_cache(what, SERVER_CACHE_REASON));
    }

    /// Adds the program behind a FUSE file system, or the file that it passes to the kernel, whose
    /// pages are evicted through a mapping.
    fn add_program(&mut self, file: &File, device: DeviceNumber, mount: Option<&Mount>) {
        let daemon = FuseDaemon::find(self.system, device);
        let kind = mount.map_or("fuse", |mount| mount.kind.as_str());
        let name = match &daemon {
            Some(FuseDaemon { pid, name }) => format!("{name}, process {pid}"),
            None => "a program that is not visible from here".to_owned(),
        };
        self.add(Layer::new(LayerKind::Filesystem, kind));
        if page_cache::uses_fuse_passthrough(file).unwrap_or(false) {
            let name = format!("a file that the program passes to the kernel ({name})");
            return self.add(Layer::new(LayerKind::File, name).with_evicted_cache());
        }
        let what = format!("the cache of the program that serves it ({name}, {kind})");
        let layer = Layer::new(LayerKind::Program, name).with_unevictable_cache(what, PROGRAM_CACHE_REASON);
        self.add(Layer { process_id: daemon.map(|daemon| daemon.pid), ..layer });
    }

    /// Adds the underlying file of a file in an overlay. The two files share their pages, so nothing
    /// is cached twice, but only the underlying file can be written back.
    fn add_overlay(&mut self, path: &Path, status: &FileStatus, mount: Option<&Mount>) {
        self.add(Layer::new(LayerKind::Overlay, OVERLAY));
        let folders = mount.map(Mount::overlay_layers).unwrap_or_default();
        let inside = mount.and_then(|mount| mount.path_in_filesystem(path)).unwrap_or_default();
        for folder in folders.iter().filter(|folder| folder.is_absolute()) {
            let candidate = folder.join(&inside);
            let Ok(found) = fs::symlink_metadata(&candidate) else { continue };
            let found = FileStatus::from(&found);
            // A character device in an overlay marks a file that was removed from the lower folders
            // (whiteout).
            if found.kind == FileKind::CharacterDevice {
                break;
            }
            if is_shown_by_overlay(&found, status)
                && let Ok(file) = File::open(&candidate)
            {
                self.add(Layer::new(LayerKind::File, display_path(&candidate)).with_evicted_cache());
                self.chain.evictable.push(candidate.clone());
                return self.add_file(&candidate, &file);
            }
        }
        self.add(Layer::new(LayerKind::NotVisible, "a file that is not visible from here"));
    }

    /// Adds the devices of a file system.
    fn add_devices_of_filesystem(&mut self, number: DeviceNumber, mount: Option<&Mount>) {
        let Some(device) = device::find(self.system, mount, number) else {
            return mount.map_or((), |mount| self.add_mounted_file(mount));
        };
        self.add_device(&device);
        for other in device.btrfs_devices(self.system) {
            self.add_device(&other);
        }
    }

    fn add_device(&mut self, device: &BlockDevice) {
        if self.chain.layers.len() >= LAYERS_MAX || !self.visited.insert(device.clone()) {
            return;
        }
        let name = device.name();
        match device.composition() {
            Composition::Partition { disk } => {
                self.add(Layer::new(LayerKind::Device, name));
                disk.iter().for_each(|disk| self.add_device(disk));
            }
            Composition::Loop(it) => self.add_loop_device(&name, &it),
            Composition::Mapped(parts) => {
                self.add(Layer::new(LayerKind::Mapped, name));
                parts.iter().for_each(|part| self.add_device(part));
            }
            Composition::Memory => self.add(
                Layer::new(LayerKind::Memory, &name)
                    .with_unevictable_cache(format!("memory ({name})"), "the device is made of memory"),
            ),
            Composition::Program => {
                let what = format!("the cache of the program that serves {name}");
                self.add(
                    Layer::new(LayerKind::Program, name).with_unevictable_cache(what, PROGRAM_CACHE_REASON),
                );
            }
            Composition::Remote { protocol: by } => {
                let name = by.map_or_else(|| name.clone(), |by| format!("{name} ({by})"));
                let what = format!("the cache of the server of {name}");
                self.add(
                    Layer::new(LayerKind::Server, &name).with_unevictable_cache(what, SERVER_CACHE_REASON),
                );
            }
            Composition::Cached { software: by, parts } => {
                let layer = Layer::new(LayerKind::Mapped, format!("{name} ({by})"));
                let why = "blocks that were read before may be on its faster device";
                self.add(layer.with_unevictable_cache(format!("the cache of {name} ({by})"), why));
                parts.iter().for_each(|part| self.add_device(part));
            }
            Composition::OwnCache { filesystem } => {
                let name = format!("{name} ({filesystem})");
                let what = format!("the cache of {name}");
                self.add(Layer::new(LayerKind::Device, name).with_unevictable_cache(what, OWN_CACHE_REASON));
            }
            Composition::MayBeCached(parts) => {
                let layer = Layer::new(LayerKind::Mapped, &name);
                let why = format!("the kernel does not show what it makes of its {} devices", parts.len());
                self.add(layer.with_unevictable_cache(format!("the cache of {name}, if it is one"), why));
                parts.iter().for_each(|part| self.add_device(part));
            }
            Composition::Disk => self.add(Layer::new(LayerKind::Device, name)),
        }
    }

    fn add_loop_device(&mut self, name: &str, it: &LoopDevice) {
        let words = if it.is_direct_io { format!("{name} (direct I/O)") } else { name.to_owned() };
        self.add(Layer::new(LayerKind::Loop, words));
        let what = format!("the page cache of {} ({name}, no direct I/O)", display_path(&it.backing_file));
        self.add_backing_file(&it.backing_file, open_backing_file(name, it), it.is_direct_io, what);
    }

    /// Adds a file that is mounted directly, without a loop device, as EROFS allows.
    fn add_mounted_file(&mut self, mount: &Mount) {
        let source = &mount.source;
        let is_file = source.is_absolute() && fs::metadata(source).is_ok_and(|meta| meta.is_file());
        if !is_file && mount.kind != "erofs" {
            return;
        }
        let opened = match is_file {
            true => File::open(source).map_err(|cause| open_error_text(&cause)),
            false => Err("its whole path is not visible from here".to_owned()),
        };
        let what = format!("the page cache of {}, which is mounted as {}", display_path(source), mount.kind);
        self.add_backing_file(source, opened, mount.has_option("directio"), what);
    }

    /// Adds a file that holds a file system, and the layers below the file. `what` describes the
    /// cache of the file; it is used if this cache cannot be evicted.
    fn add_backing_file(
        &mut self,
        path: &Path,
        opened: Result<File, String>,
        is_direct_io: bool,
        what: String,
    ) {
        let layer = Layer::new(LayerKind::File, display_path(path));
        match opened {
            Ok(file) => {
                let has_pages = Filesystem::read(&file)
                    .is_ok_and(|it| !matches!(it.backing, Backing::Memory | Backing::OwnCache));
                if has_pages && !is_direct_io {
                    self.add(layer.with_evicted_cache());
                    self.chain.evictable.push(path.to_owned());
                } else {
                    self.add(layer);
                }
                self.add_file(path, &file);
            }
            // Direct I/O does not use the file's pages.
            Err(_) if is_direct_io => self.add(layer),
            Err(why) => self.add(layer.with_unevictable_cache(what, why)),
        }
    }
}

/// True if `found`, a file in one folder of an overlay, is the file `shown` that the overlay shows. A
/// file without blocks has only metadata there; its bytes are in a lower folder.
fn is_shown_by_overlay(found: &FileStatus, shown: &FileStatus) -> bool {
    found.kind == FileKind::Regular
        && (found.size_bytes, found.content_change_time) == (shown.size_bytes, shown.content_change_time)
        && (found.has_blocks || found.size_bytes == 0)
}

fn open_backing_file(name: &str, it: &LoopDevice) -> Result<File, String> {
    if it.is_deleted {
        return Err("it was deleted".to_owned());
    }
    let file = File::open(&it.backing_file).map_err(|cause| open_error_text(&cause))?;
    let file_bytes = size_bytes(&file).map_err(|cause| cause.to_string())?;
    // In a container, or below another mount, the path may name another file.
    if it.can_be_backed_by(file_bytes) {
        Ok(file)
    } else {
        Err(format!("the file of this name is smaller than {name}"))
    }
}

fn open_error_text(cause: &io::Error) -> String {
    match cause.kind() {
        ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        ErrorKind::NotFound => "it is not visible from here".to_owned(),
        _ => cause.to_string(),
    }
}

#[cfg(test)]
mod tests;
