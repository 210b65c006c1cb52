//! A test that a sweep's timed reading of a file is the first reading, for a cache below the file
//! system too. The cache is simulated by a loop device over a file that stays in memory, like the
//! memory of a drive.

use super::layers::{Image, LARGE_BYTES};
use crate::home::{Home, paths_in};
use crate::machine::succeeds_or_skip;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

/// Bytes of the image in memory before the file of a kept sweep was read, and after its contender
/// was warmed up on a file that is not in the image.
fn image_bytes_before_reading(home: &Home, image: &File, kept: &Path, more: &[&str]) -> u64 {
    rustix::fs::fadvise(image, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let _ = fs::remove_file(home.at("log"));
    let image = format!("/proc/{}/fd/{}", std::process::id(), image.as_raw_fd());
    let reader = format!("fincore -b -n -o RES {image} >> {} && wc -l < {{}}", home.at("log").display());
    let method = format!("command/{reader}");
    let words = ["sweep", kept.to_str().unwrap(), "--read-only", "--work", "newlines", "--method", &method];
    home.readlab([&words[..], more].concat()).exits(0);
    home.read("log").lines().last().unwrap().trim().parse().unwrap()
}

mod ring2 {
    use super::*;

    #[test]
    fn the_timed_reading_is_the_first_for_a_cache_below_the_file_system_too() {
        const FILE_BYTES: u64 = 4_000_000;
        let home = Home::new();
        if !succeeds_or_skip("fincore --version") {
            return;
        }
        let Some(it) = Image::sized(&home.at(""), &[], LARGE_BYTES) else { return };
        let image = File::open(&it.image).unwrap();
        // The lab cannot evict the deleted file. It keeps the bytes that were read, like the memory
        // of a drive.
        fs::remove_file(&it.image).unwrap();
        home.readlab("sweep mounted --sizes 4MB --repeat 1 --method rust/read --keep --fill lines").exits(0);
        let kept = paths_in(home.at("mounted")).into_iter().find(|path| path.join("sweep.json").exists());
        let kept = kept.unwrap();
        image.sync_all().unwrap();
        let first = image_bytes_before_reading(&home, &image, &kept, &[]);
        assert!(first < FILE_BYTES / 2, "{first} bytes before its reading");
        let primed = image_bytes_before_reading(&home, &image, &kept, &["--primed"]);
        assert!(primed >= FILE_BYTES, "primed: {primed} bytes before its reading");
    }
}
