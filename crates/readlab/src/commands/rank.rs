//! One rank of a fleet, from joining the job to leaving it. Rank 0 writes the record and shows it;
//! the other ranks leave no files behind.

use super::compare::record_path;
use super::fleet::rank_counts_among;
use super::options::OutputOptions;
use super::output::{
    check_options, finish_and_show, name_record, run_until_interrupted, shown_progress, target_inputs,
};
use anyhow::{Context, bail};
use readlab_fleet::agreement::{self, Agreement, AgreementTerms, RankStatement};
use readlab_fleet::crew::Witness;
use readlab_fleet::{Job, RankRole};
use readlab_record::history::History;
use readlab_record::{Fleet, RecordWriter, RunKind, ShareMode};
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::fleet::{JoinedFleet, WatchedFile};
use readlab_run::experiment::recorder::Recorder;
use readlab_run::experiment::target_spec::{TargetSpec, examine_all, transports};
use readlab_run::experiment::{Experiment, InterruptedRun, SharedRunFacts, participants};
use readlab_run::live::{LiveView, ShownProgress};
use readlab_system::folder::RunFolder;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::display_path;
use serde::{Deserialize, Serialize};
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

pub(super) enum FleetTask<'a> {
    Begin(Box<NewRun<'a>>),
    /// Resumes the run of this record, which only rank 0 has.
    Resume(&'a str),
}

pub(super) struct NewRun<'a> {
    pub(super) config: RunConfig,
    /// The target of a reader, by its number and the number of readers.
    pub(super) target_of_reader: &'a dyn Fn(u32, NonZero<u32>) -> anyhow::Result<TargetSpec>,
    pub(super) share: ShareMode,
    /// Numbers of ranks with which each trial is read; an empty slice means the default numbers, and
    /// `None` means that all ranks always read.
    pub(super) rank_counts: Option<&'a [u32]>,
    /// The word on the command line that names the file, which the record must not show; `None` if
    /// names are shown.
    pub(super) hidden_word: Option<String>,
}

/// The announcement of rank 0 to the others before all prepare.
#[derive(Debug, Serialize, Deserialize)]
enum RunAnnouncement {
    /// A new run, whose rounds are shuffled with this seed.
    Anew { seed: u64 },
    /// Resumes the run that rank 0 has reopened.
    #[serde(rename = "Rest")]
    Resumed(SharedRunFacts),
}

/// An interrupted run with its record, on rank 0.
struct ReopenedRun {
    run: InterruptedRun,
    writer: RecordWriter,
    fleet: Fleet,
}

/// Runs one rank of a fleet. Rank 0 writes the record and shows it.
pub(super) fn run(task: FleetTask, options: &OutputOptions) -> anyhow::Result<ExitCode> {
    run_until_interrupted(|| {
        let job = Rc::new(Job::join()?);
        let readers = match job.reader_count(RankRole::Reader)? {
            Ok(readers) => readers,
            Err(reason) => return Ok(end_refused_job(&job, reason)),
        };
        let reopened = if job.is_leader() { task.reopen() } else { Ok(None) };
        let told = job.is_leader().then(|| match &reopened {
            Ok(reopened) => Ok(task.announcement(reopened.as_ref())),
            Err(error) => Err(format!("{error:#}")),
        });
        let announcement = match job.broadcast(told.as_ref())? {
            Ok(announcement) => announcement,
            Err(reason) => return Ok(end_refused_job(&job, reason)),
        };
        let done = match reopened? {
            Some(ReopenedRun { run, writer, fleet }) => {
                let rank = PreparingRank {
                    job: &job,
                    share: fleet.share,
                    resumed_fleet: Some(fleet),
                    hidden_word: None,
                };
                rank.lead(run.for_rank(0).map(|run| RankRun::Resumed(Box::new(run))), Some(writer), options)
            }
            None => {
                let (share, hidden_word) = match &task {
                    FleetTask::Begin(run) => (run.share, run.hidden_word.clone()),
                    FleetTask::Resume(_) => (ShareMode::default(), None),
                };
                let rank = PreparingRank { job: &job, share, resumed_fleet: None, hidden_word };
                let work = task.rank_run(announcement, job.rank(), readers);
                if job.is_leader() { rank.lead(work, None, options) } else { rank.serve(work) }
            }
        };
        leave_or_abort(&job, done)
    })
}

impl FleetTask<'_> {
    /// The interrupted run to resume; `None` for a new run.
    fn reopen(&self) -> anyhow::Result<Option<ReopenedRun>> {
        let FleetTask::Resume(name) = self else { return Ok(None) };
        let path = record_path(History::of_user().as_ref(), name)?;
        let (run, writer) = InterruptedRun::open(RunKind::Race, &path)?;
        let fleet = run.fleet().with_context(|| display_path(&path))?.clone();
        Ok(Some(ReopenedRun { run, writer, fleet }))
    }

    fn announcement(&self, reopened: Option<&ReopenedRun>) -> RunAnnouncement {
        match (self, reopened) {
            (_, Some(reopened)) => RunAnnouncement::Resumed(reopened.run.shared_facts()),
            (FleetTask::Begin(run), None) => RunAnnouncement::Anew { seed: run.config.rules.seed },
            (FleetTask::Resume(_), None) => unreachable!("rank 0 has reopened it"),
        }
    }

    /// The run that a rank without the record prepares.
    fn rank_run(
        self,
        announcement: RunAnnouncement,
        rank: u32,
        readers: NonZero<u32>,
    ) -> anyhow::Result<RankRun> {
        match (announcement, self) {
            (RunAnnouncement::Resumed(lines), _) => {
                lines.for_rank(rank).map(|run| RankRun::Resumed(Box::new(run)))
            }
            (RunAnnouncement::Anew { seed }, FleetTask::Begin(run)) => {
                let NewRun { config, target_of_reader, rank_counts, .. } = *run;
                let counts =
                    rank_counts.map(|counts| rank_counts_among(counts, readers.get())).transpose()?;
                let config = config.for_rank(seed, counts.unwrap_or_default());
                Ok(RankRun::New {
                    config: Box::new(config),
                    spec: Box::new(target_of_reader(rank, readers)?),
                })
            }
            (RunAnnouncement::Anew { .. }, FleetTask::Resume(_)) => bail!("--resume: rank 0 begins anew"),
        }
    }
}

/// Runs the rank on the server, which makes this file cold before cold turns.
pub(super) fn run_witness(path: &Path) -> anyhow::Result<ExitCode> {
    run_until_interrupted(|| {
        let job = Rc::new(Job::join()?);
        if let Err(reason) = job.reader_count(RankRole::Witness)? {
            return Ok(end_refused_job(&job, reason));
        }
        // The announcement only matters for ranks that plan.
        if let Err(reason) = job.broadcast::<Result<RunAnnouncement, String>>(None)? {
            return Ok(end_refused_job(&job, reason));
        }
        leave_or_abort(&job, watch_as_witness(&job, path))
    })
}

fn watch_as_witness(job: &Rc<Job>, path: &Path) -> anyhow::Result<u8> {
    let file = WatchedFile::open(path);
    let told = file.as_ref().map_err(|error| format!("{error:#}"));
    let told = told.and_then(|file| file.witness_facts().map_err(|error| format!("{error:#}")));
    let agreed = agreement::agree(job, AgreementTerms::default(), told.map(RankStatement::Witness))?;
    let (Ok(file), Ok(agreement)) = (file, agreed) else { return Ok(0) };
    let hidden_names = file.hidden_names(&agreement);
    Witness::new(Rc::clone(job), &agreement, file.cache, hidden_names).serve()?;
    Ok(0)
}

/// Ends a job whose ranks form no fleet; only rank 0 reports the reason.
fn end_refused_job(job: &Job, reason: String) -> u8 {
    if job.is_leader() {
        notice::show(reason);
    }
    job.leave();
    EXIT_RANKS_DIFFER
}

/// Leaves the job; after an error, aborts it so that the others do not wait for this rank.
fn leave_or_abort(job: &Job, done: anyhow::Result<u8>) -> anyhow::Result<u8> {
    match &done {
        Ok(_) => job.leave(),
        Err(error) => job.abort(&format!("{error:#}")),
    }
    done
}

/// The run that a rank prepares.
enum RankRun {
    New { config: Box<RunConfig>, spec: Box<TargetSpec> },
    Resumed(Box<InterruptedRun>),
}

impl RankRun {
    fn prepare(self, live: &LiveView, recorder: &Recorder) -> anyhow::Result<Experiment> {
        let experiment = match self {
            RankRun::New { config, spec } => {
                let mut examined = examine_all(&config, &[vec![*spec]])?;
                let contenders = Rc::new(participants::discover(&config, &transports(&examined), live)?);
                let targets = examined.remove(0);
                Experiment::prepare(&config, &contenders, targets, recorder)?
            }
            RankRun::Resumed(run) => Experiment::from_record(*run, recorder, true)?,
        };
        match experiment.why_not_in_fleet() {
            Some(reason) => bail!(reason),
            None => Ok(experiment),
        }
    }
}

/// One rank of a fleet before it measures.
struct PreparingRank<'a> {
    job: &'a Rc<Job>,
    share: ShareMode,
    /// On rank 0, the fleet whose run is resumed; `None` for a new run and on other ranks.
    resumed_fleet: Option<Fleet>,
    /// The word on the command line that names the file, which the record must not show; `None` if
    /// names are shown.
    hidden_word: Option<String>,
}

/// The record of a run, new or reopened.
struct BegunRecord {
    /// The folder that was created for a new record; `None` for a reopened record.
    folder: Option<RunFolder>,
    recorder: Recorder,
}

impl BegunRecord {
    fn begin_new(options: &OutputOptions, live: &LiveView) -> anyhow::Result<BegunRecord> {
        let folder = RunFolder::make(options.output.as_deref())?;
        let recorder = Recorder::begin(&folder, live.clone()).inspect_err(|_| folder.remove_if_unused())?;
        Ok(BegunRecord { folder: Some(folder), recorder })
    }

    /// Gives up because nothing is measured: removes a new record, and leaves a reopened one
    /// unchanged.
    fn abandon(self) -> anyhow::Result<()> {
        match self.folder {
            Some(folder) => {
                self.recorder.withdraw()?;
                folder.remove_if_unused();
            }
            None => drop(self.recorder.finish()),
        }
        Ok(())
    }
}

impl PreparingRank<'_> {
    fn lead(
        &self,
        work: anyhow::Result<RankRun>,
        writer: Option<RecordWriter>,
        options: &OutputOptions,
    ) -> anyhow::Result<u8> {
        let live = LiveView::begin(shown_progress(options));
        let reopened = writer.map(|writer| Recorder::with_writer(writer, live.clone()));
        let begun = match reopened {
            Some(recorder) => Ok(BegunRecord { folder: None, recorder }),
            None => BegunRecord::begin_new(options, &live),
        };
        let prepared = begun.and_then(|begun| {
            let prepared = work.and_then(|work| work.prepare(&live, &begun.recorder));
            let checked = prepared.and_then(|experiment| {
                let inputs = target_inputs(experiment.targets(), options)?;
                check_options(options, Some(begun.recorder.path()), &inputs)?;
                Ok(experiment)
            });
            match checked {
                Ok(experiment) => Ok((begun, experiment)),
                Err(error) => begun.abandon().and(Err(error)),
            }
        });
        let agreed = self.agree(prepared.as_ref().map(|(_, experiment)| experiment))?;
        let Ok((mut begun, mut experiment)) = prepared else { return Ok(EXIT_RANKS_DIFFER) };
        let Some(agreement) = agreed else {
            begun.abandon()?;
            return Ok(EXIT_RANKS_DIFFER);
        };
        let fleet = JoinedFleet { agreement: &agreement, hidden_word: self.hidden_word.as_deref() };
        begun.recorder.hide_names(experiment.hidden_names(&agreement, self.job.rank()));
        experiment.write_first_lines(Some(&fleet), &mut begun.recorder)?;
        if let Err(error) = name_record(&mut begun.recorder, options) {
            return begun.abandon().and(Err(error));
        }
        let mut recorder = begun.recorder;
        let requested = experiment.requested_names();
        let end = experiment.lead(self.job, &agreement, &mut recorder);
        finish_and_show(recorder, end.map(drop), &requested, options)
    }

    /// Runs another rank; its temporary record is removed.
    fn serve(&self, work: anyhow::Result<RankRun>) -> anyhow::Result<u8> {
        let live = LiveView::begin(ShownProgress::Nothing);
        let folder = tempfile::tempdir();
        let prepared = folder.map_err(anyhow::Error::from).and_then(|folder| {
            let recorder = Recorder::begin(&RunFolder::make(Some(folder.path()))?, live.clone())?;
            let experiment = work?.prepare(&live, &recorder)?;
            recorder.withdraw()?;
            Ok(experiment)
        });
        let agreed = self.agree(prepared.as_ref())?;
        let (Ok(experiment), Some(agreement)) = (prepared, agreed) else { return Ok(0) };
        experiment.serve(self.job, &agreement)?;
        Ok(0)
    }

    /// The agreement of all ranks; `None` if they differ, which rank 0 reports with the reason.
    fn agree(&self, prepared: Result<&Experiment, &anyhow::Error>) -> anyhow::Result<Option<Agreement>> {
        let own = match prepared {
            Ok(experiment) => experiment.rank_facts().map_err(|error| format!("{error:#}")),
            Err(error) => Err(format!("{error:#}")),
        };
        let hides_names = self.hidden_word.is_some();
        let own = own.map(|own| if hides_names { own.with_hidden_names(self.job.rank()) } else { own });
        let told = own.map(|own| RankStatement::Reader(Box::new(own)));
        let resumed_fleet = self.resumed_fleet.as_ref();
        let terms = AgreementTerms { share: self.share, hides_names, resumed_fleet };
        match agreement::agree(self.job, terms, told)? {
            Ok(agreement) => Ok(Some(agreement)),
            Err(reason) => {
                if self.job.is_leader() {
                    notice::show(reason);
                }
                Ok(None)
            }
        }
    }
}

/// Exit code if ranks differ, or if one could not begin.
const EXIT_RANKS_DIFFER: u8 = 2;
