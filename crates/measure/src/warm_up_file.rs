//! Readlab's own file, on which it warms up contenders that read their file only once. A warm-up on
//! the measured file would leave bytes in caches below the page cache, which cannot be emptied.
//!
//! A contender reads one path as long as it runs. So readlab passes the path of a link, which first
//! leads to readlab's own file and is changed to lead to the measured file before the timed turn.
//! Commands get no link, because some commands refuse links. A command needs none: each of its
//! readings is a new process, so a reading of another path warms it up as well.

use super::target::{MeasuredTarget, SweepTarget};
use readlab_model::trial::COMMAND;
use readlab_record::Trial;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::{Place, Target};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Size of the largest file before which contenders are warmed up, so that one-time work of the
/// contender is not in its first reading. In the time of a larger file that work is not noticeable.
const WARMED_UP_BYTES_MAX: u64 = 16_000_000;

/// Readlab's own file, and a link that leads to it or to the file that is read next.
#[derive(Debug)]
pub struct WarmUpFile {
    file: PathBuf,
    link: PathBuf,
    /// The file as commands read it, by its path.
    path_target: SweepTarget,
    /// The file as all other contenders read it, through the link.
    link_target: SweepTarget,
}

impl WarmUpFile {
    pub fn new(file: &Path, path_target: SweepTarget) -> WarmUpFile {
        let (file, link) = (file.to_owned(), file.with_file_name("next"));
        let target = Target { place: Place::File(link.clone()), ..path_target.target.clone() };
        let link_target = SweepTarget { target, truth: path_target.truth.clone() };
        WarmUpFile { file, link, path_target, link_target }
    }

    /// Whether a contender is warmed up before it reads this target.
    pub(super) fn suits_target(next: &Target) -> bool {
        next.file().is_some() && next.facts.size_bytes <= WARMED_UP_BYTES_MAX
    }

    pub(super) fn reads_through_link(trial: &Trial) -> bool {
        trial.contender() != COMMAND
    }

    /// Makes the link lead to the warm-up file, and returns that file in place of a trial's target.
    pub(super) fn prepare_stand_in_target(&self, trial: &Trial) -> Result<MeasuredTarget<'_>, String> {
        self.relink(&self.file)?;
        let known = if WarmUpFile::reads_through_link(trial) { &self.link_target } else { &self.path_target };
        known.measured_target(trial.target).map_err(|error| error.to_string())
    }

    /// Makes the link lead to a file. A program that opens the link meanwhile gets one file or the
    /// other.
    pub(super) fn relink(&self, file: &Path) -> Result<(), String> {
        let new = self.link.with_extension("new");
        let replaced = symlink(file, &new).and_then(|()| fs::rename(&new, &self.link));
        replaced.map_err(|cause| format!("{}: {cause}", display_path(&self.link)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::testing::{COLD, plan, rules_for_readings};
    use crate::testing::sweep_target;

    fn warm_up_file(folder: &Path) -> WarmUpFile {
        let file = folder.join("warm-up");
        fs::write(&file, "untimed").unwrap();
        WarmUpFile::new(&file, sweep_target(&file, 7))
    }

    #[test]
    fn one_path_leads_to_the_file_of_readlab_and_then_to_the_next_file() {
        let folder = tempfile::tempdir().unwrap();
        let (warm_up_file, next) = (warm_up_file(folder.path()), folder.path().join("timed"));
        fs::write(&next, "timed").unwrap();
        let mut trial = plan(rules_for_readings(1), &[("read", COLD)]).trials.remove(0).trial;
        for _ in 0..2 {
            let measured = warm_up_file.prepare_stand_in_target(&trial).unwrap();
            let path = measured.target.file().unwrap();
            assert_eq!(
                (measured.index, fs::read_to_string(path).unwrap()),
                (trial.target, "untimed".to_owned())
            );
            warm_up_file.relink(&next).unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), "timed");
        }
        // A command gets the path of the warm-up file itself.
        trial.id = "command/wc".parse().unwrap();
        let measured = warm_up_file.prepare_stand_in_target(&trial).unwrap();
        assert_eq!(measured.target.file(), Some(folder.path().join("warm-up").as_path()));
    }

    #[test]
    fn before_large_files_contenders_are_not_warmed_up() {
        let is_for = |size_bytes| WarmUpFile::suits_target(&sweep_target(Path::new("f"), size_bytes).target);
        assert!(is_for(WARMED_UP_BYTES_MAX) && !is_for(WARMED_UP_BYTES_MAX + 1));
    }

    #[test]
    fn a_link_that_cannot_be_made_is_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let warm_up_file = warm_up_file(folder.path());
        fs::remove_file(folder.path().join("warm-up")).unwrap();
        folder.close().unwrap();
        assert!(warm_up_file.relink(Path::new("f")).unwrap_err().contains("next: No such file"));
    }
}
