//! A harness for `cargo bench` that measures readers of files with readlab.
//!
//! A crate declares its readers as functions in a benchmark with `harness = false`. The benchmark
//! is two programs in one. Started by cargo, it starts `readlab race`. Started by readlab, it is a
//! contender that reads. So every number comes from readlab, with its proofs and checks.
//!
//! ```no_run
//! use readlab_harness::{Harness, Work};
//!
//! fn main() -> std::process::ExitCode {
//!     Harness::new("my-crate", "benches/data.txt")
//!         .reader("read", Work::Discard, |path| Ok(std::fs::read(path)?.len() as u64))
//!         .main()
//! }
//! ```

#![deny(missing_docs)]

mod contender;
mod driver;
mod once;
mod options;

pub use readlab_protocol::Work;

use options::Options;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

/// The first argument by which readlab starts the benchmark as a contender.
const AS_CONTENDER: &str = "--readlab-contender";

/// The readers of one benchmark, and the file that they read.
pub struct Harness {
    name: &'static str,
    file: PathBuf,
    readers: Vec<DeclaredReader>,
}

/// The type of a function that reads a file and returns its answer.
type ReadFn = dyn Fn(&Path) -> io::Result<u64>;

/// One reader, as it was declared.
#[derive(Clone)]
struct DeclaredReader {
    name: &'static str,
    work: Work,
    read: Rc<ReadFn>,
}

/// The reason why nothing can be measured.
#[derive(Debug, thiserror::Error)]
enum UsageError {
    #[error("{0}")]
    Option(String),
    #[error("no reader's name contains '{filter}'; there are {readers}")]
    NoReader { filter: String, readers: String },
    #[error("{}: {cause}", file.display())]
    File { file: PathBuf, cause: io::Error },
    #[error("{program}: {cause}: install readlab (`cargo install readlab`), or give its path in READLAB")]
    NoProgram { program: String, cause: io::Error },
    #[error("{what}: {cause}")]
    Folder { what: String, cause: io::Error },
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let readers: Vec<&str> = self.readers.iter().map(|reader| reader.name).collect();
        f.debug_struct("Harness")
            .field("name", &self.name)
            .field("file", &self.file)
            .field("readers", &readers)
            .finish()
    }
}

impl Harness {
    /// Makes a harness for the file at a path, relative to the folder of the crate. The name is the
    /// first part of every reader's name in tables. It must differ from the names of readlab's own
    /// contenders, and consist of letters, digits, `-` and `_`.
    #[must_use]
    pub fn new(name: &'static str, file: impl Into<PathBuf>) -> Harness {
        Harness { name, file: file.into(), readers: Vec::new() }
    }

    /// Adds a reader. It opens the file, reads it whole, does the work, closes the file and returns
    /// its answer. All of this is timed. The answer is the number that the work counts: newlines,
    /// lines, the sum of 0 to 255, or the bytes that were read and discarded.
    #[must_use]
    pub fn reader(
        mut self,
        name: &'static str,
        work: Work,
        read: impl Fn(&Path) -> io::Result<u64> + 'static,
    ) -> Harness {
        self.readers.push(DeclaredReader { name, work, read: Rc::new(read) });
        self
    }

    /// Does what the arguments of the process request, and prints the results. `main` should return
    /// the exit code: 0, 1 if a reader failed or answered wrongly, 2 for wrong usage, or another
    /// exit code of readlab.
    #[must_use]
    pub fn main(self) -> ExitCode {
        let mut words = std::env::args_os().skip(1).peekable();
        if words.next_if(|word| word == AS_CONTENDER).is_some() {
            return contender::main(self, words);
        }
        let words: Vec<OsString> = words.collect();
        let done = Options::parse(words).and_then(|options| {
            if options.measures { driver::measure(&self, &options) } else { once::check(&self, &options) }
        });
        done.unwrap_or_else(|error| {
            eprintln!("{}: {error}", self.name);
            ExitCode::from(2)
        })
    }

    /// The readers whose names contain a text.
    fn matching(&self, filter: Option<&str>) -> Result<Vec<&DeclaredReader>, UsageError> {
        let filter = filter.unwrap_or_default();
        let matching: Vec<&DeclaredReader> =
            self.readers.iter().filter(|reader| reader.name.contains(filter)).collect();
        if matching.is_empty() {
            let readers: Vec<&str> = self.readers.iter().map(|reader| reader.name).collect();
            return Err(UsageError::NoReader { filter: filter.to_owned(), readers: readers.join(", ") });
        }
        Ok(matching)
    }

    /// The path of the file, if it can be read.
    fn readable(&self) -> Result<PathBuf, UsageError> {
        let whole = std::fs::File::open(&self.file).and_then(|_| self.file.canonicalize());
        whole.map_err(|cause| UsageError::File { file: self.file.clone(), cause })
    }
}
