//! Parts of a file: the first pages, the rest, the end and what is behind it. And places of a file:
//! blocks of awkward sizes at places in no order, lists that are broken, and a file that is cut off
//! between turns.

use super::check::{Check, ReadWords, TURN, Visit, ends_well, exits, is_control, ready, turn, visits};
use super::files::spelled;
use super::reason_of;
use super::settings::{self, Load};
use super::stage::{AWKWARD_NAME, Case, Stage, raw_name, text};
use readlab_protocol::places::places_word;
use readlab_protocol::{Cache, MethodLine, Part, Places};
use readlab_system::memory::page_bytes;
use readlab_targets::corpus::block_truth::truth_of_blocks;
use readlab_targets::corpus::oracle;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of the file in which the places are.
const DATA_BYTES: u64 = 3_200_000;

/// The block and the offsets of reads that a device can do itself.
const ALIGNED_BLOCK_BYTES: u64 = 4096;

/// The file in which the places are, and lists of them.
pub(super) struct PlacesFiles {
    data: PathBuf,
    lists: Vec<Listed>,
}

impl PlacesFiles {
    fn make(stage: &Stage) -> io::Result<PlacesFiles> {
        let folder = stage.new_folder()?;
        let data = folder.join("data");
        fs::write(&data, content())?;
        Ok(PlacesFiles { lists: lists(&folder, &data)?, data })
    }
}

/// A list of places with its right answer.
struct Listed {
    case: Arc<Case>,
    is_aligned: bool,
    is_long: bool,
}

/// Every list and every visit, settings by turns, names, and what must fail.
pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let files = stage.places.get(|| PlacesFiles::make(stage))?;
    let (folder, data) = (stage.new_folder()?, files.data.clone());
    let bypasses = method.cache == Cache::Bypass || is_control(method);
    let lists: Vec<&Listed> = files.lists.iter().filter(|listed| listed.is_aligned || !bypasses).collect();
    let visits = visits(method);
    let settings: Vec<Option<String>> =
        [None].into_iter().chain(settings::for_load(method, Load::Megabytes).into_iter().map(Some)).collect();
    let mut checks = Vec::new();
    let Some(visit) = visits.first() else { return Ok(checks) };
    // Each list with two visits, a long one with one; each visit and each setting among them.
    let count = lists.len().max(visits.len());
    let pairs = (0..2).flat_map(|turn| (0..count).map(move |at| (turn, at)));
    let pairs = pairs.map(|(turn, at)| (turn, &visits[(at + turn) % visits.len()], lists[at % lists.len()]));
    for (number, (_, visit, listed)) in pairs.filter(|(turn, _, it)| *turn == 0 || !it.is_long).enumerate() {
        let setting = settings[number % settings.len()].clone();
        checks.push(reading(method, visit, setting, listed.case.clone()));
    }
    let words = ReadWords::new(method, visit).with([places_word()]);
    for name in [AWKWARD_NAME.into(), raw_name()] {
        let file = folder.join(&name);
        fs::copy(&data, &file)?;
        let case = list(&folder, "of-a-name.list", &file, ALIGNED_BLOCK_BYTES, &[0, 4096])?;
        checks.push(spelled(words.clone(), case, name));
    }
    if !is_control(method) {
        checks.push(shrinks(stage, &words, &data)?);
        checks.extend(unreadable(method, &words, &folder, &data)?);
    }
    let of_one = words.on(lists[0].case.path.as_os_str());
    if !method.scans.contains_key("lines") {
        let no_lines = ReadWords { work: "lines".to_owned(), ..of_one.clone() };
        checks.push(Check::refused(no_lines, "places", ""));
    }
    let without_word = ReadWords { settings: Vec::new(), ..of_one };
    checks.push(Check::refused(without_word, "places, without their word", ""));
    Ok(checks)
}

fn reading<'s>(method: &MethodLine, visit: &Visit, setting: Option<String>, case: Arc<Case>) -> Check<'s> {
    let is_set = setting.is_some();
    let words = ReadWords::new(method, visit).with([places_word()]).with(setting);
    let named = if is_set { words.settings.clone() } else { Vec::new() };
    Check::reads(words, case, ends_well).or_refused(named)
}

/// Bytes of every value; in blocks of 512 bytes, newlines of a different density in each.
fn content() -> Vec<u8> {
    let byte = |at: u64| {
        let block = at / 512;
        if at.is_multiple_of(block % 37 + 3) {
            b'\n'
        } else {
            u8::try_from((at * 31 + block * 7) % 256).expect("below 256")
        }
    };
    (0..DATA_BYTES).map(byte).collect()
}

fn list(folder: &Path, name: &str, file: &Path, block_bytes: u64, offsets: &[u64]) -> io::Result<Case> {
    let places = Places { file: file.to_owned(), block_bytes, offsets: offsets.to_vec() };
    // Lists of files with other names have the same name in folders of their own.
    let path = unused(folder, name);
    fs::write(&path, places.to_bytes())?;
    Ok(Case { name: name.to_owned(), truth: truth_of_blocks(&places, &|_| Ok(()))?, path })
}

/// A path in the folder that is not there yet.
fn unused(folder: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|number| folder.join(format!("{number}-{name}")));
    let mut paths = std::iter::once(folder.join(name)).chain(numbered);
    paths.find(|path| !path.exists()).expect("numbers do not end")
}

/// Places that come again, in no order, at no multiple of the block, and at the file's end.
fn lists(folder: &Path, data: &Path) -> io::Result<Vec<Listed>> {
    let end = DATA_BYTES;
    let cases: [(&str, u64, Vec<u64>); 8] = [
        ("one-block.list", 4096, vec![8192]),
        ("all-of-it.list", DATA_BYTES, vec![0]),
        ("of-512.list", 512, vec![1_023_488, 0, 512, 512, end - 512, 2560, 0, 1024, 1_023_488]),
        ("of-4096.list", 4096, vec![40_960, 0, 4096, 2_097_152, 4096, 40_960, 3_194_880, 12_288]),
        ("of-1MiB.list", 1 << 20, vec![2 << 20, 0, 1 << 20, 0]),
        ("unaligned.list", 4096, vec![1, end - 4096, 4095, 513, 8191]),
        ("of-1000.list", 1000, vec![999, end - 1000, 0, 77_777, 999]),
        // Where the numbers of places wrap.
        ("more-than-65521.list", 16, (0..70_000).map(|number| number * 16 % 3584).collect()),
    ];
    let listed = |(name, block_bytes, offsets): (&str, u64, Vec<u64>)| {
        let is_aligned = offsets.iter().chain([&block_bytes]).all(|number| number % ALIGNED_BLOCK_BYTES == 0);
        let case = Arc::new(list(folder, name, data, block_bytes, &offsets)?);
        Ok(Listed { case, is_aligned, is_long: offsets.len() > 1000 })
    };
    cases.into_iter().map(listed).collect()
}

/// A turn, then one after the file has been cut off.
fn shrinks<'s>(stage: &Stage, words: &ReadWords, data: &Path) -> io::Result<Check<'s>> {
    let folder = stage.new_folder()?;
    let file = folder.join("shrinking");
    fs::copy(data, &file)?;
    let case = list(&folder, "shrinking.list", &file, ALIGNED_BLOCK_BYTES, &[0, 4096])?;
    let words = words.on(case.path.as_os_str());
    Ok(Check::new(move |stage| {
        words.attempt(stage, "a file that is cut off between turns", || {
            let mut session = ready(stage, &words)?;
            turn(&mut session, stage, &words, &case)?;
            fs::write(&file, vec![b'x'; 5000])?;
            let reason = reason_of(session.turn(TURN, stage.deadline))?;
            let named = format!("{}: ", file.display());
            if !reason.contains(&named) {
                return Err(format!("it failed with {reason:?}, which must have {named:?}").into());
            }
            Ok(TURN.count)
        })
    }))
}

/// Files without such a place, each named by the reason; and lists that are none.
fn unreadable<'s>(
    method: &MethodLine,
    words: &ReadWords,
    folder: &Path,
    data: &Path,
) -> io::Result<Vec<Check<'s>>> {
    let (short, absent, nested) = (folder.join("short"), folder.join("absent"), folder.join("nested"));
    fs::write(&short, [b'x'; 5000])?;
    fs::create_dir(&nested)?;
    let with_threads = method.params.iter().any(|param| param.name == "threads" && param.max >= 3);
    let mut checks = Vec::new();
    let bytes_of = |file: &Path, block_bytes: u64, offsets: &[u64]| {
        Places { file: file.to_owned(), block_bytes, offsets: offsets.to_vec() }.to_bytes()
    };
    for (file, offsets) in [
        (&short, &[0, 4096][..]),
        (&absent, &[0, 4096]),
        (&nested, &[0, 4096]),
        (&data.to_owned(), &[1 << 62]),
        (&data.to_owned(), &[0, u64::MAX]),
    ] {
        let path = unused(folder, "unreadable.list");
        fs::write(&path, bytes_of(file, ALIGNED_BLOCK_BYTES, offsets))?;
        let named = format!("{}: ", file.display());
        let of = format!("places {offsets:?} of {}", file.file_name().unwrap_or_default().display());
        let threads = with_threads.then(|| "threads=3".to_owned());
        for threads in [None].into_iter().chain(threads.map(Some)) {
            let words = words.on(path.as_os_str()).with(threads);
            checks.push(Check::refused(words, of.clone(), named.clone()));
        }
    }
    let whole = bytes_of(&short, ALIGNED_BLOCK_BYTES, &[0, 4096]);
    let path_alone: Vec<u8> = data.as_os_str().as_encoded_bytes().to_vec();
    let broken: [(&str, Vec<u8>); 5] = [
        ("empty.list", Vec::new()),
        ("no-zero-byte.list", path_alone.clone()),
        ("no-numbers.list", [&path_alone[..], &[0]].concat()),
        ("no-path.list", bytes_of(Path::new(""), ALIGNED_BLOCK_BYTES, &[0])),
        ("cut.list", whole[..whole.len() - 1].to_vec()),
    ];
    for (name, bytes) in broken {
        let path = folder.join(name);
        fs::write(&path, bytes)?;
        checks.push(Check::refused(words.on(path.as_os_str()), name, format!("{name}: ")));
    }
    let no_list = words.on(folder.join("no-such.list"));
    checks.push(Check::refused(no_list, "no-such.list", "no-such.list: "));
    // No machine has the memory for such a block.
    let path = folder.join("blocks-too-large.list");
    fs::write(&path, bytes_of(data, 1 << 60, &[0]))?;
    checks.push(Check::refused(words.on(path), "blocks-too-large.list", ""));
    Ok(checks)
}

/// Each part and each visit at least once.
pub(super) fn part_checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let visits = visits(method);
    let cases = parts(stage)?;
    let count = if visits.is_empty() { 0 } else { visits.len().max(cases.len()) };
    let checks = (0..count).map(|at| {
        let visit = &visits[at % visits.len()];
        let (part, case) = cases[at % cases.len()].clone();
        Check::reads(ReadWords::new(method, visit).with(part.words()), case, exits)
    });
    Ok(checks.collect())
}

/// Parts of a file of sixteen pages and a byte, each with its right answer.
fn parts(stage: &Stage) -> io::Result<Vec<(Part, Arc<Case>)>> {
    let page = usize::try_from(page_bytes()).map_err(io::Error::other)?;
    let content = text(16 * page as u64 + 1);
    let name = "sixteen-pages-and-a-byte";
    let path = stage.new_folder()?.join(name);
    fs::write(&path, &content)?;
    let within = |bytes: usize| bytes.min(content.len());
    let case = |(start, length): (usize, usize)| {
        let read = &content[within(start)..within(start + length)];
        let truth = oracle::truth_of(|| Ok(read), &|_| Ok(()))?;
        let part = Part { start_bytes: start as u64, length_bytes: length as u64 };
        Ok((part, Arc::new(Case { name: name.to_owned(), path: path.clone(), truth })))
    };
    let parts = [
        (0, 2 * page),
        (2 * page, 14 * page + 1),
        (15 * page, page),
        (15 * page, 25 * page),
        (32 * page, page),
        (page, 0),
    ];
    parts.into_iter().map(case).collect()
}
