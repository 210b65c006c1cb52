//! Figure: races over places, settings and parts of a file. A file has the same speed through an
//! overlay, warm and cold: the figure is how often the interval over all methods holds 1. A place
//! whose reads are paced a fifth slower must have the ratio of the paces. On a device that answers
//! each read late, a longer read-ahead must be called faster and a shorter one slower, and the
//! setting that was found must be in force again after the lab is killed. On that device, the search
//! must choose a gap for merged ranges that is as good as the best of an exhaustive run. And the part
//! that `head` reads must be as large as the pages that it leaves in an empty cache.

use super::tune::{SearchTask, compare_with_exhaustive};
use crate::made::file_system::ext4_and_overlay;
use crate::made::paced::{self, Pace};
use crate::made::{Cleanup, tree};
use crate::pairs;
use crate::programs::{Programs, Race, output};
use crate::row::{Row, Share};
use anyhow::Context;
use readlab_analysis::locations::LocationComparisons;
use readlab_analysis::settings::setting_effects;
use readlab_analysis::stats::{SharedRatio, Significance, float};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use readlab_record::{Record, TrialRecord};
use readlab_system::memory::page_bytes;
use readlab_system::page_cache;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

pub(super) const ABOUT: &str = "places, settings and parts: an overlay, a slower place, read-ahead and its restoring, merged ranges, head";

const FILE_SIZE: Bytes = Bytes(64 << 20);
const METHODS: &[&str] =
    &["--method", "rust/read/memchr", "--method", "rust/mmap/memchr", "--method", "rust/pread/memchr"];

const OVERLAY_RACES: usize = 20;
/// Smallest share of races in which the interval must hold 1.
const HOLDING_SHARE_MIN: f64 = 0.95;

/// A paced file of this size has 128 requests of the kernel.
const PACED_FILE_SIZE: Bytes = Bytes(16 << 20);
const PACE: Duration = Duration::from_millis(2);
const SLOWER_PACE: Duration = Duration::from_micros(2_400);
/// A few are enough, because the median of their ratios is judged.
const PACED_RACES: usize = 3;
/// Largest relative error of the median ratio.
const RATIO_ERROR_MAX: f64 = 0.03;

const LATE_FILE_BYTES: usize = 16 << 20;
const SHORT_READ_AHEAD: &str = "read-ahead=32KiB";
const LONG_READ_AHEAD: &str = "read-ahead=4MiB";
const SETTING_OPTIONS: &[&str] =
    &["--setting", "read-ahead=32KiB,4MiB", "--method", "rust/read/memchr", "--budget", "20m"];
const SETTING_RACES: usize = 3;
const KILLS: usize = 20;
/// Time within which a race changes the setting first.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(60);
/// Time within which the setting must be as it was found.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Ranges in groups. A gap of 64 KiB merges each group, and one of 1 MiB all of them.
const RANGE_GROUPS: usize = 24;
const RANGE_GROUP_BYTES: usize = 640 << 10;
const RANGES_PER_GROUP: usize = 4;
const RANGE_INTERVAL_BYTES: usize = 64 << 10;
const RANGE_BYTES: usize = 16 << 10;

const HEAD: &str = "head -n 10";

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Row::all_or_failed("through an overlay", overlay_rows(programs));
    rows.push(Row::or_failed("a slower place", slower_place(programs)));
    rows.extend(Row::all_or_failed("a late device", late_device_rows(programs)));
    rows.extend(Row::all_or_failed(HEAD, part_of_head(programs)));
    Ok(rows)
}

fn overlay_rows(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut cleanup = Cleanup::default();
    let [ext4, overlay] = ext4_and_overlay(&mut cleanup, programs, FILE_SIZE)?;
    let row = |state: CacheState| {
        let figure = format!("ext4 and an overlay on it, {state}: the interval holds 1");
        let ratios = overall_ratios(programs, [&ext4, &overlay], state, programs.repeats(OVERLAY_RACES));
        let holds = |it: &SharedRatio| it.ci95.is_some_and(|it| it.ends.holds(1.0));
        let judged = ratios.map(|ratios| {
            let share: Share = ratios.iter().map(holds).collect();
            share.row_at_least(figure.clone(), HOLDING_SHARE_MIN)
        });
        Row::or_failed(figure, judged)
    };
    Ok([CacheState::Warm, CacheState::Cold].map(row).into())
}

fn slower_place(programs: &Programs) -> anyhow::Result<Row> {
    let mut cleanup = Cleanup::default();
    let content = programs.lines(PACED_FILE_SIZE)?;
    let mut mounted = |name: &str, pace: Duration| {
        paced::file(&mut cleanup, &programs.folder, name, &content, Pace::Every(pace))
    };
    let (first, slower) = (mounted("paced-first", PACE)?, mounted("paced-slower", SLOWER_PACE)?);
    let races = programs.repeats(PACED_RACES);
    let ratios = overall_ratios(programs, [&first, &slower], CacheState::Cold, races)?;
    Ok(judge_slower_place(&ratios))
}

/// Judges whether each race calls the place slower, and how near the median ratio is to that of the
/// paces.
fn judge_slower_place(ratios: &[SharedRatio]) -> Row {
    let ratio = pairs::median(ratios.iter().map(|it| it.estimate));
    let expected = PACE.as_secs_f64() / SLOWER_PACE.as_secs_f64();
    let target = format!("{expected:.3} ± {:.0} %", RATIO_ERROR_MAX * 100.0);
    let is_named = ratios.iter().all(|it| it.significance() == Some(Significance::Slower));
    let is_near = (ratio / expected - 1.0).abs() <= RATIO_ERROR_MAX;
    let measured = format!("{ratio:.3}{}", if is_named { "" } else { ", and not always called slower" });
    Row::judged("a place that is a fifth slower: the ratio", target, ratio, is_named && is_near, measured)
}

/// The ratio over all methods in each of these races of two places.
fn overall_ratios(
    programs: &Programs,
    [first, there]: [&Path; 2],
    state: CacheState,
    races: usize,
) -> anyhow::Result<Vec<SharedRatio>> {
    let first = first.display().to_string();
    let mut ratios = Vec::new();
    for seed in 0..races {
        let seed = seed.to_string();
        // The options precede the file, so the file among them is the first target.
        let options = [&[first.as_str(), "--seed", &seed, "--runs", "3"][..], METHODS].concat();
        let compared =
            LocationComparisons::from_record(&race(programs, there, Some(state), &options)?).compared;
        ratios.push(compared.first().and_then(|it| it.overall).context("nothing was compared")?);
    }
    Ok(ratios)
}

fn race(
    programs: &Programs,
    file: &Path,
    state: Option<CacheState>,
    options: &[&str],
) -> anyhow::Result<Record> {
    programs.race(&Race { name: "axes", trials: &[], file, state, options })
}

/// The rows about a device that answers each read late, however many are in flight.
fn late_device_rows(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut cleanup = Cleanup::default();
    let folder = paced::late_tree(&mut cleanup, &programs.folder, &tree(programs, 1, LATE_FILE_BYTES)?)?;
    let file = folder.join("000/000.txt");
    Ok(vec![
        Row::or_failed("read-ahead", read_ahead_matters(programs, &file)),
        Row::or_failed("read-ahead after kills", restored_after_kills(programs, &file)),
        Row::or_failed("merged ranges", merged_ranges(programs, &file)),
    ])
}

/// How often the short read-ahead is called slower and the long one faster than the one that was found.
fn read_ahead_matters(programs: &Programs, file: &Path) -> anyhow::Result<Row> {
    let options = [SETTING_OPTIONS, &["--runs", "6"]].concat();
    let expected = [(SHORT_READ_AHEAD, Significance::Slower), (LONG_READ_AHEAD, Significance::Faster)];
    let mut share = Share::default();
    for _ in 0..programs.repeats(SETTING_RACES) {
        let record = race(programs, file, Some(CacheState::Cold), &options)?;
        let effects = setting_effects(&record);
        for (settings, significance) in expected {
            let effect = effects.iter().find(|it| it.target.settings_words().as_deref() == Some(settings));
            share.count(effect.and_then(|it| it.significance()) == Some(significance));
        }
    }
    Ok(share.row_at_least("read-ahead of 32 KiB slower and of 4 MiB faster than the one found", 1.0))
}

/// How often the read-ahead is as it was found after the lab was killed while it had changed it.
fn restored_after_kills(programs: &Programs, file: &Path) -> anyhow::Result<Row> {
    let source = output(Command::new("findmnt").args(["-n", "-o", "SOURCE", "-T"]).arg(file))?;
    let device = source.trim();
    let found = read_ahead(device)?;
    let options = [SETTING_OPTIONS, &["--runs", "1000"]].concat();
    let state = Some(CacheState::Cold);
    let mut share = Share::default();
    for _ in 0..programs.repeats(KILLS) {
        let lab = programs.start(&Race { name: "axes", trials: &[], file, state, options: &options })?;
        let is_changed = happens_within(CHANGE_TIMEOUT, || Ok(read_ahead(device)? != found))?;
        // A lab that is dropped is killed.
        drop(lab);
        let is_restored = happens_within(RESTORE_TIMEOUT, || Ok(read_ahead(device)? == found))?;
        share.count(is_changed && is_restored);
        if !is_restored {
            output(Command::new("blockdev").args(["--setra", &found, device]))?;
        }
    }
    Ok(share.row_at_least("the read-ahead that was found is in force again after a kill", 1.0))
}

/// The read-ahead of a device in sectors, as text.
fn read_ahead(device: &str) -> anyhow::Result<String> {
    Ok(output(Command::new("blockdev").args(["--getra", device]))?.trim().to_owned())
}

fn happens_within(
    timeout: Duration,
    mut is_so: impl FnMut() -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    let start = Instant::now();
    while start.elapsed() < timeout {
        if is_so()? {
            return Ok(true);
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(false)
}

/// The gap that the search chooses against the best gap of an exhaustive run.
fn merged_ranges(programs: &Programs, file: &Path) -> anyhow::Result<Row> {
    let list = programs.folder.join("ranges.txt");
    fs::write(&list, list_of_ranges()).with_context(|| list.display().to_string())?;
    let list = list.display().to_string();
    let task = SearchTask {
        name: "merged ranges, cold",
        state: CacheState::Cold,
        methods: &["rust/places-pread"],
        options: &["--ranges", &list, "--merge", "0,64KiB,1MiB"],
        space: &["--space", "threads=1|2"],
        tolerance: RATIO_ERROR_MAX,
    };
    let rows = compare_with_exhaustive(programs, file, &task)?;
    // The second row counts readings, of which a search among six settings needs most.
    rows.into_iter().next().context("the search found nothing")
}

fn list_of_ranges() -> String {
    let mut list = String::new();
    for group in 0..RANGE_GROUPS {
        for range in 0..RANGES_PER_GROUP {
            let offset = group * RANGE_GROUP_BYTES + range * RANGE_INTERVAL_BYTES;
            // Writing into a String cannot fail.
            let _ = writeln!(list, "{offset} {RANGE_BYTES}");
        }
    }
    list
}

/// Whether `head` is measured in both states, and whether the part that it reads is right to the page.
fn part_of_head(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let file = programs.lines(FILE_SIZE)?;
    let command = format!("{HEAD} {{}}");
    let options = ["-c", &command, "--work", "part", "--method", "command/head*", "--runs", "5"];
    let record = race(programs, &file, None, &options)?;
    let is_measured =
        |state: CacheState| head_trials(&record).any(|it| it.trial.state == state && it.is_measured());
    let measured: Share = [CacheState::Cold, CacheState::Warm].into_iter().map(is_measured).collect();
    let mut is_right = Share::default();
    let pages = pages_that_head_leaves(&file)?;
    for it in head_trials(&record).filter(|it| it.trial.state == CacheState::Cold) {
        let share = record.part_read(it).map(|part| part.share);
        is_right.count(share.is_some_and(|share| is_share_of_pages(share, pages, FILE_SIZE.0)));
    }
    Ok(vec![
        measured.row_at_least(format!("{HEAD}: measured cold and warm"), 1.0),
        is_right.row_at_least(format!("{HEAD}: the share that is read, to the page"), 1.0),
    ])
}

fn head_trials(record: &Record) -> impl Iterator<Item = &TrialRecord> {
    record.trials.iter().filter(|it| it.trial.contender() == "command" && it.trial.method().starts_with(HEAD))
}

/// Number of pages of the file in the cache after `head` has read from an empty one.
fn pages_that_head_leaves(file: &Path) -> anyhow::Result<u64> {
    let opened = File::open(file).with_context(|| file.display().to_string())?;
    page_cache::evict(&opened).with_context(|| file.display().to_string())?;
    let mut words = HEAD.split_whitespace();
    output(Command::new(words.next().context("a command has a program")?).args(words).arg(file))?;
    Ok(page_cache::count_by_mincore(&opened, 0..opened.metadata()?.len())?)
}

fn is_share_of_pages(share: f64, pages: u64, size_bytes: u64) -> bool {
    let all = size_bytes.div_ceil(page_bytes());
    (share * float(all) - float(pages)).abs() < 0.5
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::stats::{Interval, IntervalRule, IntervalWithRule};

    fn ratio(estimate: f64) -> SharedRatio {
        let ends = Interval { low: estimate - 0.01, high: estimate + 0.01 };
        SharedRatio {
            estimate,
            ci95: Some(IntervalWithRule { ends, rule: IntervalRule::SignedRank }),
            unit_count: 3,
        }
    }

    #[test]
    fn the_slower_place_must_be_named_in_each_race_and_its_median_ratio_be_near() {
        let is_right = |estimates: &[f64]| {
            judge_slower_place(&estimates.iter().copied().map(ratio).collect::<Vec<_>>()).ok
        };
        assert_eq!(is_right(&[0.83, 0.84, 0.2]), Some(true));
        assert_eq!(is_right(&[0.80, 0.79, 0.84]), Some(false));
        assert_eq!(is_right(&[0.83, 0.84, 1.0]), Some(false));
    }

    #[test]
    fn the_ranges_are_within_the_late_file_and_their_gaps_are_below_those_that_merge_them() {
        let list = list_of_ranges();
        let ranges: Vec<(usize, usize)> = list
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(offset, bytes)| (offset.parse().unwrap(), bytes.parse().unwrap()))
            .collect();
        assert_eq!(ranges.len(), RANGE_GROUPS * RANGES_PER_GROUP);
        let gaps: Vec<usize> = ranges.windows(2).map(|two| two[1].0 - two[0].0 - two[0].1).collect();
        assert_eq!(gaps[..4], [48 << 10, 48 << 10, 48 << 10, 432 << 10]);
        let (offset, bytes) = ranges[ranges.len() - 1];
        assert!(offset + bytes <= LATE_FILE_BYTES);
    }

    #[test]
    fn a_share_is_right_to_the_page() {
        let page = page_bytes();
        assert!(is_share_of_pages(0.25, 4, 16 * page) && !is_share_of_pages(0.25, 5, 16 * page));
        assert!(is_share_of_pages(0.0, 0, 16 * page) && !is_share_of_pages(0.3, 4, 16 * page));
    }
}
