//! `readlab request TRIAL [TARGET]`: the exact command and bytes that a contender would get, to run
//! by hand.

use crate::contender::roster::Roster;
use crate::trial::{TrialId, Work};
use anyhow::Context;
use clap::Args;
use readlab_protocol::TurnRequest;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab request`.
#[derive(Debug, Args)]
pub struct RequestArgs {
    /// The trial, for example 'rust/mmap/avx2' or 'rust/read@buffer=64KiB'
    pub trial: String,
    /// The file to read
    #[arg(default_value = "FILE")]
    pub target: PathBuf,
    /// What the trial does with the bytes
    #[arg(long, value_name = "WORK", default_value = "newlines")]
    pub work: Work,
    /// A roster file with more contenders; may be repeated
    #[arg(long = "roster", value_name = "FILE")]
    pub rosters: Vec<PathBuf>,
}

/// Prints a line for a shell.
///
/// # Errors
/// If the trial is misspelled, or its contender cannot take part.
pub fn run(args: &RequestArgs) -> anyhow::Result<ExitCode> {
    let id: TrialId = args.trial.parse()?;
    let roster = Roster::with(&args.rosters)?;
    let name = &id.method.contender;
    let entry = roster.entry(name).with_context(|| format!("no contender '{name}' in the roster"))?;
    let contender = entry.query().with_context(|| name.clone())?;
    let choice = contender.choose(&id.method, &id.params, args.work)?;
    let command = contender.read_command(&choice, args.work, args.target.as_os_str());
    let ask = TurnRequest { lead: 0, count: 1 };
    writeln!(std::io::stdout(), "printf '{ask}\\n' | {}", command.shell_line())?;
    Ok(ExitCode::SUCCESS)
}
