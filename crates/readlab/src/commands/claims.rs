//! `readlab claims [NAME] [RECORD]`: claims of publications, judged by their own figures and by a
//! record.

use super::compare::record_path;
use super::exports::{EXPORT_JSON, EXPORT_MARKDOWN, Export, Exports, table_style};
use super::options::ColorWhen;
use super::output::inputs_of_record;
use anyhow::bail;
use clap::Args;
use readlab_claims::{self as claims, ClaimsError, ClaimsFile, JudgedClaims};
use readlab_record::Record;
use readlab_record::history::History;
use readlab_report as report;
use readlab_system::folder::output_file::{self, InputFiles};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ClaimsArgs {
    /// Claims: newlines, byte-stream, sizes, zip-lines, mmap-dbms, lucene-directories [default: all, or
    /// those that the record answers]
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

/// Judges the claims and shows them. The verdicts do not affect the exit code.
pub fn run(args: &ClaimsArgs) -> anyhow::Result<ExitCode> {
    let (name, record) = args.claims_and_record()?;
    let path = record.map(|name| record_path(History::of_user().as_ref(), name)).transpose()?;
    let record = path.as_deref().map(Record::read).transpose()?;
    let mut inputs = InputFiles::at(args.claims.iter().map(PathBuf::as_path));
    if let (Some(record), Some(path)) = (&record, &path) {
        inputs.join(inputs_of_record(record, path));
    }
    let exports = args.exports();
    output_file::check(&exports.files(), &inputs)?;
    let files: Vec<ClaimsFile> = match (&args.claims, name, &record) {
        (Some(file), ..) => vec![claims::read(file)?],
        (None, Some(name), _) => vec![claims::find_built_in(name)?],
        (None, None, Some(record)) => claims::built_in_for_record(record),
        (None, None, None) => {
            claims::built_in_names().into_iter().map(claims::find_built_in).collect::<Result<_, _>>()?
        }
    };
    if files.is_empty() {
        bail!("no claims are about this record; name some: {}", claims::built_in_names().join(", "));
    }
    let judged: Vec<JudgedClaims> = files.iter().map(|file| claims::judge(file, record.as_ref())).collect();
    exports.write(&judged, &inputs)?;
    if !exports.uses_standard_output() {
        let tables = report::claims_terminal(&judged, table_style(args.color));
        std::io::stdout().write_all(tables.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

impl ClaimsArgs {
    /// The name of a set of claims and the name of a record. A single word may be either.
    fn claims_and_record(&self) -> anyhow::Result<(Option<&str>, Option<&str>)> {
        let is_known = |word: &str| self.claims.is_none() && claims::built_in_names().contains(&word);
        match (self.name.as_deref(), self.record.as_deref()) {
            (Some(name), Some(_)) if self.claims.is_some() => {
                bail!("{name}: the claims are those of --claims, so only a record can be named")
            }
            (Some(name), None) if !is_known(name) => {
                // A name that is not that of a set of claims may be a record. If no record has this
                // name either, the error is about claims, because a misspelled name of claims is
                // more likely. With --claims only a record can be meant.
                match record_path(History::of_user().as_ref(), name) {
                    Ok(_) => Ok((None, Some(name))),
                    Err(error) if self.claims.is_some() => Err(error),
                    Err(_) => Err(ClaimsError::Unknown {
                        name: name.to_owned(),
                        known: claims::built_in_names().join(", "),
                    }
                    .into()),
                }
            }
            words => Ok(words),
        }
    }

    fn exports(&self) -> Exports<'_, Vec<JudgedClaims>> {
        let json = |judged: &Vec<JudgedClaims>| report::claims_json(judged);
        let markdown = |judged: &Vec<JudgedClaims>| report::claims_markdown(judged);
        Exports::new([
            Export::text_document(EXPORT_JSON, &self.export_json, report::is_claims_json, json),
            Export::text_document(EXPORT_MARKDOWN, &self.export_markdown, report::is_own_markdown, markdown),
        ])
    }
}
