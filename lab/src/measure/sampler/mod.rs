//! One turn of one trial, for real: the cache made and proven, the meters opened, "go", the answer,
//! the meters closed, the state proven again, every answer compared. This is the sentence that
//! every number of readlab rests on.
//!
//! What a state of the cache takes lives in [`super::cache`], what is metered in [`super::meters`],
//! how a contender is spoken to in [`crate::contender::session`], and which turn comes when in
//! [`super::round`].

mod claims;
mod conduct;
mod counting;
mod filling;
mod holding;
mod inside;
mod read_offset;
mod samples;
mod state_violation;
mod warmup;

use super::cache::{CacheError, PageCache};
use super::interface::{SampleError, Sampler, TrialEnd};
use super::meters::Metered;
use super::next_layer::NextLayer;
use super::plan::Plan;
use super::residency::ResidencyProof;
use super::session_pool::{PooledSession, SessionPool};
use super::target::MeasuredTarget;
use crate::contender::discovery::Contenders;
use crate::contender::session::{Session, SessionError, Turn};
use crate::corpus::oracle::Truth;
use crate::record::{Count, EndReason, Fill, Line, Outcome, Sample, Trial};
use crate::target::web::CACHE_UNKNOWN;
use crate::trial::{Answer, CacheState, Params, Transport, TrialId, Work};
use counting::RuntimeCounts;
use holding::Holding;
pub use inside::{FlameGraphPaths, InspectPlan};
use readlab_protocol::TurnRequest;
use samples::Observed;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::{Duration, Instant};

/// The least a turn may take before its contender counts as hung.
const PATIENCE_MIN: Duration = Duration::from_secs(10);

/// And so many times the time of the plainest reading, for each reading of the turn.
const PATIENCE_FACTOR: u32 = 40;

/// A reading shorter than this is taken several times in one turn: a process that was just woken
/// finds its caches cold, and a program that reads small files reads many of them.
const SHORT_READING_NS: u64 = 1_000_000;

/// Untimed reading at the head of such a turn.
const LEAD_NS: u64 = 200_000;

/// Most timed readings in one turn: enough rounds must remain to see the machine drift.
const COUNT_MAX: u64 = 10;

/// Most untimed readings in one turn.
const LEAD_MAX: u64 = 64;

/// What a short reading is taken to cost before it was measured: a fixed part and a rate of 4 GB/s.
const SHORT_READING_FIXED_NS: u64 = 2_000;

/// Variables that keep clients from asking a proxy: every method must ask the same server.
const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

/// Contenders hired for one plan on one target.
pub struct ProcessSampler<'a> {
    plan: &'a Plan,
    contenders: &'a Contenders,
    subjects: Vec<MeasuredTarget<'a>>,
    pool: SessionPool,
    holding: Holding,
    told: BTreeMap<usize, RuntimeCounts>,
    /// What was counted of trials, without what their runtimes told.
    counts: BTreeMap<usize, BTreeMap<String, Count>>,
    missing: Vec<(&'static str, String)>,
    notes: Vec<Line>,
    /// Those whose answers readlab adds to, which is said once.
    adjusted: BTreeSet<TrialId>,
    noted: conduct::Noted,
    looks: InspectPlan,
    /// Whether a contender that is started anew before its turn reads the file untimed first.
    warms_up: bool,
    /// Time that the run took before it was cut short.
    earlier: Duration,
    started: Instant,
}

impl<'a> ProcessSampler<'a> {
    /// Ready to carry out the plan on its targets, by number, whose right answers are known.
    #[must_use]
    pub fn new(
        plan: &'a Plan,
        contenders: &'a Contenders,
        subjects: Vec<MeasuredTarget<'a>>,
    ) -> ProcessSampler<'a> {
        let (pool, holding) = (SessionPool::default(), Holding::default());
        let (told, counts) = (BTreeMap::new(), BTreeMap::new());
        let (missing, notes, looks) = (Vec::new(), Vec::new(), InspectPlan::default());
        let noted = conduct::Noted::new();
        let (warms_up, adjusted) = (true, BTreeSet::new());
        let (earlier, started) = (Duration::ZERO, Instant::now());
        ProcessSampler {
            plan,
            contenders,
            subjects,
            pool,
            holding,
            told,
            counts,
            missing,
            notes,
            noted,
            adjusted,
            looks,
            warms_up,
            earlier,
            started,
        }
    }

    /// The same, where no file may be read before its timed reading.
    #[must_use]
    pub(super) fn without_warm_up(self) -> Self {
        ProcessSampler { warms_up: false, ..self }
    }

    /// A contender that goes on elsewhere, if it still waits.
    pub(super) fn give_up(&mut self, trial: usize) -> Option<PooledSession> {
        self.pool.give_up(trial)
    }

    /// Goes on with a contender that was started elsewhere.
    pub(super) fn take_over(&mut self, trial: usize, seat: PooledSession) {
        self.pool.take(trial, seat);
    }

    /// The same, looking inside what is measured besides.
    #[must_use]
    pub fn looking(self, looks: InspectPlan) -> ProcessSampler<'a> {
        ProcessSampler { looks, ..self }
    }

    /// The same, where the run has taken some time already.
    #[must_use]
    pub fn after(self, earlier: Duration) -> ProcessSampler<'a> {
        ProcessSampler { earlier, ..self }
    }

    /// What a trial reads.
    fn subject(&self, trial: usize) -> &MeasuredTarget<'a> {
        let target = self.planned(trial).target;
        let subject = self.subjects.iter().find(|subject| subject.index == target);
        subject.expect("every target of the plan has its subject")
    }

    /// What is true of what a trial reads.
    fn truth(&self, trial: usize) -> &'a Truth {
        let subject = self.subject(trial);
        let decodes = self.planned(trial).decodes.is_some();
        subject.decoded.filter(|_| decodes).unwrap_or(subject.truth)
    }

    /// Brings the cache into the state that a turn starts from, and tells what is resident then.
    /// The warm state stands since the last fill. Eviction proves itself: to look once more would,
    /// for a file of somebody else's, bring pages back.
    fn prepare_state(&mut self, trial: &Trial) -> Result<Option<ResidencyProof>, SampleError> {
        match (trial.state, self.subject(trial.index).cache()) {
            (CacheState::Cold, Some(_)) => self.make_cold(trial),
            _ => Ok(self.resident(trial.index, "resident_before")),
        }
    }

    /// How much of the file is resident now, asked of the kernel; `name` is the contenders of a
    /// sample that it becomes.
    fn resident(&mut self, trial: usize, name: &'static str) -> Option<ResidencyProof> {
        let cache = self.subject(trial).cache().ok_or_else(|| CACHE_UNKNOWN.to_owned());
        let found = cache.and_then(|cache| cache.resident().map_err(|error| error.to_string()));
        found.map_err(|why| self.missing.push((name, why))).ok()
    }

    /// What the layer below the file system has read until now, where there is one with a count of
    /// its own.
    fn next_layer_bytes(&self, trial: usize) -> Option<Result<u64, String>> {
        self.subject(trial).next_layer().map(NextLayer::read_bytes)
    }

    /// One turn between meters.
    fn metered_turn(&mut self, trial: usize, ask: TurnRequest) -> Result<(Turn, Metered), SampleError> {
        let patience = self.patience(trial, ask.lead + ask.count);
        let seat = self.seat(trial)?;
        seat.meters.begin();
        let turn = seat.session.turn(ask, patience);
        let metered = seat.meters.end();
        turn.as_ref().map_or(Ok(()), |turn| self.look_after(trial, ask, turn))?;
        if turn.is_ok() || self.subject(trial).target.file().is_some() {
            self.unchanged(trial)?;
        }
        Ok((turn.map_err(|breach| take_breach(&breach))?, metered))
    }

    /// How long a turn may take: the plainest reading is the measure.
    fn patience(&self, trial: usize, readings: u32) -> Duration {
        PATIENCE_MIN + Duration::from_nanos(self.truth(trial).wall_ns) * PATIENCE_FACTOR * readings
    }

    fn seat(&mut self, trial: usize) -> Result<&mut PooledSession, SampleError> {
        let nobody = || {
            SampleError::TrialEnd(TrialEnd::Trial(Outcome::Failed {
                reason: "it was not started".to_owned(),
            }))
        };
        self.pool.get_mut(trial).ok_or_else(nobody)
    }

    /// Every answer of a turn, compared with the truth.
    fn compare(&self, trial: &Trial, turn: &Turn) -> Result<(), SampleError> {
        let truth = &self.truth(trial.index).answer;
        for sample in &turn.samples {
            let answer = Answer::from(sample);
            // A control may say nothing, or no more than how many bytes it brought.
            let of_control = answer == Answer::default() || answer.proves(Work::Discard, truth);
            if !(answer.proves(trial.work, truth) || trial.is_control() && of_control) {
                let reason = answer.refusal(trial.work, truth);
                return Err(SampleError::TrialEnd(TrialEnd::Trial(Outcome::Refused { reason })));
            }
        }
        Ok(())
    }

    /// Says once of a trial what readlab adds to its answers.
    fn note_added(&mut self, trial: &Trial, turn: &Turn) {
        let truth = &self.truth(trial.index).answer;
        let added = turn.samples.first().and_then(|sample| Answer::from(sample).added(trial.work, truth));
        if let Some(added) = added
            && self.adjusted.insert(trial.id.clone())
        {
            self.notes.push(Line::Warning { text: format!("{} {added}", trial.id) });
        }
    }

    /// A target that changed ends the run: no number about it can be compared with another.
    fn unchanged(&self, trial: usize) -> Result<(), SampleError> {
        let subject = self.subject(trial);
        subject.change().map_or(Ok(()), |change| {
            let reason = format!("{} {change} while it was raced", subject.target.facts.path);
            Err(SampleError::TrialEnd(TrialEnd::Both(Outcome::Refused { reason }, EndReason::TargetChanged)))
        })
    }

    /// Starts the contender of a trial, with something added to its environment.
    fn start(&self, trial: usize, env: Vec<(OsString, OsString)>) -> Result<(Session, Params), SessionError> {
        let choice = &self.plan.planned(trial).choice;
        let contender = self
            .contenders
            .contender(&choice.id.contender)
            .expect("the plan names only contenders with receipts");
        let target = self.subject(trial).target;
        let mut command = contender.read_command(choice, self.planned(trial).work, target.word());
        command.env.extend(env);
        if target.facts.over() == Transport::Http {
            command.env.extend(NO_PROXY.map(|name| (name.into(), "*".into())));
        }
        let mut session = Session::start(&choice.id.contender, &command)?;
        let params = session.ready()?;
        Ok((session, params))
    }

    fn planned(&self, trial: usize) -> &'a Trial {
        &self.plan.planned(trial).trial
    }

    /// How many readings a turn holds: one, unless they are so short that waking up would be most
    /// of them.
    fn ask(&self, trial: &Trial) -> TurnRequest {
        let facts = &self.subject(trial.index).target.facts;
        let bytes = facts.size_bytes.max(facts.bytes_out(trial.decodes));
        let reading_ns = SHORT_READING_FIXED_NS + bytes / 4;
        if trial.state == CacheState::Cold
            || facts.over() == Transport::Http
            || reading_ns >= SHORT_READING_NS
        {
            return TurnRequest { lead: 0, count: 1 };
        }
        let times = |span_ns: u64, most: u64| {
            u32::try_from((span_ns / reading_ns).clamp(1, most)).expect("at most sixty-four")
        };
        let count = self.plan.rules.readings_per_turn(times(SHORT_READING_NS, COUNT_MAX));
        TurnRequest { lead: times(LEAD_NS, LEAD_MAX), count }
    }

    /// Starts the contender of a trial in the place of the one before.
    fn restart(&mut self, trial: usize) -> Result<Params, SessionError> {
        self.pool.leave(trial);
        let (session, params) = self.start(trial, Vec::new())?;
        self.pool.take(trial, PooledSession::new(session));
        Ok(params)
    }

    /// One whom memory did not let stay is started and warmed up as at the beginning.
    fn ensure_running(&mut self, trial: usize) -> Result<(), SampleError> {
        if self.pool.has(trial) {
            return Ok(());
        }
        self.restart(trial).map_err(|breach| take_breach(&breach))?;
        let warm_ups = if self.warms_up { self.plan.rules.warmup.max(1) } else { 0 };
        (0..warm_ups).try_for_each(|_| self.warm_up_until_ready(trial))
    }

    /// Whose turn is over stays if memory allows it.
    fn release_if_low_memory(&mut self, trial: usize) {
        let cached = |subject: &MeasuredTarget| subject.target.facts.size_bytes;
        let cached_bytes = match self.planned(trial).state {
            CacheState::Warm => self.files().map(cached).sum(),
            CacheState::Cold | CacheState::Unknown => 0,
        };
        self.pool.release_if_low_memory(trial, cached_bytes);
    }

    /// The sentence: the cache made and proven, the turn between meters, the state proven again,
    /// the answers compared.
    fn proven_turn(&mut self, trial: &Trial) -> Result<Vec<Sample>, SampleError> {
        let ask = self.ask(trial);
        let before = self.prepare_state(trial)?;
        let below_before = self.next_layer_bytes(trial.index);
        let (turn, metered) = self.metered_turn(trial.index, ask)?;
        let below = below_before.zip(self.next_layer_bytes(trial.index));
        let below = below.map(|(before, after)| Ok(after?.saturating_sub(before?)));
        let after = self.resident(trial.index, "resident_after");
        self.compare(trial, &turn)?;
        self.note_added(trial, &turn);
        if let Some(reason) = claims::refuted(ask, &turn, &metered).filter(|_| !trial.is_control()) {
            return Err(SampleError::TrialEnd(TrialEnd::Trial(Outcome::Refused { reason })));
        }
        self.told.entry(trial.index).or_default().add(ask, &turn.counts);
        let observed = Observed { before, turn, metered, after, below };
        let samples = self.samples(trial, ask, &observed);
        self.state_violation(trial, &samples, &observed)
            .map_or(Ok(samples), |state_violation| Err(SampleError::Unproven(state_violation)))
    }
}

fn take_breach(breach: &SessionError) -> SampleError {
    SampleError::TrialEnd(match breach.outcome() {
        Some(outcome) => TrialEnd::Trial(outcome),
        None => TrialEnd::Run(EndReason::Interrupted),
    })
}

/// Pages that stay may go at the next try; every other failure is in the nature of the file system.
fn cache_trouble(error: CacheError) -> SampleError {
    match error {
        CacheError::Remains { .. } => SampleError::Unproven(error.to_string()),
        other => SampleError::TrialEnd(TrialEnd::Trial(cache_outcome(&other))),
    }
}

/// What a state that cannot be made means for those who would start from it.
fn cache_outcome(error: &CacheError) -> Outcome {
    let reason = error.to_string();
    match error {
        // The file could be read when the truth was found: its device fails.
        CacheError::Io { .. } => Outcome::Failed { reason },
        _ => Outcome::Unavailable { reason },
    }
}

impl Sampler for ProcessSampler<'_> {
    fn open(&mut self, trial: usize) -> Result<Params, TrialEnd> {
        if let Some(refused) = self.refusal(trial) {
            return Err(TrialEnd::Trial(refused));
        }
        self.restart(trial)
            .map_err(|breach| breach.outcome().map_or(TrialEnd::Run(EndReason::Interrupted), TrialEnd::Trial))
    }

    fn warm_up(&mut self, trial: usize) -> Result<(), TrialEnd> {
        let rehearsed = self.warm_up_until_ready(trial);
        self.release_if_low_memory(trial);
        rehearsed.map_err(|trouble| match trouble {
            SampleError::TrialEnd(ending) => self.with_read_offset(trial, ending),
            SampleError::Unproven(reason) => TrialEnd::Trial(Outcome::Refused { reason }),
        })
    }

    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        if crate::linux::interrupt::requested() {
            return Err(TrialEnd::Run(EndReason::Interrupted));
        }
        self.fill_all(fill)
    }

    fn turn(&mut self, trial: usize, _state: CacheState) -> Result<Vec<Sample>, SampleError> {
        self.not_refused(trial)?;
        self.ensure_running(trial)?;
        // What an earlier turn left behind, of whichever trial, is not this one's.
        self.missing.clear();
        let samples = self.proven_turn(self.planned(trial));
        self.release_if_low_memory(trial);
        samples.map_err(|trouble| match trouble {
            SampleError::TrialEnd(ending) => SampleError::TrialEnd(self.with_read_offset(trial, ending)),
            unproven @ SampleError::Unproven(_) => unproven,
        })
    }

    fn count(&mut self, trial: usize) -> Result<BTreeMap<String, Count>, TrialEnd> {
        let ended = |breach: SessionError| match take_breach(&breach) {
            SampleError::TrialEnd(ending) => ending,
            SampleError::Unproven(reason) => TrialEnd::Trial(Outcome::Failed { reason }),
        };
        self.counted(trial).map_err(ended)
    }

    fn is_counted(&self, trial: usize) -> bool {
        self.counted_before(trial).is_some()
    }

    fn looks_inside(&self) -> bool {
        self.looks != InspectPlan::default()
    }

    fn look_inside(&mut self, trial: usize) -> Result<Vec<Line>, EndReason> {
        self.inspect(trial)
    }

    fn refusal(&self, trial: usize) -> Option<Outcome> {
        self.holding.refusal(trial)
    }

    fn not_inspected(&mut self, trial: usize, reason: &str) -> Vec<Line> {
        self.unlooked(trial, reason)
    }

    fn bytes(&self, trial: usize) -> Option<u64> {
        self.truth(trial).answer.bytes
    }

    fn close(&mut self, trial: usize) {
        self.pool.leave(trial);
    }

    fn notes(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.notes)
    }

    fn missing(&mut self) -> Vec<(&'static str, String)> {
        std::mem::take(&mut self.missing)
    }

    fn elapsed_ns(&self) -> u64 {
        u64::try_from((self.earlier + self.started.elapsed()).as_nanos()).unwrap_or(u64::MAX)
    }
}
