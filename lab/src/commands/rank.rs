//! One rank of a fleet, from joining the job to leaving it: rank 0 writes the record and shows it,
//! and of the others nothing remains.

use super::fleet::FleetOptions;
use super::options::OutputOptions;
use super::output::{check_options, save, show_and_judge, shown_progress, until_interrupted};
use crate::experiment::config::RunConfig;
use crate::experiment::recorder::Recorder;
use crate::experiment::target_spec::{TargetSpec, TargetSpecs, examine_all};
use crate::experiment::{Experiment, participants};
use crate::fleet::Job;
use crate::fleet::agreement::{self, Agreement};
use crate::folder::RunFolder;
use crate::live::{Live, Shown};
use crate::terminal::notice;
use anyhow::bail;
use std::num::NonZero;
use std::process::ExitCode;
use std::rc::Rc;

/// Runs one rank of a fleet on the target of its number, and of how many there are. Rank 0 writes the record and shows it.
pub(super) fn run(
    mut config: RunConfig,
    target: impl FnOnce(u32, NonZero<u32>) -> anyhow::Result<TargetSpec>,
    fleet: FleetOptions,
    options: &OutputOptions,
) -> anyhow::Result<ExitCode> {
    until_interrupted(|| {
        let job = Rc::new(Job::join()?);
        let seed = job.is_leader().then_some(config.rules.seed);
        config.rules.seed = job.broadcast(seed.as_ref())?;
        let rank = Rank { job: &job, fleet, config: &config };
        let ranks = NonZero::new(job.size()).unwrap_or(NonZero::<u32>::MIN);
        let specs = target(job.rank(), ranks).map(|spec| vec![spec]);
        let done = match specs {
            Ok(specs) if job.is_leader() => rank.lead(specs, options),
            Ok(specs) => rank.serve(specs),
            Err(error) => Err(error),
        };
        match &done {
            Ok(_) => job.leave(),
            Err(error) => job.abort(&format!("{error:#}")),
        }
        done
    })
}

/// One rank of a fleet before it measures.
struct Rank<'a> {
    job: &'a Rc<Job>,
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
        let counts = self.fleet.counts.as_ref().map(|counts| counts.among(self.job.size())).transpose()?;
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
        let own = own.map(|own| if self.fleet.hidden.is_some() { own.hidden(self.job.rank()) } else { own });
        match agreement::agree(self.job, self.fleet.share, own)? {
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
