//! `readlab suite NAME|FILE.toml`: a published experiment, or the user's own definition.

use super::run::{self, Asked};
use crate::cli::{Choosing, Giving, Measuring};
use crate::corpus;
use crate::suite::Suite;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `readlab suite`.
#[derive(Debug, Args)]
pub struct SuiteArgs {
    /// A built-in suite or a file
    #[arg(value_name = "NAME|FILE.toml")]
    pub suite: String,
    /// The files to read [default: the suite's own corpus, made when needed]
    #[arg(value_name = "TARGET")]
    pub targets: Vec<PathBuf>,
    /// The corpus in the size of the publication
    #[arg(long, conflicts_with = "targets")]
    pub full: bool,
    /// How long and how often.
    #[command(flatten)]
    pub measuring: Measuring,
    /// What takes part.
    #[command(flatten)]
    pub choosing: Choosing,
    /// What is shown and kept.
    #[command(flatten)]
    pub giving: Giving,
}

/// Runs the suite on its corpus or on the user's files.
///
/// # Errors
/// If there is no such suite, its corpus cannot be made, a target cannot be read, or the record cannot be written.
pub fn run(args: &SuiteArgs) -> anyhow::Result<ExitCode> {
    let suite = Suite::find(&args.suite)?;
    let asked = Asked {
        verb: "suite",
        suite: &suite,
        space: None,
        measuring: &args.measuring,
        choosing: &args.choosing,
        giving: &args.giving,
    };
    if !args.targets.is_empty() {
        let goals: Vec<_> = args.targets.iter().map(|path| vec![(None, path.clone())]).collect();
        return run::each(&asked, &goals);
    }
    let recipe = if args.full {
        suite.full.with_context(|| format!("{}: the suite knows no other size", suite.name))?
    } else {
        suite.corpus.with_context(|| format!("{}: the suite has no corpus: name a target", suite.name))?
    };
    if !args.giving.quiet {
        anstream::eprintln!("readlab: making sure of the corpus: {}", recipe.file_name());
    }
    let made = corpus::make_forms(&corpus::default_folder()?, recipe, &suite.forms())?;
    run::each(&asked, &[made.into_iter().map(|(form, corpus)| (form, corpus.path)).collect()])
}
