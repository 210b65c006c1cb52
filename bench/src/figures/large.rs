//! Figure: files larger than a 32-bit number. Every byte method of every contender reads them once,
//! and its answer is compared with the correct one. A method may fail with a reason; a wrong number
//! is an error.
//!
//! They are full of newlines, so that counts leave 32 bits as sizes do; and sparse ones, which cost
//! no disk, for the methods that deliver only.

use crate::outcomes;
use crate::programs::{Programs, Race};
use crate::row::Row;
use anyhow::Context;
use readlab_model::trial::CacheState;
use readlab_record::Record;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(super) const ABOUT: &str =
    "large: files of 2^31 and 2^32 ± 1 bytes through every method; answers checked; 4.3 GB of disk";

const SIZES: [(&str, u64); 4] =
    [("2^31", 1 << 31), ("2^32 - 1", (1 << 32) - 1), ("2^32", 1 << 32), ("2^32 + 1", (1 << 32) + 1)];
/// Contenders whose loops count four thousand million newlines within seconds.
const QUICK: [&str; 11] = [
    "rust/*/avx512*",
    "rust/*/memchr",
    "rust/auto",
    "c/*/loop",
    "cpp/ifstream.read/loop",
    "go/*/Count",
    "java/*/loop",
    "swift/read/for-unsafe",
    "swift/FileHandle/for-unsafe",
    "python/read/count",
    "node/readSync/loop",
];
const ONCE: [&str; 8] = ["--warmup", "0", "--runs", "1", "--fills", "1", "--budget", "20m"];

pub(super) fn measure(programs: &Programs) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, size_bytes) in SIZES {
        let file = Temporary::sparse(programs, size_bytes)?;
        let found = race(programs, &file.0, &["--work", "discard"], &["*"]);
        rows.push(outcomes::row(format!("{name} bytes delivered"), found));
    }
    let file = Temporary::newlines(programs, SIZES[3].1)?;
    rows.push(outcomes::row(
        "2^32 + 1 newlines counted".to_owned(),
        race(programs, &file.0, &["--work", "newlines"], &QUICK),
    ));
    Ok(rows)
}

fn race(programs: &Programs, file: &Path, options: &[&str], methods: &[&str]) -> anyhow::Result<Record> {
    let methods: Vec<&str> = methods.iter().flat_map(|method| ["--method", *method]).collect();
    let options = [&ONCE, options, &methods].concat();
    programs.race(&Race {
        name: "large",
        trials: &[],
        file,
        state: Some(CacheState::Warm),
        options: &options,
    })
}

/// A file that goes away.
struct Temporary(PathBuf);

impl Temporary {
    /// A sparse file: the system returns zeros.
    fn sparse(programs: &Programs, size_bytes: u64) -> anyhow::Result<Temporary> {
        let file = Temporary(programs.folder().join("large.bin"));
        let made = File::create(&file.0).and_then(|made| made.set_len(size_bytes));
        made.with_context(|| file.0.display().to_string())?;
        Ok(file)
    }

    /// With nothing but newlines.
    fn newlines(programs: &Programs, size_bytes: u64) -> anyhow::Result<Temporary> {
        let file = Temporary(programs.folder().join("large.txt"));
        let piece = vec![b'\n'; 1 << 20];
        let write = || {
            let mut made = File::create(&file.0)?;
            let mut left = size_bytes;
            while left > 0 {
                let part = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
                made.write_all(&piece[..part])?;
                left -= part as u64;
            }
            made.sync_all()
        };
        write().with_context(|| file.0.display().to_string())?;
        Ok(file)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may not be there; then there is nothing to take away.
        let _ = std::fs::remove_file(&self.0);
    }
}
