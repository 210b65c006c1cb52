//! Earlier outputs of readlab: the only files that an output may replace, or that go with a run.

use crate::open_file;
use std::io::{self, Read};
use std::path::Path;

/// By its first bytes a file is known as an output of readlab; a name of a trial may be among them.
const HEAD_BYTES: u64 = 64 << 10;

/// Whether a file that begins like this is an output of one of readlab's formats.
pub type IsOutput = fn(&str) -> bool;

/// Whether nothing of the user's is lost with a file: it is empty, or an output of this format.
pub fn is_replaceable(file: &Path, is_output: IsOutput) -> io::Result<bool> {
    let file = open_file::read_without_waiting(file)?;
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head.is_empty() || is_output(&String::from_utf8_lossy(&head)))
}
