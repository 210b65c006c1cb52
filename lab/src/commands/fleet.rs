//! `readlab fleet race FILE`, started by an MPI launcher on each host: all ranks take every turn
//! together.

use super::race::{RaceArgs, config_of};
use super::rank;
use crate::experiment::target_spec::TargetSpec;
use crate::record::Share;
use crate::trial::Transport;
use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How a launcher starts it.
const EXAMPLES: &str = "Examples:\n  mpirun -n 4 --map-by ppr:1:node readlab fleet race /store/file\n  srun -N 4 readlab fleet race \
--share own '/store/file.{rank}'";

/// Arguments of `readlab fleet`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FleetArgs {
    /// What the ranks do.
    #[command(subcommand)]
    pub verb: FleetVerb,
}

/// What a fleet does.
#[derive(Debug, Subcommand)]
pub enum FleetVerb {
    /// Race all ways of reading, all ranks at once
    Race(FleetRaceArgs),
}

/// Arguments of `readlab fleet race`.
#[derive(Debug, Args)]
pub struct FleetRaceArgs {
    /// What each rank reads: the same file, or one of its own, with {rank} in its path
    #[arg(long, value_name = "SHARE", default_value = "same")]
    pub share: ShareOption,
    /// Replace the names of hosts and the paths of files by numbers, in the record and all that is
    /// made of it
    #[arg(long)]
    pub hide_hosts: bool,
    /// As for `readlab race`.
    #[command(flatten)]
    pub race: RaceArgs,
}

/// What each rank reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShareOption {
    /// All read one file.
    Same,
    /// Each reads a file of its own.
    Own,
}

impl From<ShareOption> for Share {
    fn from(option: ShareOption) -> Share {
        match option {
            ShareOption::Same => Share::Same,
            ShareOption::Own => Share::Own,
        }
    }
}

/// How a fleet reads.
#[derive(Debug, Clone)]
pub(super) struct FleetOptions {
    pub(super) share: Share,
    /// The word on the command line that names the file, where names are hidden.
    pub(super) hidden: Option<String>,
}

/// Runs one rank.
///
/// # Errors
/// If it cannot join, the ranks differ, or the record cannot be written.
pub fn run(args: &FleetArgs) -> anyhow::Result<ExitCode> {
    let FleetVerb::Race(args) = &args.verb;
    let FleetRaceArgs { share, hide_hosts, race } = args;
    if race.resume.is_some() {
        bail!("--resume: a fleet begins anew");
    }
    if race.http {
        bail!("--http: a fleet reads files");
    }
    let [word] = &race.targets[..] else {
        bail!("a fleet reads one file, or one a rank with {{rank}} in its path")
    };
    if *share == ShareOption::Own && !has_rank(word) {
        bail!("--share own: {}: there is no {{rank}} in the path", word.display());
    }
    let config = config_of(race)?;
    let fleet = FleetOptions {
        share: (*share).into(),
        hidden: hide_hosts.then(|| word.to_string_lossy().into_owned()),
    };
    let target = |rank: u32| TargetSpec::plain(&of_rank(word, rank), Transport::File);
    rank::run(config, target, fleet, &race.output_options())
}

fn has_rank(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.contains(RANK))
}

/// Where the number of a rank stands in a path.
const RANK: &str = "{rank}";

/// The file of a rank.
fn of_rank(path: &Path, rank: u32) -> PathBuf {
    path.to_str().map_or_else(|| path.to_owned(), |path| path.replace(RANK, &rank.to_string()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_rank_is_put_into_its_path() {
        assert_eq!(of_rank(Path::new("/s/{rank}/f.{rank}"), 12), Path::new("/s/12/f.12"));
        assert_eq!(of_rank(Path::new("/s/f"), 12), Path::new("/s/f"));
    }
}
