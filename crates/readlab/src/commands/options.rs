//! Groups of options that several commands share, in addition to the options of a run
//! ([`readlab_run::experiment::options`]).
//!
//! Names and conventions follow known tools: criterion's `--quiet`, exports with `-` for standard
//! output.

use super::exports::{EXPORT_JSON, EXPORT_MARKDOWN, Export, Exports};
use anyhow::{bail, ensure};
use clap::{Args, ValueEnum};
use readlab_analysis::compare::Center;
use readlab_model::target::ServerOptions;
use readlab_model::target::places::Pattern;
use readlab_model::target::range::FileRange;
use readlab_model::target::tree::TreeOrder;
use readlab_model::trial::{Params, Transport, Work};
use readlab_model::units::Bytes;
use readlab_record::Record;
use readlab_record::history::SaveName;
use readlab_report::{self as report, Page};
use readlab_run::experiment::target_spec::TargetSpec;
use readlab_system::folder::output_file::OutputFile;
use readlab_system::terminal::printable::display_path;
use readlab_targets::target::places::{PlacesRequest, RangesRequest};
use std::path::PathBuf;

/// Options for many files: which are read, and how they are found.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Many files")]
pub struct TreeOptions {
    /// Read the files that a list names, as one target: a path a line, or each ended by a zero byte
    /// as `find -print0` writes them; `-` is standard input
    #[arg(long, value_name = "LIST")]
    pub files_from: Option<PathBuf>,
    /// Follow links below a folder, as `find -L` and `rg --follow` do; without this option links
    /// are left out and counted
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
    /// Also race the files in three groups by size, and show for each method the cost of one file
    /// and the rate of the bytes
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

/// Options for reading ranges of a file instead of all of it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Parts of a file")]
pub struct PartOptions {
    /// Read only this range of the file: START:LENGTH in bytes (4MiB:64KiB) or percent (50%:10%);
    /// -START counts from the end, and without LENGTH the range ends with the file. It is read from
    /// the page in which it begins
    #[arg(long, value_name = "START:LENGTH", allow_hyphen_values = true)]
    pub range: Option<FileRange>,
    /// Read only the ranges of this list, each by a read of its own: offset and length a line; `-` is
    /// standard input
    #[arg(long, value_name = "LIST", conflicts_with = "range")]
    pub ranges: Option<PathBuf>,
    /// Read the ranges in the order of the file instead of that of the list
    #[arg(long, requires = "ranges")]
    pub sorted: bool,
    /// Merge ranges that follow each other, at most this many bytes apart, into one read; of several
    /// sizes, for example 0,64KiB,1MiB, each takes part; 0 merges none
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', requires = "ranges", value_parser = parse_gap)]
    pub merge: Vec<Bytes>,
}

/// The part of each target that is read.
#[derive(Debug, Clone)]
pub(super) enum FilePart {
    Whole,
    Range(FileRange),
    Ranges(RangesRequest),
}

/// Options for reading blocks of a file instead of all of it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Random places")]
pub struct PlacesOptions {
    /// Read blocks of the file instead of all of it, at places that are picked by this pattern:
    /// random, zipf (zipf:0.99, or another exponent), stride (spread over the file) or
    /// stride:BLOCKS. Each reading reads the same places, and each read is timed
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["range", "ranges"])]
    pub pattern: Option<Pattern>,
    /// Size of a block
    #[arg(long, value_name = "SIZE", default_value = "4KiB", requires = "pattern", value_parser = parse_block)]
    pub block: Bytes,
    /// Number of blocks that one reading reads
    #[arg(long, value_name = "N", default_value_t = 4096, requires = "pattern", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub reads: u64,
    /// Number of reads in flight; a method that reads one block after the other uses as many
    /// threads [default: several numbers race]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub depth: Option<u64>,
}

/// Options for decoding compressed targets.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Compressed files")]
pub struct CompressedOptions {
    /// Decode a zstd target with this dictionary, by methods that support dictionaries; commands
    /// find its path in the variable READLAB_DICTIONARY
    #[arg(long, value_name = "FILE")]
    pub dictionary: Option<PathBuf>,
}

/// Options for reaching and trusting servers.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Servers")]
pub struct ServerFlags {
    /// Address of the S3 store, for example http://127.0.0.1:9000 [default: from the environment or
    /// the AWS configuration]
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

impl PartOptions {
    /// The option that names the part; `None` if whole files are read.
    pub(super) fn part_option(&self) -> Option<&'static str> {
        self.range.map(|_| "--range").or(self.ranges.as_ref().map(|_| "--ranges"))
    }

    pub(super) fn check_targets(
        &self,
        targets: &[PathBuf],
        decodes: bool,
        work: Option<Work>,
    ) -> anyhow::Result<()> {
        let Some(option) = self.part_option() else { return Ok(()) };
        if let Some(folder) = targets.iter().find(|word| word.is_dir()) {
            bail!("{}: {option} reads a part of a file, and this is none", display_path(folder));
        }
        ensure!(!decodes, "{option} reads bytes as they are: not with --dictionary");
        if let Some(work) = work.filter(|work| work.may_read_part()) {
            bail!("--work {work} is about commands, which read whole files: not with {option}");
        }
        if self.ranges.is_some() && work == Some(Work::Lines) {
            bail!(
                "--work lines: a line may begin before a range; --ranges reads for newlines, sum or discard"
            );
        }
        Ok(())
    }

    /// The part that is read. Reads the list of ranges if `--ranges` names one.
    pub(super) fn file_part(&self) -> anyhow::Result<FilePart> {
        Ok(match (self.range, &self.ranges) {
            (Some(range), _) => FilePart::Range(range),
            (None, Some(list)) => FilePart::Ranges(RangesRequest::read(list, self.sorted)?),
            (None, None) => FilePart::Whole,
        })
    }

    pub(super) fn merge_gaps_bytes(&self) -> Vec<u64> {
        self.merge.iter().map(|gap| gap.0).collect()
    }
}

impl FilePart {
    /// The target, restricted to this part.
    pub(super) fn restrict_target(&self, target: TargetSpec) -> TargetSpec {
        match self {
            FilePart::Whole => target,
            FilePart::Range(range) => target.in_range(*range),
            FilePart::Ranges(request) => target.in_ranges(request.clone()),
        }
    }
}

impl PlacesOptions {
    /// The requested blocks; `None` if no pattern is given.
    pub(super) fn places_request(&self, seed: u64) -> Option<PlacesRequest> {
        let (block_bytes, reads) = (self.block.0, self.reads);
        self.pattern.map(|pattern| PlacesRequest { pattern, block_bytes, read_count: reads, seed })
    }

    /// The requested number of reads in flight, as settings for every method.
    pub(super) fn depth_params(&self) -> Params {
        let named = ["depth", "threads"].map(|name| name.to_owned());
        Params(self.depth.iter().flat_map(|depth| named.clone().map(|name| (name, *depth))).collect())
    }
}

impl ServerFlags {
    pub(super) fn server_options(&self) -> ServerOptions {
        ServerOptions {
            endpoint: self.endpoint.clone(),
            is_unsigned: self.no_sign_request,
            ca_certificates_path: self.cacert.clone(),
            commands_get_credentials: self.commands_get_credentials,
        }
    }
}

/// Options for the output of a run.
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
    /// Show nothing while the run measures: no ranking on a terminal, no lines about rounds
    /// elsewhere
    #[arg(long)]
    pub no_progress: bool,
    /// Whether every row of a ranking is printed, also rows that tie with others.
    #[arg(skip)]
    pub lists_all: bool,
    /// When to colour the tables, and the ranking while it grows
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
}

pub(super) struct ShownRun<'a> {
    pub(super) record: &'a Record,
    pub(super) page: &'a Page,
}

impl OutputOptions {
    pub(super) fn exports<'d>(&self) -> Exports<'_, ShownRun<'d>> {
        Exports::new([
            Export::streamed_document(
                EXPORT_JSON,
                &self.export_json,
                report::is_own_json,
                |run: &ShownRun, out| {
                    report::write_json_with_claims(run.record, &run.page.judged_claims, out)
                },
            ),
            Export::streamed_document(
                "--export-csv",
                &self.export_csv,
                report::is_own_csv,
                |run: &ShownRun, out| report::write_csv(run.record, out),
            ),
            Export::text_document(
                EXPORT_MARKDOWN,
                &self.export_markdown,
                report::is_own_markdown,
                |run: &ShownRun| report::markdown(run.page),
            ),
        ])
    }

    pub(super) fn export_files(&self) -> Vec<OutputFile<'_>> {
        self.exports().files()
    }
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
    /// Whether output to a stream is coloured.
    pub fn is_on(self, stream: &impl anstream::stream::RawStream) -> bool {
        match self {
            ColorWhen::Auto => anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
            ColorWhen::Always => true,
            ColorWhen::Never => false,
        }
    }
}

/// The transport of the bytes, by the options for readlab's own servers.
pub(super) fn transport(http: bool, s3: bool) -> Transport {
    match (http, s3) {
        (true, _) => Transport::Http,
        (_, true) => Transport::S3,
        _ => Transport::File,
    }
}

/// Parses the largest gap between two ranges that are merged.
fn parse_gap(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    if bytes.0 <= BLOCK_BYTES_MAX { Ok(bytes) } else { Err(format!("'{text}' is more than 1 GiB")) }
}

/// Size of the largest block: 1 GiB.
const BLOCK_BYTES_MAX: u64 = 1 << 30;

/// Parses the size of a block, such as `4KiB`.
fn parse_block(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let is_possible = (1..=BLOCK_BYTES_MAX).contains(&bytes.0);
    if is_possible { Ok(bytes) } else { Err(format!("'{text}' is not from 1 byte to 1 GiB")) }
}
