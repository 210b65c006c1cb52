//! One rank of a fleet, from joining the job to leaving it: rank 0 writes the record and shows it,
//! and of the others nothing remains.

use super::fleet::FleetOptions;
use super::options::OutputOptions;
use super::output::{check_options, save, show_and_judge, shown_progress, until_interrupted};
use crate::experiment::config::RunConfig;
use crate::experiment::recorder::Recorder;
use crate::experiment::target_spec::{TargetSpec, TargetSpecs, examine_all};
use crate::experiment::watched_file::WatchedFile;
use crate::experiment::{Experiment, participants};
use crate::fleet::Job;
use crate::fleet::agreement::{self, Agreement, Told};
use crate::fleet::role::{self, Role};
use crate::fleet::witness::Witness;
use crate::folder::RunFolder;
use crate::live::{Live, Shown};
use crate::record::Share;
use crate::terminal::notice;
use anyhow::bail;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;

/// Runs one rank of a fleet on the target of its number, of as many as there are. Rank 0 writes the
/// record and shows it.
pub(super) fn run(
    mut config: RunConfig,
    target: impl FnOnce(u32, NonZero<u32>) -> anyhow::Result<TargetSpec>,
    fleet: FleetOptions,
    options: &OutputOptions,
) -> anyhow::Result<ExitCode> {
    until_interrupted(|| {
        let job = Rc::new(Job::join()?);
        let readers = match role::readers(&job, Role::Reader)? {
            Ok(readers) => readers,
            Err(reason) => return Ok(refused(&job, reason)),
        };
        let seed = job.is_leader().then_some(config.rules.seed);
        config.rules.seed = job.broadcast(seed.as_ref())?;
        let rank = Rank { job: &job, readers, fleet, config: &config };
        let specs = target(job.rank(), readers).map(|spec| vec![spec]);
        let done = match specs {
            Ok(specs) if job.is_leader() => rank.lead(specs, options),
            Ok(specs) => rank.serve(specs),
            Err(error) => Err(error),
        };
        left(&job, done)
    })
}

/// Runs the rank on the server, which watches this file.
pub(super) fn witness(path: &Path) -> anyhow::Result<ExitCode> {
    until_interrupted(|| {
        let job = Rc::new(Job::join()?);
        if let Err(reason) = role::readers(&job, Role::Witness)? {
            return Ok(refused(&job, reason));
        }
        // The seed is for those that plan.
        job.broadcast::<u64>(None)?;
        left(&job, watch(&job, path))
    })
}

fn watch(job: &Rc<Job>, path: &Path) -> anyhow::Result<u8> {
    let file = WatchedFile::open(path);
    let told = file.as_ref().map_err(|error| format!("{error:#}"));
    let told = told.and_then(|file| file.credentials().map_err(|error| format!("{error:#}")));
    let agreed = agreement::agree(job, Share::default(), told.map(Told::Witness))?;
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

/// One rank of a fleet before it measures.
struct Rank<'a> {
    job: &'a Rc<Job>,
    /// How many ranks read.
    readers: NonZero<u32>,
    fleet: FleetOptions,
    config: &'a RunConfig,
}

/// What rank 0 has before the ranks agree.
struct Prepared {
    folder: RunFolder,
    recorder: Recorder,
    experiment: Experiment,
}

impl Rank<'_> {
    /// Rank 0, which shows and records what all do.
    fn lead(&self, specs: TargetSpecs, options: &OutputOptions) -> anyhow::Result<u8> {
        let live = Live::begin(shown_progress(options));
        let folder = RunFolder::make(options.output.as_deref());
        let begun = folder.map_err(anyhow::Error::from).and_then(|folder| {
            let recorder = Recorder::begin(&folder, live.clone()).inspect_err(|_| folder.abandon())?;
            Ok((folder, recorder))
        });
        let prepared = begun.and_then(|(folder, recorder)| {
            check_options(options)
                .and_then(|()| self.prepare(specs, &live, &recorder))
                .inspect_err(|_| folder.abandon())
                .map(|experiment| Prepared { folder, recorder, experiment })
        });
        let agreed = self.agree(prepared.as_ref().map(|prepared| &prepared.experiment))?;
        let (Ok(Prepared { folder, mut recorder, mut experiment }), agreed) = (prepared, agreed) else {
            return Ok(EXIT_DIFFERENT);
        };
        let Some(agreement) = agreed else {
            recorder.withdraw()?;
            folder.abandon();
            return Ok(EXIT_DIFFERENT);
        };
        experiment.join_fleet(self.job.rank(), &agreement);
        self.fleet.hidden.iter().for_each(|word| experiment.hide(word, &agreement.fleet));
        experiment.introduce(&mut recorder)?;
        recorder.publish()?;
        save(options, recorder.path())?;
        let requested = experiment.requested();
        let end = experiment.lead(self.job, &agreement, &mut recorder);
        show_and_judge(recorder, end.map(drop), &requested, options)
    }

    /// Another rank, of whose record nothing remains.
    fn serve(&self, specs: TargetSpecs) -> anyhow::Result<u8> {
        let live = Live::begin(Shown::Nothing);
        let folder = tempfile::tempdir();
        let prepared = folder.map_err(anyhow::Error::from).and_then(|folder| {
            let recorder = Recorder::begin(&RunFolder::make(Some(folder.path()))?, live.clone())?;
            let experiment = self.prepare(specs, &live, &recorder)?;
            recorder.withdraw()?;
            Ok(experiment)
        });
        let agreed = self.agree(prepared.as_ref())?;
        let (Ok(mut experiment), Some(agreement)) = (prepared, agreed) else { return Ok(0) };
        experiment.join_fleet(self.job.rank(), &agreement);
        experiment.serve(self.job, &agreement)?;
        Ok(0)
    }

    fn prepare(&self, specs: TargetSpecs, live: &Live, recorder: &Recorder) -> anyhow::Result<Experiment> {
        let counts = self.fleet.counts.as_ref().map(|counts| counts.among(self.readers.get())).transpose()?;
        let mut examined = examine_all(self.config, &[specs])?;
        let contenders = Rc::new(participants::discover(self.config, live)?);
        let mut experiment = Experiment::prepare(self.config, &contenders, examined.remove(0), recorder)?;
        counts.iter().for_each(|counts| experiment.scale(counts));
        match experiment.refusal_in_fleet() {
            Some(reason) => bail!(reason),
            None => Ok(experiment),
        }
    }

    /// What all ranks agree on; `None` if they do not, of which rank 0 tells the reason.
    fn agree(&self, prepared: Result<&Experiment, &anyhow::Error>) -> anyhow::Result<Option<Agreement>> {
        let own = match prepared {
            Ok(experiment) => experiment.credentials().map_err(|error| format!("{error:#}")),
            Err(error) => Err(format!("{error:#}")),
        };
        let is_hidden = self.fleet.hidden.is_some();
        let own = own.map(|own| if is_hidden { own.hidden(self.job.rank()) } else { own });
        let told = own.map(|own| Told::Reader(Box::new(own)));
        match agreement::agree(self.job, self.fleet.share, told)? {
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
