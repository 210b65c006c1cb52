//! One pass over many files: each file once, cold and proven, each with a contender of its own.
//!
//! What one reading is lives in [`super::sampler`]; this file only walks. Where several methods read the same files,
//! they take turns from file to file, so that no method has a pass, and with it a state of the device, for itself.

mod warm_up;

use super::attempt;
use super::cache::Eviction;
use super::lineup::Field;
use super::plan::{Plan, Planned, Rules};
use super::round::ceiling::stood_still;
use super::sampler::Hired;
use super::subject::{Ground, Subject};
use super::world::{Ending, Sampler, Sink, Step};
use crate::corpus::oracle::Truth;
use crate::interrupt;
use crate::record::{EndReason, Line, Outcome, RecordError, Sample};
use crate::target::Target;
use crate::trial::{CacheState, Params};
use std::collections::BTreeMap;
pub use warm_up::WarmUp;
use warm_up::WarmedUp;

/// A file on the way, with what is known of it.
#[derive(Debug, Clone)]
pub struct Waypoint {
    /// The file.
    pub target: Target,
    /// What every answer is compared with.
    pub truth: Truth,
}

/// One reading to be taken: which file, by which method.
#[derive(Debug, Clone)]
pub struct Visit<'a> {
    /// The file.
    pub at: &'a Waypoint,
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

/// Before files up to this size contenders are warmed up on another file, so that their own start is not in their first
/// reading; in larger ones it is less than can be seen.
const WARMED_UP_BYTES_MAX: u64 = 16_000_000;

/// Takes one reading and writes down all that comes of it; an [`EndReason`] when the run must end.
///
/// # Errors
/// If the record cannot be written.
pub fn visit(visit: &Visit, field: &Field, sink: &mut dyn Sink) -> Result<Option<EndReason>, RecordError> {
    let trial = &visit.planned.trial;
    sink.about_to(Step::Turn(trial.index, visit.pass, visit.position, visit.of));
    let ending = match read(visit, field, sink)? {
        Ok(samples) => {
            if let Some(reason) = stood_still(trial, &samples) {
                return outcome(trial.index, Outcome::Refused { reason }, sink).map(|()| None);
            }
            for mut sample in samples {
                (sample.fill, sample.round, sample.position) = (visit.pass, visit.pass, visit.position);
                sink.append(Line::Sample(Box::new(sample)))?;
            }
            return outcome(trial.index, Outcome::Measured, sink).map(|()| None);
        }
        Err(ending) => ending,
    };
    match ending {
        Ending::Trial(ended) => outcome(trial.index, ended, sink).map(|()| None),
        Ending::Run(reason) => Ok(Some(reason)),
        Ending::Both(ended, reason) => outcome(trial.index, ended, sink).map(|()| Some(reason)),
    }
}

/// The samples of one reading; or why there are none. The trial is announced before anything is said of it.
type Reading = Result<Vec<Sample>, Ending>;

fn read(visit: &Visit, field: &Field, sink: &mut dyn Sink) -> Result<Reading, RecordError> {
    if interrupt::requested() {
        announce(visit, &Params::default(), sink)?;
        return Ok(Err(Ending::Run(EndReason::Interrupted)));
    }
    let plan = Plan {
        trials: vec![visit.planned.clone()],
        absent: Vec::new(),
        states: vec![CacheState::Cold],
        rules: Rules::one_reading(0),
    };
    let target = &visit.at.target;
    let (index, truth) = (visit.planned.trial.target, &visit.at.truth);
    let subject = match Ground::of(target, Eviction::OfFile) {
        Ok(ground) => Subject { index, target, truth, decoded: None, ground },
        Err(error) => {
            announce(visit, &Params::default(), sink)?;
            return Ok(Err(unavailable(error.to_string())));
        }
    };
    let mut hired = Hired::new(&plan, field, vec![subject]).unrehearsed();
    let mut noted = Vec::new();
    let seated = seat(visit, (&plan, field), &mut hired, &mut noted);
    announce(visit, seated.as_ref().map_or(&Params::default(), |(params, _)| params), sink)?;
    for note in noted {
        sink.append(note)?;
    }
    let cold = match seated {
        Ok((_, cold)) => cold,
        Err(ending) => return Ok(Err(ending)),
    };
    let text = |reason| format!("{} was not warmed up before its reading: {reason}", visit.planned.trial.id);
    let text = cold.map(text).filter(|text| visit.warm_up.is_some_and(|it| it.is_news(text)));
    if let Some(text) = text {
        sink.append(Line::Warning { text })?;
    }
    let taken = turn(visit, &mut hired, sink)?;
    let trial = visit.planned.trial.index;
    let missing: BTreeMap<&str, String> = hired.missing().into_iter().collect();
    let missing =
        missing.into_iter().map(|(meter, reason)| Line::Missing { trial, meter: meter.to_owned(), reason });
    for line in hired.notes().into_iter().chain(missing) {
        sink.append(line)?;
    }
    Ok(taken)
}

/// Starts the contender, warmed up on another file than it reads: that one must not be touched before its timed reading. Tells
/// the parameters in force, and why it could not be warmed up; notes what it did meanwhile beside reading.
fn seat(
    visit: &Visit,
    (plan, field): (&Plan, &Field),
    hired: &mut Hired,
    noted: &mut Vec<Line>,
) -> Result<(Params, Option<String>), Ending> {
    let (index, target) = (visit.planned.trial.index, &visit.at.target);
    let small = target.facts.size_bytes <= WARMED_UP_BYTES_MAX;
    let warmed_up = match (visit.warm_up.filter(|_| small), target.file()) {
        (Some(warm_up), Some(file)) => warm_up.warm_up(file, (plan, field), noted)?,
        _ => WarmedUp::Another,
    };
    let cold = match warmed_up {
        WarmedUp::Waiting(seat, params) => {
            hired.take_over(index, *seat);
            return Ok((params, None));
        }
        WarmedUp::Not(reason) => Some(reason),
        WarmedUp::Another => None,
    };
    hired.open(index).map(|params| (params, cold))
}

/// The reading itself, taken again while its state cannot be proven.
fn turn(
    visit: &Visit,
    hired: &mut Hired,
    sink: &mut dyn Sink,
) -> Result<Result<Vec<Sample>, Ending>, RecordError> {
    let index = visit.planned.trial.index;
    attempt::proven(hired, (index, CacheState::Cold), |_, reason| {
        sink.append(Line::Rejected { trial: index, round: visit.pass, reason })
    })
}

fn announce(visit: &Visit, params: &Params, sink: &mut dyn Sink) -> Result<(), RecordError> {
    let mut trial = visit.planned.trial.clone();
    trial.params.0.extend(params.0.clone());
    sink.append(Line::Trial(Box::new(trial)))
}

fn outcome(trial: usize, outcome: Outcome, sink: &mut dyn Sink) -> Result<(), RecordError> {
    sink.append(Line::Outcome { trial, outcome })
}

fn unavailable(reason: String) -> Ending {
    Ending::Trial(Outcome::Unavailable { reason })
}
