//! `readlab report RECORD`: one self-contained page, made from the record alone, its charts as
//! files, and the same results for programs.

use super::compare::path_of;
use super::options::EXPORT_JSON;
use super::output::inputs_of;
use anyhow::Context;
use clap::Args;
use readlab_claims as claims;
use readlab_record::Record;
use readlab_record::history::History;
use readlab_report::{self as report, Page};
use readlab_system::folder::output_file::{self, OutputFile};
use readlab_system::folder::{RECORD, REPORT};
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::without_parents;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `readlab report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The record: `last`, `last~1`, a name given with --save, a run's folder, or a path
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// File for the page, in place of FILE; `-` is standard output [default: report.html beside the
    /// record]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// List every row of a ranking, those that tie with others too
    #[arg(long)]
    pub all: bool,
    /// Also write each chart as an SVG file into this folder, in place of files of its name
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Judge the claims of this file [default: what publications claim about the run, if any does]
    #[arg(long, value_name = "FILE")]
    pub claims: Option<PathBuf>,
    /// Also write all results as one JSON document, in place of FILE; `-` is standard output
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
        None if args.record.is_dir() => args.record.join(RECORD),
        None => args.record.clone(),
    };
    let mut record = Record::read(&path)?;
    let judged = match &args.claims {
        Some(file) => vec![claims::judge(&claims::read(file)?, Some(&record))],
        None => claims::judged_by(&record),
    };
    let output = args.output.clone().unwrap_or_else(|| path.with_file_name(REPORT));
    let inputs = inputs_of(&record, &path);
    let page_file = OutputFile { option: "--output", file: &output };
    let json_file = args.export_json.as_deref().map(|file| OutputFile { option: EXPORT_JSON, file });
    output_file::check(&[Some(page_file), json_file].into_iter().flatten().collect::<Vec<_>>(), &inputs)?;
    if let Some(file) = json_file {
        file.write(&inputs, |out| report::json_with(&record, &judged, out))?;
    }
    if output.parent() != path.parent() {
        name_whole(&mut record, path.parent().unwrap_or(Path::new(".")))?;
    }
    let mut page = Page::from_record(&record);
    page.lists_all |= args.all;
    page.judged_claims = judged;
    page_file.write(&inputs, |out| out.write_all(report::html(&page).as_bytes()))?;
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).with_context(|| display_path(folder))?;
        for (name, text) in report::charts(&page) {
            let file = folder.join(name).with_extension("svg");
            OutputFile { option: "--svg", file: &file }
                .write(&inputs, |out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Flame graphs are named relative to the record's folder: a page in another folder names them by
/// their whole paths.
fn name_whole(record: &mut Record, folder: &Path) -> anyhow::Result<()> {
    let folder = without_parents(folder).with_context(|| display_path(folder))?;
    let graphs = record.trials.iter_mut().filter_map(|trial| trial.flame_graph.as_mut());
    for file in graphs.filter_map(|graph| graph.file.as_mut()) {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    Ok(())
}
