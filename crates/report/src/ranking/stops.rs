//! Why the trials of a ranking had no further rounds, and after how many.

use super::super::words;
use super::{Ranking, RankingRow};
use readlab_record::StopReason;

/// The reasons in the order in which they are listed.
const REASONS: [StopReason; 6] = [
    StopReason::NotFirst,
    StopReason::Decided,
    StopReason::Precise,
    StopReason::MostReadings,
    StopReason::MostTime,
    StopReason::Budget,
];

impl Ranking {
    /// How many trials stopped for each reason, in one line; `None` if the record holds no reasons.
    pub fn stops_line(&self) -> Option<String> {
        let part = |(reason, rows): (StopReason, Vec<Stop>)| {
            format!("{} {}{}", words::plural(rows.len(), "trial"), self.word(reason), rounds_words(&rows))
        };
        let parts: Vec<String> = self.stops().map(part).collect();
        (!parts.is_empty()).then(|| format!("stopped: {}", parts.join("; ")))
    }

    /// The trials that stopped for each reason, one line for each reason.
    pub fn stops_by_trial(&self) -> Vec<String> {
        let line = |(reason, rows): (StopReason, Vec<Stop>)| {
            let names: Vec<String> = rows.iter().map(|(row, n)| format!("{} ({n})", row.short)).collect();
            format!("stopped {} (rounds in parentheses): {}", self.word(reason), names.join(", "))
        };
        self.stops().map(line).collect()
    }

    fn word(&self, reason: StopReason) -> String {
        let word = match reason {
            StopReason::NotFirst => "not the fastest",
            StopReason::Decided if self.indifference > 0.0 => {
                let percent = (self.indifference * 1000.0).round() / 10.0;
                return format!("with one left, the fastest or within {percent} % of it");
            }
            StopReason::Decided => "when the fastest was known, or tied",
            StopReason::Precise => "precise enough",
            StopReason::MostReadings => "with all requested readings",
            StopReason::MostTime => "with its time used up",
            StopReason::Budget => "when the time of the run was used up",
        };
        word.to_owned()
    }

    fn stops(&self) -> impl Iterator<Item = (StopReason, Vec<Stop<'_>>)> {
        let rows_of = |reason: StopReason| {
            let stopped = self.rows.iter().filter_map(|row| Some((row, row.stopped?)));
            let rows: Vec<Stop> =
                stopped.filter(|(_, it)| it.why == reason).map(|(row, it)| (row, it.rounds)).collect();
            (!rows.is_empty()).then_some((reason, rows))
        };
        REASONS.into_iter().filter_map(rows_of)
    }
}

/// A row with the number of rounds after which it stopped.
type Stop<'a> = (&'a RankingRow, u32);

/// The number of rounds in words, such as ` after 2 to 5 rounds`.
fn rounds_words(rows: &[Stop]) -> String {
    let rounds = || rows.iter().map(|(_, rounds)| *rounds);
    match rounds().min().zip(rounds().max()) {
        Some((first, last)) if first < last => format!(" after {first} to {last} rounds"),
        Some((first, _)) => format!(" after {}", words::plural(first as usize, "round")),
        None => String::new(),
    }
}
