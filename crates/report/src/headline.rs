//! The answer in short: what to use, how fast and how sure that is, what stops it, and the best way
//! of each language.

use super::advice::{Advice, Deed};
use super::answer::figure;
use super::groups;
use super::ranking::{Ranking, RankingRow};
use super::sweep::{Series, SweepView};
use super::words;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headline {
    /// The ranking: `Cold · newlines`.
    pub title: String,
    /// What to do with the trial; `None` where nothing is advised.
    pub deed: Option<Deed>,
    pub who: String,
    /// Its language; `None` for a sweep.
    pub language: Option<String>,
    /// Its rate, or its time where there is no rate.
    pub figure: String,
    /// The interval of the rate of a sweep, such as `[1.9 GB/s, 2.1 GB/s]`.
    pub sure: Option<String>,
    /// Its ratio to the baseline with the interval; empty where there is none.
    pub against: String,
    /// How many trials tie with it; that it is the only fastest one; why there is no rank.
    pub tie: String,
    /// What stops it, such as `memory 93 % of 21.1 GB/s`; empty where that was not judged.
    pub stops_at: String,
    /// The fastest of each language, in their order.
    pub languages: Vec<LanguageBest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageBest {
    pub language: String,
    pub name: String,
    pub short: String,
    pub figure: String,
    /// How many times as fast as the baseline it is; empty for the baseline.
    pub times: String,
}

impl Ranking {
    /// About the trial that is advised, else about the first; `None` when nothing was measured.
    pub fn advised_headline(&self, advice: Option<&Advice>) -> Option<Headline> {
        let advised = advice.and_then(|it| self.row(it.uses?));
        let used = advised.or(self.rows.first())?;
        Some(Headline {
            title: format!("{}{}", self.title(), self.distinction),
            deed: advice.filter(|it| it.uses == Some(used.index)).and_then(|it| it.deed),
            who: used.short.clone(),
            language: Some(used.language.clone()),
            figure: figure(used),
            sure: None,
            against: self.against(used),
            tie: self.tie_words(used),
            stops_at: stops_at(used),
            languages: self.best_of_languages(),
        })
    }

    fn against(&self, row: &RankingRow) -> String {
        match (&row.ratio, self.reference_row()) {
            (Some(ratio), Some(reference)) => format!("{} × {}", words::ratio(*ratio), reference.short),
            (None, Some(reference)) if reference.index == row.index && self.has_chosen_reference() => {
                "the reference itself".to_owned()
            }
            _ => String::new(),
        }
    }

    /// How sure it is that a trial is the fastest.
    fn tie_words(&self, row: &RankingRow) -> String {
        match (self.open_words(), self.tied()) {
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
            short: row.short.clone(),
            figure: figure(row),
            times: row.ratio.map_or_else(String::new, |it| format!("{} ×", words::factor(it.estimate))),
        };
        groups::firsts(&self.rows, |row| &row.language).into_iter().map(one).collect()
    }
}

/// The verdict in a few words, with the limit where a share of it is named.
fn stops_at(row: &RankingRow) -> String {
    let Some(diagnosis) = &row.diagnosis else { return String::new() };
    let text = diagnosis.stops_at();
    let limit = diagnosis.limit.as_ref().filter(|_| text.ends_with('%'));
    limit.map_or_else(|| text.clone(), |it| format!("{text} of {}", super::limits::shown(it, it.value)))
}

pub(super) fn sweep_headlines(view: &SweepView) -> Vec<Headline> {
    let headline = |series: &Series| {
        let (rate, ends) = series.rate()?;
        Some(Headline {
            title: match (series.is_write, series.known.cold_above.is_some()) {
                (true, _) => "Writes",
                (false, true) => "Reads · cold above a cache",
                (false, false) => "Reads",
            }
            .to_owned(),
            who: series.name.clone(),
            figure: rate.to_string(),
            sure: ends.map(|[low, high]| format!("[{low}, {high}]")),
            against: format!("median rate of the files {}", series.median_rate()),
            ..Headline::default()
        })
    };
    view.series.iter().filter_map(headline).collect()
}
