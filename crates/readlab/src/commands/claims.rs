//! `readlab claims [NAME] [RECORD]`: what publications claim, judged by their own figures and by a
//! record.

use super::compare::path_of;
use super::options::{ColorWhen, EXPORT_JSON, EXPORT_MARKDOWN, given_exports};
use super::output::{self, inputs_of};
use anyhow::bail;
use clap::Args;
use readlab_claims::{self as claims, ClaimsError, ClaimsFile, JudgedClaims};
use readlab_record::Record;
use readlab_record::history::History;
use readlab_report::{self as report, Style};
use readlab_system::folder::output_file::{self, Inputs, OutputFile};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab claims`.
#[derive(Debug, Args)]
pub struct ClaimsArgs {
    /// Claims: newlines, byte-stream, sizes, zip-lines [default: all, or those that the record
    /// answers]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// A record that answers the claims: its path, `last`, `last~1`, or a name given with --save
    /// [default: none, so that claims are judged by the figures of their publications alone]
    #[arg(value_name = "RECORD")]
    pub record: Option<String>,
    /// Judge the claims of this file
    #[arg(long, value_name = "FILE")]
    pub claims: Option<PathBuf>,
    /// Write the claims as one JSON document, in place of an earlier one; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_json: Option<PathBuf>,
    /// Write the table as Markdown, in place of an earlier one; `-` is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_markdown: Option<PathBuf>,
    /// When to colour the table
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    pub color: ColorWhen,
}

/// Judges the claims and shows them. What they are found to be does not change the exit code.
///
/// # Errors
/// If no claims have the name, the file of claims has a wrong expression, or there is no such
/// record.
pub fn run(args: &ClaimsArgs) -> anyhow::Result<ExitCode> {
    let (name, record) = args.words()?;
    let path = record.map(|name| path_of(History::of_user().as_ref(), name)).transpose()?;
    let record = path.as_deref().map(Record::read).transpose()?;
    let mut inputs = Inputs::at(args.claims.iter().map(PathBuf::as_path));
    if let (Some(record), Some(path)) = (&record, &path) {
        inputs.join(inputs_of(record, path));
    }
    output_file::check(&args.files(), &inputs)?;
    let files: Vec<ClaimsFile> = match (&args.claims, name, &record) {
        (Some(file), ..) => vec![claims::read(file)?],
        (None, Some(name), _) => vec![claims::find(name)?],
        (None, None, Some(record)) => claims::of_record(record),
        (None, None, None) => claims::names().into_iter().map(claims::find).collect::<Result<_, _>>()?,
    };
    if files.is_empty() {
        bail!("no claims are about this record; name some: {}", claims::names().join(", "));
    }
    let judged: Vec<JudgedClaims> = files.iter().map(|file| claims::judge(file, record.as_ref())).collect();
    args.give(&judged, &inputs)?;
    Ok(ExitCode::SUCCESS)
}

/// What judged claims are exported as.
#[derive(Debug, Clone, Copy)]
enum Export {
    Json,
    Markdown,
}

impl ClaimsArgs {
    /// The name of claims and the name of a record. A single word may be either.
    fn words(&self) -> anyhow::Result<(Option<&str>, Option<&str>)> {
        let is_known = |word: &str| self.claims.is_none() && claims::names().contains(&word);
        match (self.name.as_deref(), self.record.as_deref()) {
            (Some(name), Some(_)) if self.claims.is_some() => {
                bail!("{name}: the claims are those of --claims, so only a record can be named")
            }
            (Some(name), None) if !is_known(name) => {
                // Neither is there: then a misspelled name of claims is the likelier mistake.
                match path_of(History::of_user().as_ref(), name) {
                    Ok(_) => Ok((None, Some(name))),
                    Err(error) if self.claims.is_some() => Err(error),
                    Err(_) => {
                        Err(ClaimsError::Unknown { name: name.to_owned(), known: claims::names().join(", ") }
                            .into())
                    }
                }
            }
            words => Ok(words),
        }
    }

    fn exports(&self) -> Vec<(Export, OutputFile<'_>)> {
        given_exports([
            (Export::Json, OutputFile::given(EXPORT_JSON, &self.export_json, report::is_claims_json)),
            (
                Export::Markdown,
                OutputFile::given(EXPORT_MARKDOWN, &self.export_markdown, report::is_markdown),
            ),
        ])
    }

    fn files(&self) -> Vec<OutputFile<'_>> {
        self.exports().into_iter().map(|(_, file)| file).collect()
    }

    /// The exports, and the table unless a document goes to standard output.
    fn give(&self, judged: &[JudgedClaims], inputs: &Inputs) -> anyhow::Result<()> {
        for (export, file) in self.exports() {
            let text = match export {
                Export::Json => report::claims_json(judged),
                Export::Markdown => report::claims_markdown(judged),
            };
            file.write(inputs, |out| out.write_all(text.as_bytes()))?;
        }
        if !self.files().iter().any(OutputFile::is_standard_output) {
            let style =
                Style { width: output::terminal_width(), color: self.color.is_on(&std::io::stdout()) };
            std::io::stdout().write_all(report::claims_terminal(judged, style).as_bytes())?;
        }
        Ok(())
    }
}
