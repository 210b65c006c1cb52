//! Why the trials of a ranking had no further rounds, and after how many.

use super::super::words;
use super::{Ranking, RankingRow};
use readlab_analysis::stats::Indifference;
use readlab_model::trial::TrialIndex;
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

    /// What the indifference zone promises of the one trial that is left; `None` without a zone, and
    /// if several trials are left.
    pub fn promise(&self) -> Option<String> {
        let (condition, name) = (self.full_condition(), &self.left()?.name);
        let zone = self.indifference_percent();
        Some(format!("{condition}: of those read, {name} is the fastest, or within {zone} % of it"))
    }

    /// The trial that is left by the indifference zone: the run found that the race is decided, or,
    /// if the run ended before that, all other trials are behind by the readings.
    fn left(&self) -> Option<&RankingRow> {
        if self.indifference <= 0.0 || self.rows.len() < 2 {
            return None;
        }
        let stopped_for = |row: &RankingRow, reason| row.stopped.is_some_and(|it| it.why == reason);
        let decided = self.rows.iter().find(|row| stopped_for(row, StopReason::Decided));
        decided.or_else(|| {
            let running = self.rows.iter().filter(|row| !stopped_for(row, StopReason::NotFirst));
            let running: Vec<TrialIndex> = running.map(|row| row.index).collect();
            match self.noise.not_behind(&running, Indifference::within(self.indifference))[..] {
                [one] => self.row(one),
                _ => None,
            }
        })
    }

    fn indifference_percent(&self) -> f64 {
        (self.indifference * 1000.0).round() / 10.0
    }

    fn word(&self, reason: StopReason) -> String {
        let word = match reason {
            StopReason::NotFirst => "not the fastest",
            StopReason::Decided if self.indifference > 0.0 => {
                let zone = self.indifference_percent();
                return format!("with one left, the fastest or within {zone} % of it");
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
