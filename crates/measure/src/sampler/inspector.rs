//! The inspector: flame graphs and traces of a contender, taken in separate untimed processes. A
//! flame graph shows where the processor's time goes during readings; a trace shows the calls of
//! one reading that bring the bytes.
//!
//! If an inspection fails, the record gives the reason and the run goes on; only an interruption
//! ends the run.

use super::cache_states::StateMaker;
use super::observed_turn::minor_faults;
use super::own_commands::run_prepare_hook;
use super::session_pool::PooledSession;
use super::turn_limit::TurnLimit;
use crate::inspect::profile::{self, Profiling, RuntimeMaps, UnnamedProfile};
use crate::inspect::trace::{Tracing, trace_without_calls};
use crate::interface::TrialEnd;
use crate::memory_bound::ReaderGroups;
use readlab_catalog::roster::Warmup;
use readlab_model::trial::{COMMAND, CacheState, TrialIndex};
use readlab_protocol::TurnRequest;
use readlab_record::{EndReason, FlameGraph, Line, Trace, Trial};
use readlab_roster::session::{LaunchedSession, Session, SessionError, Turn};
use readlab_system::folder::output_file::{InputFiles, OutputFile};
use readlab_system::markup;
use readlab_system::program::CommandLineAdditions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectPlan {
    /// Folders of the flame graphs; `None` if none are drawn.
    pub flame_graphs: Option<FlameGraphPaths>,
    pub takes_trace: bool,
}

impl InspectPlan {
    /// Whether contenders are inspected after their rounds, which takes a part of the run's time.
    pub fn has_inspections(&self) -> bool {
        *self != InspectPlan::default()
    }
}

/// The folders of the flame graphs, and the files that they must not replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameGraphPaths {
    /// Folder of the flame graphs, which is created with the first of them.
    pub folder: PathBuf,
    /// The record's folder; the record stores paths of pictures below this folder relative to it.
    pub record_folder: PathBuf,
    /// Files that the run reads; no picture may replace one of them.
    pub inputs: InputFiles,
}

impl FlameGraphPaths {
    pub fn new(folder: PathBuf, record_folder: PathBuf) -> FlameGraphPaths {
        FlameGraphPaths { folder, record_folder, inputs: InputFiles::default() }
    }

    pub fn picture_paths<'t>(&self, trials: impl Iterator<Item = &'t Trial>) -> Vec<PathBuf> {
        trials.filter(|trial| !trial.is_control()).map(|trial| self.picture_path(trial)).collect()
    }

    fn picture_path(&self, trial: &Trial) -> PathBuf {
        self.folder.join(picture_file_name(trial))
    }
}

/// Largest number of functions that the record lists for a flame graph.
const HOT_SPOTS_MAX: usize = 5;

/// Largest number of characters of the trial's name in a file name.
const NAME_CHARS_MAX: usize = 80;

/// Number of samples of a complete flame graph. The share of a function that is in a tenth of the
/// samples then has an error of about two percentage points.
const SAMPLES_ENOUGH: u64 = 1500;

/// Time after which no further reading begins for one flame graph.
const SAMPLING_TIME: Duration = Duration::from_secs(2);

/// Time for which a contender that must warm up reads before it is inspected.
const WARM_UP_TIME: Duration = Duration::from_secs(2);

/// Target duration of the readings of a turn: as many short readings as fit, so that most of a turn
/// is not spent waiting for readlab.
const TURN_TARGET_NS: u64 = 100_000_000;

/// Largest number of readings of a turn.
const READINGS_PER_TURN_MAX: u64 = 100_000;

fn missing_graph(reason: String) -> FlameGraph {
    FlameGraph { why_no_picture: Some(reason), ..FlameGraph::default() }
}

fn missing_trace(reason: String) -> Trace {
    trace_without_calls(reason, Trace::default())
}

/// The result of an inspection, or `without` of the reason why there is none; an error if the user
/// wants to stop.
fn found_or_reason<T>(found: Result<T, TrialEnd>, without: fn(String) -> T) -> Result<T, EndReason> {
    found.or_else(|end| Ok(without(end.outcome()?.reason().unwrap_or("it ended").to_owned())))
}

impl InspectPlan {
    /// All inspections of a trial, as lines for the record. Controls are not inspected.
    pub(super) fn inspect(&self, mut inspection: Inspection) -> Result<Vec<Line>, EndReason> {
        let trial = inspection.trial;
        if trial.is_control() {
            return Ok(Vec::new());
        }
        let graph = self.flame_graphs.as_ref().map(|paths| inspection.make_flame_graph(paths));
        let graph = graph.map(|graph| found_or_reason(graph, missing_graph)).transpose()?;
        let trace =
            self.takes_trace.then(|| found_or_reason(inspection.make_trace(), missing_trace)).transpose()?;
        Ok(inspection_lines(trial.index, graph, trace))
    }

    /// The lines that [`InspectPlan::inspect`] would return, each with the reason why the trial was
    /// not inspected.
    pub(super) fn uninspected_lines(&self, trial: &Trial, reason: &str) -> Vec<Line> {
        if trial.is_control() {
            return Vec::new();
        }
        let graph = self.flame_graphs.as_ref().map(|_| missing_graph(reason.to_owned()));
        let trace = self.takes_trace.then(|| missing_trace(reason.to_owned()));
        inspection_lines(trial.index, graph, trace)
    }
}

fn inspection_lines(trial: TrialIndex, graph: Option<FlameGraph>, trace: Option<Trace>) -> Vec<Line> {
    let graph = graph.map(|graph| Line::FlameGraph { trial, graph: Box::new(graph) });
    let trace = trace.map(|trace| Line::Trace { trial, trace: Box::new(trace) });
    graph.into_iter().chain(trace).collect()
}

/// The inspection of one trial, with the maker of its cache state.
pub(super) struct Inspection<'s, 'a> {
    pub(super) trial: &'a Trial,
    pub(super) state_maker: StateMaker<'s, 'a>,
}

impl Inspection<'_, '_> {
    /// Starts the contender so that its runtime writes the names of its functions to a file. If
    /// that file name is taken, the contender starts without names.
    fn launch_profiled(&self) -> Result<LaunchedSession, SessionError> {
        let index = self.trial.index;
        if self.trial.contender() == COMMAND {
            return self.state_maker.trials.launch(index, 0, profile::naming_additions_for_commands());
        }
        match self.state_maker.trials.launch(index, 0, profile::naming_additions()) {
            Err(SessionError::NotStarted { cause, .. }) if cause.kind() == io::ErrorKind::AlreadyExists => {
                self.state_maker.trials.launch(index, 0, CommandLineAdditions::default())
            }
            launched => launched,
        }
    }

    /// Samples readings until there are enough samples, and draws a flame graph.
    fn make_flame_graph(&mut self, paths: &FlameGraphPaths) -> Result<FlameGraph, TrialEnd> {
        let launched = self.launch_profiled()?;
        let _map = RuntimeMaps::of_process(launched.process_id());
        let mut session = launched.receive_hello()?;
        session.wait_until_ready()?;
        // Profiling begins before the first reading, so that it knows every process that writes a
        // map of names, and can remove the map.
        let profiling = Profiling::begin(session.process_id()).map_err(TrialEnd::failed)?;
        let readings = self.sample_readings(&mut session, &profiling);
        let sampled = profiling.end();
        // Some runtimes write the names of their functions when they end; no map is written later.
        session.finish();
        Ok(draw_flame_graph(self.trial, readings?, sampled, paths))
    }

    /// Reads until there are enough samples; returns the number of readings.
    fn sample_readings(&mut self, session: &mut Session, profiling: &Profiling) -> Result<u32, TrialEnd> {
        let lead = self.warm_up(session)?;
        profiling.count_from_now();
        let (began, mut readings) = (Instant::now(), 0);
        while profiling.sample_count() < SAMPLES_ENOUGH && began.elapsed() < SAMPLING_TIME {
            self.make_state()?;
            self.take_turn(session, lead)?;
            readings += lead + 1;
        }
        Ok(readings)
    }

    fn make_trace(&mut self) -> Result<Trace, TrialEnd> {
        let trials = self.state_maker.trials;
        let target = trials.target_of(self.trial.index).target;
        let file = target.file().filter(|_| !target.facts.transport().has_server());
        let reason = match target.tree() {
            Some(_) => "it reads many files, and calls are traced of one",
            None => "it reads over http: the server reads the file",
        };
        let file = file.ok_or_else(|| TrialEnd::failed(reason.to_owned()))?;
        let tracing = Tracing::prepare(file).map_err(TrialEnd::failed)?;
        let (mut session, params) = trials.start(self.trial.index, tracing.env().into())?;
        self.warm_up(&mut session)?;
        let mut pooled = PooledSession::new(vec![session], params, ReaderGroups::default());
        self.make_state()?;
        tracing.begin().map_err(TrialEnd::failed)?;
        let turns =
            pooled.take_metered_turn(TurnRequest { lead: 0, count: 1 }, &self.turn_limit(0), || {})?;
        let turn = turns.into_iter().next().expect("it has one reader");
        trials.compare_answers(self.trial, &turn.answer)?;
        let wall_ns = turn.answer.samples.iter().map(|sample| sample.wall_ns).sum();
        let minor_faults = minor_faults(self.trial, &turn.metered).clone().ok();
        let major_faults = turn.metered.major_faults.ok();
        Ok(tracing.end(Trace { wall_ns, minor_faults, major_faults, ..Trace::default() }))
    }

    /// Reads once, or for a while if the contender must warm up. Returns the number of untimed
    /// readings that a turn needs before its last reading to take a tenth of a second. The number
    /// is 0 if the state must be made, or a hook must run, before each reading.
    fn warm_up(&mut self, session: &mut Session) -> Result<u32, TrialEnd> {
        let duration = match self.state_maker.trials.warmup(self.trial.index) {
            Warmup::UntilSteady => WARM_UP_TIME,
            Warmup::Readings => Duration::ZERO,
        };
        let began = Instant::now();
        loop {
            self.make_state()?;
            let turn = self.take_turn(session, 0)?;
            if began.elapsed() >= duration {
                let wall_ns = turn.samples.last().map_or(1, |sample| sample.wall_ns.max(1));
                let readings = (TURN_TARGET_NS / wall_ns).clamp(1, READINGS_PER_TURN_MAX);
                let is_alone = self.trial.state != CacheState::Warm
                    || self.trial.command_rules.prepare_command.is_some();
                let lead = if is_alone { 0 } else { readings - 1 };
                return Ok(u32::try_from(lead).expect("at most a hundred thousand"));
            }
        }
    }

    /// Runs the preparation of a command and makes the trial's cache state. The warm state exists
    /// since the last fill; if pages were evicted since then, the file is filled again.
    fn make_state(&mut self) -> Result<(), TrialEnd> {
        run_prepare_hook(self.trial, self.state_maker.trials)?;
        let proof = self.state_maker.make_state(self.trial)?;
        let is_missing = self.trial.state == CacheState::Warm && proof.is_some_and(|it| !it.is_warm());
        if is_missing { Ok(self.state_maker.refill(self.trial.target)?) } else { Ok(()) }
    }

    fn take_turn(&self, session: &mut Session, lead: u32) -> Result<Turn, TrialEnd> {
        let limit = self.turn_limit(lead);
        let turn = limit.run_turn(session, TurnRequest { lead, count: 1 })?;
        self.state_maker.trials.compare_answers(self.trial, &turn)?;
        Ok(turn)
    }

    fn turn_limit(&self, lead: u32) -> TurnLimit {
        self.state_maker.trials.turn_limit(self.trial.index, lead + 1)
    }
}

fn draw_flame_graph(
    trial: &Trial,
    readings: u32,
    sampled: UnnamedProfile,
    paths: &FlameGraphPaths,
) -> FlameGraph {
    let profile = sampled.with_names();
    let samples = profile.folded.sample_count();
    let mut graph = FlameGraph {
        how: profile.how,
        sample_count: samples,
        readings,
        hottest: profile.folded.hottest(HOT_SPOTS_MAX),
        blind_spots: profile.blind_spots,
        ..FlameGraph::default()
    };
    let title = format!("{} · {} · {}", trial.id, trial.state, trial.work);
    let subtitle = format!("{samples} samples in {readings} untimed readings; {}", graph.how);
    let picture = if samples == 0 {
        Err(format!("not one sample in {readings} readings: they took too little of the processor's time"))
    } else {
        profile::svg(&profile.folded, &title, &subtitle)
    };
    match picture.and_then(|svg| write_picture(trial, &svg, paths)) {
        Ok(file) => graph.picture_path = Some(file),
        Err(reason) => graph.why_no_picture = Some(reason),
    }
    graph
}

pub fn picture_file(file: &Path) -> OutputFile<'_> {
    OutputFile { option: "--flamegraph", file, is_earlier_output: markup::is_own_picture }
}

/// Writes a picture; returns its name as it appears in the record.
fn write_picture(trial: &Trial, svg: &str, paths: &FlameGraphPaths) -> Result<String, String> {
    let path = paths.picture_path(trial);
    std::fs::create_dir_all(&paths.folder).map_err(|cause| format!("{}: {cause}", paths.folder.display()))?;
    picture_file(&path)
        .write(&paths.inputs, |out| out.write_all(svg.as_bytes()))
        .map_err(|error| format!("{:#}", anyhow::Error::from(error)))?;
    Ok(path.strip_prefix(&paths.record_folder).unwrap_or(&path).to_string_lossy().into_owned())
}

/// File name such as `warm-12-rust-mmap-avx512.svg`: only letters, digits and hyphens, and the
/// trial's number, so that no two trials share a name.
fn picture_file_name(trial: &Trial) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = trial.id.to_string().chars().map(letter).take(NAME_CHARS_MAX).collect();
    format!("{}-{:02}-{}.svg", trial.state, trial.index, name.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FIRST_TRIAL, Fixture};
    use super::*;
    use crate::round::testing::{WARM, plan, rules_for_readings};

    #[test]
    fn every_planned_inspection_that_is_left_out_has_its_reason() {
        let fixture = Fixture::remote_of_size(1);
        let trials = fixture.trials(&[("a", WARM), ("null", WARM)]);
        let plan = InspectPlan { takes_trace: true, ..InspectPlan::default() };
        let lines = plan.uninspected_lines(trials.nth_trial(0), "no time");
        assert!(matches!(lines.as_slice(), [Line::Trace { trial: FIRST_TRIAL, .. }]), "{lines:?}");
        assert!(plan.uninspected_lines(trials.nth_trial(1), "no time").is_empty(), "a control");
    }

    #[test]
    fn only_an_interruption_ends_the_run() {
        let found = found_or_reason(Err(TrialEnd::failed("no".to_owned())), missing_graph).unwrap();
        assert_eq!(found.why_no_picture.as_deref(), Some("no"));
        let stopped = found_or_reason(Err(TrialEnd::Run(EndReason::Interrupted)), missing_graph);
        assert_eq!(stopped, Err(EndReason::Interrupted));
    }

    #[test]
    fn a_picture_is_named_after_its_trial_and_lies_below_the_record() {
        let plan = plan(rules_for_readings(1), &[("a", WARM), ("mmap", WARM)]);
        let trial = &plan.trials[1].trial;
        assert_eq!(picture_file_name(trial), "warm-01-rust-mmap.svg");
        let record = tempfile::tempdir().unwrap();
        let paths = FlameGraphPaths::new(record.path().join("flames"), record.path().to_owned());
        assert_eq!(write_picture(trial, "<svg/>", &paths), Ok("flames/warm-01-rust-mmap.svg".to_owned()));
        assert_eq!(std::fs::read(paths.folder.join(picture_file_name(trial))).unwrap(), b"<svg/>");
        let file = record.path().join("file");
        std::fs::write(&file, "").unwrap();
        let elsewhere = FlameGraphPaths { folder: file.join("flames"), ..paths };
        let error = write_picture(trial, "<svg/>", &elsewhere).unwrap_err();
        assert!(error.starts_with(&file.display().to_string()), "{error}");
    }
}
