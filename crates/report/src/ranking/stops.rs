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
    /// The number of trials that stopped for each reason, in one line; `None` if the record holds
    /// no reasons.
    pub fn stops_line(&self) -> Option<String> {
        let part = |(reason, rows): (StopReason, Vec<StoppedRow>)| {
            format!(
                "{} {}{}",
                words::plural(rows.len(), "trial"),
                self.reason_words(reason),
                rounds_words(&rows)
            )
        };
        let parts: Vec<String> = self.stops_by_reason().map(part).collect();
        (!parts.is_empty()).then(|| format!("stopped: {}", parts.join("; ")))
    }

    /// The trials that stopped for each reason, one line for each reason.
    pub fn stops_by_trial(&self) -> Vec<String> {
        let line = |(reason, rows): (StopReason, Vec<StoppedRow>)| {
            let names: Vec<String> =
                rows.iter().map(|(row, n)| format!("{} ({n})", row.short_name)).collect();
            format!("stopped {} (rounds in parentheses): {}", self.reason_words(reason), names.join(", "))
        };
        self.stops_by_reason().map(line).collect()
    }

    /// A sentence that the one remaining trial is the fastest, or slower than the fastest by at
    /// most the indifference zone; `None` without a zone, and if several trials remain.
    pub fn indifference_promise(&self) -> Option<String> {
        let (condition, name) = (self.full_condition(), &self.trial_left()?.name);
        let zone = self.indifference_percent();
        Some(format!("{condition}: of those read, {name} is the fastest, or within {zone} % of it"))
    }

    /// The only trial that may be the fastest within the indifference zone: the trial for which the
    /// run decided the race, or, if the run ended earlier, the only one that is not behind another
    /// by the readings. `None` without a zone, and if several trials remain.
    fn trial_left(&self) -> Option<&RankingRow> {
        if self.indifference_share <= 0.0 || self.rows.len() < 2 {
            return None;
        }
        let stopped_for = |row: &RankingRow, reason| row.stopped.is_some_and(|it| it.why == reason);
        let decided = self.rows.iter().find(|row| stopped_for(row, StopReason::Decided));
        decided.or_else(|| {
            let running = self.rows.iter().filter(|row| !stopped_for(row, StopReason::NotFirst));
            let running: Vec<TrialIndex> = running.map(|row| row.index).collect();
            match self.noise.trials_not_behind(&running, Indifference::within(self.indifference_share))[..] {
                [one] => self.row(one),
                _ => None,
            }
        })
    }

    fn indifference_percent(&self) -> f64 {
        (self.indifference_share * 1000.0).round() / 10.0
    }

    fn reason_words(&self, reason: StopReason) -> String {
        let word = match reason {
            StopReason::NotFirst => "not the fastest",
            StopReason::Decided if self.indifference_share > 0.0 => {
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

    fn stops_by_reason(&self) -> impl Iterator<Item = (StopReason, Vec<StoppedRow<'_>>)> {
        let rows_of = |reason: StopReason| {
            let stopped = self.rows.iter().filter_map(|row| Some((row, row.stopped?)));
            let rows: Vec<StoppedRow> =
                stopped.filter(|(_, it)| it.why == reason).map(|(row, it)| (row, it.rounds)).collect();
            (!rows.is_empty()).then_some((reason, rows))
        };
        REASONS.into_iter().filter_map(rows_of)
    }
}

/// A row with the number of rounds after which it stopped.
type StoppedRow<'a> = (&'a RankingRow, u32);

/// The number of rounds in words, such as ` after 2 to 5 rounds`.
fn rounds_words(rows: &[StoppedRow]) -> String {
    let rounds = || rows.iter().map(|(_, rounds)| *rounds);
    match rounds().min().zip(rounds().max()) {
        Some((first, last)) if first < last => format!(" after {first} to {last} rounds"),
        Some((first, _)) => format!(" after {}", words::plural(first as usize, "round")),
        None => String::new(),
    }
}
