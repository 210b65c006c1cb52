//! Figure: which differences a race detects. Ten readers, identical except for a known share of
//! added time, race against each other. The figure shows how often readers slower by 5, 10 and 20 %
//! are detected as slower, and how often equal ones are. The detectable difference depends on the
//! machine's noise, which the half-width of ratios between equal readers shows.

use crate::pairs;
use crate::pairwise::{ExportedTrial, RecordExport, half_width};
use crate::programs::{Lab, Programs, Race};
use crate::row::{Row, Share};
use readlab_analysis::stats::Significance;
use readlab_model::trial::CacheState;
use readlab_model::units::Bytes;

pub(super) const ABOUT: &str =
    "differences seen in races of 60 s by ten readers, some slower by a known share, warm, 64 MiB";

const FILE_SIZE: Bytes = Bytes(64 << 20);
const RACES: usize = 5;
const BUDGET: &str = "60s";

/// Readers that are slower by the same share.
struct SlownessLevel {
    added_percent: u64,
    readers: usize,
    /// The share of comparisons that must detect the difference; `None` without a promise.
    detected_min: Option<f64>,
}

/// The slower readers. One more reader without added time is the reference.
const SLOWNESS_LEVELS: [SlownessLevel; 4] = [
    SlownessLevel { added_percent: 0, readers: 3, detected_min: None },
    SlownessLevel { added_percent: 5, readers: 2, detected_min: Some(0.5) },
    SlownessLevel { added_percent: 10, readers: 2, detected_min: Some(0.8) },
    SlownessLevel { added_percent: 20, readers: 2, detected_min: None },
];
const FALSE_ALARM_SHARE_MAX: f64 = 0.05;

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let (file, roster) = (programs.lines(FILE_SIZE)?, programs.slowed_roster()?);
    let reference = reader_name(0, 0);
    let names = SLOWNESS_LEVELS
        .iter()
        .flat_map(|level| (1..=level.readers).map(|copy| reader_name(level.added_percent, copy)));
    let names: Vec<String> = [reference.clone()].into_iter().chain(names).collect();
    let exports = programs.in_turns(programs.repeats(RACES), |lab, seed| {
        let seed = seed.to_string();
        let mut options = vec!["--seed", &seed, "--roster", &roster, "--budget", BUDGET];
        options.extend(["--reference", &reference]);
        options.extend(names.iter().flat_map(|name| ["--method", name.as_str()]));
        let state = Some(CacheState::Warm);
        let race = Race { name: "power", trials: &[], file: &file, state, options: &options };
        lab.export(&programs.start_with(lab, &race)?.finish()?)
    })?;
    let of_lab = |(lab, exports): &(&Lab, Vec<RecordExport>)| {
        let revision = lab.revision;
        rows(exports).into_iter().map(move |row| row.for_revision(revision))
    };
    Ok(exports.iter().flat_map(of_lab).collect())
}

fn rows(exports: &[RecordExport]) -> Vec<Row> {
    let mut rows: Vec<Row> = SLOWNESS_LEVELS.iter().map(|level| level.row(exports)).collect();
    let widths =
        SLOWNESS_LEVELS[0].compared_trials(exports).filter_map(|trial| trial.interval()).map(half_width);
    let width = pairs::median(widths);
    let words = format!("±{:.1} %, median of ratios between equal readers", width * 100.0);
    rows.push(Row::unjudged("half-width on this machine", width, words));
    rows
}

fn reader_name(added_percent: u64, copy: usize) -> String {
    format!("slowed/busy@added_percent={added_percent},copy={copy}")
}

impl SlownessLevel {
    /// The readers of this level in all races that compared them with the reference.
    fn compared_trials<'a>(&self, exports: &'a [RecordExport]) -> impl Iterator<Item = &'a ExportedTrial> {
        let names: Vec<String> =
            (1..=self.readers).map(|copy| reader_name(self.added_percent, copy)).collect();
        exports.iter().flat_map(RecordExport::measured).filter(move |trial| names.contains(&trial.id))
    }

    fn row(&self, exports: &[RecordExport]) -> Row {
        let shown = |what: &[Significance]| -> Share {
            let is_shown = |it: &ExportedTrial| it.significance().is_some_and(|found| what.contains(&found));
            self.compared_trials(exports).map(is_shown).collect()
        };
        let (slower, faster) = (shown(&[Significance::Slower]), shown(&[Significance::Faster]));
        if self.added_percent == 0 {
            let different = shown(&[Significance::Slower, Significance::Faster]);
            return different.row_at_most("equal readers called different", FALSE_ALARM_SHARE_MAX);
        }
        let figure = format!("+{} % seen as slower", self.added_percent);
        let row = match self.detected_min {
            Some(least) => slower.row_at_least(figure, least),
            None => slower.unjudged_row(figure),
        };
        row.and(&format!("; as faster: {}", faster.words()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairwise::tests::export;

    /// An export with the intervals of these readers' ratios to the reference.
    fn export_of_readers(readers: &[(u64, usize, [f64; 2])]) -> RecordExport {
        let names: Vec<String> = readers.iter().map(|(added, copy, _)| reader_name(*added, *copy)).collect();
        let trials =
            names.iter().zip(readers).map(|(name, (_, _, ci95))| (name.as_str(), 1, "tied", Some(*ci95)));
        export(&reader_name(0, 0), &trials.collect::<Vec<_>>())
    }

    #[test]
    fn only_an_interval_on_the_right_side_of_one_detects_a_difference() {
        let exports = [
            export_of_readers(&[(5, 1, [0.93, 0.97]), (5, 2, [0.94, 1.01]), (0, 1, [0.99, 1.01])]),
            export_of_readers(&[(5, 1, [1.01, 1.04]), (0, 1, [1.01, 1.02]), (0, 2, [0.97, 0.99])]),
        ];
        let five = SLOWNESS_LEVELS[1].row(&exports);
        assert_eq!(
            (five.ok, five.measured.as_str()),
            (Some(false), "1 of 3 (33 %); as faster: 1 of 3 (33 %)")
        );
        let equal = SLOWNESS_LEVELS[0].row(&exports);
        assert_eq!((equal.ok, equal.measured.as_str()), (Some(false), "2 of 3 (67 %)"));
    }
}
