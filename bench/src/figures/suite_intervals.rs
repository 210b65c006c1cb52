//! Figure: the suite `byte-stream` by its defaults: how long it takes, how wide the intervals of
//! its ratios are, and whether one disturbed round of one trial widens the intervals of the others.
//!
//! A round is disturbed afterwards: in copies of the record, the readings of a trial in one round
//! are ten times as long, and the copy is ranked again. Every round of the references is disturbed
//! so, and one round of every other trial. An older readlab (`--before`) runs the suite too.

use crate::export::{Export, ExportedTrial, half_width};
use crate::lab::Lab;
use crate::pairs;
use crate::programs::Programs;
use crate::record_lines::RecordLines;
use crate::row::Row;
use crate::running::Running;
use readlab_model::trial::TrialIndex;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

pub(super) const ABOUT: &str =
    "suite-intervals: `suite byte-stream`: time, width of its ratios, and what one disturbed round does";

const SUITE: &str = "byte-stream";
const TIME_S: f64 = 480.0;
const HALF_WIDTH: f64 = 0.10;
/// How many times as long a disturbed reading is, and as wide another interval may be.
const TIMES: u64 = 10;
const WIDER: f64 = 4.0 / 3.0;

/// The largest factor by which intervals of others were wider, and where.
#[derive(Debug, Clone, PartialEq)]
struct Widest {
    factor: f64,
    place: String,
    disturbances: usize,
}

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for lab in programs.labs() {
        let found = of_lab(programs, lab).unwrap_or_else(|error| vec![Row::failed(SUITE, &error)]);
        rows.extend(found.into_iter().map(|row| row.for_revision(lab.revision)));
    }
    Ok(rows)
}

fn of_lab(programs: &Programs, lab: &Lab) -> anyhow::Result<Vec<Row>> {
    lab.build()?;
    let folder = programs.empty_folder(&format!("suite-intervals-{}", lab.revision.word()))?;
    let mut command = lab.command("suite");
    command.args([SUITE, "--quiet", "--output"]).arg(&folder);
    let start = Instant::now();
    let record = Running::start(command, &folder)?.finished()?;
    let seconds = start.elapsed().as_secs_f64();
    let words = format!("{seconds:.0} s");
    let mut rows = vec![Row::judged("time", "at most 8 min", seconds, seconds <= TIME_S, words)];
    match of_record(lab, &record) {
        Ok(of_record) => rows.extend(of_record),
        Err(error) => rows.push(Row::failed("intervals", &error)),
    }
    Ok(rows)
}

fn of_record(lab: &Lab, record: &Path) -> anyhow::Result<Vec<Row>> {
    let (lines, export) = (RecordLines::read(record)?, lab.export(record)?);
    let compared: Vec<&ExportedTrial> = export.measured().filter(|trial| trial.ratio.is_some()).collect();
    // A ratio without an interval is as uncertain as can be.
    let widths = compared.iter().map(|trial| trial.interval().map_or(f64::INFINITY, half_width));
    let width = pairs::median(&widths.collect::<Vec<f64>>());
    let words = format!("±{:.1} %, median of {} ratios", width * 100.0, compared.len());
    let mut rows =
        vec![Row::judged("half-width of ratios", "at most ±10 %", width, width <= HALF_WIDTH, words)];
    let references: BTreeSet<TrialIndex> =
        compared.iter().filter_map(|trial| export.reference_of(trial)).map(|trial| trial.index).collect();
    let others: BTreeSet<TrialIndex> = compared.iter().map(|trial| trial.index).collect();
    for (what, trials, one_round) in [("a reference", &references, false), ("another trial", &others, true)] {
        let copy = Copies { lab, export: &export, lines: &lines, record };
        let widest = copy.disturb(trials, one_round)?;
        let words =
            format!("{:.2} times, {}; {} disturbances", widest.factor, widest.place, widest.disturbances);
        let figure = format!("one disturbed round of {what}: widest other interval");
        let target = "at most a third wider";
        rows.push(Row::judged(figure, target, widest.factor, widest.factor <= WIDER, words));
    }
    Ok(rows)
}

/// A record that is ranked again with one disturbance at a time.
struct Copies<'a> {
    lab: &'a Lab,
    export: &'a Export,
    lines: &'a RecordLines,
    record: &'a Path,
}

impl Copies<'_> {
    /// Disturbs these trials, in their middle round or in each.
    fn disturb(&self, trials: &BTreeSet<TrialIndex>, one_round: bool) -> anyhow::Result<Widest> {
        let folder = self.record.with_file_name("disturbed");
        std::fs::create_dir_all(&folder)?;
        let copy = folder.join("record.jsonl");
        let mut widest = Widest { factor: 1.0, place: "none was wider".to_owned(), disturbances: 0 };
        for &trial in trials {
            let rounds: Vec<u32> = self.lines.rounds(trial)?.into_iter().collect();
            let disturbed = if one_round { &rounds[rounds.len() / 2..][..1] } else { &rounds };
            for &round in disturbed {
                self.lines.disturbed(trial, round, TIMES)?.write(&copy)?;
                widest.compare(self.export, &self.lab.export(&copy)?, trial);
                widest.disturbances += 1;
            }
        }
        Ok(widest)
    }
}

impl Widest {
    /// Takes in how much wider the intervals of the other trials are.
    fn compare(&mut self, before: &Export, after: &Export, disturbed: TrialIndex) {
        let others = before.measured().filter(|trial| trial.index != disturbed);
        for (trial, ends) in others.filter_map(|trial| Some((trial, trial.interval()?))) {
            let after =
                after.trials.iter().find(|it| it.index == trial.index).and_then(ExportedTrial::interval);
            let width = |ends| half_width(ends).ln_1p();
            // An interval that is lost is as wide as can be.
            let factor = after.map_or(f64::INFINITY, |after| width(after) / width(ends));
            if factor > self.factor {
                (self.factor, self.place) = (factor, format!("of {}", trial.id));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An export of these intervals of the trials 0, 1, 2, …
    fn export(intervals: &[Option<[f64; 2]>]) -> Export {
        let trial = |(index, ci95): (usize, &Option<[f64; 2]>)| {
            json!({ "index": index, "id": format!("t/{index}"), "state": "warm", "target": "/f", "work": "sum",
                "decodes": null, "cache": "through", "summary": {}, "rank": { "place": 1, "standing": "tied" },
                "ratio": { "reference": "t/9", "estimate": 1.0, "ci95": ci95 } })
        };
        let trials: Vec<_> = intervals.iter().enumerate().map(trial).collect();
        Export::parse(json!({ "trials": trials }).to_string().as_bytes()).unwrap()
    }

    #[test]
    fn only_others_count_and_by_the_factor_of_their_width() {
        let before = export(&[Some([1.0 / 1.1, 1.1]), Some([1.0 / 1.1, 1.1]), None]);
        let after = export(&[Some([0.1, 10.0]), Some([1.0 / 1.21, 1.21]), None]);
        let mut widest = Widest { factor: 1.0, place: String::new(), disturbances: 0 };
        widest.compare(&before, &after, TrialIndex::new(0));
        assert!((widest.factor - 2.0).abs() < 1e-9 && widest.place == "of t/1", "{widest:?}");
        widest.compare(&before, &export(&[Some([0.9, 1.1]), None, None]), TrialIndex::new(0));
        assert_eq!(widest.factor, f64::INFINITY);
    }
}
