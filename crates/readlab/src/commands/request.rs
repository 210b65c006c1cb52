//! `readlab request TRIAL [TARGET]`: the exact command and bytes that a contender would receive, to
//! run by hand.

use super::options::{CompressedOptions, ServerFlags};
use anyhow::{Context, ensure};
use clap::Args;
use readlab_catalog::roster::Roster;
use readlab_model::target::dictionary::Dictionary;
use readlab_model::trial::{COMMAND, TrialId, Work};
use readlab_protocol::remote::SECRET_VARIABLES;
use readlab_protocol::{Reads, TurnRequest};
use readlab_roster::discovery::Query;
use readlab_targets::target::dictionary;
use readlab_targets::target::source::{ReadRequest, Source};
use readlab_targets::target::{s3, url};
use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct RequestArgs {
    /// The trial, for example 'rust/mmap/avx2' or 'rust/read@buffer=64KiB'
    pub trial: String,
    /// The file, URL or object (s3://BUCKET/KEY) to read
    #[arg(default_value = "FILE")]
    pub target: PathBuf,
    /// The trial's work on the bytes
    #[arg(long, value_name = "WORK", default_value = "newlines")]
    pub work: Work,
    /// A roster file with more contenders; may be repeated
    #[arg(long = "roster", value_name = "FILE")]
    pub rosters: Vec<PathBuf>,
    #[command(flatten)]
    pub compressed: CompressedOptions,
    #[command(flatten)]
    pub server: ServerFlags,
}

pub fn run(args: &RequestArgs) -> anyhow::Result<ExitCode> {
    let id: TrialId = args.trial.parse()?;
    let roster = Roster::with_user_rosters(&args.rosters)?;
    let name = &id.method.contender;
    let entry = roster.entry(name).with_context(|| format!("no contender '{name}' in the roster"))?;
    let contender = entry.query().with_context(|| name.clone())?;
    let choice = contender.resolve(&id.method, &id.params, args.work)?;
    // A command finds the dictionary in its environment.
    let takes_dictionary = choice.method.dictionary || name == COMMAND;
    ensure!(
        args.compressed.dictionary.is_none() || takes_dictionary,
        "--dictionary: {} does not decode with a dictionary",
        choice.id
    );
    let request = read_request(args, choice.method.reads)?;
    let variables: String = request.env.iter().map(|(name, value)| shell_assignment(name, value)).collect();
    let command = contender.read_command(&choice, args.work, &request);
    let ask = TurnRequest { lead: 0, count: 1 };
    writeln!(std::io::stdout(), "printf '{ask}\\n' | {variables}{}", command.shell_line())?;
    Ok(ExitCode::SUCCESS)
}

/// The request that the contender receives to read the target.
fn read_request(args: &RequestArgs, reads: Reads) -> anyhow::Result<ReadRequest> {
    let word = args.target.as_os_str();
    if !url::is_url(word) && !s3::is_object_name(word) {
        let dictionary = args.compressed.dictionary.as_deref().map(dictionary::examine).transpose()?;
        let env = dictionary.iter().map(Dictionary::environment_variable).collect();
        return Ok(ReadRequest { word: word.to_owned(), env, ..ReadRequest::default() });
    }
    let options = args.server.server_options();
    let source = Source::parse(word.to_str().context("not a URL")?, &options)?;
    Ok(source.request(reads, options.commands_get_credentials)?)
}

/// An assignment `NAME=VALUE ` before a command. Secret values are taken from the variables of the
/// shell that runs the command.
fn shell_assignment(name: &OsStr, value: &OsStr) -> String {
    let name = name.to_string_lossy();
    if SECRET_VARIABLES.contains(&&*name) {
        return format!("{name}=\"${name}\" ");
    }
    format!("{name}={} ", shell_words::quote(&value.to_string_lossy()))
}
