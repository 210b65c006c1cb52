//! An experiment that all ranks of a fleet prepare, agree on, and measure together: rank 0 runs the
//! rounds and orders every turn, and the other ranks follow. [`WatchedFile`] is the file that a
//! witness makes cold on the server; [`readlab_fleet::crew`] defines what a witness does in a turn.

use super::execute::ExecuteError;
use super::recorder::Recorder;
use super::targets::measured_targets;
use super::together::plan_for_measured_targets;
use super::{Experiment, Procedure, Rounds};
use anyhow::Context;
use readlab_fleet::agreement::{
    Agreement, ContentAnswers, RankFacts, RankFileFacts, WholeFile, WitnessFacts,
};
use readlab_fleet::crew::FleetMember;
use readlab_fleet::hidden_names::HiddenNames;
use readlab_fleet::leader::{FleetPlan, FleetSampler};
use readlab_fleet::{Job, JobError};
use readlab_measure::cache::EvictionScope;
use readlab_measure::plan::PlannedTrial;
use readlab_measure::round;
use readlab_measure::sampler::ProcessSampler;
use readlab_measure::target::CacheControl;
use readlab_model::target::{DecodedContent, TargetFacts};
use readlab_model::trial::CacheState;
use readlab_record::{EndReason, Fleet, Header, Line, ShareMode};
use readlab_system::terminal::printable::display_path;
use readlab_system::{machine, system};
use readlab_targets::target::Target;
use readlab_targets::target::part::digest_of_places;
use std::path::Path;
use std::rc::Rc;
use xxhash_rust::xxh3::xxh3_64;

impl Experiment {
    pub fn rank_facts(&self) -> anyhow::Result<RankFacts> {
        let program = std::env::current_exe().and_then(std::fs::read).context("its own program")?;
        let target = self.targets.first().context("a fleet reads one file")?;
        let facts = &target.target.facts;
        let path = target.target.file().context("a fleet reads files")?;
        let identity = self.cache_controls.first().and_then(CacheControl::identity);
        let taking_part = |name: &str| self.plan.trials.iter().any(|it| it.trial.contender() == name);
        let receipts = self.contenders.present().iter().map(|contender| contender.receipt.clone());
        Ok(RankFacts {
            host: system::host_name(),
            boot_id: machine::boot_id(),
            program_digest: format!("{:016x}", xxh3_64(&program)),
            contenders: receipts.filter(|receipt| taking_part(&receipt.contender)).collect(),
            trial_digests: self.plan.trials.iter().map(name_and_digest).collect(),
            varies_rank_count: !self.reader_group.reader_counts().is_empty(),
            file: RankFileFacts {
                path: facts.path.clone(),
                start_bytes: target.target.part.map(|part| part.start_bytes),
                whole_file: whole_file_facts(path, identity.context("a file has an identity")?.size_bytes)?,
                size_bytes: facts.size_bytes,
                digest: facts.digest.clone(),
                answers: ContentAnswers {
                    plain: target.expected.truth.answer,
                    decoded: target.expected.decoded_truth.as_ref().map(|it| it.answer),
                },
                expected_device_bytes: facts.expected_device_bytes(),
                device_and_inode: identity.map(|it| (it.dev, it.ino)),
            },
        })
    }

    /// The names of this rank that the record of the fleet must not show; none if it shows names.
    pub fn hidden_names(&self, agreement: &Agreement, rank: u32) -> HiddenNames {
        match self.targets().next().and_then(Target::file) {
            Some(file) if agreement.hides_names => HiddenNames::of_rank(rank, &system::host_name(), file),
            _ => HiddenNames::default(),
        }
    }

    /// Measures the experiment with all ranks; this is rank 0.
    pub fn lead(
        self,
        job: &Rc<Job>,
        agreement: &Agreement,
        recorder: &mut Recorder,
    ) -> Result<EndReason, ExecuteError> {
        recorder.display().expect_trials(&self.plan);
        let rest = match &self.procedure {
            Procedure::Rounds(Rounds::Resumed(record)) => Some(record.clone()),
            _ => None,
        };
        rest.iter().for_each(|record| recorder.display().add_record(record));
        self.measure(job, agreement, |together, member| {
            let mut sampler = FleetSampler::new(together, member, agreement);
            let end = match &rest {
                None => round::run(together.plan, &mut sampler, recorder),
                Some(record) => round::resume(together.plan, record, &mut sampler, recorder),
            };
            sampler.leave();
            Ok(end?)
        })
    }

    /// Measures the experiment as rank 0 orders.
    pub fn serve(self, job: &Rc<Job>, agreement: &Agreement) -> Result<(), JobError> {
        self.measure(job, agreement, |_, mut member| member.serve())
    }

    fn measure<T>(
        self,
        job: &Rc<Job>,
        agreement: &Agreement,
        measure: impl FnOnce(FleetPlan, FleetMember) -> T,
    ) -> T {
        let (before, hidden_names) = (self.elapsed(), self.hidden_names(agreement, job.rank()));
        let Experiment {
            mut targets,
            cache_controls: caches,
            contenders,
            plan,
            inspect_plan: inspect,
            reader_group,
            ..
        } = self;
        let own = job.rank() as usize;
        if agreement.shared_caches.iter().any(|cache| cache.ranks.contains(&own)) {
            // Bytes that another rank brought into the shared cache are not fetched again; rank 0
            // checks the sum.
            targets.iter_mut().for_each(|target| target.target.facts.extents = None);
        }
        let own = plan_for_measured_targets(&plan, 1);
        let sampler = ProcessSampler::new(&own, &contenders, measured_targets(&targets, caches))
            .with_inspections(inspect)
            .with_earlier_time(before);
        let together = FleetPlan { plan: &plan, rank_counts: &reader_group.reader_counts() };
        measure(together, FleetMember::new(Rc::clone(job), agreement, sampler, hidden_names))
    }

    /// Why a fleet cannot measure this experiment; `None` if it can.
    pub fn why_not_in_fleet(&self) -> Option<&'static str> {
        let is_rounds = matches!(self.procedure, Procedure::Rounds(Rounds::All | Rounds::Resumed(_)));
        let is_file = self.targets.len() == 1 && self.servers.is_empty();
        match (is_rounds, is_file && self.cache_controls.iter().all(|cache| cache.identity().is_some())) {
            (true, true) => None,
            (false, _) => Some("a fleet only races"),
            (true, false) => Some("a fleet reads one file, not over HTTP"),
        }
    }
}

/// A fleet whose ranks agree, and the name that its record hides.
pub struct JoinedFleet<'a> {
    pub agreement: &'a Agreement,
    /// The word of the command line that names the file, which the record must not show; `None` if
    /// names are shown.
    pub hidden_word: Option<&'a str>,
}

impl JoinedFleet<'_> {
    pub(super) fn fleet_line(&self) -> Line {
        Line::Fleet(Box::new(self.agreement.fleet.clone()))
    }

    /// The header of the fleet's record, from the header of rank 0. If a name is hidden, the header
    /// shows neither the name nor a plan for resuming the run.
    pub(super) fn joint_header(&self, own: &Header) -> Header {
        let Some(hidden) = self.hidden_word else { return own.clone() };
        let names = HiddenNames::of_word(hidden, "FILE");
        let mut command = own.command.clone();
        command.iter_mut().for_each(|word| names.hide_in_text(word));
        // Without the paths of its files a run cannot be resumed.
        Header { command, resume_plan: None, ..own.clone() }
    }

    /// Facts about the bytes that several ranks read together, from the facts of one rank.
    pub(super) fn joint_facts(&self, own: &TargetFacts) -> TargetFacts {
        let Fleet { ranks: all, share, .. } = &self.agreement.fleet;
        let ranks = own.rank_count.map_or(all.len(), |ranks| ranks as usize);
        let answers = self.agreement.joint_answers(ranks);
        // If ranks read different files, the joint answer of a part of the ranks depends on which
        // ranks take part.
        let is_known = ranks == all.len() || *share == ShareMode::Same;
        let decoded = own.decoded.clone().zip(answers.decoded.filter(|_| is_known));
        let joint = TargetFacts {
            size_bytes: all.iter().take(ranks).map(|rank| rank.size_bytes).sum(),
            answer: is_known.then_some(answers.plain),
            digest: own.digest.clone().filter(|_| *share == ShareMode::Same),
            decoded: decoded.map(|(decoded, answer)| DecodedContent { answer, ..decoded }),
            // Extents are facts of one rank's file; each rank proves its own.
            extents: None,
            hidden_cache: None,
            ..own.clone()
        };
        if self.hidden_word.is_none() {
            return joint;
        }
        let path = all.first().map_or("file", |rank| rank.path.as_str()).to_owned();
        TargetFacts { path, path_hex: None, mount: None, cautions: Vec::new(), layers: Vec::new(), ..joint }
    }

    /// A warning if ranks that share a page cache read the same bytes: a cold reading of one rank
    /// brings bytes into the cache of the others. `None` if no ranks do.
    pub(super) fn shared_cache_warning(&self, states: &[CacheState]) -> Option<String> {
        let Agreement { fleet, shared_caches, .. } = self.agreement;
        let is_shared = fleet.share != ShareMode::Split;
        let ranks = shared_caches.iter().map(|cache| {
            let ranks: Vec<String> = cache.ranks.iter().map(usize::to_string).collect();
            format!("ranks {} share a page cache", ranks.join(", "))
        });
        let ranks: Vec<String> = ranks.collect();
        (is_shared && !ranks.is_empty() && states.contains(&CacheState::Cold)).then(|| {
            format!("{}: in a cold turn each byte comes to their host once for all of them", ranks.join("; "))
        })
    }
}

/// The name of a trial with its state, and a digest of everything that is decided about the trial.
fn name_and_digest(planned: &PlannedTrial) -> (String, String) {
    let trial = &planned.trial;
    let text = serde_json::to_string(trial).expect("a trial has no maps with odd keys");
    (format!("{} ({})", trial.id, trial.state), format!("{:016x}", xxh3_64(text.as_bytes())))
}

/// A file on the server, with control over its page cache.
#[derive(Debug)]
pub struct WatchedFile {
    target: Target,
    pub cache: CacheControl,
}

impl WatchedFile {
    /// Examines the file, and evicts it once.
    pub fn open(path: &Path) -> anyhow::Result<WatchedFile> {
        let target = Target::examine(path)?;
        let cache = CacheControl::open(&target, EvictionScope::OfFile)?;
        cache.evict().map_err(anyhow::Error::msg)?;
        Ok(WatchedFile { target, cache })
    }

    /// The names of the witness that the record of the fleet must not show; none if it shows names.
    pub fn hidden_names(&self, agreement: &Agreement) -> HiddenNames {
        match self.target.file() {
            Some(file) if agreement.hides_names => HiddenNames::of_witness(&system::host_name(), file),
            _ => HiddenNames::default(),
        }
    }

    /// Facts about the file, which are compared with those of the file that all ranks read.
    pub fn witness_facts(&self) -> anyhow::Result<WitnessFacts> {
        let path = self.target.file().context("a witness watches a file")?;
        Ok(WitnessFacts {
            host: system::host_name(),
            path: display_path(path),
            whole_file: whole_file_facts(path, self.target.facts.size_bytes)?,
        })
    }
}

fn whole_file_facts(path: &Path, bytes: u64) -> anyhow::Result<WholeFile> {
    Ok(WholeFile {
        size_bytes: bytes,
        places_digest: digest_of_places(path).with_context(|| display_path(path))?,
    })
}
