//! Every raw sample as one row of comma-separated values (RFC 4180): what other programs compute
//! with.
//!
//! Empty fields are meters that could not be read. Samples of refused and failed trials are there
//! too, with the outcome beside them.

use crate::record::{Record, RequestMeters, Sample, TrialRecord, TurnSeen};
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

/// What else is known of the turn of a sample; a record that does not know more than the waits has
/// none of these columns.
const TURN_COLUMNS: [&str; 10] = [
    "turn_wall_ns",
    "delayed_ns",
    "lab_delayed_ns",
    "preemptions",
    "steal_ns",
    "cpu_pressure_ns",
    "io_pressure_ns",
    "memory_pressure_ns",
    "throttled_ns",
    "device_busy_ns",
];

/// What contenders say of their requests; a record of files has none of these columns.
const REQUEST_COLUMNS: [&str; 6] = ["dns_ns", "connect_ns", "tls_ns", "first_byte_ns", "requests", "retries"];

/// Writes the samples of a record.
pub fn csv(record: &Record, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    let has_turns = record.trials.iter().flat_map(samples).any(|sample| sample.turn.has_disturbance());
    let of_turn = if has_turns { TURN_COLUMNS.len() } else { 0 };
    let has_requests = record.trials.iter().flat_map(samples).any(|sample| !sample.request.is_unknown());
    let of_request = if has_requests { REQUEST_COLUMNS.len() } else { 0 };
    let columns = COLUMNS.iter().chain(&TURN_COLUMNS[..of_turn]);
    writer.write_record(columns.chain(&REQUEST_COLUMNS[..of_request]))?;
    for trial in &record.trials {
        for sample in samples(trial) {
            let turn = turn_fields(&sample.turn);
            let request = request_fields(&sample.request);
            let own = row(record, trial, &sample);
            writer.write_record(own.iter().chain(&turn[..of_turn]).chain(&request[..of_request]))?;
        }
    }
    writer.flush()
}

/// All samples of a trial, those of a search first.
fn samples(trial: &TrialRecord) -> impl Iterator<Item = Sample> + '_ {
    trial.searched.iter().chain(&trial.samples)
}

fn turn_fields(turn: &TurnSeen) -> [String; TURN_COLUMNS.len()] {
    [
        turn.wall_ns,
        turn.delayed_ns,
        turn.lab_delayed_ns,
        turn.preemptions,
        turn.steal_ns,
        turn.cpu_pressure_ns,
        turn.io_pressure_ns,
        turn.memory_pressure_ns,
        turn.throttled_ns,
        turn.device_busy_ns,
    ]
    .map(whole)
}

fn request_fields(request: &RequestMeters) -> [String; REQUEST_COLUMNS.len()] {
    let RequestMeters { dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries } = *request;
    [dns_ns, connect_ns, tls_ns, first_byte_ns, requests, retries].map(whole)
}

fn whole(value: Option<u64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn row(record: &Record, trial: &TrialRecord, sample: &Sample) -> [String; COLUMNS.len()] {
    let it = &trial.trial;
    let share = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let target = record.targets.get(it.target);
    let over = target.map(TargetFacts::transport).unwrap_or_default();
    let cold_above = target.filter(|_| it.state == CacheState::Cold).and_then(TargetFacts::cold_above);
    let path = target.map_or("", |target| &target.path);
    let read_whole = target.filter(|target| it.read_whole(sample, target));
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
        whole(read_whole.map(|target| it.bytes_in(target))),
        whole(read_whole.map(|target| it.bytes_out(target))),
        whole(sample.below_read_bytes),
        printable(&cold_above.unwrap_or_default()),
        trial.remarks().join("; "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Line, testing};
    use readlab_protocol::Cache;

    fn lines(turn: TurnSeen) -> Vec<String> {
        let mut record = Record::new(testing::header());
        record.add(testing::target(0, TargetFacts::default()));
        record.add(testing::trial(0, "rust/read", CacheState::Warm, Cache::Through));
        record.add(Line::Sample(Box::new(Sample {
            wall_ns: 1,
            turn_readings: 1,
            turn,
            ..Sample::default()
        })));
        let mut out = Vec::new();
        csv(&record, &mut out).unwrap();
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_other_work_took_is_there_where_it_is_known() {
        let waits = TurnSeen { wall_ns: Some(9), delayed_ns: Some(4), ..TurnSeen::default() };
        let before = lines(waits);
        assert!(before[0].ends_with(",cold_above,conduct"), "{}", before[0]);
        let known = lines(TurnSeen { preemptions: Some(2), steal_ns: Some(0), ..waits });
        let expected = "turn_wall_ns,delayed_ns,lab_delayed_ns,preemptions,steal_ns";
        assert!(known[0].contains(expected), "{}", known[0]);
        assert_eq!(known[1], format!("{},9,4,,2,0,,,,,", before[1]));
    }
}
