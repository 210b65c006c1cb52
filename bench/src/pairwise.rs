//! The findings of a readlab about a record, from the JSON export of its own analysis. Only fields
//! that every revision writes are used. The record is ranked once with each trial as the reference.
//! From these rankings follow the share of pairs that are distinguished, and how certain the first
//! rank is.

use crate::programs::Lab;
use crate::row::Share;
use anyhow::Context;
use readlab_analysis::stats::{Interval, Significance};
use readlab_model::trial::TrialIndex;
use readlab_record::ReferenceReason;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct RecordExport {
    trials: Vec<ExportedTrial>,
    #[serde(default)]
    advice: Vec<ExportedAdvice>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ExportedTrial {
    pub(crate) index: TrialIndex,
    pub(crate) id: String,
    #[serde(flatten)]
    ranking: RankingKey,
    cache: String,
    summary: Option<IgnoredAny>,
    /// The rank; `None` for a control, and with too few rounds.
    rank: Option<ExportedRank>,
    ratio: Option<ExportedRatio>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct RankingKey {
    state: String,
    target: Option<String>,
    work: String,
    decodes: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ExportedRank {
    /// The rank from 1. Tied trials share it.
    place: usize,
    /// How the trial compares with the first of its rank: `first`, `tied`, or with too few rounds
    /// `undecided`.
    standing: String,
}

/// A ratio to the reference. Above 1, the trial is faster.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ExportedRatio {
    reference: String,
    ci95: Option<[f64; 2]>,
}

/// The advice about one ranking. An older readlab may not give it by language.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ExportedAdvice {
    #[serde(default)]
    state: String,
    #[serde(default)]
    by_language: Vec<ExportedLanguage>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ExportedLanguage {
    usual_is: Option<ExportedUsualWay>,
    /// How many times as fast as the usual method the best one is; `None` where they are the same.
    times: Option<ExportedTimes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExportedUsualWay {
    TheSame,
    NotToldApart,
    Slower,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct ExportedTimes {
    ci95: Option<[f64; 2]>,
}

impl ExportedLanguage {
    /// Whether the usual method is the best one, or has a ratio to it with an interval.
    fn is_compared(&self) -> bool {
        self.usual_is == Some(ExportedUsualWay::TheSame)
            || self.times.as_ref().is_some_and(|times| times.ci95.is_some())
    }
}

impl RecordExport {
    /// The trials that were measured, without controls.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &ExportedTrial> {
        self.trials.iter().filter(|trial| trial.cache != "none" && trial.summary.is_some())
    }
}

impl ExportedTrial {
    /// The interval of the trial's ratio to the reference.
    pub(crate) fn interval(&self) -> Option<Interval> {
        let [low, high] = self.ratio.as_ref()?.ci95?;
        Some(Interval { low, high })
    }

    pub(crate) fn significance(&self) -> Option<Significance> {
        self.interval().map(Significance::from_interval)
    }

    pub(crate) fn is_compared_with(&self, reference: &str) -> bool {
        self.ratio.as_ref().is_some_and(|ratio| ratio.reference == reference)
    }
}

/// Half the width of a ratio's interval, as a share. It is 0.05 for an interval from 1 ÷ 1.05 to
/// 1.05.
pub(crate) fn half_width(ratio: Interval) -> f64 {
    (ratio.high / ratio.low).sqrt() - 1.0
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pairwise {
    export: RecordExport,
    pairs: Vec<Pair>,
}

#[derive(Debug, Clone, PartialEq)]
struct Pair {
    state: String,
    /// Indices of the trials, the lower first.
    trials: [TrialIndex; 2],
    /// Interval of the ratio of the two trials, whichever was the reference.
    ci95: Option<Interval>,
}

/// How certain it is which trial is the fastest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FirstRank {
    /// Every other trial is shown to be slower.
    Decided,
    /// This number of trials tie with the first. `half_width` is the largest half-width of their
    /// ratios to it.
    Tied {
        others: usize,
        half_width: f64,
    },
    Undecided,
}

impl Pairwise {
    /// Analyses a record. The record is copied into a folder beside it.
    pub(crate) fn compare(lab: &Lab, record: &Path) -> anyhow::Result<Pairwise> {
        let folder = record.with_file_name("references");
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let copy = folder.join("record.jsonl");
        let text = std::fs::read_to_string(record).with_context(|| record.display().to_string())?;
        let export = lab.export(record)?;
        let names: BTreeSet<&str> = export.measured().map(|trial| trial.id.as_str()).collect();
        let mut pairs = Vec::new();
        for name in names {
            std::fs::write(&copy, record_with_reference(&text, name)?)
                .with_context(|| copy.display().to_string())?;
            pairs.extend(pairs_with(&lab.export(&copy)?, name));
        }
        Ok(Pairwise { export, pairs })
    }

    pub(crate) fn distinguished_pairs(&self, state: &str) -> Share {
        let pairs = self.pairs.iter().filter(|pair| pair.state == state);
        let differs = |ci95| Significance::from_interval(ci95) != Significance::Tie;
        pairs.map(|pair| pair.ci95.is_some_and(differs)).collect()
    }

    /// The share of ratios to the reference that have no interval.
    pub(crate) fn ratios_without_interval(&self, state: &str) -> Share {
        let ranked = || self.export.measured().filter(|trial| trial.ranking.state == state);
        let references: BTreeSet<&str> =
            ranked().filter_map(|it| Some(it.ratio.as_ref()?.reference.as_str())).collect();
        let compared = ranked().filter(|it| !references.contains(it.id.as_str()));
        compared.map(|it| it.interval().is_none()).collect()
    }

    /// The share of languages whose best method is compared with their usual method.
    pub(crate) fn compared_languages(&self, state: &str) -> Share {
        let of_state = self.export.advice.iter().filter(|advice| advice.state == state);
        of_state.flat_map(|it| &it.by_language).map(ExportedLanguage::is_compared).collect()
    }

    /// The share of the first trial's ratios to other trials that hold 1.
    pub(crate) fn ties_of_first(&self, state: &str) -> Share {
        let is_first = |rank: &ExportedRank| rank.place == 1 && rank.standing == "first";
        let mut ranked = self.export.measured().filter(|trial| trial.ranking.state == state);
        let first = ranked.find(|it| it.rank.as_ref().is_some_and(is_first));
        let Some(first) = first else { return Share::default() };
        let pairs = self.pairs.iter().filter(|pair| pair.trials.contains(&first.index));
        pairs.map(|pair| pair.ci95.is_some_and(|ends| ends.holds(1.0))).collect()
    }

    pub(crate) fn first_rank(&self, state: &str) -> FirstRank {
        let ranked = self.export.measured().filter(|trial| trial.ranking.state == state);
        let ranks = ranked.filter_map(|it| it.rank.as_ref().map(|rank| (it.index, rank)));
        let (first, others): (Vec<_>, Vec<_>) =
            ranks.filter(|(_, rank)| rank.place == 1).partition(|(_, rank)| rank.standing == "first");
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

    fn half_width(&self, mut trials: [TrialIndex; 2]) -> Option<f64> {
        trials.sort();
        self.pairs.iter().find(|pair| pair.trials == trials)?.ci95.map(half_width)
    }
}

impl FirstRank {
    /// The largest half-width of a tie. It is 0 if the rank is decided.
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

/// The record with this trial as the reference. The lines after its header are unchanged.
fn record_with_reference(record: &str, name: &str) -> anyhow::Result<String> {
    let (header, rest) = record.split_once('\n').context("a record has a header")?;
    let mut header: Value = serde_json::from_str(header)?;
    header["references"] = json!([{ "trial": name, "why": ReferenceReason::Named }]);
    Ok(format!("{header}\n{rest}"))
}

/// The pairs of a reference with the trials after it.
fn pairs_with(export: &RecordExport, name: &str) -> Vec<Pair> {
    let references = export.measured().filter(|trial| trial.id == name);
    let with = |reference: &ExportedTrial| -> Vec<Pair> {
        let others =
            export.measured().filter(|it| it.ranking == reference.ranking && it.index > reference.index);
        let pair = |it: &ExportedTrial| Pair {
            state: it.ranking.state.clone(),
            trials: [reference.index, it.index],
            ci95: it.interval().filter(|_| it.is_compared_with(name)),
        };
        others.map(pair).collect()
    };
    references.flat_map(with).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use readlab_record::Record;
    use readlab_record::testing::scripted;

    /// An export of these trials: name, place, standing, and the interval of the ratio to this
    /// reference.
    pub(crate) fn export(reference: &str, trials: &[(&str, usize, &str, Option<[f64; 2]>)]) -> RecordExport {
        let trials: Vec<_> = trials
            .iter()
            .enumerate()
            .map(|(index, (id, place, standing, ci95))| {
                json!({ "index": index, "id": id, "state": "warm", "target": "/f", "work": "newlines", "decodes": null, "cache": "through", "summary": {},
                    "rank": { "place": place, "standing": standing },
                    "ratio": (*id != reference).then(|| json!({ "reference": reference, "estimate": 1.0, "ci95": ci95 })) })
            })
            .collect();
        serde_json::from_value(json!({ "trials": trials })).unwrap()
    }

    /// Three trials with the intervals of b and c to a and of c to b, and the standing of b.
    fn three_trials(
        b: Option<[f64; 2]>,
        c: Option<[f64; 2]>,
        c_to_b: Option<[f64; 2]>,
        standing: &str,
    ) -> Pairwise {
        let place = if standing == "first" { 2 } else { 1 };
        let trials = |b, c| [("b", place, standing, b), ("a", 1, "first", None), ("c", 3, "first", c)];
        let to_a = export("a", &trials(b, c));
        let to_b = export("b", &trials(None, c_to_b));
        let pairs = pairs_with(&to_a, "a").into_iter().chain(pairs_with(&to_b, "b")).collect();
        Pairwise { export: to_a, pairs }
    }

    #[test]
    fn every_pair_counts_once_and_is_distinguished_if_its_interval_excludes_one() {
        // The ratio of b to a comes from the export whose reference is a, which has the lower
        // index.
        let found = three_trials(Some([0.9, 1.1]), Some([0.4, 0.5]), Some([0.5, 1.2]), "tied");
        assert_eq!(found.pairs.len(), 3);
        assert_eq!(found.distinguished_pairs("warm").words(), "1 of 3 (33 %)");
        assert_eq!(found.distinguished_pairs("cold"), Share::default());
    }

    #[test]
    fn the_first_rank_is_as_certain_as_the_widest_tie() {
        let of = |b, standing| three_trials(b, Some([0.4, 0.5]), None, standing).first_rank("warm");
        assert_eq!(of(Some([0.5, 0.6]), "first"), FirstRank::Decided);
        assert_eq!(of(None, "undecided"), FirstRank::Undecided);
        let tied = export("a", &[("a", 1, "first", None), ("b", 1, "tied", Some([1.0 / 1.04, 1.04]))]);
        let found = Pairwise { pairs: pairs_with(&tied, "a"), export: tied };
        let FirstRank::Tied { others: 1, half_width } = found.first_rank("warm") else { panic!("{found:?}") };
        assert!((half_width - 0.04).abs() < 1e-9);
        assert_eq!(found.first_rank("warm").words(), "1 tied at ±4.0 %");
    }

    #[test]
    fn ratios_without_an_interval_and_ties_of_the_first_are_counted() {
        let trials = [("a", 1, "first", None), ("b", 1, "tied", Some([0.9, 1.1])), ("c", 3, "first", None)];
        let export = export("a", &trials);
        let found = Pairwise { pairs: pairs_with(&export, "a"), export };
        assert_eq!(found.ratios_without_interval("warm").words(), "1 of 2 (50 %)");
        assert_eq!(found.ties_of_first("warm").words(), "1 of 2 (50 %)");
        assert_eq!(found.ratios_without_interval("cold"), Share::default());
        assert_eq!(found.ties_of_first("cold"), Share::default());
    }

    #[test]
    fn a_language_is_compared_if_its_usual_method_is_the_best_or_has_an_interval() {
        let language = |usual_is: Value, times: Value| json!({ "usual_is": usual_is, "times": times });
        let languages = [
            language(json!("the_same"), Value::Null),
            language(json!("not_told_apart"), json!({ "estimate": 1.1, "ci95": [0.9, 1.3] })),
            language(json!("slower"), json!({ "estimate": 2.0, "ci95": null })),
            language(Value::Null, Value::Null),
        ];
        let advice = json!([{ "state": "cold", "by_language": languages }, { "sentence": "older" }]);
        let export = serde_json::from_value(json!({ "trials": [], "advice": advice })).unwrap();
        let found = Pairwise { export, pairs: Vec::new() };
        assert_eq!(found.compared_languages("cold").words(), "2 of 4 (50 %)");
        assert_eq!(found.compared_languages("warm"), Share::default());
    }

    #[test]
    fn controls_and_trials_without_samples_are_not_measured() {
        let mut export =
            export("a", &[("a", 1, "first", None), ("b", 1, "tied", None), ("c", 1, "tied", None)]);
        export.trials[1].summary = None;
        export.trials[2].cache = "none".to_owned();
        assert_eq!(export.measured().map(|trial| trial.id.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn every_ranked_trial_can_be_made_the_reference() {
        let (before, text) = (scripted::record("race"), scripted::text("race"));
        let path = std::env::temp_dir().join(format!("readlab-bench-{}.jsonl", std::process::id()));
        for trial in before.trials.iter().map(|it| &it.trial.id) {
            std::fs::write(&path, record_with_reference(&text, &trial.to_string()).unwrap()).unwrap();
            let after = Record::read(&path).unwrap();
            assert_eq!(&after.header.reference_candidates[0].trial, trial);
            assert_eq!(after.trials, before.trials);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
