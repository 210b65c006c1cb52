//! The lines of a scripted record: trials that are read in turns, and the meters of each reading.

use crate::testing::{header, target_line, trial_line};
use crate::{
    EndReason, Fill, Header, Line, Outcome, Receipt, RunKind, StopReason, Stopped, Trial, UntimedCount,
};
use readlab_model::sample::{DeliveryMeter, Sample, TurnSeen};
use readlab_model::target::device::Device;
use readlab_model::target::extents::Extents;
use readlab_model::target::layers::{Layer, LayerKind};
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{Answer, COMMAND, CacheState, TrialId, TrialIndex};
use readlab_protocol::Cache;
use readlab_system::machine::Machine;
use std::collections::BTreeMap;
use std::iter;
use std::ops::Range;

pub(super) const FILE_BYTES: u64 = 1_000_000_000;

/// Number of rounds after each fill of the cache.
const ROUNDS_PER_FILL: u32 = 4;

/// The lines of a record that is being made.
pub(super) struct Script {
    pub(super) lines: Vec<Line>,
    /// Number of targets that were announced so far.
    target_count: usize,
    pub(super) trial_count: usize,
}

#[derive(Clone, Copy)]
pub(super) struct ScriptedTrial {
    pub(super) name: &'static str,
    pub(super) state: CacheState,
    /// The middle of the wall times of the trial's readings, in microseconds. They differ from it
    /// by at most 1.2 %.
    pub(super) wall_us: u64,
}

pub(super) fn cold_trial(name: &'static str, wall_us: u64) -> ScriptedTrial {
    ScriptedTrial { name, state: CacheState::Cold, wall_us }
}

pub(super) fn warm_trial(name: &'static str, wall_us: u64) -> ScriptedTrial {
    ScriptedTrial { name, state: CacheState::Warm, wall_us }
}

pub(super) fn answer() -> Answer {
    Answer { newlines: Some(9), lines: Some(9), ..Answer::default() }
}

pub(super) fn file(path: &str) -> TargetFacts {
    TargetFacts {
        path: path.to_owned(),
        size_bytes: FILE_BYTES,
        filesystem: Some("ext4".to_owned()),
        mount: Some("/dev/vda on /".to_owned()),
        device: Some(Device {
            name: "vda".to_owned(),
            model: None,
            is_rotational: Some(false),
            read_ahead_bytes: Some(128 << 10),
            scheduler: Some("none".to_owned()),
        }),
        layers: vec![Layer::new(LayerKind::Filesystem, "ext4"), Layer::new(LayerKind::Device, "vda")],
        extents: Some(Extents { count: 1, ..Extents::default() }),
        digest: Some("00".to_owned()),
        answer: Some(answer()),
        ..TargetFacts::default()
    }
}

impl Script {
    pub(super) fn begin(kind: RunKind, words: &[&str]) -> Script {
        let command = iter::once(&"readlab").chain(words).map(|&word| word.to_owned()).collect();
        let header = header();
        let machine = Machine {
            distribution: Some("Example Linux".to_owned()),
            cpu_features: vec!["avx2".to_owned()],
            memory_available_bytes: 20 << 30,
            page_bytes: 4096,
            transparent_huge_pages: Some("madvise".to_owned()),
            load_1min: Some(0.1),
            clock_resolution_ns: 1,
            clock_overhead_ns: 30,
            ..header.machine.clone()
        };
        let header = Line::Header(Box::new(Header { kind, command, machine, ..header }));
        Script { lines: vec![header], target_count: 0, trial_count: 0 }
    }

    /// A script whose first target is a file of lines and whose first contender is `rust`.
    pub(super) fn of_lines(kind: RunKind, words: &[&str]) -> Script {
        let mut it = Script::begin(kind, words);
        it.add_target(file("/data/lines.txt"));
        it.add_contender("rust");
        it
    }

    pub(super) fn add_target(&mut self, facts: TargetFacts) {
        self.lines.push(target_line(self.target_count, facts));
        self.target_count += 1;
    }

    pub(super) fn add_contender(&mut self, name: &str) {
        self.lines.push(Line::Contender(Receipt {
            contender: name.to_owned(),
            version: "0.1.0".to_owned(),
            runtime: format!("{name} 1.95.0"),
            language: None,
        }));
    }

    /// Announces trials and returns the number of the first.
    pub(super) fn announce(&mut self, plays: &[ScriptedTrial]) -> usize {
        let first = self.trial_count;
        for (index, play) in (first..).zip(plays) {
            self.lines.push(trial_line(index, play.name, play.state, play.cache()));
        }
        self.trial_count += plays.len();
        first
    }

    /// Adds a sample of each trial in each of these rounds; `first` is the number of the first
    /// trial. Every fourth warm round begins with a fill.
    pub(super) fn read(&mut self, first: usize, plays: &[ScriptedTrial], rounds: Range<u32>) {
        for round in rounds {
            let is_warm = plays.iter().any(|play| play.state == CacheState::Warm);
            if is_warm && round % ROUNDS_PER_FILL == 0 {
                self.lines.push(Line::Fill(Fill {
                    fill: round / ROUNDS_PER_FILL,
                    target: TargetIndex::new(0),
                    how: "evicted, then read once from start to end with read(2)".to_owned(),
                    wall_ns: 400_000_000,
                    resident_after: Some(1.0),
                }));
            }
            for (position, play) in (0_u32..).zip(plays) {
                let sample = play.sample(first + position as usize, round);
                self.lines.push(Line::Sample(Box::new(Sample { position, ..sample })));
            }
        }
    }

    /// Announces trials, reads them in this many rounds, and ends them.
    pub(super) fn run_trials(&mut self, plays: &[ScriptedTrial], rounds: u32) {
        let first = self.announce(plays);
        self.read(first, plays, 0..rounds);
        (first..self.trial_count)
            .for_each(|index| self.end_as_measured(index, StopReason::MostReadings, rounds));
    }

    /// Ends a trial with its counts.
    pub(super) fn end_as_measured(&mut self, index: usize, why: StopReason, rounds: u32) {
        let trial = TrialIndex::new(index);
        let starts_programs = self.trials().nth(index).is_some_and(|it| it.contender() == COMMAND);
        let (value, how) = match starts_programs {
            true => (None, "the turn started programs"),
            false => (Some(4_000 + 17 * u64::from(trial)), "tracepoint"),
        };
        let counts = BTreeMap::from([("syscalls".to_owned(), UntimedCount { value, how: how.to_owned() })]);
        self.lines.push(Line::Counts { trial, counts });
        self.lines.push(Line::Stopped { trial, stopped: Stopped { why, rounds } });
        self.add_outcome(index, Outcome::Measured);
    }

    pub(super) fn add_unavailable_trial(&mut self, play: ScriptedTrial, reason: &str) {
        let index = self.announce(&[play]);
        self.add_outcome(index, Outcome::Unavailable { reason: reason.to_owned() });
    }

    pub(super) fn add_outcome(&mut self, index: usize, outcome: Outcome) {
        self.lines.push(Line::Outcome { trial: TrialIndex::new(index), outcome });
    }

    pub(super) fn add_missing_meter(&mut self, index: usize, meter: &str, reason: &str) {
        let (meter, reason) = (meter.to_owned(), reason.to_owned());
        self.lines.push(Line::Missing { trial: TrialIndex::new(index), meter, reason });
    }

    pub(super) fn add_rejection(&mut self, index: usize, round: u32, reason: &str) {
        self.lines.push(Line::Rejected { trial: TrialIndex::new(index), round, reason: reason.to_owned() });
    }

    pub(super) fn add_warning(&mut self, text: &str) {
        self.lines.push(Line::Warning { text: text.to_owned() });
    }

    /// Ends the run.
    pub(super) fn settled(mut self) -> Script {
        self.lines.push(Line::End { reason: EndReason::Settled, wall_ns: 61_000_000_000 });
        self
    }

    /// The trials so far, in the order of their numbers.
    pub(super) fn trials(&mut self) -> impl Iterator<Item = &mut Trial> {
        self.lines.iter_mut().filter_map(|line| match line {
            Line::Trial(trial) => Some(&mut **trial),
            _ => None,
        })
    }

    pub(super) fn samples(&mut self) -> impl Iterator<Item = &mut Sample> {
        self.lines.iter_mut().filter_map(|line| match line {
            Line::Sample(sample) => Some(&mut **sample),
            _ => None,
        })
    }
}

impl ScriptedTrial {
    fn id(self) -> TrialId {
        self.name.parse().unwrap()
    }

    fn cache(self) -> Cache {
        let id = self.id();
        match id.method.method.as_str() {
            "copy" | "device" | "faults" | "null" | "resident" | "syscall" => Cache::None,
            "direct" => Cache::Bypass,
            _ => Cache::Through,
        }
    }

    /// The trial's reading in a round: its wall time is up to 1.2 % above or below the middle.
    fn sample(self, index: usize, round: u32) -> Sample {
        let scatter = (5 * u64::from(round) + 3 * index as u64) % 7;
        self.sample_with_time(index, round, self.wall_us * (988 + 4 * scatter))
    }

    pub(super) fn sample_with_time(self, index: usize, round: u32, wall_ns: u64) -> Sample {
        let id = self.id();
        let (trial, method) = (TrialIndex::new(index), id.method.method.as_str());
        let is_cold = self.state == CacheState::Cold;
        let is_metered = self.cache() != Cache::None;
        let delivered = match method {
            "null" | "syscall" => None,
            "mmap" | "faults" => Some(DeliveryMeter::Faults),
            _ => Some(DeliveryMeter::Calls),
        };
        // Several threads wait for each other, so each is idle for 5 % of the time.
        let threads = id.params.0.get("threads").copied().unwrap_or(1);
        let busy_ns = if threads > 1 { wall_ns * threads * 95 / 100 } else { wall_ns };
        let minor_faults = match method {
            "faults" => Some(FILE_BYTES / (64 << 10)),
            _ => is_metered.then_some(100 + u64::from(trial)),
        };
        let leaves = if method == "direct" || method == "device" { 0.0 } else { 1.0 };
        Sample {
            trial,
            fill: if self.state == CacheState::Warm { round / ROUNDS_PER_FILL } else { round },
            round,
            turn_readings: 1,
            wall_ns,
            cpu_user_ns: Some(busy_ns * 3 / 5),
            cpu_system_ns: Some(busy_ns * 2 / 5),
            peak_rss_bytes: is_metered.then_some(2 << 20),
            minor_faults,
            major_faults: is_metered.then_some(0),
            device_read_bytes: (is_metered || method == "device").then_some(if is_cold {
                FILE_BYTES
            } else {
                0
            }),
            resident_before: Some(if is_cold { 0.0 } else { 1.0 }),
            resident_after: Some(if is_cold { leaves } else { 1.0 }),
            turn: TurnSeen {
                wall_ns: Some(wall_ns + 100_000),
                cpu_ns: Some(busy_ns + 50_000),
                cpu_error_ns: Some(0),
                delayed_ns: Some(0),
                lab_delayed_ns: Some(0),
                preemptions: Some(0),
                steal_ns: Some(0),
                delivered,
                ..TurnSeen::default()
            },
            answer: if is_metered { answer() } else { Answer::default() },
            ..Sample::default()
        }
    }
}
