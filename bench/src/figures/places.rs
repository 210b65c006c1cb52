//! Figure: the ratio that a race reports for two places of the same content. A file and its copy do
//! not differ: the figure is how often the interval over all methods holds 1. A file with a fifth
//! more bytes, which `--same-content` asserts to be the same, is slower: the figure is how near the
//! reported ratio is to the ratio of the bytes.

use crate::pairs;
use crate::programs::{Programs, Race};
use crate::row::{Row, Share};
use anyhow::Context;
use readlab_analysis::locations::Locations;
use readlab_analysis::stats::{self, SharedRatio};
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const ABOUT: &str =
    "ratios of two places: a file and its copy, and a file with a fifth more bytes, warm, 64 MiB";

const FILE_SIZE: Bytes = Bytes(64 << 20);
const LARGER_SIZE: Bytes = Bytes(FILE_SIZE.0 / 5 * 6);

/// Number of races of the file and its copy.
const COPY_RACES: usize = 20;

/// Number of races with the larger file. A few are enough, because the median of their ratios is
/// judged.
const LARGER_RACES: usize = 5;

/// Smallest share of races in which the interval must hold 1.
const HOLDING_SHARE_MIN: f64 = 0.95;

/// Largest relative error of the median ratio.
const RATIO_ERROR_MAX: f64 = 0.03;

const METHODS: [&str; 3] = ["rust/read/memchr", "rust/mmap/memchr", "rust/pread/memchr"];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let (file, larger) = (programs.lines(FILE_SIZE)?, programs.lines(LARGER_SIZE)?);
    let copy = make_copy(programs, &file)?;
    let of_copy = overall_ratios(programs, [&copy, &file], programs.repeats(COPY_RACES), &[])?;
    let of_larger =
        overall_ratios(programs, [&file, &larger], programs.repeats(LARGER_RACES), &["--same-content"])?;
    let holds = |it: &SharedRatio| it.ci95.is_some_and(|it| it.ends.holds(1.0));
    let holding: Share = of_copy.iter().map(holds).collect();
    let holding = holding.row_at_least("equal places: the interval holds 1", HOLDING_SHARE_MIN);
    Ok(vec![holding, judge_ratio_of_larger(&of_larger)])
}

/// Judges how near the median ratio is to the ratio of the bytes.
fn judge_ratio_of_larger(ratios: &[SharedRatio]) -> Row {
    let ratio = pairs::median(ratios.iter().map(|it| it.estimate));
    let expected = stats::float(FILE_SIZE.0) / stats::float(LARGER_SIZE.0);
    let target = format!("{expected:.3} ± {:.0} %", RATIO_ERROR_MAX * 100.0);
    let is_near = (ratio / expected - 1.0).abs() <= RATIO_ERROR_MAX;
    Row::judged("a place with a fifth more bytes: the ratio", target, ratio, is_near, format!("{ratio:.3}"))
}

/// The ratio over all methods in each of these races of two files.
fn overall_ratios(
    programs: &Programs,
    [first, there]: [&Path; 2],
    races: usize,
    more: &[&str],
) -> anyhow::Result<Vec<SharedRatio>> {
    let first = first.display().to_string();
    let mut ratios = Vec::new();
    for seed in 0..races {
        let seed = seed.to_string();
        let mut options = vec![first.as_str(), "--seed", &seed, "--runs", "3"];
        options.extend(METHODS.iter().flat_map(|name| ["--method", *name]));
        options.extend(more);
        // The options precede the file, so the file among them is the first target.
        let state = Some(CacheState::Warm);
        let race = Race { name: "places", trials: &[], file: there, state, options: &options };
        let compared = Locations::from_record(&programs.race(&race)?).compared;
        ratios.push(compared.first().and_then(|it| it.overall).context("nothing was compared")?);
    }
    Ok(ratios)
}

/// A copy of a file in another folder. It is made only if it does not exist.
fn make_copy(programs: &Programs, file: &Path) -> anyhow::Result<PathBuf> {
    let folder = programs.folder.join("copies");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let copy = folder.join(file.file_name().context("a corpus has a name")?);
    if !copy.exists() {
        fs::copy(file, &copy).with_context(|| copy.display().to_string())?;
    }
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ratio_may_differ_by_three_percent_from_that_of_the_bytes() {
        let ratio = |estimate: &f64| SharedRatio { estimate: *estimate, ci95: None, pairs: 3 };
        let is_near = |estimates: &[f64]| {
            let ratios: Vec<SharedRatio> = estimates.iter().map(ratio).collect();
            judge_ratio_of_larger(&ratios).ok
        };
        assert_eq!(is_near(&[0.83, 0.84, 0.2]), Some(true));
        assert_eq!(is_near(&[0.80, 0.79, 0.84]), Some(false));
    }
}
