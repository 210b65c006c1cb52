//! The sampler takes the samples of one turn of one trial from real contender processes. Every
//! measured number of readlab comes from `take_proven_turn` in this file.
//!
//! Each module owns one thing: `trials` the trials with their targets, `session_pool` the started
//! contenders and their meters, `cache_states` the state of the page cache, `runtime_counters` the
//! counts of system calls and allocations, `inspector` flame graphs and traces, `single_reads` the
//! files that are read only once, `notes` lines for the record that are no samples, `pressed` the
//! bounds on memory, [`super::settings`] the settings of the system. [`super::round`] decides the
//! order of turns.

mod cache_states;
mod claims;
mod holder_search;
mod inspector;
mod notes;
mod observed_turn;
mod own_commands;
mod pressed;
mod read_offset;
mod run_clock;
mod runtime_counters;
mod session_pool;
mod single_reads;
mod state_violation;
#[cfg(test)]
mod testing;
mod together;
mod trials;
mod turn_limit;
mod warm_up;

use super::attempt;
use super::counts::Counts;
use super::interface::{CleanUpError, SampleError, Sampler, Slot, StartingGate, TrialEnd};
use super::memory_bound::MemoryControl;
use super::plan::Plan;
use super::residency::ResidencyProof;
use super::settings::SettingControl;
use super::target::{MeasuredTarget, SweepTarget, TargetState};
use super::warm_up_file::WarmUpFile;
use cache_states::{CacheStateHistory, StateMaker};
use inspector::Inspection;
pub use inspector::{FlameGraphPaths, InspectPlan, picture_file};
use notes::Notes;
use observed_turn::CacheBeforeAfter;
use own_commands::{OwnCommands, run_prepare_hook};
use pressed::PressedTrials;
use readlab_catalog::roster::Warmup;
use readlab_model::sample::Sample;
use readlab_model::target::{TargetIndex, Targets};
use readlab_model::trial::{Answer, CacheState, Params, TrialIndex, Work};
use readlab_model::units::Nanos;
use readlab_protocol::TurnRequest;
use readlab_record::{EndReason, Fill, Line, Outcome, SettingsChange, StartMode, Trial};
use readlab_roster::discovery::Contenders;
use readlab_roster::session::Turn;
use runtime_counters::TrialCounters;
use session_pool::SessionPool;
use single_reads::SingleReads;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use trials::Trials;
use warm_up::WarmUpUntilSteady;

pub struct ProcessSampler<'a> {
    /// Declared, and so dropped, before `trials`, which holds the folder of all control groups: a
    /// group can be removed only after its processes have ended, and the folder only after that.
    pool: SessionPool,
    trials: Trials<'a>,
    states: CacheStateHistory,
    own_commands: OwnCommands,
    counters: TrialCounters,
    inspect_plan: InspectPlan,
    notes: Notes,
    /// The files of a plan that may read each file only once.
    single_reads: Option<SingleReads<'a>>,
    /// The gate at which turns wait for turns of other hosts.
    gate: Option<Box<dyn StartingGate>>,
    /// The settings of the system, if different values of them are raced.
    settings: Option<SettingControl>,
    pressed: PressedTrials,
    /// The trials that had their untimed cold reading.
    cold_probed_trials: BTreeSet<TrialIndex>,
}

impl<'a> ProcessSampler<'a> {
    /// A sampler for a plan and its targets, whose expected answers are known.
    pub fn new(
        plan: &'a Plan,
        contenders: &'a Contenders,
        targets: Vec<MeasuredTarget<'a>>,
    ) -> ProcessSampler<'a> {
        ProcessSampler {
            trials: Trials::new(plan, contenders, targets),
            pool: SessionPool::default(),
            states: CacheStateHistory::default(),
            own_commands: OwnCommands::default(),
            counters: TrialCounters::default(),
            inspect_plan: InspectPlan::default(),
            notes: Notes::default(),
            single_reads: None,
            gate: None,
            settings: None,
            pressed: PressedTrials::default(),
            cold_probed_trials: BTreeSet::new(),
        }
    }

    /// A sampler for a plan whose trials read each of these files once, one trial after the other.
    /// Untimed readings use readlab's own file, never one of these.
    pub fn for_single_reads(
        plan: &'a Plan,
        contenders: &'a Contenders,
        files: &'a Targets<SweepTarget>,
        warm_up_file: Option<&'a WarmUpFile>,
    ) -> ProcessSampler<'a> {
        let single_reads = Some(SingleReads::new(files, warm_up_file));
        ProcessSampler { single_reads, ..ProcessSampler::new(plan, contenders, Vec::new()) }
    }

    /// Makes the sampler read each file once untimed before the only timed reading.
    pub fn with_priming(mut self) -> ProcessSampler<'a> {
        self.single_reads.iter_mut().for_each(|reads| reads.is_primed = true);
        self
    }

    /// Sets the number of processes of a contender that read together, by trial.
    pub fn with_reader_counts(mut self, readers: BTreeMap<TrialIndex, u32>) -> ProcessSampler<'a> {
        self.trials.reads_singly = !readers.is_empty();
        self.trials.reader_counts = readers;
        self
    }

    pub fn with_inspections(self, inspect_plan: InspectPlan) -> ProcessSampler<'a> {
        ProcessSampler { inspect_plan, ..self }
    }

    /// The time limit of a turn of one reading of this trial.
    pub fn turn_limit(&self, trial: TrialIndex) -> Duration {
        self.trials.repeated_turn_limit(trial, 1).time
    }

    /// The longest time limit of a turn of one reading, of any trial of the plan.
    pub fn longest_turn_limit(&self) -> Duration {
        self.trials.longest_turn_limit()
    }

    /// The time limit of filling the cache.
    pub fn fill_limit(&self) -> Duration {
        self.trials.fill_limit()
    }

    /// Makes turns begin when this gate allows it, each with one reading.
    pub fn with_starting_gate(mut self, gate: Box<dyn StartingGate>) -> ProcessSampler<'a> {
        self.trials.reads_singly = true;
        self.gate = Some(gate);
        self
    }

    /// Makes the sampler read trials under these settings of the system; the block of a trial is
    /// the index of its point.
    pub fn with_settings(self, settings: Option<SettingControl>) -> ProcessSampler<'a> {
        ProcessSampler { settings, ..self }
    }

    /// Makes the sampler read trials that have a bound on memory in control groups.
    pub fn with_memory_control(mut self, memory: Option<MemoryControl>) -> ProcessSampler<'a> {
        self.trials.memory_control = memory;
        self
    }

    pub fn with_earlier_time(mut self, earlier: Duration) -> ProcessSampler<'a> {
        self.trials.clock.earlier_time = earlier;
        self
    }

    /// Takes one turn whose samples are proven: makes and proves the state, takes the turn between
    /// meters, proves the state again, compares the answers, checks the claims.
    fn take_proven_turn(&mut self, trial: &Trial, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        let request = self.trials.turn_request(trial);
        run_prepare_hook(trial, &self.trials)?;
        self.gate.as_mut().map_or(Ok(()), |gate| gate.wait_to_make_state())?;
        let (prepared, steady) = if trial.state == CacheState::Pressed {
            let steady = self.make_pressed_state(trial)?;
            (Some(steady.residency), Some(steady))
        } else {
            (self.state_maker().make_state(trial)?, None)
        };
        self.gate.as_mut().map_or(Ok(()), |gate| gate.report_ready())?;
        let before =
            self.gate.as_ref().map_or(prepared, |_| self.trials.residency_after_wait(trial, prepared));
        let below_before = self.trials.lower_layer_counters(trial.index);
        let turns = self.take_metered_turns(trial, request);
        let (device_busy, below) = self.trials.lower_layer_difference(trial.index, below_before);
        let after = self.residency_after(trial, turns.is_ok())?;
        let turns = turns?;
        let pressed = steady.map(|steady| self.observe_pressed(trial.index, steady, after.as_ref()));
        let pressed = pressed.transpose()?;
        turns.iter().try_for_each(|turn| self.check_turn(trial, turn))?;
        let surroundings =
            CacheBeforeAfter { before, after, lower_layer: below, device_busy_ns: device_busy, pressed };
        let samples = self.proven_samples(trial, slot, turns, surroundings)?;
        self.trials.note_readings(trial.index, &samples);
        Ok(samples)
    }

    /// Applies the settings under which a trial is read; returns whether any of them had to be
    /// changed.
    fn change_settings(&mut self, trial: TrialIndex) -> Result<bool, TrialEnd> {
        let Some(settings) = &mut self.settings else { return Ok(false) };
        let (point, begun) = (self.trials.plan.planned_trial(trial).block_index, Instant::now());
        if !settings.apply_point(point)? {
            return Ok(false);
        }
        let wall_ns = Nanos::from(begun.elapsed()).0;
        self.states.forget_fill();
        let target = TargetIndex::new(0).under_condition(point, self.trials.target_count());
        self.notes.add(Line::Settings(SettingsChange { target, wall_ns }));
        Ok(true)
    }

    /// Checks after a turn that its settings are still in force. If they are not, sets them again
    /// at once, because the cache is filled under these settings before the turn is repeated.
    fn check_settings(&mut self, trial: TrialIndex) -> Result<(), SampleError> {
        let changed = self.settings.as_mut().map(SettingControl::describe_change).transpose();
        match changed.map_err(TrialEnd::from)?.flatten() {
            Some(what) => {
                self.change_settings(trial)?;
                Err(SampleError::Unproven(what))
            }
            None => Ok(()),
        }
    }

    fn restore_settings(&mut self) -> Result<(), CleanUpError> {
        let (Some(settings), begun) = (&mut self.settings, Instant::now()) else { return Ok(()) };
        settings.restore().map_err(|error| {
            let text = format!("the settings of the system could not be restored: {error}");
            CleanUpError { end: EndReason::CommandFailed, text }
        })?;
        let wall_ns = Nanos::from(begun.elapsed()).0;
        self.notes.add(Line::Settings(SettingsChange { target: TargetIndex::new(0), wall_ns }));
        Ok(())
    }

    fn state_maker(&mut self) -> StateMaker<'_, 'a> {
        let (states, pool, notes) = (&mut self.states, &mut self.pool, &mut self.notes);
        StateMaker { states, trials: &self.trials, pool, notes }
    }

    /// The resident pages after a turn; an error that ends the run if the target has changed.
    fn residency_after(
        &mut self,
        trial: &Trial,
        is_taken: bool,
    ) -> Result<Option<ResidencyProof>, SampleError> {
        if !is_taken || self.trials.leaves_cache_alone(trial) {
            return self.trials.check_unchanged_after_turn(trial.index, is_taken).map(|()| None);
        }
        let TargetState { residency: resident, change } = self.trials.target_of(trial.index).observe();
        self.trials.check_unchanged(trial.index, change)?;
        Ok(self.notes.value_or_note("resident_after", resident))
    }

    /// Compares every answer of a turn with the expected one, and the output of a command with the
    /// expected output.
    fn compare_turn(&self, trial: &Trial, turn: &Turn) -> Result<(), SampleError> {
        self.trials.compare_answers(trial, turn)?;
        self.own_commands.compare_output(trial, turn)
    }

    fn note_adjusted_answer(&mut self, trial: &Trial, turn: &Turn) {
        let truth = &self.trials.truth(trial.index).answer;
        let first = turn.samples.first().map(Answer::from);
        if let Some(how) = first.and_then(|answer| answer.added_line_note(trial.work, truth)) {
            self.notes.note_adjustment(&trial.id, how);
        }
    }

    /// Starts the contender of a trial again if it was closed for lack of memory, and warms it up
    /// as after the first start.
    fn ensure_running(&mut self, trial: &Trial) -> Result<(), SampleError> {
        let was_started = self.pool.ensure_running(&self.trials, trial.index)?;
        if !was_started || self.single_reads.is_some() {
            return Ok(());
        }
        (0..self.trials.plan.rules.warmup_readings.max(1)).try_for_each(|_| self.warm_up_until_ready(trial))
    }

    /// Makes one untimed reading of the current target; an error ends the trial. A contender that
    /// has read in another cache state needs no reading.
    fn warm_up_on_target(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        if self.pool.session(trial)?.is_taken_over {
            return self.states.check_not_refused(trial);
        }
        let warmed_up = self.warm_up_until_ready(self.trials.trial(trial));
        let warmed_up = warmed_up.map_err(|error| self.with_group_kill(trial, error));
        self.close_session_if_low_memory(trial);
        warmed_up.map_err(|error| self.with_read_offset(trial, error.into()))
    }

    /// Makes one untimed reading and compares its answer. A contender that must be steady and was
    /// not steady since its start then reads until it is.
    fn warm_up_until_ready(&mut self, trial: &Trial) -> Result<(), SampleError> {
        self.states.check_not_refused(trial.index)?;
        self.ensure_running(trial)?;
        self.watch_memory_need(trial.index, |sampler| sampler.read_until_ready(trial))
    }

    fn read_until_ready(&mut self, trial: &Trial) -> Result<(), SampleError> {
        let first_ns = self.take_untimed_turn(trial, 1)?;
        self.state_maker().check_file_released(trial)?;
        let until_steady = self.trials.warmup(trial.index) == Warmup::UntilSteady;
        if until_steady && !self.pool.session(trial.index)?.is_steady {
            self.read_until_steady(trial, first_ns)?;
            self.pool.session(trial.index)?.is_steady = true;
        }
        Ok(())
    }

    /// Reads until the times of readings no longer change, or until the time limit of a warm-up.
    fn read_until_steady(&mut self, trial: &Trial, first_ns: Vec<u64>) -> Result<(), SampleError> {
        let contenders = self.trials.contender_count_until_steady(trial.index);
        let time_limit = warm_up::time_limit(self.trials.plan.rules.budget.time(), contenders);
        let (began, mut warm_up) = (Instant::now(), WarmUpUntilSteady { walls_ns: first_ns, time_limit });
        loop {
            match warm_up.next_step(began.elapsed()) {
                ControlFlow::Continue(count) => {
                    warm_up.walls_ns.extend(self.take_untimed_turn(trial, count)?)
                }
                ControlFlow::Break(end) => {
                    let warmed_up = warm_up.warmed_up(trial.index, began.elapsed(), end);
                    self.notes.add(Line::Warmup(warmed_up));
                    return Ok(());
                }
            }
        }
    }

    /// Takes a turn whose samples are not recorded, and compares its answers. Returns the wall
    /// times of the first reader in nanoseconds.
    fn take_untimed_turn(&mut self, trial: &Trial, count: u32) -> Result<Vec<u64>, SampleError> {
        run_prepare_hook(trial, &self.trials)?;
        let turns = self.take_metered_turns(trial, TurnRequest { lead: 0, count });
        self.trials.check_unchanged_after_turn(trial.index, turns.is_ok())?;
        let turns = turns?;
        turns.iter().try_for_each(|turn| self.compare_turn(trial, &turn.answer))?;
        let first = turns.iter().take(1).flat_map(|turn| &turn.answer.samples);
        Ok(first.map(|sample| sample.wall_ns).collect())
    }

    /// Whether only a cold reading can show which part of the target a trial reads, and the plan
    /// starts no cold trial with the same id and target.
    fn needs_cold_probe(&self, trial: &Trial) -> bool {
        let is_warm_part = trial.state == CacheState::Warm && trial.work == Work::Part && !trial.is_control();
        let is_its_cold = |other: &Trial| {
            other.state == CacheState::Cold && other.id == trial.id && other.target == trial.target
        };
        let is_alone = self.gate.is_none() && !self.trials.reads_together();
        let mut planned = self.trials.plan.trials.iter();
        is_warm_part && is_alone && !planned.any(|it| it.wait_reason.is_none() && is_its_cold(&it.trial))
    }

    /// Reads once cold and untimed, if only a cold reading shows which part of the target a command
    /// reads. If the cold state cannot be proven, a warning says why.
    fn take_cold_probe_if_needed(&mut self, trial: &Trial) -> Result<(), TrialEnd> {
        if !self.needs_cold_probe(trial) || !self.cold_probed_trials.insert(trial.index) {
            return Ok(());
        }
        self.change_settings(trial.index)?;
        let probed = self.take_cold_probe(&Trial { state: CacheState::Cold, ..trial.clone() });
        self.states.forget_fill();
        // The cold probe may have evicted the caches of the whole system. If a file cannot be
        // filled again here, its next turn finds the file not warm, and fills it or is refused.
        let files: Vec<TargetIndex> = self.trials.distinct_files().map(|file| file.index).collect();
        for file in files {
            let _ = self.state_maker().refill(file);
        }
        let reason = match probed {
            Ok(samples) => {
                let probe = samples.into_iter().next().map(|sample| Line::ColdProbe(Box::new(sample)));
                probe.into_iter().for_each(|probe| self.notes.add(probe));
                return Ok(());
            }
            Err(SampleError::Unproven(reason)) => reason,
            Err(SampleError::TrialEnd(TrialEnd::Trial(outcome))) => {
                outcome.reason().unwrap_or("it ended").to_owned()
            }
            Err(SampleError::TrialEnd(end)) => return Err(end),
        };
        let id = &trial.id;
        self.notes
            .warn(format!("{id}: which share it reads is not known, as no cold reading shows it: {reason}"));
        Ok(())
    }

    fn take_cold_probe(&mut self, cold: &Trial) -> Result<Vec<Sample>, SampleError> {
        let mut tries = 1;
        loop {
            self.ensure_running(cold)?;
            self.notes.begin_turn();
            match self.take_proven_turn(cold, &Slot::unrecorded(CacheState::Cold)) {
                Err(SampleError::Unproven(_)) if tries < attempt::PROOF_TRIES => tries += 1,
                probed => return probed,
            }
        }
    }

    fn close_session_if_low_memory(&mut self, trial: TrialIndex) {
        self.pool.close_session_if_low_memory(trial, self.trials.bytes_to_keep_cached(trial));
    }

    /// Adds to the reason why a trial failed the byte at which its file cannot be read.
    fn with_read_offset(&self, trial: TrialIndex, end: TrialEnd) -> TrialEnd {
        read_offset::with_read_offset(end, self.trials.target_of(trial).target.file())
    }
}

impl Sampler for ProcessSampler<'_> {
    fn open(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd> {
        self.states.check_not_refused(trial)?;
        if self.single_reads.is_some() {
            return self.start_for_single_read(trial);
        }
        self.own_commands.begin(self.trials.trial(trial), &self.trials)?;
        Ok(self.pool.restart(&self.trials, trial)?)
    }

    fn launch(&mut self, next: &[TrialIndex]) {
        if self.single_reads.is_none() {
            // A set-up command may build the program itself, so the contender is not started before
            // it.
            let is_set_up =
                |&trial: &TrialIndex| self.own_commands.is_set_up(self.trials.trial(trial), &self.trials);
            let next: Vec<TrialIndex> = next.iter().copied().filter(is_set_up).collect();
            self.pool.launch(&self.trials, &next);
        }
    }

    fn warm_up(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        if self.single_reads.is_some() {
            self.warm_up_for_single_read(trial)
        } else {
            self.take_cold_probe_if_needed(self.trials.trial(trial))?;
            self.warm_up_on_target(trial)
        }
    }

    fn apply_settings(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.change_settings(trial).map(drop)
    }

    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        if readlab_system::interrupt::is_stop_requested() {
            return Err(TrialEnd::Run(EndReason::Interrupted));
        }
        let begun = Instant::now();
        let filled = self.state_maker().fill_all(fill)?;
        self.trials.note_fill(begun.elapsed());
        Ok(filled)
    }

    fn take_turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        let planned = self.trials.trial(trial);
        self.states.check_not_refused(trial)?;
        if self.change_settings(trial)? && planned.state == CacheState::Warm {
            return Err(SampleError::Unproven("the cache was filled under other settings".to_owned()));
        }
        match planned.start_session {
            StartMode::Kept => self.ensure_running(planned)?,
            StartMode::EachReading => drop(self.pool.restart(&self.trials, trial)?),
        }
        self.notes.begin_turn();
        let samples = self.take_proven_turn(planned, slot);
        let samples = samples.and_then(|samples| self.check_settings(trial).map(|()| samples));
        let samples = samples.map_err(|error| self.with_group_kill(trial, error));
        self.close_session_if_low_memory(trial);
        samples.map_err(|error| match error {
            SampleError::TrialEnd(end) => SampleError::TrialEnd(self.with_read_offset(trial, end)),
            unproven @ SampleError::Unproven(_) => unproven,
        })
    }

    fn count(&mut self, trials: &[TrialIndex]) -> Vec<Result<Counts, TrialEnd>> {
        self.counters.count(trials, &self.trials)
    }

    fn count_again(&mut self, trials: &[TrialIndex]) -> Vec<Result<Counts, TrialEnd>> {
        runtime_counters::count_side_by_side(trials, &self.trials, |_| None)
    }

    fn is_counted(&self, trial: TrialIndex) -> bool {
        self.counters.known_counts(trial, &self.trials).is_some()
    }

    fn has_inspections(&self) -> bool {
        self.inspect_plan.has_inspections()
    }

    fn inspect(&mut self, trial: TrialIndex) -> Result<Vec<Line>, EndReason> {
        if self.trials.memory_bound(trial).is_some() {
            return Ok(self.uninspected_lines(
                trial,
                "it is read under a bound on memory, which inspections do not have",
            ));
        }
        // The readings of an inspection are under the settings of their trial, too.
        self.change_settings(trial).or_else(|end| end.outcome().map(|_| false))?;
        let (states, pool, notes) = (&mut self.states, &mut self.pool, &mut self.notes);
        let maker = StateMaker { states, trials: &self.trials, pool, notes };
        self.inspect_plan.inspect(Inspection { trial: self.trials.trial(trial), state_maker: maker })
    }

    fn uninspected_lines(&mut self, trial: TrialIndex, reason: &str) -> Vec<Line> {
        self.inspect_plan.uninspected_lines(self.trials.trial(trial), reason)
    }

    fn refusal(&self, trial: TrialIndex) -> Option<Outcome> {
        self.states.holders.refusal(trial)
    }

    fn bytes_per_reading(&self, trial: TrialIndex) -> Option<u64> {
        let readers = u64::from(self.trials.reader_count(trial));
        self.trials.truth(trial).answer.bytes.map(|bytes| bytes.saturating_mul(readers))
    }

    fn retire_session(&mut self, trial: TrialIndex) {
        self.pool.retire_session(trial);
    }

    fn close_session(&mut self, trial: TrialIndex) {
        self.pool.close_session(trial);
    }

    fn clean_up(&mut self) -> Result<(), CleanUpError> {
        let cleaned = self.own_commands.clean_up(&self.trials);
        cleaned.and(self.restore_settings())
    }

    fn drain_notes(&mut self) -> Vec<Line> {
        self.trials.take_change().into_iter().for_each(|change| self.notes.warn(change));
        self.notes.take_lines()
    }

    fn drain_missing_meters(&mut self) -> Vec<(String, String)> {
        let missing = self.notes.take_missing_meters().into_iter();
        missing.map(|(meter, reason)| (meter.to_owned(), reason)).collect()
    }

    fn elapsed_ns(&self) -> u64 {
        Nanos::from(self.trials.clock.elapsed()).0
    }
}
