//! Every raw sample as one row of comma-separated values (RFC 4180): what other programs compute
//! with.
//!
//! Empty fields are meters that could not be read. Samples of refused and failed trials are there
//! too, with the outcome beside them.

use crate::record::{Record, Sample, TrialRecord};
use crate::target::TargetFacts;
use crate::terminal::printable::printable;
use crate::trial::CacheState;
use std::io::{self, Write};

const COLUMNS: [&str; 37] = [
    "trial",
    "id",
    "label",
    "contender",
    "method",
    "scan",
    "params",
    "target",
    "work",
    "state",
    "over",
    "outcome",
    "fill",
    "round",
    "rung",
    "position",
    "reading",
    "turn_readings",
    "wall_ns",
    "cpu_user_ns",
    "cpu_system_ns",
    "peak_rss_bytes",
    "minor_faults",
    "major_faults",
    "device_read_bytes",
    "resident_before",
    "resident_after",
    "bytes",
    "newlines",
    "lines",
    "sum",
    "decodes",
    "bytes_in",
    "bytes_out",
    "below_read_bytes",
    "cold_above",
    "conduct",
];

/// Writes the samples of a record.
///
/// # Errors
/// If they cannot be written.
pub fn csv(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for trial in &record.trials {
        for sample in trial.searched.iter().chain(&trial.samples) {
            writer.write_record(row(record, trial, &sample))?;
        }
    }
    writer.flush()
}

fn row(record: &Record, trial: &TrialRecord, sample: &Sample) -> [String; COLUMNS.len()] {
    let it = &trial.trial;
    let whole = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let share = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let target = record.targets.get(it.target);
    let over = target.map(TargetFacts::transport).unwrap_or_default();
    let cold_above = target.filter(|_| it.state == CacheState::Cold).and_then(TargetFacts::cold_above);
    let path = target.map_or("", |target| &target.path);
    [
        it.index.to_string(),
        printable(&it.id.to_string()),
        printable(it.label.as_deref().unwrap_or_default()),
        printable(it.contender()),
        printable(it.method()),
        printable(it.scan().unwrap_or_default()),
        it.params.to_string(),
        printable(path),
        it.work.to_string(),
        it.state.to_string(),
        over.word().to_owned(),
        trial.outcome.as_ref().map_or("", |outcome| outcome.word()).to_owned(),
        sample.fill.to_string(),
        sample.round.to_string(),
        whole(sample.rung.map(u64::from)),
        sample.position.to_string(),
        sample.reading.to_string(),
        sample.turn_readings.to_string(),
        sample.wall_ns.to_string(),
        whole(sample.cpu_user_ns),
        whole(sample.cpu_system_ns),
        whole(sample.peak_rss_bytes),
        whole(sample.minor_faults),
        whole(sample.major_faults),
        whole(sample.device_read_bytes),
        share(sample.resident_before),
        share(sample.resident_after),
        whole(sample.answer.bytes),
        whole(sample.answer.newlines),
        whole(sample.answer.lines),
        whole(sample.answer.sum),
        it.decodes.map_or("", |archive| archive.word()).to_owned(),
        whole(target.map(|target| it.bytes_in(target))),
        whole(target.map(|target| it.bytes_out(target))),
        whole(sample.below_read_bytes),
        printable(&cold_above.unwrap_or_default()),
        trial.conduct.words().join("; "),
    ]
}
