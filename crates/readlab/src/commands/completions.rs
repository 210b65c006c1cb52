//! `readlab completions SHELL`: a completion script on standard output.

use crate::commands::Cli;
use clap::{Args, Command, CommandFactory};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

pub fn run(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible_commands(), "readlab", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(ExitCode::SUCCESS)
}

/// The command tree without hidden verbs, which completion scripts would otherwise offer.
fn visible_commands() -> Command {
    let whole = Cli::command();
    let verbs = whole.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    Command::new("readlab").version(env!("CARGO_PKG_VERSION")).subcommands(verbs)
}
