//! Tests of the walk over a simulated /proc and /sys, one for each kind of layer below a file.

use super::*;
use crate::target::tests::folder_on_device;
use readlab_model::target::layers::{LayerCache, cautions, unevictable_cache_names};
use std::os::unix::fs::symlink;

const IMAGE_BYTES: u64 = 8192;

/// A folder with simulated files of /proc and /sys, and a file whose device they describe.
struct ScriptedKernel {
    folder: tempfile::TempDir,
    image: PathBuf,
}

impl ScriptedKernel {
    fn new() -> Option<ScriptedKernel> {
        let folder = folder_on_device();
        let image = folder.path().join("image");
        fs::write(&image, vec![b'x'; usize::try_from(IMAGE_BYTES).unwrap()]).unwrap();
        if Filesystem::read(&File::open(&image).unwrap()).unwrap().backing != Backing::Device {
            eprintln!("SKIPPED: the build folder is on a file system without a device of its own");
            return None;
        }
        Some(ScriptedKernel { folder, image })
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Creates a symbolic link to another path in this folder.
    fn link(&self, from: &str, to: &str) {
        let link = self.folder.path().join(from);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(self.folder.path().join(to), link).unwrap();
    }

    /// Makes the device `name` the device of the image.
    fn set_device(&self, name: &str) {
        self.set_device_folder(&format!("sys/block/{name}"));
    }

    /// Makes the device with this folder in /sys the device of the image.
    fn set_device_folder(&self, folder: &str) {
        self.write(&format!("{folder}/size"), (IMAGE_BYTES / 512).to_string());
        let image = FileStatus::from(&fs::metadata(&self.image).unwrap());
        self.link(&format!("sys/dev/block/{}", image.device), folder);
    }

    /// Makes a device that consists of these other devices.
    fn set_parts(&self, name: &str, parts: &[&str]) {
        for part in parts {
            self.write(&format!("sys/block/{part}/size"), "16\n");
            self.link(&format!("sys/block/{name}/slaves/{part}"), &format!("sys/block/{part}"));
        }
    }

    fn chain(&self) -> LayerChain {
        LayerChain::walk(
            &SystemRoot::below(self.folder.path()),
            &self.image,
            &File::open(&self.image).unwrap(),
        )
    }

    fn names_below_filesystem(&self) -> Vec<String> {
        self.chain().layers.into_iter().skip(1).map(|layer| layer.name).collect()
    }
}

#[test]
fn a_loop_device_is_followed_to_its_file_and_a_cycle_ends_the_walk() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("loop0");
    it.write("sys/block/loop0/loop/backing_file", format!("{}\n", it.image.display()));
    it.write("sys/block/loop0/loop/dio", "0\n");
    let chain = it.chain();
    assert_eq!(chain.evictable, std::slice::from_ref(&it.image));
    assert_eq!(chain.layers[2], Layer::new(LayerKind::File, it.image.to_str().unwrap()).with_evicted_cache());
    assert_eq!(unevictable_cache_names(&chain.layers), None);
    // The device is backed by a file on the same device; the walk must end nevertheless.
    assert!(chain.layers.len() < 6, "{chain:?}");
}

#[test]
fn the_device_of_a_file_in_an_image_is_the_loop_device_with_its_read_ahead() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("loop0");
    it.write("sys/block/loop0/loop/backing_file", format!("{}\n", it.image.display()));
    it.write("sys/block/loop0/queue/read_ahead_kb", "16\n");
    let DeviceFacts { device, own_read_ahead } = it.chain().device_facts.unwrap();
    let device = device.unwrap();
    assert_eq!((device.name.as_str(), device.read_ahead_bytes), ("loop0", Some(16 << 10)));
    assert_eq!(own_read_ahead, None);
}

#[test]
fn inode_numbers_distinguish_no_layers_outside_of_an_overlay() {
    let Some(it) = ScriptedKernel::new() else { return };
    let file = File::open(&it.image).unwrap();
    let status = FileStatus::read(&file).unwrap();
    let own = Filesystem::read(&file).unwrap().backing;
    let group_in =
        |backing, inode| LayerGroup::of_file(&file, &FileStatus { inode, ..status }, Some(backing));
    assert_eq!(group_in(own, 1), group_in(own, u64::MAX));
    assert_ne!(group_in(Backing::Stacked, 1), group_in(Backing::Stacked, u64::MAX));
}

#[test]
fn layers_of_several_files_are_there_once() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("loop0");
    it.write("sys/block/loop0/loop/backing_file", it.image.to_str().unwrap());
    it.write("other", "another file on the same device");
    let paths = [it.image.clone(), it.folder.path().join("other"), it.folder.path().join("gone")];
    let of_all = LayerChain::walk_all(&SystemRoot::below(it.folder.path()), &paths);
    let of_one = it.chain();
    assert_eq!(of_all.evictable, of_one.evictable);
    assert_eq!(of_all.device_facts, of_one.device_facts);
    // The image is on the device that it is behind, so that the walk finds the file system twice.
    assert_eq!(of_all.layers, of_one.layers[..3]);
    assert_eq!(of_one.layers[3..], of_one.layers[..1]);
}

#[test]
fn direct_io_does_not_use_the_cache_of_the_file() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("loop0");
    it.write("sys/block/loop0/loop/backing_file", it.image.to_str().unwrap());
    it.write("sys/block/loop0/loop/dio", "1\n");
    let chain = it.chain();
    assert!(chain.evictable.is_empty() && unevictable_cache_names(&chain.layers).is_none(), "{chain:?}");
    it.write("sys/block/loop0/loop/backing_file", "/nowhere/at all");
    assert_eq!(unevictable_cache_names(&it.chain().layers), None);
}

#[test]
fn a_file_that_cannot_be_evicted_is_named_with_its_reason() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("loop7");
    let small = it.folder.path().join("small");
    fs::write(&small, "x").unwrap();
    let cases = [
        ("/nowhere/at all".to_owned(), "it is not visible from here"),
        (format!("{} (deleted)", it.image.display()), "it was deleted"),
        (small.display().to_string(), "the file of this name is smaller than loop7"),
    ];
    for (backing, expected) in cases {
        it.write("sys/block/loop7/loop/backing_file", &backing);
        let layers = it.chain().layers;
        let Some(LayerCache::Remains { what, why }) = &layers[2].cache else { panic!("{layers:?}") };
        assert_eq!(why, expected);
        let path = backing.trim_end_matches(" (deleted)");
        assert_eq!(what, &format!("the page cache of {path} (loop7, no direct I/O)"));
    }
}

#[test]
fn partitions_and_mapped_devices_are_followed_to_disks() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("dm-0");
    it.write("sys/block/sda/sda2/partition", "2\n");
    it.write("sys/block/sdb/size", "16\n");
    it.link("sys/block/dm-0/slaves/a", "sys/block/sda/sda2");
    it.link("sys/block/dm-0/slaves/b", "sys/block/sdb");
    assert_eq!(it.names_below_filesystem(), ["dm-0", "sda2", "sda", "sdb"]);
    assert_eq!(unevictable_cache_names(&it.chain().layers), None);
}

#[test]
fn devices_in_memory_of_programs_or_on_other_machines_have_caches_that_stay() {
    for (name, what) in [
        ("zram0", "memory (zram0)"),
        ("ram1", "memory (ram1)"),
        ("nullb0", "memory (nullb0)"),
        ("sdc", "memory (sdc)"),
        ("ublkb0", "the cache of the program that serves ublkb0"),
        ("nbd2", "the cache of the server of nbd2"),
        ("zd16", "the cache of zd16 (ZFS)"),
    ] {
        let Some(it) = ScriptedKernel::new() else { return };
        it.set_device(name);
        it.write("sys/block/sdc/queue/rotational", "0\n");
        it.write("sys/block/sdc/device/model", "scsi_debug      \n");
        assert_eq!(unevictable_cache_names(&it.chain().layers).as_deref(), Some(what));
    }
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("nvme0n1");
    assert_eq!(
        (it.names_below_filesystem(), unevictable_cache_names(&it.chain().layers)),
        (vec!["nvme0n1".to_owned()], None)
    );
}

#[test]
fn a_partition_of_a_volume_of_zfs_is_above_the_cache_of_zfs() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.write("sys/block/zd0/zd0p1/partition", "1\n");
    it.set_device_folder("sys/block/zd0/zd0p1");
    assert_eq!(it.names_below_filesystem(), ["zd0p1", "zd0 (ZFS)"]);
    let cautions = cautions(&it.chain().layers);
    let said = "the cache of zd0 (ZFS), which is not evicted (it is beside the page cache)";
    assert!(cautions[0].contains(said), "{cautions:?}");
}

#[test]
fn a_disk_that_is_connected_over_a_network_is_a_remote_device() {
    let transport = |text: &str| -> (Vec<String>, Option<String>) {
        let Some(it) = ScriptedKernel::new() else { return Default::default() };
        it.set_device("nvme1n1");
        it.write("sys/block/nvme1n1/queue/rotational", "0\n");
        it.write("sys/block/nvme1n1/device/transport", text);
        (it.names_below_filesystem(), unevictable_cache_names(&it.chain().layers))
    };
    if ScriptedKernel::new().is_none() {
        return;
    }
    for (text, name) in [("tcp\n", "nvme1n1 (NVMe over tcp)"), ("rdma\n", "nvme1n1 (NVMe over rdma)")] {
        let remains = Some(format!("the cache of the server of {name}"));
        assert_eq!(transport(text), (vec![name.to_owned()], remains));
    }
    assert_eq!(transport("pcie\n"), (vec!["nvme1n1".to_owned()], None));
}

#[test]
fn a_multipath_disk_has_the_network_of_its_controllers() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("nvme0n1");
    it.write("sys/block/nvme0n1/queue/rotational", "0\n");
    it.write("sys/class/nvme/nvme3/transport", "fc\n");
    it.link("sys/block/nvme0n1/device/nvme3", "sys/class/nvme/nvme3");
    assert_eq!(it.names_below_filesystem(), ["nvme0n1 (NVMe over fc)"]);
}

#[test]
fn a_scsi_disk_has_the_network_of_its_host() {
    for (above, name) in [
        ("platform/host2/session1/target2:0:0/2:0:0:0", "sdb (iSCSI)"),
        ("pci0000:00/host3/rport-3:0-1/target3:0:1/3:0:1:0", "sdb (Fibre Channel or SRP)"),
        ("pci0000:00/ata1/host0/target0:0:0/0:0:0:0", "sdb"),
    ] {
        let Some(it) = ScriptedKernel::new() else { return };
        it.write(&format!("sys/devices/{above}/block/sdb/queue/rotational"), "0\n");
        it.set_device_folder(&format!("sys/devices/{above}/block/sdb"));
        assert_eq!(it.names_below_filesystem(), [name]);
    }
}

#[test]
fn a_cached_device_is_followed_to_both_its_devices_and_keeps_a_cache() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("bcache0");
    it.write("sys/block/bcache0/bcache/cache_mode", "writethrough\n");
    it.set_parts("bcache0", &["sdb"]);
    assert_eq!(it.names_below_filesystem(), ["bcache0 (bcache)", "sdb"]);
    assert_eq!(unevictable_cache_names(&it.chain().layers).as_deref(), Some("the cache of bcache0 (bcache)"));
    for (names, by) in [
        (["vg-home_corig", "vg-fast_cpool_cdata"], "dm-cache"),
        (["vg-home_wcorig", "vg-fast_cvol"], "dm-writecache"),
    ] {
        let Some(it) = ScriptedKernel::new() else { return };
        it.set_device("dm-3");
        it.set_parts("dm-3", &["dm-1", "dm-2"]);
        for (part, name) in ["dm-1", "dm-2"].into_iter().zip(names) {
            it.write(&format!("sys/block/{part}/dm/name"), name);
        }
        assert_eq!(it.names_below_filesystem(), [&format!("dm-3 ({by})"), "dm-1", "dm-2"]);
        assert_eq!(unevictable_cache_names(&it.chain().layers), Some(format!("the cache of dm-3 ({by})")));
    }
}

#[test]
fn a_mapped_device_of_several_devices_may_be_a_cache_unless_its_maker_is_known() {
    let cold_above_of = |uuid: &str, parts: &[&str]| {
        let it = ScriptedKernel::new()?;
        it.set_device("dm-3");
        it.set_parts("dm-3", parts);
        it.write("sys/block/dm-3/dm/name", "anything\n");
        it.write("sys/block/dm-3/dm/uuid", format!("{uuid}\n"));
        let expected = [&["dm-3"][..], parts].concat();
        assert_eq!(it.names_below_filesystem(), expected, "all devices are followed");
        Some((unevictable_cache_names(&it.chain().layers), cautions(&it.chain().layers)))
    };
    let Some((above, said)) = cold_above_of("", &["sda", "sdb", "sdc"]) else { return };
    assert_eq!(above.as_deref(), Some("the cache of dm-3, if it is one"));
    assert!(said[0].contains("(the kernel does not show what it makes of its 3 devices)"), "{said:?}");
    let (above, _) = cold_above_of("of-my-own", &["sda", "sdb"]).unwrap();
    assert!(above.is_some(), "a prefix that nobody is known to use");
    for uuid in ["LVM-x", "CRYPT-VERITY-x", "mpath-x", "DMRAID-x"] {
        assert_eq!(cold_above_of(uuid, &["sda", "sdb"]), Some((None, vec![])), "{uuid}");
    }
    // A cache has its bytes on one device and its origin on another.
    assert_eq!(cold_above_of("", &["sda"]), Some((None, vec![])));
}

#[test]
fn all_devices_of_a_btrfs_are_followed() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.set_device("sda");
    it.write("sys/block/zram0/size", "16\n");
    for name in ["sda", "zram0"] {
        it.link(&format!("sys/fs/btrfs/a-uuid/devices/{name}"), &format!("sys/block/{name}"));
    }
    assert_eq!(it.names_below_filesystem(), ["sda", "zram0"]);
}

#[test]
fn a_device_that_is_not_visible_ends_the_chain() {
    let Some(it) = ScriptedKernel::new() else { return };
    let chain = it.chain();
    assert_eq!((chain.layers.len(), chain.evictable.len()), (1, 0), "{chain:?}");
}

#[test]
fn a_file_that_is_mounted_without_a_loop_device_is_evicted_too() {
    let Some(it) = ScriptedKernel::new() else { return };
    let mounted = |source: &Path, options: &str| {
        let source = source.display();
        it.write("proc/self/mountinfo", format!("27 1 0:99 / / ro - erofs {source} ro,{options}\n"));
        it.chain()
    };
    let source = it.folder.path().join("source");
    fs::write(&source, "an image").unwrap();
    let chain = mounted(&source, "user_xattr");
    assert_eq!(chain.evictable[0], source, "{chain:?}");
    assert_eq!(unevictable_cache_names(&chain.layers), None);
    let direct = mounted(&source, "directio");
    assert!(!direct.evictable.contains(&source), "its pages are not used: {direct:?}");
    let relative = mounted(Path::new("an/image"), "user_xattr");
    let Some(LayerCache::Remains { what, why }) = &relative.layers[1].cache else { panic!("{relative:?}") };
    assert_eq!(what, "the page cache of an/image, which is mounted as erofs");
    assert_eq!(why, "its whole path is not visible from here");
}
