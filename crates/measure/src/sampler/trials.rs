//! The trials of a plan as the sampler sees them: the contender, the target and the right answer of
//! each.
//!
//! A target must not change after its answer was found, which is checked here too.

use super::observed_turn::LowerLayerBytes;
use super::run_clock::RunClock;
use crate::cache::TargetCache;
use crate::interface::{SampleError, TrialEnd};
use crate::next_layer::{LayerBytes, NextLayer, since};
use crate::plan::Plan;
use crate::residency::{Means, ResidencyProof};
use crate::target::MeasuredTarget;
use readlab_catalog::roster::Warmup;
use readlab_model::target::TargetFacts;
use readlab_model::trial::{Answer, COMMAND, CacheState, Params, TrialIndex, Work};
use readlab_protocol::files::list_word;
use readlab_protocol::places::places_word;
use readlab_protocol::{Reads, TurnRequest};
use readlab_record::{EndReason, Outcome, Start, Trial, WHILE_RACED};
use readlab_roster::discovery::Contenders;
use readlab_roster::session::{LaunchedSession, START_TIMEOUT, Session, SessionError, Turn};
use readlab_system::block_device::busy_ns;
use readlab_system::program::Additions;
use readlab_targets::corpus::line_ends::lone_returns;
use readlab_targets::corpus::oracle::Truth;
use readlab_targets::target::Place;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::OnceLock;
use std::time::Duration;

/// A turn may take at least this long before its contender counts as hung.
const TIME_LIMIT_MIN: Duration = Duration::from_secs(10);

/// For each reading of a turn the limit grows by this many times the plainest reading's time.
const TIME_LIMIT_FACTOR: u32 = 40;

/// A reading that begins within a firm budget may take so many times the plainest one's time, even if
/// that is longer than the budget.
const NEEDED_FACTOR: u32 = 2;

/// A reading shorter than this is repeated in one turn: a process that was just woken finds its
/// caches cold, and a program that reads small files reads many of them.
const SHORT_READING_NS: u64 = 1_000_000;

/// Time of the untimed readings before the timed ones of such a turn.
const LEAD_NS: u64 = 200_000;

/// Most timed readings in one turn: enough rounds must remain to show how the machine drifts.
pub(super) const COUNT_MAX: u64 = 10;

const UNTIMED_MAX: u64 = 64;

/// The fixed part of the assumed time of a short reading; the rest is a rate of 4 GB/s.
const SHORT_READING_FIXED_NS: u64 = 2_000;

/// Variables that keep clients from using a proxy: every method must use the same server.
const NO_PROXY: [&str; 2] = ["no_proxy", "NO_PROXY"];

pub(super) struct Trials<'a> {
    pub(super) plan: &'a Plan,
    contenders: &'a Contenders,
    targets: Vec<MeasuredTarget<'a>>,
    /// Whether every turn has one reading, however short.
    pub(super) reads_singly: bool,
    /// How many processes of the contender read together, by trial; empty where one does always.
    pub(super) readers: BTreeMap<TrialIndex, u32>,
    pub(super) clock: RunClock,
    /// How a target changed, which ended the run.
    change: OnceLock<String>,
}

/// What is counted below a page cache.
pub(super) struct Below {
    /// By the layer below the file system, where that has a counter of its own.
    layer: Option<LayerBytes>,
    /// How long the device has had work; `None` where none is known.
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
            readers: BTreeMap::new(),
            clock: RunClock::start(plan.rules.budget),
            change: OnceLock::new(),
        }
    }

    /// Whether the number of readers is a part of what is measured.
    pub(super) fn reads_together(&self) -> bool {
        !self.readers.is_empty()
    }

    pub(super) fn readers(&self, trial: TrialIndex) -> u32 {
        self.readers.get(&trial).copied().unwrap_or(1)
    }

    /// Replaces all targets by this one, because the files of these trials are opened one after
    /// the other.
    pub(super) fn replace_target(&mut self, target: MeasuredTarget<'a>) {
        self.targets = vec![target];
    }

    pub(super) fn trial(&self, trial: TrialIndex) -> &'a Trial {
        &self.plan.planned(trial).trial
    }

    /// The trial of this name, in whatever state.
    pub(super) fn named(&self, name: &str) -> Option<&'a Trial> {
        let mut trials = self.plan.trials.iter().map(|planned| &planned.trial);
        trials.find(|trial| trial.id.to_string() == name)
    }

    pub(super) fn target(&self, target: usize) -> &MeasuredTarget<'a> {
        let found = self.targets.iter().find(|measured| measured.index == target);
        found.expect("the sampler gets every target of its plan")
    }

    pub(super) fn target_of(&self, trial: TrialIndex) -> &MeasuredTarget<'a> {
        self.target(self.trial(trial).target)
    }

    pub(super) fn facts(&self, trial: TrialIndex) -> &'a TargetFacts {
        &self.target_of(trial).target.facts
    }

    pub(super) fn truth(&self, trial: TrialIndex) -> &'a Truth {
        let target = self.target_of(trial);
        let decodes = self.trial(trial).decodes.is_some();
        target.decoded.filter(|_| decodes).unwrap_or(target.truth)
    }

    /// What is resident when all hosts are ready, after this one has waited for them: others may
    /// have read a cold file meanwhile. Only the fastest means is used, as the start is near.
    pub(super) fn still_resident(
        &self,
        trial: &Trial,
        before: Option<ResidencyProof>,
    ) -> Option<ResidencyProof> {
        let is_fast = before.as_ref().is_some_and(|proof| proof.means == Means::Cachestat);
        let again = || self.target_of(trial.index).resident().ok();
        if is_fast && trial.state == CacheState::Cold { again().or(before) } else { before }
    }

    /// The page cache of a target that has a file.
    pub(super) fn page_cache(&self, target: usize) -> &dyn TargetCache {
        self.target(target).cache().expect("states are made only of targets that have a file")
    }

    /// Every file among the targets, once, however many targets are read from it; of a file with
    /// copies, the target with the most.
    pub(super) fn files(&self) -> impl Iterator<Item = &MeasuredTarget<'a>> {
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
    pub(super) fn cached_bytes(&self, trial: TrialIndex) -> u64 {
        match self.trial(trial).state {
            CacheState::Warm => self.files().map(MeasuredTarget::cached_bytes).sum(),
            CacheState::Cold | CacheState::Unknown => 0,
        }
    }

    pub(super) fn warmup(&self, trial: TrialIndex) -> Warmup {
        self.plan.planned(trial).warmup
    }

    /// How many trials of the same state read until they are steady when they are started.
    pub(super) fn contenders_until_steady(&self, trial: TrialIndex) -> usize {
        let state = self.trial(trial).state;
        let of_state = self.plan.trials.iter().filter(|planned| planned.trial.state == state);
        of_state.filter(|planned| planned.warmup == Warmup::UntilSteady).count()
    }

    pub(super) fn runtime(&self, trial: TrialIndex) -> &str {
        let contender = self.contenders.contender(self.trial(trial).contender());
        contender.map_or("", |contender| contender.receipt.runtime.as_str())
    }

    /// What is counted so far below the page cache of a trial's target.
    pub(super) fn below(&self, trial: TrialIndex) -> Below {
        let layer = self.target_of(trial).next_layer().map(NextLayer::count);
        Below { layer, busy_ns: self.facts(trial).block_device().map(busy_ns) }
    }

    /// How long the device had work since then, and what arrived at the layer.
    pub(super) fn below_since(
        &self,
        trial: TrialIndex,
        before: Below,
    ) -> (Option<Result<u64, String>>, Option<LowerLayerBytes>) {
        let now_ns = self.facts(trial).block_device().map(busy_ns);
        let device_busy = before.busy_ns.zip(now_ns).map(|(before_ns, now_ns)| since(before_ns, now_ns));
        let layer = before.layer.zip(self.target_of(trial).next_layer());
        let below = layer.map(|(before, layer)| {
            let bytes = before.until(layer.count());
            LowerLayerBytes { layer: layer.clone(), bytes }
        });
        (device_busy, below)
    }

    /// The readings of one turn: one, unless a reading is so short that most of it would be waking
    /// up.
    pub(super) fn turn_request(&self, trial: &Trial) -> TurnRequest {
        let facts = self.facts(trial.index);
        let bytes = facts.size_bytes.max(facts.bytes_out(trial.decodes));
        let reading_ns = SHORT_READING_FIXED_NS + bytes / 4;
        let is_single = self.reads_singly
            || trial.start == Start::EachReading
            || trial.command.prepare.is_some()
            || trial.state == CacheState::Cold
            || facts.transport().has_server();
        if is_single || reading_ns >= SHORT_READING_NS {
            return TurnRequest { lead: 0, count: 1 };
        }
        let readings_in = |span_ns: u64, most: u64| {
            u32::try_from((span_ns / reading_ns).clamp(1, most)).expect("at most sixty-four")
        };
        let count = self.plan.rules.readings_per_turn(readings_in(SHORT_READING_NS, COUNT_MAX));
        TurnRequest { lead: readings_in(LEAD_NS, UNTIMED_MAX), count }
    }

    pub(super) fn time_limit(&self, trial: TrialIndex, readings: u32) -> Duration {
        let plainest = Duration::from_nanos(self.truth(trial).wall_ns) * readings * self.readers(trial);
        self.clock.wait_limit(TIME_LIMIT_MIN + plainest * TIME_LIMIT_FACTOR, plainest * NEEDED_FACTOR)
    }

    /// Starts the contender of a trial, with these variables added to its environment.
    pub(super) fn start(
        &self,
        trial: TrialIndex,
        additions: Additions,
    ) -> Result<(Session, Params), SessionError> {
        let mut session = self.launch(trial, 0, additions)?.hello()?;
        let params = session.ready()?;
        Ok((session, params))
    }

    /// The same for one of its readers, by its number from 0, without waiting until it is ready.
    pub(super) fn launch(
        &self,
        trial: TrialIndex,
        reader: usize,
        additions: Additions,
    ) -> Result<LaunchedSession, SessionError> {
        let method = &self.plan.planned(trial).choice;
        let contender = self.contenders.contender(&method.id.contender);
        let contender = contender.expect("the plan names only contenders that answered");
        let target = self.target_of(trial).target;
        let reads = match method.method.reads {
            // Only a command needs a URL as an argument of its own.
            Reads::Both if target.remote().is_some() && method.id.contender != COMMAND => Reads::Url,
            reads => reads,
        };
        let request = target.request_of(reader, reads);
        let request = request.map_err(|error| SessionError::Unavailable(error.to_string()))?;
        let mut command = contender.read_command(method, self.trial(trial).work, &request);
        // Of a tree, all but walkers and commands get the list.
        if target.tree().is_some() && !matches!(method.method.reads, Reads::Folder | Reads::Both) {
            command.args.push(list_word().into());
        }
        if matches!(target.place, Place::Blocks(_)) {
            command.args.push(places_word().into());
        }
        command.args.extend(target.part.into_iter().flat_map(|part| part.words().map(OsString::from)));
        command.env.extend(additions.env);
        command.creates = additions.creates;
        if target.remote().is_some() {
            command.env.extend(NO_PROXY.map(|name| (name.into(), "*".into())));
        }
        Session::launch_within(&method.id.contender, &command, self.start_limit())
    }

    /// How long a contender may take until it is ready: no longer than the whole run, if that is
    /// not very short.
    fn start_limit(&self) -> Duration {
        let whole = Duration::from(self.plan.rules.budget.time());
        START_TIMEOUT.min(whole.max(TIME_LIMIT_MIN))
    }

    /// What explains an answer with more lines than there are: carriage returns of a plain file, if
    /// there are as many as it has too much.
    fn lone_returns(&self, trial: &Trial, answer: &Answer, truth: &Answer) -> Option<String> {
        let own = answer.lines.or(answer.newlines)?;
        let right = [truth.lines, truth.newlines].into_iter().flatten();
        let file = self.target_of(trial.index).target.file().filter(|_| trial.decodes.is_none())?;
        let beyond: Vec<u64> = right.filter_map(|right| own.checked_sub(right)).collect();
        let lone = beyond.iter().any(|more| *more > 0).then(|| lone_returns(file).ok())??;
        let why = "carriage returns (\\r) without a newline, and it ends a line at each";
        beyond.contains(&lone).then(|| format!("the file has {lone} {why}"))
    }

    pub(super) fn compare(&self, trial: &Trial, turn: &Turn) -> Result<(), SampleError> {
        let Truth { answer: truth, products, .. } = self.truth(trial.index);
        for sample in &turn.samples {
            let answer = Answer::from(sample);
            // A control may answer nothing, or only how many bytes it read.
            let suits_control = answer == Answer::default() || answer.proves(Work::Discard, truth);
            if trial.is_control() && suits_control {
                continue;
            }
            if !answer.proves(trial.work, truth) {
                let why = answer.refusal(trial.work, truth);
                let hint = match self.is_about_content(trial, &answer) {
                    true => Some("it is right about what comes out: --commands-decode".to_owned()),
                    false => self.lone_returns(trial, &answer, truth),
                };
                let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
                return Err(SampleError::refused(why + &hint));
            }
            let must_prove = trial.contender() != COMMAND;
            if products.is_some_and(|products| !products.agree(trial.work, &answer, must_prove)) {
                let why = "its products do not prove that it read each file or block once";
                return Err(SampleError::refused(format!("it answered {answer}: {why}")));
            }
        }
        Ok(())
    }

    /// Whether a command answers about what comes out of an archive, and was asked about its bytes.
    fn is_about_content(&self, trial: &Trial, answer: &Answer) -> bool {
        let decoded = self.target_of(trial.index).decoded.filter(|_| trial.contender() == COMMAND);
        trial.decodes.is_none() && decoded.is_some_and(|content| answer.proves(trial.work, &content.answer))
    }

    /// Whether a turn of this trial needs no state of the cache: it is a control that reads
    /// nothing, and to look at all files of the target would take longer than its turn by far.
    pub(super) fn leaves_cache_alone(&self, trial: &Trial) -> bool {
        let reads_nothing = trial.is_control() && trial.limit().is_none();
        reads_nothing && self.target_of(trial.index).target.tree().is_some()
    }

    /// Ends the run if the target of a trial has changed after a turn: no number about it can be
    /// compared with another. A turn that failed may have failed because its file changed.
    pub(super) fn check_unchanged_after(&self, trial: TrialIndex, is_taken: bool) -> Result<(), SampleError> {
        let target = self.target_of(trial);
        if is_taken || target.target.file().is_some() {
            self.check_change(trial, target.change())
        } else {
            Ok(())
        }
    }

    /// How the first target changed that is on this machine, with its name. No server is asked: a
    /// command may have ended it.
    pub(super) fn changed_file(&self) -> Option<String> {
        let mut files = self.targets.iter().filter(|it| it.cache().is_some());
        files.find_map(|it| Some(format!("{} {}", it.target.facts.path, it.change()?)))
    }

    /// How a target changed, which ended the run; told once.
    pub(super) fn take_change(&mut self) -> Option<String> {
        self.change.take()
    }

    pub(super) fn check_change(&self, trial: TrialIndex, change: Option<String>) -> Result<(), SampleError> {
        let Some(change) = change else { return Ok(()) };
        let id = &self.trial(trial).id;
        // Readers of a roster open what they read for reading only, which a command need not do.
        let after = match id.method.contender.as_str() {
            COMMAND => format!(", seen after a reading by {id},"),
            _ => String::new(),
        };
        let reason = format!("{} {change}{after} {WHILE_RACED}", self.facts(trial).path);
        // Not every turn is of a trial whose outcome would tell it.
        let _ = self.change.set(reason.clone());
        let refused = Outcome::Refused { reason };
        Err(TrialEnd::Both(refused, EndReason::TargetChanged).into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{FIRST, Fixture, sample_line, turn};
    use super::*;
    use crate::round::testing::{COLD, WARM};

    #[test]
    fn short_warm_readings_share_a_turn_and_long_or_cold_ones_do_not() {
        let single = TurnRequest { lead: 0, count: 1 };
        let fixture = Fixture::of_size(1 << 20);
        let trials = fixture.trials(&[("a", COLD), ("a", WARM)]);
        assert_eq!(trials.turn_request(trials.nth(0)), single);
        // A reading is assumed to take 264 µs: three fit into a turn, and twenty are divided by
        // two.
        assert_eq!(trials.turn_request(trials.nth(1)), TurnRequest { lead: 1, count: 2 });
        let fixture = Fixture::of_size(4 << 20);
        let trials = fixture.trials(&[("a", WARM)]);
        assert_eq!(trials.turn_request(trials.nth(0)), single);
    }

    #[test]
    fn the_time_limit_grows_with_the_readings_and_the_plainest_reading() {
        let fixture = Fixture::of_size(1);
        let trials = fixture.trials(&[("a", WARM)]);
        for (readings, more_ms) in [(1, 40), (10, 400)] {
            let limit = TIME_LIMIT_MIN + Duration::from_millis(more_ms);
            assert_eq!(trials.time_limit(FIRST, readings), limit);
        }
    }

    #[test]
    fn a_wrong_answer_is_refused_and_a_control_may_give_none() {
        let fixture = Fixture::of_size(1);
        let trials = fixture.trials(&[("a", WARM), ("null", WARM)]);
        let compare = |trial, newlines| trials.compare(trials.nth(trial), &turn(vec![sample_line(newlines)]));
        assert_eq!(compare(0, Some(1)), Ok(()));
        for wrong in [None, Some(2)] {
            let outcome = TrialEnd::from(compare(0, wrong).unwrap_err()).outcome();
            assert!(matches!(outcome, Ok(Outcome::Refused { .. })), "{outcome:?}");
        }
        assert_eq!(compare(1, None), Ok(()));
        assert!(compare(1, Some(2)).is_err());
    }
}
