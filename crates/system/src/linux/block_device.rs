//! Block devices: their facts and what they are made of, from /sys.

use super::file_status::DeviceNumber;
use super::kernel_file::{self, line, number, selected};
use super::system_root::SystemRoot;
use readlab_model::target::device::{Device, ReadAhead};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a sector: /sys counts in these, whatever the size of a device's blocks.
const SECTOR_BYTES: u64 = 512;

/// The folders of /sys above a SCSI disk that is behind a network, without their numbers.
const SCSI_NETWORKS: [(&str, &str); 2] = [("session", "iSCSI"), ("rport-", "Fibre Channel or SRP")];

/// A block device or a partition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockDevice {
    /// Its folder in /sys.
    folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Composition {
    Partition {
        disk: Option<BlockDevice>,
    },
    Loop(LoopDevice),
    /// Other block devices (device mapper, RAID).
    Mapped(Vec<BlockDevice>),
    Memory,
    Remote {
        /// How its blocks come here, such as `NVMe over tcp`; `None` where its name says so.
        by: Option<String>,
    },
    Cached {
        /// What keeps the cache, such as `bcache`.
        by: &'static str,
        parts: Vec<BlockDevice>,
    },
    /// Itself, as far as the kernel knows.
    Disk,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopDevice {
    pub backing_file: PathBuf,
    pub is_deleted: bool,
    /// Whether it reads the file past the page cache.
    pub is_direct_io: bool,
    /// Bytes of the file that it shows.
    size_bytes: u64,
    /// Where in the file these begin.
    offset_bytes: u64,
}

/// The setting of a file system that has one beside its device's: one without a device, such as NFS
/// and FUSE, one that FUSE serves from a device, and btrfs. The number is that of its files; the
/// device is the one that is mounted.
pub fn own_read_ahead(
    root: &SystemRoot,
    number: DeviceNumber,
    device: Option<&BlockDevice>,
) -> Option<ReadAhead> {
    let all = root.join("sys/class/bdi");
    let is_device = BlockDevice::find(root, number).is_some();
    let folders = [
        Some(all.join(format!("{number}-fuseblk"))),
        (!is_device).then(|| all.join(number.to_string())),
        device.and_then(|device| Some(device.btrfs_folder(root)?.join("bdi"))),
    ];
    let read = |folder: PathBuf| {
        let file = folder.join("read_ahead_kb");
        Some(ReadAhead { bytes: kernel_file::number(&file)? * 1024, setting: file.display().to_string() })
    };
    folders.into_iter().flatten().find_map(read)
}

/// How long a device or a partition had work so far, which the kernel counts in milliseconds.
pub fn busy_ns(name: &str) -> Result<u64, String> {
    let path = Path::new("/sys/class/block").join(name).join("stat");
    let text = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    busy_of(&text).ok_or_else(|| format!("{} has another form", path.display()))
}

/// The tenth number, by the kernel's `Documentation/block/stat.rst`.
fn busy_of(statistics: &str) -> Option<u64> {
    statistics.split_ascii_whitespace().nth(9)?.parse::<u64>().ok()?.checked_mul(1_000_000)
}

impl BlockDevice {
    pub fn find(root: &SystemRoot, number: DeviceNumber) -> Option<BlockDevice> {
        let folder = fs::canonicalize(root.join("sys/dev/block").join(number.to_string())).ok()?;
        Some(BlockDevice { folder })
    }

    /// The kernel's name, such as `nvme0n1p2`.
    pub fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub fn facts(&self) -> Device {
        let of_disk = |file: &str| line(self.disk_folder()?.join(file));
        Device {
            name: self.name(),
            model: of_disk("device/model"),
            rotational: of_disk("queue/rotational").map(|flag| flag == "1"),
            read_ahead_bytes: of_disk("queue/read_ahead_kb")
                .and_then(|kib| Some(kib.parse::<u64>().ok()? * 1024)),
            scheduler: of_disk("queue/scheduler").map(|all| selected(&all).to_owned()),
        }
    }

    pub fn composition(&self) -> Composition {
        if self.folder.join("partition").exists() {
            let disk = self.folder.parent().map(|folder| BlockDevice { folder: folder.to_owned() });
            return Composition::Partition { disk };
        }
        if let Some(it) = LoopDevice::read(&self.folder) {
            return Composition::Loop(it);
        }
        let parts = linked(&self.folder.join("slaves"));
        if let Some(by) = self.cached_by(&parts) {
            return Composition::Cached { by, parts };
        }
        if !parts.is_empty() {
            return Composition::Mapped(parts);
        }
        let name = self.name();
        match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "zram" | "ram" => return Composition::Memory,
            "nbd" | "rbd" | "rnbd" | "drbd" => return Composition::Remote { by: None },
            _ if name.starts_with("etherd!") => return Composition::Remote { by: None },
            _ => {}
        }
        match self.network() {
            Some(by) => Composition::Remote { by: Some(by) },
            None => Composition::Disk,
        }
    }

    /// What keeps a cache of its blocks on another device. Device mapper does not show the kind of
    /// a device in /sys; LVM names the parts of one with a cache by their roles.
    fn cached_by(&self, parts: &[BlockDevice]) -> Option<&'static str> {
        if self.folder.join("bcache").exists() && self.name().starts_with("bcache") {
            return Some("bcache");
        }
        let names: Vec<String> = parts.iter().filter_map(|part| line(part.folder.join("dm/name"))).collect();
        let roles = [("_wcorig", "dm-writecache"), ("_corig", "dm-cache")];
        let has = |role: &str| names.iter().any(|name| name.ends_with(role));
        roles.into_iter().find(|(role, _)| has(role)).map(|(_, by)| by)
    }

    /// The network over which its blocks come; `None` for a device of this machine.
    fn network(&self) -> Option<String> {
        let device = self.disk_folder()?.join("device");
        // The device of a disk with several paths is a subsystem, whose links are its controllers.
        let controllers = linked(&device).into_iter().map(|it| it.folder.join("transport"));
        let transport = [device.join("transport")].into_iter().chain(controllers).find_map(line);
        if let Some(transport) = transport {
            let is_near = ["pcie", "apple-nvme", "loop"].contains(&transport.as_str());
            return (!is_near).then(|| format!("NVMe over {transport}"));
        }
        // A SCSI disk is below what connects its host.
        let above = self.folder.components().map(|it| it.as_os_str().to_string_lossy());
        above.into_iter().find_map(|folder| {
            let is_numbered = |(name, _): &&(&str, &str)| {
                let number = folder.strip_prefix(name).unwrap_or_default();
                number.starts_with(|digit: char| digit.is_ascii_digit())
            };
            SCSI_NETWORKS.iter().find(is_numbered).map(|(_, by)| (*by).to_owned())
        })
    }

    pub fn btrfs_devices(&self, root: &SystemRoot) -> Vec<BlockDevice> {
        self.btrfs_folder(root).map(|folder| linked(&folder.join("devices"))).unwrap_or_default()
    }

    fn btrfs_folder(&self, root: &SystemRoot) -> Option<PathBuf> {
        let name = self.folder.file_name()?;
        let mut all = fs::read_dir(root.join("sys/fs/btrfs")).into_iter().flatten().flatten();
        all.find(|it| it.path().join("devices").join(name).exists()).map(|it| it.path())
    }

    /// The folder of the disk: a partition has no queue of its own.
    fn disk_folder(&self) -> Option<&Path> {
        if self.folder.join("queue").exists() { Some(&self.folder) } else { self.folder.parent() }
    }
}

impl LoopDevice {
    /// From a device's folder; `None` for a device that is no loop device, or has no file.
    fn read(folder: &Path) -> Option<LoopDevice> {
        let settings = folder.join("loop");
        let (backing_file, is_deleted) = backing_file(&settings.join("backing_file"))?;
        Some(LoopDevice {
            backing_file,
            is_deleted,
            is_direct_io: line(settings.join("dio")).as_deref() == Some("1"),
            size_bytes: number(folder.join("size")).unwrap_or(0) * SECTOR_BYTES,
            offset_bytes: number(settings.join("offset")).unwrap_or(0),
        })
    }

    /// Whether a file of this size is large enough to be the one behind the device.
    pub fn may_be_of(&self, file_bytes: u64) -> bool {
        file_bytes.saturating_sub(self.offset_bytes) / SECTOR_BYTES * SECTOR_BYTES >= self.size_bytes
    }
}

/// The path in `loop/backing_file`, whose name may end in a blank, and whether it was deleted.
fn backing_file(path: &Path) -> Option<(PathBuf, bool)> {
    let text = String::from_utf8_lossy(&fs::read(path).ok()?).trim_end_matches('\n').to_owned();
    if text.is_empty() {
        return None;
    }
    Some(match text.strip_suffix(" (deleted)") {
        Some(path) => (path.into(), true),
        None => (text.into(), false),
    })
}

/// The devices to which the links in a folder lead, in the order of their paths.
fn linked(folder: &Path) -> Vec<BlockDevice> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter_map(|entry| fs::canonicalize(entry.path()).ok());
    let mut found: Vec<BlockDevice> = folders.map(|folder| BlockDevice { folder }).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backing_file_may_be_deleted_or_have_a_strange_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backing_file");
        assert_eq!(backing_file(&path), None);
        for (text, expected) in [
            ("/a (deleted)\n", ("/a".into(), true)),
            ("a (deleted) b\n", ("a (deleted) b".into(), false)),
            ("/a \n", ("/a ".into(), false)),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(backing_file(&path), Some(expected));
        }
    }

    #[test]
    fn the_time_in_which_a_device_had_work_is_the_tenth_number() {
        let text = "   82 1 3840 35 10 2 96 8 0 44 43 0 0 0 0 0 0\n";
        assert_eq!((busy_of(text), busy_of("82 1 3840")), (Some(44_000_000), None));
        assert!(busy_ns("no-such-device").unwrap_err().contains("no-such-device"));
    }

    #[test]
    fn a_file_system_may_have_a_read_ahead_beside_that_of_its_device() {
        let folder = tempfile::tempdir().unwrap();
        let sys = folder.path().join("sys");
        let set = |place: &str, kib: &str| {
            let place = sys.join(place);
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("read_ahead_kb"), format!("{kib}\n")).unwrap();
        };
        let device = sys.join("devices/loop0");
        fs::create_dir_all(sys.join("dev/block")).unwrap();
        fs::create_dir_all(&device).unwrap();
        std::os::unix::fs::symlink(&device, sys.join("dev/block/7:0")).unwrap();
        let root = SystemRoot::below(folder.path());
        let number_of = |words: &str| {
            let (major, minor) = words.split_once(':').unwrap();
            DeviceNumber(rustix::fs::makedev(major.parse().unwrap(), minor.parse().unwrap()))
        };
        let found = |number: &str, device: Option<&BlockDevice>| {
            let number = number_of(number);
            own_read_ahead(&root, number, device).map(|setting| setting.bytes / 1024)
        };
        let loop0 = BlockDevice::find(&root, number_of("7:0"));
        let loop0 = loop0.as_ref();
        set("class/bdi/7:0", "128");
        set("class/bdi/0:45", "16");
        assert_eq!(found("7:0", loop0), None, "it is that of the device");
        assert_eq!(found("0:45", None), Some(16), "NFS, FUSE");
        assert_eq!(found("0:46", loop0), None);
        fs::create_dir_all(sys.join("fs/btrfs/1c2d/devices/loop0")).unwrap();
        set("fs/btrfs/1c2d/bdi", "32");
        assert_eq!(found("0:46", loop0), Some(32), "btrfs");
        set("class/bdi/7:0-fuseblk", "64");
        assert_eq!(found("7:0", loop0), Some(64), "FUSE on a device");
    }

    #[test]
    fn a_loop_device_shows_whole_sectors_of_its_file() {
        let (backing_file, is_deleted, is_direct_io) = (PathBuf::new(), false, false);
        let it = LoopDevice { backing_file, is_deleted, is_direct_io, size_bytes: 1024, offset_bytes: 100 };
        assert!(it.may_be_of(1124) && it.may_be_of(5000));
        assert!(!it.may_be_of(1123) && !it.may_be_of(0));
    }
}
