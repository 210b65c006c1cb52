//! `readlab compare A B…`: records and published results side by side, with ratios, a gate for
//! continuous integration, and exports for services that track benchmarks.

use super::given_fact::GivenFact;
use super::output::{self, inputs_of};
use crate::commands::options::{self, ColorWhen, EXPORT_JSON, EXPORT_MARKDOWN, given_exports};
use anyhow::Context;
use clap::Args;
use readlab_analysis::compare::{Center, Comparison, Fit, FitRequest, Gate, Measure, Side, fit};
use readlab_model::trial::CacheState;
use readlab_model::units::Throughput;
use readlab_record::Record;
use readlab_record::history::{History, HistoryError};
use readlab_report::{self as report, Style};
use readlab_run::experiment::outcome::EXIT_TRIAL;
use readlab_suite::published::{self, PREFIX};
use readlab_system::folder::RECORD;
use readlab_system::folder::output_file::{self, Inputs, OutputFile};
use readlab_system::markup;
use readlab_system::terminal::notice;
use readlab_system::terminal::printable::display_path;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `readlab compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// What to compare; the first is the baseline. A record's path, `last`, `last~1`, a name given
    /// with --save, or published:newlines, published:urlsession, published:zip-lines,
    /// published:ssd-sizes, optionally followed by /MACHINE
    #[arg(required = true, value_name = "NAME")]
    pub names: Vec<String>,
    /// Numbers to compare: wall, cpu, rate, peak, device, syscalls, mallocs, retains, releases,
    /// slope, most, fixed [default: wall, or rate if a side has no times]
    #[arg(long, value_name = "METRIC,…", value_delimiter = ',', hide_possible_values = true)]
    pub metric: Vec<Measure>,
    /// Only this state of the page cache
    #[arg(long, value_name = "STATE")]
    pub state: Option<CacheState>,
    /// By which number readings are compared; a published mean is always compared with a mean
    #[arg(long, value_name = "CENTER", default_value = "median")]
    pub stats: Center,
    /// Print the percentiles of every number too
    #[arg(long)]
    pub percentiles: bool,
    /// A fact of the machines, for sides that do not know it, for example `max_turbo_ghz=4.7`, or
    /// `B:max_turbo_ghz=4.7` for one of them; may be repeated
    #[arg(long = "fact", value_name = "[SIDE:]NAME=VALUE")]
    pub facts: Vec<GivenFact>,
    /// Also compare and fit trials of the same name whose file, work, state or parameters differ
    #[arg(long)]
    pub force: bool,
    /// End with exit code 3 if the whole 95 % interval of a ratio is worse by more than this share
    #[arg(long, value_name = "SHARE", value_parser = options::share)]
    pub fail_over: Option<f64>,
    /// With --fail-over: do not end with exit code 1 if one side lacks a trial; a failed trial
    /// still does
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

/// Something is worse than allowed, beyond doubt.
const EXIT_WORSE: u8 = 3;

/// What a comparison is exported as.
#[derive(Debug, Clone, Copy)]
enum Export {
    Json,
    Markdown,
    Html,
    Bencher,
    Github,
}

/// Compares, shows, exports, judges.
///
/// # Errors
/// If a name means nothing, a file is no record, nothing is alike, or an export cannot be written.
pub fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let (mut sides, inputs) = args.sides()?;
    output_file::check(&args.files(), &inputs)?;
    if let Some(sheet) = args.datasheet {
        published::with_sheet(&mut sides, sheet.0);
    }
    if let Some(state) = args.state {
        let other = |case: &readlab_analysis::compare::Case| case.key.state.is_some_and(|own| own != state);
        sides.iter_mut().for_each(|side| side.cases.retain(|case| !other(case)));
    }
    args.facts.iter().try_for_each(|fact| fact.give(&mut sides))?;
    let fit = args.fit(&sides)?;
    let measures = args.measures(&sides);
    let mut comparison = Comparison::new(sides, &measures, args.stats, args.force)?;
    comparison.lists_percentiles = args.percentiles;
    if args.datasheet.is_none() && args.fit.is_none() && comparison.sides.len() == 1 {
        comparison.sheets.clear();
    }
    let gate = args.fail_over.map(|fail_over| Gate { fail_over });
    let worse = gate.map(|gate| gate.judge(&comparison)).transpose()?;
    args.give(&comparison, fit.as_ref(), worse.as_deref(), &inputs)?;
    Ok(ExitCode::from(verdict(&comparison, worse.as_deref(), args.allow_missing)))
}

/// Prints what is worse and what could not be judged, and returns the exit code. Worse takes
/// precedence over missing.
fn verdict(comparison: &Comparison, worse: Option<&[String]>, allow_missing: bool) -> u8 {
    let Some(worse) = worse else { return 0 };
    let mut missing = Gate::broken(comparison);
    if !allow_missing {
        missing.extend(Gate::missing(comparison));
    }
    worse.iter().for_each(|line| notice::show(format!("worse: {line}")));
    missing.iter().for_each(|line| notice::show(format!("not judged: {line}")));
    match (worse.is_empty(), missing.is_empty()) {
        (false, _) => EXIT_WORSE,
        (true, false) => EXIT_TRIAL,
        (true, true) => 0,
    }
}

impl CompareArgs {
    /// What is compared, and the files that no output may replace.
    fn sides(&self) -> anyhow::Result<(Vec<Side>, Inputs)> {
        let history = History::of_user();
        let (mut sides, mut inputs) = (Vec::new(), Inputs::default());
        for name in &self.names {
            if let Some(publication) = name.strip_prefix(PREFIX) {
                sides.extend(published::sides(publication)?);
                continue;
            }
            let path = path_of(history.as_ref(), name)?;
            let record = Record::read(&path)?;
            inputs.join(inputs_of(&record, &path));
            let mut side = Side::of_record(&record, name, &display_path(&path));
            side.notes.extend(report::cautions(&record));
            sides.push(side);
        }
        Ok((sides, inputs))
    }

    /// What the user chose; else time, or rate where some side knows none.
    fn measures(&self, sides: &[Side]) -> Vec<Measure> {
        let timed = |side: &Side| side.cases.iter().any(|case| case.figures.contains_key(&Measure::Wall));
        match self.metric.as_slice() {
            [] if sides.iter().all(timed) => vec![Measure::Wall],
            [] => vec![Measure::Rate],
            chosen => chosen.to_vec(),
        }
    }

    fn fit(&self, sides: &[Side]) -> anyhow::Result<Option<Fit>> {
        let Some([what, fact]) = self.fit.as_deref() else { return Ok(None) };
        let request = FitRequest { force: self.force, ..FitRequest::parse(what, fact)? };
        Ok(Some(fit(sides, &request)?))
    }

    fn exports(&self) -> Vec<(Export, OutputFile<'_>)> {
        given_exports([
            (Export::Json, OutputFile::given(EXPORT_JSON, &self.export_json, report::is_comparison_json)),
            (
                Export::Markdown,
                OutputFile::given(EXPORT_MARKDOWN, &self.export_markdown, report::is_markdown),
            ),
            (Export::Html, OutputFile::given("--export-html", &self.export_html, markup::is_page)),
            (Export::Bencher, OutputFile::given("--export-bmf", &self.export_bmf, report::is_bencher)),
            (Export::Github, OutputFile::given("--export-github", &self.export_github, report::is_github)),
        ])
    }

    fn files(&self) -> Vec<OutputFile<'_>> {
        self.exports().into_iter().map(|(_, file)| file).collect()
    }

    /// The exports, and the tables unless a document goes to standard output.
    fn give(
        &self,
        comparison: &Comparison,
        fit: Option<&Fit>,
        worse: Option<&[String]>,
        inputs: &Inputs,
    ) -> anyhow::Result<()> {
        let last = comparison.sides.last().context("nothing is compared")?;
        for (export, file) in self.exports() {
            let text = match export {
                Export::Json => report::comparison_json(comparison, fit, worse),
                Export::Markdown => report::comparison_markdown(comparison, fit),
                Export::Html => report::comparison_html(comparison, fit),
                Export::Bencher => report::bencher(last),
                Export::Github => report::github(last),
            };
            file.write(inputs, |out| out.write_all(text.as_bytes()))?;
        }
        if !self.files().iter().any(OutputFile::is_standard_output) {
            let style =
                Style { width: output::terminal_width(), color: self.color.is_on(&std::io::stdout()) };
            std::io::stdout().write_all(report::comparison_terminal(comparison, fit, style).as_bytes())?;
        }
        Ok(())
    }
}

/// The path of the record with this name or path. Paths work without a data folder, too.
pub(super) fn path_of(history: Result<&History, &HistoryError>, name: &str) -> anyhow::Result<PathBuf> {
    match history {
        Ok(history) => Ok(history.find(name)?),
        Err(_) if Path::new(name).is_file() => Ok(PathBuf::from(name)),
        Err(_) if Path::new(name).is_dir() => Ok(Path::new(name).join(RECORD)),
        Err(error) => anyhow::bail!("{name}: {error}"),
    }
}
