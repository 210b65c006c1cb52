//! Looking inside a contender, in processes of its own that nobody times: where the processor's
//! time goes while it reads, drawn as a flame graph, and the calls that bring the bytes of one
//! reading.
//!
//! What cannot be seen has its reason and spoils nothing; only the wish to stop ends the run.

use super::samples::minor_faults;
use super::{ProcessSampler, cache_trouble, take_breach};
use crate::contender::roster::Warmup;
use crate::contender::session::{Session, SessionError, Turn};
use crate::measure::inspect::profile::{self, Profiling, Sampled};
use crate::measure::inspect::trace::{MeteredReading, Tracing, untraced};
use crate::measure::interface::{SampleError, TrialEnd};
use crate::measure::session_pool::PooledSession;
use crate::record::{EndReason, FlameGraph, HotSpot, Line, Trace, Trial};
use crate::trial::{CacheState, Transport};
use readlab_protocol::TurnRequest;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is looked at besides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectPlan {
    /// Where flame graphs go; `None` where there shall be none.
    pub flame_graphs: Option<FlameGraphPaths>,
    /// Whether the calls of a reading are traced.
    pub trace: bool,
}

/// Where pictures go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameGraphPaths {
    /// Their folder; made when the first is.
    pub folder: PathBuf,
    /// The record's folder, from which they are named where they lie below it.
    pub record_folder: PathBuf,
}

/// Samples that make a picture: the share of a function that holds a tenth of them is known to
/// about a fiftieth of all.
const SAMPLES_ENOUGH: u64 = 1500;

/// Longest time of reading for one picture, beyond which no reading begins.
const SAMPLING_TIME: Duration = Duration::from_secs(2);

/// Time of reading for those who must warm up, before anything is looked at.
const WARM_UP: Duration = Duration::from_secs(2);

/// Readings of a turn: as many as fit this time, so that short ones are not all waiting for the
/// lab.
const TURN_NS: u64 = 100_000_000;

/// Most readings of a turn.
const READINGS_MAX: u64 = 100_000;

/// Functions that are named beside a picture.
const HOTTEST: usize = 5;

/// Letters of a picture's file name that come from the trial's name.
const NAME_LETTERS: usize = 80;

/// Why nothing was seen.
enum InspectError {
    Because(String),
    End(EndReason),
}

impl From<SampleError> for InspectError {
    fn from(trouble: SampleError) -> InspectError {
        match trouble {
            SampleError::TrialEnd(TrialEnd::Run(end) | TrialEnd::Both(_, end)) => InspectError::End(end),
            SampleError::TrialEnd(TrialEnd::Trial(outcome)) => {
                InspectError::Because(outcome.reason().unwrap_or("it ended").to_owned())
            }
            SampleError::Unproven(reason) => InspectError::Because(reason),
        }
    }
}

impl From<SessionError> for InspectError {
    fn from(breach: SessionError) -> InspectError {
        take_breach(&breach).into()
    }
}

fn no_graph(reason: String) -> FlameGraph {
    FlameGraph { reason: Some(reason), ..FlameGraph::default() }
}

fn no_trace(reason: String) -> Trace {
    untraced(reason, MeteredReading::default())
}

impl ProcessSampler<'_> {
    /// Everything that is looked at inside a trial. A control has nothing inside.
    pub(super) fn inspect(&mut self, trial: usize) -> Result<Vec<Line>, EndReason> {
        let mut lines = Vec::new();
        if self.planned(trial).is_control() {
            return Ok(lines);
        }
        if let Some(pictures) = self.looks.flame_graphs.clone() {
            let graph = self.flame_graph(trial, &pictures);
            lines.push(Line::FlameGraph { trial, graph: Box::new(or_reason(graph, no_graph)?) });
        }
        if self.looks.trace {
            let trace = self.traced(trial);
            lines.push(Line::Trace { trial, trace: Box::new(or_reason(trace, no_trace)?) });
        }
        Ok(lines)
    }

    /// The same lines where nothing was looked at.
    pub(super) fn unlooked(&self, trial: usize, reason: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.planned(trial).is_control() {
            return lines;
        }
        if self.looks.flame_graphs.is_some() {
            lines.push(Line::FlameGraph { trial, graph: Box::new(no_graph(reason.to_owned())) });
        }
        if self.looks.trace {
            lines.push(Line::Trace { trial, trace: Box::new(no_trace(reason.to_owned())) });
        }
        lines
    }

    /// Samples readings until there are enough, and draws them.
    fn flame_graph(&mut self, trial: usize, pictures: &FlameGraphPaths) -> Result<FlameGraph, InspectError> {
        let (mut session, _) = self.start(trial, profile::environment())?;
        // From the start on, so that whatever process leaves a map of names is known and its map
        // removed.
        let profiling = Profiling::begin(session.id()).map_err(InspectError::Because)?;
        let readings = self.sampled(trial, &mut session, &profiling);
        let sampled = profiling.end();
        // Some runtimes tell the names of their functions on the way out; nobody writes a map from
        // here on.
        session.finish();
        Ok(drawn(self.planned(trial), readings?, sampled, pictures))
    }

    /// Reads until there are samples enough; how many readings they are of.
    fn sampled(
        &mut self,
        trial: usize,
        session: &mut Session,
        profiling: &Profiling,
    ) -> Result<u32, InspectError> {
        let lead = self.warm_up(trial, session)?;
        profiling.count_from_now();
        let (began, mut readings) = (Instant::now(), 0);
        while profiling.samples() < SAMPLES_ENOUGH && began.elapsed() < SAMPLING_TIME {
            self.make_state(trial)?;
            self.read(trial, session, lead)?;
            readings += lead + 1;
        }
        Ok(readings)
    }

    /// The calls of one reading.
    fn traced(&mut self, trial: usize) -> Result<Trace, InspectError> {
        let target = self.subject(trial).target;
        let file = target.file().filter(|_| target.facts.over() == Transport::File);
        let file = file.ok_or_else(|| {
            InspectError::Because("it reads over http: the server reads the file".to_owned())
        })?;
        let tracing = Tracing::prepare(file).map_err(InspectError::Because)?;
        let (session, _) = self.start(trial, tracing.env())?;
        let mut seat = PooledSession::new(session);
        self.warm_up(trial, &mut seat.session)?;
        self.make_state(trial)?;
        tracing.begin().map_err(InspectError::Because)?;
        seat.meters.begin();
        let turn = self.read(trial, &mut seat.session, 0)?;
        let metered = seat.meters.end();
        let wall_ns = turn.samples.iter().map(|sample| sample.wall_ns).sum();
        let minor_faults = minor_faults(self.planned(trial), &metered).clone().ok();
        let major_faults = metered.major_faults.ok();
        Ok(tracing.end(MeteredReading { wall_ns, minor_faults, major_faults }))
    }

    /// Reads until a contender that must warm up has had its time, the others once; tells how many
    /// readings lead a turn of a tenth of a second. Each cold reading has a turn of its own, for
    /// the next would not be cold.
    fn warm_up(&mut self, trial: usize, session: &mut Session) -> Result<u32, InspectError> {
        let contender = self.contenders.contender(self.planned(trial).contender());
        let patience = match contender.map(|contender| contender.warmup) {
            Some(Warmup::UntilSteady) => WARM_UP,
            Some(Warmup::Readings) | None => Duration::ZERO,
        };
        let began = Instant::now();
        loop {
            self.make_state(trial)?;
            let turn = self.read(trial, session, 0)?;
            if began.elapsed() >= patience {
                let wall_ns = turn.samples.last().map_or(1, |sample| sample.wall_ns.max(1));
                let readings = (TURN_NS / wall_ns).clamp(1, READINGS_MAX);
                let cold = self.planned(trial).state != CacheState::Warm;
                let lead = if cold { 0 } else { readings - 1 };
                return Ok(u32::try_from(lead).expect("at most a hundred thousand"));
            }
        }
    }

    /// The cache as the trial's state wants it: warm from the last fill, and filled again where
    /// something took pages away.
    fn make_state(&mut self, trial: usize) -> Result<(), SampleError> {
        let planned = self.planned(trial);
        let proof = self.prepare_state(planned)?;
        let is_missing = planned.state == CacheState::Warm && proof.is_some_and(|proof| !proof.is_warm());
        if is_missing { self.fill_again(planned.target).map_err(cache_trouble) } else { Ok(()) }
    }

    /// One turn whose answer is checked.
    fn read(&self, trial: usize, session: &mut Session, lead: u32) -> Result<Turn, InspectError> {
        let turn = session.turn(TurnRequest { lead, count: 1 }, self.patience(trial, lead + 1))?;
        self.compare(self.planned(trial), &turn)?;
        Ok(turn)
    }
}

/// What was seen, or that it was not; the end of the run, where the user wants to stop.
fn or_reason<T>(seen: Result<T, InspectError>, without: impl FnOnce(String) -> T) -> Result<T, EndReason> {
    match seen {
        Ok(seen) => Ok(seen),
        Err(InspectError::Because(reason)) => Ok(without(reason)),
        Err(InspectError::End(end)) => Err(end),
    }
}

/// The picture as a file, and what is told of it.
fn drawn(trial: &Trial, readings: u32, sampled: Sampled, pictures: &FlameGraphPaths) -> FlameGraph {
    let profile = sampled.named();
    let samples = profile.folded.samples();
    let hottest = profile.folded.hottest(HOTTEST).into_iter();
    let mut graph = FlameGraph {
        how: profile.how,
        samples,
        readings,
        hottest: hottest.map(|hot| HotSpot { name: hot.name, share: hot.share }).collect(),
        blind: profile.blind,
        ..FlameGraph::default()
    };
    let title = format!("{} · {} · {}", trial.id, trial.state, trial.work);
    let subtitle = format!("{samples} samples in {readings} untimed readings; {}", graph.how);
    let picture = if samples == 0 {
        Err(format!("not one sample in {readings} readings: they took too little of the processor's time"))
    } else {
        profile::svg(&profile.folded, &title, &subtitle)
    };
    let path = pictures.folder.join(file_name(trial));
    let written = picture.and_then(|text| {
        let write = || std::fs::create_dir_all(&pictures.folder).and_then(|()| std::fs::write(&path, text));
        write().map_err(|cause| format!("{}: {cause}", path.display()))
    });
    match written {
        Ok(()) => {
            let named = path.strip_prefix(&pictures.record_folder).unwrap_or(&path);
            graph.file = Some(named.to_string_lossy().into_owned());
        }
        Err(reason) => graph.reason = Some(reason),
    }
    graph
}

/// `warm-12-rust-mmap-avx512.svg`: letters and digits alone, and the trial's number, so that no two
/// meet.
fn file_name(trial: &Trial) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = trial.id.to_string().chars().map(letter).take(NAME_LETTERS).collect();
    format!("{}-{:02}-{}.svg", trial.state, trial.index, name.trim_matches('-'))
}
