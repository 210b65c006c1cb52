//! Earlier outputs of readlab. Only these may be replaced by an output or removed with their run.

use crate::open_file;
use std::io::{self, Read};
use std::path::Path;

/// Number of bytes at the start of a file by which an output of readlab is recognised; they may
/// contain the name of a trial.
const HEAD_BYTES: u64 = 64 << 10;

/// A check whether a file with this beginning is an output of one of readlab's formats.
pub type IsOutput = fn(&str) -> bool;

/// True if no data of the user is lost with the file: it is empty, or an output of this format.
pub fn is_replaceable(file: &Path, is_output: IsOutput) -> io::Result<bool> {
    let file = open_file::open_without_waiting(file)?;
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head.is_empty() || is_output(&String::from_utf8_lossy(&head)))
}
