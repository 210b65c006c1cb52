//! Starts the contenders of trials that read their file once. Each contender is warmed up on
//! readlab's own file; then the file of its trial becomes its target. One file and one contender
//! are open at a time.
//!
//! [`crate::warm_up_file`] describes why contenders are warmed up there, and how they get from one
//! file to the other.

use super::ProcessSampler;
use crate::interface::TrialEnd;
use crate::target::{MeasuredTarget, SweepTarget};
use crate::warm_up_file::WarmUpFile;
use readlab_model::target::Targets;
use readlab_model::trial::{Params, TrialIndex};
use readlab_record::{EndReason, Outcome};
use readlab_system::interrupt;
use std::fs::File;
use std::io;

pub(super) struct SingleReads<'a> {
    files: &'a Targets<SweepTarget>,
    warm_up_file: Option<&'a WarmUpFile>,
    /// Whether the contender that was started last reads readlab's own file.
    is_warming_up: bool,
    /// Whether each file is read once untimed before the reading that counts.
    pub(super) is_primed: bool,
}

impl<'a> SingleReads<'a> {
    /// Single reads of these files. Without a warm-up file, contenders are not warmed up.
    pub(super) fn new(
        files: &'a Targets<SweepTarget>,
        warm_up_file: Option<&'a WarmUpFile>,
    ) -> SingleReads<'a> {
        SingleReads { files, warm_up_file, is_warming_up: false, is_primed: false }
    }
}

impl ProcessSampler<'_> {
    /// Starts the contender of a trial that reads its file once, on readlab's own file if it can be
    /// warmed up there. Returns its parameters.
    pub(super) fn start_for_single_read(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd> {
        if interrupt::is_stop_requested() {
            return Err(TrialEnd::Run(EndReason::Interrupted));
        }
        match self.start_on_warm_up_file(trial)? {
            Some(params) => Ok(params),
            None => self.start_on_measured_file(trial),
        }
    }

    /// Warms up a contender that reads its file once, and makes that file its target. A contender
    /// that cannot be warmed up is started again and reads its file without a warm-up.
    pub(super) fn warm_up_for_single_read(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        let Some(reads) = &mut self.single_reads else { return Ok(()) };
        if !std::mem::take(&mut reads.is_warming_up) {
            return Ok(());
        }
        let warmed_up = self.warm_up_on_target(trial);
        self.notes.keep_side_effect_lines();
        let goes_on = match warmed_up {
            Ok(()) => self.link_to_measured_file(trial),
            // A method may fail only on the warm-up file, for example if its file system does not
            // support O_DIRECT.
            Err(TrialEnd::Trial(Outcome::Failed { reason } | Outcome::Unavailable { reason })) => Err(reason),
            Err(end) => return Err(end),
        };
        match goes_on {
            Ok(true) => self.open_measured_file(trial),
            Ok(false) => self.start_on_measured_file(trial).map(drop),
            Err(reason) => {
                self.warn_not_warmed_up(trial, &reason);
                self.start_on_measured_file(trial).map(drop)
            }
        }
    }

    /// Starts a contender on readlab's own file; `None` if it must start on the file of its trial.
    fn start_on_warm_up_file(&mut self, trial: TrialIndex) -> Result<Option<Params>, TrialEnd> {
        let planned = self.trials.trial(trial);
        let Some(reads) = &self.single_reads else { return Ok(None) };
        let is_small = WarmUpFile::suits_target(&reads.files[planned.target].target);
        let Some(warm_up_file) = reads.warm_up_file.filter(|_| is_small) else { return Ok(None) };
        match warm_up_file.prepare_stand_in_target(planned) {
            Ok(target) => self.trials.replace_target(target),
            Err(reason) => {
                self.warn_not_warmed_up(trial, &reason);
                return Ok(None);
            }
        }
        match self.pool.restart(&self.trials, trial).map_err(TrialEnd::from) {
            Ok(params) => {
                self.single_reads.iter_mut().for_each(|reads| reads.is_warming_up = true);
                Ok(Some(params))
            }
            // The contender is started once more, for the file of its trial, and fails there in the
            // same way.
            Err(TrialEnd::Trial(_)) => Ok(None),
            Err(end) => Err(end),
        }
    }

    fn start_on_measured_file(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd> {
        self.open_measured_file(trial)?;
        Ok(self.pool.restart(&self.trials, trial)?)
    }

    /// Makes the link of a warm contender lead to the file of its trial. Returns `false` if the
    /// contender got no link and must be started again; the error is the reason why the contender
    /// cannot be used.
    fn link_to_measured_file(&self, trial: TrialIndex) -> Result<bool, String> {
        let planned = self.trials.trial(trial);
        if !WarmUpFile::reads_through_link(planned) {
            return Ok(false);
        }
        if !self.pool.has_session(trial) {
            return Err("memory ran short".to_owned());
        }
        let link = self
            .single_reads
            .as_ref()
            .and_then(|reads| Some((reads.warm_up_file?, reads.files[planned.target].target.file()?)));
        link.map_or(Ok(()), |(warm_up_file, file)| warm_up_file.relink(file)).map(|()| true)
    }

    fn open_measured_file(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        let Some(reads) = &self.single_reads else { return Ok(()) };
        let target = self.trials.trial(trial).target;
        let measured = reads.files[target].measured_target(target);
        let measured =
            measured.map_err(|error| TrialEnd::Trial(Outcome::Unavailable { reason: error.to_string() }))?;
        if reads.is_primed {
            read_untimed(&measured)?;
        }
        self.trials.replace_target(measured);
        Ok(())
    }

    /// Warns once that the contender of a trial reads its files without a warm-up.
    fn warn_not_warmed_up(&mut self, trial: TrialIndex, reason: &str) {
        let id = &self.trials.trial(trial).id;
        self.notes.warn_once(format!("{id} was not warmed up before its reading: {reason}"));
    }
}

/// Evicts the file of a target and reads the whole file untimed from its device; it is evicted
/// again before the turn.
fn read_untimed(measured: &MeasuredTarget) -> Result<(), TrialEnd> {
    let Some(path) = measured.target.file() else { return Ok(()) };
    measured.cache().map_or(Ok(()), |cache| cache.evict().map(drop))?;
    let read = File::open(path).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
    read.map(drop).map_err(|cause| TrialEnd::failed(format!("{}: {cause}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::super::testing::FIRST_TRIAL;
    use super::*;
    use crate::interface::Sampler;
    use crate::plan::Plan;
    use crate::round::testing::{COLD, plan, rules_for_readings};
    use crate::testing::sweep_target;
    use readlab_record::Line;
    use readlab_roster::discovery::Contenders;
    use std::fs;

    /// A plan that reads a file once, and the warm-up file, which is in another folder.
    struct SweepFiles {
        plan: Plan,
        contenders: Contenders,
        folder: tempfile::TempDir,
        files: Targets<SweepTarget>,
        warm_up_file: WarmUpFile,
    }

    impl SweepFiles {
        fn new() -> SweepFiles {
            let folder = tempfile::tempdir().unwrap();
            let (timed, untimed) = (folder.path().join("timed"), folder.path().join("warm-up"));
            fs::write(&timed, "bytes").unwrap();
            fs::write(&untimed, "bytes").unwrap();
            SweepFiles {
                plan: plan(rules_for_readings(1), &[("a", COLD)]),
                contenders: Contenders::default(),
                folder,
                files: [sweep_target(&timed, 0)].into_iter().collect(),
                warm_up_file: WarmUpFile::new(&untimed, sweep_target(&untimed, 0)),
            }
        }

        fn sampler(&self) -> ProcessSampler<'_> {
            let warm_up_file = Some(&self.warm_up_file);
            ProcessSampler::for_single_reads(&self.plan, &self.contenders, &self.files, warm_up_file)
        }
    }

    #[test]
    fn a_file_that_cannot_be_opened_gives_the_outcome_and_a_failed_warm_up_is_noted_once() {
        let files = SweepFiles::new();
        fs::remove_dir_all(files.folder.path()).unwrap();
        let mut sampler = files.sampler();
        for _ in 0..2 {
            let end = sampler.open(FIRST_TRIAL).unwrap_err();
            assert!(matches!(end, TrialEnd::Trial(Outcome::Unavailable { .. })), "{end:?}");
        }
        let notes = sampler.drain_notes();
        let [Line::Warning { text }] = &notes[..] else { panic!("{notes:?}") };
        assert!(text.starts_with("rust/a was not warmed up before its reading: "), "{text}");
    }

    #[test]
    fn during_a_warm_up_the_target_is_the_file_of_readlab() {
        let files = SweepFiles::new();
        let mut sampler = files.sampler();
        let trial = &files.plan.trials[0].trial;
        sampler.trials.replace_target(files.warm_up_file.prepare_stand_in_target(trial).unwrap());
        let path_of = |sampler: &ProcessSampler| {
            fs::canonicalize(sampler.trials.target_of(FIRST_TRIAL).target.file().unwrap()).unwrap()
        };
        assert!(path_of(&sampler).ends_with("warm-up"));
        assert_eq!(sampler.link_to_measured_file(FIRST_TRIAL), Err("memory ran short".to_owned()));
        assert!(path_of(&sampler).ends_with("warm-up"), "a contender that ended leaves the link");
        sampler.open_measured_file(FIRST_TRIAL).unwrap();
        assert!(path_of(&sampler).ends_with("timed"));
    }

    #[test]
    fn a_contender_without_a_warm_up_file_reads_nothing_before_its_turn() {
        let files = SweepFiles::new();
        let mut sampler = files.sampler();
        sampler.open_measured_file(FIRST_TRIAL).unwrap();
        assert_eq!(sampler.warm_up(FIRST_TRIAL), Ok(()), "nothing was started that could read");
    }
}
