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
//! | sample | its trial came before; rounds and readings rise; the number of a reading is below the
//! number of readings of its turn; a window is longer than 0 ns; shares are from 0 to 1 |
//! | fleet, clocks, fleet turn | clocks and turns come after the fleet, and have one time for each rank |
//! | other lines that name a trial or a target | the trial or target came before |
//! | outcome, end | once, unless a resumed run takes them back; nothing is measured after the end |
//!
//! A line that breaks a rule is rejected with its number and the cause. Three kinds of lines are
//! corrected instead, because a correct readlab may have written them: an impossible number of a
//! meter or of a fact of the machine, which contenders and drivers report, counts as not metered; a
//! repeated trial with equal words is one trial; a rejection before its trial is left out.

use super::{
    Distribution, FlameGraph, FleetTurn, Header, Limit, Line, Outcome, ReadersTurn, Record, Trace, Trial,
    UntimedCount,
};
use readlab_model::sample::{Meter, MeterUnit, PressedProof, Sample};
use readlab_model::target::TargetIndex;
use readlab_model::trial::TrialIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The longest line. The longest line that readlab itself writes is a header, with a plan of some
/// thousand trials.
pub const LINE_BYTES_MAX: u64 = 8 << 20;

/// Bytes of all lines except samples, because these lines are held in memory as they are.
const OTHER_BYTES_MAX: u64 = 256 << 20;

/// Most samples of a record; the writer stops there. A report of the maximum takes minutes.
pub(super) const SAMPLES_MAX: u64 = 4_000_000;

const TRIALS_MAX: usize = 10_000;

/// The longest time, in nanoseconds: 104 days. A float represents integers exactly up to here.
const NS_MAX: u64 = 1 << 53;

/// The largest count, also of bytes. A float represents integers exactly up to here.
const COUNT_MAX: u64 = 1 << 53;

const RANKS_MAX: u64 = 1 << 20;

/// The allowed clock rates (in GHz) and loads of a machine.
const MACHINE_FACT_RANGE: RangeInclusive<f64> = 0.0..=1e6;

/// The shares of a working set that can be in memory: no page cache has 9e15 bytes, and a working
/// set has at least one byte.
const WORKING_SET_SHARE_RANGE: RangeInclusive<f64> = 0.0..=9e15;

/// The facts about earlier lines that the rules need.
#[derive(Debug, Default)]
pub(super) struct RecordCheck {
    sample_count: u64,
    other_bytes: u64,
    contenders: BTreeSet<String>,
    /// The last round and reading of each trial, separately for searched and reported readings.
    last_readings: BTreeMap<(TrialIndex, bool), (u32, u32)>,
    /// Trials and meters whose impossible numbers were removed; each pair is reported once.
    reported_meters: BTreeSet<(TrialIndex, &'static str)>,
}

#[derive(Debug, PartialEq)]
pub(super) enum LineTreatment {
    Add,
    /// The line is added without one of its meters, and so is the line in this variant, which
    /// states why the meter is missing.
    AddAndReport(Line),
    LeaveOut,
}

impl RecordCheck {
    /// Checks the first line, and corrects it where that is safe.
    pub(super) fn check_header(header: &mut Header) -> Result<(), String> {
        let machine = &mut header.machine;
        for fact in [&mut machine.max_turbo_ghz, &mut machine.load_1min] {
            *fact = fact.filter(|fact| MACHINE_FACT_RANGE.contains(fact));
        }
        let Some(plan) = &header.resume_plan else { return Ok(()) };
        check_share("precision", Some(plan.rules.precision))?;
        check_share("indifference", Some(plan.rules.indifference))
    }

    /// Checks one more line of `bytes` bytes after the lines in the record, and corrects it where
    /// that is safe.
    pub(super) fn check_next_line(
        &mut self,
        record: &Record,
        line: &mut Line,
        bytes: usize,
    ) -> Result<LineTreatment, String> {
        if !matches!(line, Line::Sample(_)) {
            self.other_bytes += bytes as u64;
            check_at_most("bytes of lines that are no samples", self.other_bytes, OTHER_BYTES_MAX)?;
        }
        if record.end.is_some() && is_measurement(line) {
            return Err("something is measured after the end of the run".to_owned());
        }
        match line {
            Line::Header(_) => Err("a second header".to_owned()),
            Line::Sample(sample) => self.check_sample(record, sample),
            Line::Trial(trial) => check_new_trial(record, trial),
            Line::Outcome { trial, outcome } => check_outcome(record, *trial, outcome),
            Line::Rejected { trial, .. } if record.trial(*trial).is_none() => Ok(LineTreatment::LeaveOut),
            Line::Contender(receipt) if !self.contenders.insert(receipt.contender.clone()) => {
                Err(format!("contender {:?} a second time", receipt.contender))
            }
            Line::Target { index, .. } if *index != record.targets.next_index() => {
                Err(format!("target {index} where target {} belongs", record.targets.next_index()))
            }
            line => check_line(record, line).map(|()| LineTreatment::Add),
        }
    }

    fn check_sample(&mut self, record: &Record, sample: &mut Sample) -> Result<LineTreatment, String> {
        self.sample_count += 1;
        check_at_most("samples", self.sample_count, SAMPLES_MAX)?;
        let trial =
            &record.trial(sample.trial).ok_or_else(|| unknown_number_sentence("trial", sample.trial))?.trial;
        if sample.reading >= sample.turn_readings {
            let Sample { reading, turn_readings, .. } = sample;
            return Err(format!("reading {reading} of a turn of {turn_readings}"));
        }
        // A control may take less time than a coarse clock resolves; a reading that delivers bytes
        // takes some.
        if trial.is_control() {
            check_at_most("wall_ns", sample.wall_ns, NS_MAX)?
        } else {
            check_window(sample.wall_ns)?
        }
        check_share("resident_before", sample.resident_before)?;
        check_share("resident_after", sample.resident_after)?;
        sample.pressed.as_ref().map_or(Ok(()), check_pressed_proof)?;
        let place = (sample.rung.unwrap_or(sample.round), sample.reading);
        let before = self.last_readings.insert((sample.trial, sample.rung.is_some()), place);
        if before.is_some_and(|before| before >= place) {
            let (round, reading) = place;
            return Err(format!(
                "reading {reading} of round {round} of trial {} does not come after the one before",
                sample.trial
            ));
        }
        Ok(self.remove_impossible_meters(sample))
    }

    /// Removes impossible numbers of meters; contenders may report anything.
    fn remove_impossible_meters(&mut self, sample: &mut Sample) -> LineTreatment {
        let mut said = None;
        for meter in Meter::ALL {
            let max = if meter.unit() == MeterUnit::Nanoseconds { NS_MAX } else { COUNT_MAX };
            let name = meter.name();
            let field = meter.field(sample).and_then(|field| field.take_if(|value| *value > max));
            let Some(value) = field else { continue };
            if self.reported_meters.insert((sample.trial, name)) {
                let (trial, meter) = (sample.trial, name.to_owned());
                let reason = format!("the record says {value}, which no meter can have shown");
                said = Some(Line::Missing { trial, meter, reason });
            }
        }
        said.map_or(LineTreatment::Add, LineTreatment::AddAndReport)
    }
}

/// Checks what proves a pressed reading. Shares of a working set may exceed 1.
fn check_pressed_proof(proof: &PressedProof) -> Result<(), String> {
    let &PressedProof { steady_share, before_share, elsewhere_share, .. } = proof;
    for (name, share) in
        [("steady_share", steady_share), ("before_share", before_share), ("elsewhere_share", elsewhere_share)]
    {
        if !WORKING_SET_SHARE_RANGE.contains(&share) {
            return Err(format!("{name}: {share} is no share of a working set"));
        }
    }
    check_at_most("limit_bytes", proof.limit_bytes, COUNT_MAX)?;
    check_at_most("process_bytes", proof.process_bytes, COUNT_MAX)?;
    check_at_most("held_bytes", proof.non_cache_bytes, COUNT_MAX)
}

/// Checks that a list has one entry for each rank of the fleet.
fn check_all_ranks(record: &Record, found: usize) -> Result<(), String> {
    match record.fleet.as_ref().map(|fleet| fleet.ranks.len()) {
        None => Err("ranks, and no fleet before them".to_owned()),
        Some(ranks) if ranks != found => Err(format!("{found} ranks of a fleet of {ranks}")),
        Some(_) => Ok(()),
    }
}

/// Checks that a turn has as many ranks as its trial, that the fleet has these ranks, and that they
/// are in rising order.
fn check_turn_ranks(record: &Record, turn: &FleetTurn) -> Result<(), String> {
    let target = record.trial(turn.trial).and_then(|it| record.target_of(&it.trial));
    let expected = target.and_then(|facts| facts.rank_count);
    match expected {
        None => check_all_ranks(record, turn.ranks.len())?,
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

/// Checks that a turn has as many readers as the target of its trial.
fn check_turn_readers(record: &Record, turn: &ReadersTurn) -> Result<(), String> {
    let trial = record.trial(turn.trial);
    let target = trial.and_then(|it| record.target_of(&it.trial));
    let readers = target.and_then(|target| target.reader_count).unwrap_or(0);
    let is_whole = turn.readers.len() as u64 == u64::from(readers);
    if is_whole { Ok(()) } else { Err(format!("{} readers in a turn of {readers}", turn.readers.len())) }
}

fn is_measurement(line: &Line) -> bool {
    matches!(
        line,
        Line::Sample(_)
            | Line::Warmup(_)
            | Line::ColdProbe(_)
            | Line::Fill(_)
            | Line::Write { .. }
            | Line::Outcome { .. }
    )
}

/// Checks a line that needs none of the rules on the order of lines.
fn check_line(record: &Record, line: &mut Line) -> Result<(), String> {
    match line {
        Line::Target { facts, .. } => check_at_most("size_bytes", facts.size_bytes, COUNT_MAX),
        Line::Fleet(fleet) => {
            check_at_most("ranks", fleet.ranks.len() as u64, RANKS_MAX)?;
            fleet.ranks.iter().try_for_each(|rank| check_at_most("size_bytes", rank.size_bytes, COUNT_MAX))
        }
        Line::FleetTurn(turn) => {
            check_trial_known(record, turn.trial)?;
            check_turn_ranks(record, turn)?;
            turn.ranks.iter().try_for_each(|rank| {
                check_at_most("started_ns", rank.started_ns, NS_MAX)?;
                check_at_most("late_ns", rank.late_ns, NS_MAX)?;
                check_window(rank.wall_ns)
            })
        }
        Line::ReadersTurn(turn) => {
            check_trial_known(record, turn.trial)?;
            check_turn_readers(record, turn)?;
            turn.readers.iter().try_for_each(|reader| {
                check_at_most("began_ns", reader.began_ns, NS_MAX)?;
                check_at_most("answered_ns", reader.answered_ns, NS_MAX)?;
                check_window(reader.wall_ns)
            })
        }
        Line::Clocks { ranks, .. } => check_all_ranks(record, ranks.len()),
        Line::Fill(fill) => {
            check_target_known(record, fill.target)?;
            check_at_most("wall_ns", fill.wall_ns, NS_MAX)?;
            check_share("resident_after", fill.resident_after)
        }
        Line::Settings(applied) => {
            check_target_known(record, applied.target)?;
            check_at_most("wall_ns", applied.wall_ns, NS_MAX)
        }
        // The target of a write comes later: a sweep writes a file before it examines it.
        Line::Write { times, .. } => {
            check_window(times.write_ns)?;
            check_at_most("sync_ns", times.sync_ns.unwrap_or(0), NS_MAX)
        }
        Line::Warmup(warmed) => {
            check_trial_known(record, warmed.trial)?;
            check_at_most("wall_ns", warmed.wall_ns, NS_MAX)
        }
        Line::ColdProbe(sample) => {
            check_trial_known(record, sample.trial)?;
            check_share("resident_before", sample.resident_before)?;
            check_share("resident_after", sample.resident_after)
        }
        Line::Missing { trial, .. }
        | Line::LeftBehind { trial, .. }
        | Line::Latencies { trial, .. }
        | Line::Scheduling { trial, .. }
        | Line::Stopped { trial, .. } => check_trial_known(record, *trial),
        Line::Counts { trial, counts } => {
            counts.values_mut().for_each(remove_impossible_count);
            check_trial_known(record, *trial)
        }
        Line::FlameGraph { trial, graph } => {
            check_trial_known(record, *trial).and_then(|()| check_flame_graph(graph))
        }
        Line::Trace { trial, trace } => check_trial_known(record, *trial).and_then(|()| check_trace(trace)),
        Line::Limit(limit) => check_limit(record, limit),
        Line::Resumed(resumption) => {
            check_at_most("elapsed_ns", resumption.elapsed_ns, NS_MAX)?;
            resumption.reopened_trials.iter().try_for_each(|&trial| check_trial_known(record, trial))
        }
        Line::End { .. } if record.end.is_some() => Err("a second end".to_owned()),
        Line::End { wall_ns, .. } => check_at_most("wall_ns", *wall_ns, NS_MAX),
        Line::Rejected { .. } | Line::Warning { .. } | Line::Contender(_) => Ok(()),
        Line::Header(_) | Line::Trial(_) | Line::Sample(_) | Line::Outcome { .. } => Ok(()),
    }
}

fn check_new_trial(record: &Record, trial: &Trial) -> Result<LineTreatment, String> {
    match record.trial(trial.index) {
        // A run that was killed after writing this line writes it again when it is resumed.
        Some(before) if before.trial == *trial => return Ok(LineTreatment::LeaveOut),
        Some(_) => return Err(format!("trial {} a second time, and another one", trial.index)),
        None => {}
    }
    check_at_most("trials", record.trials.len() as u64 + 1, TRIALS_MAX as u64)?;
    check_target_known(record, trial.target).map(|()| LineTreatment::Add)
}

fn check_outcome(record: &Record, trial: TrialIndex, outcome: &Outcome) -> Result<LineTreatment, String> {
    match &record.trial(trial).ok_or_else(|| unknown_number_sentence("trial", trial))?.outcome {
        None => Ok(LineTreatment::Add),
        Some(before) if before == outcome => Ok(LineTreatment::LeaveOut),
        Some(before) => {
            Err(format!("trial {trial} ends as {}, and before as {}", outcome.word(), before.word()))
        }
    }
}

fn check_limit(record: &Record, limit: &Limit) -> Result<(), String> {
    check_target_known(record, limit.target)?;
    limit.trial.map_or(Ok(()), |trial| check_trial_known(record, trial))?;
    let ends = limit.ci95.unwrap_or([limit.value; 2]);
    for value in limit.samples.iter().chain(&ends).chain([&limit.value]) {
        check_at_most("a limit", *value, COUNT_MAX)?;
    }
    if ends[0] > ends[1] {
        return Err(format!("an interval from {} to {}", ends[0], ends[1]));
    }
    Ok(())
}

fn check_flame_graph(graph: &FlameGraph) -> Result<(), String> {
    check_at_most("samples", graph.sample_count, COUNT_MAX)?;
    graph.hottest.iter().try_for_each(|spot| check_share("share", Some(spot.share)))
}

fn check_trace(trace: &Trace) -> Result<(), String> {
    let faults = [trace.minor_faults, trace.major_faults].map(Option::unwrap_or_default);
    let counts = [trace.unrecorded, trace.threads, trace.bytes, trace.sequential_calls];
    for count in trace.call_counts.values().chain(&faults).chain(&counts) {
        check_at_most("a count", *count, COUNT_MAX)?;
    }
    check_at_most("wall_ns", trace.wall_ns, NS_MAX)?;
    check_at_most("in_calls_ns", trace.in_calls_ns, NS_MAX)?;
    let Trace {
        requested_bytes,
        returned_bytes: got_bytes,
        nonempty_returned_bytes: brought_bytes,
        latency_ns,
        ahead_bytes,
        back_bytes,
        ..
    } = trace;
    let spreads = [requested_bytes, got_bytes, brought_bytes, latency_ns, ahead_bytes, back_bytes];
    spreads.into_iter().try_for_each(check_spread)
}

/// Checks that the numbers of a spread agree with each other. Their size is not limited: a program
/// may request any number of bytes.
fn check_spread(spread: &Distribution) -> Result<(), String> {
    let counted = spread.buckets.iter().try_fold(0_u64, |sum, [_, count]| sum.checked_add(*count));
    if counted != Some(spread.n) {
        return Err(format!("a spread of {} whose parts do not add up to it", spread.n));
    }
    check_at_most("a spread", spread.n, COUNT_MAX)?;
    let Distribution { least, p50, p90, p99, most, .. } = *spread;
    let places = [least, p50, p90, p99, most];
    if places.is_sorted() { Ok(()) } else { Err(format!("percentiles that fall: {places:?}")) }
}

fn remove_impossible_count(count: &mut UntimedCount) {
    if let Some(value) = count.value.take_if(|value| *value > COUNT_MAX) {
        count.how = format!("the record says {value}, which is too large for a count");
    }
}

fn check_trial_known(record: &Record, trial: TrialIndex) -> Result<(), String> {
    record.trial(trial).map(|_| ()).ok_or_else(|| unknown_number_sentence("trial", trial))
}

fn check_target_known(record: &Record, target: TargetIndex) -> Result<(), String> {
    record.targets.get(target).map(|_| ()).ok_or_else(|| unknown_number_sentence("target", target))
}

fn unknown_number_sentence(what: &str, index: impl Display) -> String {
    format!("{what} {index}, which no earlier line introduces")
}

fn check_window(wall_ns: u64) -> Result<(), String> {
    if wall_ns == 0 { Err("a window of 0 ns".to_owned()) } else { check_at_most("wall_ns", wall_ns, NS_MAX) }
}

fn check_share(name: &str, share: Option<f64>) -> Result<(), String> {
    match share {
        Some(share) if !(0.0..=1.0).contains(&share) => {
            Err(format!("{name} is {share:e}, and a share is from 0 to 1"))
        }
        _ => Ok(()),
    }
}

fn check_at_most<N: PartialOrd + Display>(what: &str, value: N, max: N) -> Result<(), String> {
    if value > max { Err(format!("{what}: {value}, and {max} is the most")) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
