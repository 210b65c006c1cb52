//! The flame graph of one trial: its file in the folder of the record, and its entry in the record.

use super::FlameGraphPaths;
use crate::inspect::profile::{self, Sampled};
use readlab_record::{FlameGraph, HotSpot, Trial};
use readlab_system::folder::output_file::OutputFile;
use readlab_system::markup;
use std::path::{Path, PathBuf};

/// Functions that are named in the record of a flame graph.
const HOTTEST: usize = 5;

/// Letters of a file name that come from the trial's name.
const NAME_LETTERS: usize = 80;

/// Draws the samples of so many readings of a trial and writes the picture.
pub(super) fn draw(trial: &Trial, readings: u32, sampled: Sampled, paths: &FlameGraphPaths) -> FlameGraph {
    let profile = sampled.named();
    let samples = profile.folded.samples();
    let hottest = profile.folded.hottest(HOTTEST).into_iter();
    let mut graph = FlameGraph {
        how: profile.how,
        samples,
        readings,
        hottest: hottest.map(|hot| HotSpot { name: hot.name, share: hot.share }).collect(),
        blind: profile.blind,
        ..FlameGraph::default()
    };
    let title = format!("{} · {} · {}", trial.id, trial.state, trial.work);
    let subtitle = format!("{samples} samples in {readings} untimed readings; {}", graph.how);
    let picture = if samples == 0 {
        Err(format!("not one sample in {readings} readings: they took too little of the processor's time"))
    } else {
        profile::svg(&profile.folded, &title, &subtitle)
    };
    match picture.and_then(|svg| write(trial, &svg, paths)) {
        Ok(file) => graph.file = Some(file),
        Err(reason) => graph.reason = Some(reason),
    }
    graph
}

impl FlameGraphPaths {
    /// The pictures of these trials.
    pub fn pictures<'t>(&self, trials: impl Iterator<Item = &'t Trial>) -> Vec<PathBuf> {
        trials.filter(|trial| !trial.is_control()).map(|trial| self.picture(trial)).collect()
    }

    fn picture(&self, trial: &Trial) -> PathBuf {
        self.folder.join(file_name(trial))
    }
}

/// A picture as an output.
pub fn picture_file(file: &Path) -> OutputFile<'_> {
    OutputFile { option: "--flamegraph", file, is_earlier: markup::is_picture }
}

/// Writes a picture; its name as the record gives it.
fn write(trial: &Trial, svg: &str, paths: &FlameGraphPaths) -> Result<String, String> {
    let path = paths.picture(trial);
    std::fs::create_dir_all(&paths.folder).map_err(|cause| format!("{}: {cause}", paths.folder.display()))?;
    picture_file(&path)
        .write(&paths.inputs, |out| out.write_all(svg.as_bytes()))
        .map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
    Ok(path.strip_prefix(&paths.record_folder).unwrap_or(&path).to_string_lossy().into_owned())
}

/// `warm-12-rust-mmap-avx512.svg`: letters and digits alone, and the trial's number, so that no two
/// trials share a name.
fn file_name(trial: &Trial) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = trial.id.to_string().chars().map(letter).take(NAME_LETTERS).collect();
    format!("{}-{:02}-{}.svg", trial.state, trial.index, name.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::testing::{WARM, plan, runs};

    #[test]
    fn a_picture_is_named_after_its_trial_and_lies_below_the_record() {
        let plan = plan(runs(1), &[("a", WARM), ("mmap", WARM)]);
        let trial = &plan.trials[1].trial;
        assert_eq!(file_name(trial), "warm-01-rust-mmap.svg");
        let record = tempfile::tempdir().unwrap();
        let paths = FlameGraphPaths::new(record.path().join("flames"), record.path().to_owned());
        assert_eq!(write(trial, "<svg/>", &paths), Ok("flames/warm-01-rust-mmap.svg".to_owned()));
        assert_eq!(std::fs::read(paths.folder.join(file_name(trial))).unwrap(), b"<svg/>");
        let file = record.path().join("file");
        std::fs::write(&file, "").unwrap();
        let elsewhere = FlameGraphPaths { folder: file.join("flames"), ..paths };
        let error = write(trial, "<svg/>", &elsewhere).unwrap_err();
        assert!(error.starts_with(&file.display().to_string()), "{error}");
    }
}
