//! Tests of files with a cache below their page cache: a loop device over a cached file, an
//! overlay, memory. Each file is made cold down to its storage, or its state
//! has another name.

use super::home::{AS_NOBODY, Home, READLAB, Said, no_other_user, trials};
use readlab_measure::cache::{Eviction, TargetCache};
use readlab_measure::residency::{Residency, ResidencyProof};
use readlab_measure::target::CacheControl;
use readlab_targets::target::Target;
use serde_json::Value;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const SIZE_BYTES: usize = 8 << 20;
/// The size of a file system with room for it.
const IMAGE_BYTES: u64 = 48 << 20;
/// The size of one with room for a sweep, which leaves a margin free.
pub(super) const LARGE_BYTES: u64 = 256 << 20;

/// What was made with a command, undone by others when dropped, the last first.
pub(super) struct Undo(pub(super) Vec<Vec<String>>);

impl Drop for Undo {
    fn drop(&mut self) {
        for words in self.0.iter().rev() {
            if let Err(why) = run(words) {
                eprintln!("{why}");
            }
        }
    }
}

/// Standard output of a command, or the reason of its failure in one line.
pub(super) fn run<S: AsRef<std::ffi::OsStr> + std::fmt::Debug>(words: &[S]) -> Result<String, String> {
    let output = Command::new(&words[0]).args(&words[1..]).output();
    let output = output.map_err(|error| format!("{words:?}: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(said(&output.stdout))
    } else {
        Err(format!("{words:?}: {}", said(&output.stderr)))
    }
}

pub(super) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub(super) fn lines() -> Vec<u8> {
    b"a line of a file that lies in another\n".repeat(SIZE_BYTES / 38)
}

/// An ext4 in a file, mounted through a loop device, with one file of lines in it.
pub(super) struct Image {
    pub(super) image: PathBuf,
    file: PathBuf,
    device: String,
    _undo: Undo,
}

impl Image {
    /// In this folder; `None` with a message if that is impossible.
    fn make(folder: &Path, options: &[&str]) -> Option<Image> {
        Image::sized(folder, options, IMAGE_BYTES)
    }

    pub(super) fn sized(folder: &Path, options: &[&str], size_bytes: u64) -> Option<Image> {
        Image::try_make(folder, options, size_bytes).map_err(|why| eprintln!("SKIPPED: {why}")).ok()
    }

    fn try_make(folder: &Path, options: &[&str], size_bytes: u64) -> Result<Image, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can mount".to_owned());
        }
        let (image, point) = (folder.join("image"), folder.join("mounted"));
        fs::create_dir(&point).unwrap();
        File::create(&image).unwrap().set_len(size_bytes).unwrap();
        // Tables that are written later would come into the cache at any time.
        let eager = ["-E", "lazy_itable_init=0,lazy_journal_init=0"];
        run(&[&["mkfs.ext4", "-Fq"], &eager[..], &[&text(&image)]].concat())?;
        let device = run(&[&["losetup", "--find", "--show"], options, &[&text(&image)]].concat())?;
        let mut undo = Undo(vec![vec!["losetup".to_owned(), "--detach".to_owned(), device.clone()]]);
        run(&["mount", &device, &text(&point)])?;
        undo.0.push(vec!["umount".to_owned(), text(&point)]);
        let file = point.join("file");
        fs::write(&file, lines()).unwrap();
        File::open(&file).unwrap().sync_all().unwrap();
        Ok(Image { image, file, device, _undo: undo })
    }

    /// What its page cache is called where it stays.
    fn cache(&self) -> String {
        let device = Path::new(&self.device).file_name().unwrap().to_str().unwrap();
        format!("the page cache of {} ({device}, no direct I/O)", self.image.display())
    }
}

fn resident(path: &Path) -> ResidencyProof {
    Residency::open(path).unwrap().share().unwrap()
}

fn evict(target: &Target) -> Result<ResidencyProof, String> {
    let Ok(CacheControl::File { cache, .. }) = CacheControl::open(target, Eviction::OfFile) else {
        panic!("a file of this machine")
    };
    cache.evict().map_err(|error| error.to_string())
}

const COLD: [&str; 5] = ["--state", "cold", "--method", "rust/direct/scalar", "--method"];

pub(super) fn cold(more: &'static str) -> Vec<&'static str> {
    [&COLD[..], &[more]].concat()
}

/// That the readings of a race are cold above this cache, and that no device is named as their
/// limit.
pub(super) fn is_cold_above(json: &Value, cache: &str) {
    let it = trials(json, "rust/read/scalar", "cold");
    assert_eq!((&it["outcome"], &it["cold_above"]), (&"measured".into(), &cache.into()), "{it}");
    let limits = json["limits"].as_array().cloned().unwrap_or_default();
    assert!(limits.iter().all(|limit| limit["kind"] != "device"), "{limits:?}");
    for trial in json["trials"].as_array().unwrap().iter().filter(|it| it["verdict"].is_object()) {
        assert_ne!(trial["verdict"]["is"]["kind"], "device", "{trial}");
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
    let Some(it) = Image::make(home.folder.path(), &[]) else { return };
    let target = Target::examine(&it.file).unwrap();
    assert_eq!((target.facts.cold_above(), &target.evictable[..]), (None, std::slice::from_ref(&it.image)));
    fs::read(&it.image).unwrap();
    fs::read(&it.file).unwrap();
    // The kernel may reclaim some at any moment; most are there.
    let cached = resident(&it.image);
    assert!(cached.resident * 2 > cached.file_pages, "{cached}");
    evict(&target).unwrap();
    let left = resident(&it.image).resident * 4096;
    assert!(left * 100 <= SIZE_BYTES as u64, "{left} bytes of the image are still in memory");
    let (json, said) = home.race_json(&it.file, &cold("rust/read/scalar"));
    assert_eq!(said.code, Some(0), "{said}");
    let trial = trials(&json, "rust/read/scalar", "cold");
    assert_eq!((&trial["outcome"], trial.get("cold_above")), (&"measured".into(), None), "{trial}");
    let layers = json["targets"][0]["layers"].to_string();
    assert!(layers.contains(&text(&it.image)) && layers.contains("evicted"), "{layers}");
}

#[test]
fn a_file_behind_a_loop_device_that_stays_in_memory_is_no_cold_reading() {
    let home = Home::new();
    let Some(it) = Image::make(home.folder.path(), &[]) else { return };
    let target = Target::examine(&it.file).unwrap();
    // Mapped by another program, its pages stay.
    let script = "import mmap, sys; f = open(sys.argv[1]); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); \
                  sum(m[::4096]); print('ready', flush=True); sys.stdin.read()";
    let mut holder = Command::new("python3");
    holder.args(["-c", script]).arg(&it.image).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Some(_holder) = Helper::start(&mut holder) else { return };
    let why = evict(&target).unwrap_err();
    assert!(
        why.starts_with(&format!("{}: not cold, ", it.image.display())) && why.contains("mapped"),
        "{why}"
    );
}

/// A program beside the test that has reported that it is ready; ended when dropped.
pub(super) struct Helper(pub(super) Child);

impl Helper {
    pub(super) fn start(command: &mut Command) -> Option<Helper> {
        let started = command.stdout(Stdio::piped()).spawn();
        let mut helper = Helper(started.map_err(|error| eprintln!("SKIPPED: {command:?}: {error}")).ok()?);
        let mut line = String::new();
        BufReader::new(helper.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line == "ready\n" {
            return Some(helper);
        }
        eprintln!("SKIPPED: {command:?} did not start");
        None
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // One that has ended already is no worry.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_file_that_the_kernel_makes_up_has_no_state_at_all() {
    let home = Home::new();
    let made_up = Path::new("/sys/kernel/btf/vmlinux");
    if !made_up.exists() {
        return eprintln!("SKIPPED: no {}", made_up.display());
    }
    let (json, said) = home.race_json(made_up, &["--method", "rust/read/scalar", "--work", "sum"]);
    assert_eq!(said.code, Some(2), "nothing can be measured: {said}");
    for state in ["cold", "warm"] {
        let trial = trials(&json, "rust/read/scalar", state);
        assert_eq!(trial["outcome"], "unavailable", "{trial}");
        let reason = trial["reason"].as_str().unwrap();
        assert!(
            reason.contains("neither cold nor warm: the page cache holds nothing of a file on sysfs"),
            "{reason}"
        );
    }
}

mod ring2 {
    use super::*;

    #[test]
    fn a_loop_device_with_direct_io_needs_no_caution() {
        let home = Home::new();
        let Some(it) = Image::make(home.folder.path(), &["--direct-io=on"]) else { return };
        let name = Path::new(&it.device).file_name().unwrap().to_str().unwrap();
        if fs::read_to_string(format!("/sys/block/{name}/loop/dio")).unwrap().trim() != "1" {
            return eprintln!("SKIPPED: no direct I/O on the file system of the build folder");
        }
        let target = Target::examine(&it.file).unwrap();
        assert!(
            target.facts.cold_above().is_none() && target.evictable.is_empty(),
            "{:?}",
            target.facts.layers
        );
        assert!(target.facts.cautions.is_empty(), "{:?}", target.facts.cautions);
    }

    #[test]
    fn where_the_file_behind_a_loop_device_is_deleted_cold_has_another_name_everywhere() {
        let home = Home::new();
        let Some(it) = Image::make(home.folder.path(), &[]) else { return };
        fs::remove_file(&it.image).unwrap();
        let [json, markdown, table] = ["out.json", "out.md", "out.csv"].map(|name| home.at(name));
        let files = [("--export-json", &json), ("--export-markdown", &markdown), ("--export-csv", &table)];
        let exports = files.iter().flat_map(|(option, path)| [*option, path.to_str().unwrap()]);
        let words: Vec<&str> =
            cold("rust/read/scalar").into_iter().chain(exports).chain(["--output", "run"]).collect();
        let said = home.race(&it.file, &words);
        assert_eq!(said.code, Some(0), "{said}");
        let read = |path: PathBuf| fs::read_to_string(path).unwrap();
        is_cold_above(&serde_json::from_str(&read(json)).unwrap(), &it.cache());
        for (what, text) in [("markdown", read(markdown).replace('\\', "")), ("terminal", said.out)] {
            assert!(text.contains("cold above a cache"), "{what}: {text}");
            assert!(text.contains(&format!("cold above: {}", it.cache())), "{what}: {text}");
        }
        let page = fs::read_to_string(home.at("run/report.html")).unwrap();
        assert!(page.contains("Cold above a cache") && page.contains(&it.cache()), "the page");
        let csv = read(table);
        let cells = csv.lines().skip(1).filter(|line| line.contains("rust/read/scalar"));
        let ends: Vec<bool> = cells.map(|line| line.contains(&format!(",\"{}\",", it.cache()))).collect();
        assert!(!ends.is_empty() && ends.iter().all(|ends| *ends), "{csv}");
    }

    #[test]
    fn a_sweep_above_a_cache_that_stays_is_called_so_wherever_it_is_shown() {
        let home = Home::new();
        let Some(it) = Image::sized(home.folder.path(), &[], LARGE_BYTES) else { return };
        fs::remove_file(&it.image).unwrap();
        let words = ["sweep", "mounted", "--sizes", "100kB,1MB", "--repeat", "2", "--method", "rust/read"];
        let exports = [
            ["--export-json", "out.json"],
            ["--export-markdown", "out.md"],
            ["--export-csv", "out.csv"],
            ["--output", "run"],
        ];
        // The table is for people: a pipe gets it too.
        let said = home.readlab([&words[..], exports.as_flattened()].concat());
        assert_eq!(said.code, Some(0), "{said}");
        let read = |name: &str| fs::read_to_string(home.at(name)).unwrap();
        let cache = it.cache();
        let json: Value = serde_json::from_str(&read("out.json")).unwrap();
        let series = json["sweep"]["series"].as_array().unwrap();
        let above: Vec<Option<&str>> = series.iter().map(|one| one["cold_above"].as_str()).collect();
        assert_eq!(above, [None, Some(cache.as_str())], "of a write nothing is cold");
        assert_eq!(json["targets"][0]["hidden_cache"]["why"]["reason"], "known_cache");
        let limits = json["limits"].as_array().cloned().unwrap_or_default();
        assert!(limits.iter().all(|limit| limit["kind"] != "device"), "{limits:?}");
        for trial in json["trials"].as_array().unwrap() {
            assert_eq!(trial["cold_above"], cache.as_str(), "{trial}");
            assert_ne!(trial["verdict"]["is"]["kind"], "device", "{trial}");
        }
        let (markdown, page) =
            (read("out.md").replace('\\', ""), read("run/report.html").replace('\u{a0}', " "));
        for (what, text) in [("markdown", &markdown), ("terminal", &said.out), ("page", &page)] {
            assert!(text.contains(", cold above a cache: "), "{what}: {text}");
            assert!(text.contains(&format!("cold above: {cache}")), "{what}: {text}");
            assert!(text.contains(&format!("; cold is cold above {cache}")), "{what}: {text}");
        }
        assert!(page.contains("(cold above a cache)"), "the answer");
        let csv = read("out.csv");
        assert!(csv.lines().skip(1).all(|line| line.contains(&format!(",\"{cache}\","))), "{csv}");
    }

    #[test]
    fn an_unreadable_file_behind_a_loop_device_is_reported() {
        if let Some(why) = no_other_user() {
            return eprintln!("SKIPPED: {why}");
        }
        let home = Home::new();
        let Some(it) = Image::make(home.folder.path(), &[]) else { return };
        fs::set_permissions(&it.image, Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&it.file, Permissions::from_mode(0o644)).unwrap();
        let mut command = home.command("setpriv");
        command.args(AS_NOBODY).args([READLAB, "race"]).arg(&it.file).args(super::super::home::QUICK);
        let said = Said::by(command.args(cold("rust/read/scalar")).args(["--quiet", "--export-json", "-"]));
        if said.err.contains("Permission denied") && said.out.is_empty() {
            return eprintln!("SKIPPED: other users may not enter the build folder: {}", said.err);
        }
        let json: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said}"));
        let cautions = json["targets"][0]["cautions"].to_string();
        assert!(
            cautions.contains(&it.cache()) && cautions.contains("no permission to read it"),
            "{cautions}"
        );
    }

    #[test]
    fn a_file_system_whose_image_is_in_memory_is_cold_above_memory() {
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
            return eprintln!("SKIPPED: no folder /dev/shm to write to");
        };
        let Some(it) = Image::make(folder.path(), &[]) else { return };
        let target = Target::examine(&it.file).unwrap();
        assert_eq!(target.facts.cold_above().as_deref(), Some("memory (tmpfs)"), "{:?}", target.facts.layers);
        assert!(target.evictable.is_empty(), "{:?}", target.evictable);
    }

    #[test]
    fn the_file_that_an_overlay_shows_is_made_cold_itself() {
        let home = Home::new();
        if !rustix::process::geteuid().is_root() {
            return eprintln!("SKIPPED: only root can mount");
        }
        let folders = ["lower:a b", "upper", "work", "mounted"].map(|name| home.at(name));
        folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
        let [lower, upper, work, point] = &folders;
        for folder in [lower, upper] {
            fs::write(folder.join(folder.file_name().unwrap()), lines()).unwrap();
        }
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            text(lower).replace(':', "\\:"),
            text(upper),
            text(work)
        );
        let mounted = run(&["mount", "-t", "overlay", "overlay", "-o", &options, &text(point)]);
        let undo = Undo(vec![vec!["umount".to_owned(), text(point)]]);
        if let Err(why) = mounted {
            std::mem::forget(undo);
            return eprintln!("SKIPPED: {why}");
        }
        for (folder, name) in [(lower, "lower:a b"), (upper, "upper")] {
            let target = Target::examine(&point.join(name)).unwrap();
            assert_eq!(target.evictable, [folder.join(name)], "{:?}", target.facts.layers);
            assert_eq!(target.facts.cold_above(), None);
            // An overlay does not write back dirty pages of a lower file.
            let proof = evict(&target);
            assert!(proof.is_ok(), "{proof:?}");
            assert!(resident(&folder.join(name)).is_cold());
        }
    }
}
