//! Exports: documents that are written to the files that options name, or to standard output in
//! place of tables.

use super::options::ColorWhen;
use readlab_report::Style;
use readlab_system::folder::earlier_output::IsOutput;
use readlab_system::folder::output_file::{Inputs, OutputError, OutputFile};
use readlab_system::tty;
use std::io::{self, Write};
use std::path::PathBuf;

pub(super) const EXPORT_JSON: &str = "--export-json";
pub(super) const EXPORT_MARKDOWN: &str = "--export-markdown";

/// A document from data of type `D`, and its file.
pub(super) struct Export<'a, D> {
    file: OutputFile<'a>,
    document: Document<D>,
}

/// How a document is made from data of type `D`.
enum Document<D> {
    Text(fn(&D) -> String),
    /// A document that may be long, and is written piece by piece.
    Streamed(fn(&D, &mut dyn Write) -> io::Result<()>),
}

pub(super) struct Exports<'a, D>(Vec<Export<'a, D>>);

impl<'a, D> Export<'a, D> {
    /// The export that an option requests; `None` if the option was not given.
    pub(super) fn text_document(
        option: &'static str,
        file: &'a Option<PathBuf>,
        is_earlier_output: IsOutput,
        text: fn(&D) -> String,
    ) -> Option<Export<'a, D>> {
        Some(Export {
            file: OutputFile::if_requested(option, file, is_earlier_output)?,
            document: Document::Text(text),
        })
    }

    /// The same as `text_document`, for a document that is written piece by piece.
    pub(super) fn streamed_document(
        option: &'static str,
        file: &'a Option<PathBuf>,
        is_earlier_output: IsOutput,
        write: fn(&D, &mut dyn Write) -> io::Result<()>,
    ) -> Option<Export<'a, D>> {
        Some(Export {
            file: OutputFile::if_requested(option, file, is_earlier_output)?,
            document: Document::Streamed(write),
        })
    }

    fn write(&self, data: &D, inputs: &Inputs) -> Result<(), OutputError> {
        self.file.write(inputs, |out| match self.document {
            Document::Text(text) => out.write_all(text(data).as_bytes()),
            Document::Streamed(write) => write(data, out),
        })
    }
}

impl<'a, D> Exports<'a, D> {
    pub(super) fn new<const N: usize>(all: [Option<Export<'a, D>>; N]) -> Exports<'a, D> {
        Exports(all.into_iter().flatten().collect())
    }

    pub(super) fn files(&self) -> Vec<OutputFile<'a>> {
        self.0.iter().map(|export| export.file).collect()
    }

    pub(super) fn write(&self, data: &D, inputs: &Inputs) -> Result<(), OutputError> {
        self.0.iter().try_for_each(|export| export.write(data, inputs))
    }

    /// Whether a document is written to standard output, so that no table may be printed there.
    pub(super) fn has_standard_output(&self) -> bool {
        self.0.iter().any(|export| export.file.is_standard_output())
    }
}

/// Style of tables on standard output. If that is no terminal, tables have every column.
pub(super) fn table_style(color: ColorWhen) -> Style {
    Style { width: terminal_width(), color: color.is_on(&io::stdout()) }
}

/// Columns of the terminal; if standard output is not a terminal, enough for every column.
pub(super) fn terminal_width() -> u16 {
    const EVERY_COLUMN_WIDTH: u16 = 200;
    tty::columns().map_or(EVERY_COLUMN_WIDTH, |columns| columns.max(20))
}
