//! A tree on a device that answers each read late, however many are in flight: one who reads file
//! after file waits most of the time. Needs root. It is removed when dropped.

use crate::paced_device::PacedDevice;
use crate::paced_file::DeviceUse;
use crate::places::{run, unmount};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Late enough that waiting is most of the time on any machine.
const DELAY: Duration = Duration::from_millis(1);

/// The tree, mounted.
#[derive(Debug)]
pub(crate) struct LateTree {
    folder: PathBuf,
    image: PathBuf,
    is_mounted: bool,
    device: Option<PacedDevice>,
}

impl LateTree {
    /// Copies a tree to a file system of its own, beside others.
    pub(crate) fn make(beside: &Path, tree: &Path) -> anyhow::Result<LateTree> {
        let (folder, image) = (beside.join("late"), beside.join("late.img"));
        fs::create_dir_all(&folder)?;
        let mut made = LateTree { folder, image, is_mounted: false, device: None };
        fs::File::create(&made.image)?.set_len(1 << 30)?;
        let tree = tree.to_string_lossy();
        run("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", "-d", &tree], &[&made.image])?;
        let device = made.device.insert(PacedDevice::make(beside, &made.image, DeviceUse::After(DELAY))?);
        run("mount", &["-t", "ext4", "-o", "ro"], &[device.path(), &made.folder])?;
        made.is_mounted = true;
        Ok(made)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for LateTree {
    fn drop(&mut self) {
        let unmounted = match self.is_mounted {
            true => unmount(&self.folder),
            false => fs::remove_dir(&self.folder).map_err(anyhow::Error::from),
        };
        self.device = None;
        let gone = unmounted.and_then(|()| Ok(fs::remove_file(&self.image)?));
        if let Err(error) = gone {
            eprintln!("{}: left behind: {error:#}", self.folder.display());
        }
    }
}
