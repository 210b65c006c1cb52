//! Every raw sample as one row of comma-separated values (RFC 4180), for computations in other
//! programs.
//!
//! An empty field is a meter that could not be read. Samples of refused and failed trials are
//! included, with the outcome beside them.

use readlab_model::sample::{Meter, Sample, Scope};
use readlab_model::target::TargetFacts;
use readlab_model::target::memory::MemoryFacts;
use readlab_model::trial::CacheState;
use readlab_record::{Record, TrialRecord};
use readlab_system::terminal::printable::printable;
use std::io::{self, Write};

struct Row<'a> {
    record: &'a Record,
    trial_record: &'a TrialRecord,
    target: Option<&'a TargetFacts>,
    sample: &'a Sample,
}

/// One column, or one column for each meter of a scope.
enum Column {
    Text(&'static str, fn(&Row) -> String),
    Meters(Scope),
    Meter(Meter),
}

const COLUMNS: &[Column] = &[
    Column::Text("trial", |row| row.trial_record.trial.index.to_string()),
    Column::Text("id", |row| printable(&row.record.trial_name(&row.trial_record.trial))),
    Column::Text("label", |row| printable(row.trial_record.trial.label.as_deref().unwrap_or_default())),
    Column::Text("contender", |row| printable(row.trial_record.trial.contender())),
    Column::Text("method", |row| printable(row.trial_record.trial.method())),
    Column::Text("scan", |row| printable(row.trial_record.trial.scan().unwrap_or_default())),
    Column::Text("params", |row| row.trial_record.trial.params.to_string()),
    Column::Text("target", |row| printable(row.target.map_or("", |target| &target.path))),
    Column::Text("work", |row| row.trial_record.trial.work.to_string()),
    Column::Text("state", |row| row.trial_record.trial.state.to_string()),
    Column::Text("over", |row| row.target.map(TargetFacts::transport).unwrap_or_default().word().to_owned()),
    Column::Text("outcome", |row| {
        row.trial_record.outcome.as_ref().map_or("", |outcome| outcome.word()).to_owned()
    }),
    Column::Text("fill", |row| row.sample.fill.to_string()),
    Column::Text("round", |row| row.sample.round.to_string()),
    Column::Text("rung", |row| text_or_empty(row.sample.rung.map(u64::from))),
    Column::Text("position", |row| row.sample.position.to_string()),
    Column::Text("reading", |row| row.sample.reading.to_string()),
    Column::Text("turn_readings", |row| row.sample.turn_readings.to_string()),
    Column::Text("wall_ns", |row| row.sample.wall_ns.to_string()),
    Column::Meters(Scope::Reading),
    Column::Text("resident_before", |row| text_or_empty(row.sample.resident_before)),
    Column::Text("resident_after", |row| text_or_empty(row.sample.resident_after)),
    Column::Text("bytes", |row| text_or_empty(row.sample.answer.bytes)),
    Column::Text("newlines", |row| text_or_empty(row.sample.answer.newlines)),
    Column::Text("lines", |row| text_or_empty(row.sample.answer.lines)),
    Column::Text("sum", |row| text_or_empty(row.sample.answer.sum)),
    Column::Text("decodes", |row| {
        row.trial_record.trial.decoded_format.map_or("", |archive| archive.word()).to_owned()
    }),
    Column::Text("bytes_in", |row| text_or_empty(row.record.bytes_in(row.trial_record))),
    Column::Text("bytes_out", |row| text_or_empty(row.record.bytes_out(row.trial_record))),
    Column::Meters(Scope::Layer),
    Column::Text("cold_above", |row| printable(&row.cold_above().unwrap_or_default())),
    Column::Text("conduct", |row| row.trial_record.remarks().join("; ")),
];

impl Row<'_> {
    fn memory(&self) -> Option<&MemoryFacts> {
        self.target.and_then(|target| target.memory_bound.as_ref())
    }

    fn cold_above(&self) -> Option<String> {
        self.target
            .filter(|_| self.trial_record.trial.state == CacheState::Cold)
            .and_then(TargetFacts::unevictable_cache_names)
    }
}

/// The bound on memory of the trial's target: as the user requested it, in bytes, and divided by
/// the working set. Only records with a bound on memory have these columns.
const BOUND_COLUMNS: &[Column] = &[
    Column::Text("memory", |row| text_or_empty(row.memory().map(|memory| memory.bound))),
    Column::Text("memory_cache_bytes", |row| text_or_empty(row.memory().map(|memory| memory.cache_bytes))),
    Column::Text("memory_share", |row| text_or_empty(row.memory().map(MemoryFacts::share))),
];

/// Whether the shares in `resident_before` and `resident_after` are estimates from sampled pages.
/// Only records with such an estimate have this column.
const ESTIMATE_COLUMNS: &[Column] =
    &[Column::Text("resident_is_estimate", |row| row.sample.resident_is_estimate.to_string())];

/// Whether a file that begins with `head` is an exported table. Only the columns up to the first
/// meters are compared: later versions may add meters.
pub fn is_own_csv(head: &str) -> bool {
    let names = COLUMNS.iter().map_while(|column| match column {
        Column::Text(name, _) => Some(*name),
        Column::Meters(_) | Column::Meter(_) => None,
    });
    head.starts_with(&(names.collect::<Vec<_>>().join(",") + ","))
}

/// Writes the samples of a record. Meters of requests, and meters that not every system counts,
/// have a column only if a sample has a value for them. Meters of turns have columns only if a
/// sample has a value for a meter of disturbances.
pub fn write_csv(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let has =
        |holds: &dyn Fn(&Sample) -> bool| record.trials.iter().flat_map(samples).any(|sample| holds(&sample));
    let is_read = |scope| has(&|sample| meters(scope).any(|meter| meter.read(sample).is_some()));
    let turn = [Column::Meters(Scope::Turn), Column::Meters(Scope::Disturbance)];
    let turn = if is_read(Scope::Disturbance) { &turn[..] } else { &[] };
    let requests = is_read(Scope::Requests).then_some(Column::Meters(Scope::Requests));
    let counted = meters(Scope::WhereCounted);
    let counted = counted.filter(|meter| has(&|sample| meter.read(sample).is_some()));
    let counted: Vec<Column> = counted.map(Column::Meter).collect();
    let is_bounded = record.targets.iter().any(|target| target.memory_bound.is_some());
    let bounds = if is_bounded { BOUND_COLUMNS } else { &[] };
    let estimates = if has(&|sample: &Sample| sample.resident_is_estimate) { ESTIMATE_COLUMNS } else { &[] };
    let columns =
        || COLUMNS.iter().chain(turn).chain(&requests).chain(&counted).chain(bounds).chain(estimates);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns().flat_map(Column::headings))?;
    for it in &record.trials {
        let target = record.target_of(&it.trial);
        for sample in samples(it) {
            let row = Row { record, trial_record: it, target, sample: &sample };
            writer.write_record(columns().flat_map(|column| column.texts(&row)))?;
        }
    }
    writer.flush()
}

impl Column {
    fn headings(&self) -> Vec<&'static str> {
        match self {
            Column::Text(heading, _) => vec![heading],
            Column::Meters(scope) => meters(*scope).filter_map(Meter::csv_heading).collect(),
            Column::Meter(meter) => meter.csv_heading().into_iter().collect(),
        }
    }

    fn texts(&self, row: &Row) -> Vec<String> {
        match self {
            Column::Text(_, text) => vec![text(row)],
            Column::Meters(scope) => {
                meters(*scope).map(|meter| text_or_empty(meter.read(row.sample))).collect()
            }
            Column::Meter(meter) => vec![text_or_empty(meter.read(row.sample))],
        }
    }
}

fn meters(scope: Scope) -> impl Iterator<Item = Meter> {
    Meter::ALL.into_iter().filter(move |meter| meter.scope() == scope && meter.csv_heading().is_some())
}

fn samples(trial: &TrialRecord) -> impl Iterator<Item = Sample> + '_ {
    trial.search_samples.iter().chain(&trial.samples)
}

fn text_or_empty(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{add_readings, announce, reading};
    use readlab_model::sample::TurnSeen;
    use readlab_record::testing;

    fn csv_lines(turn: TurnSeen) -> Vec<String> {
        let mut record = Record::new(testing::header());
        record.add(testing::target_line(0, TargetFacts::default()));
        announce(&mut record, 0, "rust/read", CacheState::Warm);
        add_readings(&mut record, 0, [Sample { turn, ..reading(0, 0, 1) }]);
        let mut out = Vec::new();
        write_csv(&record, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_of_turn_meters_exist_only_where_some_reading_has_them() {
        let waits = TurnSeen { wall_ns: Some(9), delayed_ns: Some(4), ..TurnSeen::default() };
        let before = csv_lines(waits);
        assert!(before[0].ends_with(",cold_above,conduct"), "{}", before[0]);
        let known = csv_lines(TurnSeen { preemptions: Some(2), steal_ns: Some(0), ..waits });
        let expected = "turn_wall_ns,delayed_ns,lab_delayed_ns,preemptions,steal_ns";
        assert!(known[0].contains(expected), "{}", known[0]);
        assert_eq!(known[1], format!("{},9,4,,2,0,,,,,", before[1]));
    }
}
