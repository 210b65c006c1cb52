//! `readlab contender NAME …`: readlab as a contender, in a process of its own. This is the only
//! place where the lab and the ways of reading meet: the lab starts this like any other program,
//! and uses nothing but the protocol.

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ContenderArgs {
    #[command(subcommand)]
    pub name: BuiltIn,
}

/// The contenders within this program.
#[derive(Debug, Subcommand)]
pub enum BuiltIn {
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

/// Answers by the protocol until the lab closes standard input.
pub fn run(args: ContenderArgs) -> ExitCode {
    match args.name {
        BuiltIn::Rust(words) => readlab_rust::serve::main(words.words),
        BuiltIn::Command(words) => readlab_command::main(words.words),
    }
}
