//! `readlab report RECORD`: one self-contained page, made from the record alone; optionally its
//! charts as files and the same results for programs.

use super::compare::record_path;
use super::exports::EXPORT_JSON;
use super::output::inputs_of_record;
use anyhow::Context;
use clap::Args;
use readlab_claims as claims;
use readlab_record::Record;
use readlab_record::history::History;
use readlab_report::{self as report, Page};
use readlab_system::folder::output_file::{self, InputFiles, OutputFile};
use readlab_system::folder::{RECORD, REPORT};
use readlab_system::markup;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::absolute_without_dot_dot;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The record: `last`, `last~1`, a name given with --save, a run's folder, or a path
    #[arg(value_name = "RECORD")]
    pub record: PathBuf,
    /// File for the page, in place of an earlier one; `-` is standard output [default: report.html
    /// beside the record]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// List every row of a ranking, those that tie with others too
    #[arg(long)]
    pub all: bool,
    /// Also write each chart as an SVG file into this folder, in place of earlier ones
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Judge the claims of this file [default: what publications claim about the run, if any does]
    #[arg(long, value_name = "FILE")]
    pub claims: Option<PathBuf>,
    /// Also write all results as one JSON document, in place of an earlier one; `-` is standard
    /// output
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
}

/// Makes the page. If the record is incomplete, the page says so.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let path = match args.record.to_str() {
        Some(name) => record_path(History::of_user().as_ref(), name)?,
        None if args.record.is_dir() => args.record.join(RECORD),
        None => args.record.clone(),
    };
    let record = Record::read(&path)?;
    let judged = match &args.claims {
        Some(file) => vec![claims::judge(&claims::read(file)?, Some(&record))],
        None => claims::judge_built_in(&record),
    };
    let output = args.output.clone().unwrap_or_else(|| path.with_file_name(REPORT));
    let mut inputs = inputs_of_record(&record, &path);
    inputs.join(InputFiles::at(args.claims.iter().map(PathBuf::as_path)));
    let mut page = Page::from_record(&record);
    page.lists_all |= args.all;
    page.judged_claims = judged.clone();
    if output.parent() != path.parent() {
        use_absolute_paths(&mut page, path.parent().unwrap_or(Path::new(".")))?;
    }
    let pictures: Vec<(PathBuf, String)> =
        args.svg.iter().flat_map(|folder| chart_files(&page, folder)).collect();
    let page_file = OutputFile { option: "--output", file: &output, is_earlier_output: markup::is_own_page };
    let json_file = OutputFile::if_requested(EXPORT_JSON, &args.export_json, report::is_own_json);
    let picture = |file| OutputFile { option: "--svg", file, is_earlier_output: markup::is_own_picture };
    // A folder that does not exist yet contains no file to be replaced.
    let is_there = args.svg.as_deref().is_some_and(Path::exists);
    let pictured = pictures.iter().filter(|_| is_there).map(|(file, _)| picture(file));
    let files: Vec<OutputFile> = std::iter::once(page_file).chain(json_file).chain(pictured).collect();
    output_file::check(&files, &inputs)?;
    if let Some(file) = json_file {
        file.write(&inputs, |out| report::write_json_with_claims(&record, &judged, out))?;
    }
    page_file.write(&inputs, |out| out.write_all(report::html(&page).as_bytes()))?;
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).with_context(|| display_path(folder))?;
    }
    for (file, text) in &pictures {
        picture(file).write(&inputs, |out| out.write_all(text.as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The path and the text of each chart.
fn chart_files(page: &Page, folder: &Path) -> Vec<(PathBuf, String)> {
    let in_folder = |(name, text)| (folder.join(name).with_extension("svg"), text);
    report::svg_files(page).into_iter().map(in_folder).collect()
}

/// Makes the paths of flame graphs, which are relative to the record's folder, absolute for a page
/// in another folder. `folder` is the record's folder.
fn use_absolute_paths(page: &mut Page, folder: &Path) -> anyhow::Result<()> {
    let folder = absolute_without_dot_dot(folder).with_context(|| display_path(folder))?;
    let graphs = page.inspected_trials.iter_mut().filter_map(|it| it.flame_graph.as_mut());
    for file in graphs.filter_map(|graph| graph.picture_path.as_mut()) {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    Ok(())
}
