//! All checks on the lines of a record, which may come from an untrusted source.
//!
//! | lines | what must hold |
//! | --- | --- |
//! | all | a line has at most [`LINE_BYTES_MAX`] bytes, all but samples together
//! [`OTHER_BYTES_MAX`]; at most [`SAMPLES_MAX`] samples and [`TRIALS_MAX`] trials; times are at
//! most [`NS_MAX`], counts [`COUNT_MAX`] |
//! | header | the first line and no other |
//! | target, contender, trial | targets are numbered from 0 on, contenders named once, trials
//! numbered once, and their target comes before |
//! | sample | of a trial that came before; rounds and readings rise; a reading is one of its turn;
//! a window is longer than nothing; shares are from 0 to 1 |
//! | fleet, clocks, fleet turn | clocks and turns come after the fleet, and have one time for each rank |
//! | what else names a trial or a target | it came before |
//! | outcome, end | once, until a resumed run takes them back; nothing is measured after the end |
//!
//! A line that breaks a rule is rejected with its number and the cause. Three things are corrected
//! instead, because a correct readlab may have written them: an impossible number of a meter or of
//! a fact of the machine, which contenders and drivers report, counts as not metered; a repeated
//! trial with equal words is one trial; a rejection before its trial is left out.

use super::{
    Count, FlameGraph, FleetTurn, Header, Limit, Line, Outcome, ReadersTurn, Record, Spread, Trace, Trial,
};
use readlab_model::sample::{Meter, MeterUnit, Sample};
use readlab_model::trial::TrialIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The longest line. The longest of readlab's own is a header, with a plan of some thousand trials.
pub const LINE_BYTES_MAX: u64 = 8 << 20;

/// All lines but samples together, which are held in memory as they are.
const OTHER_BYTES_MAX: u64 = 256 << 20;

/// Samples of a record; a writer stops there. Reporting so many takes minutes.
pub(super) const SAMPLES_MAX: u64 = 4_000_000;

const TRIALS_MAX: usize = 10_000;

/// The longest time, in nanoseconds: 104 days. Up to here a float is exact.
const NS_MAX: u64 = 1 << 53;

/// The largest count, and the most bytes. Up to here a float is exact.
const COUNT_MAX: u64 = 1 << 53;

const RANKS_MAX: u64 = 1 << 20;

/// Clocks in GHz and loads that a machine may have.
const MACHINE_FACTS: RangeInclusive<f64> = 0.0..=1e6;

/// What the lines so far contained, as far as the rules need it.
#[derive(Debug, Default)]
pub(super) struct RecordCheck {
    samples: u64,
    other_bytes: u64,
    contenders: BTreeSet<String>,
    /// For each trial, whether it was searched: the round and reading that came last.
    last: BTreeMap<(TrialIndex, bool), (u32, u32)>,
    /// Meters of trials whose numbers were removed; each is reported once.
    mended: BTreeSet<(TrialIndex, &'static str)>,
}

/// What the reader does with a line.
#[derive(Debug, PartialEq)]
pub(super) enum Checked {
    Add,
    /// The line is added; one meter is removed from it, for this reason.
    AddAndSay(Line),
    LeaveOut,
}

impl RecordCheck {
    /// The first line, corrected where that is safe.
    pub(super) fn header(header: &mut Header) -> Result<(), String> {
        let machine = &mut header.machine;
        for fact in [&mut machine.max_turbo_ghz, &mut machine.load_1min] {
            *fact = fact.filter(|fact| MACHINE_FACTS.contains(fact));
        }
        let Some(agenda) = &header.agenda else { return Ok(()) };
        share("precision", Some(agenda.rules.precision))?;
        share("indifference", Some(agenda.rules.indifference))
    }

    /// One more line of this many bytes, after those in the record; corrected where that is safe.
    pub(super) fn line(&mut self, record: &Record, line: &mut Line, bytes: usize) -> Result<Checked, String> {
        if !matches!(line, Line::Sample(_)) {
            self.other_bytes += bytes as u64;
            at_most("bytes of lines that are no samples", self.other_bytes, OTHER_BYTES_MAX)?;
        }
        if record.end.is_some() && is_measured(line) {
            return Err("something is measured after the end of the run".to_owned());
        }
        match line {
            Line::Header(_) => Err("a second header".to_owned()),
            Line::Sample(sample) => self.sample(record, sample),
            Line::Trial(trial) => new_trial(record, trial),
            Line::Outcome { trial, outcome } => ended(record, *trial, outcome),
            Line::Rejected { trial, .. } if record.trial(*trial).is_none() => Ok(Checked::LeaveOut),
            Line::Contender(receipt) if !self.contenders.insert(receipt.contender.clone()) => {
                Err(format!("contender {:?} a second time", receipt.contender))
            }
            Line::Target { index, .. } if *index != record.targets.len() => {
                Err(format!("target {index} where target {} belongs", record.targets.len()))
            }
            line => found(record, line).map(|()| Checked::Add),
        }
    }

    fn sample(&mut self, record: &Record, sample: &mut Sample) -> Result<Checked, String> {
        self.samples += 1;
        at_most("samples", self.samples, SAMPLES_MAX)?;
        let trial = &record.trial(sample.trial).ok_or_else(|| unknown("trial", sample.trial))?.trial;
        if sample.reading >= sample.turn_readings {
            let Sample { reading, turn_readings, .. } = sample;
            return Err(format!("reading {reading} of a turn of {turn_readings}"));
        }
        // A control may take less time than a coarse clock shows; what delivers bytes takes some.
        if trial.is_control() {
            at_most("wall_ns", sample.wall_ns, NS_MAX)?
        } else {
            window(sample.wall_ns)?
        }
        share("resident_before", sample.resident_before)?;
        share("resident_after", sample.resident_after)?;
        let place = (sample.rung.unwrap_or(sample.round), sample.reading);
        let before = self.last.insert((sample.trial, sample.rung.is_some()), place);
        if before.is_some_and(|before| before >= place) {
            let (round, reading) = place;
            return Err(format!(
                "reading {reading} of round {round} of trial {} does not come after the one before",
                sample.trial
            ));
        }
        Ok(self.without_nonsense(sample))
    }

    /// Removes impossible numbers of meters; contenders may report anything.
    fn without_nonsense(&mut self, sample: &mut Sample) -> Checked {
        let mut said = None;
        for meter in Meter::ALL {
            let max = if meter.unit() == MeterUnit::Nanoseconds { NS_MAX } else { COUNT_MAX };
            let name = meter.name();
            let field = meter.field(sample).and_then(|field| field.take_if(|value| *value > max));
            let Some(value) = field else { continue };
            if self.mended.insert((sample.trial, name)) {
                let (trial, meter) = (sample.trial, name.to_owned());
                let reason = format!("the record says {value}, which no meter can have shown");
                said = Some(Line::Missing { trial, meter, reason });
            }
        }
        said.map_or(Checked::Add, Checked::AddAndSay)
    }
}

/// Something that each rank of the fleet has one of.
fn of_every_rank(record: &Record, found: usize) -> Result<(), String> {
    match record.fleet.as_ref().map(|fleet| fleet.ranks.len()) {
        None => Err("ranks, and no fleet before them".to_owned()),
        Some(ranks) if ranks != found => Err(format!("{found} ranks of a fleet of {ranks}")),
        Some(_) => Ok(()),
    }
}

/// The ranks of a turn are as many as its trial has, known, and in their order.
fn of_taking_ranks(record: &Record, turn: &FleetTurn) -> Result<(), String> {
    let target = record.trial(turn.trial).and_then(|it| record.targets.get(it.trial.target));
    let expected = target.and_then(|facts| facts.ranks);
    match expected {
        None => of_every_rank(record, turn.ranks.len())?,
        Some(count) if count as usize != turn.ranks.len() => {
            return Err(format!("{} ranks in a turn of {count}", turn.ranks.len()));
        }
        Some(_) => {}
    }
    let all = record.fleet.as_ref().map_or(0, |fleet| fleet.ranks.len());
    let numbers = || turn.ranks.iter().map(|timing| timing.rank);
    let is_known = numbers().is_sorted_by(|a, b| a < b) && numbers().all(|rank| (rank as usize) < all);
    if is_known { Ok(()) } else { Err("ranks of a turn that are not in their order".to_owned()) }
}

/// As many readers as the target of the trial has.
fn of_every_reader(record: &Record, turn: &ReadersTurn) -> Result<(), String> {
    let trial = record.trial(turn.trial);
    let target = trial.and_then(|it| record.targets.get(it.trial.target));
    let readers = target.and_then(|target| target.readers).unwrap_or(0);
    let is_whole = turn.readers.len() as u64 == u64::from(readers);
    if is_whole { Ok(()) } else { Err(format!("{} readers in a turn of {readers}", turn.readers.len())) }
}

fn is_measured(line: &Line) -> bool {
    matches!(
        line,
        Line::Sample(_) | Line::Warmup(_) | Line::Fill(_) | Line::Write { .. } | Line::Outcome { .. }
    )
}

/// A line whose check needs no other line.
fn found(record: &Record, line: &mut Line) -> Result<(), String> {
    match line {
        Line::Target { facts, .. } => at_most("size_bytes", facts.size_bytes, COUNT_MAX),
        Line::Fleet(fleet) => {
            at_most("ranks", fleet.ranks.len() as u64, RANKS_MAX)?;
            fleet.ranks.iter().try_for_each(|rank| at_most("size_bytes", rank.size_bytes, COUNT_MAX))
        }
        Line::FleetTurn(turn) => {
            known(record, turn.trial)?;
            of_taking_ranks(record, turn)?;
            turn.ranks.iter().try_for_each(|rank| {
                at_most("started_ns", rank.started_ns, NS_MAX)?;
                at_most("late_ns", rank.late_ns, NS_MAX)?;
                window(rank.wall_ns)
            })
        }
        Line::ReadersTurn(turn) => {
            known(record, turn.trial)?;
            of_every_reader(record, turn)?;
            turn.readers.iter().try_for_each(|reader| {
                at_most("began_ns", reader.began_ns, NS_MAX)?;
                at_most("answered_ns", reader.answered_ns, NS_MAX)?;
                window(reader.wall_ns)
            })
        }
        Line::Clocks { ranks, .. } => of_every_rank(record, ranks.len()),
        Line::Fill(fill) => {
            target(record, fill.target)?;
            at_most("wall_ns", fill.wall_ns, NS_MAX)?;
            share("resident_after", fill.resident_after)
        }
        // Its target comes later: a sweep writes a file before it examines it.
        Line::Write { times, .. } => {
            window(times.write_ns)?;
            at_most("sync_ns", times.sync_ns.unwrap_or(0), NS_MAX)
        }
        Line::Warmup(warmed) => {
            known(record, warmed.trial)?;
            at_most("wall_ns", warmed.wall_ns, NS_MAX)
        }
        Line::Missing { trial, .. }
        | Line::LeftBehind { trial, .. }
        | Line::Latencies { trial, .. }
        | Line::Scheduling { trial, .. }
        | Line::Stopped { trial, .. } => known(record, *trial),
        Line::Counts { trial, counts } => {
            counts.values_mut().for_each(believable);
            known(record, *trial)
        }
        Line::FlameGraph { trial, graph } => known(record, *trial).and_then(|()| flame_graph(graph)),
        Line::Trace { trial, trace } => known(record, *trial).and_then(|()| traced(trace)),
        Line::Limit(limit) => measured_limit(record, limit),
        Line::Resumed(resumption) => {
            at_most("elapsed_ns", resumption.elapsed_ns, NS_MAX)?;
            resumption.reopen.iter().try_for_each(|&trial| known(record, trial))
        }
        Line::End { .. } if record.end.is_some() => Err("a second end".to_owned()),
        Line::End { wall_ns, .. } => at_most("wall_ns", *wall_ns, NS_MAX),
        Line::Rejected { .. } | Line::Warning { .. } | Line::Contender(_) => Ok(()),
        Line::Header(_) | Line::Trial(_) | Line::Sample(_) | Line::Outcome { .. } => Ok(()),
    }
}

fn new_trial(record: &Record, trial: &Trial) -> Result<Checked, String> {
    match record.trial(trial.index) {
        // A run that was killed between this line and the next writes it again when it is resumed.
        Some(before) if before.trial == *trial => return Ok(Checked::LeaveOut),
        Some(_) => return Err(format!("trial {} a second time, and another one", trial.index)),
        None => {}
    }
    at_most("trials", record.trials.len() as u64 + 1, TRIALS_MAX as u64)?;
    target(record, trial.target).map(|()| Checked::Add)
}

fn ended(record: &Record, trial: TrialIndex, outcome: &Outcome) -> Result<Checked, String> {
    match &record.trial(trial).ok_or_else(|| unknown("trial", trial))?.outcome {
        None => Ok(Checked::Add),
        Some(before) if before == outcome => Ok(Checked::LeaveOut),
        Some(before) => {
            Err(format!("trial {trial} ends as {}, and before as {}", outcome.word(), before.word()))
        }
    }
}

fn measured_limit(record: &Record, limit: &Limit) -> Result<(), String> {
    target(record, limit.target)?;
    limit.trial.map_or(Ok(()), |trial| known(record, trial))?;
    let ends = limit.ci95.unwrap_or([limit.value; 2]);
    for value in limit.samples.iter().chain(&ends).chain([&limit.value]) {
        at_most("a limit", *value, COUNT_MAX)?;
    }
    if ends[0] > ends[1] {
        return Err(format!("an interval from {} to {}", ends[0], ends[1]));
    }
    Ok(())
}

fn flame_graph(graph: &FlameGraph) -> Result<(), String> {
    at_most("samples", graph.samples, COUNT_MAX)?;
    graph.hottest.iter().try_for_each(|spot| share("share", Some(spot.share)))
}

fn traced(trace: &Trace) -> Result<(), String> {
    let faults = [trace.minor_faults, trace.major_faults].map(Option::unwrap_or_default);
    let counts = [trace.unrecorded, trace.threads, trace.bytes, trace.sequential];
    for count in trace.calls.values().chain(&faults).chain(&counts) {
        at_most("a count", *count, COUNT_MAX)?;
    }
    at_most("wall_ns", trace.wall_ns, NS_MAX)?;
    at_most("in_calls_ns", trace.in_calls_ns, NS_MAX)?;
    let Trace { requested_bytes, got_bytes, brought_bytes, latency_ns, ahead_bytes, back_bytes, .. } = trace;
    let spreads = [requested_bytes, got_bytes, brought_bytes, latency_ns, ahead_bytes, back_bytes];
    spreads.into_iter().try_for_each(spread)
}

/// The numbers themselves may be anything: a program may request any number of bytes.
fn spread(spread: &Spread) -> Result<(), String> {
    let counted = spread.buckets.iter().try_fold(0_u64, |sum, [_, count]| sum.checked_add(*count));
    if counted != Some(spread.n) {
        return Err(format!("a spread of {} whose parts do not add up to it", spread.n));
    }
    at_most("a spread", spread.n, COUNT_MAX)?;
    let Spread { least, p50, p90, p99, most, .. } = *spread;
    let places = [least, p50, p90, p99, most];
    if places.is_sorted() { Ok(()) } else { Err(format!("percentiles that fall: {places:?}")) }
}

fn believable(count: &mut Count) {
    if let Some(value) = count.value.take_if(|value| *value > COUNT_MAX) {
        count.how = format!("the record says {value}, which nobody can have counted");
    }
}

fn known(record: &Record, trial: TrialIndex) -> Result<(), String> {
    record.trial(trial).map(|_| ()).ok_or_else(|| unknown("trial", trial))
}

fn target(record: &Record, target: usize) -> Result<(), String> {
    if target < record.targets.len() { Ok(()) } else { Err(unknown("target", target)) }
}

fn unknown(what: &str, index: impl Display) -> String {
    format!("{what} {index}, which no line before tells of")
}

fn window(wall_ns: u64) -> Result<(), String> {
    if wall_ns == 0 { Err("a window of 0 ns".to_owned()) } else { at_most("wall_ns", wall_ns, NS_MAX) }
}

fn share(name: &str, share: Option<f64>) -> Result<(), String> {
    match share {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(format!("{name} is {share:e}, and a share is from 0 to 1"))
        }
        _ => Ok(()),
    }
}

fn at_most<N: PartialOrd + Display>(what: &str, value: N, max: N) -> Result<(), String> {
    if value > max { Err(format!("{what}: {value}, and {max} is the most")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
