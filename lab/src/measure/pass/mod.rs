//! One pass over many files: each file once, cold and proven, each with a contender of its own.
//!
//! What one reading is lives in [`super::sampler`]; this file only walks. Where several methods
//! read the same files, they take turns from file to file, so that no method has a pass, and with
//! it a state of the device, for itself.

mod warm_up;

use super::attempt;
use super::cache::Eviction;
use super::interface::{Sampler, Sink, Slot, Step, TrialEnd};
use super::plan::{Plan, Planned, Rules};
use super::round::ceiling::stood_still;
use super::sampler::ProcessSampler;
use super::target::{CacheControl, MeasuredTarget};
use crate::contender::discovery::Contenders;
use crate::corpus::oracle::Truth;
use crate::linux::interrupt;
use crate::record::{EndReason, Line, Outcome, RecordError, Sample};
use crate::target::Target;
use crate::trial::{CacheState, Params};
use std::collections::BTreeMap;
pub use warm_up::WarmUp;
use warm_up::WarmedUp;

/// A file on the way, with what is known of it.
#[derive(Debug, Clone)]
pub struct SweepTarget {
    /// The file.
    pub target: Target,
    /// What every answer is compared with.
    pub truth: Truth,
}

/// One reading to be taken: which file, by which method.
#[derive(Debug, Clone)]
pub struct SweepRead<'a> {
    /// The file.
    pub at: &'a SweepTarget,
    /// The trial, with its contender's method.
    pub planned: Planned,
    /// Which pass, from 0.
    pub pass: u32,
    /// Place in the pass, from 0.
    pub position: u32,
    /// Visits in the pass.
    pub of: u32,
    /// Where its contender is warmed up; `None` where there is no room for that.
    pub warm_up: Option<&'a WarmUp>,
}

/// Before files up to this size contenders are warmed up on another file, so that their own start
/// is not in their first reading; in larger ones it is less than can be seen.
const WARMED_UP_BYTES_MAX: u64 = 16_000_000;

/// Takes one reading and writes down all that comes of it; an [`EndReason`] when the run must end.
///
/// # Errors
/// If the record cannot be written.
pub fn read_one(
    read_one: &SweepRead,
    contenders: &Contenders,
    sink: &mut dyn Sink,
) -> Result<Option<EndReason>, RecordError> {
    let trial = &read_one.planned.trial;
    let (round, position, of) = (read_one.pass, read_one.position, read_one.of);
    sink.about_to(Step::Turn { trial: trial.index, round, position, of });
    let ending = match read(read_one, contenders, sink)? {
        Ok(samples) => {
            if let Some(reason) = stood_still(trial, &samples) {
                return outcome(trial.index, Outcome::Refused { reason }, sink).map(|()| None);
            }
            for sample in samples {
                sink.append(Line::Sample(Box::new(sample)))?;
            }
            return outcome(trial.index, Outcome::Measured, sink).map(|()| None);
        }
        Err(ending) => ending,
    };
    match ending {
        TrialEnd::Trial(ended) => outcome(trial.index, ended, sink).map(|()| None),
        TrialEnd::Run(reason) => Ok(Some(reason)),
        TrialEnd::Both(ended, reason) => outcome(trial.index, ended, sink).map(|()| Some(reason)),
    }
}

/// The samples of one reading; or why there are none. The trial is announced before anything is
/// said of it.
type Reading = Result<Vec<Sample>, TrialEnd>;

fn read(read_one: &SweepRead, contenders: &Contenders, sink: &mut dyn Sink) -> Result<Reading, RecordError> {
    if interrupt::requested() {
        announce(read_one, &Params::default(), sink)?;
        return Ok(Err(TrialEnd::Run(EndReason::Interrupted)));
    }
    let plan = Plan {
        trials: vec![read_one.planned.clone()],
        absent: Vec::new(),
        states: vec![CacheState::Cold],
        rules: Rules::one_reading(0),
    };
    let target = &read_one.at.target;
    let (index, truth) = (read_one.planned.trial.target, &read_one.at.truth);
    let subject = match CacheControl::of(target, Eviction::OfFile) {
        Ok(cache_control) => MeasuredTarget { index, target, truth, decoded: None, cache_control },
        Err(error) => {
            announce(read_one, &Params::default(), sink)?;
            return Ok(Err(unavailable(error.to_string())));
        }
    };
    let mut sampler = ProcessSampler::new(&plan, contenders, vec![subject]).without_warm_up();
    let mut noted = Vec::new();
    let seated = seat(read_one, &plan, contenders, &mut sampler, &mut noted);
    announce(read_one, seated.as_ref().map_or(&Params::default(), |(params, _)| params), sink)?;
    for note in noted {
        sink.append(note)?;
    }
    let cold = match seated {
        Ok((_, cold)) => cold,
        Err(ending) => return Ok(Err(ending)),
    };
    let text =
        |reason| format!("{} was not warmed up before its reading: {reason}", read_one.planned.trial.id);
    let text = cold.map(text).filter(|text| read_one.warm_up.is_some_and(|it| it.is_news(text)));
    if let Some(text) = text {
        sink.append(Line::Warning { text })?;
    }
    let taken = turn(read_one, &mut sampler, sink)?;
    let trial = read_one.planned.trial.index;
    let missing: BTreeMap<&str, String> = sampler.missing().into_iter().collect();
    let missing =
        missing.into_iter().map(|(meter, reason)| Line::Missing { trial, meter: meter.to_owned(), reason });
    for line in sampler.notes().into_iter().chain(missing) {
        sink.append(line)?;
    }
    Ok(taken)
}

/// Starts the contender, warmed up on another file than it reads: that one must not be touched
/// before its timed reading. Tells the parameters in force, and why it could not be warmed up;
/// notes what it did meanwhile beside reading.
fn seat(
    read_one: &SweepRead,
    plan: &Plan,
    contenders: &Contenders,
    sampler: &mut ProcessSampler,
    noted: &mut Vec<Line>,
) -> Result<(Params, Option<String>), TrialEnd> {
    let (index, target) = (read_one.planned.trial.index, &read_one.at.target);
    let small = target.facts.size_bytes <= WARMED_UP_BYTES_MAX;
    let warmed_up = match (read_one.warm_up.filter(|_| small), target.file()) {
        (Some(warm_up), Some(file)) => warm_up.warm_up(file, plan, contenders, noted)?,
        _ => WarmedUp::Another,
    };
    let cold = match warmed_up {
        WarmedUp::Waiting(seat, params) => {
            sampler.insert_session(index, *seat);
            return Ok((params, None));
        }
        WarmedUp::Not(reason) => Some(reason),
        WarmedUp::Another => None,
    };
    sampler.open(index).map(|params| (params, cold))
}

/// The reading itself, taken again while its state cannot be proven.
fn turn(
    read_one: &SweepRead,
    sampler: &mut ProcessSampler,
    sink: &mut dyn Sink,
) -> Result<Result<Vec<Sample>, TrialEnd>, RecordError> {
    let index = read_one.planned.trial.index;
    let (round, position) = (read_one.pass, read_one.position);
    let slot = Slot { state: CacheState::Cold, fill: round, round, position, rung: None };
    attempt::proven(sampler, index, &slot, |_, reason| {
        sink.append(Line::Rejected { trial: index, round: read_one.pass, reason })
    })
}

fn announce(read_one: &SweepRead, params: &Params, sink: &mut dyn Sink) -> Result<(), RecordError> {
    let mut trial = read_one.planned.trial.clone();
    trial.params.0.extend(params.0.clone());
    sink.append(Line::Trial(Box::new(trial)))
}

fn outcome(trial: usize, outcome: Outcome, sink: &mut dyn Sink) -> Result<(), RecordError> {
    sink.append(Line::Outcome { trial, outcome })
}

fn unavailable(reason: String) -> TrialEnd {
    TrialEnd::Trial(Outcome::Unavailable { reason })
}
