//! Tests that a file of an overlay, as containers use them, is read like a file of the lower file
//! system: past the page cache if the lower one can, else through it. Needs root to mount.
//! Otherwise it is skipped with a message.

use crate::every_byte::content;
use readlab_auto::{Auto, Strategy};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const FILE_BYTES: usize = 9 << 20;

/// An overlay over a folder of another file system, unmounted when dropped.
struct Overlay {
    parts: tempfile::TempDir,
}

impl Overlay {
    /// Mounts an overlay on top of a folder, or returns the reason why it cannot.
    fn over(folder: &Path) -> Result<Overlay, String> {
        let parts = tempfile::tempdir_in(folder).map_err(|cause| cause.to_string())?;
        let part = |name: &str| parts.path().join(name);
        ["lower", "upper", "work", "merged"].iter().try_for_each(|name| fs::create_dir(part(name))).unwrap();
        fs::write(part("lower").join("file"), content(FILE_BYTES)).unwrap();
        let [lower, upper, work] = ["lower", "upper", "work"].map(|name| part(name).display().to_string());
        let layers = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "overlay", "overlay", "-o", &layers]).arg(part("merged"));
        let output = mount.output().map_err(|cause| cause.to_string())?;
        let said = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
        if output.status.success() { Ok(Overlay { parts }) } else { Err(said()) }
    }

    fn file(&self) -> PathBuf {
        self.parts.path().join("merged/file")
    }

    /// The strategies for an uncached file, opened in the lower file system and in the overlay.
    fn strategies_cold(&self) -> [Strategy; 2] {
        let lower = self.parts.path().join("lower/file");
        let file = File::open(&lower).unwrap();
        file.sync_all().unwrap();
        [lower, self.file()].map(|path| {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
            Auto::open(path).unwrap().strategy().unwrap()
        })
    }
}

impl Drop for Overlay {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.parts.path().join("merged")).status();
    }
}

#[test]
fn a_cold_file_of_an_overlay_is_read_as_the_file_system_underneath_allows() {
    for folder in [env!("CARGO_TARGET_TMPDIR"), "/dev/shm"] {
        let overlay = match Overlay::over(Path::new(folder)) {
            Ok(overlay) => overlay,
            Err(why) => {
                eprintln!("SKIPPED: an overlay over {folder}: {why}");
                continue;
            }
        };
        let [underneath, on_top] = overlay.strategies_cold();
        assert_eq!(on_top, underneath, "{folder}");
        fs::read(overlay.file()).unwrap();
        let cached = Auto::open(overlay.file()).unwrap().strategy().unwrap();
        assert_eq!(cached, Strategy::Copied, "{folder}: all of it is cached");
        let mut bytes = Vec::new();
        Auto::open(overlay.file()).unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes == content(FILE_BYTES), "{folder}: other bytes");
    }
}
