//! `readlab fleet race FILE` and `readlab fleet scale FILE`, started by an MPI launcher on each
//! host. In a race, all ranks take every turn together. To show how the rate grows, `scale` reads
//! each trial with several numbers of ranks in every round.

use super::race::{RaceArgs, race_config};
use super::rank::{self, FleetTask, NewRun};
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use readlab_model::trial::Transport;
use readlab_record::ShareMode;
use readlab_run::experiment::target_spec::{SplitReader, TargetSpec};
use readlab_suite::Suite;
use readlab_system::terminal::printable::display_path;
use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How launchers start a fleet.
const EXAMPLES: &str = "Examples:\n  mpirun -n 4 --map-by ppr:1:node readlab fleet race /store/file\n  srun -N 4 readlab fleet race \
--share own '/store/file.{rank}'\n  mpirun -n 8 --map-by ppr:1:node readlab fleet scale --hosts 1,2,4,6,8 /store/file\n  \
mpirun -n 4 --host a,b,c,d readlab fleet race /store/file : -n 1 --host server readlab fleet witness /export/file";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FleetArgs {
    #[command(subcommand)]
    pub verb: FleetVerb,
}

/// What the ranks of a fleet do together.
#[derive(Debug, Subcommand)]
pub enum FleetVerb {
    /// Race all ways of reading, all ranks at once
    Race(FleetRaceArgs),
    /// Show how the rate grows with the hosts that read
    Scale(FleetScaleArgs),
    /// Make the file cold on its server, too; runs there as the last rank of a race
    Witness(FleetWitnessArgs),
}

#[derive(Debug, Args)]
pub struct FleetWitnessArgs {
    /// The file by its path on the server
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

#[derive(Debug, Args)]
pub struct FleetRaceArgs {
    /// What each rank reads: the same file, its part of one file, or a file of its own, with {rank}
    /// in its path; as @LIST, the path of each rank is in a line of that file
    #[arg(long, value_name = "SHARE", default_value = "same", conflicts_with = "resume")]
    pub share: ShareOption,
    /// Replace the names of hosts and the paths of files by numbers, in the record and everything
    /// made from it
    #[arg(long, conflicts_with = "resume")]
    pub hide_hosts: bool,
    #[command(flatten)]
    pub race: RaceArgs,
}

#[derive(Debug, Args)]
pub struct FleetScaleArgs {
    /// Numbers of ranks that read together, taking turns; with one rank on each host they are
    /// numbers of hosts. From five numbers on, the Universal Scalability Law is fitted [default: 1,
    /// 2, 4 and so on, and all]
    #[arg(long, value_name = "N,…", conflicts_with = "resume", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub hosts: Vec<u32>,
    #[command(flatten)]
    pub fleet: FleetRaceArgs,
}

/// What each rank reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShareOption {
    /// All ranks read one file.
    Same,
    /// Each rank reads its part of one file.
    Split,
    /// Each rank reads a separate file.
    Own,
}

impl From<ShareOption> for ShareMode {
    fn from(option: ShareOption) -> ShareMode {
        match option {
            ShareOption::Same => ShareMode::Same,
            ShareOption::Split => ShareMode::Split,
            ShareOption::Own => ShareMode::Own,
        }
    }
}

/// The numbers of ranks with which each trial is read, for a job of `all` ranks: the given numbers,
/// or else the powers of two below `all`, and `all`.
pub(super) fn rank_counts_among(given: &[u32], all: u32) -> anyhow::Result<BTreeSet<u32>> {
    if let Some(count) = given.iter().find(|&&count| count > all) {
        bail!("--hosts {count}: the launcher started {all}");
    }
    let doubled = std::iter::successors(Some(1_u32), |count| count.checked_mul(2));
    let usual = || doubled.take_while(|&count| count < all).chain([all]).collect();
    Ok(if given.is_empty() { usual() } else { given.iter().copied().collect() })
}

pub fn run(args: &FleetArgs) -> anyhow::Result<ExitCode> {
    let (args, counts) = match &args.verb {
        FleetVerb::Race(args) => (args, None),
        FleetVerb::Scale(args) => (&args.fleet, Some(&args.hosts[..])),
        FleetVerb::Witness(args) => return rank::run_witness(&args.path),
    };
    let FleetRaceArgs { share, hide_hosts, race } = args;
    if let Some(record) = &race.resume {
        return rank::run(FleetTask::Resume(record), &race.output_options());
    }
    let [word] = &race.targets[..] else {
        bail!("a fleet reads one file, or one a rank with {{rank}} in its path")
    };
    let paths = RankPaths::parse(word)?;
    if *share == ShareOption::Own && !paths.differ_by_rank() {
        bail!("--share own: {}: there is no {{rank}} in the path", word.display());
    }
    if *share == ShareOption::Split && counts.is_some() {
        bail!(
            "--share split: fleet scale compares ranks that read as much each, however many read: same, or own"
        );
    }
    if let Some(work) = race.selection.work.filter(|work| work.finds_names()) {
        bail!("--work {work}: a fleet reads files");
    }
    let suite = if counts.is_some() { Suite::scale() } else { Suite::race() };
    let config = race_config(race, suite)?;
    let target = |reader: u32, readers: NonZero<u32>| {
        let whole = TargetSpec::plain(&paths.path_of_rank(reader)?, Transport::File);
        Ok(if *share == ShareOption::Split {
            whole.split(SplitReader { reader_number: reader, reader_count: readers })
        } else {
            whole
        })
    };
    let hidden_word = hide_hosts.then(|| word.to_string_lossy().into_owned());
    let run = NewRun {
        config,
        target_of_reader: &target,
        share: (*share).into(),
        rank_counts: counts,
        hidden_word,
    };
    rank::run(FleetTask::Begin(Box::new(run)), &race.output_options())
}

const RANK_PLACEHOLDER: &str = "{rank}";

/// The path that each rank reads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RankPaths {
    /// One path for all ranks, which may contain the placeholder.
    Pattern(PathBuf),
    /// The paths of a list, one for each rank in the order of the ranks.
    Listed { list: PathBuf, paths: Vec<PathBuf> },
}

impl RankPaths {
    fn parse(word: &Path) -> anyhow::Result<RankPaths> {
        let Some(list) = word.to_str().and_then(|word| word.strip_prefix('@')).map(PathBuf::from) else {
            return Ok(RankPaths::Pattern(word.to_owned()));
        };
        let text = std::fs::read_to_string(&list).with_context(|| display_path(&list))?;
        let paths = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(PathBuf::from).collect();
        Ok(RankPaths::Listed { list, paths })
    }

    fn differ_by_rank(&self) -> bool {
        match self {
            RankPaths::Pattern(path) => path.to_str().is_some_and(|path| path.contains(RANK_PLACEHOLDER)),
            RankPaths::Listed { .. } => true,
        }
    }

    fn path_of_rank(&self, rank: u32) -> anyhow::Result<PathBuf> {
        match self {
            RankPaths::Pattern(path) => Ok(path.to_str().map_or_else(
                || path.clone(),
                |path| path.replace(RANK_PLACEHOLDER, &rank.to_string()).into(),
            )),
            RankPaths::Listed { list, paths } => paths.get(rank as usize).cloned().with_context(|| {
                format!("{}: it has {} paths, and none for rank {rank}", display_path(list), paths.len())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_rank_replaces_the_placeholder_in_its_path() {
        let of_rank = |word: &str| RankPaths::parse(Path::new(word)).unwrap().path_of_rank(12).unwrap();
        assert_eq!(of_rank("/s/{rank}/f.{rank}"), Path::new("/s/12/f.12"));
        assert_eq!(of_rank("/s/f"), Path::new("/s/f"));
    }

    #[test]
    fn the_path_of_each_rank_is_a_line_of_a_list() {
        let list = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(list.path(), "/a/x\n\n  /b/y\n").unwrap();
        let paths = RankPaths::parse(&PathBuf::from(format!("@{}", list.path().display()))).unwrap();
        assert!(paths.differ_by_rank());
        assert_eq!(paths.path_of_rank(1).unwrap(), Path::new("/b/y"));
        let why = paths.path_of_rank(2).unwrap_err().to_string();
        assert!(why.ends_with(": it has 2 paths, and none for rank 2"), "{why}");
        let missing = format!("{:#}", RankPaths::parse(Path::new("@/no/such/list")).unwrap_err());
        assert!(missing.starts_with("/no/such/list: "), "{missing}");
    }

    #[test]
    fn without_numbers_counts_double_up_to_all_ranks_and_more_than_all_are_refused() {
        let numbers = |given, all| rank_counts_among(given, all).unwrap().into_iter().collect::<Vec<u32>>();
        assert_eq!(numbers(&[], 6), [1, 2, 4, 6]);
        assert_eq!(numbers(&[], 8), [1, 2, 4, 8]);
        assert_eq!(numbers(&[], 1), [1]);
        assert_eq!(numbers(&[3, 1, 3], 6), [1, 3]);
        assert_eq!(
            rank_counts_among(&[1, 8], 6).unwrap_err().to_string(),
            "--hosts 8: the launcher started 6"
        );
    }
}
