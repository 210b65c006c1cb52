//! `readlab compare A B…`: records and published results side by side, with ratios, a gate for
//! continuous integration, and exports for services that track benchmarks.

use super::exports::{EXPORT_JSON, EXPORT_MARKDOWN, Export, Exports, table_style};
use super::options::ColorWhen;
use super::output::inputs_of_record;
use anyhow::{Context, bail, ensure};
use clap::Args;
use readlab_analysis::compare::{Center, Comparison, Fit, FitRequest, Gate, Measure, Side, fit};
use readlab_model::trial::CacheState;
use readlab_model::units::Throughput;
use readlab_record::Record;
use readlab_record::history::{History, HistoryError};
use readlab_report::{self as report, side_letter};
use readlab_run::experiment::options;
use readlab_run::experiment::outcome::EXIT_TRIAL_FAILED;
use readlab_suite::published::{self, PUBLISHED_PREFIX};
use readlab_system::folder::RECORD;
use readlab_system::folder::output_file::{self, InputFiles};
use readlab_system::markup;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::display_path;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// What to compare; the first is the baseline. A record's path, `last`, `last~1`, a name given
    /// with --save, or published:newlines, published:urlsession, published:urlsession-summary,
    /// published:zip-lines, published:ssd-sizes, published:lucene-directories, optionally followed
    /// by /MACHINE
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Numbers to compare: wall, cpu, rate, peak, device, syscalls, mallocs, retains, releases,
    /// slope, most, fixed [default: wall, or rate if a side has no times]
    #[arg(long, value_name = "METRIC,…", value_delimiter = ',', hide_possible_values = true)]
    pub metric: Vec<Measure>,
    /// Only this state of the page cache
    #[arg(long, value_name = "STATE")]
    pub state: Option<CacheState>,
    /// Statistic by which readings are compared; a published mean is always compared with a mean
    #[arg(long, value_name = "CENTER", default_value = "median")]
    pub stats: Center,
    /// Print the percentiles of every number too
    #[arg(long)]
    pub percentiles: bool,
    /// A fact of the machines, for sides that do not know it, for example `max_turbo_ghz=4.7`, or
    /// `B:max_turbo_ghz=4.7` for one of them; may be repeated
    #[arg(long = "fact", value_name = "[SIDE:]NAME=VALUE")]
    pub facts: Vec<UserFact>,
    /// Also compare and fit trials of the same name whose file, work, state or parameters differ
    #[arg(long)]
    pub force: bool,
    /// End with exit code 3 if the whole 95 % interval of a ratio is worse by more than this share
    #[arg(long, value_name = "SHARE", value_parser = options::parse_share)]
    pub fail_over: Option<f64>,
    /// With --fail-over: do not end with exit code 1 if a side lacks a trial, or if a trial of the
    /// baseline failed; a trial that failed on another side still does
    #[arg(long, requires = "fail_over")]
    pub allow_missing: bool,
    /// Rate from the drive's data sheet, for example 3400MB/s, for machines whose data sheet is not
    /// known
    #[arg(long, value_name = "RATE")]
    pub datasheet: Option<Throughput>,
    /// Fit a straight line through the machines, for example `--fit zip/wall
    /// machine.max_turbo_ghz`, and show which value each machine needs to reach the others
    #[arg(long, num_args = 2, value_names = ["CASE/METRIC", "FACT"])]
    pub fit: Option<Vec<String>>,
    /// Write the comparison as one JSON document, in place of an earlier one; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_json: Option<PathBuf>,
    /// Write the comparison as Markdown, in place of an earlier one; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_markdown: Option<PathBuf>,
    /// Write the comparison as one self-contained page, in place of an earlier one; `-` is standard
    /// output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_html: Option<PathBuf>,
    /// Write the numbers of the last NAME in Bencher Metric Format; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_bmf: Option<PathBuf>,
    /// Write the numbers of the last NAME as github-action-benchmark's array
    /// (customSmallerIsBetter); `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_github: Option<PathBuf>,
    /// When to colour the tables
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub color: ColorWhen,
}

/// Exit code if something is worse than allowed, with statistical significance.
const EXIT_WORSE: u8 = 3;

/// The data from which a comparison is exported.
struct ComparisonExport<'a> {
    comparison: &'a Comparison,
    fit: Option<&'a Fit>,
    /// A sentence about each case that is worse than `--fail-over` allows; `None` without that
    /// option.
    worse_sentences: Option<&'a [String]>,
    last_side: &'a Side,
}

pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let (mut sides, inputs) = args.sides()?;
    let exports = args.exports();
    output_file::check(&exports.files(), &inputs)?;
    if let Some(sheet) = args.datasheet {
        published::add_data_sheet(&mut sides, sheet.0);
    }
    if let Some(state) = args.state {
        let other = |case: &readlab_analysis::compare::Case| case.key.state.is_some_and(|own| own != state);
        sides.iter_mut().for_each(|side| side.cases.retain(|case| !other(case)));
    }
    args.facts.iter().try_for_each(|fact| fact.apply(&mut sides))?;
    let fit = args.fitted_line(&sides)?;
    let measures = args.chosen_measures(&sides);
    let gate = args.fail_over.map(|allowed_share| Gate { allowed_share });
    let mut comparison = match gate {
        Some(_) => Comparison::for_gate(sides, &measures, args.stats, args.force)?,
        None => Comparison::new(sides, &measures, args.stats, args.force)?,
    };
    comparison.lists_percentiles = args.percentiles;
    if args.datasheet.is_none() && args.fit.is_none() && comparison.sides.len() == 1 {
        comparison.sheet_rows.clear();
    }
    let worse = gate.map(|gate| gate.worse_sentences(&comparison)).transpose()?;
    let (fit, last) = (fit.as_ref(), comparison.sides.last().context("nothing is compared")?);
    let shown =
        ComparisonExport { comparison: &comparison, fit, worse_sentences: worse.as_deref(), last_side: last };
    exports.write(&shown, &inputs)?;
    if !exports.uses_standard_output() {
        let tables = report::comparison_terminal(&comparison, fit, table_style(args.color));
        std::io::stdout().write_all(tables.as_bytes())?;
    }
    Ok(ExitCode::from(print_gate_verdict(&comparison, worse.as_deref(), args.allow_missing)))
}

/// Prints which cases are worse and which could not be judged, and returns the exit code. Worse
/// cases take precedence over missing ones.
fn print_gate_verdict(comparison: &Comparison, worse: Option<&[String]>, allow_missing: bool) -> u8 {
    let Some(worse) = worse else { return 0 };
    let mut missing = Gate::broken_sentences(comparison);
    if !allow_missing {
        missing.extend(Gate::unjudged_sentences(comparison));
    }
    worse.iter().for_each(|line| notice::show(format!("worse: {line}")));
    missing.iter().for_each(|line| notice::show(format!("not judged: {line}")));
    if missing.is_empty() && !Gate::judges_any(comparison) {
        notice::show("nothing was judged: no ratio has an interval");
    }
    match (worse.is_empty(), missing.is_empty()) {
        (false, _) => EXIT_WORSE,
        (true, false) => EXIT_TRIAL_FAILED,
        (true, true) => 0,
    }
}

impl CompareArgs {
    /// The sides to compare, and the input files that no output may replace.
    fn sides(&self) -> anyhow::Result<(Vec<Side>, InputFiles)> {
        let history = History::of_user();
        let (mut sides, mut inputs) = (Vec::new(), InputFiles::default());
        for name in &self.names {
            if let Some(publication) = name.strip_prefix(PUBLISHED_PREFIX) {
                sides.extend(published::sides(publication)?);
                continue;
            }
            let path = record_path(history.as_ref(), name)?;
            let record = Record::read(&path)?;
            inputs.join(inputs_of_record(&record, &path));
            let mut side = Side::of_record(&record, name, &display_path(&path));
            side.notes.extend(report::cautions(&record));
            sides.push(side);
        }
        Ok((sides, inputs))
    }

    /// The measures that the user chose; by default wall time, or the rate if a side has no times.
    fn chosen_measures(&self, sides: &[Side]) -> Vec<Measure> {
        let timed = |side: &Side| side.cases.iter().any(|case| case.figures.contains_key(&Measure::Wall));
        match self.metric.as_slice() {
            [] if sides.iter().all(timed) => vec![Measure::Wall],
            [] => vec![Measure::Rate],
            chosen => chosen.to_vec(),
        }
    }

    fn fitted_line(&self, sides: &[Side]) -> anyhow::Result<Option<Fit>> {
        let Some([what, fact]) = self.fit.as_deref() else { return Ok(None) };
        let request = FitRequest { is_forced: self.force, ..FitRequest::parse(what, fact)? };
        Ok(Some(fit(sides, &request)?))
    }

    fn exports<'d>(&self) -> Exports<'_, ComparisonExport<'d>> {
        let json = |it: &ComparisonExport| report::comparison_json(it.comparison, it.fit, it.worse_sentences);
        let markdown = |it: &ComparisonExport| report::comparison_markdown(it.comparison, it.fit);
        let html = |it: &ComparisonExport| report::comparison_html(it.comparison, it.fit);
        let bencher = |it: &ComparisonExport| report::bencher_json(it.last_side);
        let github = |it: &ComparisonExport| report::github_json(it.last_side);
        Exports::new([
            Export::text_document(EXPORT_JSON, &self.export_json, report::is_comparison_json, json),
            Export::text_document(EXPORT_MARKDOWN, &self.export_markdown, report::is_own_markdown, markdown),
            Export::text_document("--export-html", &self.export_html, markup::is_own_page, html),
            Export::text_document("--export-bmf", &self.export_bmf, report::is_own_bencher_json, bencher),
            Export::text_document("--export-github", &self.export_github, report::is_own_github_json, github),
        ])
    }
}

/// The path of the record with this name or path. Without a data folder, only paths are accepted.
pub(super) fn record_path(history: Result<&History, &HistoryError>, name: &str) -> anyhow::Result<PathBuf> {
    match history {
        Ok(history) => Ok(history.find(name)?),
        Err(_) if Path::new(name).is_file() => Ok(PathBuf::from(name)),
        Err(_) if Path::new(name).is_dir() => Ok(Path::new(name).join(RECORD)),
        Err(error) => anyhow::bail!("{name}: {error}"),
    }
}

/// A fact such as `max_turbo_ghz=4.7` for all sides that lack it, or `B:max_turbo_ghz=4.7` for one.
#[derive(Debug, Clone, PartialEq)]
pub struct UserFact {
    /// The letter or the name of a side; `None` for all sides that lack the fact.
    side: Option<String>,
    name: String,
    value: Value,
}

impl FromStr for UserFact {
    type Err = String;

    fn from_str(text: &str) -> Result<UserFact, String> {
        let wrong = || format!("'{text}' is no fact such as max_turbo_ghz=4.7 or B:max_turbo_ghz=4.7");
        let (named, value) = text.split_once('=').filter(|(_, value)| !value.is_empty()).ok_or_else(wrong)?;
        let (side, name) = named.split_once(':').map_or((None, named), |(side, name)| (Some(side), name));
        let name = name.strip_prefix("machine.").unwrap_or(name);
        if name.is_empty() || side.is_some_and(str::is_empty) {
            return Err(wrong());
        }
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
        let value = number.map_or_else(|| value.into(), Value::from);
        Ok(UserFact { side: side.map(str::to_owned), name: name.to_owned(), value })
    }
}

impl UserFact {
    /// Adds the fact to the side that the user named, or to all sides that lack the fact.
    fn apply(&self, sides: &mut [Side]) -> anyhow::Result<()> {
        let Some(named) = &self.side else {
            let lacks = |side: &&mut Side| side.facts.get(&self.name).is_none_or(Value::is_null);
            let mut lacking = sides.iter_mut().filter(lacks).peekable();
            ensure!(
                lacking.peek().is_some(),
                "--fact {name}={value}: every side has its own; A:{name}={value} replaces that of the first",
                name = self.name,
                value = self.value
            );
            lacking.for_each(|side| self.add_to_side(side));
            return Ok(());
        };
        let at =
            sides.iter().enumerate().position(|(at, side)| side_letter(at) == *named || side.name == *named);
        let Some(at) = at else {
            let names: Vec<String> = sides
                .iter()
                .enumerate()
                .map(|(at, side)| format!("{} ({})", side_letter(at), side.name))
                .collect();
            bail!("--fact {named}:{}: no side is called so; there are {}", self.name, names.join(", "));
        };
        sides.get_mut(at).map(|side| self.add_to_side(side)).context("its place was just found")
    }

    fn add_to_side(&self, side: &mut Side) {
        side.facts.insert(self.name.clone(), self.value.clone());
        side.notes.push(format!("{} = {} was given by --fact", self.name, self.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn sides() -> Vec<Side> {
        let side = |name: &str, facts: BTreeMap<String, Value>| Side {
            name: name.to_owned(),
            about: String::new(),
            facts,
            notes: Vec::new(),
            cases: Vec::new(),
        };
        vec![side("one", BTreeMap::from([("ghz".to_owned(), 3.0.into())])), side("two", BTreeMap::new())]
    }

    fn sides_with_fact(text: &str) -> Result<Vec<Side>, String> {
        let mut sides = sides();
        text.parse::<UserFact>()?.apply(&mut sides).map_err(|error| error.to_string())?;
        Ok(sides)
    }

    #[test]
    fn a_fact_goes_to_the_sides_that_lack_it_or_to_the_named_one() {
        let ghz = |sides: Vec<Side>| {
            sides.iter().map(|side| side.facts["ghz"].as_f64().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(ghz(sides_with_fact("machine.ghz=4.7").unwrap()), [3.0, 4.7]);
        assert_eq!(ghz(sides_with_fact("B:ghz=4").unwrap()), [3.0, 4.0]);
        let named = sides_with_fact("one:ghz=5").unwrap();
        assert_eq!(named[0].facts["ghz"], 5.0);
        assert_eq!(named[0].notes, ["ghz = 5.0 was given by --fact"]);
        assert_eq!(sides_with_fact("drive=fast").unwrap()[1].facts["drive"], "fast");
    }

    #[test]
    fn malformed_facts_and_unknown_sides_are_errors_that_name_them() {
        for text in ["ghz", "=4", "ghz=", ":ghz=4", "B:=4"] {
            assert!(sides_with_fact(text).unwrap_err().contains("is no fact such as"), "{text}");
        }
        assert!(sides_with_fact("C:ghz=4").unwrap_err().contains("there are A (one), B (two)"));
    }

    #[test]
    fn a_fact_that_every_side_has_is_refused_with_the_form_that_replaces_it() {
        let fact = |text: &str| text.parse::<UserFact>().unwrap();
        let mut sides = sides();
        fact("ghz=4").apply(&mut sides).unwrap();
        let said = fact("ghz=4.7").apply(&mut sides).unwrap_err().to_string();
        assert_eq!(said, "--fact ghz=4.7: every side has its own; A:ghz=4.7 replaces that of the first");
        fact("A:ghz=4.7").apply(&mut sides).unwrap();
        assert_eq!(sides[0].facts["ghz"], 4.7);
    }
}
