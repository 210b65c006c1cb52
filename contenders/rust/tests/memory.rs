//! Test of the memory that a contender keeps between its turns. It is alone in its file, because
//! the tests of one file share a process.

use readlab_rust::serve::serve;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

#[test]
fn resident_gives_its_memory_back_after_each_turn() {
    const FILE_BYTES: u64 = 64 << 20;
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(FILE_BYTES).unwrap();
    let words = ["read", "resident", "iterator", "sum", file.path().to_str().unwrap()].map(OsString::from);
    let mut lab = Scale { most_pages: resident_pages() + FILE_BYTES / 2 / 4096, turns: 0 };
    let code = serve(words, &mut &b"go 0 1\ngo 0 1\n"[..], &mut lab);
    assert_eq!((code, lab.turns), (ExitCode::SUCCESS, 2));
}

/// A lab that weighs the process when a turn is over.
struct Scale {
    most_pages: u64,
    turns: usize,
}

impl Write for Scale {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.starts_with(b"{\"say\":\"sample\"") {
            self.turns += 1;
            assert!(resident_pages() < self.most_pages);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Pages of this process that are in memory.
fn resident_pages() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}
