//! The effects of settings of the system on trials, as a table, in sentences, and for the JSON
//! export.

use super::document::Column;
use super::groups;
use super::name::target_names;
use super::ranking::{self, Ranking};
use super::row_pairs::RowPairs;
use super::table::{Cell, Table};
use super::words::{self, Number};
use readlab_analysis::settings::{SettingEffect, setting_effects};
use readlab_analysis::stats::{SharedRatio, Significance, whole};
use readlab_analysis::verdict::median_wall_ns;
use readlab_model::target::setting::SettingValue;
use readlab_model::trial::{CacheState, TrialId, TrialIndex};
use readlab_record::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// The effect of settings on one trial. At least one setting differs from its value at the start.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsRow {
    pub index: TrialIndex,
    /// Index of the same trial under the settings that were found at the start.
    pub found_settings_trial: TrialIndex,
    /// The name of the target; `None` if the run has one target.
    pub target_name: Option<String>,
    pub state: CacheState,
    /// The trial's name with its settings: `rust/read+read-ahead=4MiB`.
    pub name: String,
    /// The settings, such as `read-ahead=4MiB`.
    pub settings: String,
    pub found_settings: String,
    /// Names of the settings whose values the run could not read back.
    pub settings_not_read_back: Vec<String>,
    /// Median wall time under the settings.
    pub wall_ns: u64,
    /// Median wall time of the same trial under the settings that were found.
    pub found_settings_wall_ns: u64,
    pub ratio: SharedRatio,
}

impl SettingsRow {
    pub(super) fn all(record: &Record) -> Vec<SettingsRow> {
        let names = Some(target_names(&record.targets)).filter(|_| record.header.locations.is_some());
        let row = |it: &SettingEffect| {
            Some(SettingsRow {
                index: it.trial.trial.index,
                found_settings_trial: it.trial_with_initial_settings.trial.index,
                target_name: names.as_ref().and_then(|names| names.get(it.trial.trial.target)).cloned(),
                state: it.trial.trial.state,
                name: record.trial_name(&it.trial.trial),
                settings: it.target.settings_words()?,
                found_settings: it.target_with_initial_settings.settings_words()?,
                settings_not_read_back: settings_not_read_back(&it.target.settings),
                wall_ns: whole(median_wall_ns(it.trial)?),
                found_settings_wall_ns: whole(median_wall_ns(it.trial_with_initial_settings)?),
                ratio: it.ratio,
            })
        };
        let mut rows: Vec<SettingsRow> = setting_effects(record).iter().filter_map(row).collect();
        rows.sort_by_key(|row| row.state);
        rows
    }

    fn condition(&self) -> Condition<'_> {
        Condition {
            state: self.state,
            target_name: self.target_name.as_deref(),
            settings: &self.settings,
            found_settings: &self.found_settings,
        }
    }

    fn name_with_place(&self) -> String {
        match &self.target_name {
            Some(place) => format!("{} of {place}", self.name),
            None => self.name.clone(),
        }
    }
}

fn settings_not_read_back(settings: &[SettingValue]) -> Vec<String> {
    settings.iter().filter(|it| !it.is_read_back).map(|it| it.name.clone()).collect()
}

/// The effects as a table; `None` if the run compared no settings.
pub(super) fn table(rows: &[SettingsRow]) -> Option<Table> {
    let columns = [
        Column::text("state"),
        Column::text("method"),
        Column::number("wall"),
        Column::number("as found"),
        Column::number("× as found"),
    ];
    let cells = |row: &SettingsRow| {
        vec![
            Cell::text(row.state.word()),
            Cell::Name(row.name_with_place(), String::new()),
            Cell::number(Number::time(row.wall_ns)),
            Cell::number(Number::time(row.found_settings_wall_ns)),
            Cell::number(Number::ratio(row.ratio)),
        ]
    };
    Table::with_content(columns, rows.iter().map(cells))
}

/// The cache state, location and settings that the rows of a line or chart share.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Condition<'r> {
    state: CacheState,
    target_name: Option<&'r str>,
    settings: &'r str,
    found_settings: &'r str,
}

fn rows_by_condition(rows: &[SettingsRow]) -> Vec<(Condition<'_>, Vec<&SettingsRow>)> {
    groups::by_key(rows.iter().map(|row| (row.condition(), row)))
}

/// The pairs of rows from which dumbbells are drawn: each trial under the found settings and under
/// other settings, in one group for each cache state, location and combination of settings.
pub(super) fn pairs<'a>(rows: &[SettingsRow], rankings: &'a [Ranking]) -> Vec<RowPairs<'a>> {
    let group = |(condition, rows): (Condition, Vec<&SettingsRow>)| {
        let Condition { state, target_name: place, settings: under, found_settings: found } = condition;
        let both = rows.iter().map(|row| [row.found_settings_trial, row.index]);
        let both = both.filter_map(|both| ranking::rows_of_pair(rankings, both));
        let of_place = place.map_or_else(String::new, |place| format!(" · {place}"));
        let title = format!("From {found} to {under} · {state}{of_place}");
        RowPairs::from_rows(title, [found, under].map(str::to_owned), both.collect())
    };
    rows_by_condition(rows).into_iter().filter_map(group).collect()
}

/// A line for each cache state, location and combination of settings, with the numbers of trials
/// that are faster and slower than under the found settings.
pub(super) fn lines(rows: &[SettingsRow]) -> Vec<String> {
    let line = |(condition, rows): (Condition, Vec<&SettingsRow>)| {
        let Condition { state, target_name: place, settings: under, found_settings: found } = condition;
        let of_place = place.map_or_else(String::new, |place| format!(", {place}"));
        let count =
            |significance| rows.iter().filter(|row| row.ratio.significance() == Some(significance)).count();
        let (faster, slower) = (count(Significance::Faster), count(Significance::Slower));
        let methods = words::plural(rows.len(), "method");
        let names = rows.first().map_or_else(String::new, |row| row.settings_not_read_back.join(", "));
        let unproven = match names.as_str() {
            "" => String::new(),
            names => format!("; not proven: no command reads {names} back (--read)"),
        };
        format!(
            "settings: {state}{of_place}, {under} beside {found}: of {methods} {faster} faster, {slower} slower{unproven}"
        )
    };
    rows_by_condition(rows).into_iter().map(line).collect()
}

/// The effect of settings on one trial: how many times as fast it is as the same trial under the
/// settings that were found. This is the form of the JSON export.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SettingEffect")]
pub(super) struct SettingEffectExport<'a> {
    trial: &'a TrialId,
    index: TrialIndex,
    state: CacheState,
    settings: &'a [SettingValue],
    /// Index of the same trial under the settings that were found at the start.
    #[serde(rename = "found")]
    found_settings_trial: TrialIndex,
    #[serde(flatten)]
    factor: SharedRatio,
    #[serde(rename = "clear")]
    significance: Option<Significance>,
    /// Number of rounds that hold both trials.
    pairs: usize,
}

impl<'a> SettingEffectExport<'a> {
    pub(super) fn all(record: &'a Record) -> Vec<SettingEffectExport<'a>> {
        let export = |it: SettingEffect<'a>| SettingEffectExport {
            trial: &it.trial.trial.id,
            index: it.trial.trial.index,
            state: it.trial.trial.state,
            settings: &it.target.settings,
            found_settings_trial: it.trial_with_initial_settings.trial.index,
            factor: it.ratio,
            significance: it.significance(),
            pairs: it.ratio.unit_count,
        };
        setting_effects(record).into_iter().map(export).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::shared_ratio;

    fn settings_row(name: &str, ratio: SharedRatio) -> SettingsRow {
        SettingsRow {
            index: TrialIndex::new(1),
            found_settings_trial: TrialIndex::new(0),
            target_name: None,
            state: CacheState::Cold,
            name: format!("{name}+read-ahead=4MiB"),
            settings: "read-ahead=4MiB".to_owned(),
            found_settings: "read-ahead=128KiB".to_owned(),
            settings_not_read_back: Vec::new(),
            wall_ns: 1_000_000,
            found_settings_wall_ns: 2_000_000,
            ratio,
        }
    }

    #[test]
    fn a_line_counts_the_methods_that_a_setting_helps_and_the_table_lists_them() {
        let ratios = [(2.0, (1.9, 2.1)), (1.0, (0.98, 1.02))];
        let [read, direct] = ratios.map(|(estimate, ends)| shared_ratio(estimate, Some(ends)));
        let mut rows = [settings_row("rust/read", read), settings_row("rust/direct", direct)];
        assert_eq!(
            lines(&rows),
            ["settings: cold, read-ahead=4MiB beside read-ahead=128KiB: of 2 methods 1 faster, 0 slower"]
        );
        let shown = table(&rows).unwrap().markdown();
        assert!(
            shown.contains("<code>rust/read+read-ahead=4MiB</code> | 1.00 ms | 2.00 ms | 2.0"),
            "{shown}"
        );
        assert!(lines(&[]).is_empty() && table(&[]).is_none());
        rows[1].target_name = Some("there/f".to_owned());
        let of_places = lines(&rows);
        assert_eq!(of_places.len(), 2, "a line for each place");
        let there = "settings: cold, there/f, read-ahead=4MiB beside read-ahead=128KiB: of 1 method";
        assert!(of_places[1].starts_with(there), "{of_places:?}");
        assert!(table(&rows).unwrap().markdown().contains("rust/direct+read-ahead=4MiB of there/f"));
        rows[1].target_name = None;
        rows.iter_mut().for_each(|row| row.settings_not_read_back = vec!["read-ahead".to_owned()]);
        let line = &lines(&rows)[0];
        assert!(line.ends_with("0 slower; not proven: no command reads read-ahead back (--read)"), "{line}");
    }
}
