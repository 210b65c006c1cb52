//! `readlab limits [DIR|FILE|URL]`: the best rates of memory, the kernel's copy, page faults,
//! system calls and the device; for a server, the rates of one and of several connections, and the
//! limits of the link, the kernel and decryption.

use super::options::{CompressedOptions, OutputOptions, ServerFlags, transport};
use super::output;
use anyhow::Context;
use clap::Args;
use readlab_model::corpus::{CorpusKind, Recipe};
use readlab_model::units::Bytes;
use readlab_record::{Budget, RunKind};
use readlab_run::experiment::config::RunConfig;
use readlab_run::experiment::deadline::{Deadline, WRITING_STEP};
use readlab_run::experiment::options::{SamplingOptions, UserOptions};
use readlab_run::experiment::target_spec::TargetSpec;
use readlab_suite::Suite;
use readlab_system::folder::scratch::ScratchFolder;
use readlab_system::terminal::printable::display_path;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub struct LimitsArgs {
    /// A folder, in which readlab makes a file and removes it again; a file, which readlab only
    /// reads; or a URL (http://, https://) or object (s3://BUCKET/KEY)
    #[arg(value_name = "DIR|FILE|URL", default_value = ".")]
    pub place: PathBuf,
    /// Read the file from readlab's own server on 127.0.0.1
    #[arg(long, conflicts_with = "s3")]
    pub http: bool,
    /// Read the file as an object of an S3 store, readlab's own server on 127.0.0.1
    #[arg(long)]
    pub s3: bool,
    /// Size of the file made in a folder
    #[arg(long, value_name = "SIZE", default_value = "256MiB")]
    pub size: Bytes,
    #[command(flatten)]
    pub sampling: SamplingOptions,
    #[command(flatten)]
    pub compressed: CompressedOptions,
    #[command(flatten)]
    pub server: ServerFlags,
    #[command(flatten)]
    pub output: OutputOptions,
}

pub fn run(args: &LimitsArgs) -> anyhow::Result<ExitCode> {
    let user = UserOptions {
        sampling: args.sampling.clone(),
        server: args.server.server_options(),
        is_quiet: args.output.quiet,
        ..UserOptions::default()
    };
    let mut config = RunConfig::merge(RunKind::Limits, Suite::find("limits")?, user)?;
    let target = |place: &Path| {
        let target = TargetSpec::plain(place, transport(args.http, args.s3));
        target.decoded_with(args.compressed.dictionary.as_deref())
    };
    if !args.place.is_dir() {
        return output::run(&config, &[vec![target(&args.place)]], &args.output);
    }
    // Ctrl-C only makes functions return, so that the folder is removed.
    output::run_until_interrupted(|| {
        let folder = ScratchFolder::make(&args.place, "limits").with_context(|| display_path(&args.place))?;
        // The content is random, which no file system can compress, so the device reads as many
        // bytes as readlab.
        let recipe = Recipe { kind: CorpusKind::Random, size_bytes: args.size.0, seed: 1 };
        let begun = Instant::now();
        let deadline = Deadline::for_step(WRITING_STEP, &config.rules, begun);
        let made = readlab_corpus::make_file(folder.path(), recipe, || deadline.check())?;
        config.rules.budget = rest_of_budget(config.rules.budget, begun.elapsed());
        let ends = output::run_each(&config, &[vec![target(&made.path)]], &args.output)?;
        Ok(output::worst_exit_code(&ends))
    })
}

/// The budget without the time for writing the file. An advised budget is for readings alone.
fn rest_of_budget(budget: Budget, writing: Duration) -> Budget {
    match budget {
        Budget::Advised(time) => Budget::Advised(time),
        Budget::Firm(time) => Budget::Firm(Duration::from(time).saturating_sub(writing).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_the_file_takes_time_from_a_budget_of_the_user() {
        let budgets = [Budget::Firm, Budget::Advised].map(|budget| budget(Duration::from_secs(5).into()));
        let rest = budgets.map(|budget| rest_of_budget(budget, Duration::from_secs(2)));
        assert_eq!(rest, [Budget::Firm(Duration::from_secs(3).into()), budgets[1]]);
        assert_eq!(rest_of_budget(budgets[0], Duration::from_secs(6)), Budget::Firm(Duration::ZERO.into()));
    }
}
