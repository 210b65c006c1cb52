//! Warnings for readers of the numbers, grouped by cause: each cause once, with its extent and a
//! line for each case.

use super::groups;
use super::sweep::SweepView;
use super::words::{CONDUCT_MARK, plural};
use readlab_catalog::language::Languages;
use readlab_model::trial::CacheState;
use readlab_record::{Record, TrialRecord, WarmupEnd};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarningGroup {
    /// The cause, such as `too few readings to tell a steady state`.
    pub cause: String,
    /// The extent, such as `2 Java methods, both states`; empty if the cause needs none.
    pub extent: String,
    /// A line for each case; empty if all cases have the same text.
    pub lines: Vec<String>,
}

/// The warm-ups of a trial that did not reach a steady state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnsteadyStarts {
    /// Number of starts of the contender.
    pub(super) start_count: usize,
    /// Number of starts that never became steady.
    pub(super) never_steady_count: usize,
    /// Number of starts with too few readings to tell.
    pub(super) too_few_readings_count: usize,
}

/// In a terminal, up to this many similar warnings have a line each. More warnings share one line.
const LISTED_SINGLY_MAX: usize = 3;

const CONDUCT_CAUSE: &str = "a contender did more than read, or repeated requests";

impl UnsteadyStarts {
    /// Counts the unsteady starts of a trial; `None` if every start became steady.
    pub(super) fn from_trial(trial: &TrialRecord) -> Option<UnsteadyStarts> {
        let ended = |end| trial.warmups.iter().filter(|warmed| warmed.end == end).count();
        let (never, few) = (ended(WarmupEnd::NoSteadyState), ended(WarmupEnd::TooFewReadings));
        let start_count = trial.warmups.len();
        (never + few > 0).then_some(UnsteadyStarts {
            start_count,
            never_steady_count: never,
            too_few_readings_count: few,
        })
    }

    fn causes(self) -> impl Iterator<Item = (&'static str, usize)> {
        let both = [
            ("no steady state", self.never_steady_count),
            ("too few readings to tell a steady state", self.too_few_readings_count),
        ];
        both.into_iter().filter(|(_, starts)| *starts > 0)
    }
}

impl WarningGroup {
    /// All warnings of a record: on its targets, its contenders and the run.
    pub(super) fn all(record: &Record, sweep: Option<&SweepView>) -> Vec<WarningGroup> {
        if let Some(view) = sweep {
            return WarningGroup::from_texts(
                &[view.cautions.as_slice(), record.warnings.as_slice()].concat(),
            );
        }
        let mut groups = target_warnings(record);
        groups.extend(trial_warnings(record));
        groups.extend(estimate_warning(record));
        groups.extend(resumption_warning(record));
        groups.extend(WarningGroup::from_texts(&record.warnings));
        groups
    }

    /// Groups of texts that differ only in names and numbers, in the order of first appearance.
    pub(super) fn from_texts(texts: &[String]) -> Vec<WarningGroup> {
        let groups = groups::by_key(texts.iter().map(|text| (text_pattern(text), text)));
        groups.into_iter().map(|(_, group)| WarningGroup::from_similar_texts(&group)).collect()
    }

    /// The cause with its extent, such as `no steady state: 1 Java method, cold`.
    pub(super) fn title(&self) -> String {
        if self.extent.is_empty() { self.cause.clone() } else { format!("{}: {}", self.cause, self.extent) }
    }

    /// The lines in a terminal and in Markdown, where many cases share one line.
    pub(super) fn short_lines(self) -> Vec<String> {
        if (1..=LISTED_SINGLY_MAX).contains(&self.lines.len()) { self.lines } else { vec![self.title()] }
    }

    fn from_similar_texts(texts: &[&String]) -> WarningGroup {
        let distinct: BTreeSet<&&String> = texts.iter().collect();
        let cause = distinct.iter().skip(1).fold(texts[0].clone(), |common, text| common_text(&common, text));
        let is_single = texts.len() == 1;
        WarningGroup {
            cause,
            extent: if is_single { String::new() } else { format!("{} times", texts.len()) },
            lines: texts.iter().filter(|_| distinct.len() > 1).map(|it| (*it).clone()).collect(),
        }
    }
}

/// The cautions about the targets, grouped by text.
fn target_warnings(record: &Record) -> Vec<WarningGroup> {
    let cautions = record.targets.iter().flat_map(|it| it.cautions.iter().map(move |why| (why, &it.path)));
    let paths = groups::by_key(cautions);
    let is_only_target = record.targets.len() == 1;
    let group = |(cause, paths): (&String, Vec<&String>)| WarningGroup {
        cause: cause.clone(),
        extent: if is_only_target { String::new() } else { plural(paths.len(), "target") },
        lines: paths.into_iter().filter(|_| !is_only_target).cloned().collect(),
    };
    paths.into_iter().map(group).collect()
}

/// A warning if the residency of readings was estimated from some pages of the file.
pub(super) fn estimate_warning(record: &Record) -> Option<WarningGroup> {
    let samples = record.trials.iter().flat_map(|it| &it.samples);
    let estimated = samples.filter(|sample| sample.resident_is_estimate).count();
    (estimated > 0).then(|| WarningGroup {
        cause: "how much of the file was in the page cache is an estimate, from sampled pages".to_owned(),
        extent: plural(estimated, "reading"),
        lines: Vec::new(),
    })
}

/// Cautions for readers of a record's numbers, one line for each cause.
pub fn cautions(record: &Record) -> Vec<String> {
    let sweep = SweepView::from_record(record);
    WarningGroup::all(record, sweep.as_ref()).iter().map(WarningGroup::title).collect()
}

/// A warning group with a line for each interruption of the run; `None` without interruptions.
fn resumption_warning(record: &Record) -> Option<WarningGroup> {
    let times = record.resumptions.len();
    (times > 0).then(|| WarningGroup {
        cause: "the run was cut short and resumed".to_owned(),
        extent: if times == 1 { "once".to_owned() } else { format!("{times} times") },
        lines: record.resumptions.iter().map(super::page::resumption_words).collect(),
    })
}

fn trial_warnings(record: &Record) -> Vec<WarningGroup> {
    let mut causes: BTreeMap<&'static str, Vec<(&TrialRecord, String)>> = BTreeMap::new();
    for trial in &record.trials {
        let name = format!("{} ({})", trial.trial.id, trial.trial.state);
        if let Some(unsteady) = UnsteadyStarts::from_trial(trial) {
            for (cause, starts) in unsteady.causes() {
                let line = format!("{name}: at {starts} of {} starts", unsteady.start_count);
                causes.entry(cause).or_default().push((trial, line));
            }
        }
        for what in trial.remarks() {
            causes.entry(CONDUCT_CAUSE).or_default().push((trial, format!("{name}{CONDUCT_MARK}: {what}")));
        }
    }
    let languages = Languages::of_record(record);
    let group = |(cause, cases): (&str, Vec<(&TrialRecord, String)>)| WarningGroup {
        cause: cause.to_owned(),
        extent: extent_words(cases.iter().map(|(trial, _)| *trial), &languages),
        lines: cases.into_iter().map(|(_, line)| line).collect(),
    };
    causes.into_iter().map(group).collect()
}

/// The extent of a warning, such as `2 Java methods, both states`.
fn extent_words<'a>(trials: impl Iterator<Item = &'a TrialRecord>, languages: &Languages) -> String {
    let mut methods: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut states: BTreeSet<CacheState> = BTreeSet::new();
    for trial in trials {
        let language = languages.language_of(trial.trial.contender());
        methods.entry(language).or_default().insert(trial.trial.id.to_string());
        states.insert(trial.trial.state);
    }
    let mut parts: Vec<String> = methods
        .into_iter()
        .map(|(language, names)| match language {
            "commands" => plural(names.len(), "command"),
            _ => plural(names.len(), &format!("{language} method")),
        })
        .collect();
    let only = states.first().filter(|_| states.len() == 1);
    let several = || if states.len() > 2 { "all states" } else { "both states" }.to_owned();
    parts.push(only.map_or_else(several, CacheState::to_string));
    parts.join(", ")
}

/// A text with `…` in place of names and numbers. Similar texts have the same pattern.
fn text_pattern(text: &str) -> String {
    let word = |word: &str| {
        let is_named = word.contains('/') || word.contains(|c: char| c.is_ascii_digit());
        if is_named { "…".to_owned() } else { word.to_owned() }
    };
    text.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The common text of two texts of the same pattern, with `…` for each word that differs.
fn common_text(text: &str, other: &str) -> String {
    let end = |word: &str| word.chars().last().filter(|c| ",;:)".contains(*c));
    let word = |(a, b): (&str, &str)| match a == b {
        true => a.to_owned(),
        false => std::iter::once('…').chain(end(a)).collect(),
    };
    let words = text.split_whitespace().zip(other.split_whitespace());
    words.map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::announce;
    use readlab_model::trial::TrialIndex;
    use readlab_record::WarmedUp;
    use readlab_record::testing::{self, header};

    #[test]
    fn texts_that_differ_in_names_and_numbers_are_one_group() {
        let texts = [
            "another readlab (process 12) measured: both are spoiled",
            "the memory limit was beaten: rust/mmap reached 23 GB/s",
            "another readlab (process 345) measured: both are spoiled",
        ]
        .map(str::to_owned);
        let groups = WarningGroup::from_texts(&texts);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].cause, "another readlab (process …) measured: both are spoiled");
        assert_eq!((groups[0].extent.as_str(), groups[0].lines.len()), ("2 times", 2));
        assert_eq!((groups[1].cause.as_str(), groups[1].lines.len()), (texts[1].as_str(), 0));
    }

    #[test]
    fn few_warnings_that_are_alike_have_a_line_each_and_many_share_one() {
        let other = |pid: u32| format!("another readlab (process {pid}) measured");
        let lines = |pids: &[u32]| -> Vec<String> {
            let texts: Vec<String> = pids.iter().copied().map(other).collect();
            WarningGroup::from_texts(&texts).into_iter().flat_map(WarningGroup::short_lines).collect()
        };
        assert_eq!(lines(&[12]), [other(12)]);
        assert_eq!(lines(&[12, 7, 9]), [12, 7, 9].map(other));
        assert_eq!(lines(&[12, 7, 9, 11]), ["another readlab (process …) measured: 4 times"]);
        assert_eq!(lines(&[12, 12]), ["another readlab (process 12) measured: 2 times"]);
    }

    #[test]
    fn a_cause_is_named_once_with_the_methods_and_states_that_it_concerns() {
        let mut record = Record::new(header());
        let plan = [("java/A", CacheState::Cold), ("java/A", CacheState::Warm), ("java/B", CacheState::Warm)];
        for (index, (name, state)) in plan.into_iter().enumerate() {
            announce(&mut record, index, name, state);
            let end = if index == 2 { WarmupEnd::Steady } else { WarmupEnd::TooFewReadings };
            let warmed = WarmedUp { trial: TrialIndex::new(index), readings: 9, wall_ns: 1, end };
            record.trials[TrialIndex::new(index)].warmups = vec![warmed, warmed];
        }
        let groups = WarningGroup::all(&record, None);
        let [group] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!(group.cause, "too few readings to tell a steady state");
        assert_eq!(group.extent, "1 Java method, both states");
        assert_eq!(group.lines[0], "java/A (cold): at 2 of 2 starts");
    }

    #[test]
    fn a_caution_about_one_of_several_targets_names_that_target() {
        use readlab_model::target::TargetFacts;
        let mut record = Record::new(header());
        for (index, path) in ["/data/a", "/data/b"].into_iter().enumerate() {
            let cautions = vec!["it is sparse".to_owned()];
            let facts = TargetFacts { path: path.into(), cautions, ..TargetFacts::default() };
            record.add(testing::target_line(index, facts));
        }
        let groups = WarningGroup::all(&record, None);
        assert_eq!((groups.len(), groups[0].extent.as_str()), (1, "2 targets"));
        assert_eq!(groups[0].lines, ["/data/a", "/data/b"]);
    }
}
