//! Whole runs against a scripted world, exact to the digit. The world has a clock of its own, which
//! only its script moves; it and the record write into one log, which reads like the run.

use super::*;
use crate::contender::methods::ResolvedMethod;
use crate::contender::roster::Warmup;
use crate::measure::interface::{Progress, SampleError, Step};
use crate::measure::plan::{Budget, Planned, Rules};
use crate::record::{Count, Fill, Sample, Trial};
use crate::trial::{Answer, TrialId, Work};
use crate::units::Nanos;
use readlab_protocol::{Cache, MethodLine, Reads};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

pub(in crate::measure) const WARM: CacheState = CacheState::Warm;
pub(in crate::measure) const COLD: CacheState = CacheState::Cold;

/// Time that everything but a turn takes in the scripted world.
const STEP_NS: u64 = 1_000;

/// A window, unless the script says otherwise.
const WALL_NS: u64 = 100;

pub(in crate::measure) type Log = Rc<RefCell<Vec<String>>>;

pub(in crate::measure) type AlterSample = Box<dyn FnMut(&mut Sample)>;

/// The world: what each call answers, first come, first served; what is not scripted goes well.
#[derive(Default)]
pub(in crate::measure) struct ScriptedSampler {
    pub(in crate::measure) log: Log,
    pub(in crate::measure) now_ns: u64,
    pub(in crate::measure) names: BTreeMap<usize, String>,
    pub(in crate::measure) opens: BTreeMap<usize, VecDeque<Result<Params, TrialEnd>>>,
    pub(in crate::measure) warm_ups: BTreeMap<usize, VecDeque<Result<(), TrialEnd>>>,
    pub(in crate::measure) fills: VecDeque<Result<(), TrialEnd>>,
    pub(in crate::measure) turns: BTreeMap<usize, VecDeque<Result<Vec<u64>, SampleError>>>,
    pub(in crate::measure) walls: BTreeMap<usize, u64>,
    /// Time that a start takes besides, and a count.
    pub(in crate::measure) start_ns: u64,
    pub(in crate::measure) count_ns: u64,
    /// What is done to each sample of a trial before it is handed on.
    pub(in crate::measure) shapes: BTreeMap<usize, AlterSample>,
    pub(in crate::measure) counts: BTreeMap<usize, Result<u64, TrialEnd>>,
    /// The names of those that were counted.
    pub(in crate::measure) counted: BTreeSet<String>,
    pub(in crate::measure) missing: VecDeque<Vec<(&'static str, String)>>,
    /// Those who keep two processors busy.
    pub(in crate::measure) busy: BTreeSet<usize>,
    /// Bytes that come from the device in a reading of a trial.
    pub(in crate::measure) device: BTreeMap<usize, u64>,
    /// Why the numbers of trials do not stand.
    pub(in crate::measure) refusals: BTreeMap<usize, &'static str>,
    /// What each look inside answers; where nothing is scripted, nobody looks.
    pub(in crate::measure) looks: VecDeque<Result<Vec<Line>, EndReason>>,
}

/// The record of a scripted run; the lines themselves beside the log.
struct RecordingSink {
    log: Log,
    lines: Vec<Line>,
    names: BTreeMap<usize, String>,
    full_after: usize,
    progress: Vec<Progress>,
}

impl ScriptedSampler {
    fn say(&mut self, what: &str, trial: usize) {
        self.now_ns += STEP_NS;
        self.log.borrow_mut().push(format!("  {what} {}", self.names[&trial]));
    }
}

impl Sampler for ScriptedSampler {
    fn open(&mut self, trial: usize) -> Result<Params, TrialEnd> {
        self.say("open", trial);
        self.now_ns += self.start_ns;
        let scripted = self.opens.get_mut(&trial).and_then(VecDeque::pop_front);
        scripted.unwrap_or_else(|| Ok(Params(BTreeMap::from([("depth".to_owned(), 1)]))))
    }

    fn warm_up(&mut self, trial: usize) -> Result<(), TrialEnd> {
        self.say("rehearse", trial);
        self.warm_ups.get_mut(&trial).and_then(VecDeque::pop_front).unwrap_or(Ok(()))
    }

    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        self.now_ns += STEP_NS;
        self.log.borrow_mut().push(format!("  fill {fill}"));
        let filled = self.fills.pop_front().unwrap_or(Ok(()));
        let how = "scripted".to_owned();
        filled.map(|()| Fill { fill, target: 0, how, wall_ns: STEP_NS, resident_after: Some(1.0) })
    }

    fn turn(&mut self, trial: usize, state: CacheState) -> Result<Vec<Sample>, SampleError> {
        self.log.borrow_mut().push(format!("  turn {} {state}", self.names[&trial]));
        let default = self.walls.get(&trial).copied().unwrap_or(WALL_NS);
        let scripted = self.turns.get_mut(&trial).and_then(VecDeque::pop_front);
        let walls = scripted.unwrap_or_else(|| Ok(vec![default]))?;
        self.now_ns += walls.iter().sum::<u64>();
        let visits = !["null", "device"].contains(&self.names[&trial].as_str());
        let newlines = visits.then_some(1);
        let answer = Answer { newlines, ..Answer::default() };
        let device_read_bytes = self.device.get(&trial).copied();
        let cpu_ns = |wall_ns: u64| self.busy.contains(&trial).then_some(wall_ns);
        let sample = |(reading, wall_ns)| Sample {
            cpu_user_ns: cpu_ns(wall_ns),
            cpu_system_ns: cpu_ns(wall_ns),
            trial,
            reading,
            wall_ns,
            device_read_bytes,
            answer,
            ..Sample::default()
        };
        let mut samples: Vec<Sample> = (0..).zip(walls).map(sample).collect();
        if let Some(shape) = self.shapes.get_mut(&trial) {
            samples.iter_mut().for_each(shape);
        }
        Ok(samples)
    }

    fn count(&mut self, trial: usize) -> Result<BTreeMap<String, Count>, TrialEnd> {
        self.say("count", trial);
        if !self.is_counted(trial) {
            self.now_ns += self.count_ns;
            self.now_ns += 4 * self.walls.get(&trial).copied().unwrap_or_default();
        }
        self.counted.insert(self.names[&trial].clone());
        let counted = self.counts.get(&trial).cloned().unwrap_or(Ok(7));
        let count = |value| Count { value: Some(value), how: "scripted".to_owned() };
        counted.map(|value| BTreeMap::from([("syscalls".to_owned(), count(value))]))
    }

    /// Trials of one name make the same readings.
    fn is_counted(&self, trial: usize) -> bool {
        self.counted.contains(&self.names[&trial])
    }

    fn looks_inside(&self) -> bool {
        !self.looks.is_empty()
    }

    fn look_inside(&mut self, trial: usize) -> Result<Vec<Line>, EndReason> {
        self.say("look inside", trial);
        self.looks.pop_front().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn not_inspected(&mut self, trial: usize, reason: &str) -> Vec<Line> {
        self.say("not inspected", trial);
        self.log.borrow_mut().last_mut().unwrap().push_str(&format!(": {reason}"));
        Vec::new()
    }

    fn bytes(&self, _trial: usize) -> Option<u64> {
        Some(1_000)
    }

    fn refusal(&self, trial: usize) -> Option<Outcome> {
        self.refusals.get(&trial).map(|reason| refused(reason))
    }

    fn close(&mut self, trial: usize) {
        self.log.borrow_mut().push(format!("  close {}", self.names[&trial]));
    }

    fn missing(&mut self) -> Vec<(&'static str, String)> {
        self.missing.pop_front().unwrap_or_default()
    }

    fn elapsed_ns(&self) -> u64 {
        self.now_ns
    }
}

impl Sink for RecordingSink {
    fn append(&mut self, line: Line) -> Result<(), RecordError> {
        if self.lines.len() >= self.full_after {
            let cause = std::io::ErrorKind::StorageFull.into();
            return Err(RecordError::Io { path: "record".into(), cause });
        }
        let name = |trial: &usize| self.names[trial].clone();
        let text = match &line {
            Line::Trial(trial) => format!("trial {} {}", name(&trial.index), trial.params),
            Line::Fill(fill) => format!("filled {}", fill.fill),
            Line::Sample(sample) => format!(
                "sample {}{} {} ns, fill {} round {} position {}",
                sample.rung.map_or_else(String::new, |rung| format!("of rung {rung} ")),
                name(&sample.trial),
                sample.wall_ns,
                sample.fill,
                sample.round,
                sample.position
            ),
            Line::Rejected { trial, round, reason } => {
                format!("rejected {} round {round}: {reason}", name(trial))
            }
            Line::Missing { trial, meter, reason } => format!("missing {} {meter}: {reason}", name(trial)),
            Line::Counts { trial, counts } => {
                format!("counts {} {:?}", name(trial), counts["syscalls"].value)
            }
            Line::Outcome { trial, outcome } => match outcome.reason() {
                Some(reason) => format!("{} {}: {reason}", outcome.word(), name(trial)),
                None => format!("{} {}", outcome.word(), name(trial)),
            },
            Line::Limit(limit) => format!("limit {} {}", limit.name, limit.value),
            Line::Warning { text } => format!("warning {text}"),
            Line::Trace { trial, .. } => format!("trace {}", name(trial)),
            Line::End { reason, wall_ns } => format!("end {reason:?} after {wall_ns} ns"),
            _ => "not of a run".to_owned(),
        };
        self.log.borrow_mut().push(format!("> {text}"));
        self.lines.push(line);
        Ok(())
    }

    fn about_to(&mut self, step: Step) {
        let name = |trial: usize| &self.names[&trial];
        self.log.borrow_mut().push(match step {
            Step::Stage(state, trials) => format!("stage {state} {trials}"),
            Step::Fill(fill) => format!("fill {fill}"),
            Step::Start(trial) => format!("start {}", name(trial)),
            Step::Count(trial, progress) => {
                self.progress.push(progress);
                format!("count {}", name(trial))
            }
            Step::LookInside(trial) => format!("look inside {}", name(trial)),
            Step::Turn(trial, round, position, of) => {
                format!("round {round} {}/{of} {}", position + 1, name(trial))
            }
            Step::RoundOver(progress) => {
                self.progress.push(progress);
                format!("round over {:.0} %", progress.share * 100.0)
            }
        });
    }
}

/// Rules under which trials are settled by the number of their readings alone.
pub(in crate::measure) fn runs(n: u32) -> Rules {
    Rules {
        warmup: 1,
        min_runs: n,
        max_runs: n,
        max_time: Nanos(u64::MAX),
        precision: -1.0,
        fills: 1,
        budget: Budget::Firm(Nanos(u64::MAX)),
        seed: 42,
    }
}

/// Trials by index; those called `null`, `resident` and `device` are controls, `direct` goes past
/// the cache.
pub(in crate::measure) fn plan(rules: Rules, trials: &[(&str, CacheState)]) -> Plan {
    let planned = |(index, (name, state)): (usize, &(&str, CacheState))| {
        let cache = match *name {
            "null" | "resident" | "device" => Cache::None,
            _ => Cache::Through,
        };
        let id: TrialId = format!("rust/{name}").parse().unwrap();
        let method = MethodLine {
            method: (*name).to_owned(),
            scans: BTreeMap::new(),
            params: Vec::new(),
            about: String::new(),
            cache,
            reads: Reads::File,
            decodes: Vec::new(),
            unavailable: None,
        };
        let trial = Trial {
            index,
            label: None,
            params: Params::default(),
            target: 0,
            work: Work::Newlines,
            state: *state,
            cache,
            decodes: None,
            id: id.clone(),
        };
        Planned {
            trial,
            choice: ResolvedMethod { id: id.method, params: Params::default(), method },
            warmup: Warmup::Readings,
            collects: false,
        }
    };
    let mut states: Vec<CacheState> = trials.iter().map(|(_, state)| *state).collect();
    states.dedup();
    Plan { trials: trials.iter().enumerate().map(planned).collect(), absent: Vec::new(), states, rules }
}

/// A run that is over.
pub(in crate::measure) struct RecordedRun {
    pub(in crate::measure) end: Result<EndReason, RecordError>,
    pub(in crate::measure) log: Vec<String>,
    pub(in crate::measure) lines: Vec<Line>,
    progress: Vec<Progress>,
}

pub(in crate::measure) fn play(plan: &Plan, script: ScriptedSampler) -> RecordedRun {
    play_until_full(plan, script, usize::MAX)
}

/// A run whose record takes only so many lines.
fn play_until_full(plan: &Plan, script: ScriptedSampler, full_after: usize) -> RecordedRun {
    play_by(plan, (script, full_after), |interface, paper| run(plan, interface, paper))
}

/// A run in a scripted world, carried out as `run` does.
pub(in crate::measure) fn play_by(
    plan: &Plan,
    (mut script, full_after): (ScriptedSampler, usize),
    run: impl FnOnce(&mut ScriptedSampler, &mut dyn Sink) -> Result<EndReason, RecordError>,
) -> RecordedRun {
    let trials = plan.trials.iter().map(|planned| &planned.trial);
    let trials = trials.chain(plan.absent.iter().map(|(trial, _)| trial));
    script.names = trials.map(|trial| (trial.index, trial.method().to_owned())).collect();
    let mut paper = RecordingSink {
        log: Rc::clone(&script.log),
        lines: Vec::new(),
        names: script.names.clone(),
        full_after,
        progress: Vec::new(),
    };
    let end = run(&mut script, &mut paper);
    let log = script.log.borrow().clone();
    RecordedRun { end, log, lines: paper.lines, progress: paper.progress }
}

impl RecordedRun {
    /// The lines of the log that begin with one of these words, marks and indents aside.
    pub(in crate::measure) fn only(&self, words: &[&str]) -> Vec<&str> {
        let lines = self.log.iter().map(|line| line.trim_start_matches(['>', ' ']));
        lines.filter(|line| words.iter().any(|word| line.starts_with(word))).collect()
    }

    /// Outcomes by trial.
    pub(in crate::measure) fn outcomes(&self) -> Vec<&str> {
        self.only(&["measured", "refused", "failed", "unavailable"])
    }

    pub(in crate::measure) fn samples(&self) -> Vec<&Sample> {
        let samples = self.lines.iter().filter_map(|line| match line {
            Line::Sample(sample) => Some(sample.as_ref()),
            _ => None,
        });
        samples.collect()
    }

    pub(in crate::measure) fn count_of(&self, trial: usize) -> usize {
        self.samples().iter().filter(|sample| sample.trial == trial).count()
    }
}

fn refused(reason: &str) -> Outcome {
    Outcome::Refused { reason: reason.to_owned() }
}

pub(in crate::measure) fn failed(reason: &str) -> Outcome {
    Outcome::Failed { reason: reason.to_owned() }
}

pub(in crate::measure) fn unproven(times: usize) -> VecDeque<Result<Vec<u64>, SampleError>> {
    (1..=times).map(|n| Err(SampleError::Unproven(format!("try {n}")))).collect()
}

#[test]
fn a_whole_run_reads_like_the_method() {
    let plan = plan(runs(2), &[("read", COLD), ("read", WARM), ("mmap", WARM)]);
    let told = play(&plan, ScriptedSampler::default());
    insta::assert_snapshot!(told.log.join("\n"));
    assert_eq!(told.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_round_is_shuffled_by_the_seed_alone_and_repeats_from_it() {
    let trials = [("a", WARM), ("b", WARM), ("c", WARM), ("d", WARM), ("e", WARM)];
    let orders = |seed| {
        let plan = plan(Rules { seed, ..runs(6) }, &trials);
        play(&plan, ScriptedSampler::default()).samples().iter().map(|s| s.trial).collect::<Vec<_>>()
    };
    assert_eq!(orders(1), orders(1));
    assert_ne!(orders(1), orders(2));
    let rounds: Vec<Vec<usize>> = orders(1).chunks(5).map(<[_]>::to_vec).collect();
    assert!(rounds.iter().any(|round| *round != rounds[0]), "every round has the same order: {rounds:?}");
    for mut round in rounds {
        round.sort_unstable();
        assert_eq!(round, [0, 1, 2, 3, 4], "every trial once");
    }
}

#[test]
fn insides_are_looked_at_when_all_rounds_are_over_and_only_of_what_was_measured() {
    let plan = plan(runs(2), &[("read", COLD), ("read", WARM), ("broken", WARM)]);
    let trace = |trial| Ok(vec![Line::Trace { trial, trace: Box::default() }]);
    let opens = BTreeMap::from([(2, VecDeque::from([Err(TrialEnd::Trial(failed("no")))]))]);
    let looks = VecDeque::from([trace(1), trace(0)]);
    let told = play(&plan, ScriptedSampler { opens, looks, ..ScriptedSampler::default() });
    let after = told.log.iter().position(|line| line.starts_with("look inside")).unwrap();
    assert!(!told.log[after..].iter().any(|line| line.contains("sample") || line.contains("turn")));
    let marks = told.only(&["trace", "end"]);
    assert_eq!(marks[..2], ["trace read", "trace read"], "the warm cache stands still, so it comes first");
    let traced = told.lines.iter().filter_map(|line| match line {
        Line::Trace { trial, .. } => Some(*trial),
        _ => None,
    });
    assert_eq!(traced.collect::<Vec<_>>(), [1, 0]);
    assert_eq!(told.end.unwrap(), EndReason::Settled);
    let looks = VecDeque::from([Err(EndReason::Interrupted)]);
    let stopped = play(&plan, ScriptedSampler { looks, ..ScriptedSampler::default() });
    assert_eq!(stopped.only(&["look inside"]).len(), 2, "said and done once");
    assert_eq!(stopped.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn places_are_counted_from_zero_within_each_round() {
    let told = play(&plan(runs(3), &[("a", WARM), ("b", WARM), ("c", WARM)]), ScriptedSampler::default());
    let places: Vec<(u32, u32)> = told.samples().iter().map(|s| (s.round, s.position)).collect();
    let expected: Vec<(u32, u32)> =
        (0..3).flat_map(|round| (0..3).map(move |place| (round, place))).collect();
    assert_eq!(places, expected);
}

#[test]
fn rounds_are_numbered_through_over_all_fills_and_cold_rounds_are_one_sitting() {
    let rules = Rules { fills: 3, ..runs(6) };
    let told = play(&plan(rules, &[("a", COLD), ("a", WARM)]), ScriptedSampler::default());
    let of = |trial| {
        let samples = told.samples().into_iter().filter(move |s| s.trial == trial);
        samples.map(|s| (s.fill, s.round)).collect::<Vec<_>>()
    };
    assert_eq!(of(0), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
    assert_eq!(of(1), [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5)]);
    assert_eq!(
        told.only(&["open"]).len(),
        1 + 3,
        "cold contenders are started once, warm ones for every fill"
    );
}

#[test]
fn controls_are_in_every_round_and_end_with_the_last_of_the_others() {
    let rules = Rules { min_runs: 1, ..runs(4) };
    let mut interface = ScriptedSampler::default();
    interface.walls.insert(0, 10);
    let told = play(&plan(rules, &[("resident", WARM), ("a", WARM), ("b", WARM)]), interface);
    assert_eq!([told.count_of(0), told.count_of(1), told.count_of(2)], [4, 4, 4]);
    // Only controls: each is settled by itself.
    let told = play(&plan(runs(2), &[("null", WARM), ("resident", WARM)]), ScriptedSampler::default());
    assert_eq!([told.count_of(0), told.count_of(1)], [2, 2]);
}

#[test]
fn a_trial_that_is_settled_leaves_the_others_to_their_rounds() {
    let rules = Rules { min_runs: 2, max_runs: 6, max_time: Nanos(10_000), ..runs(6) };
    let mut interface = ScriptedSampler::default();
    interface.walls.insert(1, 6_000);
    let told = play(&plan(rules, &[("null", COLD), ("slow", COLD), ("fast", COLD)]), interface);
    assert_eq!([told.count_of(0), told.count_of(1), told.count_of(2)], [6, 2, 6]);
}

#[test]
fn max_time_waits_for_the_fewest_readings() {
    let rules = Rules { min_runs: 3, max_runs: 9, max_time: Nanos(1), ..runs(9) };
    assert_eq!(play(&plan(rules, &[("a", COLD)]), ScriptedSampler::default()).count_of(0), 3);
}

#[test]
fn precision_ends_a_trial_once_it_has_the_fewest_readings_and_fills() {
    let rules = Rules { min_runs: 6, max_runs: 50, precision: 0.01, ..runs(50) };
    let steady = play(&plan(rules, &[("a", WARM)]), ScriptedSampler::default());
    assert_eq!(steady.count_of(0), 6);
    let many_fills = play(&plan(Rules { fills: 9, ..rules }, &[("a", WARM)]), ScriptedSampler::default());
    assert_eq!(many_fills.count_of(0), 9, "one round a fill, and at least nine fills");
    let mut interface = ScriptedSampler::default();
    interface.turns.insert(0, (0..50).map(|n| Ok(vec![100 + 40 * (n % 3)])).collect());
    let unsteady = play(&plan(rules, &[("a", WARM)]), interface);
    assert_eq!(unsteady.count_of(0), 50);
}

#[test]
fn fills_come_until_the_rule_has_enough() {
    let rules = Rules { fills: 3, ..runs(10) };
    let told = play(&plan(rules, &[("a", WARM)]), ScriptedSampler::default());
    assert_eq!(told.only(&["filled"]), ["filled 0", "filled 1", "filled 2"]);
    assert_eq!(told.count_of(0), 10);
}

#[test]
fn warm_up_is_taken_at_every_start_and_the_answer_is_checked_at_least_once() {
    for (warmup, warm_ups) in [(0, 1), (1, 2), (3, 6)] {
        let rules = Rules { warmup, fills: 2, ..runs(2) };
        let told = play(&plan(rules, &[("a", WARM)]), ScriptedSampler::default());
        assert_eq!(told.only(&["rehearse"]).len(), warm_ups, "warm-up {warmup}");
    }
}

#[test]
fn who_warms_up_for_long_stays_for_five_fills() {
    let mut plan = plan(Rules { fills: 7, ..runs(7) }, &[("a", WARM), ("b", WARM)]);
    plan.trials[1].warmup = Warmup::UntilSteady;
    let told = play(&plan, ScriptedSampler::default());
    let started = |name: &str| told.only(&["start "]).iter().filter(|line| line.ends_with(name)).count();
    assert_eq!(started("a"), 7);
    assert_eq!(started("b"), 2);
    assert_eq!((told.count_of(0), told.count_of(1)), (7, 7));
}

#[test]
fn an_unproven_turn_is_taken_again_and_a_warm_one_after_a_refill() {
    for (state, refills) in [(COLD, 0), (WARM, 2)] {
        let mut interface = ScriptedSampler::default();
        interface.turns.insert(0, unproven(2));
        let told = play(&plan(runs(1), &[("a", state)]), interface);
        assert_eq!(told.only(&["rejected"]), ["rejected a round 0: try 1", "rejected a round 0: try 2"]);
        assert_eq!(told.only(&["turn"]).len(), 3);
        assert_eq!(told.only(&["fill 0"]).len(), refills + 2 * usize::from(state == WARM), "{:?}", told.log);
        assert_eq!(told.outcomes(), ["measured a"]);
    }
}

#[test]
fn a_state_that_cannot_be_proven_is_refused_after_the_last_try_and_the_rest_goes_on() {
    for state in [COLD, WARM] {
        let mut interface = ScriptedSampler::default();
        interface.turns.insert(0, unproven(9));
        let told = play(&plan(runs(3), &[("a", state), ("b", state)]), interface);
        let refusal = format!("refused a: the {state} state could not be proven in 4 tries: try 4");
        assert_eq!(told.outcomes(), [refusal.as_str(), "measured b"]);
        assert_eq!(told.only(&["turn a"]).len(), 4);
        assert_eq!((told.count_of(0), told.count_of(1)), (0, 3));
    }
}

#[test]
fn what_is_found_of_a_trial_when_it_is_settled_refuses_it_and_it_is_not_counted() {
    let plan = plan(runs(2), &[("a", COLD), ("b", COLD)]);
    let told = play(
        &plan,
        ScriptedSampler { refusals: [(0, "it kept the file")].into(), ..ScriptedSampler::default() },
    );
    assert_eq!(told.outcomes(), ["refused a: it kept the file", "measured b"]);
    assert_eq!(told.only(&["count "]), ["count b", "count b"]);
}

#[test]
fn a_contender_that_fails_at_any_moment_ends_alone() {
    let at_open = ScriptedSampler {
        opens: [(0, [Err(TrialEnd::Trial(failed("no")))].into())].into(),
        ..ScriptedSampler::default()
    };
    let at_rehearsal = ScriptedSampler {
        warm_ups: [(0, [Err(TrialEnd::Trial(failed("no")))].into())].into(),
        ..ScriptedSampler::default()
    };
    let at_turn = ScriptedSampler {
        turns: [(0, [Ok(vec![100]), Err(SampleError::TrialEnd(TrialEnd::Trial(failed("no"))))].into())]
            .into(),
        ..ScriptedSampler::default()
    };
    for (interface, samples) in [(at_open, 0), (at_rehearsal, 0), (at_turn, 1)] {
        let told = play(&plan(runs(3), &[("a", WARM), ("b", WARM)]), interface);
        assert_eq!(told.outcomes(), ["failed a: no", "measured b"]);
        assert_eq!((told.count_of(0), told.count_of(1)), (samples, 3));
        assert_eq!(told.only(&["counts"]), ["counts b Some(7)"], "who failed is not counted");
        assert!(told.log.contains(&"  close a".to_owned()));
        assert_eq!(told.only(&["trial"]).len(), 2, "announced once each: {:?}", told.log);
    }
}

#[test]
fn when_all_the_others_failed_the_controls_have_an_outcome_too() {
    let interface = ScriptedSampler {
        opens: [(1, [Err(TrialEnd::Trial(failed("no")))].into())].into(),
        ..ScriptedSampler::default()
    };
    let told = play(&plan(runs(3), &[("null", WARM), ("a", WARM)]), interface);
    assert_eq!(told.outcomes(), ["failed a: no", "unavailable null: nobody was left to race against"]);
    assert_eq!(told.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_target_that_changed_ends_the_run_with_outcomes() {
    let changed = TrialEnd::Both(refused("f became shorter"), EndReason::TargetChanged);
    let interface = ScriptedSampler {
        turns: [(0, [Ok(vec![100]), Err(SampleError::TrialEnd(changed))].into())].into(),
        ..ScriptedSampler::default()
    };
    let told = play(&plan(runs(5), &[("a", COLD), ("b", COLD), ("b", WARM)]), interface);
    assert!(told.outcomes().contains(&"refused a: f became shorter"));
    assert!(
        told.outcomes().contains(&"measured b"),
        "what was measured before stands: {:?}",
        told.outcomes()
    );
    assert_eq!(told.only(&["stage", "count "]), ["stage cold 2"], "nothing more is measured or counted");
    assert!(told.log.last().unwrap().starts_with("> end TargetChanged"));
    assert_eq!(told.end.unwrap(), EndReason::TargetChanged);
}

#[test]
fn an_interrupted_run_keeps_what_was_measured_and_lets_everybody_go() {
    let interrupted = || Err(SampleError::TrialEnd(TrialEnd::Run(EndReason::Interrupted)));
    let interface = ScriptedSampler {
        turns: [(0, [Ok(vec![5]), interrupted()].into())].into(),
        ..ScriptedSampler::default()
    };
    let told = play(&plan(runs(9), &[("a", COLD), ("b", COLD)]), interface);
    assert!(told.outcomes().contains(&"measured a"), "{:?}", told.log);
    let mut closed = told.only(&["close"]);
    closed.sort_unstable();
    assert_eq!(closed, ["close a", "close b"]);
    assert_eq!(told.end.unwrap(), EndReason::Interrupted);
    // Before anything was measured there is nothing to keep, and no outcome is made up.
    for interface in [
        ScriptedSampler {
            opens: [(0, [Err(TrialEnd::Run(EndReason::Interrupted))].into())].into(),
            ..ScriptedSampler::default()
        },
        ScriptedSampler {
            fills: [Err(TrialEnd::Run(EndReason::Interrupted))].into(),
            ..ScriptedSampler::default()
        },
    ] {
        let told = play(&plan(runs(9), &[("a", WARM), ("b", WARM)]), interface);
        assert_eq!((told.outcomes(), told.samples().len()), (vec![], 0), "{:?}", told.log);
        assert_eq!(told.end.unwrap(), EndReason::Interrupted);
    }
}

#[test]
fn an_interrupted_count_spoils_nothing() {
    let interface = ScriptedSampler {
        counts: [(0, Err(TrialEnd::Run(EndReason::Interrupted)))].into(),
        ..ScriptedSampler::default()
    };
    let told = play(&plan(runs(1), &[("a", COLD), ("a", WARM)]), interface);
    assert_eq!(told.outcomes(), ["measured a"]);
    assert_eq!(told.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn counts_come_after_each_stage_and_one_that_fails_says_why() {
    let interface = ScriptedSampler {
        counts: [(0, Err(TrialEnd::Trial(failed("no room"))))].into(),
        ..ScriptedSampler::default()
    };
    let told = play(&plan(runs(1), &[("a", COLD), ("b", WARM)]), interface);
    assert_eq!(
        told.only(&["stage", "measured", "counts", "end"]),
        [
            "stage cold 1",
            "measured a",
            "counts a None",
            "stage warm 1",
            "measured b",
            "counts b Some(7)",
            told.log.last().unwrap().trim_start_matches("> ")
        ]
    );
    let Some(Line::Counts { counts, .. }) = told.lines.iter().find(|l| matches!(l, Line::Counts { .. }))
    else {
        panic!("no counts: {:?}", told.log)
    };
    for name in ["mallocs", "syscalls"] {
        assert_eq!(counts[name], Count { value: None, how: "no room".to_owned() });
    }
}

#[test]
fn a_meter_that_is_missing_is_told_once_a_trial() {
    let note = || vec![("minor_faults", "not here".to_owned())];
    let interface =
        ScriptedSampler { missing: [note(), note(), note()].into(), ..ScriptedSampler::default() };
    let told = play(&plan(runs(3), &[("a", WARM)]), interface);
    assert_eq!(told.only(&["missing"]), ["missing a minor_faults: not here"]);
}

#[test]
fn what_was_asked_for_and_is_absent_has_its_outcome_first() {
    let mut plan = plan(runs(1), &[("a", COLD), ("gone", COLD)]);
    let gone = plan.trials.pop().unwrap().trial;
    plan.absent.push((gone, Outcome::Unavailable { reason: "no such call".to_owned() }));
    let told = play(&plan, ScriptedSampler::default());
    assert_eq!(told.log[..2], ["> trial gone ", "> unavailable gone: no such call"]);
    assert_eq!(told.outcomes(), ["unavailable gone: no such call", "measured a"]);
}

#[test]
fn a_state_without_trials_is_not_prepared() {
    let mut plan = plan(runs(1), &[("a", COLD)]);
    plan.states.push(WARM);
    assert_eq!(play(&plan, ScriptedSampler::default()).only(&["stage", "fill"]), ["stage cold 1"]);
}

#[test]
fn a_cache_that_cannot_be_filled_is_everybodys_outcome() {
    let no = TrialEnd::Trial(Outcome::Unavailable { reason: "larger than memory".to_owned() });
    let interface = ScriptedSampler { fills: [Err(no)].into(), ..ScriptedSampler::default() };
    let told = play(&plan(runs(3), &[("a", WARM), ("b", WARM)]), interface);
    assert_eq!(told.outcomes(), ["unavailable a: larger than memory", "unavailable b: larger than memory"]);
    assert_eq!(told.only(&["trial"]), ["trial a ", "trial b "]);
}

#[test]
fn a_later_fill_that_fails_leaves_the_samples_of_the_earlier_ones() {
    let no = TrialEnd::Trial(Outcome::Unavailable { reason: "memory ran out".to_owned() });
    let interface = ScriptedSampler { fills: [Ok(()), Err(no)].into(), ..ScriptedSampler::default() };
    let told = play(&plan(Rules { fills: 3, ..runs(3) }, &[("a", WARM)]), interface);
    assert_eq!(told.outcomes(), ["measured a"]);
    assert_eq!(told.count_of(0), 1);
    let warning = "warning the cache could not be filled again after 1 fills: memory ran out";
    assert_eq!(told.only(&["warning"]), [warning]);
}

#[test]
fn a_firm_budget_ends_in_the_middle_of_a_round() {
    // Fill 1000, two starts of 2000 each, then turns of 2000 each until seven eighths of the time,
    // 9100: three of them.
    let rules = Rules { budget: Budget::Firm(Nanos(10_400)), ..runs(9) };
    let walls = BTreeMap::from([(0, 2_000), (1, 2_000)]);
    let told = play(
        &plan(rules, &[("a", WARM), ("b", WARM)]),
        ScriptedSampler { walls, ..ScriptedSampler::default() },
    );
    assert_eq!(told.samples().len(), 3);
    assert_eq!(told.outcomes(), ["measured a", "measured b"]);
    assert_eq!(
        told.only(&["counts"]),
        ["counts a None", "counts b None"],
        "counting would go on beyond the budget"
    );
    assert_eq!(told.end.unwrap(), EndReason::Budget);
}

#[test]
fn a_firm_budget_that_is_used_up_by_starts_says_so_of_everybody() {
    let rules = Rules { budget: Budget::Firm(Nanos(2_000)), ..runs(9) };
    let told = play(&plan(rules, &[("a", COLD), ("b", COLD), ("b", WARM)]), ScriptedSampler::default());
    let why = "the time for the whole run was used up before the first reading";
    let expected = ["a", "b", "b"].map(|name| format!("unavailable {name}: {why}"));
    assert_eq!(told.outcomes(), expected);
    assert_eq!(told.only(&["fill"]), Vec::<&str>::new());
    assert_eq!(told.end.unwrap(), EndReason::Budget);
}

#[test]
fn an_advised_budget_still_gives_each_state_the_fewest_rounds() {
    let rules = Rules { budget: Budget::Advised(Nanos(1)), fills: 3, ..runs(30) };
    let told = play(&plan(rules, &[("a", COLD), ("a", WARM)]), ScriptedSampler::default());
    assert_eq!((told.count_of(0), told.count_of(1)), (5, 5));
    assert_eq!(told.only(&["counts"]), ["counts a Some(7)", "counts a Some(7)"]);
    assert_eq!(told.end.unwrap(), EndReason::Budget);
}

#[test]
fn the_time_left_is_shared_with_the_states_to_come() {
    let rules = Rules { budget: Budget::Firm(Nanos(20_000)), ..runs(1_000) };
    let told = play(&plan(rules, &[("a", COLD), ("a", WARM)]), ScriptedSampler::default());
    // Cold: 2000 of starting, then turns of 100 until 8750, and a count until 9800. Warm: fill and
    // start, then until 18725.
    assert_eq!((told.count_of(0), told.count_of(1)), (68, 60));
}

#[test]
fn a_window_shorter_than_visiting_memory_is_refused() {
    // A control that proves nothing is no ceiling.
    let mut interface = ScriptedSampler::default();
    interface.walls.extend([(0, 1_000), (1, 100)]);
    let told = play(&plan(runs(3), &[("null", WARM), ("a", WARM)]), interface);
    assert_eq!(told.outcomes(), ["measured null", "measured a"]);
    // One that does is, whichever comes first in the round.
    for seed in 0..8 {
        let mut interface = ScriptedSampler::default();
        interface.walls.extend([(0, 1_000), (1, 333), (2, 334)]);
        let trials = [("resident", WARM), ("a", WARM), ("b", WARM)];
        let told = play(&plan(Rules { seed, ..runs(1) }, &trials), interface);
        let refusal =
            "refused a: a window of 333 ns is shorter than visiting the bytes in memory took: 1000 ns";
        let mut outcomes = told.outcomes();
        outcomes.sort_unstable();
        assert_eq!(outcomes, ["measured b", "measured resident", refusal], "seed {seed}");
    }
}

/// A device that shows so much in its rounds and then, and one who reads past it at ten bytes a
/// nanosecond.
fn beyond_the_device(rounds: u32, then_ns: u64) -> RecordedRun {
    let turns = (0..rounds).map(|_| Ok(vec![1_000])).chain((0..5).map(|_| Ok(vec![then_ns])));
    let mut interface =
        ScriptedSampler { turns: [(0, turns.collect())].into(), ..ScriptedSampler::default() };
    interface.device.extend([(0, 1_000), (1, 1_000), (2, 1_000)]);
    interface.walls.extend([(1, 100), (2, 1_050)]);
    play(&plan(runs(rounds), &[("device", COLD), ("read", COLD), ("slow", COLD)]), interface)
}

#[test]
fn a_limit_that_a_reading_is_beyond_is_measured_again_after_the_rounds() {
    let told = beyond_the_device(6, 80);
    assert_eq!(
        told.only(&["limit", "warning", "measured"]),
        [
            "limit rust/device 12500000000",
            "warning the device limit was beaten: rust/read reached 10.0 GB/s, and rust/device showed 1.00 GB/s; \
             measured again, it showed 12.5 GB/s",
            "measured device",
            "measured read",
            "measured slow"
        ]
    );
    assert_eq!(
        (told.count_of(0), told.only(&["turn device"]).len()),
        (6, 11),
        "its samples stand as they were"
    );
    let Some(Line::Limit(limit)) = told.lines.iter().find(|line| matches!(line, Line::Limit(_))) else {
        panic!("{:?}", told.log)
    };
    assert_eq!((limit.trial, limit.samples.len(), limit.ci95.is_some()), (Some(0), 5, true));
    assert_eq!(told.end.unwrap(), EndReason::Settled);
}

#[test]
fn a_limit_that_nobody_is_beyond_or_not_beyond_doubt_is_not_measured_again() {
    // Too few rounds make no interval.
    assert_eq!(beyond_the_device(4, 80).only(&["limit", "warning"]), Vec::<&str>::new());
    let memory = |wall_ns, busy: &[usize]| {
        let mut interface = ScriptedSampler::default();
        interface.walls.extend([(0, 100), (1, wall_ns)]);
        interface.busy.extend(busy);
        play(&plan(runs(6), &[("resident", WARM), ("read", WARM)]), interface).only(&["limit"]).len()
    };
    assert_eq!((memory(95, &[]), memory(80, &[])), (0, 1));
    assert_eq!(memory(80, &[1]), 0, "two processors are more than the one that the control has");
}

#[test]
fn a_firm_budget_leaves_no_time_for_measuring_again() {
    let mut interface = ScriptedSampler::default();
    interface.device.extend([(0, 1_000), (1, 1_000)]);
    interface.walls.extend([(0, 1_000), (1, 100)]);
    // Two starts of 2000 each, then seven rounds of 1100.
    let rules = Rules { budget: Budget::Firm(Nanos(11_700)), ..runs(100) };
    let told = play(&plan(rules, &[("device", COLD), ("read", COLD)]), interface);
    assert!(told.count_of(0) >= 6, "{:?}", told.log);
    assert_eq!(told.only(&["limit"]), Vec::<&str>::new());
    assert_eq!(told.end.unwrap(), EndReason::Budget);
}

#[test]
fn what_happens_while_a_limit_is_measured_again_spoils_nothing() {
    let fails = |end: TrialEnd| {
        let turns = (0..6).map(|_| Ok(vec![1_000])).chain([Err(SampleError::TrialEnd(end))]);
        let mut interface =
            ScriptedSampler { turns: [(0, turns.collect())].into(), ..ScriptedSampler::default() };
        interface.device.extend([(0, 1_000), (1, 1_000)]);
        play(&plan(runs(6), &[("device", COLD), ("read", COLD)]), interface)
    };
    let told = fails(TrialEnd::Trial(failed("it crashed")));
    assert_eq!(told.outcomes(), ["measured device", "measured read"]);
    assert_eq!(told.only(&["limit"]), Vec::<&str>::new());
    assert_eq!(told.end.unwrap(), EndReason::Settled);
    let told = fails(TrialEnd::Run(EndReason::Interrupted));
    assert_eq!(told.outcomes(), ["measured device", "measured read"]);
    assert_eq!(told.end.unwrap(), EndReason::Interrupted);
}

#[test]
fn the_ceiling_of_one_state_is_not_that_of_the_next() {
    let mut interface = ScriptedSampler::default();
    interface.walls.extend([(0, 1_000_000), (1, 1_000_000), (2, 100)]);
    let told = play(&plan(runs(2), &[("resident", COLD), ("a", COLD), ("a", WARM)]), interface);
    assert_eq!(told.outcomes(), ["measured resident", "measured a", "measured a"]);
}

#[test]
fn several_readings_of_a_turn_are_all_kept() {
    let mut interface = ScriptedSampler::default();
    interface.turns.insert(0, [Ok(vec![3, 1, 2])].into());
    let told = play(&plan(runs(3), &[("a", WARM)]), interface);
    let readings: Vec<(u32, u64)> = told.samples().iter().map(|s| (s.reading, s.wall_ns)).collect();
    assert_eq!(readings, [(0, 3), (1, 1), (2, 2)]);
}

#[test]
fn turns_of_several_readings_end_at_the_most_exactly_and_are_spread_over_the_fills() {
    for (max_runs, fills, readings) in
        [(100, 3, 10), (3, 3, 1), (20, 3, 5), (97, 3, 1), (1, 3, 1), (12, 1, 6)]
    {
        let rules = Rules { max_runs, fills, ..runs(1) };
        assert_eq!(rules.readings_per_turn(10), readings, "at most {max_runs}");
    }
}

#[test]
fn a_record_that_cannot_be_written_ends_the_run_with_the_error() {
    let plan = plan(runs(3), &[("a", WARM), ("b", WARM)]);
    let whole = play(&plan, ScriptedSampler::default()).lines.len();
    for lines in 0..whole {
        let told = play_until_full(&plan, ScriptedSampler::default(), lines);
        let error = told.end.unwrap_err().to_string();
        assert!(error.starts_with("record: "), "{error}");
        assert_eq!(told.lines.len(), lines);
    }
}

#[test]
fn time_left_is_right_within_a_factor_of_two_after_a_third_of_the_run() {
    const READING_NS: u64 = 50 * STEP_NS;
    let settled_by = [
        runs(40),
        Rules { budget: Budget::Firm(Nanos(100 * READING_NS)), ..runs(1_000_000) },
        Rules { min_runs: 5, max_runs: 1000, max_time: Nanos(30 * READING_NS), ..runs(5) },
        // Its time is up long before the rounds without which there is no interval.
        Rules { budget: Budget::Advised(Nanos(6 * READING_NS)), ..runs(1_000_000) },
    ];
    let interface = || ScriptedSampler {
        walls: (0..4).map(|trial| (trial, READING_NS)).collect(),
        ..ScriptedSampler::default()
    };
    for rules in settled_by {
        let told = play(&plan(rules, &[("a", COLD), ("b", COLD), ("a", WARM), ("b", WARM)]), interface());
        let Some(Line::End { wall_ns, .. }) = told.lines.last() else { panic!("a run without an end") };
        let late = |at: &&Progress| (wall_ns / 3..wall_ns * 9 / 10).contains(&at.elapsed_ns);
        let late: Vec<&Progress> = told.progress.iter().filter(late).collect();
        assert!(late.len() > 3, "{rules:?}");
        assert!(told.progress.is_sorted_by(|a, b| a.share <= b.share), "it never steps back: {rules:?}");
        for at in late {
            let (left_ns, told_ns) = (wall_ns - at.elapsed_ns, at.left().unwrap().0);
            assert!((left_ns / 2..=left_ns * 2).contains(&told_ns), "{at:?}: {told_ns} instead of {left_ns}");
        }
    }
}

/// Ten ways of reading in both states, and the time of one reading of each.
fn many(budget_ns: u64) -> Plan {
    const NAMES: [&str; 10] = ["null", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let trials: Vec<_> = [COLD, WARM].iter().flat_map(|&state| NAMES.map(|name| (name, state))).collect();
    plan(Rules { budget: Budget::Firm(Nanos(budget_ns)), ..runs(100) }, &trials)
}

/// Readings of each state.
fn readings(told: &RecordedRun, plan: &Plan) -> [usize; 2] {
    let of = |state| {
        let of_state = |sample: &&&Sample| plan.planned(sample.trial).trial.state == state;
        told.samples().iter().filter(of_state).count()
    };
    [of(COLD), of(WARM)]
}

#[test]
fn slow_starts_leave_every_state_its_rounds_in_a_firm_time() {
    // Starting all ten takes 200,000 ns and more: as much as both states have.
    let plan = many(200_000);
    let told = play(&plan, ScriptedSampler { start_ns: 20_000, ..ScriptedSampler::default() });
    let [cold, warm] = readings(&told, &plan);
    assert!(cold > 30 && warm > 10, "{cold} cold and {warm} warm: {:?}", told.outcomes());
    for state in [COLD, WARM] {
        let trials = plan.trials_of(state);
        let counts: Vec<usize> = trials.iter().map(|&trial| told.count_of(trial)).collect();
        // Those who were started come first in the plan and have several readings; the others have
        // none and are named.
        let started = counts.iter().take_while(|&&count| count > 1).count();
        assert!((2..10).contains(&started), "{counts:?}");
        assert!(counts[started..].iter().all(|&count| count == 0), "{counts:?}");
    }
    let late = told.only(&["unavailable"]);
    let silent = plan.trials.iter().filter(|it| told.count_of(it.trial.index) == 0).count();
    assert_eq!(late.len(), silent, "nobody is dropped silently");
    assert!(late.iter().all(|line| line.ends_with("used up before the first reading")), "{late:?}");
    assert_eq!(told.end.unwrap(), EndReason::Budget);
}

#[test]
fn whoever_waited_to_start_is_started_when_the_others_are_settled() {
    let mut plan = many(2_000_000);
    plan.rules = Rules { min_runs: 2, max_runs: 2, ..plan.rules };
    let told = play(&plan, ScriptedSampler { start_ns: 60_000, ..ScriptedSampler::default() });
    let counts: Vec<usize> = plan.trials_of(COLD).iter().map(|&trial| told.count_of(trial)).collect();
    assert!(counts.iter().all(|&count| count >= 2), "{counts:?}: {:?}", told.outcomes());
}

#[test]
fn one_that_takes_long_to_start_is_still_read_where_it_is_the_only_one() {
    let rules = Rules { budget: Budget::Firm(Nanos(100_000)), ..runs(3) };
    let told = play(
        &plan(rules, &[("null", COLD), ("b", COLD)]),
        ScriptedSampler { start_ns: 60_000 / 2, ..ScriptedSampler::default() },
    );
    assert!(told.count_of(1) > 0, "{:?}", told.outcomes());
}

#[test]
fn counting_takes_no_time_from_the_next_state() {
    let plan = many(400_000);
    let told = play(&plan, ScriptedSampler { count_ns: 15_000, ..ScriptedSampler::default() });
    let [cold, warm] = readings(&told, &plan);
    assert!(cold > 100 && warm > 100, "{cold} cold and {warm} warm");
    // An eighth of the state's time is for counting; and what was counted among the cold costs
    // nothing among the warm.
    let known: Vec<bool> = told.only(&["counts"]).iter().map(|line| line.contains("Some")).collect();
    let [cold, warm] = [&known[..10], &known[10..]].map(|of| of.iter().filter(|known| **known).count());
    assert!((1..10).contains(&cold) && warm > cold, "{:?}", told.only(&["counts"]));
}

#[test]
fn looking_inside_is_left_out_with_its_reason_when_a_firm_time_is_used_up() {
    let rules = Rules { budget: Budget::Firm(Nanos(30_000)), ..runs(2) };
    let looks = VecDeque::from(vec![Ok(Vec::new()); 3]);
    let walls = BTreeMap::from([(0, 40_000)]);
    let told = play(
        &plan(rules, &[("read", COLD), ("mmap", COLD)]),
        ScriptedSampler { looks, walls, ..ScriptedSampler::default() },
    );
    assert_eq!(told.only(&["look inside"]), Vec::<&str>::new());
    assert!(told.only(&["not inspected"]).iter().all(|line| line.ends_with("was used up")));
    assert_eq!(told.only(&["not inspected"]).len(), 1);
}
