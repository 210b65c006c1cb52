//! Writes the scripted records of the tests into a folder, one file each.
//!
//! `cargo run --package readlab-record --example scripted FOLDER`

use readlab_record::testing::scripted;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args_os().nth(1).ok_or_else(|| io::Error::other("no folder is named"))?);
    fs::create_dir_all(&folder)?;
    scripted::names()
        .iter()
        .try_for_each(|name| fs::write(folder.join(format!("{name}.jsonl")), scripted::text(name)))
}
