//! The list of a user's records: for each its names, date, run, target, and fastest trial.

use super::grid::{Grid, left_cell};
use super::words::{NONE, utc_time_text};
use readlab_analysis::stats::{self, Observation};
use readlab_model::units::Nanos;
use readlab_record::{Record, TrialRecord};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryLine {
    cells: [String; 6],
}

impl HistoryLine {
    pub fn from_record(names: Vec<String>, record: &Record, folder: &str) -> HistoryLine {
        let mut paths = record.targets.iter().map(|facts| &facts.path);
        let target = match (paths.next(), paths.len()) {
            (None, _) => NONE.to_owned(),
            (Some(only), 0) => only.clone(),
            (Some(first), others) => format!("{first} and {others} more"),
        };
        let fastest = fastest_words(record).unwrap_or_else(|| NONE.to_owned());
        let header = &record.header;
        let when = utc_time_text(&header.started);
        HistoryLine {
            cells: [names.join(", "), when, header.kind.to_string(), target, fastest, folder.to_owned()],
        }
    }

    /// The line of a record that cannot be read. `why` is the error, which names the file.
    pub fn unreadable(names: Vec<String>, why: &str) -> HistoryLine {
        let none = || NONE.to_owned();
        HistoryLine { cells: [names.join(", "), none(), none(), none(), none(), why.to_owned()] }
    }
}

pub fn history_table(lines: &[HistoryLine], width: u16) -> String {
    if lines.is_empty() {
        return "no records\n".to_owned();
    }
    let mut grid = Grid::new(["name", "when", "verb", "target", "fastest", "folder"].map(left_cell), false);
    for line in lines {
        grid.add_row(line.cells.iter().map(|cell| left_cell(cell)));
    }
    grid.lines_within(width).into_iter().map(|line| line + "\n").collect()
}

/// The measured trial with the smallest median time, controls excluded; `None` if no trial was
/// measured.
fn fastest_words(record: &Record) -> Option<String> {
    let raced = record.trials.iter().filter(|it| !it.trial.is_control() && it.is_measured());
    let median =
        |it: &TrialRecord| stats::median(it.samples.iter().map(|sample| Observation::from(sample).value));
    let all = raced.filter_map(|it| Some((median(it)?, &it.trial)));
    let (wall, trial) = all.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("{} {} ({})", trial.id, Nanos::from_secs_f64(wall / 1e9), trial.state))
}
