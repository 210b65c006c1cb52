//! A test that a sweep's timed reading of a file is its first one, for a cache below the file
//! system too: a loop device over a file that stays in memory, as in the memory of a drive.

use super::home::Home;
use super::layers::{Image, LARGE_BYTES, run};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Bytes of the image in memory before the file of a kept sweep was read, after its contender
/// was warmed up on a file that is not in the image.
fn image_bytes_before_reading(home: &Home, image: &File, kept: &Path, more: &[&str]) -> u64 {
    rustix::fs::fadvise(image, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let log = home.at("log");
    let _ = fs::remove_file(&log);
    let image = format!("/proc/{}/fd/{}", std::process::id(), image.as_raw_fd());
    let reader = format!("fincore -b -n -o RES {image} >> {} && wc -l < {{}}", log.display());
    let method = format!("command/{reader}");
    let words = ["sweep", kept.to_str().unwrap(), "--read-only", "--work", "newlines", "--method", &method];
    let said = home.readlab([&words[..], more].concat());
    assert_eq!(said.code, Some(0), "{said}");
    let log = fs::read_to_string(log).unwrap();
    log.lines().last().unwrap().trim().parse().unwrap()
}

mod ring2 {
    use super::*;

    #[test]
    fn a_sweep_reads_each_file_first_for_a_cache_below_too_unless_it_is_primed() {
        const FILE_BYTES: u64 = 4_000_000;
        let home = Home::new();
        if let Err(why) = run(&["fincore", "--version"]) {
            eprintln!("SKIPPED: {why}");
            return;
        }
        let Some(it) = Image::sized(home.folder.path(), &[], LARGE_BYTES) else { return };
        let image = File::open(&it.image).unwrap();
        // The lab cannot evict it by its name: it keeps what was read, as the memory of a drive
        // does.
        fs::remove_file(&it.image).unwrap();
        let only = ["--repeat", "1", "--method", "rust/read", "--keep", "--fill", "lines"];
        let said = home.readlab([&["sweep", "mounted", "--sizes", "4MB"][..], &only].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let is_folder = |path: &PathBuf| path.join("sweep.json").exists();
        let kept =
            fs::read_dir(home.at("mounted")).unwrap().map(|it| it.unwrap().path()).find(is_folder).unwrap();
        image.sync_all().unwrap();
        let first = image_bytes_before_reading(&home, &image, &kept, &[]);
        assert!(first < FILE_BYTES / 2, "{first} bytes before its reading");
        let primed = image_bytes_before_reading(&home, &image, &kept, &["--primed"]);
        assert!(primed >= FILE_BYTES, "primed: {primed} bytes before its reading");
    }
}
