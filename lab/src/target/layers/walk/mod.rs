//! Finds the chain of layers below a file, as /proc and /sys tell it.
//!
//! Each step asks for one thing: the file system of a file, the device below it, what a device is made of, the file behind a
//! loop device; then the walk goes on with that file. What cannot be seen ends the chain with its reason, and nothing here is
//! guessed. Files behind loop devices are opened for reading only, to see that they can be evicted.

use super::mountinfo::MountLine;
use super::{Evictable, Layer, LayerKind};
use crate::target::filesystem::{Backing, Filesystem};
use crate::target::shown;
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Layers beyond which nobody goes on: a chain as long as this is a loop in what the system says.
const LAYERS_MAX: usize = 64;

/// Bytes of a sector, in which /sys counts whatever a device's blocks are.
const SECTOR_BYTES: u64 = 512;

/// Why the cache of a server stays.
const NOT_OURS: &str = "it is not this machine's";

/// Where /proc and /sys lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    root: PathBuf,
}

/// What lies below a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// Everything, the file's own file system first.
    pub layers: Vec<Layer>,
    /// The files among it whose pages are evicted for a cold reading, the nearest first.
    pub evictable: Evictable,
}

/// A walk so far.
struct Walk<'a> {
    system: &'a System,
    chain: Chain,
    seen: BTreeSet<PathBuf>,
}

/// What is said of a loop device.
struct Loop {
    name: String,
    file: PathBuf,
    deleted: bool,
    direct_io: bool,
    /// Bytes of its file that it shows, and where they begin.
    bytes: u64,
    offset: u64,
}

impl Default for System {
    fn default() -> System {
        System { root: "/".into() }
    }
}

impl System {
    /// A system whose /proc and /sys lie below another folder.
    #[must_use]
    pub fn below(root: &Path) -> System {
        System { root: root.to_owned() }
    }

    /// What lies below an open file; `path` is absolute and without links.
    #[must_use]
    pub fn chain(&self, path: &Path, file: &File) -> Chain {
        let mut walk = Walk { system: self, chain: Chain::default(), seen: BTreeSet::new() };
        walk.file(path, file);
        walk.chain
    }

    /// The mount that shows a file.
    fn mount(&self, path: &Path, number: &str) -> Option<MountLine> {
        let text = fs::read(self.root.join("proc/self/mountinfo")).ok()?;
        MountLine::of(&String::from_utf8_lossy(&text), path, number)
    }

    /// The folder of the device with this number.
    fn device(&self, number: &str) -> Option<PathBuf> {
        fs::canonicalize(self.root.join("sys/dev/block").join(number)).ok()
    }

    /// The process that answers for a FUSE connection, with its name: the one whose descriptor of /dev/fuse says so.
    fn daemon(&self, connection: u64) -> Option<(u32, String)> {
        let folders = fs::read_dir(self.root.join("proc")).ok()?.flatten();
        let pids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let serves = |pid: &u32| {
            let infos = fs::read_dir(self.root.join(format!("proc/{pid}/fdinfo"))).ok();
            let texts =
                infos.into_iter().flatten().flatten().filter_map(|it| fs::read_to_string(it.path()).ok());
            texts.into_iter().any(|text| connection_of(&text) == Some(connection))
        };
        let pid = pids.into_iter().find(serves)?;
        let name = word(&self.root.join(format!("proc/{pid}/comm")))?;
        Some((pid, name))
    }
}

impl Walk<'_> {
    fn add(&mut self, layer: Layer) {
        self.chain.layers.push(layer);
    }

    /// A file, with what lies below it.
    fn file(&mut self, path: &Path, file: &File) {
        let (Ok(meta), Ok(filesystem)) = (file.metadata(), Filesystem::of(file)) else { return };
        if self.chain.layers.len() >= LAYERS_MAX {
            return;
        }
        if meta.file_type().is_block_device() {
            return self.numbered(&number(meta.rdev()));
        }
        let mount = self.system.mount(path, &number(meta.dev()));
        let name = filesystem.to_string();
        match filesystem.backing {
            Backing::Device => {
                self.add(Layer::new(LayerKind::Filesystem, name));
                self.below_filesystem(&meta, mount.as_ref());
            }
            // The target itself has no cold state there, and so none above anything.
            Backing::Memory | Backing::OwnCache if self.chain.layers.is_empty() => {
                self.add(Layer::new(LayerKind::Filesystem, name));
            }
            Backing::Memory => self.add(Layer::new(LayerKind::Memory, &name).remains(
                format!("memory ({name})"),
                format!("{} lies in memory and nowhere else", shown(path)),
            )),
            Backing::OwnCache => self.add(
                Layer::new(LayerKind::Filesystem, &name)
                    .remains(format!("the cache of {name}"), "it is beside the page cache"),
            ),
            Backing::Remote => self.server(&name, mount.as_ref()),
            Backing::Program if mount.as_ref().is_some_and(|mount| mount.kind == "virtiofs") => {
                self.server("virtiofs", mount.as_ref());
            }
            Backing::Program => self.program(&meta, mount.as_ref()),
            Backing::Stacked if name == "overlay" => self.overlay(path, &meta, mount.as_ref()),
            Backing::Stacked => self.add(Layer::new(LayerKind::Overlay, &name).remains(
                format!("the page cache of the file below {name}"),
                "which file that is cannot be seen",
            )),
            Backing::Kernel => self.add(Layer::new(LayerKind::Filesystem, name)),
        }
    }

    /// Another machine, or the host.
    fn server(&mut self, filesystem: &str, mount: Option<&MountLine>) {
        let source = mount.map_or_else(|| "another machine".to_owned(), |mount| shown(&mount.source));
        let what = format!("the cache of the server of {source} ({filesystem})");
        self.add(Layer::new(LayerKind::Filesystem, filesystem));
        self.add(Layer::new(LayerKind::Server, source).remains(what, NOT_OURS));
    }

    /// The program behind a FUSE file system.
    fn program(&mut self, meta: &Metadata, mount: Option<&MountLine>) {
        let (major, minor) = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
        let daemon = self.system.daemon(u64::from(major) << 20 | u64::from(minor));
        let kind = mount.map_or("fuse", |mount| mount.kind.as_str());
        let name = match &daemon {
            Some((pid, name)) => format!("{name}, process {pid}"),
            None => "a program that cannot be seen from here".to_owned(),
        };
        let what = format!("the cache of the program that serves it ({name}, {kind})");
        self.add(Layer::new(LayerKind::Filesystem, kind));
        let layer = Layer::new(LayerKind::Program, name)
            .remains(what, "neither what it holds nor what it reads can be evicted from here");
        self.add(Layer { process: daemon.map(|(pid, _)| pid), ..layer });
    }

    /// The file that an overlay shows. Both have the same pages, so nothing more is cached here; but only the file itself can
    /// be written back.
    fn overlay(&mut self, path: &Path, meta: &Metadata, mount: Option<&MountLine>) {
        self.add(Layer::new(LayerKind::Overlay, "overlay"));
        let folders =
            mount.filter(|mount| mount.kind == "overlay").map(MountLine::overlaid).unwrap_or_default();
        let inside = mount.and_then(|mount| mount.inside(path)).unwrap_or_default();
        for candidate in
            folders.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(&inside))
        {
            let Ok(found) = fs::symlink_metadata(&candidate) else { continue };
            if found.file_type().is_char_device() {
                break;
            }
            // One that holds attributes alone has no blocks, and its bytes lie further down.
            let is_it = found.is_file()
                && (found.size(), found.mtime(), found.mtime_nsec())
                    == (meta.size(), meta.mtime(), meta.mtime_nsec())
                && (found.blocks() > 0 || found.size() == 0);
            if is_it && let Ok(file) = File::open(&candidate) {
                self.add(Layer::new(LayerKind::File, shown(&candidate)).evicted());
                self.chain.evictable.push(candidate.clone());
                return self.file(&candidate, &file);
            }
        }
        self.add(Layer::new(LayerKind::Unseen, "a file that cannot be seen from here"));
    }

    /// The devices of a file system.
    fn below_filesystem(&mut self, meta: &Metadata, mount: Option<&MountLine>) {
        let numbers = [Some(number(meta.dev())), mount.and_then(|mount| source_number(&mount.source))];
        let Some(folder) = numbers.into_iter().flatten().find_map(|number| self.system.device(&number))
        else {
            return;
        };
        for folder in std::iter::once(folder.clone()).chain(self.siblings(&folder)) {
            self.device(&folder);
        }
    }

    /// The other devices of a btrfs that has several.
    fn siblings(&self, folder: &Path) -> Vec<PathBuf> {
        let Some(name) = folder.file_name() else { return Vec::new() };
        let all = fs::read_dir(self.system.root.join("sys/fs/btrfs")).into_iter().flatten().flatten();
        let own = all.map(|it| it.path().join("devices")).find(|devices| devices.join(name).exists());
        own.map(|devices| entries(&devices)).unwrap_or_default()
    }

    fn numbered(&mut self, number: &str) {
        if let Some(folder) = self.system.device(number) {
            self.device(&folder);
        }
    }

    /// A device by its folder in /sys, with what lies below it.
    fn device(&mut self, folder: &Path) {
        if self.chain.layers.len() >= LAYERS_MAX || !self.seen.insert(folder.to_owned()) {
            return;
        }
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if folder.join("partition").exists() {
            self.add(Layer::new(LayerKind::Device, name));
            return folder.parent().into_iter().for_each(|disk| self.device(disk));
        }
        if let Some(it) = Loop::of(folder, &name) {
            return self.looped(&it);
        }
        let slaves = entries(&folder.join("slaves"));
        if !slaves.is_empty() {
            self.add(Layer::new(LayerKind::Mapped, name));
            return slaves.iter().for_each(|slave| self.device(slave));
        }
        self.add(match family(&name) {
            "zram" | "ram" => Layer::new(LayerKind::Memory, &name)
                .remains(format!("memory ({name})"), "the device is made of memory"),
            "nbd" | "rbd" => Layer::new(LayerKind::Server, &name)
                .remains(format!("the cache of the server of {name}"), NOT_OURS),
            _ => Layer::new(LayerKind::Device, name),
        });
    }

    /// A loop device, and the file behind it.
    fn looped(&mut self, it: &Loop) {
        self.add(Layer::new(
            LayerKind::Loop,
            if it.direct_io { format!("{} (direct I/O)", it.name) } else { it.name.clone() },
        ));
        let layer = Layer::new(LayerKind::File, shown(&it.file));
        match it.open() {
            Ok(file) => {
                let has_pages = Filesystem::of(&file)
                    .is_ok_and(|it| !matches!(it.backing, Backing::Memory | Backing::OwnCache));
                if has_pages && !it.direct_io {
                    self.add(layer.evicted());
                    self.chain.evictable.push(it.file.clone());
                } else {
                    self.add(layer);
                }
                self.file(&it.file, &file);
            }
            // Direct reads pass by the pages of the file, whoever may open it.
            Err(_) if it.direct_io => self.add(layer),
            Err(why) => {
                let what = format!("the page cache of {} ({}, no direct I/O)", shown(&it.file), it.name);
                self.add(layer.remains(what, why));
            }
        }
    }
}

impl Loop {
    /// What a device's folder in /sys says; `None` for one that is no loop device, or has no file.
    fn of(folder: &Path, name: &str) -> Option<Loop> {
        let said = |file: &str| word(&folder.join("loop").join(file));
        let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
        let (file, deleted) = backing_file(&said("backing_file")?);
        Some(Loop {
            name: name.to_owned(),
            file,
            deleted,
            direct_io: said("dio").as_deref() == Some("1"),
            bytes: number(word(&folder.join("size"))).unwrap_or(0) * SECTOR_BYTES,
            offset: number(said("offset")).unwrap_or(0),
        })
    }

    /// The file behind it, opened for reading.
    ///
    /// # Errors
    /// Why it cannot be, in words.
    fn open(&self) -> Result<File, String> {
        if self.deleted {
            return Err("it was deleted".to_owned());
        }
        let file = File::open(&self.file).map_err(|cause| match cause.kind() {
            ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
            ErrorKind::NotFound => "it cannot be seen from here".to_owned(),
            _ => cause.to_string(),
        })?;
        let bytes = crate::target::size_of(&file).map_err(|cause| cause.to_string())?;
        // In a container, or below another mount, the name may mean another file.
        let shows = |bytes: u64| bytes.saturating_sub(self.offset) / SECTOR_BYTES * SECTOR_BYTES;
        if shows(bytes) < self.bytes {
            return Err(format!("the file of this name is smaller than {}", self.name));
        }
        Ok(file)
    }
}

/// The path that a loop device's `backing_file` holds, and whether the file has lost its name.
fn backing_file(text: &str) -> (PathBuf, bool) {
    let alive = text.strip_suffix(" (deleted)");
    (alive.unwrap_or(text).into(), alive.is_some())
}

/// The FUSE connection that the fdinfo of a descriptor of /dev/fuse names, as kernels since 6.17 do.
fn connection_of(fdinfo: &str) -> Option<u64> {
    let value = fdinfo.lines().find_map(|line| line.strip_prefix("fuse_connection:"))?;
    value.trim().parse().ok()
}

/// `259:2`, as /sys and /proc write device numbers.
fn number(dev: u64) -> String {
    format!("{}:{}", rustix::fs::major(dev), rustix::fs::minor(dev))
}

/// The number of the device that is mounted.
fn source_number(source: &Path) -> Option<String> {
    let meta = fs::metadata(source).ok().filter(|meta| meta.file_type().is_block_device())?;
    Some(number(meta.rdev()))
}

/// What stands in a folder of links, followed, in the order of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = found.filter_map(|entry| fs::canonicalize(entry.path()).ok()).collect();
    found.sort();
    found
}

/// The name of a device without its number.
fn family(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// What a file of one line holds.
fn word(path: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).trim_end_matches('\n').to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
