//! A scripted sampler: its script says what each call returns. It has a clock of its own, which
//! only the script moves, and writes every call into a log.

use super::{Log, refused};
use crate::interface::{CleanUpError, SampleError, Sampler, Slot, TrialEnd};
use readlab_model::sample::Sample;
use readlab_model::trial::{Answer, Params, TrialIndex};
use readlab_record::{Count, EndReason, Fill, Line, Outcome};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// Time that every call except a turn takes.
pub(crate) const STEP_NS: u64 = 1_000;

/// A window, unless the script says otherwise.
const WALL_NS: u64 = 100;

pub(crate) type AlterSample = Box<dyn FnMut(&mut Sample)>;

/// What each call returns, in order; a call without a script succeeds.
#[derive(Default)]
pub(crate) struct ScriptedSampler {
    pub(crate) log: Log,
    pub(crate) now_ns: u64,
    pub(crate) names: BTreeMap<TrialIndex, String>,
    pub(crate) opens: BTreeMap<TrialIndex, VecDeque<Result<Params, TrialEnd>>>,
    pub(crate) warm_ups: BTreeMap<TrialIndex, VecDeque<Result<(), TrialEnd>>>,
    pub(crate) fills: VecDeque<Result<(), TrialEnd>>,
    pub(crate) turns: BTreeMap<TrialIndex, VecDeque<Result<Vec<u64>, SampleError>>>,
    pub(crate) walls: BTreeMap<TrialIndex, u64>,
    /// Time that a start takes besides.
    pub(crate) start_ns: u64,
    /// Time that a count takes besides.
    pub(crate) count_ns: u64,
    /// What is changed in each sample of a trial.
    pub(crate) alterations: BTreeMap<TrialIndex, AlterSample>,
    pub(crate) counts: BTreeMap<TrialIndex, Result<u64, TrialEnd>>,
    /// The names of the trials that were counted.
    pub(crate) counted: BTreeSet<String>,
    /// How often trials were counted again.
    pub(crate) counted_again: BTreeMap<TrialIndex, u64>,
    pub(crate) missing: VecDeque<Vec<(&'static str, String)>>,
    /// Trials that keep two processors busy.
    pub(crate) busy: BTreeSet<TrialIndex>,
    /// Bytes that come from the device in a reading of a trial.
    pub(crate) device: BTreeMap<TrialIndex, u64>,
    /// Why the numbers of trials are refused.
    pub(crate) refusals: BTreeMap<TrialIndex, &'static str>,
    /// Which trials were to be started ahead, call by call.
    pub(crate) launches: Rc<RefCell<Vec<Vec<TrialIndex>>>>,
    /// The turn before which the user ends the run, from 0; `None` if it is not ended so.
    pub(crate) user_ends_at: Option<usize>,
    /// What each inspection returns; without a script, nothing is inspected.
    pub(crate) inspections: VecDeque<Result<Vec<Line>, EndReason>>,
    /// What goes wrong after the last reading.
    pub(crate) clean_up_error: Option<CleanUpError>,
}

impl ScriptedSampler {
    fn log_call(&mut self, what: &str, trial: TrialIndex) {
        self.now_ns += STEP_NS;
        self.log.borrow_mut().push(format!("  {what} {}", self.names[&trial]));
    }
}

impl Sampler for ScriptedSampler {
    fn launch(&mut self, next: &[TrialIndex]) {
        self.launches.borrow_mut().push(next.to_vec());
    }

    fn open(&mut self, trial: TrialIndex) -> Result<Params, TrialEnd> {
        self.log_call("open", trial);
        self.now_ns += self.start_ns;
        let scripted = self.opens.get_mut(&trial).and_then(VecDeque::pop_front);
        scripted.unwrap_or_else(|| Ok(Params(BTreeMap::from([("depth".to_owned(), 1)]))))
    }

    fn warm_up(&mut self, trial: TrialIndex) -> Result<(), TrialEnd> {
        self.log_call("rehearse", trial);
        self.warm_ups.get_mut(&trial).and_then(VecDeque::pop_front).unwrap_or(Ok(()))
    }

    fn fill(&mut self, fill: u32) -> Result<Fill, TrialEnd> {
        self.now_ns += STEP_NS;
        self.log.borrow_mut().push(format!("  fill {fill}"));
        let filled = self.fills.pop_front().unwrap_or(Ok(()));
        let how = "scripted".to_owned();
        filled.map(|()| Fill { fill, target: 0, how, wall_ns: STEP_NS, resident_after: Some(1.0) })
    }

    fn turn(&mut self, trial: TrialIndex, slot: &Slot) -> Result<Vec<Sample>, SampleError> {
        self.log.borrow_mut().push(format!("  turn {} {}", self.names[&trial], slot.state));
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
            fill: slot.fill,
            round: slot.round,
            position: slot.position,
            rung: slot.rung,
            reading,
            wall_ns,
            device_read_bytes,
            answer,
            ..Sample::default()
        };
        let mut samples: Vec<Sample> = (0..).zip(walls).map(sample).collect();
        if let Some(alter) = self.alterations.get_mut(&trial) {
            samples.iter_mut().for_each(alter);
        }
        Ok(samples)
    }

    fn count(&mut self, trials: &[TrialIndex]) -> Vec<Result<BTreeMap<String, Count>, TrialEnd>> {
        let mut longest_ns = 0;
        let mut counts = Vec::new();
        for &trial in trials {
            self.log_call("count", trial);
            if !self.is_counted(trial) {
                let readings_ns = 4 * self.walls.get(&trial).copied().unwrap_or_default();
                longest_ns = longest_ns.max(self.count_ns + readings_ns);
            }
            self.counted.insert(self.names[&trial].clone());
            let counted = self.counts.get(&trial).cloned().unwrap_or(Ok(7));
            let count = |value| Count { value: Some(value), how: "scripted".to_owned() };
            counts.push(counted.map(|value| BTreeMap::from([("syscalls".to_owned(), count(value))])));
        }
        self.now_ns += longest_ns;
        counts
    }

    /// Each time one more than the time before.
    fn count_again(&mut self, trials: &[TrialIndex]) -> Vec<Result<BTreeMap<String, Count>, TrialEnd>> {
        self.now_ns += self.count_ns;
        let mut counts = Vec::new();
        for &trial in trials {
            self.log_call("count again", trial);
            let again = self.counted_again.entry(trial).or_default();
            *again += 1;
            let count = Count { value: Some(7 + *again), how: "scripted".to_owned() };
            counts.push(Ok(BTreeMap::from([("syscalls".to_owned(), count)])));
        }
        counts
    }

    /// Trials of one name make the same readings.
    fn is_counted(&self, trial: TrialIndex) -> bool {
        self.counted.contains(&self.names[&trial])
    }

    fn inspects(&self) -> bool {
        !self.inspections.is_empty()
    }

    fn inspect(&mut self, trial: TrialIndex) -> Result<Vec<Line>, EndReason> {
        self.log_call("inspect", trial);
        self.inspections.pop_front().unwrap_or_else(|| Ok(Vec::new()))
    }

    fn not_inspected(&mut self, trial: TrialIndex, reason: &str) -> Vec<Line> {
        self.log_call("not inspected", trial);
        self.log.borrow_mut().last_mut().unwrap().push_str(&format!(": {reason}"));
        Vec::new()
    }

    fn bytes(&self, _trial: TrialIndex) -> Option<u64> {
        Some(1_000)
    }

    fn refusal(&self, trial: TrialIndex) -> Option<Outcome> {
        self.refusals.get(&trial).map(|reason| refused(reason))
    }

    fn close(&mut self, trial: TrialIndex) {
        self.log.borrow_mut().push(format!("  close {}", self.names[&trial]));
    }

    fn clean_up(&mut self) -> Result<(), CleanUpError> {
        self.clean_up_error.take().map_or(Ok(()), Err)
    }

    fn missing(&mut self) -> Vec<(String, String)> {
        let missing = self.missing.pop_front().unwrap_or_default().into_iter();
        missing.map(|(meter, reason)| (meter.to_owned(), reason)).collect()
    }

    fn elapsed_ns(&self) -> u64 {
        self.now_ns
    }
}
