//! Fixtures for the tests of the sampler's modules: trials of a small target, and turns without any
//! meters.

use super::observed_turn::{CacheBeforeAfter, MeteredTurn, ObservedTurn};
use super::trials::Trials;
use crate::cache::EvictionScope;
use crate::meters::{MeterError, MeterReadings, WholeTurnCounts};
use crate::plan::Plan;
use crate::round::testing::{plan, rules_for_readings};
use crate::target::{CacheControl, MeasuredTarget};
use crate::testing::{disk_folder, target, tree_target, truth};
use readlab_corpus::oracle::Truth;
use readlab_model::sample::Meter;
use readlab_model::target::tree::TreeFacts;
use readlab_model::target::{ServerOptions, TargetIndex, TargetKind};
use readlab_model::trial::{Answer, COMMAND, CacheState, TrialIndex};
use readlab_model::units::Nanos;
use readlab_protocol::{SampleLine, TurnRequest};
use readlab_record::Trial;
use readlab_roster::discovery::Contenders;
use readlab_roster::session::Turn;
use readlab_targets::target::source::Source;
use readlab_targets::target::web::RemoteTarget;
use readlab_targets::target::{Place, Target};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Time of the simplest reading of the target.
const SIMPLEST_READING_NS: u64 = 1_000_000;

pub(super) const FIRST_TRIAL: TrialIndex = TrialIndex::new(0);

/// A target with its expected answer; no contender reads it.
pub(super) struct Fixture {
    target: Target,
    truth: Truth,
    contenders: Contenders,
    folder: Option<tempfile::TempDir>,
}

impl Fixture {
    /// A target of this size behind a foreign server; its bytes are never read.
    pub(super) fn remote_of_size(size_bytes: u64) -> Fixture {
        let source = Source::Url("http://localhost/f".parse().unwrap());
        let remote = RemoteTarget::new(source, &ServerOptions::default());
        Fixture::new(Place::Web(Box::new(remote)), size_bytes)
    }

    pub(super) fn with_file(content: &[u8]) -> Fixture {
        let folder = disk_folder();
        let path = folder.path().join("file");
        fs::write(&path, content).unwrap();
        Fixture { folder: Some(folder), ..Fixture::new(Place::File(path), content.len() as u64) }
    }

    /// `count` files of this content, each named by its number.
    pub(super) fn with_files(count: usize, content: &[u8]) -> Fixture {
        let folder = disk_folder();
        (0..count).for_each(|number| fs::write(folder.path().join(number.to_string()), content).unwrap());
        let tree = tree_target(folder.path());
        Fixture { folder: Some(folder), ..Fixture::new(tree.place, (count * content.len()) as u64) }
    }

    /// With this time of the reading for the correct answer, which may have been ended early.
    pub(super) fn read_in(mut self, time: Duration, is_whole: bool) -> Fixture {
        self.truth.wall_ns = Nanos::from(time).0;
        self.truth.is_whole = is_whole;
        self
    }

    pub(super) fn folder_path(&self) -> &Path {
        self.folder.as_ref().expect("it has files").path()
    }

    fn new(place: Place, size_bytes: u64) -> Fixture {
        let answer =
            Answer { bytes: Some(size_bytes), newlines: Some(1), lines: Some(1), ..Answer::default() };
        let (target, truth) = (target(place, size_bytes), truth(answer, SIMPLEST_READING_NS));
        Fixture { target, truth, contenders: Contenders::default(), folder: None }
    }

    /// Describes the target as this many files, which are never read.
    pub(super) fn described_as_files(mut self, files: u64) -> Fixture {
        self.target.facts.kind = TargetKind::Tree(TreeFacts { files, ..TreeFacts::default() });
        self
    }

    pub(super) fn trials(&self, trials: &[(&str, CacheState)]) -> Trials<'_> {
        self.trials_of(plan(rules_for_readings(20), trials))
    }

    /// The trials of a plan with one command, of the user or of a suite.
    pub(super) fn trials_of_command(&self, line: &str, is_own_command: bool) -> Trials<'_> {
        let mut plan = plan(rules_for_readings(20), &[(line, CacheState::Warm)]);
        let planned = &mut plan.trials[0];
        COMMAND.clone_into(&mut planned.trial.id.method.contender);
        planned.is_own_command = is_own_command;
        self.trials_of(plan)
    }

    fn trials_of(&self, plan: Plan) -> Trials<'_> {
        let plan: &'static Plan = Box::leak(Box::new(plan));
        let cache_control = match &self.folder {
            Some(_) => CacheControl::open(&self.target, EvictionScope::OfFile).unwrap(),
            None => CacheControl::Web,
        };
        let (target, truth) = (&self.target, &self.truth);
        let target =
            MeasuredTarget { index: TargetIndex::new(0), target, truth, decoded_truth: None, cache_control };
        Trials::new(plan, &self.contenders, vec![target])
    }
}

impl<'a> Trials<'a> {
    pub(super) fn nth_trial(&self, number: usize) -> &'a Trial {
        self.trial(TrialIndex::new(number))
    }
}

pub(super) fn sample_line(newlines: Option<u64>) -> SampleLine {
    SampleLine { wall_ns: 100, newlines, ..SampleLine::default() }
}

pub(super) fn turn(samples: Vec<SampleLine>) -> Turn {
    Turn { samples, counts: Vec::new(), latencies: None, lab_wall_ns: 1_000 }
}

pub(super) fn metered_turn(answer: Turn, metered: MeterReadings) -> MeteredTurn {
    let count = u32::try_from(answer.samples.len().max(1)).unwrap();
    let request = TurnRequest { lead: 0, count };
    MeteredTurn { request, buffers_bytes: 0, start_delay_ns: 0, answer, metered }
}

pub(super) fn observed_turn<'t>(trials: &Trials<'t>, turn: MeteredTurn) -> ObservedTurn<'t> {
    let (trial, facts) = (trials.nth_trial(0), trials.facts(FIRST_TRIAL));
    ObservedTurn { trial, facts, turn, surroundings: CacheBeforeAfter::default() }
}

/// Meters that could not be read.
pub(super) fn unread_meters() -> MeterReadings {
    let missing = || MeterError::from(readlab_system::process::CounterError::Ended { pid: 1 });
    MeterReadings {
        cpu_split: Err(missing()),
        peak_rss_bytes: Err(missing()),
        minor_faults: Err(missing()),
        child_minor_faults: Err(missing()),
        major_faults: Err(missing()),
        device_read_bytes: Err(missing()),
        whole_turn: WholeTurnCounts {
            cpu_ns: Err(missing()),
            cpu_error_ns: 0,
            read_call_bytes: Err(missing()),
            write_call_bytes: Err(missing()),
            was_alone: true,
        },
        other_meters: [Meter::Preemptions, Meter::StealNs].map(|meter| (meter, Err(missing()))).into(),
    }
}
