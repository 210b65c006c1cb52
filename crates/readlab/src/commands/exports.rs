//! Exports: documents that are written to the files that options name, or to standard output in
//! place of tables.

use super::options::ColorWhen;
use readlab_report::Style;
use readlab_system::folder::earlier_output::OutputPredicate;
use readlab_system::folder::output_file::{InputFiles, OutputError, OutputFile};
use readlab_system::tty;
use std::io::{self, Write};
use std::path::PathBuf;

pub(super) const EXPORT_JSON: &str = "--export-json";
pub(super) const EXPORT_MARKDOWN: &str = "--export-markdown";

/// A document that is made from data of type `D`, and the file to which it is written.
pub(super) struct Export<'a, D> {
    file: OutputFile<'a>,
    document_writer: DocumentWriter<D>,
}

/// The function that makes a document from data of type `D`.
enum DocumentWriter<D> {
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
        is_earlier_output: OutputPredicate,
        text: fn(&D) -> String,
    ) -> Option<Export<'a, D>> {
        Some(Export {
            file: OutputFile::if_requested(option, file, is_earlier_output)?,
            document_writer: DocumentWriter::Text(text),
        })
    }

    /// The same as `text_document`, for a document that is written piece by piece.
    pub(super) fn streamed_document(
        option: &'static str,
        file: &'a Option<PathBuf>,
        is_earlier_output: OutputPredicate,
        write: fn(&D, &mut dyn Write) -> io::Result<()>,
    ) -> Option<Export<'a, D>> {
        Some(Export {
            file: OutputFile::if_requested(option, file, is_earlier_output)?,
            document_writer: DocumentWriter::Streamed(write),
        })
    }

    fn write(&self, data: &D, inputs: &InputFiles) -> Result<(), OutputError> {
        self.file.write(inputs, |out| match self.document_writer {
            DocumentWriter::Text(text) => out.write_all(text(data).as_bytes()),
            DocumentWriter::Streamed(write) => write(data, out),
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

    pub(super) fn write(&self, data: &D, inputs: &InputFiles) -> Result<(), OutputError> {
        self.0.iter().try_for_each(|export| export.write(data, inputs))
    }

    /// Whether a document is written to standard output, so that no table may be printed there.
    pub(super) fn uses_standard_output(&self) -> bool {
        self.0.iter().any(|export| export.file.is_standard_output())
    }
}

/// Style of tables on standard output. If standard output is no terminal, tables are wide enough for
/// every column.
pub(super) fn table_style(color: ColorWhen) -> Style {
    Style { width: table_width(), may_use_color: color.is_on(&io::stdout()) }
}

/// Width of tables, in characters: that of the terminal, or, if standard output is no terminal, a
/// width at which tables show all of their columns.
pub(super) fn table_width() -> u16 {
    const EVERY_COLUMN_WIDTH: u16 = 200;
    tty::stdout_columns().map_or(EVERY_COLUMN_WIDTH, |columns| columns.max(20))
}
