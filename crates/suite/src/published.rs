//! Published results as sides of a comparison: `published:NAME` or `published:NAME/MACHINE`.
//!
//! The folder `published/` has the tables as they were published; `publications.toml` in it
//! describes their columns. No publication needs code. A suite names, for each trial, the published
//! case that the trial repeats.

use crate::Suite;
use readlab_analysis::compare::{
    Case, ComparisonKey, Figure, Measure, PERCENTS, SHEET_FACT, Side, Spread, Statistic,
};
use readlab_model::trial::{CacheState, Transport, Work};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub const PUBLISHED_PREFIX: &str = "published:";

const INDEX_TOML: &str = include_str!("../carried/published/publications.toml");

const PUBLISHED_TABLES: [(&str, &str); 6] = [
    ("linux-newlines.csv", include_str!("../carried/published/linux-newlines.csv")),
    ("ssd-sizes.csv", include_str!("../carried/published/ssd-sizes.csv")),
    ("urlsession-percentiles.csv", include_str!("../carried/published/urlsession-percentiles.csv")),
    ("urlsession-summary.csv", include_str!("../carried/published/urlsession-summary.csv")),
    ("zip-lines.csv", include_str!("../carried/published/zip-lines.csv")),
    ("lucene-directories.csv", include_str!("../carried/published/lucene-directories.csv")),
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{PUBLISHED_PREFIX}{name}: {cause}")]
pub struct PublishedError {
    name: String,
    cause: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[serde(rename = "publication")]
    publications: Vec<Publication>,
}

/// The description of a published table in the index.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    name: String,
    about: String,
    file: String,
    suite: Option<String>,
    /// The column that names the case.
    #[serde(rename = "case")]
    case_column: String,
    /// The column that names the machine; `None` if the table is about one machine.
    #[serde(rename = "sides")]
    machine_column: Option<String>,
    work: Option<Work>,
    over: Option<Transport>,
    state: Option<CacheState>,
    /// The column with the cache state; `None` if all cases have the same state.
    #[serde(rename = "states")]
    state_column: Option<String>,
    size_bytes: Option<u64>,
    /// The sizes of the files in bytes, by case, for cases that do not read the file of
    /// `size_bytes`.
    #[serde(default, rename = "sizes")]
    case_sizes_bytes: BTreeMap<String, u64>,
    /// Number of readers that each read the whole file, by case; one in all other cases.
    #[serde(default, rename = "readers")]
    case_readers: BTreeMap<String, u64>,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    #[serde(rename = "machine")]
    machine_facts: BTreeMap<String, Value>,
    #[serde(default, rename = "fact")]
    fact_columns: Vec<FactColumn>,
    #[serde(rename = "number")]
    number_columns: Vec<NumberColumn>,
    /// The column with the number of readings; `None` if the table does not give it.
    #[serde(rename = "runs")]
    runs_column: Option<String>,
    /// The columns with the percentiles of `PERCENTS`, in that order; `None` if the table has none.
    #[serde(rename = "percentiles")]
    percentile_columns: Option<[String; PERCENTS.len()]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FactColumn {
    name: String,
    column: String,
    /// Factor to the unit of the fact; only for numbers.
    factor: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NumberColumn {
    measure: Measure,
    column: String,
    #[serde(default = "default_factor")]
    factor: f64,
    statistic: Statistic,
    /// The column with the standard deviation, in the unit of the number; `None` if the table does
    /// not give it.
    #[serde(rename = "sd")]
    sd_column: Option<String>,
    /// The name of the side whose numbers the column has; `None` if rows name their side.
    #[serde(rename = "side")]
    side_name: Option<String>,
    /// The fields that a row must have for its number to be read.
    #[serde(default, rename = "where")]
    required_fields: BTreeMap<String, String>,
}

fn default_factor() -> f64 {
    1.0
}

type RowFields = BTreeMap<String, String>;

pub fn names() -> Vec<String> {
    publications().into_iter().map(|it| format!("{PUBLISHED_PREFIX}{}", it.name)).collect()
}

/// The machines of a publication, by its name without the prefix; with `/M`, only machines whose
/// name contains M.
pub fn sides(name: &str) -> Result<Vec<Side>, PublishedError> {
    let (name, machine) = name.split_once('/').map_or((name, None), |(name, machine)| (name, Some(machine)));
    let unknown = |cause: String| PublishedError { name: name.to_owned(), cause };
    let publication = publications().into_iter().find(|it| it.name == name).ok_or_else(|| {
        let known = publications().into_iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
        unknown(format!("nothing of this name is published here (known: {known})"))
    })?;
    let all = publication.sides();
    let Some(machine) = machine else { return Ok(all) };
    let known = all.iter().map(|side| side.name.clone()).collect::<Vec<_>>().join(", ");
    let holds = |side: &Side| side.name.to_lowercase().contains(&machine.to_lowercase());
    let found: Vec<Side> = all.into_iter().filter(holds).collect();
    if found.is_empty() {
        return Err(unknown(format!("no machine is called '{machine}' (known: {known})")));
    }
    Ok(found)
}

fn publications() -> Vec<Publication> {
    let index: Index = toml::from_str(INDEX_TOML).expect("the index of publications is checked by a test");
    index.publications
}

impl Publication {
    fn sides(&self) -> Vec<Side> {
        let mut sides: Vec<Side> = Vec::new();
        for row in self.rows() {
            for number in self.number_columns.iter().filter(|number| number.applies_to_row(&row)) {
                // An empty field means that the number was not published.
                let Some(value) = row.get(&number.column).and_then(|text| text.parse::<f64>().ok()) else {
                    continue;
                };
                let name = self.side_name(number, &row);
                let at = sides.iter().position(|side| side.name == name).unwrap_or_else(|| {
                    sides.push(self.side(name, &row));
                    sides.len() - 1
                });
                let case = self.case_or_new(&mut sides[at], &row[&self.case_column], self.state_in(&row));
                let (value, statistic) = (value * number.factor, number.statistic);
                let spread = self.spread(number, &row);
                if let (Measure::Wall, Some(size_bytes)) = (number.measure, case.key.size_bytes) {
                    #[expect(clippy::cast_precision_loss, reason = "a size below 2^53")]
                    let bytes = size_bytes as f64 * case.key.reader_count.unwrap_or(1) as f64;
                    let rate = bytes * 1e9 / value;
                    let spread = spread_of_rate(&spread, rate / value);
                    case.figures.insert(Measure::Rate, Figure::Value { value: rate, statistic, spread });
                }
                case.figures.insert(number.measure, Figure::Value { value, statistic, spread });
            }
        }
        sides
    }

    /// The spread of the readings of a number; what the row does not give is `None`.
    fn spread(&self, number: &NumberColumn, row: &RowFields) -> Spread {
        let of = |column: &String| row.get(column)?.parse::<f64>().ok();
        let percentiles = self.percentile_columns.as_ref().and_then(|columns| {
            let values: Option<Vec<f64>> = columns.iter().map(of).collect();
            values?.iter().map(|value| value * number.factor).collect::<Vec<f64>>().try_into().ok()
        });
        Spread {
            sd: number.sd_column.as_ref().and_then(of).map(|sd| sd * number.factor),
            reading_count: self.runs_column.as_ref().and_then(|column| row.get(column)?.parse().ok()),
            percentiles,
        }
    }

    fn rows(&self) -> Vec<RowFields> {
        let (_, text) = (PUBLISHED_TABLES.iter().find(|(file, _)| *file == self.file))
            .expect("the index of publications is checked by a test");
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>();
        rows.expect("the tables are checked by a test")
    }

    fn side_name(&self, number: &NumberColumn, row: &RowFields) -> String {
        let named = number.side_name.clone();
        named.or_else(|| row.get(self.machine_column.as_ref()?).cloned()).unwrap_or_else(|| self.name.clone())
    }

    fn side(&self, name: String, row: &RowFields) -> Side {
        let mut facts = self.machine_facts.clone();
        for fact in &self.fact_columns {
            let Some(text) = row.get(&fact.column) else { continue };
            let value = match fact.factor {
                Some(factor) => text.parse::<f64>().map_or(Value::Null, |number| (number * factor).into()),
                None => text.clone().into(),
            };
            facts.insert(fact.name.clone(), value);
        }
        let about = format!("{PUBLISHED_PREFIX}{} · {}", self.name, self.about);
        Side { name, about, facts, notes: self.notes.clone(), cases: Vec::new() }
    }

    /// The cache state of a row; `None` if it is not known.
    fn state_in(&self, row: &RowFields) -> Option<CacheState> {
        let word = self.state_column.as_ref().and_then(|column| row.get(column));
        word.and_then(|word| serde_json::from_value(word.as_str().into()).ok()).or(self.state)
    }

    /// The case of a side with this name and state. A case that does not exist yet is added, with
    /// the names that the suite has for it.
    fn case_or_new<'a>(&self, side: &'a mut Side, name: &str, state: Option<CacheState>) -> &'a mut Case {
        let is_it = |case: &Case| case.name == name && case.key.state == state;
        if let Some(at) = side.cases.iter().position(is_it) {
            return &mut side.cases[at];
        }
        let size_bytes = self.case_sizes_bytes.get(name).copied().or(self.size_bytes);
        side.cases.push(Case {
            name: name.to_owned(),
            names: self.case_aliases(name),
            key: ComparisonKey {
                size_bytes,
                work: self.work,
                transport: self.over,
                state,
                reader_count: Some(self.case_readers.get(name).copied().unwrap_or(1)),
                ..ComparisonKey::default()
            },
            figures: BTreeMap::new(),
            noise: BTreeMap::new(),
            why_unmeasured: None,
        });
        side.cases.last_mut().expect("one was just pushed")
    }

    /// The name of a case, and the labels and names of the suite's trials that repeat it.
    fn case_aliases(&self, case: &str) -> BTreeSet<String> {
        let suite = self.suite.as_ref().and_then(|name| Suite::find(name).ok());
        let entries = suite.into_iter().flat_map(|suite| suite.entries);
        let repeats = entries.filter(|entry| {
            entry.published_name.as_ref().or(entry.label.as_ref()).is_some_and(|it| it == case)
        });
        let called = repeats.flat_map(|entry| entry.label.into_iter().chain([entry.trial]));
        called.chain([case.to_owned()]).collect()
    }
}

impl NumberColumn {
    fn applies_to_row(&self, row: &RowFields) -> bool {
        self.required_fields.iter().all(|(column, value)| row.get(column) == Some(value))
    }
}

/// The spread of a rate, from that of its times: both have the same relative standard deviation.
/// The percentiles are left out.
fn spread_of_rate(times: &Spread, rate_per_time: f64) -> Spread {
    Spread { sd: times.sd.map(|sd| sd * rate_per_time), percentiles: None, ..*times }
}

/// Adds this rate of a data sheet, in bytes per second, to each side that has no such rate.
pub fn add_data_sheet(sides: &mut [Side], bytes_per_s: f64) {
    for side in sides {
        side.facts.entry(SHEET_FACT.to_owned()).or_insert_with(|| bytes_per_s.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_analysis::compare::{FitRequest, fit};

    #[test]
    fn every_publication_is_complete() {
        for publication in publications() {
            let sides = publication.sides();
            let is_whole = !sides.is_empty() && sides.iter().all(|side| !side.cases.is_empty());
            assert!(is_whole, "{}", publication.name);
            let columns = publication.rows();
            let known: BTreeSet<&String> = columns[0].keys().collect();
            for number in &publication.number_columns {
                assert!(known.contains(&number.column), "{}", number.column);
            }
            if let Some(suite) = &publication.suite {
                let suite = Suite::find(suite).unwrap();
                for entry in suite.entries.iter().filter_map(|entry| entry.published_name.as_ref()) {
                    assert!(sides.iter().flat_map(|side| &side.cases).any(|it| it.name == *entry), "{entry}");
                }
                let repeated = sides[0].cases.iter().filter(|case| case.names.len() > 1).count();
                assert!(repeated >= 4, "{}: the suite repeats {repeated} of its cases", publication.name);
            }
        }
        assert_eq!(names().len(), 6);
    }

    #[test]
    fn published_numbers_match_the_tables() {
        let sides = sides("urlsession").unwrap();
        assert_eq!(sides.iter().map(|side| side.cases.len()).collect::<Vec<_>>(), [14, 14]);
        let m2 = &super::sides("urlsession/m2").unwrap()[0];
        let case =
            m2.cases.iter().find(|case| case.names.contains("swift/dataTask-delegate/for-unsafe")).unwrap();
        let name = "dataTask(with:) and an incremental delegate with for loop inside withUnsafeBytes";
        assert_eq!(case.name, name);
        assert_eq!(case.figures[&Measure::Wall].value(), 36e6);
        assert!(case.figures.contains_key(&Measure::Retains) && case.figures.contains_key(&Measure::Rate));
    }

    #[test]
    fn the_published_spread_matches_the_tables() {
        let figure = |name: &str, case: &str, measure: Measure| {
            let side = sides(name).unwrap().swap_remove(0);
            side.cases.iter().find(|it| it.name == case).unwrap().figures[&measure].clone()
        };
        let Figure::Value { spread, .. } = figure("zip-lines/M920", "zip", Measure::Wall) else { panic!() };
        assert!((spread.sd.unwrap() - 351.7e6).abs() < 1.0 && spread.reading_count == Some(10));
        let Figure::Value { spread, .. } = figure("zip-lines/Old", "zip", Measure::Wall) else { panic!() };
        assert_eq!((spread.sd, spread.reading_count), (None, Some(1)));
        let bytes = "bytes(from:) and for loop";
        let Figure::Value { spread, .. } = figure("urlsession/M2", bytes, Measure::Mallocs) else { panic!() };
        assert_eq!(spread.percentiles, Some([35e3, 36e3, 37e3, 37e3, 37e3, 67e3, 69e3]));
        assert_eq!(spread.reading_count, Some(100));
        assert!((figure("ssd-sizes/iMac", "read", Measure::Fixed).value() - 40_000.0).abs() < 1.0);
        let m1 = sides("ssd-sizes/M1").unwrap().swap_remove(0);
        let has_fixed = m1.cases.iter().any(|case| case.figures.contains_key(&Measure::Fixed));
        assert!(!has_fixed, "words are no number");
    }

    #[test]
    fn the_summary_is_a_publication_of_its_own() {
        let summary = sides("urlsession-summary/M2").unwrap().swap_remove(0);
        assert_eq!(summary.cases.len(), 14);
        assert_eq!(summary.cases[0].figures[&Measure::Wall].value(), 79e6);
    }

    #[test]
    fn the_rate_of_two_readers_counts_what_both_read() {
        let m920 = &sides("zip-lines/M920").unwrap()[0];
        let case = m920.cases.iter().find(|case| case.name.contains("2 threads")).unwrap();
        assert_eq!(case.key.reader_count, Some(2));
        assert_eq!((case.figures[&Measure::Rate].value() / 1e6).trunc(), 952.0);
        let one = m920.cases.iter().find(|case| case.name == "buffer 8192").unwrap();
        assert_eq!((one.figures[&Measure::Rate].value() / 1e6).trunc(), 519.0);
    }

    #[test]
    fn a_table_may_have_one_case_in_several_states() {
        let side = sides("lucene-directories").unwrap().swap_remove(0);
        let states = |name: &str| {
            let of_name = side.cases.iter().filter(|case| case.name == name);
            of_name.map(|case| (case.key.state, case.figures[&Measure::Rate].value())).collect::<Vec<_>>()
        };
        let (warm, pressed) = (Some(CacheState::Warm), Some(CacheState::Pressed));
        let [in_memory, beyond] = states("mmap, 1 thread")[..] else { panic!("two states") };
        assert_eq!((in_memory.0, beyond.0), (warm, pressed));
        // Sixteen reads of 4 KiB an operation, and thousand times as many operations a second.
        assert!((in_memory.1 / 7.648e9 - 1.0).abs() < 0.001 && (beyond.1 / 9.175e6 - 1.0).abs() < 0.001);
        assert_eq!(side.cases.len(), 16);
    }

    #[test]
    fn the_clock_rates_that_the_zip_experiment_needs_match() {
        let request = FitRequest::parse("zip/wall", "machine.max_turbo_ghz").unwrap();
        let fit = fit(&sides("zip-lines").unwrap(), &request).unwrap();
        assert_eq!(fit.points.len(), 3, "a processor with two drives is one point");
        let ask = |machine: &str| {
            let required =
                fit.required.iter().find(|it| it.machine.contains(machine) && it.case == "buffer 8192");
            format!("{:.2}", required.unwrap().fact_value.unwrap())
        };
        assert_eq!((ask("M920"), ask("NUC11")), ("5.52".to_owned(), "5.90".to_owned()));
    }

    #[test]
    fn unknown_publications_and_machines_are_errors_that_list_the_known() {
        assert!(sides("nothing").unwrap_err().to_string().contains("zip-lines, ssd-sizes"));
        assert!(sides("zip-lines/VAX").unwrap_err().to_string().contains("M920"));
    }
}
