//! The configuration of a sweep: which files are written, and how each of them is read.

use super::sizes::{PUBLISHED, Sizes};
use clap::ValueEnum;
use readlab_model::trial::Work;
use readlab_record::{Requested, WriteWay};
use readlab_targets::corpus::recipe::CorpusKind;
use std::path::{Path, PathBuf};

/// What one sweep does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepConfig {
    /// Where the folder of files is made; with `read_only`, a folder that was kept.
    pub dir: PathBuf,
    /// The sizes; `None` for those of the published experiment.
    pub sizes: Option<Sizes>,
    /// Files of each size.
    pub repeat: u32,
    /// What the files hold.
    pub fill: CorpusKind,
    /// How the files are written.
    pub write: WriteWay,
    /// The order of reading.
    pub order: Order,
    /// The trials that the user named.
    pub methods: Vec<String>,
    /// What is done with the bytes.
    pub work: Work,
    /// No more than this is written.
    pub max_bytes: Option<u64>,
    /// Whether each file is read once, untimed, before its timed reading.
    pub primed: bool,
    /// Whether the files are kept.
    pub keep: bool,
    /// Whether nothing is written.
    pub read_only: bool,
    /// Seed of contents and shuffles.
    pub seed: u64,
}

/// The order in which files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// The order in which the folder lists them
    Directory,
    /// Shuffled by the seed.
    Shuffled,
    /// By name, which is the order of writing.
    Name,
}

/// The methods that read unless others are named. The first is that of the publication.
const METHODS: [&str; 4] =
    ["rust/whole", "rust/read@buffer=128KiB", "rust/direct@buffer=1MiB", "rust/dontcache@buffer=128KiB"];

impl SweepConfig {
    /// The names of the trials that read each file.
    pub fn trials(&self) -> Vec<String> {
        if self.methods.is_empty() { METHODS.map(str::to_owned).to_vec() } else { self.methods.clone() }
    }

    /// The sizes in the order in which they are written.
    pub fn size_list(&self) -> Vec<u64> {
        self.sizes.as_ref().map_or_else(|| PUBLISHED.to_vec(), |sizes| sizes.0.clone())
    }

    /// The bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.size_list().iter().sum::<u64>().saturating_mul(u64::from(self.repeat))
    }

    /// What the user expects to see measured.
    pub fn requested(&self) -> Vec<Requested> {
        self.methods.iter().cloned().map(Requested::Method).collect()
    }

    /// The command that reads the kept files in this folder in the same way.
    pub fn again(&self, folder: &Path) -> String {
        let mut words = vec!["readlab".to_owned(), "sweep".into(), folder.to_string_lossy().into_owned()];
        words.push("--read-only".to_owned());
        words.extend(self.methods.iter().flat_map(|method| ["--method".to_owned(), method.clone()]));
        let mut with = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
        if self.work != Work::Discard {
            with("--work", self.work.word());
        }
        if let Some(order) = self.order.to_possible_value().filter(|_| self.order != Order::Directory) {
            with("--order", order.get_name());
            with("--seed", &self.seed.to_string());
        }
        if self.primed {
            words.push("--primed".to_owned());
        }
        shell_words::join(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> SweepConfig {
        SweepConfig {
            dir: PathBuf::from("."),
            sizes: Some("10kB,1MB".parse().unwrap()),
            repeat: 3,
            fill: CorpusKind::A,
            write: WriteWay::Plain,
            order: Order::Directory,
            methods: Vec::new(),
            work: Work::Discard,
            max_bytes: None,
            primed: false,
            keep: true,
            read_only: false,
            seed: 7,
        }
    }

    #[test]
    fn every_size_is_written_as_often_as_it_is_repeated() {
        assert_eq!(config().total_bytes(), 3 * 1_010_000);
        assert_eq!(SweepConfig { sizes: None, ..config() }.size_list(), PUBLISHED);
    }

    #[test]
    fn the_usual_methods_read_and_are_not_requested() {
        assert_eq!(config().trials(), METHODS);
        assert_eq!(config().requested(), []);
        let named = SweepConfig { methods: vec!["rust/mmap".to_owned()], ..config() };
        assert_eq!(named.trials(), ["rust/mmap"]);
        assert_eq!(named.requested(), [Requested::Method("rust/mmap".to_owned())]);
    }

    #[test]
    fn the_command_for_kept_files_repeats_the_options_of_reading() {
        let folder = Path::new("/a b");
        assert_eq!(config().again(folder), "readlab sweep '/a b' --read-only");
        let other = SweepConfig {
            order: Order::Shuffled,
            methods: vec!["rust/mmap".to_owned()],
            work: Work::Sum,
            primed: true,
            ..config()
        };
        let words = "readlab sweep '/a b' --read-only --method rust/mmap --work sum --order shuffled --seed 7 --primed";
        assert_eq!(other.again(folder), words);
    }
}
