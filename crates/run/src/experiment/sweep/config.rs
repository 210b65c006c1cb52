//! The configuration of a sweep: which files are written, and how each of them is read.

use clap::{Args, ValueEnum};
use readlab_model::corpus::CorpusKind;
use readlab_model::trial::Work;
use readlab_model::units::Bytes;
use readlab_record::{RequestedName, WriteWay};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Configuration of one sweep, from its flags.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct SweepConfig {
    /// Folder in which a temporary folder with the files is made; with --read-only, a folder from
    /// an earlier --keep
    pub dir: PathBuf,
    /// Sizes, as a list or as ranges in steps of 1, 2 and 5, for example 10kB,1MB or 10kB..2GB
    /// [default: 14 sizes from 10 kB to 2 GB]
    #[arg(long, value_name = "SIZES")]
    pub sizes: Option<FileSizes>,
    /// Number of files of each size; they are written in turns, size by size
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Content of the files; choose random for devices that compress or deduplicate
    #[arg(long, value_name = "KIND", default_value = "a")]
    pub fill: CorpusKind,
    /// How the files are written
    #[arg(long, value_name = "WAY", default_value = "plain")]
    pub write: WriteWay,
    /// The order of reading
    #[arg(long, value_name = "ORDER", default_value = "directory")]
    pub order: ReadingOrder,
    /// Methods to measure; may be repeated [default: whole, read, direct and dontcache of contender
    /// rust]
    #[arg(long = "method", value_name = "TRIAL")]
    pub methods: Vec<String>,
    /// What each method does with the bytes
    #[arg(long, value_name = "WORK", default_value = "discard")]
    pub work: Work,
    /// Refuse to write more than this
    #[arg(long, value_name = "SIZE")]
    pub max_bytes: Option<Bytes>,
    /// Read each file once, untimed, right before its cold reading, so that caches below the file
    /// system hold it; for comparison with a sweep without this option
    #[arg(long)]
    pub primed: bool,
    /// Keep the files, for another run with --read-only, for example after a restart
    #[arg(long)]
    pub keep: bool,
    /// Write nothing into DIR; read the files of a folder from an earlier --keep
    #[arg(long, conflicts_with_all = ["sizes", "repeat", "fill", "write", "max_bytes", "keep"])]
    pub read_only: bool,
    /// Seed of contents and shuffles; always recorded
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// The order in which files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReadingOrder {
    /// The order in which the folder lists them
    Directory,
    /// Shuffled by the seed.
    Shuffled,
    /// By name, which is the order of writing.
    Name,
}

/// Size of the file on which contenders are warmed up, unless all files of the sweep are smaller.
pub const WARM_UP_BYTES_MAX: u64 = 1 << 20;

/// The methods that read if the user names none. The first is the method of the published
/// experiment.
const DEFAULT_METHODS: [&str; 4] =
    ["rust/whole", "rust/read@buffer=128KiB", "rust/direct@buffer=1MiB", "rust/dontcache@buffer=128KiB"];

impl SweepConfig {
    pub fn trial_names(&self) -> Vec<String> {
        if self.methods.is_empty() {
            DEFAULT_METHODS.map(str::to_owned).to_vec()
        } else {
            self.methods.clone()
        }
    }

    pub fn sizes_bytes(&self) -> Vec<u64> {
        self.sizes.as_ref().map_or_else(|| PUBLISHED_SIZES_BYTES.to_vec(), |sizes| sizes.0.clone())
    }

    /// Bytes of the files of the sweep.
    fn total_bytes(&self) -> u64 {
        self.sizes_bytes().iter().sum::<u64>().saturating_mul(u64::from(self.repeat))
    }

    /// Bytes of the files of the sweep, and of the file on which contenders are warmed up.
    pub fn written_bytes(&self) -> u64 {
        let largest = self.sizes_bytes().into_iter().max().unwrap_or(0);
        self.total_bytes().saturating_add(largest.min(WARM_UP_BYTES_MAX))
    }

    pub fn requested_names(&self) -> Vec<RequestedName> {
        self.methods.iter().cloned().map(RequestedName::Method).collect()
    }

    /// The command line that reads the kept files in this folder with the same options.
    pub fn command_to_read_again(&self, folder: &Path) -> String {
        let mut words = vec!["readlab".to_owned(), "sweep".into(), folder.to_string_lossy().into_owned()];
        words.push("--read-only".to_owned());
        words.extend(self.methods.iter().flat_map(|method| ["--method".to_owned(), method.clone()]));
        let mut with = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        if self.work != Work::Discard {
            with("--work", self.work.word());
        }
        if let Some(order) = self.order.to_possible_value().filter(|_| self.order != ReadingOrder::Directory)
        {
            with("--order", order.get_name());
            with("--seed", &self.seed.to_string());
        }
        if self.primed {
            words.push("--primed".to_owned());
        }
        shell_words::join(words)
    }
}

/// Sizes in bytes, in the order in which files are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSizes(pub Vec<u64>);

/// Fourteen decimal sizes from 10 kB to 2 GB, the number and the range of the published experiment.
pub const PUBLISHED_SIZES_BYTES: [u64; 14] = [
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    5_000_000,
    10_000_000,
    50_000_000,
    100_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
];

impl FromStr for FileSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<FileSizes, String> {
        let mut sizes = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let size = |text: &str| text.parse::<Bytes>().map_err(|error| error.to_string());
            match part.split_once("..") {
                None => sizes.push(size(part)?.0),
                Some((first, last)) => {
                    let (first, last) = (size(first)?.0, size(last)?.0);
                    if last < first {
                        return Err(format!("'{part}': the range ends before it begins"));
                    }
                    sizes.extend(sizes_in_range(first, last));
                }
            }
        }
        if sizes.is_empty() {
            return Err(format!("'{text}' names no size, such as 10kB,1MB or 10kB..2GB"));
        }
        Ok(FileSizes(sizes))
    }
}

/// The numbers 1, 2 and 5 times a power of ten from `first` to `last`, and both ends.
fn sizes_in_range(first: u64, last: u64) -> Vec<u64> {
    let powers = (0..20).map(|power| 10_u64.pow(power));
    let round = powers.flat_map(|power| [1, 2, 5].map(|step| power.saturating_mul(step)));
    let mut sizes: Vec<u64> =
        round.filter(|size| (first..=last).contains(size)).chain([first, last]).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    fn config(flags: &str) -> SweepConfig {
        let words = ["sweep", "."].into_iter().chain(flags.split_whitespace());
        let matches = SweepConfig::augment_args(Command::new("sweep")).try_get_matches_from(words).unwrap();
        SweepConfig::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn every_size_is_written_as_often_as_it_is_repeated() {
        assert_eq!(config("--sizes 10kB,1MB --repeat 3").total_bytes(), 3 * 1_010_000);
        assert_eq!(config("").sizes_bytes(), PUBLISHED_SIZES_BYTES);
    }

    #[test]
    fn the_file_for_warming_up_is_written_too_and_is_small() {
        assert_eq!(config("--sizes 10kB,20kB --repeat 3").written_bytes(), 3 * 30_000 + 20_000);
        assert_eq!(config("--sizes 2GB --repeat 1").written_bytes(), 2_000_000_000 + WARM_UP_BYTES_MAX);
    }

    #[test]
    fn the_usual_methods_read_and_are_not_requested() {
        assert_eq!(config("").trial_names(), DEFAULT_METHODS);
        assert_eq!(config("").requested_names(), []);
        let named = config("--method rust/mmap");
        assert_eq!(named.trial_names(), ["rust/mmap"]);
        assert_eq!(named.requested_names(), [RequestedName::Method("rust/mmap".to_owned())]);
    }

    #[test]
    fn the_command_for_kept_files_repeats_the_options_of_reading() {
        let folder = Path::new("/a b");
        assert_eq!(config("--seed 7").command_to_read_again(folder), "readlab sweep '/a b' --read-only");
        let flags = "--method rust/mmap --work sum --order shuffled --seed 7 --primed";
        assert_eq!(
            config(flags).command_to_read_again(folder),
            format!("readlab sweep '/a b' --read-only {flags}")
        );
    }

    fn sizes(text: &str) -> Vec<u64> {
        text.parse::<FileSizes>().unwrap().0
    }

    #[test]
    fn lists_and_ranges_may_be_mixed() {
        assert_eq!(sizes("10kB,1MiB"), [10_000, 1_048_576]);
        assert_eq!(sizes("10kB..100kB"), [10_000, 20_000, 50_000, 100_000]);
        assert_eq!(sizes("3..30,7"), [3, 5, 10, 20, 30, 7]);
        assert_eq!(sizes("0..2"), [0, 1, 2]);
    }

    #[test]
    fn malformed_sizes_are_refused() {
        for text in ["", ",", "x", "1..x", "1.5", "1GB..10kB", "1kB,3..2"] {
            assert!(text.parse::<FileSizes>().is_err(), "{text:?}");
        }
    }
}
