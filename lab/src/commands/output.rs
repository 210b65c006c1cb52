//! What a run gives: when it begins, a record in its place under its name; when it is over, the
//! page beside the record, the table on standard output, and the exports.

use crate::commands::options::OutputOptions;
use crate::experiment::recorder::Recorder;
use crate::folder::REPORT;
use crate::linux::{terminal_size, user};
use crate::record::Record;
use crate::record::history::History;
use crate::report::{self, Page, Style};
use crate::target::shown;
use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Whether the run says how far it is.
pub(super) fn progress_shown(giving: &OutputOptions) -> bool {
    !giving.quiet && !giving.no_progress
}

/// The record of a run whose first lines are written gets its place and the name that the user
/// gave, so that both stay when the run is killed; one that cannot have them is taken back.
pub(super) fn begin(giving: &OutputOptions, mut recorder: Recorder) -> anyhow::Result<Recorder> {
    recorder.publish()?;
    match save(giving, recorder.path()) {
        Ok(()) => Ok(recorder),
        Err(error) => {
            recorder.withdraw()?;
            Err(error)
        }
    }
}

/// Gives a record the name for which the user asked.
pub(super) fn save(giving: &OutputOptions, record: &Path) -> anyhow::Result<()> {
    if let Some(name) = &giving.save {
        History::of_user()?.save(name, record)?;
    }
    Ok(())
}

/// The page beside the record, the table on standard output, and the exports where they were asked
/// for.
pub(super) fn show(giving: &OutputOptions, record: &Record, path: &Path) -> anyhow::Result<()> {
    let page = Page::of(record);
    let beside = path.with_file_name(REPORT);
    let paged = write_page(&beside, &report::html(&page)).with_context(|| shown(&beside));
    let exports = [
        (&giving.export_json, report::json as fn(&Record, &mut dyn Write) -> std::io::Result<()>),
        (&giving.export_csv, report::csv),
        (&giving.export_markdown, |record, out| {
            out.write_all(report::markdown(&Page::of(record)).as_bytes())
        }),
    ];
    let mut given = exports.iter().filter_map(|(file, export)| Some((file.as_deref()?, export)));
    let exported = given
        .clone()
        .try_for_each(|(file, export)| write(file, |out| export(record, out)).with_context(|| shown(file)));
    // A document on standard output is for a program: the table would spoil it.
    if giving.quiet || given.any(|(file, _)| file == Path::new("-")) {
        return paged.and(exported);
    }
    // What was measured is shown even where a page or an export could not be written.
    let style = Style { width: terminal_width(), color: giving.color.is_on() };
    let mut table = report::terminal(&page, style, Some(&shown(path)));
    if giving.percentiles {
        table += &report::percentiles(&page);
    }
    let told = std::io::stdout().write_all(table.as_bytes());
    paged.and(exported).and(told.context("standard output"))
}

/// Writes the page, or leaves none: half a page is no page.
fn write_page(path: &Path, html: &str) -> std::io::Result<()> {
    File::create(path)?.write_all(html.as_bytes()).inspect_err(|_| {
        // Where it cannot be removed either, the error that is told names it.
        let _ = std::fs::remove_file(path);
    })
}

/// Columns of the terminal that standard output is; where it is none, wide enough for every column.
pub(super) fn terminal_width() -> u16 {
    const UNBOUNDED: u16 = 200;
    terminal_size::columns().map_or(UNBOUNDED, |columns| columns.max(40))
}

/// Refuses exports that could not be written when the race is over, before it begins.
pub(super) fn exportable(giving: &OutputOptions) -> anyhow::Result<()> {
    let exports = [&giving.export_json, &giving.export_csv, &giving.export_markdown];
    exports.into_iter().flatten().try_for_each(|file| writable(file))
}

/// Whether an export can be written.
fn writable(file: &Path) -> anyhow::Result<()> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let can = if file == Path::new("-") {
        return Ok(());
    } else if file.is_dir() {
        Err(std::io::ErrorKind::IsADirectory.into())
    } else if file.exists() {
        user::check_writable(file)
    } else if folder.exists() && !folder.is_dir() {
        Err(std::io::ErrorKind::NotADirectory.into())
    } else {
        user::check_writable(folder)
    };
    can.with_context(|| shown(file))
}

/// To a file, or with `-` to standard output.
pub(super) fn write(
    file: &Path,
    export: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let file: Box<dyn Write> =
        if file == Path::new("-") { Box::new(std::io::stdout()) } else { Box::new(File::create(file)?) };
    let mut out = BufWriter::new(file);
    export(&mut out)?;
    out.flush()
}
