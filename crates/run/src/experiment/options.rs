//! The user's options of a run. The flags set them, with defaults, and the run uses them unchanged.
//!
//! Names and conventions follow known tools: hyperfine's `-w -r -m -M -c`. [`super::config`]
//! decides how options and a suite work together.

use super::memory::MemoryBounds;
use super::together::ReaderGroup;
use anyhow::bail;
use clap::{Args, Command, FromArgMatches};
use readlab_model::target::ServerOptions;
use readlab_model::trial::{COMMAND, Params, Work};
use readlab_model::units::Nanos;
use readlab_record::{CommandRules, LocationOptions};
use readlab_suite::StateChoice;
use readlab_suite::parameter_space::ParameterSpace;
use readlab_system::terminal::printable::display_path;
use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserOptions {
    /// The targets. The name of a target in a command is replaced by `{}`.
    pub targets: Vec<PathBuf>,
    pub sampling: SamplingOptions,
    pub selection: SelectionOptions,
    /// The gaps in bytes up to which ranges of a list are merged, one trial for each gap; empty if
    /// methods decide.
    pub merge_gaps_bytes: Vec<u64>,
    /// Whether trials take part that a suite keeps for `--all`.
    pub takes_all_trials: bool,
    /// Whether the commands decode the target, which is an archive.
    pub has_decoding_commands: bool,
    pub reader_group: ReaderGroup,
    /// The bounds on memory under which trials are read, beside the other cache states.
    pub memory_bounds: MemoryBounds,
    /// How several targets of one run are compared as locations; `None` if the run has one target,
    /// alone or in several forms.
    pub locations: Option<LocationOptions>,
    /// Whether the files of a tree are raced in groups by size, too.
    pub races_size_groups: bool,
    pub inspection: InspectOptions,
    /// The settings that are searched; `None` if every trial is measured.
    pub space: Option<ParameterSpace>,
    pub server: ServerOptions,
    pub is_quiet: bool,
}

/// Options for the number and the time of readings.
#[derive(Debug, Clone, PartialEq, Args)]
#[command(next_help_heading = "Measuring")]
pub struct SamplingOptions {
    /// Untimed readings before the timed ones, after each start of a contender
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    pub warmup: u32,
    /// Exact number of timed readings of each trial
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"], value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Minimum number of timed readings of each trial [default: 10; in a race 2, and 10 of those
    /// that may be the fastest]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub min_runs: Option<u32>,
    /// Maximum number of timed readings of each trial [default: 100, or the suite's]
    #[arg(short = 'M', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: Option<u32>,
    /// Maximum total time of the timed readings of a trial, once it has its minimum number of them
    /// [default: 30s, or the suite's]
    #[arg(long, value_name = "TIME")]
    pub max_time: Option<Nanos>,
    /// Time for the whole run, divided among the cache states; it includes the reading for the
    /// correct answer [default: about 52 s for a race, 4 minutes with several --readers, else 100 s
    /// or the suite's; at least two rounds]
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Nanos>,
    /// Stop a trial when half the 95 % interval of its median is at most this share of the median
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share)]
    pub precision: f64,
    // Set only by a race: a trial that is slower than the fastest by at most this share counts as
    // equally fast; with 0, no slower trial does.
    #[arg(skip)]
    pub indifference: f64,
    /// Minimum number of cache fills over which the warm readings are spread
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub fills: u32,
    /// State of the page cache when the clock starts [default: both, or the suite's]
    #[arg(long, value_name = "STATE")]
    pub state: Option<StateChoice>,
    /// Seed of every shuffle; always recorded
    #[arg(long, value_name = "N", default_value_t = time_seed(), hide_default_value = true)]
    pub seed: u64,
    /// Also drop the caches of the whole machine before each cold reading (root only)
    #[arg(long)]
    pub drop_caches: bool,
    /// Allow a block device as a target; readlab only reads it
    #[arg(long)]
    pub allow_device: bool,
}

/// Options for the selection of trials.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionOptions {
    /// Only methods whose name matches, for example 'rust/mmap/*' or 'rust/read@buffer=64KiB'; may
    /// be repeated
    #[arg(long = "method", value_name = "GLOB")]
    pub methods: Vec<String>,
    /// Settings for every method that has such parameters, for example buffer=128KiB,depth=16
    #[arg(long = "param", value_name = "K=V,…", value_parser = clap::value_parser!(Params), default_value = "")]
    pub params: Params,
    /// A command that takes part, with `{}` for the path, for example 'wc -l {}'; without `{}`, the
    /// path replaces the name of the file, or is appended behind a program that is known to read
    /// it. The first whole number that it prints is its answer, and it must end with 0, unless
    /// --check or --success of a race says otherwise. May be repeated
    #[arg(short = 'c', long = "command", value_name = "COMMAND")]
    pub commands: Vec<OwnCommand>,
    /// What each trial does with the bytes; part for commands that need not read all of them
    /// [default: newlines for text, else sum]
    #[arg(long, value_name = "WORK")]
    pub work: Option<Work>,
    /// The trial to which all others are compared; it takes part in any case [default: the suite's;
    /// else the first command of your own, else a program of your roster, else `wc -l` for text,
    /// else the usual way of the language with most trials]
    #[arg(long, value_name = "TRIAL")]
    pub reference: Option<String>,
    /// Only these languages, for example rust,python, beside the reference and your commands; may
    /// be repeated
    #[arg(long = "language", value_name = "LANGUAGE,…", value_delimiter = ',')]
    pub languages: Vec<String>,
    /// A roster file with more contenders, like contenders/roster.toml; may be repeated
    #[arg(long = "roster", value_name = "FILE")]
    pub rosters: Vec<PathBuf>,
}

/// Options for inspecting measured trials in untimed runs.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Inspection")]
pub struct InspectOptions {
    /// Draw a flame graph of each measured trial from an untimed run [default: folder flamegraphs
    /// beside the record]
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true)]
    pub flamegraph: Option<Option<PathBuf>>,
    /// Trace the read calls of each measured trial in an untimed run: sizes, offsets and latencies
    #[arg(long)]
    pub trace: bool,
}

/// A user's own command, with `{}` for the path, its check and its hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommand {
    pub line: String,
    pub rules: CommandRules,
}

impl Default for SamplingOptions {
    /// The defaults of the flags.
    fn default() -> SamplingOptions {
        let flags = SamplingOptions::augment_args(Command::new("no flag"));
        let parsed = flags.try_get_matches_from(["no flag"]);
        parsed.and_then(|none| SamplingOptions::from_arg_matches(&none)).expect("no flag is required")
    }
}

impl InspectOptions {
    /// Refuses a path for flame graphs that exists and is no folder.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        if let Some(path) = self.flamegraph.iter().flatten().find(|path| path.exists() && !path.is_dir()) {
            bail!(
                "--flamegraph={}: a file, and there is one picture for each trial: name a folder",
                display_path(path)
            );
        }
        Ok(())
    }
}

impl OwnCommand {
    /// A command with the default rules, which have no hooks.
    pub fn without_rules(line: &str) -> OwnCommand {
        OwnCommand { line: line.to_owned(), rules: CommandRules::default() }
    }

    /// The name of the command's trial.
    pub fn trial_name(&self) -> String {
        format!("{COMMAND}/{}", self.line)
    }
}

impl FromStr for OwnCommand {
    type Err = Infallible;

    fn from_str(line: &str) -> Result<OwnCommand, Infallible> {
        Ok(OwnCommand::without_rules(line))
    }
}

/// The default seed: the nanoseconds of the current second.
pub fn time_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::from(now.unwrap_or_default().subsec_nanos())
}

/// Parses a share such as `1%` or `0.01`.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share: f64 =
        number.trim().parse().map_err(|_| format!("'{text}' is no share, such as 1% or 0.01"))?;
    let share = share / divisor;
    if share > 0.0 && share < 1.0 { Ok(share) } else { Err(format!("'{text}' is not between 0 and 1")) }
}

/// Parses a share, or `0`.
pub fn parse_share_or_zero(text: &str) -> Result<f64, String> {
    if matches!(text.trim(), "0" | "0%") { Ok(0.0) } else { parse_share(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn flame_graphs_need_the_name_of_a_folder() {
        let drawn_into = |path: &Path| InspectOptions { flamegraph: Some(Some(path.into())), trace: false };
        let file = tempfile::NamedTempFile::new().unwrap();
        let folder = file.path().parent().unwrap();
        assert!(drawn_into(folder).check().is_ok() && drawn_into(&folder.join("new")).check().is_ok());
        let refusal = drawn_into(file.path()).check().unwrap_err().to_string();
        assert!(refusal.contains(": a file, and there is one picture for each trial"), "{refusal}");
    }

    #[test]
    fn shares_are_read_both_ways() {
        for (text, expected) in [("5%", 0.05), ("0.05", 0.05), ("10%", 0.1)] {
            assert_eq!(
                (parse_share(text), parse_share_or_zero(text)),
                (Ok(expected), Ok(expected)),
                "{text}"
            );
        }
        assert_eq!([parse_share_or_zero("0"), parse_share_or_zero("0%")], [Ok(0.0), Ok(0.0)]);
        for wrong in ["", "100%", "-1%", "x"] {
            assert!(parse_share(wrong).is_err() && parse_share_or_zero(wrong).is_err(), "{wrong}");
        }
        assert!(parse_share("0").is_err());
    }
}
