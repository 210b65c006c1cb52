//! The groups of options that several commands share.
//!
//! Names and conventions are those of known tools: hyperfine's `-w -r -m -M -c`, criterion's
//! `--quiet`, exports with `-` for standard output. What the options mean together with a suite is
//! decided in [`readlab_run::experiment::config`].

use super::own_commands;
use clap::{Args, ValueEnum};
use readlab_analysis::compare::Center;
use readlab_model::target::ServerOptions;
use readlab_model::target::places::Pattern;
use readlab_model::target::tree::TreeOrder;
use readlab_model::trial::{Params, Work};
use readlab_model::units::{Bytes, Nanos};
use readlab_record::history::SaveName;
use readlab_report as report;
use readlab_roster::language::LanguageChoice;
use readlab_roster::roster::Roster;
use readlab_run::experiment::config::{InspectConfig, OwnCommand, SamplingConfig, TrialOptions};
use readlab_run::experiment::template;
use readlab_suite::States;
use readlab_system::folder::output_file::OutputFile;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::places::PlacesRequest;
use std::path::PathBuf;

/// How many readings, and how long.
#[derive(Debug, Clone, Args)]
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
    /// correct answer [default: about 50 s for a race, else 100 s or the suite's; at least three
    /// rounds]
    #[arg(long, value_name = "TIME")]
    pub budget: Option<Nanos>,
    /// Stop a trial when half the 95 % interval of its median is at most this share of the median
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = share)]
    pub precision: f64,
    /// Minimum number of cache fills over which the warm readings are spread
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub fills: u32,
    /// State of the page cache when the clock starts [default: both, or the suite's]
    #[arg(long, value_name = "STATE")]
    pub state: Option<States>,
    /// Seed of every shuffle; always recorded
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Also drop the caches of the whole machine before each cold reading (root only)
    #[arg(long)]
    pub drop_caches: bool,
    /// Allow a block device as a target; readlab only reads it
    #[arg(long)]
    pub allow_device: bool,
}

/// Which trials take part.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionOptions {
    /// Only methods whose name matches, for example 'rust/mmap/*' or 'rust/read@buffer=64KiB'; may
    /// be repeated
    #[arg(long = "method", value_name = "GLOB")]
    pub methods: Vec<String>,
    /// Settings for every method that has them, for example buffer=128KiB,depth=16
    #[arg(long = "param", value_name = "K=V,…", value_parser = clap::value_parser!(Params), default_value = "")]
    pub params: Params,
    /// A command that takes part, with `{}` for the path, for example 'wc -l {}'; without `{}`, the
    /// path replaces the name of the file, or is appended behind a program that is known to read it.
    /// The first whole number that it prints is its answer; it must end with 0. May be repeated
    #[arg(short = 'c', long = "command", value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// What each trial does with the bytes [default: newlines for text, else sum]
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

/// Which files are read of many, and how they are found.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Many files")]
pub struct TreeOptions {
    /// Read the files that a list names, as one target: a path a line, or each ended by a zero byte
    /// as `find -print0` writes them; `-` is standard input
    #[arg(long, value_name = "LIST")]
    pub files_from: Option<PathBuf>,
    /// Read what links below a folder lead to, as `find -L` and `rg --follow` do; without it they
    /// are left out, and counted
    #[arg(long, visible_alias = "dereference")]
    pub follow: bool,
    /// The order in which files are read by methods that do not walk the folder themselves
    /// [default: directory]
    #[arg(long, value_name = "ORDER")]
    pub order: Option<TreeOrder>,
    /// Whether names and inodes are in memory before a cold reading; cold needs root, as the caches
    /// of the whole machine are dropped, and is proven
    /// [default: warm]
    #[arg(long, value_name = "STATE")]
    pub metadata: Option<MetadataState>,
    /// Race the files in three groups by size, too, and tell for each method what one file costs
    /// and how fast the bytes come
    #[arg(long)]
    pub per_file: bool,
}

/// Whether names and inodes are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetadataState {
    /// Not in memory
    Cold,
    /// In memory
    Warm,
}

/// Which blocks of a file are read, where not all of it is.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Random places")]
pub struct PlacesOptions {
    /// Read blocks of the file instead of all of it, at places that are picked by this pattern:
    /// random, zipf (zipf:0.99, or another exponent), stride (spread over the file) or
    /// stride:BLOCKS. Each reading reads the same places, and each read is timed
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Option<Pattern>,
    /// Size of a block
    #[arg(long, value_name = "SIZE", default_value = "4KiB", requires = "pattern", value_parser = block)]
    pub block: Bytes,
    /// How many blocks one reading reads
    #[arg(long, value_name = "N", default_value_t = 4096, requires = "pattern", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub reads: u64,
    /// How many reads are in flight, by as many threads where a method reads one after the other
    /// [default: several numbers race]
    #[arg(long, value_name = "N", requires = "pattern", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub depth: Option<u64>,
}

/// How what is compressed is decoded.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Compressed files")]
pub struct CompressedOptions {
    /// Decode the zstd with this dictionary, by the methods that do so; commands find its path in
    /// the variable READLAB_DICTIONARY
    #[arg(long, value_name = "FILE")]
    pub dictionary: Option<PathBuf>,
}

/// How servers are reached and trusted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Servers")]
pub struct ServerFlags {
    /// The address of the S3 store, for example http://127.0.0.1:9000 [default: that of the
    /// environment or of the AWS configuration]
    #[arg(long, value_name = "URL")]
    pub endpoint: Option<String>,
    /// Do not sign requests to the S3 store: the object is public
    #[arg(long)]
    pub no_sign_request: bool,
    /// Trust servers by the certificates in this PEM file instead of those of the system
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// Give your commands the credentials of the store and signed URLs, in their environment and,
    /// where `{}` is a signed URL, on their command line, which every user of this machine can see
    #[arg(long)]
    pub commands_get_credentials: bool,
}

impl PlacesOptions {
    /// The places to pick, if places are read.
    pub(super) fn request(&self, seed: u64) -> Option<PlacesRequest> {
        let (block_bytes, reads) = (self.block.0, self.reads);
        self.pattern.map(|pattern| PlacesRequest { pattern, block_bytes, reads, seed })
    }

    /// The settings of every method.
    pub(super) fn params(&self) -> Params {
        let named = ["depth", "threads"].map(|name| name.to_owned());
        Params(self.depth.iter().flat_map(|depth| named.clone().map(|name| (name, *depth))).collect())
    }
}

impl ServerFlags {
    pub(super) fn values(&self) -> ServerOptions {
        ServerOptions {
            endpoint: self.endpoint.clone(),
            unsigned: self.no_sign_request,
            cacert: self.cacert.clone(),
            commands_get_credentials: self.commands_get_credentials,
        }
    }
}

/// What a run prints and writes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Write all results as one JSON document, in place of an earlier one; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write every sample as one row of CSV, in place of an earlier one; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub export_csv: Option<PathBuf>,
    /// Write the tables as Markdown, in place of an earlier one; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Judge the claims of this file [default: what publications claim about the run, if any does]
    #[arg(long, value_name = "FILE")]
    pub claims: Option<PathBuf>,
    /// Show medians with their intervals, or means with their standard deviations
    #[arg(long, value_name = "CENTER", default_value = "median")]
    pub stats: Center,
    /// Print all percentiles of every metric after the tables
    #[arg(long)]
    pub percentiles: bool,
    /// Folder for the record [default: a new one in the user's data folder]
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Name of the record for `compare` and `history`; an existing name moves to this record
    #[arg(long, value_name = "NAME")]
    pub save: Option<SaveName>,
    /// Print no table and no progress, only warnings, errors and exports
    #[arg(short, long)]
    pub quiet: bool,
    /// Show nothing while it measures: no ranking on a terminal, no line after each round elsewhere
    #[arg(long)]
    pub no_progress: bool,
    /// Whether every row of a ranking is printed, those that tie with others too.
    #[arg(skip)]
    pub lists_all: bool,
    /// When to colour the tables, and the ranking while it grows
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

/// The option of the export as JSON.
pub(super) const EXPORT_JSON: &str = "--export-json";
/// The option of the export as Markdown.
pub(super) const EXPORT_MARKDOWN: &str = "--export-markdown";

/// The exports that have a file.
pub(super) fn given_exports<'a, E>(
    exports: impl IntoIterator<Item = (E, Option<OutputFile<'a>>)>,
) -> Vec<(E, OutputFile<'a>)> {
    exports.into_iter().filter_map(|(export, file)| Some((export, file?))).collect()
}

/// What a run is exported as.
#[derive(Debug, Clone, Copy)]
pub(super) enum Export {
    Json,
    Csv,
    Markdown,
}

impl OutputOptions {
    /// The exports that the user asks for.
    pub(super) fn exports(&self) -> Vec<(Export, OutputFile<'_>)> {
        given_exports([
            (Export::Json, OutputFile::given(EXPORT_JSON, &self.export_json, report::is_json)),
            (Export::Csv, OutputFile::given("--export-csv", &self.export_csv, report::is_csv)),
            (
                Export::Markdown,
                OutputFile::given(EXPORT_MARKDOWN, &self.export_markdown, report::is_markdown),
            ),
        ])
    }

    pub(super) fn files(&self) -> Vec<OutputFile<'_>> {
        self.exports().into_iter().map(|(_, file)| file).collect()
    }
}

/// What is inspected in untimed runs of the measured trials.
#[derive(Debug, Clone, Default, Args)]
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

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorWhen {
    /// Whether what is written to a stream is coloured.
    #[must_use]
    pub fn is_on(self, stream: &impl anstream::stream::RawStream) -> bool {
        match self {
            ColorWhen::Auto => anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
            ColorWhen::Always => true,
            ColorWhen::Never => false,
        }
    }
}

impl SamplingOptions {
    /// The options as plain values, with a seed in any case.
    #[must_use]
    pub fn values(&self) -> SamplingConfig {
        SamplingConfig {
            warmup: self.warmup,
            runs: self.runs,
            min_runs: self.min_runs,
            max_runs: self.max_runs,
            max_time: self.max_time,
            budget: self.budget,
            precision: self.precision,
            // Only a race stops trials by it.
            indifference: 0.0,
            fills: self.fills,
            state: self.state,
            seed: self.seed.unwrap_or_else(seed_of_now),
            drop_caches: self.drop_caches,
            allow_device: self.allow_device,
        }
    }
}

impl SelectionOptions {
    /// The options as plain values, with `{}` in each command that names one of these targets.
    ///
    /// # Errors
    /// If a command names a target within quotes, where it cannot be replaced, or no contender has
    /// one of the languages.
    pub fn values(&self, targets: &[PathBuf]) -> anyhow::Result<TrialOptions> {
        self.values_with(own_commands::plain(&self.commands), targets)
    }

    /// The same, with these commands.
    ///
    /// # Errors
    /// As for [`SelectionOptions::values`].
    pub fn values_with(
        &self,
        commands: Vec<OwnCommand>,
        targets: &[PathBuf],
    ) -> anyhow::Result<TrialOptions> {
        let options = TrialOptions {
            methods: self.methods.clone(),
            params: self.params.clone(),
            commands,
            work: self.work,
            reference: self.reference.clone(),
            languages: LanguageChoice::parse(&self.languages, &Roster::with(&self.rosters)?)?,
            rosters: self.rosters.clone(),
            ..TrialOptions::default()
        };
        template::placed(options, targets)
    }
}

impl InspectOptions {
    /// The options as plain values.
    ///
    /// # Errors
    /// If flame graphs are to go into what is no folder.
    pub fn values(&self) -> anyhow::Result<InspectConfig> {
        if let Some(path) = self.flamegraph.iter().flatten().find(|path| path.exists() && !path.is_dir()) {
            anyhow::bail!(
                "--flamegraph={}: a file, and there is one picture for each trial: name a folder",
                display_path(path)
            );
        }
        Ok(InspectConfig { flame_graphs: self.flamegraph.clone(), trace: self.trace })
    }
}

/// The seed unless the user sets one: the low bits of the time.
pub(super) fn seed_of_now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::from(now.unwrap_or_default().subsec_nanos())
}

/// The largest block: 1 GiB.
const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// A size of a block, such as `4KiB`.
fn block(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let is_possible = (1..=BLOCK_BYTES_MAX).contains(&bytes.0);
    if is_possible { Ok(bytes) } else { Err(format!("'{text}' is not from 1 byte to 1 GiB")) }
}

/// `1%` or `0.01`.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, divisor) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share: f64 =
        number.trim().parse().map_err(|_| format!("'{text}' is no share, such as 1% or 0.01"))?;
    let share = share / divisor;
    if share > 0.0 && share < 1.0 { Ok(share) } else { Err(format!("'{text}' is not between 0 and 1")) }
}

/// The same, or `0`.
pub(super) fn share_or_zero(text: &str) -> Result<f64, String> {
    if matches!(text.trim(), "0" | "0%") { Ok(0.0) } else { share(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_both_ways() {
        assert_eq!(share("5%"), Ok(0.05));
        assert_eq!(share("0.05"), Ok(0.05));
        assert_eq!(
            [share_or_zero("0"), share_or_zero("0%"), share_or_zero("10%")],
            [Ok(0.0), Ok(0.0), Ok(0.1)]
        );
        assert!(share_or_zero("-1%").is_err() && share_or_zero("100%").is_err());
        for wrong in ["", "0", "100%", "-1%", "x"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
