//! An experiment that all ranks of a fleet prepare, agree on, and measure together: rank 0 by its
//! rounds, the others by its orders. And the file that a witness watches on the server: what it does in a
//! turn is in [`readlab_fleet::crew`].

use super::execute::ExecuteError;
use super::recorder::Recorder;
use super::together::of_one_target;
use super::{Experiment, Procedure, Rounds};
use anyhow::Context;
use readlab_fleet::agreement::{Agreement, Answers, RankFacts, RankFileFacts, WholeFile, WitnessFacts};
use readlab_fleet::crew::Member;
use readlab_fleet::leader::{FleetSampler, Together};
use readlab_fleet::{Job, JobError};
use readlab_measure::cache::Eviction;
use readlab_measure::plan::Planned;
use readlab_measure::round;
use readlab_measure::sampler::ProcessSampler;
use readlab_measure::target::CacheControl;
use readlab_model::target::{Decoded, TargetFacts};
use readlab_model::trial::CacheState;
use readlab_record::{EndReason, Fleet, Line, Share};
use readlab_system::terminal::printable::display_path;
use readlab_system::{machine, system};
use readlab_targets::target::Target;
use readlab_targets::target::part::digest_of_places;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// The slowest rank may take so long beyond what the plainest reading took, before it counts as
/// lost: contenders are started and warmed up within one order.
const RANK_TIMEOUT_MIN: Duration = Duration::from_secs(60);

const RANK_TIMEOUT_FACTOR: u32 = 80;

impl Experiment {
    /// What this rank says of itself and of what it would measure.
    pub fn credentials(&self) -> anyhow::Result<RankFacts> {
        let program = std::env::current_exe().and_then(std::fs::read).context("its own program")?;
        let target = self.targets.first().context("a fleet reads one file")?;
        let facts = &target.target.facts;
        let path = target.target.file().context("a fleet reads files")?;
        let identity = self.caches.first().and_then(CacheControl::identity);
        let taking_part = |name: &str| self.plan.trials.iter().any(|it| it.trial.contender() == name);
        let receipts = self.contenders.present().iter().map(|contender| contender.receipt.clone());
        Ok(RankFacts {
            host: system::host_name(),
            boot: machine::boot(),
            program: format!("{:016x}", xxh3_64(&program)),
            contenders: receipts.filter(|receipt| taking_part(&receipt.contender)).collect(),
            plan: self.plan.trials.iter().map(digest_of).collect(),
            is_scaled: !self.rank_counts.is_empty(),
            file: RankFileFacts {
                path: facts.path.clone(),
                start_bytes: target.target.part.map(|part| part.start_bytes),
                whole: whole_file(path, identity.context("a file has an identity")?.size_bytes)?,
                size_bytes: facts.size_bytes,
                digest: facts.digest.clone(),
                answers: Answers {
                    plain: target.expected.truth.answer,
                    decoded: target.expected.decoded.as_ref().map(|it| it.answer),
                },
                device_bytes: facts.expected_device_bytes(),
                inode: identity.map(|it| (it.dev, it.ino)),
            },
        })
    }

    /// Has different numbers of ranks read, by turns: what they read together is a target for each
    /// number.
    pub fn scale(&mut self, counts: &BTreeSet<u32>) {
        self.target_for_each(counts, |facts, ranks| TargetFacts { ranks: Some(ranks), ..facts.clone() });
        self.rank_counts = counts.iter().copied().collect();
        for line in &mut self.header_lines {
            if let Line::Header(header) = line {
                // Which ranks measure a trial is not in its plan.
                header.agenda = None;
            }
        }
    }

    /// Makes it that of a rank of a fleet: the record is about what all ranks read together.
    pub fn join_fleet(&mut self, rank: u32, agreement: &Agreement) {
        if agreement.shared.iter().any(|cache| cache.ranks.contains(&(rank as usize))) {
            // What another rank brought into the cache is not fetched; rank 0 checks the sum.
            self.targets.iter_mut().for_each(|target| target.target.facts.extents = None);
        }
        if matches!(self.procedure, Procedure::Rounds(Rounds::Rest(_))) {
            return;
        }
        let mut place = self.header_lines.len();
        for (at, line) in self.header_lines.iter_mut().enumerate() {
            if let Line::Target { facts, .. } = line {
                make_joint(facts, agreement);
                place = at + 1;
            }
        }
        self.header_lines.insert(place, Line::Fleet(Box::new(agreement.fleet.clone())));
        self.header_lines
            .extend(shared_caches(agreement, &self.plan.states).map(super::header_lines::warning));
    }

    /// Replaces the name of the file by that of the fleet's first rank in what the record says of
    /// it, and this word of the command line.
    pub fn hide(&mut self, word: &str, fleet: &Fleet) {
        let name = fleet.ranks.first().map_or("file", |rank| rank.path.as_str());
        for line in &mut self.header_lines {
            match line {
                Line::Header(header) => {
                    let given = header.command.iter_mut().filter(|it| *it == word);
                    given.for_each(|it| *it = "FILE".to_owned());
                    // A run goes on only by the paths of its files.
                    header.agenda = None;
                }
                Line::Target { facts, .. } => {
                    (facts.path, facts.path_hex) = (name.to_owned(), None);
                    (facts.mount, facts.cautions) = (None, Vec::new());
                    facts.layers.clear();
                }
                _ => {}
            }
        }
    }

    /// Measures it with all ranks, of which this is rank 0.
    pub fn lead(
        self,
        job: &Rc<Job>,
        agreement: &Agreement,
        recorder: &mut Recorder,
    ) -> Result<EndReason, ExecuteError> {
        recorder.display().expect(&self.plan);
        let rest = match &self.procedure {
            Procedure::Rounds(Rounds::Rest(record)) => Some(record.clone()),
            _ => None,
        };
        rest.iter().for_each(|record| recorder.display().recall(record));
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

    /// Measures it as rank 0 orders.
    pub fn serve(self, job: &Rc<Job>, agreement: &Agreement) -> Result<(), JobError> {
        self.measure(job, agreement, |_, mut member| member.serve())
    }

    fn measure<T>(
        self,
        job: &Rc<Job>,
        agreement: &Agreement,
        measure: impl FnOnce(Together, Member) -> T,
    ) -> T {
        let before = self.elapsed();
        let Experiment { targets, caches, contenders, plan, inspect, rank_counts, .. } = self;
        let plainest_ns = targets.iter().map(|it| it.expected.truth.wall_ns).max().unwrap_or(0);
        job.set_time_limit(RANK_TIMEOUT_MIN + Duration::from_nanos(plainest_ns) * RANK_TIMEOUT_FACTOR);
        let measured = targets.iter().zip(caches).enumerate();
        let measured = measured.map(|(index, (target, cache))| target.measured(index, cache)).collect();
        let own = of_one_target(&plan);
        let sampler = ProcessSampler::new(&own, &contenders, measured).inspecting(inspect).after(before);
        let together = Together { plan: &plan, rank_counts: &rank_counts };
        measure(together, Member::new(Rc::clone(job), agreement, sampler))
    }

    pub fn refusal_in_fleet(&self) -> Option<&'static str> {
        let is_rounds = matches!(self.procedure, Procedure::Rounds(Rounds::All | Rounds::Rest(_)));
        let is_file = self.targets.len() == 1 && self.servers.is_empty();
        match (is_rounds, is_file && self.caches.iter().all(|cache| cache.identity().is_some())) {
            (true, true) => None,
            (false, _) => Some("a fleet only races"),
            (true, false) => Some("a fleet reads one file, not over HTTP"),
        }
    }
}

/// Makes what one rank reads what several read together.
fn make_joint(facts: &mut TargetFacts, agreement: &Agreement) {
    let all = agreement.fleet.ranks.len();
    let ranks = facts.ranks.map_or(all, |ranks| ranks as usize);
    let answers = agreement.answers_of(ranks);
    // What some ranks of several files answer together depends on which they are.
    let is_known = ranks == all || agreement.fleet.share == Share::Same;
    facts.size_bytes = agreement.fleet.ranks.iter().take(ranks).map(|rank| rank.size_bytes).sum();
    facts.answer = is_known.then_some(answers.plain);
    facts.digest = facts.digest.take().filter(|_| agreement.fleet.share == Share::Same);
    let decoded = facts.decoded.take().zip(answers.decoded.filter(|_| is_known));
    facts.decoded = decoded.map(|(decoded, answer)| Decoded { answer, ..decoded });
    // They are of one rank's file; each rank proves its own.
    (facts.extents, facts.hidden_cache) = (None, None);
}

/// The name of a trial, and a digest of all that is decided about it.
fn digest_of(planned: &Planned) -> (String, String) {
    let trial = &planned.trial;
    let text = serde_json::to_string(trial).expect("a trial has no maps with odd keys");
    (format!("{} ({})", trial.id, trial.state), format!("{:016x}", xxh3_64(text.as_bytes())))
}

/// A warning where ranks share a page cache and read the same: a cold reading of one brings bytes
/// for the others.
fn shared_caches(agreement: &Agreement, states: &[CacheState]) -> Option<String> {
    let is_shared = agreement.fleet.share != Share::Split;
    let ranks = agreement.shared.iter().map(|cache| {
        let ranks: Vec<String> = cache.ranks.iter().map(usize::to_string).collect();
        format!("ranks {} share a page cache", ranks.join(", "))
    });
    let ranks: Vec<String> = ranks.collect();
    (is_shared && !ranks.is_empty() && states.contains(&CacheState::Cold)).then(|| {
        format!("{}: in a cold turn each byte comes to their host once for all of them", ranks.join("; "))
    })
}

/// A file of the server, with control over its page cache.
#[derive(Debug)]
pub struct WatchedFile {
    target: Target,
    pub cache: CacheControl,
}

impl WatchedFile {
    /// Examines the file, and makes it cold once.
    pub fn open(path: &Path) -> anyhow::Result<WatchedFile> {
        let target = Target::examine(path)?;
        let cache = CacheControl::open(&target, Eviction::OfFile)?;
        cache.evict().map_err(anyhow::Error::msg)?;
        Ok(WatchedFile { target, cache })
    }

    /// What the ranks compare with the file that they read.
    pub fn credentials(&self) -> anyhow::Result<WitnessFacts> {
        let path = self.target.file().context("a witness watches a file")?;
        Ok(WitnessFacts {
            host: system::host_name(),
            path: display_path(path),
            whole: whole_file(path, self.target.facts.size_bytes)?,
        })
    }
}

fn whole_file(path: &Path, bytes: u64) -> anyhow::Result<WholeFile> {
    Ok(WholeFile { bytes, places: digest_of_places(path).with_context(|| display_path(path))? })
}
