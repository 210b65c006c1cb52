//! The trials of a plan as the sampler sees them: the contender, the target and the expected answer
//! of each.
//!
//! A target must not change after its answer was found; this is checked here, too.

use super::observed_turn::LowerLayerBytes;
use super::own_commands::COMMAND_TIME_LIMIT;
use super::run_clock::RunClock;
use super::turn_limit::TurnLimit;
use crate::cache::TargetCache;
use crate::interface::{SampleError, TrialEnd};
use crate::memory_bound::{MemoryControl, ReaderGroups};
use crate::next_layer::{LayerBytes, NextLayer, count_difference};
use crate::plan::{Plan, PlannedTrial};
use crate::residency::{ResidencyMeans, ResidencyProof};
use crate::target::MeasuredTarget;
use readlab_catalog::roster::Warmup;
use readlab_corpus::archive::PackedFile;
use readlab_corpus::line_ends::OtherLineEnds;
use readlab_corpus::oracle::Truth;
use readlab_model::sample::Sample;
use readlab_model::target::memory::MemoryFacts;
use readlab_model::target::{TargetFacts, TargetIndex};
use readlab_model::trial::{Answer, COMMAND, CacheState, Params, TrialIndex, Work};
use readlab_protocol::files::list_word;
use readlab_protocol::places::places_word;
use readlab_protocol::{Reads, SUCCESS_VARIABLE, TurnRequest};
use readlab_record::{CommandRules, EndReason, Outcome, StartMode, Trial, WHILE_RACED_WORDS};
use readlab_roster::discovery::Contenders;
use readlab_roster::session::{LaunchedSession, START_TIMEOUT, Session, SessionError, Turn};
use readlab_system::block_device::busy_ns;
use readlab_system::program::CommandLineAdditions;
use readlab_targets::target::http::HttpError;
use readlab_targets::target::web::RemoteTarget;
use readlab_targets::target::{Place, dictionary};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

/// Advice for a command that prints another number than the one that its work asks for.
const OTHER_CHECK_HINT: &str = "if it counts something else: --check same or none";

/// Shortest time limit of a turn, after which its contender counts as hung.
const TIME_LIMIT_MIN: Duration = Duration::from_secs(10);

/// Shortest time limit of a turn under a bound on memory. Such a reading may fetch each byte many
/// times.
const PRESSED_TIME_LIMIT_MIN: Duration = Duration::from_secs(30);

/// The time limit of a turn includes, for each reading, this many times the time of the simplest
/// reading.
const TIME_LIMIT_FACTOR: u32 = 40;

/// Shortest time limit of a turn or a fill that follows from an earlier one.
const MEASURED_TIME_LIMIT_MIN: Duration = Duration::from_secs(120);

/// The time limit that follows from an earlier turn or fill includes this many times its time.
const MEASURED_TIME_LIMIT_FACTOR: u32 = 10;

/// A reading that begins within a firm budget may exceed the budget, up to this many times the time
/// of the simplest reading, or of the longest turn of the same trial.
const OVERRUN_FACTOR: u32 = 2;

/// Time to reach a place on a slow device: several seeks of a busy hard disk.
const SLOW_ACCESS_TIME: Duration = Duration::from_millis(50);

/// Bytes that a slow device delivers in a second.
const SLOW_DEVICE_BYTES_PER_S: u64 = 4_000_000;

/// The longest time for a slow device by which a time limit is extended.
const SLOW_DEVICE_TIME_MAX: Duration = Duration::from_secs(3600);

/// How long a server that does not answer is asked for the version of its content.
const VERSION_RETRY_TIME: Duration = Duration::from_secs(30);

/// The rules of time limits, for the reason of a failure.
const READER_RULE: &str = "a turn may take 10 s (30 s under a bound on memory) and 40 times the reading for the \
                           right answer, and longer if a slow device could explain it";
const MEASURED_RULE: &str =
    "a turn may take 2 minutes and, for each reading, ten times the longest earlier one";
const COMMAND_RULE: &str = "a command may take an hour";
const BUDGET_RULE: &str = "a turn may go on for 5 s after --budget, or for twice an earlier turn";

/// Readings that are shorter than this share a turn: a process that was just woken finds the
/// processor's caches cold, while a program that reads small files reads many of them.
const SHORT_READING_NS: u64 = 1_000_000;

/// Total time of the untimed readings that precede the timed readings of a turn with short
/// readings.
const UNTIMED_LEAD_NS: u64 = 200_000;

/// Largest number of timed readings in one turn. With more readings in a turn there would be too
/// few rounds to show the machine's drift.
pub(super) const TURN_READINGS_MAX: u64 = 10;

const UNTIMED_READINGS_MAX: u64 = 64;

/// Fixed part of the assumed time of a short reading. The other part is the time for its bytes at 4
/// GB/s.
const ASSUMED_READING_FIXED_NS: u64 = 2_000;

/// Assumed time to find one name.
const ASSUMED_NAME_LOOKUP_NS: u64 = 200;

/// Variables that keep clients from using a proxy, because every method must use the same server.
const NO_PROXY_VARIABLES: [&str; 2] = ["no_proxy", "NO_PROXY"];

pub(super) struct Trials<'a> {
    pub(super) plan: &'a Plan,
    contenders: &'a Contenders,
    targets: Vec<MeasuredTarget<'a>>,
    /// Whether every turn has only one reading, even if readings are short.
    pub(super) reads_singly: bool,
    /// Number of the contender's processes that read together, by trial; empty if all trials have
    /// one reader.
    pub(super) reader_counts: BTreeMap<TrialIndex, u32>,
    pub(super) memory_control: Option<MemoryControl>,
    pub(super) clock: RunClock,
    /// Duration of the longest turn of each trial, untimed turns included.
    pub(super) longest_turns: BTreeMap<TrialIndex, Duration>,
    /// The longest proven reading of each trial.
    longest_readings: BTreeMap<TrialIndex, Duration>,
    /// The longest fill of the cache; `None` before the first.
    longest_fill: Option<Duration>,
    /// Description of the change of a target that ended the run; empty if no change did.
    run_ending_change: OnceLock<String>,
}

pub(super) struct LowerLayerCounters {
    /// Bytes of the layer below the file system, if that layer has a counter.
    layer: Option<LayerBytes>,
    /// Total busy time of the device; `None` without a known device.
    busy_ns: Option<Result<u64, String>>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        contenders: &'a Contenders,
        targets: Vec<MeasuredTarget<'a>>,
    ) -> Trials<'a> {
        Trials {
            plan,
            contenders,
            targets,
            reads_singly: false,
            reader_counts: BTreeMap::new(),
            memory_control: None,
            clock: RunClock::start(plan.rules.budget),
            longest_turns: BTreeMap::new(),
            longest_readings: BTreeMap::new(),
            longest_fill: None,
            run_ending_change: OnceLock::new(),
        }
    }

    /// Whether the number of readers is a parameter of the trials.
    pub(super) fn reads_together(&self) -> bool {
        !self.reader_counts.is_empty()
    }

    pub(super) fn reader_count(&self, trial: TrialIndex) -> u32 {
        self.reader_counts.get(&trial).copied().unwrap_or(1)
    }

    pub(super) fn memory_bound(&self, trial: TrialIndex) -> Option<&MemoryFacts> {
        self.memory_control.as_ref()?.bound(trial)
    }

    /// New control groups for the readers of a trial; none if it has no bound on memory.
    pub(super) fn make_groups(&self, trial: TrialIndex) -> Result<ReaderGroups, SessionError> {
        let made =
            self.memory_control.as_ref().map(|memory| memory.make_groups(trial, self.reader_count(trial)));
        let failed = |error| SessionError::Unavailable(format!("no control group for it: {error}"));
        Ok(made.transpose().map_err(failed)?.unwrap_or_default())
    }

    /// Replaces all targets by this one. Used if trials read their file only once, because such
    /// files are opened one after the other.
    pub(super) fn replace_target(&mut self, target: MeasuredTarget<'a>) {
        self.targets = vec![target];
    }

    pub(super) fn trial(&self, trial: TrialIndex) -> &'a Trial {
        &self.plan.planned_trial(trial).trial
    }

    /// The trial with this name that reads this target, in any cache state.
    pub(super) fn trial_named(&self, name: &str, target: TargetIndex) -> Option<&'a Trial> {
        let mut trials = self.plan.trials.iter().map(|planned| &planned.trial);
        trials.find(|trial| trial.target == target && trial.id.to_string() == name)
    }

    pub(super) fn target(&self, target: TargetIndex) -> &MeasuredTarget<'a> {
        let found = self.targets.iter().find(|measured| measured.index == target);
        found.expect("the sampler gets every target of its plan")
    }

    /// Number of targets that are read. A target that is read under several settings of the system
    /// counts once.
    pub(super) fn target_count(&self) -> usize {
        self.targets.len()
    }

    pub(super) fn target_of(&self, trial: TrialIndex) -> &MeasuredTarget<'a> {
        self.target(self.trial(trial).target)
    }

    pub(super) fn facts(&self, trial: TrialIndex) -> &'a TargetFacts {
        &self.target_of(trial).target.facts
    }

    pub(super) fn truth(&self, trial: TrialIndex) -> &'a Truth {
        let target = self.target_of(trial);
        let decodes = self.trial(trial).decoded_format.is_some();
        target.decoded_truth.filter(|_| decodes).unwrap_or(target.truth)
    }

    /// The resident pages after this host has waited for all hosts, because other hosts may have
    /// read a cold file during the wait. They are counted again only if the fastest means works;
    /// otherwise this is `before`.
    pub(super) fn residency_after_wait(
        &self,
        trial: &Trial,
        before: Option<ResidencyProof>,
    ) -> Option<ResidencyProof> {
        let is_fast = before.as_ref().is_some_and(|proof| proof.means == ResidencyMeans::Count);
        let again = || self.target_of(trial.index).residency().ok();
        if is_fast && trial.state == CacheState::Cold { again().or(before) } else { before }
    }

    pub(super) fn page_cache(&self, target: TargetIndex) -> &dyn TargetCache {
        self.target(target).cache().expect("states are made only of targets that have a file")
    }

    /// One target for each file, even if several targets are read from the same file; for a file
    /// with copies, the target with most copies.
    pub(super) fn distinct_files(&self) -> impl Iterator<Item = &MeasuredTarget<'a>> {
        let files = self.targets.iter().enumerate().filter(|(_, target)| target.cache().is_some());
        let stands_for = |at: usize, target: &MeasuredTarget, other: (usize, &MeasuredTarget)| {
            let more = (other.1.cached_bytes(), Reverse(other.0)) > (target.cached_bytes(), Reverse(at));
            more && other.1.shares_file(target)
        };
        let is_one =
            move |at, target| !self.targets.iter().enumerate().any(|other| stands_for(at, target, other));
        files.filter(move |(at, target)| is_one(*at, *target)).map(|(_, target)| target)
    }

    /// Bytes of files that must stay in the page cache between the turns of a trial.
    pub(super) fn bytes_to_keep_cached(&self, trial: TrialIndex) -> u64 {
        match self.trial(trial).state {
            CacheState::Warm => self.distinct_files().map(MeasuredTarget::cached_bytes).sum(),
            CacheState::Cold | CacheState::Pressed | CacheState::Unknown => 0,
        }
    }

    pub(super) fn warmup(&self, trial: TrialIndex) -> Warmup {
        self.plan.planned_trial(trial).warmup
    }

    /// Number of trials of the same state whose contenders read until they are steady after each
    /// start.
    pub(super) fn contender_count_until_steady(&self, trial: TrialIndex) -> usize {
        let state = self.trial(trial).state;
        let of_state = self.plan.trials.iter().filter(|planned| planned.trial.state == state);
        of_state.filter(|planned| planned.warmup == Warmup::UntilSteady).count()
    }

    pub(super) fn runtime(&self, trial: TrialIndex) -> &str {
        let contender = self.contenders.contender(self.trial(trial).contender());
        contender.map_or("", |contender| contender.receipt.runtime.as_str())
    }

    /// The counters below the page cache of a trial's target, as of now.
    pub(super) fn lower_layer_counters(&self, trial: TrialIndex) -> LowerLayerCounters {
        let layer = self.target_of(trial).next_layer().map(NextLayer::read_counters);
        LowerLayerCounters { layer, busy_ns: self.facts(trial).block_device().map(busy_ns) }
    }

    /// Busy time of the device, and bytes that arrived at the layer, since `before`.
    pub(super) fn lower_layer_difference(
        &self,
        trial: TrialIndex,
        before: LowerLayerCounters,
    ) -> (Option<Result<u64, String>>, Option<LowerLayerBytes>) {
        let now_ns = self.facts(trial).block_device().map(busy_ns);
        let device_busy =
            before.busy_ns.zip(now_ns).map(|(before_ns, now_ns)| count_difference(before_ns, now_ns));
        let layer = before.layer.zip(self.target_of(trial).next_layer());
        let below = layer.map(|(before, layer)| {
            let bytes = before.increase_until(layer.read_counters());
            LowerLayerBytes { layer: layer.clone(), bytes }
        });
        (device_busy, below)
    }

    /// The readings of one turn: one reading, or several short ones, because a single short reading
    /// would mostly measure the time to wake up.
    pub(super) fn turn_request(&self, trial: &Trial) -> TurnRequest {
        let facts = self.facts(trial.index);
        let bytes = facts.size_bytes.max(facts.bytes_out(trial.decoded_format));
        let names = self.truth(trial.index).answer.names.filter(|_| trial.work.finds_names());
        let reading_ns =
            ASSUMED_READING_FIXED_NS + names.map_or(bytes / 4, |names| names * ASSUMED_NAME_LOOKUP_NS);
        let is_single = self.reads_singly
            || trial.start_session == StartMode::EachReading
            || trial.command_rules.prepare_command.is_some()
            || matches!(trial.state, CacheState::Cold | CacheState::Pressed)
            || facts.transport().has_server();
        if is_single || reading_ns >= SHORT_READING_NS {
            return TurnRequest { lead: 0, count: 1 };
        }
        let readings_in = |span_ns: u64, most: u64| {
            u32::try_from((span_ns / reading_ns).clamp(1, most)).expect("at most sixty-four")
        };
        let count = self.plan.rules.readings_per_turn(readings_in(SHORT_READING_NS, TURN_READINGS_MAX));
        TurnRequest { lead: readings_in(UNTIMED_LEAD_NS, UNTIMED_READINGS_MAX), count }
    }

    /// The time limit of a turn of this many readings. A firm budget may shorten it.
    pub(super) fn turn_limit(&self, trial: TrialIndex, readings: u32) -> TurnLimit {
        let usual = self.usual_turn_limit(trial, readings);
        let longest_turn = self.longest_turns.get(&trial).copied().unwrap_or_default();
        // A reading that was not made to its end is a prediction of any length, and a command may read
        // only a part.
        let whole =
            if self.truth(trial).is_whole { self.simplest_time(trial, readings) } else { Duration::ZERO };
        let needed = whole.max(longest_turn) * OVERRUN_FACTOR;
        let time = self.clock.wait_limit(usual.time, needed);
        if time < usual.time { TurnLimit { time, rule: BUDGET_RULE } } else { usual }
    }

    /// The time limit of a turn like the earlier ones of the trial. Their time is known, so no slow
    /// device explains a longer wait. Only the prediction counts for a command of the user's, which
    /// may do any work, and in other states than cold and warm, in which any number of bytes may come
    /// from the device.
    pub(super) fn repeated_turn_limit(&self, trial: TrialIndex, readings: u32) -> TurnLimit {
        let predicted = self.turn_limit(trial, readings);
        let planned = self.plan.planned_trial(trial);
        let is_alike =
            !planned.is_own_command && matches!(planned.trial.state, CacheState::Cold | CacheState::Warm);
        let longest = self.longest_readings.get(&trial).filter(|_| is_alike);
        let measured = longest.map(|longest| measured_time_limit(*longest * readings));
        match measured.filter(|time| *time < predicted.time) {
            Some(time) => TurnLimit { time, rule: MEASURED_RULE },
            None => predicted,
        }
    }

    pub(super) fn note_readings(&mut self, trial: TrialIndex, samples: &[Sample]) {
        let Some(longest_ns) = samples.iter().map(|sample| sample.wall_ns).max() else { return };
        let longest = self.longest_readings.entry(trial).or_default();
        *longest = Duration::from_nanos(longest_ns).max(*longest);
    }

    pub(super) fn note_fill(&mut self, time: Duration) {
        self.longest_fill = self.longest_fill.max(Some(time));
    }

    /// The time limit of a turn of this many readings, without regard to the budget.
    fn usual_turn_limit(&self, trial: TrialIndex, readings: u32) -> TurnLimit {
        let least = match self.trial(trial).state {
            CacheState::Pressed => PRESSED_TIME_LIMIT_MIN,
            CacheState::Cold | CacheState::Warm | CacheState::Unknown => TIME_LIMIT_MIN,
        };
        let slow_device = match self.trial(trial).state {
            CacheState::Warm => Duration::ZERO,
            CacheState::Cold | CacheState::Pressed | CacheState::Unknown => self.slow_device_time(trial),
        };
        let slow_device = slow_device * readings * self.reader_count(trial);
        let time = least + self.simplest_time(trial, readings) * TIME_LIMIT_FACTOR + slow_device;
        // A command of the user's may do any work, so the simplest reading predicts nothing.
        let is_own_command = self.plan.planned_trial(trial).is_own_command;
        if is_own_command && time < COMMAND_TIME_LIMIT {
            return TurnLimit { time: COMMAND_TIME_LIMIT, rule: COMMAND_RULE };
        }
        TurnLimit { time, rule: READER_RULE }
    }

    /// The longest time limit of a turn of one reading, of any trial of the plan.
    pub(super) fn longest_turn_limit(&self) -> Duration {
        let limits = self.plan.trials.iter().map(|it| self.repeated_turn_limit(it.trial.index, 1).time);
        limits.max().unwrap_or(TIME_LIMIT_MIN)
    }

    /// The time limit of filling the cache with what a trial reads, for the trial that reads most
    /// slowly, or the limit that follows from an earlier fill.
    pub(super) fn fill_limit(&self) -> Duration {
        let time = |planned: &PlannedTrial| {
            let trial = planned.trial.index;
            self.simplest_time(trial, 1) * TIME_LIMIT_FACTOR + self.slow_device_time(trial)
        };
        let predicted = TIME_LIMIT_MIN + self.plan.trials.iter().map(time).max().unwrap_or_default();
        self.longest_fill.map_or(predicted, |longest| predicted.min(measured_time_limit(longest)))
    }

    /// The time that this many of the simplest readings take, one after the other.
    fn simplest_time(&self, trial: TrialIndex, readings: u32) -> Duration {
        Duration::from_nanos(self.truth(trial).wall_ns) * readings * self.reader_count(trial)
    }

    /// The time in which a slow device delivers what a trial reads; zero if the bytes come from a
    /// server of others. The simplest reading does not show that time: it may have found the bytes
    /// in the page cache.
    fn slow_device_time(&self, trial: TrialIndex) -> Duration {
        let (facts, own) = (self.facts(trial), self.trial(trial));
        if facts.has_foreign_server() {
            return Duration::ZERO;
        }
        let names = self.truth(trial).answer.names.filter(|_| own.work.finds_names());
        let entries = || facts.tree().map(|tree| tree.files + tree.folders);
        let blocks = || facts.blocks().map(|blocks| blocks.read_count);
        let accesses = u32::try_from(names.or_else(entries).or_else(blocks).unwrap_or(1)).unwrap_or(u32::MAX);
        let transfer = Duration::from_secs(facts.size_bytes / SLOW_DEVICE_BYTES_PER_S);
        (transfer + SLOW_ACCESS_TIME * accesses).min(SLOW_DEVICE_TIME_MAX)
    }

    pub(super) fn start(
        &self,
        trial: TrialIndex,
        additions: CommandLineAdditions,
    ) -> Result<(Session, Params), SessionError> {
        let mut session = self.launch(trial, 0, additions)?.receive_hello()?;
        let params = session.wait_until_ready()?;
        Ok((session, params))
    }

    /// Starts one reader of a trial, by its number from 0, without waiting until it is ready.
    pub(super) fn launch(
        &self,
        trial: TrialIndex,
        reader: usize,
        additions: CommandLineAdditions,
    ) -> Result<LaunchedSession, SessionError> {
        let method = &self.plan.planned_trial(trial).resolved_method;
        let contender = self.contenders.contender(&method.id.contender);
        let contender = contender.expect("the plan names only contenders that answered");
        let target = self.target_of(trial).target;
        let reads = match method.method.reads {
            // A request for `Reads::Both` is one for a command. Other methods that read a path or
            // a URL get the request for a URL.
            Reads::Both if target.remote().is_some() && method.id.contender != COMMAND => Reads::Url,
            reads => reads,
        };
        let request = target.request_of_reader(reader, reads);
        let request = request.map_err(|error| SessionError::Unavailable(error.to_string()))?;
        let mut command = contender.read_command(method, self.trial(trial).requested_work(), &request);
        // For a tree, all contenders except walkers and commands get the list of files.
        if target.tree().is_some() && !matches!(method.method.reads, Reads::Folder | Reads::Both) {
            command.args.push(list_word().into());
        }
        if matches!(target.place, Place::Blocks(_)) {
            command.args.push(places_word().into());
        }
        command.args.extend(target.part.into_iter().flat_map(|part| part.words().map(OsString::from)));
        command.env.extend(success_variable(&self.trial(trial).command_rules));
        command.env.extend(additions.env);
        command.created_file = additions.created_file;
        command.cgroup_procs_path = additions.cgroup_procs_path;
        if target.remote().is_some() {
            command.env.extend(NO_PROXY_VARIABLES.map(|name| (name.into(), "*".into())));
        }
        Session::launch_within(&method.id.contender, &command, self.start_time_limit())
    }

    /// Longest time from the start of a contender until it is ready: at most the time of the whole
    /// run, unless the run is very short.
    fn start_time_limit(&self) -> Duration {
        let whole = Duration::from(self.plan.rules.budget.time());
        START_TIMEOUT.min(whole.max(TIME_LIMIT_MIN))
    }

    /// Explains an answer with too many lines, if the bytes contain as many other line separators
    /// as the answer has surplus lines; some runtimes end a line at these characters. Reads the
    /// bytes again only for such an answer.
    fn line_ends_hint(&self, trial: &Trial, answer: &Answer, truth: &Answer) -> Option<String> {
        let own = answer.lines.or(answer.newlines)?;
        let right = [truth.lines, truth.newlines].into_iter().flatten();
        let beyond: Vec<u64> = right.filter_map(|right| own.checked_sub(right)).collect();
        if beyond.iter().all(|more| *more == 0) {
            return None;
        }
        let (of_what, found) = self.other_line_ends(trial)?;
        let OtherLineEnds { lone_returns, separators } = found;
        let returns = format!("{lone_returns} carriage returns (\\r) without a newline");
        let unicode = format!("{separators} other line separators (U+0085, U+2028, U+2029)");
        let both = format!("{returns} and {unicode}");
        let kinds =
            [(lone_returns, returns), (separators, unicode), (lone_returns.saturating_add(separators), both)];
        let (_, ends) = kinds.into_iter().find(|(count, _)| *count > 0 && beyond.contains(count))?;
        Some(format!("{of_what} {ends}, and it ends a line at each"))
    }

    /// The other line separators in the bytes that a trial reads, with words that name these bytes;
    /// `None` if they cannot be read again on this machine.
    fn other_line_ends(&self, trial: &Trial) -> Option<(&'static str, OtherLineEnds)> {
        let target = self.target_of(trial.index).target;
        if let Some(tree) = target.tree() {
            let mut found = OtherLineEnds::default();
            for path in tree.paths().ok()? {
                found = found.sum_with(OtherLineEnds::in_file(&path.ok()?).ok()?);
            }
            return Some(("the files have", found));
        }
        let path = target.file()?;
        let Some(archive) = trial.decoded_format else {
            return Some(("the file has", OtherLineEnds::in_file(path).ok()?));
        };
        let dictionary = target.facts.dictionary.as_ref();
        let dictionary = dictionary.map_or_else(|| Ok(Vec::new()), dictionary::read_unchanged).ok()?;
        let packed = PackedFile { path, archive, dictionary: &dictionary };
        Some(("the content has", OtherLineEnds::in_content(&packed).ok()?))
    }

    pub(super) fn compare_answers(&self, trial: &Trial, turn: &Turn) -> Result<(), SampleError> {
        let Truth { answer: truth, products, .. } = self.truth(trial.index);
        for sample in &turn.samples {
            let answer = Answer::from(sample);
            // A control may answer nothing, or only the number of bytes.
            let suits_control = answer == Answer::default() || answer.proves(Work::Discard, truth);
            if trial.is_control() && suits_control {
                continue;
            }
            if !answer.proves(trial.requested_work(), truth) {
                let why = answer.refusal(trial.requested_work(), truth);
                let hint = match self.matches_decoded_content(trial, &answer) {
                    true => Some("it is right about what comes out: --commands-decode".to_owned()),
                    false => self
                        .line_ends_hint(trial, &answer, truth)
                        .or_else(|| self.other_check_hint(trial, &answer, truth)),
                };
                let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
                return Err(SampleError::refused(why + &hint));
            }
            let must_prove = trial.contender() != COMMAND;
            if must_prove && trial.work.finds_names() && !answer.has_every_kind() {
                let why = "it must say how many files, folders, links and others it found";
                return Err(SampleError::refused(format!("it answered {answer}: {why}")));
            }
            if products
                .is_some_and(|products| !products.agrees_with(trial.requested_work(), &answer, must_prove))
            {
                let why = "its products do not prove that it read each file or block once";
                return Err(SampleError::refused(format!("it answered {answer}: {why}")));
            }
        }
        Ok(())
    }

    /// Explains how to race a command of the user whose number is right for no work, as that of
    /// `grep -c` or `du`.
    fn other_check_hint(&self, trial: &Trial, answer: &Answer, truth: &Answer) -> Option<String> {
        let is_own_command = self.plan.planned_trial(trial.index).is_own_command;
        let is_count = is_own_command && trial.command_rules.check.is_count() && !trial.work.may_read_part();
        (is_count && answer.suited_work(trial.work, truth).is_none()).then(|| OTHER_CHECK_HINT.to_owned())
    }

    /// Whether a command was asked about an archive's bytes and answers about its decoded content.
    fn matches_decoded_content(&self, trial: &Trial, answer: &Answer) -> bool {
        let decoded = self.target_of(trial.index).decoded_truth.filter(|_| trial.contender() == COMMAND);
        trial.decoded_format.is_none()
            && decoded.is_some_and(|content| answer.proves(trial.requested_work(), &content.answer))
    }

    /// Whether no cache state is made for a turn of this trial: the trial is a control that reads
    /// nothing, and a check of all files of a tree would take far longer than its turn.
    pub(super) fn leaves_cache_alone(&self, trial: &Trial) -> bool {
        let reads_nothing = trial.is_control() && trial.limit_kind().is_none();
        reads_nothing && self.target_of(trial.index).target.tree().is_some()
    }

    /// Returns an error that ends the run if the target of a trial has changed during a turn,
    /// because results before and after the change cannot be compared. After a failed turn, only a
    /// target of one file is checked: its change may be the cause of the failure.
    pub(super) fn check_unchanged_after_turn(
        &self,
        trial: TrialIndex,
        is_taken: bool,
    ) -> Result<(), SampleError> {
        let target = self.target_of(trial);
        if is_taken || target.target.file().is_some() {
            self.check_unchanged(trial, target.file_change_since_answer())
        } else {
            Ok(())
        }
    }

    /// How the first changed target of this machine changed, with the target's name; `None` if none
    /// changed. Servers are not asked, because a command may have ended them.
    pub(super) fn describe_first_change(&self) -> Option<String> {
        self.targets
            .iter()
            .find_map(|it| Some(format!("{} {}", it.target.facts.path, it.file_change_since_answer()?)))
    }

    /// Takes the description of the change that ended the run; `None` if no change did, or if it
    /// was taken before.
    pub(super) fn take_change(&mut self) -> Option<String> {
        self.run_ending_change.take()
    }

    /// Returns an error that ends the run if the trial's target has changed: its files by
    /// `file_change`, or the content of its foreign server, which is asked.
    pub(super) fn check_unchanged(
        &self,
        trial: TrialIndex,
        file_change: Option<String>,
    ) -> Result<(), SampleError> {
        let change = match &self.target_of(trial).target.place {
            Place::Web(remote) => self.server_change(trial, remote)?,
            _ => file_change,
        };
        let Some(change) = change else { return Ok(()) };
        let id = &self.trial(trial).id;
        // Readers of a roster open their target read-only; a user's command may write to it.
        let after = match id.method.contender.as_str() {
            COMMAND => format!(", seen after a reading by {id},"),
            _ => String::new(),
        };
        let reason = format!("{} {change}{after} {WHILE_RACED_WORDS}", self.facts(trial).path);
        // Kept for a warning, because the trial of this turn may have an outcome already.
        let _ = self.run_ending_change.set(reason.clone());
        let refused = Outcome::Refused { reason };
        Err(TrialEnd::Both(refused, EndReason::TargetChanged).into())
    }

    /// How the content of a foreign server changed. If the server does not say so, only the trial
    /// fails: the next one may find the server as it was.
    fn server_change(&self, trial: TrialIndex, remote: &RemoteTarget) -> Result<Option<String>, TrialEnd> {
        let retry_time = self.clock.wait_limit(VERSION_RETRY_TIME, Duration::ZERO);
        remote.change(retry_time).map_err(|error| match error {
            HttpError::Interrupted => TrialEnd::Run(EndReason::Interrupted),
            error => {
                let path = &self.facts(trial).path;
                TrialEnd::failed(format!("after its reading it is not known whether {path} changed: {error}"))
            }
        })
    }
}

fn measured_time_limit(longest: Duration) -> Duration {
    MEASURED_TIME_LIMIT_MIN + longest * MEASURED_TIME_LIMIT_FACTOR
}

/// The environment variable with the exit codes that are no failure, if the user names any.
fn success_variable(rules: &CommandRules) -> Option<(OsString, OsString)> {
    let codes: Vec<String> = rules.success_codes.iter().map(u8::to_string).collect();
    (!codes.is_empty()).then(|| (SUCCESS_VARIABLE.into(), codes.join(",").into()))
}

#[cfg(test)]
mod tests {
    use super::super::run_clock::GRACE_TIME;
    use super::super::testing::{FIRST_TRIAL, Fixture, sample_line, turn};
    use super::*;
    use crate::plan::Budget;
    use crate::round::testing::{COLD, WARM};
    use readlab_system::program::ProgramError;

    #[test]
    fn short_warm_readings_share_a_turn_and_long_or_cold_ones_do_not() {
        let single = TurnRequest { lead: 0, count: 1 };
        let fixture = Fixture::remote_of_size(1 << 20);
        let trials = fixture.trials(&[("a", COLD), ("a", WARM)]);
        assert_eq!(trials.turn_request(trials.nth_trial(0)), single);
        // A reading is assumed to take 264 µs: three fit into a turn, and twenty are divided by
        // two.
        assert_eq!(trials.turn_request(trials.nth_trial(1)), TurnRequest { lead: 1, count: 2 });
        let fixture = Fixture::remote_of_size(4 << 20);
        let trials = fixture.trials(&[("a", WARM)]);
        assert_eq!(trials.turn_request(trials.nth_trial(0)), single);
    }

    #[test]
    fn the_time_limit_grows_with_the_readings_and_the_simplest_reading() {
        let fixture = Fixture::remote_of_size(1);
        let trials = fixture.trials(&[("a", WARM), ("a", CacheState::Pressed)]);
        let pressed = trials.nth_trial(1).index;
        for (readings, more_ms) in [(1, 40), (10, 400)] {
            let more = Duration::from_millis(more_ms);
            assert_eq!(trials.turn_limit(FIRST_TRIAL, readings).time, TIME_LIMIT_MIN + more);
            let slow_device = SLOW_ACCESS_TIME * readings;
            let limit = trials.turn_limit(pressed, readings);
            assert_eq!(limit.time, PRESSED_TIME_LIMIT_MIN + more + slow_device);
        }
    }

    #[test]
    fn a_command_may_take_an_hour_and_no_longer_than_a_firm_budget_and_its_own_turns_need() {
        let fixture = Fixture::remote_of_size(1);
        let mut trials = fixture.trials_of_command("xz", true);
        let limit = trials.turn_limit(FIRST_TRIAL, 1);
        assert_eq!((limit.time, limit.rule), (COMMAND_TIME_LIMIT, COMMAND_RULE));
        let (second, ten_seconds) = (Duration::from_secs(1), Duration::from_secs(10));
        trials.clock = RunClock::start(Budget::Firm(ten_seconds.into()));
        let limit = trials.turn_limit(FIRST_TRIAL, 1);
        assert!(limit.time <= ten_seconds + GRACE_TIME && limit.rule == BUDGET_RULE, "{:?}", limit.time);
        // A turn that begins at the end of the budget may take as long as those before it.
        trials.clock.earlier_time = ten_seconds;
        trials.longest_turns.insert(FIRST_TRIAL, 100 * second);
        assert_eq!(trials.turn_limit(FIRST_TRIAL, 1).time, 200 * second + GRACE_TIME);
    }

    #[test]
    fn a_prediction_gives_no_turn_more_time_than_a_firm_budget() {
        let [ten_seconds, hundred_seconds] = [10, 100].map(Duration::from_secs);
        let limit = |is_whole| {
            let fixture = Fixture::remote_of_size(1).read_in(hundred_seconds, is_whole);
            let mut trials = fixture.trials_of_command("head -c 1", true);
            trials.clock = RunClock::start(Budget::Firm(ten_seconds.into()));
            trials.turn_limit(FIRST_TRIAL, 1).time
        };
        assert!(limit(false) <= ten_seconds + GRACE_TIME);
        assert_eq!(limit(true), 2 * hundred_seconds + GRACE_TIME);
    }

    #[test]
    fn a_command_of_a_suite_has_the_time_limit_of_a_reader() {
        let fixture = Fixture::remote_of_size(1);
        let limit = fixture.trials_of_command("wc -l", false).turn_limit(FIRST_TRIAL, 1);
        assert_eq!((limit.time, limit.rule), (TIME_LIMIT_MIN + Duration::from_millis(40), READER_RULE));
    }

    #[test]
    fn the_cache_is_filled_in_the_time_of_a_slow_device_whatever_a_command_may_take() {
        let large = Fixture::remote_of_size(100 * SLOW_DEVICE_BYTES_PER_S);
        let limit = TIME_LIMIT_MIN + Duration::from_millis(40) + Duration::from_secs(100) + SLOW_ACCESS_TIME;
        assert_eq!(large.trials(&[("a", WARM)]).fill_limit(), limit);
        assert_eq!(large.trials_of_command("xz", true).fill_limit(), limit);
    }

    #[test]
    fn a_cold_reading_has_the_time_of_a_slow_device_for_its_bytes_and_places() {
        let warm_and_cold = [("a", WARM), ("a", COLD)];
        let more_when_cold = |fixture: &Fixture| {
            let trials = fixture.trials(&warm_and_cold);
            let [warm, cold] = [0, 1].map(|at| trials.turn_limit(trials.nth_trial(at).index, 1).time);
            cold - warm
        };
        let large = Fixture::remote_of_size(100 * SLOW_DEVICE_BYTES_PER_S);
        assert_eq!(more_when_cold(&large), Duration::from_secs(100) + SLOW_ACCESS_TIME);
        let huge = Fixture::remote_of_size(1 << 60);
        assert_eq!(more_when_cold(&huge), SLOW_DEVICE_TIME_MAX);
        let many = Fixture::remote_of_size(1).described_as_files(1000);
        assert_eq!(more_when_cold(&many), SLOW_ACCESS_TIME * 1000);
    }

    #[test]
    fn a_measured_trial_or_fill_waits_for_minutes_and_for_no_slow_device() {
        let second = Duration::from_secs(1);
        let reading = |seconds| Sample { wall_ns: seconds * 1_000_000_000, ..Sample::default() };
        let huge = Fixture::remote_of_size(1 << 60);
        let mut trials = huge.trials(&[("a", COLD), ("b", COLD)]);
        assert!(trials.repeated_turn_limit(FIRST_TRIAL, 1).time > SLOW_DEVICE_TIME_MAX);
        assert!(trials.fill_limit() > SLOW_DEVICE_TIME_MAX);
        for seconds in [5, 3] {
            trials.note_readings(FIRST_TRIAL, &[reading(seconds)]);
            trials.note_fill(Duration::from_secs(seconds));
            let limit = trials.repeated_turn_limit(FIRST_TRIAL, 1);
            assert_eq!((limit.time, limit.rule), (MEASURED_TIME_LIMIT_MIN + 50 * second, MEASURED_RULE));
            assert_eq!(trials.fill_limit(), limit.time);
        }
        let other = trials.nth_trial(1).index;
        assert!(trials.repeated_turn_limit(other, 1).time > SLOW_DEVICE_TIME_MAX, "it was not measured");
        let counted = trials.turn_limit(FIRST_TRIAL, 1).time;
        assert!(counted > SLOW_DEVICE_TIME_MAX, "a counted reading is no repetition");
        // A limit that is shorter stays, and those of the user's own command and of other states.
        let small = Fixture::remote_of_size(1);
        let pressed = huge.trials(&[("a", CacheState::Pressed)]);
        for mut trials in [small.trials(&[("a", WARM)]), small.trials_of_command("xz", true), pressed] {
            let predicted = trials.turn_limit(FIRST_TRIAL, 1).time;
            trials.note_readings(FIRST_TRIAL, &[reading(1)]);
            assert_eq!(trials.repeated_turn_limit(FIRST_TRIAL, 1).time, predicted);
        }
    }

    #[test]
    fn the_reason_of_a_silent_contender_names_the_rule_of_its_time_limit() {
        let limit = TurnLimit { time: TIME_LIMIT_MIN, rule: READER_RULE };
        let silent = |cause| SessionError::Silent { cause, end: "it was killed by signal 9".to_owned() };
        let explained = limit.explain(silent(ProgramError::Timeout(TIME_LIMIT_MIN))).to_string();
        assert!(explained.starts_with("no answer within 10s; it was killed"), "{explained}");
        assert!(explained.contains("; a turn may take 10 s "), "{explained}");
        let closed = limit.explain(silent(ProgramError::Closed)).to_string();
        assert_eq!(closed, "it closed its output; it was killed by signal 9");
    }

    #[test]
    fn a_wrong_answer_is_refused_and_a_control_may_give_none() {
        let fixture = Fixture::remote_of_size(1);
        let trials = fixture.trials(&[("a", WARM), ("null", WARM)]);
        let compare = |trial, newlines| {
            trials.compare_answers(trials.nth_trial(trial), &turn(vec![sample_line(newlines)]))
        };
        assert_eq!(compare(0, Some(1)), Ok(()));
        for wrong in [None, Some(2)] {
            let outcome = TrialEnd::from(compare(0, wrong).unwrap_err()).outcome();
            assert!(matches!(outcome, Ok(Outcome::Refused { .. })), "{outcome:?}");
        }
        assert_eq!(compare(1, None), Ok(()));
        assert!(compare(1, Some(2)).is_err());
    }

    #[test]
    fn a_command_of_the_user_with_another_number_is_refused_with_the_check_that_suits_it() {
        let fixture = Fixture::remote_of_size(1);
        let has_hint = |is_own_command| {
            let trials = fixture.trials_of_command("grep -c a", is_own_command);
            let error = trials.compare_answers(trials.nth_trial(0), &turn(vec![sample_line(Some(7))]));
            let outcome = TrialEnd::from(error.unwrap_err()).outcome();
            let Ok(Outcome::Refused { reason }) = outcome else { panic!("it is not refused") };
            reason.contains(OTHER_CHECK_HINT)
        };
        assert!(has_hint(true));
        assert!(!has_hint(false), "a suite says how its command is checked");
    }
}
