//! A short answer for each ranking: the trial to use, its rate, how certain it is that no other
//! trial is faster, the limit of the trial, and the best method of each language.

use super::advice::{Advice, AdvisedAction};
use super::answer::rate_or_time_words;
use super::groups;
use super::ranking::{Ranking, RankingRow};
use super::sweep::{Series, SweepView};
use super::words;
use readlab_analysis::stats::Interval;
use readlab_model::units::Throughput;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headline {
    /// The title of the ranking, such as `Cold · newlines`.
    pub title: String,
    /// Whether to keep or to use the trial; `None` where nothing is advised.
    pub action: Option<AdvisedAction>,
    /// The short name of the trial, or the name of the series.
    pub trial: String,
    /// The language of the trial; `None` for a sweep.
    pub language: Option<String>,
    /// The rate of the trial, or its time if there is no rate.
    pub rate_or_time: String,
    /// The interval of the rate of a sweep, such as `[1.9 GB/s, 2.1 GB/s]`.
    pub interval_words: Option<String>,
    /// The ratio of the trial to the baseline, with the interval; empty without a ratio. For a
    /// sweep, the median rate of the files.
    pub ratio_words: String,
    /// A phrase: the number of trials that tie with the fastest, `clearly the fastest`, or why the
    /// trial has no rank; empty if only one trial was measured.
    pub certainty: String,
    /// The limit of the trial, such as `memory 93 % of 21.1 GB/s`; empty without a verdict.
    pub stops_at: String,
    /// The fastest trial of each language, ordered by speed.
    pub languages: Vec<LanguageBest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageBest {
    pub language: String,
    pub name: String,
    pub short_name: String,
    pub rate_or_time: String,
    /// The speed of the trial divided by that of the baseline, such as `3.2 ×`; empty for the
    /// baseline.
    pub ratio_words: String,
}

impl Ranking {
    /// The headline of the advised trial; without advice, of the trial with the lowest median.
    /// `None` if no ranked trial was measured.
    pub fn advised_headline(&self, advice: Option<&Advice>) -> Option<Headline> {
        let advised = advice.and_then(|it| self.row(it.advised_trial?));
        let used = advised.or(self.rows.first())?;
        Some(Headline {
            title: format!("{}{}", self.title(), self.distinction),
            action: advice.filter(|it| it.advised_trial == Some(used.index)).and_then(|it| it.action),
            trial: used.short_name.clone(),
            language: Some(used.language.clone()),
            rate_or_time: rate_or_time_words(used),
            interval_words: None,
            ratio_words: self.ratio_words(used),
            certainty: self.tie_words(used),
            stops_at: stops_at_words(used),
            languages: self.best_of_languages(),
        })
    }

    fn ratio_words(&self, row: &RankingRow) -> String {
        match (&row.ratio_to_reference, self.reference_row()) {
            (Some(ratio), Some(reference)) => {
                format!("{} × {}", words::ratio_words_with_tie(*ratio), reference.short_name)
            }
            (None, Some(reference)) if reference.index == row.index && self.has_chosen_reference() => {
                "the reference itself".to_owned()
            }
            _ => String::new(),
        }
    }

    /// The certainty that a trial is the fastest, in words.
    fn tie_words(&self, row: &RankingRow) -> String {
        match (self.unranked_words(), self.tied_count()) {
            _ if self.rows.len() == 1 => String::new(),
            (Some(open), _) => open,
            _ if !row.is_first() => "not the fastest; the advice says why".to_owned(),
            (None, 0) => "clearly the fastest".to_owned(),
            (None, tied) => format!("tied with {tied} more for the fastest"),
        }
    }

    fn best_of_languages(&self) -> Vec<LanguageBest> {
        let one = |row: &RankingRow| LanguageBest {
            language: row.language.clone(),
            name: row.name.clone(),
            short_name: row.short_name.clone(),
            rate_or_time: rate_or_time_words(row),
            ratio_words: row
                .ratio_to_reference
                .map_or_else(String::new, |it| format!("{} ×", words::factor(it.estimate))),
        };
        groups::firsts(&self.rows, |row| &row.language).into_iter().map(one).collect()
    }
}

/// The verdict in a few words. If it is a share of a limit, the value of the limit follows.
fn stops_at_words(row: &RankingRow) -> String {
    let Some(diagnosis) = &row.diagnosis else { return String::new() };
    let text = diagnosis.short_cause();
    let limit = diagnosis.limit.as_ref().filter(|_| text.ends_with('%'));
    limit.map_or_else(|| text.clone(), |it| format!("{text} of {}", super::limits::value_text(it, it.value)))
}

pub(super) fn sweep_headlines(view: &SweepView) -> Vec<Headline> {
    let headline = |series: &Series| {
        let (rate, ends) = series.rate()?;
        Some(Headline {
            title: match (series.is_write, series.facts.cold_above.is_some()) {
                (true, _) => "Writes",
                (false, true) => "Reads · cold above a cache",
                (false, false) => "Reads",
            }
            .to_owned(),
            trial: series.name.clone(),
            rate_or_time: rate.to_string(),
            interval_words: ends.map(|[low, high]| {
                let ends = Interval { low: low.0, high: high.0 };
                words::ends_text(ends, |rate| Throughput(rate).to_string()).trim_start().to_owned()
            }),
            ratio_words: format!("median rate of the files {}", series.median_rate()),
            ..Headline::default()
        })
    };
    view.series.iter().filter_map(headline).collect()
}
