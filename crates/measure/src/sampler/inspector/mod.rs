//! The inspector: flame graphs and traces of a contender, taken in untimed processes of its own. A
//! flame graph shows where the processor's time goes while it reads; a trace shows the calls that
//! read the bytes once.
//!
//! What cannot be inspected has its reason in the record and spoils nothing; only an interruption
//! ends the run.

mod flame_graph;

pub use flame_graph::picture_file;

use super::cache_states::CacheStates;
use super::notes::Notes;
use super::observed_turn::minor_faults;
use super::own_commands::before_reading;
use super::session_pool::{PooledSession, SessionPool};
use super::trials::Trials;
use crate::inspect::profile::{self, Profiling, RuntimeMap};
use crate::inspect::trace::{MeteredReading, Tracing, untraced};
use crate::interface::{SampleError, TrialEnd};
use readlab_model::trial::{COMMAND, CacheState};
use readlab_protocol::TurnRequest;
use readlab_record::{EndReason, FlameGraph, Line, Trace, Trial};
use readlab_roster::roster::Warmup;
use readlab_roster::session::{LaunchedSession, Session, SessionError, Turn};
use readlab_system::folder::output_file::Inputs;
use readlab_system::program::Additions;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectPlan {
    /// Where flame graphs are written; `None` if none are drawn.
    pub flame_graphs: Option<FlameGraphPaths>,
    /// Whether the calls of a reading are traced.
    pub trace: bool,
}

/// Where flame graphs are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameGraphPaths {
    /// Their folder, which is made with the first of them.
    pub folder: PathBuf,
    /// The record's folder; the record names pictures below it by their path from there.
    pub record_folder: PathBuf,
    /// What the run reads: no picture replaces it.
    pub inputs: Inputs,
}

impl FlameGraphPaths {
    pub fn new(folder: PathBuf, record_folder: PathBuf) -> FlameGraphPaths {
        FlameGraphPaths { folder, record_folder, inputs: Inputs::default() }
    }
}

/// Samples that are enough for a flame graph: the share of a function that has a tenth of them is
/// known to about a fiftieth of all.
const SAMPLES_ENOUGH: u64 = 1500;

/// Longest time of reading for one flame graph, beyond which no reading begins.
const SAMPLING_TIME: Duration = Duration::from_secs(2);

/// Time for which a contender that must warm up reads before it is inspected.
const WARM_UP: Duration = Duration::from_secs(2);

/// Time of the readings of a turn: as many short readings as fit, so that most of a turn is not
/// waiting for the lab.
const TURN_NS: u64 = 100_000_000;

/// Most readings of a turn.
const READINGS_MAX: u64 = 100_000;

/// Why an inspection shows nothing.
enum InspectError {
    Because(String),
    End(EndReason),
}

impl From<TrialEnd> for InspectError {
    fn from(end: TrialEnd) -> InspectError {
        match end {
            TrialEnd::Run(end) | TrialEnd::Both(_, end) => InspectError::End(end),
            TrialEnd::Trial(outcome) => {
                InspectError::Because(outcome.reason().unwrap_or("it ended").to_owned())
            }
        }
    }
}

impl From<SampleError> for InspectError {
    fn from(error: SampleError) -> InspectError {
        match error {
            SampleError::TrialEnd(end) => end.into(),
            SampleError::Unproven(reason) => InspectError::Because(reason),
        }
    }
}

impl From<SessionError> for InspectError {
    fn from(error: SessionError) -> InspectError {
        TrialEnd::from(error).into()
    }
}

fn no_graph(reason: String) -> FlameGraph {
    FlameGraph { reason: Some(reason), ..FlameGraph::default() }
}

fn no_trace(reason: String) -> Trace {
    untraced(reason, MeteredReading::default())
}

/// What was found, or the reason why nothing was; the end of the run if the user wants to stop.
fn or_reason<T>(found: Result<T, InspectError>, without: fn(String) -> T) -> Result<T, EndReason> {
    match found {
        Ok(found) => Ok(found),
        Err(InspectError::Because(reason)) => Ok(without(reason)),
        Err(InspectError::End(end)) => Err(end),
    }
}

/// Inspects contenders as its plan says.
#[derive(Default)]
pub(super) struct Inspector {
    plan: InspectPlan,
}

impl Inspector {
    pub(super) fn new(plan: InspectPlan) -> Inspector {
        Inspector { plan }
    }

    /// Whether it inspects anything.
    pub(super) fn is_on(&self) -> bool {
        self.plan != InspectPlan::default()
    }

    /// Everything that is inspected of a trial, as lines for the record. A control has nothing
    /// inside.
    pub(super) fn inspect(&self, mut inspection: Inspection) -> Result<Vec<Line>, EndReason> {
        let mut lines = Vec::new();
        let trial = inspection.trial.index;
        if inspection.trial.is_control() {
            return Ok(lines);
        }
        if let Some(paths) = &self.plan.flame_graphs {
            let graph = Box::new(or_reason(inspection.flame_graph(paths), no_graph)?);
            lines.push(Line::FlameGraph { trial, graph });
        }
        if self.plan.trace {
            let trace = Box::new(or_reason(inspection.trace(), no_trace)?);
            lines.push(Line::Trace { trial, trace });
        }
        Ok(lines)
    }

    /// The same lines, each with the reason why the trial was not inspected.
    pub(super) fn not_inspected(&self, trial: &Trial, reason: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        let (index, reason) = (trial.index, || reason.to_owned());
        if trial.is_control() {
            return lines;
        }
        if self.plan.flame_graphs.is_some() {
            lines.push(Line::FlameGraph { trial: index, graph: Box::new(no_graph(reason())) });
        }
        if self.plan.trace {
            lines.push(Line::Trace { trial: index, trace: Box::new(no_trace(reason())) });
        }
        lines
    }
}

/// The inspection of one trial, with the parts of the sampler that make the state which it reads
/// from.
pub(super) struct Inspection<'s, 'a> {
    pub(super) trial: &'a Trial,
    pub(super) trials: &'s Trials<'a>,
    pub(super) states: &'s mut CacheStates,
    pub(super) pool: &'s mut SessionPool,
    pub(super) notes: &'s mut Notes,
}

impl Inspection<'_, '_> {
    /// Starts the contender so that its runtime writes the names of its functions, to a file that
    /// is its own; without the names where something else has that file's name.
    fn launch_profiled(&self) -> Result<LaunchedSession, SessionError> {
        let index = self.trial.index;
        if self.trial.contender() == COMMAND {
            return self.trials.launch(index, 0, profile::additions_of_commands());
        }
        match self.trials.launch(index, 0, profile::additions()) {
            Err(SessionError::NotStarted { cause, .. }) if cause.kind() == io::ErrorKind::AlreadyExists => {
                self.trials.launch(index, 0, Additions::default())
            }
            launched => launched,
        }
    }

    /// Samples readings until there are enough, and draws them.
    fn flame_graph(&mut self, paths: &FlameGraphPaths) -> Result<FlameGraph, InspectError> {
        let launched = self.launch_profiled()?;
        let _map = RuntimeMap::of_process(launched.id());
        let mut session = launched.hello()?;
        session.ready()?;
        // From the start on, so that the map of names is known, and removed, of every process that
        // leaves one.
        let profiling = Profiling::begin(session.id()).map_err(InspectError::Because)?;
        let readings = self.sample(&mut session, &profiling);
        let sampled = profiling.end();
        // Some runtimes write the names of their functions when they end; no map is written after
        // that.
        session.finish();
        Ok(flame_graph::draw(self.trial, readings?, sampled, paths))
    }

    /// Reads until there are enough samples; the number of readings.
    fn sample(&mut self, session: &mut Session, profiling: &Profiling) -> Result<u32, InspectError> {
        let lead = self.warm_up(session)?;
        profiling.count_from_now();
        let (began, mut readings) = (Instant::now(), 0);
        while profiling.samples() < SAMPLES_ENOUGH && began.elapsed() < SAMPLING_TIME {
            self.make_state()?;
            self.read(session, lead)?;
            readings += lead + 1;
        }
        Ok(readings)
    }

    /// The calls of one reading.
    fn trace(&mut self) -> Result<Trace, InspectError> {
        let target = self.trials.target_of(self.trial.index).target;
        let file = target.file().filter(|_| !target.facts.transport().has_server());
        let reason = match target.tree() {
            Some(_) => "it reads many files, and calls are traced of one",
            None => "it reads over http: the server reads the file",
        };
        let file = file.ok_or_else(|| InspectError::Because(reason.to_owned()))?;
        let tracing = Tracing::prepare(file).map_err(InspectError::Because)?;
        let (mut session, params) = self.trials.start(self.trial.index, tracing.env().into())?;
        self.warm_up(&mut session)?;
        let mut pooled = PooledSession::new(vec![session], params);
        self.make_state()?;
        tracing.begin().map_err(InspectError::Because)?;
        let turns = pooled.metered_turn(TurnRequest { lead: 0, count: 1 }, self.time_limit(0), || {})?;
        let turn = turns.into_iter().next().expect("it has one reader");
        self.trials.compare(self.trial, &turn.answer)?;
        let wall_ns = turn.answer.samples.iter().map(|sample| sample.wall_ns).sum();
        let minor_faults = minor_faults(self.trial, &turn.metered).clone().ok();
        let major_faults = turn.metered.major_faults.ok();
        Ok(tracing.end(MeteredReading { wall_ns, minor_faults, major_faults }))
    }

    /// Reads once, or for a while if the contender must warm up; the number of untimed readings
    /// that make a turn of a tenth of a second. Each cold reading has a turn of its own, because
    /// the next one would not be cold.
    fn warm_up(&mut self, session: &mut Session) -> Result<u32, InspectError> {
        let duration = match self.trials.warmup(self.trial.index) {
            Warmup::UntilSteady => WARM_UP,
            Warmup::Readings => Duration::ZERO,
        };
        let began = Instant::now();
        loop {
            self.make_state()?;
            let turn = self.read(session, 0)?;
            if began.elapsed() >= duration {
                let wall_ns = turn.samples.last().map_or(1, |sample| sample.wall_ns.max(1));
                let readings = (TURN_NS / wall_ns).clamp(1, READINGS_MAX);
                let is_alone = self.trial.state != CacheState::Warm || self.trial.command.prepare.is_some();
                let lead = if is_alone { 0 } else { readings - 1 };
                return Ok(u32::try_from(lead).expect("at most a hundred thousand"));
            }
        }
    }

    /// Does what comes before each reading of a command, and makes the state of the trial. The
    /// warm state is there since the last fill; where pages were evicted since then, the file is
    /// filled again.
    fn make_state(&mut self) -> Result<(), SampleError> {
        before_reading(self.trial, self.trials)?;
        let proof = self.states.prepare(self.trial, self.trials, self.pool, self.notes)?;
        let is_missing = self.trial.state == CacheState::Warm && proof.is_some_and(|it| !it.is_warm());
        if is_missing { Ok(CacheStates::refill(self.trials.page_cache(self.trial.target))?) } else { Ok(()) }
    }

    /// One turn whose answer is compared.
    fn read(&self, session: &mut Session, lead: u32) -> Result<Turn, InspectError> {
        let turn = session.turn(TurnRequest { lead, count: 1 }, self.time_limit(lead))?;
        self.trials.compare(self.trial, &turn)?;
        Ok(turn)
    }

    fn time_limit(&self, lead: u32) -> Duration {
        self.trials.time_limit(self.trial.index, lead + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Fixture;
    use super::*;
    use crate::round::testing::WARM;
    use readlab_model::trial::TrialIndex;

    #[test]
    fn every_planned_inspection_that_is_left_out_has_its_reason() {
        let fixture = Fixture::of_size(1);
        let trials = fixture.trials(&[("a", WARM), ("null", WARM)]);
        let inspector = Inspector::new(InspectPlan { trace: true, ..InspectPlan::default() });
        assert!(inspector.is_on() && !Inspector::default().is_on());
        let lines = inspector.not_inspected(trials.trial(TrialIndex::new(0)), "no time");
        assert!(
            matches!(lines.as_slice(), [Line::Trace { trial, .. }] if *trial == TrialIndex::new(0)),
            "{lines:?}"
        );
        assert!(inspector.not_inspected(trials.trial(TrialIndex::new(1)), "no time").is_empty(), "a control");
    }

    #[test]
    fn only_an_interruption_ends_the_run() {
        let found = or_reason(Err(InspectError::Because("no".to_owned())), no_graph).unwrap();
        assert_eq!(found.reason.as_deref(), Some("no"));
        let stopped: Result<FlameGraph, _> = Err(InspectError::End(EndReason::Interrupted));
        assert_eq!(or_reason(stopped, no_graph), Err(EndReason::Interrupted));
    }
}
