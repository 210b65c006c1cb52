//! `readlab schema [NAME]`: the JSON Schema of records and exports on standard output.

use anyhow::Context;
use clap::Args;
use readlab_report::JsonFormat;
use std::io::Write;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// One of record, export, comparison, claims and verification [default: none, to list them]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

pub fn run(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    let text = match &args.name {
        Some(name) => format_named(name)?.schema_text(),
        None => JsonFormat::ALL.iter().map(|it| format!("{it:<12} {}\n", it.about())).collect(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn format_named(name: &str) -> anyhow::Result<JsonFormat> {
    let found = JsonFormat::ALL.into_iter().find(|it| it.word() == name);
    found.with_context(|| {
        format!(
            "'{name}' has no schema; these have one: {}",
            JsonFormat::ALL.map(JsonFormat::word).join(", ")
        )
    })
}
