//! `readlab report RECORD`: one self-contained page, made from the record alone, its charts as
//! files, and the same results for programs.

use super::compare::path_of;
use super::output;
use crate::claims::{self, JudgedClaims};
use crate::folder::REPORT;
use crate::record::Record;
use crate::record::history::History;
use crate::report::{self, Page};
use crate::target::{shown, without_parents};
use anyhow::{Context, ensure};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `readlab report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The record: `last`, `last~1`, a name given with --save, a run's folder, or a path
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// File for the page; `-` is standard output [default: report.html beside the record]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// List every row of a ranking, those that tie with others too
    #[arg(long)]
    pub all: bool,
    /// Also write each chart as an SVG file into this folder
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Judge the claims of this file [default: what publications claim about the run, if any does]
    #[arg(long, value_name = "FILE")]
    pub claims: Option<PathBuf>,
    /// Also write all results as one JSON document; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
}

/// Makes the page. A record that was cut short gives a page that says so.
///
/// # Errors
/// If the file is no record or one of a later schema, or the page cannot be written.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let path = match args.record.to_str() {
        Some(name) => path_of(History::of_user().as_ref(), name)?,
        None if args.record.is_dir() => args.record.join("record.jsonl"),
        None => args.record.clone(),
    };
    let mut record = Record::read(&path)?;
    let judged = match &args.claims {
        Some(file) => vec![claims::judge(&claims::read(file)?, Some(&record))],
        None => claims::judged_by(&record),
    };
    if let Some(file) = &args.export_json {
        export(&record, &judged, file, args, &path)?;
    }
    let output = args.output.clone().unwrap_or_else(|| path.with_file_name(REPORT));
    if output.parent() != path.parent() {
        name_whole(&mut record, path.parent().unwrap_or(Path::new(".")))?;
    }
    let mut page = Page::of(&record);
    page.lists_all |= args.all;
    page.judged_claims = judged;
    if output == Path::new("-") {
        std::io::stdout().write_all(report::html(&page).as_bytes())?;
    } else {
        keep(&output, &path)?;
        std::fs::write(&output, report::html(&page)).with_context(|| shown(&output))?;
    }
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).with_context(|| shown(folder))?;
        for (name, text) in report::charts(&page) {
            let file = folder.join(name).with_extension("svg");
            std::fs::write(&file, text).with_context(|| shown(&file))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the results for programs, by the record's own names of files.
fn export(
    record: &Record,
    judged: &[JudgedClaims],
    file: &Path,
    args: &ReportArgs,
    path: &Path,
) -> anyhow::Result<()> {
    let is_page = args.output.as_deref() == Some(file);
    ensure!(!is_page, "{}: is the page; name another file with --export-json", shown(file));
    keep(file, path)?;
    output::write(file, |out| report::json_with(record, judged, out)).with_context(|| shown(file))
}

/// Flame graphs are named relative to the record's folder: a page in another folder names them by
/// their whole paths.
fn name_whole(record: &mut Record, folder: &Path) -> anyhow::Result<()> {
    let folder = without_parents(folder).with_context(|| shown(folder))?;
    let graphs = record.trials.iter_mut().filter_map(|trial| trial.flame_graph.as_mut());
    for file in graphs.filter_map(|graph| graph.file.as_mut()) {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    Ok(())
}

/// Refuses to write the page over its own record, by whatever name.
fn keep(output: &Path, record: &Path) -> anyhow::Result<()> {
    let same = match (output.canonicalize(), record.canonicalize()) {
        (Ok(output), Ok(record)) => output == record,
        // What does not exist yet is not the record.
        _ => false,
    };
    ensure!(!same, "{}: is the record itself; name another file", shown(output));
    Ok(())
}
