//! Earlier outputs of readlab. Only these may be replaced by an output or removed with their run.

use crate::open_file;
use std::io::{self, Read};
use std::path::Path;

/// Number of bytes at the start of a file by which an output of readlab is recognised. It is large
/// because a format may have the name of a trial before the text that identifies it.
const HEAD_BYTES: u64 = 64 << 10;

/// A function that returns true for the first characters of an output of readlab in one format.
pub type OutputPredicate = fn(&str) -> bool;

/// True if no data of the user is lost with the file: it is empty, or `is_output` accepts its
/// beginning.
pub fn is_replaceable(file: &Path, is_output: OutputPredicate) -> io::Result<bool> {
    let file = open_file::open_without_waiting(file)?;
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head.is_empty() || is_output(&String::from_utf8_lossy(&head)))
}
