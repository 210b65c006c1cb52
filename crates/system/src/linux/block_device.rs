//! Block devices, from /sys: their facts, and the devices or files that they consist of.

use super::file_status::DeviceNumber;
use super::kernel_file::{self, read_line, read_number, selected_word};
use super::system_root::SystemRoot;
use readlab_model::target::device::{Device, ReadAhead};
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of a sector. /sys counts in sectors of this size, whatever the block size of a device.
const SECTOR_BYTES: u64 = 512;

/// Name prefixes of folders in /sys above a SCSI disk that is connected over a network, each with
/// the name of the network protocol.
const SCSI_NETWORKS: [(&str, &str); 2] = [("session", "iSCSI"), ("rport-", "Fibre Channel or SRP")];

/// Prefixes of the UUIDs of device-mapper devices, by which their makers are known. LVM names the
/// parts of its caches by their roles; the other makers build no cache.
const KNOWN_MAKER_PREFIXES: [&str; 4] = ["LVM-", "CRYPT-", "mpath-", "DMRAID-"];

/// A block device or a partition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockDevice {
    folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Composition {
    Partition {
        disk: Option<BlockDevice>,
    },
    Loop(LoopDevice),
    /// The block devices that a device of the device mapper or a RAID consists of.
    Mapped(Vec<BlockDevice>),
    Memory,
    Remote {
        /// The network protocol of the blocks, such as `NVMe over tcp`; `None` if the device's name
        /// already says the protocol.
        protocol: Option<String>,
    },
    /// A program of this machine that answers each request (ublk).
    Program,
    Cached {
        /// The software that keeps the cache, such as `bcache`.
        software: &'static str,
        parts: Vec<BlockDevice>,
    },
    /// A volume of a file system that keeps its blocks in a cache of its own beside the page cache.
    OwnCache {
        /// The file system, such as `ZFS`.
        filesystem: &'static str,
    },
    /// Several devices under the device mapper, one of which may cache another: /sys does not show
    /// what the mapper makes of them.
    MayBeCached(Vec<BlockDevice>),
    /// A device for which the kernel shows no other device or file that holds its blocks.
    Disk,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopDevice {
    pub backing_file: PathBuf,
    pub is_deleted: bool,
    /// True if the device reads the file past the page cache.
    pub is_direct_io: bool,
    /// Size of the device, which may be less than the rest of the file.
    size_bytes: u64,
    /// Offset in the file at which the device begins.
    offset_bytes: u64,
}

/// The read-ahead setting of a file system that does not use its device's setting: a file system
/// without a device (NFS, FUSE), FUSE served from a device, and btrfs. `number` is the device
/// number of its files; `device` is the mounted device.
pub fn filesystem_read_ahead(
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
        Some(ReadAhead {
            bytes: kernel_file::read_number(&file)? * 1024,
            setting_path: file.display().to_string(),
        })
    };
    folders.into_iter().flatten().find_map(read)
}

/// Time for which a device or a partition has been busy. The kernel counts it in milliseconds.
pub fn busy_ns(name: &str) -> Result<u64, String> {
    let path = Path::new("/sys/class/block").join(name).join("stat");
    let text = fs::read_to_string(&path).map_err(|cause| format!("{}: {cause}", path.display()))?;
    parse_busy_ns(&text).ok_or_else(|| format!("{} has another form", path.display()))
}

/// Parses the tenth number of a device's file `stat`, which counts milliseconds (the kernel's
/// `Documentation/block/stat.rst`).
fn parse_busy_ns(statistics: &str) -> Option<u64> {
    statistics.split_ascii_whitespace().nth(9)?.parse::<u64>().ok()?.checked_mul(1_000_000)
}

impl BlockDevice {
    pub fn find(root: &SystemRoot, number: DeviceNumber) -> Option<BlockDevice> {
        let folder = fs::canonicalize(root.join("sys/dev/block").join(number.to_string())).ok()?;
        Some(BlockDevice { folder })
    }

    /// The device of this name, such as `nvme0n1p2`.
    pub(super) fn with_name(root: &SystemRoot, name: &str) -> Option<BlockDevice> {
        let folder = fs::canonicalize(root.join("sys/class/block").join(name)).ok()?;
        Some(BlockDevice { folder })
    }

    /// The file of this name in the folder of the device's queue; `None` if the device does not
    /// have the file.
    pub(super) fn queue_file(&self, name: &str) -> Option<PathBuf> {
        let file = self.disk_folder()?.join("queue").join(name);
        file.exists().then_some(file)
    }

    /// The kernel's name of the device, such as `nvme0n1p2`.
    pub fn name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    pub fn facts(&self) -> Device {
        let of_disk = |file: &str| read_line(self.disk_folder()?.join(file));
        Device {
            name: self.name(),
            model: of_disk("device/model"),
            is_rotational: of_disk("queue/rotational").map(|flag| flag == "1"),
            read_ahead_bytes: of_disk("queue/read_ahead_kb")
                .and_then(|kib| Some(kib.parse::<u64>().ok()? * 1024)),
            scheduler: of_disk("queue/scheduler").map(|all| selected_word(&all).to_owned()),
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
        let parts = linked_devices(&self.folder.join("slaves"));
        if let Some(by) = self.caching_software(&parts) {
            return Composition::Cached { software: by, parts };
        }
        if parts.len() > 1 && self.has_unknown_target() {
            return Composition::MayBeCached(parts);
        }
        if !parts.is_empty() {
            return Composition::Mapped(parts);
        }
        let name = self.name();
        match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "zram" | "ram" | "nullb" => return Composition::Memory,
            "ublkb" => return Composition::Program,
            "zd" => return Composition::OwnCache { filesystem: "ZFS" },
            _ if self.is_scsi_debug() => return Composition::Memory,
            "nbd" | "rbd" | "rnbd" | "drbd" => return Composition::Remote { protocol: None },
            _ if name.starts_with("etherd!") => return Composition::Remote { protocol: None },
            _ => {}
        }
        match self.network_protocol() {
            Some(by) => Composition::Remote { protocol: Some(by) },
            None => Composition::Disk,
        }
    }

    /// The software that caches this device's blocks on another device. /sys does not show the
    /// target type of a device-mapper device, but LVM names the parts of a cached volume by their
    /// roles.
    fn caching_software(&self, parts: &[BlockDevice]) -> Option<&'static str> {
        if self.folder.join("bcache").exists() && self.name().starts_with("bcache") {
            return Some("bcache");
        }
        let names: Vec<String> =
            parts.iter().filter_map(|part| read_line(part.folder.join("dm/name"))).collect();
        let roles = [("_wcorig", "dm-writecache"), ("_corig", "dm-cache")];
        let has = |role: &str| names.iter().any(|name| name.ends_with(role));
        roles.into_iter().find(|(role, _)| has(role)).map(|(_, by)| by)
    }

    /// True for a device-mapper device whose maker is unknown, such as one made with `dmsetup`. Its
    /// target may be of any type.
    fn has_unknown_target(&self) -> bool {
        let mapper = self.folder.join("dm");
        let uuid = read_line(mapper.join("uuid")).unwrap_or_default();
        mapper.exists() && !KNOWN_MAKER_PREFIXES.iter().any(|maker| uuid.starts_with(maker))
    }

    /// True for a disk that the kernel simulates in memory.
    fn is_scsi_debug(&self) -> bool {
        let model = self.disk_folder().and_then(|folder| read_line(folder.join("device/model")));
        model.is_some_and(|model| model.trim() == "scsi_debug")
    }

    /// The network protocol that carries the device's blocks; `None` for a local device.
    fn network_protocol(&self) -> Option<String> {
        let device = self.disk_folder()?.join("device");
        // For NVMe multipath, the device of a disk is a subsystem with links to its controllers.
        let controllers = linked_devices(&device).into_iter().map(|it| it.folder.join("transport"));
        let transport = [device.join("transport")].into_iter().chain(controllers).find_map(read_line);
        if let Some(transport) = transport {
            let is_near = ["pcie", "apple-nvme", "loop"].contains(&transport.as_str());
            return (!is_near).then(|| format!("NVMe over {transport}"));
        }
        // The path of a SCSI disk in /sys has a folder for the network session of its host.
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
        self.btrfs_folder(root).map(|folder| linked_devices(&folder.join("devices"))).unwrap_or_default()
    }

    fn btrfs_folder(&self, root: &SystemRoot) -> Option<PathBuf> {
        let name = self.folder.file_name()?;
        let mut all = fs::read_dir(root.join("sys/fs/btrfs")).into_iter().flatten().flatten();
        all.find(|it| it.path().join("devices").join(name).exists()).map(|it| it.path())
    }

    /// The folder of the whole disk, because a partition has no queue of its own.
    fn disk_folder(&self) -> Option<&Path> {
        if self.folder.join("queue").exists() { Some(&self.folder) } else { self.folder.parent() }
    }
}

impl LoopDevice {
    /// Reads the settings from a device's folder; `None` for a device that is no loop device, or
    /// has no file.
    fn read(folder: &Path) -> Option<LoopDevice> {
        let settings = folder.join("loop");
        let (backing_file, is_deleted) = backing_file(&settings.join("backing_file"))?;
        Some(LoopDevice {
            backing_file,
            is_deleted,
            is_direct_io: read_line(settings.join("dio")).as_deref() == Some("1"),
            size_bytes: read_number(folder.join("size")).unwrap_or(0) * SECTOR_BYTES,
            offset_bytes: read_number(settings.join("offset")).unwrap_or(0),
        })
    }

    /// True if a file of this size is large enough to back the device.
    pub fn can_be_backed_by(&self, file_bytes: u64) -> bool {
        file_bytes.saturating_sub(self.offset_bytes) / SECTOR_BYTES * SECTOR_BYTES >= self.size_bytes
    }
}

/// The path in `loop/backing_file`, which may end in a space, and whether the file was deleted.
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

fn linked_devices(folder: &Path) -> Vec<BlockDevice> {
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
    fn the_busy_time_of_a_device_is_the_tenth_number_of_its_statistics() {
        let text = "   82 1 3840 35 10 2 96 8 0 44 43 0 0 0 0 0 0\n";
        assert_eq!((parse_busy_ns(text), parse_busy_ns("82 1 3840")), (Some(44_000_000), None));
        assert!(busy_ns("no-such-device").unwrap_err().contains("no-such-device"));
    }

    #[test]
    fn a_file_system_may_have_a_read_ahead_setting_of_its_own() {
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
            filesystem_read_ahead(&root, number, device).map(|setting| setting.bytes / 1024)
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
        assert!(it.can_be_backed_by(1124) && it.can_be_backed_by(5000));
        assert!(!it.can_be_backed_by(1123) && !it.can_be_backed_by(0));
    }
}
