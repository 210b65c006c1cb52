//! One rank of a fleet, from joining the job to leaving it: rank 0 writes the record and shows it,
//! and of the others nothing remains.

use super::compare::path_of;
use super::fleet::counts_among;
use super::options::OutputOptions;
use super::output::{check_options, files_of, save, show_and_judge, shown_progress, until_interrupted};
use anyhow::{Context, bail};
use readlab_fleet::agreement::{self, Agreement, RankStatement, Terms};
use readlab_fleet::crew::Witness;
use readlab_fleet::{Job, Role};
use readlab_record::history::History;
use readlab_record::{Fleet, RecordWriter, RunKind, Share};
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::fleet::{JoinedFleet, WatchedFile};
use readlab_run::experiment::recorder::Recorder;
use readlab_run::experiment::target_spec::{TargetSpec, examine_all, transports};
use readlab_run::experiment::{Experiment, FirstLines, InterruptedRun, participants};
use readlab_run::live::{Live, Shown};
use readlab_system::folder::RunFolder;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::display_path;
use serde::{Deserialize, Serialize};
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

/// What a fleet is to do.
pub(super) enum Task<'a> {
    Anew(Box<NewRun<'a>>),
    /// The rest of the run of this record, which rank 0 has.
    Rest(&'a str),
}

pub(super) struct NewRun<'a> {
    pub(super) config: RunConfig,
    /// The target of the reader of a number, of as many as there are.
    pub(super) target: &'a dyn Fn(u32, NonZero<u32>) -> anyhow::Result<TargetSpec>,
    pub(super) share: Share,
    /// How many ranks read together, by turns, or the usual numbers; `None` where always all do.
    pub(super) counts: Option<&'a [u32]>,
    /// The word on the command line that names the file, where names are hidden.
    pub(super) hidden: Option<String>,
}

/// What rank 0 tells the others before all prepare.
#[derive(Debug, Serialize, Deserialize)]
enum RunAnnouncement {
    /// A new run, whose order is drawn from this seed.
    Anew { seed: u64 },
    /// The rest of the run that rank 0 has reopened.
    Rest(FirstLines),
}

/// An interrupted run with its record, on rank 0.
struct Reopened {
    run: InterruptedRun,
    writer: RecordWriter,
    fleet: Fleet,
}

/// Runs one rank of a fleet. Rank 0 writes the record and shows it.
pub(super) fn run(task: Task, options: &OutputOptions) -> anyhow::Result<ExitCode> {
    until_interrupted(|| {
        let job = Rc::new(Job::join()?);
        let readers = match job.readers(Role::Reader)? {
            Ok(readers) => readers,
            Err(reason) => return Ok(refused(&job, reason)),
        };
        let reopened = if job.is_leader() { task.reopened() } else { Ok(None) };
        let told = job.is_leader().then(|| match &reopened {
            Ok(reopened) => Ok(task.announcement(reopened.as_ref())),
            Err(error) => Err(format!("{error:#}")),
        });
        let announcement = match job.broadcast(told.as_ref())? {
            Ok(announcement) => announcement,
            Err(reason) => return Ok(refused(&job, reason)),
        };
        let done = match reopened? {
            Some(Reopened { run, writer, fleet }) => {
                let rank = Rank { job: &job, share: fleet.share, before: Some(fleet), hidden: None };
                rank.lead(run.of_rank(0).map(|run| RankRun::Rest(Box::new(run))), Some(writer), options)
            }
            None => {
                let (share, hidden) = match &task {
                    Task::Anew(run) => (run.share, run.hidden.clone()),
                    Task::Rest(_) => (Share::default(), None),
                };
                let rank = Rank { job: &job, share, before: None, hidden };
                let work = task.work(announcement, job.rank(), readers);
                if job.is_leader() { rank.lead(work, None, options) } else { rank.serve(work) }
            }
        };
        left(&job, done)
    })
}

impl Task<'_> {
    /// The interrupted run that goes on, if this is none anew.
    fn reopened(&self) -> anyhow::Result<Option<Reopened>> {
        let Task::Rest(name) = self else { return Ok(None) };
        let path = path_of(History::of_user().as_ref(), name)?;
        let (run, writer) = InterruptedRun::open(RunKind::Race, &path)?;
        let fleet = run.fleet().with_context(|| display_path(&path))?.clone();
        Ok(Some(Reopened { run, writer, fleet }))
    }

    fn announcement(&self, reopened: Option<&Reopened>) -> RunAnnouncement {
        match (self, reopened) {
            (_, Some(reopened)) => RunAnnouncement::Rest(reopened.run.first_lines()),
            (Task::Anew(run), None) => RunAnnouncement::Anew { seed: run.config.rules.seed },
            (Task::Rest(_), None) => unreachable!("rank 0 has reopened it"),
        }
    }

    /// What a rank that has no record prepares.
    fn work(
        self,
        announcement: RunAnnouncement,
        rank: u32,
        readers: NonZero<u32>,
    ) -> anyhow::Result<RankRun> {
        match (announcement, self) {
            (RunAnnouncement::Rest(lines), _) => lines.of_rank(rank).map(|run| RankRun::Rest(Box::new(run))),
            (RunAnnouncement::Anew { seed }, Task::Anew(run)) => {
                let NewRun { config, target, counts, .. } = *run;
                let counts = counts.map(|counts| counts_among(counts, readers.get())).transpose()?;
                let config = config.of_rank(seed, counts.unwrap_or_default());
                Ok(RankRun::Anew { config: Box::new(config), spec: Box::new(target(rank, readers)?) })
            }
            (RunAnnouncement::Anew { .. }, Task::Rest(_)) => bail!("--resume: rank 0 begins anew"),
        }
    }
}

/// Runs the rank on the server, which watches this file.
pub(super) fn witness(path: &Path) -> anyhow::Result<ExitCode> {
    until_interrupted(|| {
        let job = Rc::new(Job::join()?);
        if let Err(reason) = job.readers(Role::Witness)? {
            return Ok(refused(&job, reason));
        }
        // What begins is for those that plan.
        if let Err(reason) = job.broadcast::<Result<RunAnnouncement, String>>(None)? {
            return Ok(refused(&job, reason));
        }
        left(&job, watch(&job, path))
    })
}

fn watch(job: &Rc<Job>, path: &Path) -> anyhow::Result<u8> {
    let file = WatchedFile::open(path);
    let told = file.as_ref().map_err(|error| format!("{error:#}"));
    let told = told.and_then(|file| file.credentials().map_err(|error| format!("{error:#}")));
    let agreed = agreement::agree(job, Terms::default(), told.map(RankStatement::Witness))?;
    let (Ok(file), Ok(agreement)) = (file, agreed) else { return Ok(0) };
    Witness::new(Rc::clone(job), &agreement, file.cache).serve()?;
    Ok(0)
}

/// Ends a job whose ranks are no fleet; the reason is told once.
fn refused(job: &Job, reason: String) -> u8 {
    if job.is_leader() {
        notice::show(reason);
    }
    job.leave();
    EXIT_DIFFERENT
}

/// Leaves the job; after an error the others must not wait for this rank.
fn left(job: &Job, done: anyhow::Result<u8>) -> anyhow::Result<u8> {
    match &done {
        Ok(_) => job.leave(),
        Err(error) => job.abort(&format!("{error:#}")),
    }
    done
}

enum RankRun {
    Anew { config: Box<RunConfig>, spec: Box<TargetSpec> },
    Rest(Box<InterruptedRun>),
}

impl RankRun {
    fn prepare(self, live: &Live, recorder: &Recorder) -> anyhow::Result<Experiment> {
        let experiment = match self {
            RankRun::Anew { config, spec } => {
                let mut examined = examine_all(&config, &[vec![*spec]])?;
                let contenders = Rc::new(participants::discover(&config, &transports(&examined), live)?);
                let targets = examined.remove(0);
                Experiment::prepare(&config, &contenders, targets, recorder)?
            }
            RankRun::Rest(run) => Experiment::from_record(*run, recorder, true)?,
        };
        match experiment.refusal_in_fleet() {
            Some(reason) => bail!(reason),
            None => Ok(experiment),
        }
    }
}

/// One rank of a fleet before it measures.
struct Rank<'a> {
    job: &'a Rc<Job>,
    share: Share,
    /// The fleet whose run goes on, on rank 0.
    before: Option<Fleet>,
    /// The word on the command line that names the file, where names are hidden.
    hidden: Option<String>,
}

/// The record of a run, new or reopened.
struct Begun {
    /// The folder that was made for it.
    folder: Option<RunFolder>,
    recorder: Recorder,
}

impl Begun {
    fn anew(options: &OutputOptions, live: &Live) -> anyhow::Result<Begun> {
        let folder = RunFolder::make(options.output.as_deref())?;
        let recorder = Recorder::begin(&folder, live.clone()).inspect_err(|_| folder.abandon())?;
        Ok(Begun { folder: Some(folder), recorder })
    }

    /// Nothing is measured: of a new record nothing remains, and a reopened one is as it was.
    fn abandon(self) -> anyhow::Result<()> {
        match self.folder {
            Some(folder) => {
                self.recorder.withdraw()?;
                folder.abandon();
            }
            None => drop(self.recorder.finish()),
        }
        Ok(())
    }
}

impl Rank<'_> {
    /// Rank 0, which shows and records what all do.
    fn lead(
        &self,
        work: anyhow::Result<RankRun>,
        writer: Option<RecordWriter>,
        options: &OutputOptions,
    ) -> anyhow::Result<u8> {
        let live = Live::begin(shown_progress(options));
        let reopened = writer.map(|writer| Recorder::resume_with(writer, live.clone()));
        let begun = match reopened {
            Some(recorder) => Ok(Begun { folder: None, recorder }),
            None => Begun::anew(options, &live),
        };
        let prepared = begun.and_then(|begun| {
            let prepared = work.and_then(|work| work.prepare(&live, &begun.recorder));
            let checked = prepared.and_then(|experiment| {
                check_options(options, &files_of(experiment.targets(), options)?)?;
                Ok(experiment)
            });
            match checked {
                Ok(experiment) => Ok((begun, experiment)),
                Err(error) => begun.abandon().and(Err(error)),
            }
        });
        let agreed = self.agree(prepared.as_ref().map(|(_, experiment)| experiment))?;
        let Ok((begun, mut experiment)) = prepared else { return Ok(EXIT_DIFFERENT) };
        let Some(agreement) = agreed else {
            begun.abandon()?;
            return Ok(EXIT_DIFFERENT);
        };
        let mut recorder = begun.recorder;
        let fleet = JoinedFleet { agreement: &agreement, hidden: self.hidden.as_deref() };
        experiment.introduce_fleet(&fleet, &mut recorder)?;
        recorder.publish()?;
        save(options, recorder.path())?;
        let requested = experiment.requested();
        let end = experiment.lead(self.job, &agreement, &mut recorder);
        show_and_judge(recorder, end.map(drop), &requested, options)
    }

    /// Another rank, of whose record nothing remains.
    fn serve(&self, work: anyhow::Result<RankRun>) -> anyhow::Result<u8> {
        let live = Live::begin(Shown::Nothing);
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

    /// What all ranks agree on; `None` if they do not, of which rank 0 tells the reason.
    fn agree(&self, prepared: Result<&Experiment, &anyhow::Error>) -> anyhow::Result<Option<Agreement>> {
        let own = match prepared {
            Ok(experiment) => experiment.credentials().map_err(|error| format!("{error:#}")),
            Err(error) => Err(format!("{error:#}")),
        };
        let is_hidden = self.hidden.is_some();
        let own = own.map(|own| if is_hidden { own.hidden(self.job.rank()) } else { own });
        let told = own.map(|own| RankStatement::Reader(Box::new(own)));
        let terms = Terms { share: self.share, before: self.before.as_ref() };
        match agreement::agree(self.job, terms, told)? {
            Ok(agreement) if is_hidden => Ok(Some(agreement.hidden_witness())),
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

/// Ranks differ, or one could not begin.
const EXIT_DIFFERENT: u8 = 2;
