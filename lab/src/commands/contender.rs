//! `readlab contender NAME …`: readlab as a contender, in a process of its own. The only door
//! between the lab and ways of reading: the lab starts this like any other program, and talks to it
//! through the protocol alone.

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// Arguments of `readlab contender`.
#[derive(Debug, Args)]
pub struct ContenderArgs {
    /// Which contender to run.
    #[command(subcommand)]
    pub who: Who,
}

/// The contenders within this program.
#[derive(Debug, Subcommand)]
pub enum Who {
    /// Ways of reading in Rust
    #[command(disable_help_flag = true)]
    Rust(Words),
    /// Any command line
    #[command(disable_help_flag = true)]
    Command(Words),
}

/// The words of the protocol, unchanged.
#[derive(Debug, Args)]
pub struct Words {
    /// `hello`, `methods`, or `read METHOD SCAN WORK TARGET …`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}

/// Speaks the protocol until the lab lets go.
#[must_use]
pub fn run(args: ContenderArgs) -> ExitCode {
    match args.who {
        Who::Rust(words) => readlab_rust::serve::main(words.words),
        Who::Command(words) => readlab_command::main(words.words),
    }
}
