//! Why the trials of a ranking had no further rounds, and after how many.

use super::super::words;
use super::{Ranking, RankingRow};
use readlab_record::StopReason;
use std::collections::BTreeMap;

/// The reasons in the order in which they are told.
const REASONS: [StopReason; 6] = [
    StopReason::NotFirst,
    StopReason::Decided,
    StopReason::Precise,
    StopReason::MostReadings,
    StopReason::MostTime,
    StopReason::Budget,
];

impl Ranking {
    /// How many trials stopped for which reason, in one line; `None` where the record does not
    /// say.
    pub fn stops_line(&self) -> Option<String> {
        let part = |(reason, rows): (StopReason, Vec<&RankingRow>)| {
            format!("{} {}{}", words::plural(rows.len(), "trial"), self.word(reason), after(&rows))
        };
        let parts: Vec<String> = self.stops().into_iter().map(part).collect();
        (!parts.is_empty()).then(|| format!("stopped: {}", parts.join("; ")))
    }

    /// The trials that stopped for each reason, one line a reason.
    pub fn stops_by_trial(&self) -> Vec<String> {
        let line = |(reason, rows): (StopReason, Vec<&RankingRow>)| {
            let name = |row: &RankingRow| row.stopped.map(|it| format!("{} ({})", row.short, it.rounds));
            let names: Vec<String> = rows.into_iter().filter_map(name).collect();
            format!("stopped {}, after so many rounds: {}", self.word(reason), names.join(", "))
        };
        self.stops().into_iter().map(line).collect()
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

    fn stops(&self) -> Vec<(StopReason, Vec<&RankingRow>)> {
        let rows_of = |reason: StopReason| {
            let rows = self.rows.iter().filter(|row| row.stopped.is_some_and(|it| it.why == reason));
            (reason, rows.collect::<Vec<_>>())
        };
        REASONS.into_iter().map(rows_of).filter(|(_, rows)| !rows.is_empty()).collect()
    }
}

/// ` after 2 to 5 rounds`.
fn after(rows: &[&RankingRow]) -> String {
    let mut rounds: BTreeMap<u32, usize> = BTreeMap::new();
    rows.iter().filter_map(|row| row.stopped).for_each(|it| *rounds.entry(it.rounds).or_default() += 1);
    match (rounds.keys().next(), rounds.keys().next_back()) {
        (Some(first), Some(last)) if first < last => format!(" after {first} to {last} rounds"),
        (Some(&first), _) => format!(" after {}", words::plural(first as usize, "round")),
        _ => String::new(),
    }
}
