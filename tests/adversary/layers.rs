//! Tests of files with a cache below their page cache: a loop device over a cached file, an
//! overlay, memory. Each file is either made cold down to its storage, or its state has another
//! name.

use crate::home::{Home, ProgramOutput, QUICK, READLAB, Trials, Words, items, set_mode};
use crate::machine::{AS_NOBODY, has_nobody, or_skip, skip};
use crate::mounted::{Undo, run, text};
use crate::processes::KilledOnDrop;
use readlab_measure::cache::{EvictionScope, TargetCache};
use readlab_measure::residency::{ResidencyProof, ResidencyProver};
use readlab_measure::target::CacheControl;
use readlab_model::target::TargetFacts;
use readlab_targets::target::Target;
use readlab_targets::target::tree::{ListSource, TreeRequest};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SIZE_BYTES: usize = 8 << 20;
/// The size of a file system with room for that file.
const IMAGE_BYTES: u64 = 48 << 20;
/// The size of a file system with room for a sweep, which leaves a margin free.
pub(super) const LARGE_BYTES: u64 = 256 << 20;

/// The arguments of a cold race past and through the page cache.
pub(super) const COLD_RACE: &str = "--state cold --method rust/direct/scalar --method rust/read/scalar";

pub(super) fn lines() -> Vec<u8> {
    b"a line of a file that lies in another\n".repeat(SIZE_BYTES / 38)
}

/// An ext4 in a file, mounted through a loop device, with one file of lines in it.
pub(super) struct Image {
    pub(super) image: PathBuf,
    file: PathBuf,
    /// The name of the loop device.
    device: String,
    _undo: Undo,
}

impl Image {
    /// Makes the file system in this folder; `None` with a message if that is impossible.
    fn make(folder: &Path, options: &[&str]) -> Option<Image> {
        Image::sized(folder, options, IMAGE_BYTES)
    }

    pub(super) fn sized(folder: &Path, options: &[&str], size_bytes: u64) -> Option<Image> {
        or_skip(Image::try_make(folder, options, size_bytes))
    }

    fn try_make(folder: &Path, options: &[&str], size_bytes: u64) -> Result<Image, String> {
        let (image, point) = (folder.join("image"), folder.join("mounted"));
        File::create(&image).unwrap().set_len(size_bytes).unwrap();
        // Lazily written tables would enter the cache at any time.
        run(&["mkfs.ext4", "-Fq", "-E", "lazy_itable_init=0,lazy_journal_init=0", text(&image)])?;
        let mut undo = Undo::default();
        let device = undo.attach(options, &image)?;
        undo.mount(&[text(&device)], &point)?;
        let file = point.join("file");
        fs::write(&file, lines()).unwrap();
        File::open(&file).unwrap().sync_all().unwrap();
        let device = device.file_name().unwrap().to_str().unwrap().to_owned();
        Ok(Image { image, file, device, _undo: undo })
    }

    /// The name of its page cache in records, if that cache cannot be evicted.
    fn cache(&self) -> String {
        format!("the page cache of {} ({}, no direct I/O)", self.image.display(), self.device)
    }
}

fn residency_of(path: &Path) -> ResidencyProof {
    ResidencyProver::open(path).unwrap().prove().unwrap()
}

fn evict(target: &Target) -> Result<ResidencyProof, String> {
    let Ok(CacheControl::File { cache, .. }) = CacheControl::open(target, EvictionScope::OfFile) else {
        panic!("a file of this machine")
    };
    cache.evict().map_err(|error| error.to_string())
}

/// Asserts that no device is named as a limit in an export, or in one of its trials.
fn assert_no_device_limit(json: &Value) {
    let limits = json["limits"].as_array().cloned().unwrap_or_default();
    assert!(limits.iter().all(|limit| limit["kind"] != "device"), "{limits:?}");
    for trial in json.trials() {
        assert_ne!(trial["verdict"]["is"]["kind"], "device", "{trial}");
    }
}

/// Asserts that the readings of a race are cold above this cache, and that no device is named as
/// their limit.
pub(super) fn assert_cold_above(json: &Value, cache: &str) {
    let it = json.measured("rust/read/scalar", "cold");
    assert_eq!(it["cold_above"], cache, "{it}");
    assert_no_device_limit(json);
    for trial in json.trials().iter().filter(|it| it["verdict"].is_object()) {
        let sentence = trial["verdict"]["sentence"].as_str().unwrap();
        assert!(sentence.contains(&format!("cold is cold above {cache}")), "{sentence}");
    }
    let advice = &json["advice"][0];
    assert_eq!(advice["cold_above"], cache, "{advice}");
    assert!(advice["sentence"].as_str().unwrap().starts_with("cold above a cache: "), "{advice}");
    let cautions = json["targets"][0]["cautions"].to_string();
    assert!(cautions.contains(cache), "{cautions}");
}

#[test]
fn a_cached_file_behind_a_loop_device_does_not_pass_for_cold() {
    let home = Home::new();
    let Some(it) = Image::make(&home.at(""), &[]) else { return };
    let target = Target::examine(&it.file).unwrap();
    assert_eq!(
        (target.facts.unevictable_cache_names(), &target.evictable[..]),
        (None, std::slice::from_ref(&it.image))
    );
    fs::read(&it.image).unwrap();
    fs::read(&it.file).unwrap();
    // The kernel may evict some pages at any moment, but most are resident.
    let cached = residency_of(&it.image);
    assert!(cached.resident_pages * 2 > cached.file_pages, "{cached}");
    evict(&target).unwrap();
    let left = residency_of(&it.image).resident_pages * 4096;
    assert!(left * 100 <= SIZE_BYTES as u64, "{left} bytes of the image are still in memory");
    let json = home.race_json(&it.file, COLD_RACE).exits(0);
    let trial = json.measured("rust/read/scalar", "cold");
    assert_eq!(trial.get("cold_above"), None, "{trial}");
    let layers = json["targets"][0]["layers"].to_string();
    assert!(layers.contains(text(&it.image)) && layers.contains("evicted"), "{layers}");
}

#[test]
fn a_file_behind_a_loop_device_that_stays_in_memory_is_no_cold_reading() {
    let home = Home::new();
    let Some(it) = Image::make(&home.at(""), &[]) else { return };
    let target = Target::examine(&it.file).unwrap();
    // Pages that another program maps stay in memory.
    let script = "import mmap, sys; f = open(sys.argv[1]); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); \
                  sum(m[::4096]); print('ready', flush=True); sys.stdin.read()";
    let mut holder = Command::new("python3");
    holder.args(["-c", script]).arg(&it.image).stdin(Stdio::piped());
    let Some(_holder) = KilledOnDrop::ready(&mut holder) else { return };
    let why = evict(&target).unwrap_err();
    let is_told = why.starts_with(&format!("{}: not cold, ", it.image.display())) && why.contains("mapped");
    assert!(is_told, "{why}");
}

#[test]
fn a_file_that_the_kernel_makes_up_has_no_state_at_all() {
    let made_up = Path::new("/sys/kernel/btf/vmlinux");
    if !made_up.exists() {
        return skip(format!("no {}", made_up.display()));
    }
    let json = Home::new().race_json(made_up, "--method rust/read/scalar --work sum").exits(2);
    for state in ["cold", "warm"] {
        let why = "neither cold nor warm: the page cache holds nothing of a file on sysfs";
        json.ended("rust/read/scalar", state, "unavailable", why);
    }
}

mod ring2 {
    use super::*;

    /// The options for files that a run writes besides its terminal output.
    const EXPORTS: &str = "--export-json out.json --export-markdown out.md --export-csv out.csv --output run";

    #[test]
    fn a_loop_device_with_direct_io_needs_no_caution() {
        let home = Home::new();
        let Some(it) = Image::make(&home.at(""), &["--direct-io=on"]) else { return };
        if fs::read_to_string(format!("/sys/block/{}/loop/dio", it.device)).unwrap().trim() != "1" {
            return skip("no direct I/O on the file system of the build folder");
        }
        let target = Target::examine(&it.file).unwrap();
        let facts = &target.facts;
        assert!(
            facts.unevictable_cache_names().is_none() && target.evictable.is_empty(),
            "{:?}",
            facts.layers
        );
        assert!(facts.cautions.is_empty(), "{:?}", facts.cautions);
    }

    #[test]
    fn cold_has_another_name_if_the_file_behind_a_loop_device_is_deleted() {
        let home = Home::new();
        let Some(it) = Image::make(&home.at(""), &[]) else { return };
        fs::remove_file(&it.image).unwrap();
        let said = home.race(&it.file, format!("{COLD_RACE} {EXPORTS}")).exits(0);
        let cache = it.cache();
        assert_cold_above(&home.json("out.json"), &cache);
        for (what, text) in [("markdown", home.read("out.md").replace('\\', "")), ("terminal", said.out)] {
            assert!(text.contains("cold above a cache"), "{what}: {text}");
            assert!(text.contains(&format!("cold above: {cache}")), "{what}: {text}");
        }
        let page = home.read("run/report.html");
        assert!(page.contains("Cold above a cache") && page.contains(&cache), "the page");
        let csv = home.read("out.csv");
        let cells = csv.lines().skip(1).filter(|line| line.contains("rust/read/scalar"));
        let ends: Vec<bool> = cells.map(|line| line.contains(&format!(",\"{cache}\","))).collect();
        assert!(!ends.is_empty() && ends.iter().all(|ends| *ends), "{csv}");
    }

    #[test]
    fn a_sweep_above_a_cache_that_stays_names_that_cache_and_no_limit_of_the_device() {
        let home = Home::new();
        let Some(it) = Image::sized(&home.at(""), &[], LARGE_BYTES) else { return };
        fs::remove_file(&it.image).unwrap();
        let words = "sweep mounted --sizes 100kB,1MB --repeat 2 --method rust/read --quiet --export-json -";
        let json = home.readlab(words).exits(0).json();
        let cache = it.cache();
        let series = items(&json["sweep"]["series"]).iter();
        let above: Vec<Option<&str>> = series.map(|one| one["cold_above"].as_str()).collect();
        assert_eq!(above, [None, Some(cache.as_str())], "of a write nothing is cold");
        assert_eq!(json["targets"][0]["hidden_cache"]["why"]["reason"], "known_cache");
        assert_no_device_limit(&json);
        for trial in json.trials() {
            assert_eq!(trial["cold_above"], cache.as_str(), "{trial}");
        }
    }

    #[test]
    fn an_unreadable_file_behind_a_loop_device_is_reported() {
        let home = Home::new();
        let Some(it) = Image::make(&home.at(""), &[]) else { return };
        set_mode(&it.image, 0o600);
        set_mode(&it.file, 0o644);
        let words = format!("race mounted/file {QUICK} {COLD_RACE} --quiet --export-json -");
        let Some(said) = home.as_nobody(words) else { return };
        let cautions = said.json()["targets"][0]["cautions"].to_string();
        assert!(
            cautions.contains(&it.cache()) && cautions.contains("no permission to read it"),
            "{cautions}"
        );
    }

    #[test]
    fn a_file_system_whose_image_is_in_memory_is_cold_above_memory() {
        let Some(folder) = or_skip(tempfile::tempdir_in("/dev/shm")) else { return };
        let Some(it) = Image::make(folder.path(), &[]) else { return };
        let target = Target::examine(&it.file).unwrap();
        assert_eq!(
            target.facts.unevictable_cache_names().as_deref(),
            Some("memory (tmpfs)"),
            "{:?}",
            target.facts.layers
        );
        assert!(target.evictable.is_empty(), "{:?}", target.evictable);
    }

    #[test]
    fn the_lower_file_that_an_overlay_shows_is_made_cold() {
        let home = Home::new();
        let [lower, upper, work] = ["lower:a b", "upper", "work"].map(|name| home.folder(name));
        let (point, mut undo) = (home.at("mounted"), Undo::default());
        for folder in [&lower, &upper] {
            fs::write(folder.join(folder.file_name().unwrap()), lines()).unwrap();
        }
        let lower_escaped = text(&lower).replace(':', "\\:");
        let options = format!("lowerdir={lower_escaped},upperdir={},workdir={}", text(&upper), text(&work));
        let mounted = undo.mount(&["-t", "overlay", "overlay", "-o", &options], &point);
        if or_skip(mounted).is_none() {
            return;
        }
        for (folder, name) in [(lower, "lower:a b"), (upper, "upper")] {
            let target = Target::examine(&point.join(name)).unwrap();
            assert_eq!(target.evictable, [folder.join(name)], "{:?}", target.facts.layers);
            let storage = |facts: &TargetFacts| (facts.device.clone(), facts.own_read_ahead.clone());
            let shown = Target::examine(&folder.join(name)).unwrap();
            assert_eq!(storage(&target.facts), storage(&shown.facts), "the kernel reads ahead alike");
            assert_eq!(target.facts.unevictable_cache_names(), None);
            // An overlay does not write back dirty pages of a lower file.
            let proof = evict(&target);
            assert!(proof.is_ok(), "{proof:?}");
            assert!(residency_of(&folder.join(name)).is_cold());
        }
    }

    /// Mounts an overlay over these folders, which are made if necessary; `None` with a message if
    /// that is impossible.
    fn mount_overlay(undo: &mut Undo, lower: &Path, home: &Home) -> Option<PathBuf> {
        let ([upper, work], point) = (["upper", "work"].map(|name| home.folder(name)), home.at("overlay"));
        let options = format!("lowerdir={},upperdir={},workdir={}", text(lower), text(&upper), text(&work));
        or_skip(undo.mount(&["-t", "overlay", "overlay", "-o", &options], &point))?;
        Some(point)
    }

    #[test]
    fn each_layer_of_a_folder_on_an_overlay_is_made_cold_with_its_image() {
        let home = Home::new();
        let Some(it) = Image::make(&home.at(""), &[]) else { return };
        let mut undo = Undo::default();
        let Some(point) = mount_overlay(&mut undo, it.file.parent().unwrap(), &home) else { return };
        // The first file of the folder is in the upper layer, and the other one in the image.
        fs::write(point.join("a"), lines()).unwrap();
        File::open(point.join("a")).unwrap().sync_all().unwrap();
        let request = TreeRequest::by_name(ListSource::Folder(point.clone()));
        let target = Target::examine_tree(&request).unwrap();
        assert!(target.evictable.contains(&it.image), "{:?}", target.facts.layers);
        assert_eq!(target.facts.unevictable_cache_names(), None);
        fs::read(&it.image).unwrap();
        fs::read(point.join("file")).unwrap();
        let cached = residency_of(&it.image);
        assert!(cached.resident_pages * 2 > cached.file_pages, "{cached}");
        CacheControl::open(&target, EvictionScope::OfFile).unwrap().evict().unwrap();
        let left = residency_of(&it.image).resident_pages * 4096;
        assert!(left * 100 <= target.facts.size_bytes, "{left} bytes of the image are still in memory");
        let json = home.race_json(&point, "--state cold --method rust/files-threads/scalar").exits(0);
        assert_eq!(json.measured("rust/files-threads/scalar", "cold").get("cold_above"), None, "{json}");
    }

    #[test]
    fn a_user_who_does_not_own_the_files_of_an_overlay_reads_them_in_an_unknown_state() {
        if !has_nobody() {
            return;
        }
        let home = Home::new();
        let [lower, upper, work] = ["lower", "upper", "work"].map(|name| home.folder(name));
        let (point, mut undo) = (home.at("mounted"), Undo::default());
        fs::write(lower.join("f"), lines()).unwrap();
        let options = format!("lowerdir={},upperdir={},workdir={}", text(&lower), text(&upper), text(&work));
        let mounted = undo.mount(&["-t", "overlay", "overlay", "-o", &options], &point);
        if or_skip(mounted).is_none() {
            return;
        }
        let race = |target: &str, more: &str| {
            let words = format!("race {target} {QUICK} --method rust/read/scalar --quiet {more}").words();
            ProgramOutput::by(home.command("setpriv").args(AS_NOBODY).arg(READLAB).args(words))
        };
        for target in ["mounted/f", "mounted"] {
            let json = race(target, "--export-json -").exits(0).json();
            let trial = json.measured("rust/read/scalar", "unknown");
            assert_eq!(trial["missing"]["state"], "state of the page cache: unknown", "{trial}");
            let cautions = json["targets"][0]["cautions"].to_string();
            assert!(cautions.contains("its owner, root, or a reader of a copy elsewhere"), "{cautions}");
            race(target, "--state warm").refuses("without --state");
        }
    }
}
