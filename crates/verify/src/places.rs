//! Checks of parts and places of a file. The parts are the first pages, the rest, the end, and one
//! beyond the end. The places are blocks of unusual sizes in no order; lists may be malformed, and a
//! file is truncated between turns.

use super::check::{
    CHECK_TURN, Check, ReadWords, WorkScan, check_clean_exit, check_exit, is_control, prove_turn,
    start_ready, work_scans,
};
use super::failure_reason;
use super::files::special_name_check;
use super::settings::{self, DataAmount};
use super::stage::{AWKWARD_NAME, Case, Stage, non_utf8_name, text_of_size};
use readlab_corpus::block_truth::truth_of_blocks;
use readlab_corpus::oracle;
use readlab_protocol::places::places_word;
use readlab_protocol::{BlockBytes, Cache, MethodLine, Part, Places};
use readlab_system::memory::page_bytes;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Size of the file that contains the places.
const DATA_BYTES: u64 = 3_200_000;

/// Block size and alignment of reads that a device can perform directly.
const ALIGNED_BLOCK_BYTES: u64 = 4096;

/// The file that contains the places, and lists of places.
pub(super) struct PlacesFiles {
    data: PathBuf,
    lists: Vec<PlaceList>,
}

impl PlacesFiles {
    fn make(stage: &Stage) -> io::Result<PlacesFiles> {
        let folder = stage.new_folder()?;
        let data = folder.join("data");
        fs::write(&data, data_content())?;
        Ok(PlacesFiles { lists: place_lists(&folder, &data)?, data })
    }
}

/// A list of places with its true answer.
struct PlaceList {
    case: Arc<Case>,
    is_aligned: bool,
    is_long: bool,
}

/// A list of ranges for methods that read ranges from a server. The case has the file that the server
/// sends, and the true answer about the ranges of this file.
#[derive(Clone)]
pub(super) struct RangeCase {
    pub list: PathBuf,
    pub case: Arc<Case>,
}

/// Checks of every list, of every work and scan with different settings, of names with special
/// characters, and of lists that must fail.
pub(super) fn checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let files = stage.places.get_or_make(|| PlacesFiles::make(stage))?;
    let (folder, data) = (stage.new_folder()?, files.data.clone());
    let bypasses = method.cache == Cache::Bypass || is_control(method);
    let lists: Vec<&PlaceList> = files.lists.iter().filter(|listed| listed.is_aligned || !bypasses).collect();
    let work_scans = work_scans(method);
    let settings: Vec<Option<String>> = [None]
        .into_iter()
        .chain(settings::settings_for(method, DataAmount::Megabytes).into_iter().map(Some))
        .collect();
    let mut checks = Vec::new();
    let Some(visit) = work_scans.first() else { return Ok(checks) };
    // A list is read with two works and scans, a long list with one. Each work and scan, and each
    // setting, is used at least once.
    let count = lists.len().max(work_scans.len());
    let pairs = (0..2).flat_map(|turn| (0..count).map(move |at| (turn, at)));
    let pairs =
        pairs.map(|(turn, at)| (turn, &work_scans[(at + turn) % work_scans.len()], lists[at % lists.len()]));
    for (number, (_, visit, listed)) in pairs.filter(|(turn, _, it)| *turn == 0 || !it.is_long).enumerate() {
        let setting = settings[number % settings.len()].clone();
        checks.push(places_check(method, visit, setting, listed.case.clone()));
    }
    let words = ReadWords::new(method, visit).with_settings([places_word()]);
    for name in [AWKWARD_NAME.into(), non_utf8_name()] {
        let file = folder.join(&name);
        fs::copy(&data, &file)?;
        let case = write_list(&folder, "of-a-name.list", &file, aligned_block_bytes(), &[0, 4096])?;
        checks.push(special_name_check(words.clone(), case, name));
    }
    if !is_control(method) {
        checks.push(shrinking_file_check(stage, &words, &data)?);
        checks.extend(unreadable_checks(method, &words, &folder, &data)?);
    }
    let of_one = words.with_target(lists[0].case.path.as_os_str());
    if !method.scans.contains_key("lines") {
        let no_lines = ReadWords { work: "lines".to_owned(), ..of_one.clone() };
        checks.push(Check::must_fail(no_lines, "places", ""));
    }
    let without_word = ReadWords { settings: Vec::new(), ..of_one };
    checks.push(Check::must_fail(without_word, "places, without their word", ""));
    Ok(checks)
}

fn places_check<'s>(
    method: &MethodLine,
    visit: &WorkScan,
    setting: Option<String>,
    case: Arc<Case>,
) -> Check<'s> {
    let is_set = setting.is_some();
    let words = ReadWords::new(method, visit).with_settings([places_word()]).with_settings(setting);
    let named = if is_set { words.settings.clone() } else { Vec::new() };
    Check::reading(words, case, check_clean_exit).or_settings_refused(named)
}

/// Bytes of every value; each block of 512 bytes has another density of newlines.
fn data_content() -> Vec<u8> {
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

/// The block size of lists whose blocks a device can read directly.
fn aligned_block_bytes() -> BlockBytes {
    BlockBytes::Same(ALIGNED_BLOCK_BYTES)
}

fn write_list(
    folder: &Path,
    name: &str,
    file: &Path,
    block_bytes: BlockBytes,
    offsets: &[u64],
) -> io::Result<Case> {
    let places = Places { file: file.to_owned(), block_bytes, offsets: offsets.to_vec() };
    // Several lists may have the same name.
    let path = unused_path(folder, name);
    fs::write(&path, places.to_bytes())?;
    let (truth, useful_bytes) = (truth_of_blocks(&places, &|_| Ok(()))?, Some(places.useful_bytes()));
    Ok(Case { name: name.to_owned(), path, truth, useful_bytes })
}

/// Writes a list of ranges, each with its offset and its length.
fn write_ranges(folder: &Path, name: &str, file: &Path, ranges: Vec<(u64, u64)>) -> io::Result<Case> {
    let (offsets, lengths): (Vec<u64>, Vec<u64>) = ranges.into_iter().unzip();
    write_list(folder, name, file, BlockBytes::Each(lengths), &offsets)
}

/// A path in the folder that does not exist yet.
fn unused_path(folder: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|number| folder.join(format!("{number}-{name}")));
    let mut paths = std::iter::once(folder.join(name)).chain(numbered);
    paths.find(|path| !path.exists()).expect("numbers do not end")
}

/// Writes lists of places that repeat, are unordered, are not multiples of the block size, or are at
/// the end of the file, and lists of blocks of different lengths.
fn place_lists(folder: &Path, data: &Path) -> io::Result<Vec<PlaceList>> {
    let end = DATA_BYTES;
    let cases: [(&str, u64, Vec<u64>); 8] = [
        ("one-block.list", 4096, vec![8192]),
        ("all-of-it.list", DATA_BYTES, vec![0]),
        ("of-512.list", 512, vec![1_023_488, 0, 512, 512, end - 512, 2560, 0, 1024, 1_023_488]),
        ("of-4096.list", 4096, vec![40_960, 0, 4096, 2_097_152, 4096, 40_960, 3_194_880, 12_288]),
        ("of-1MiB.list", 1 << 20, vec![2 << 20, 0, 1 << 20, 0]),
        ("unaligned.list", 4096, vec![1, end - 4096, 4095, 513, 8191]),
        ("of-1000.list", 1000, vec![999, end - 1000, 0, 77_777, 999]),
        // More places than the modulus of the proof, so that the numbers of the places wrap around.
        ("more-than-65521.list", 16, (0..70_000).map(|number| number * 16 % 3584).collect()),
    ];
    let of_same = |(name, block_bytes, offsets): (&str, u64, Vec<u64>)| {
        let is_aligned = offsets.iter().chain([&block_bytes]).all(|number| number % ALIGNED_BLOCK_BYTES == 0);
        let case = Arc::new(write_list(folder, name, data, BlockBytes::Same(block_bytes), &offsets)?);
        Ok(PlaceList { case, is_aligned, is_long: offsets.len() > 1000 })
    };
    let of_each = |(name, ranges): (&str, Vec<(u64, u64)>)| {
        let is_long = ranges.len() > 1000;
        let case = Arc::new(write_ranges(folder, name, data, ranges)?);
        // Methods that bypass the page cache read these blocks together with the bytes around them.
        Ok(PlaceList { case, is_aligned: true, is_long })
    };
    let ranges: [(&str, Vec<(u64, u64)>); 3] = [
        ("one-range.list", vec![(1, end - 1)]),
        // Ranges that touch, overlap, contain each other, have one byte or end with the file; the
        // longest is not the first.
        (
            "ranges.list",
            vec![(512, 4096), (4608, 1), (4000, 700), (4096, 65_536), (end - 3, 3), (9, 100_000), (0, 1)],
        ),
        ("ranges-with-gaps.list", (0..300).map(|number| (number * 9001 % end, number % 900 + 1)).collect()),
    ];
    cases.into_iter().map(of_same).chain(ranges.into_iter().map(of_each)).collect()
}

/// A check of a turn that must succeed, and of a turn that must fail because the file was truncated.
fn shrinking_file_check<'s>(stage: &Stage, words: &ReadWords, data: &Path) -> io::Result<Check<'s>> {
    let folder = stage.new_folder()?;
    let file = folder.join("shrinking");
    fs::copy(data, &file)?;
    let case = write_list(&folder, "shrinking.list", &file, aligned_block_bytes(), &[0, 4096])?;
    let words = words.with_target(case.path.as_os_str());
    Ok(Check::new(move |stage| {
        words.attempt(stage, "a file that is cut off between turns", || {
            let mut session = start_ready(stage, &words)?;
            prove_turn(&mut session, stage, &words, &case)?;
            fs::write(&file, vec![b'x'; 5000])?;
            let reason = failure_reason(session.run_turn(CHECK_TURN, stage.time_limit))?;
            let named = format!("{}: ", file.display());
            if !reason.contains(&named) {
                return Err(format!("it failed with {reason:?}, which must have {named:?}").into());
            }
            Ok(CHECK_TURN.count)
        })
    }))
}

/// Checks that must fail: files that do not contain the places, which the reason must name, and
/// malformed lists.
fn unreadable_checks<'s>(
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
    let bytes_of = |file: &Path, block_bytes: BlockBytes, offsets: &[u64]| {
        Places { file: file.to_owned(), block_bytes, offsets: offsets.to_vec() }.to_bytes()
    };
    for (file, offsets) in [
        (&short, &[0, 4096][..]),
        (&absent, &[0, 4096]),
        (&nested, &[0, 4096]),
        (&data.to_owned(), &[1 << 62]),
        (&data.to_owned(), &[0, u64::MAX]),
    ] {
        let path = unused_path(folder, "unreadable.list");
        fs::write(&path, bytes_of(file, aligned_block_bytes(), offsets))?;
        let named = format!("{}: ", file.display());
        let of = format!("places {offsets:?} of {}", file.file_name().unwrap_or_default().display());
        let threads = with_threads.then(|| "threads=3".to_owned());
        for threads in [None].into_iter().chain(threads.map(Some)) {
            let words = words.with_target(path.as_os_str()).with_settings(threads);
            checks.push(Check::must_fail(words, of.clone(), named.clone()));
        }
    }
    let whole = bytes_of(&short, aligned_block_bytes(), &[0, 4096]);
    let ranges = bytes_of(data, BlockBytes::Each(vec![1, 2]), &[0, 4096]);
    let path_alone: Vec<u8> = data.as_os_str().as_encoded_bytes().to_vec();
    let broken: [(&str, Vec<u8>); 6] = [
        ("empty.list", Vec::new()),
        ("no-zero-byte.list", path_alone.clone()),
        ("no-numbers.list", [&path_alone[..], &[0]].concat()),
        ("no-path.list", bytes_of(Path::new(""), aligned_block_bytes(), &[0])),
        ("cut.list", whole[..whole.len() - 1].to_vec()),
        ("no-last-length.list", ranges[..ranges.len() - 8].to_vec()),
    ];
    for (name, bytes) in broken {
        let path = folder.join(name);
        fs::write(&path, bytes)?;
        checks.push(Check::must_fail(words.with_target(path.as_os_str()), name, format!("{name}: ")));
    }
    let no_list = words.with_target(folder.join("no-such.list"));
    checks.push(Check::must_fail(no_list, "no-such.list", "no-such.list: "));
    // No machine has enough memory for this block.
    let path = folder.join("blocks-too-large.list");
    fs::write(&path, bytes_of(data, BlockBytes::Same(1 << 60), &[0]))?;
    checks.push(Check::must_fail(words.with_target(path), "blocks-too-large.list", ""));
    Ok(checks)
}

/// Lists of ranges that repeat, overlap, touch each other and are in no order. The first list has
/// the first and the last byte.
pub(super) fn range_cases(stage: &Stage) -> io::Result<Vec<RangeCase>> {
    let files = stage.places.get_or_make(|| PlacesFiles::make(stage))?;
    let folder = stage.new_folder()?;
    let end = DATA_BYTES;
    let lists: [(&str, Vec<(u64, u64)>); 3] = [
        (
            "ranges",
            vec![
                (4096, 4096),
                (0, 1),
                (9000, 100),
                (8999, 3),
                (9100, 1),
                (0, 1),
                (end - 5, 5),
                (70_000, 65_536),
            ],
        ),
        ("one-range", vec![(1 << 20, 1 << 20)]),
        ("hundreds-of-ranges", (0..700).map(|number| (number * 4099 % (end - 9), number % 9 + 1)).collect()),
    ];
    let case = |(name, ranges): (&str, Vec<(u64, u64)>)| {
        let listed = write_ranges(&folder, name, &files.data, ranges)?;
        let list = listed.path.clone();
        Ok(RangeCase { list, case: Arc::new(Case { path: files.data.clone(), ..listed }) })
    };
    lists.into_iter().map(case).collect()
}

/// Checks that read each part, and use each work and scan, at least once.
pub(super) fn part_checks<'s>(stage: &'s Stage, method: &MethodLine) -> io::Result<Vec<Check<'s>>> {
    let work_scans = work_scans(method);
    let cases = part_cases(stage)?;
    let count = if work_scans.is_empty() { 0 } else { work_scans.len().max(cases.len()) };
    let checks = (0..count).map(|at| {
        let visit = &work_scans[at % work_scans.len()];
        let (part, case) = cases[at % cases.len()].clone();
        Check::reading(ReadWords::new(method, visit).with_settings(part.words()), case, check_exit)
    });
    Ok(checks.collect())
}

/// Parts of a file of sixteen pages and one byte, each with its true answer.
pub(super) fn part_cases(stage: &Stage) -> io::Result<Vec<(Part, Arc<Case>)>> {
    let page = usize::try_from(page_bytes()).map_err(io::Error::other)?;
    let content = text_of_size(16 * page as u64 + 1);
    let name = "sixteen-pages-and-a-byte";
    let path = stage.new_folder()?.join(name);
    fs::write(&path, &content)?;
    let within = |bytes: usize| bytes.min(content.len());
    let case = |(start, length): (usize, usize)| {
        let read = &content[within(start)..within(start + length)];
        let truth = oracle::truth_of(|| Ok(read), &|_| Ok(()))?;
        let part = Part { start_bytes: start as u64, length_bytes: length as u64 };
        Ok((part, Arc::new(Case { name: name.to_owned(), path: path.clone(), truth, useful_bytes: None })))
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
