//! Every pair of trials of a record by a readlab's own analysis: it ranks the record once with each
//! trial as the reference. From that follow the share of pairs that it tells apart, and how sure
//! the first rank is.

use crate::export::{Export, ExportedTrial, RankingKey, Standing, half_width};
use crate::lab::Lab;
use crate::record_lines::RecordLines;
use crate::share::Share;
use anyhow::Context;
use readlab_analysis::stats::{Interval, Significance};
use readlab_model::trial::TrialIndex;
use std::collections::BTreeSet;
use std::path::Path;

/// The pairs of a record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pairwise {
    export: Export,
    pairs: Vec<Pair>,
}

/// Two trials of one ranking.
#[derive(Debug, Clone, PartialEq)]
struct Pair {
    ranking: RankingKey,
    /// Numbers of the trials, the lower first.
    trials: [TrialIndex; 2],
    /// Of the ratio of one to the other, whichever was the reference.
    ci95: Option<Interval>,
}

/// How sure it is which trial is the fastest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FirstRank {
    /// Every other trial is shown to be slower.
    Decided,
    /// So many tie with the first; half the width of their ratios to it, of the least certain one.
    Tied { others: usize, half_width: f64 },
    /// There are too few rounds to say.
    Undecided,
}

impl Pairwise {
    /// Analyses a record. Copies of it are made in a folder beside it.
    pub(crate) fn compare(lab: &Lab, record: &Path) -> anyhow::Result<Pairwise> {
        let folder = record.with_file_name("references");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let (copy, lines) = (folder.join("record.jsonl"), RecordLines::read(record)?);
        let export = lab.export(record)?;
        let names: BTreeSet<&str> = export.measured().map(|trial| trial.id.as_str()).collect();
        let mut pairs = Vec::new();
        for name in names {
            lines.with_reference(name)?.write(&copy)?;
            pairs.extend(pairs_with(&lab.export(&copy)?, name));
        }
        Ok(Pairwise { export, pairs })
    }

    /// The states of the cache.
    pub(crate) fn states(&self) -> BTreeSet<&str> {
        self.export.measured().map(|trial| trial.ranking.state.as_str()).collect()
    }

    /// How many of the pairs of a state are shown to differ.
    pub(crate) fn told_apart(&self, state: &str) -> Share {
        let pairs = self.pairs.iter().filter(|pair| pair.ranking.state == state);
        let differs = |ci95| Significance::from_interval(ci95) != Significance::Tie;
        pairs.map(|pair| pair.ci95.is_some_and(differs)).collect()
    }

    /// How sure the first rank of a state is.
    pub(crate) fn first_rank(&self, state: &str) -> FirstRank {
        let of_state = |trial: &&ExportedTrial| trial.ranking.state == state;
        let (first, others): (Vec<_>, Vec<_>) = (self.export.measured().filter(of_state))
            .filter_map(|trial| {
                trial.rank.as_ref().filter(|rank| rank.place == 1).map(|rank| (trial.index, rank.standing))
            })
            .partition(|(_, standing)| *standing == Standing::First);
        let Some(&(leader, _)) = first.first() else { return FirstRank::Undecided };
        let widths: Option<Vec<f64>> =
            others.iter().map(|&(other, _)| self.half_width([leader, other])).collect();
        match widths {
            None => FirstRank::Undecided,
            Some(widths) if widths.is_empty() => FirstRank::Decided,
            Some(widths) => {
                FirstRank::Tied { others: widths.len(), half_width: widths.into_iter().fold(0.0, f64::max) }
            }
        }
    }

    fn half_width(&self, trials: [TrialIndex; 2]) -> Option<f64> {
        let trials = [trials[0].min(trials[1]), trials[0].max(trials[1])];
        let pair = self.pairs.iter().find(|pair| pair.trials == trials)?;
        pair.ci95.map(half_width)
    }
}

impl FirstRank {
    /// Half the width of the interval that is left: none if it is decided.
    pub(crate) fn half_width(self) -> f64 {
        match self {
            FirstRank::Decided => 0.0,
            FirstRank::Tied { half_width, .. } => half_width,
            FirstRank::Undecided => f64::INFINITY,
        }
    }

    pub(crate) fn words(self) -> String {
        match self {
            FirstRank::Decided => "decided".to_owned(),
            FirstRank::Tied { others, half_width } => {
                format!("{others} tied at ±{:.1} %", half_width * 100.0)
            }
            FirstRank::Undecided => "undecided".to_owned(),
        }
    }
}

/// The pairs of a reference with the trials after it.
fn pairs_with(export: &Export, name: &str) -> Vec<Pair> {
    let of_name = |trial: &&ExportedTrial| trial.id == name;
    let references = export.measured().filter(of_name);
    references
        .flat_map(|reference| {
            let others =
                export.measured().filter(|it| it.ranking == reference.ranking && it.index > reference.index);
            others.map(|it| Pair {
                ranking: it.ranking.clone(),
                trials: [reference.index, it.index],
                ci95: it.interval_against(name),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An export of these trials: name, place, standing, and the interval of the ratio to this
    /// reference.
    fn export(reference: &str, trials: &[(&str, usize, &str, Option<[f64; 2]>)]) -> Export {
        let trials: Vec<_> = trials
            .iter()
            .enumerate()
            .map(|(index, (id, place, standing, ci95))| {
                json!({ "index": index, "id": id, "state": "warm", "target": "/f", "work": "newlines", "decodes": null, "cache": "through", "summary": {},
                    "rank": { "place": place, "standing": standing },
                    "ratio": (*id != reference).then(|| json!({ "reference": reference, "estimate": 1.0, "ci95": ci95 })) })
            })
            .collect();
        Export::parse(json!({ "trials": trials }).to_string().as_bytes()).unwrap()
    }

    /// Three trials: the intervals of b and c to a, and of c to b; the standing of b.
    fn three(b: Option<[f64; 2]>, c: Option<[f64; 2]>, c_to_b: Option<[f64; 2]>, standing: &str) -> Pairwise {
        let place = if standing == "first" { 2 } else { 1 };
        let trials = |b, c| [("b", place, standing, b), ("a", 1, "first", None), ("c", 3, "first", c)];
        let to_a = export("a", &trials(b, c));
        let to_b = export("b", &trials(None, c_to_b));
        let pairs = pairs_with(&to_a, "a").into_iter().chain(pairs_with(&to_b, "b")).collect();
        Pairwise { export: to_a, pairs }
    }

    #[test]
    fn every_pair_counts_once_and_is_apart_if_its_interval_excludes_one() {
        // Of b and a, only the ratio of a to b comes with a reference of a lower number.
        let found = three(Some([0.9, 1.1]), Some([0.4, 0.5]), Some([0.5, 1.2]), "tied");
        assert_eq!(found.pairs.len(), 3);
        assert_eq!(found.told_apart("warm").words(), "1 of 3 (33 %)");
        assert_eq!(found.told_apart("cold"), Share::default());
    }

    #[test]
    fn the_first_rank_is_as_sure_as_the_widest_tie() {
        let of = |b, standing| three(b, Some([0.4, 0.5]), None, standing).first_rank("warm");
        assert_eq!(of(Some([0.5, 0.6]), "first"), FirstRank::Decided);
        assert_eq!(of(None, "undecided"), FirstRank::Undecided);
        assert_eq!(of(None, "undecided").half_width(), f64::INFINITY);
    }

    #[test]
    fn a_tie_is_as_wide_as_the_interval_of_the_two() {
        let tied = [("a", 1, "first", None), ("b", 1, "tied", Some([1.0 / 1.04, 1.04]))];
        let export = export("a", &tied);
        let found = Pairwise { pairs: pairs_with(&export, "a"), export };
        let FirstRank::Tied { others: 1, half_width } = found.first_rank("warm") else { panic!("{found:?}") };
        assert!((half_width - 0.04).abs() < 1e-9);
        assert_eq!(found.first_rank("warm").words(), "1 tied at ±4.0 %");
    }
}
