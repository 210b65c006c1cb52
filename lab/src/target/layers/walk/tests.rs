//! Tests of the walk over scripted /proc and /sys: each kind of layer below a file.

use super::*;
use crate::target::layers::{LayerCache, cold_above};
use std::path::PathBuf;

const IMAGE_BYTES: u64 = 8192;

/// Folders with the files of /proc and /sys, and a file whose device they describe.
struct ScriptedKernel {
    folder: tempfile::TempDir,
    image: PathBuf,
}

impl ScriptedKernel {
    fn new() -> Option<ScriptedKernel> {
        let program = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
        let image = folder.path().join("image");
        fs::write(&image, vec![b'x'; usize::try_from(IMAGE_BYTES).unwrap()]).unwrap();
        if Filesystem::of(&File::open(&image).unwrap()).unwrap().backing != Backing::Device {
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

    /// Makes `name` the device of the image.
    fn on(&self, name: &str) {
        let devices = self.folder.path().join("sys/dev/block");
        fs::create_dir_all(&devices).unwrap();
        self.write(&format!("sys/block/{name}/size"), (IMAGE_BYTES / 512).to_string());
        let image = FileStatus::from(&fs::metadata(&self.image).unwrap());
        let number = image.device.to_string();
        std::os::unix::fs::symlink(self.folder.path().join("sys/block").join(name), devices.join(number))
            .unwrap();
    }

    fn chain(&self) -> Chain {
        Chain::of(&SystemRoot::below(self.folder.path()), &self.image, &File::open(&self.image).unwrap())
    }

    fn names(&self) -> Vec<String> {
        self.chain().layers.into_iter().skip(1).map(|layer| layer.name).collect()
    }
}

#[test]
fn a_loop_device_is_followed_to_its_file_and_ends_where_it_was() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.on("loop0");
    it.write("sys/block/loop0/loop/backing_file", format!("{}\n", it.image.display()));
    it.write("sys/block/loop0/loop/dio", "0\n");
    let chain = it.chain();
    assert_eq!(chain.evictable, std::slice::from_ref(&it.image));
    assert_eq!(
        (chain.layers[2].name.as_str(), &chain.layers[2].cache),
        (it.image.to_str().unwrap(), &Some(LayerCache::Evicted))
    );
    assert_eq!(cold_above(&chain.layers), None);
    // The device is on a file of the device here; the walk ends nevertheless.
    assert!(chain.layers.len() < 6, "{chain:?}");
}

#[test]
fn direct_io_does_not_use_the_cache_of_the_file() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.on("loop0");
    it.write("sys/block/loop0/loop/backing_file", it.image.to_str().unwrap());
    it.write("sys/block/loop0/loop/dio", "1\n");
    let chain = it.chain();
    assert!(chain.evictable.is_empty() && cold_above(&chain.layers).is_none(), "{chain:?}");
    it.write("sys/block/loop0/loop/backing_file", "/nowhere/at all");
    assert_eq!(cold_above(&it.chain().layers), None);
}

#[test]
fn a_file_that_cannot_be_evicted_is_named_with_its_reason() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.on("loop7");
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
    it.on("dm-0");
    let slaves = it.folder.path().join("sys/block/dm-0/slaves");
    fs::create_dir_all(&slaves).unwrap();
    it.write("sys/block/sda/sda2/partition", "2\n");
    it.write("sys/block/sdb/size", "16\n");
    for (name, disk) in [("a", "sda/sda2"), ("b", "sdb")] {
        std::os::unix::fs::symlink(it.folder.path().join("sys/block").join(disk), slaves.join(name)).unwrap();
    }
    assert_eq!(it.names(), ["dm-0", "sda2", "sda", "sdb"]);
    assert_eq!(cold_above(&it.chain().layers), None);
}

#[test]
fn devices_of_memory_and_of_other_machines_are_caches() {
    for (name, what) in
        [("zram0", "memory (zram0)"), ("ram1", "memory (ram1)"), ("nbd2", "the cache of the server of nbd2")]
    {
        let Some(it) = ScriptedKernel::new() else { return };
        it.on(name);
        assert_eq!(cold_above(&it.chain().layers).as_deref(), Some(what));
    }
    let Some(it) = ScriptedKernel::new() else { return };
    it.on("nvme0n1");
    assert_eq!((it.names(), cold_above(&it.chain().layers)), (vec!["nvme0n1".to_owned()], None));
}

#[test]
fn all_devices_of_a_btrfs_are_followed() {
    let Some(it) = ScriptedKernel::new() else { return };
    it.on("sda");
    it.write("sys/block/zram0/size", "16\n");
    let devices = it.folder.path().join("sys/fs/btrfs/a-uuid/devices");
    fs::create_dir_all(&devices).unwrap();
    for name in ["sda", "zram0"] {
        std::os::unix::fs::symlink(it.folder.path().join("sys/block").join(name), devices.join(name))
            .unwrap();
    }
    assert_eq!(it.names(), ["sda", "zram0"]);
}

#[test]
fn a_device_that_is_not_visible_ends_the_chain() {
    let Some(it) = ScriptedKernel::new() else { return };
    let chain = it.chain();
    assert_eq!((chain.layers.len(), chain.evictable.len()), (1, 0), "{chain:?}");
}
