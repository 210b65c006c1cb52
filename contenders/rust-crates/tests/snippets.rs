//! Tests that the snippets in advice compile with the crates that they name, and count like `wc`.
#![allow(dead_code, reason = "a snippet is a part of another program")]

use std::path::Path;
use std::process::Command;
use std::{fs, io};

#[path = "../snippets/async-fs.rs"]
mod async_fs_file;
#[path = "../snippets/bstr.rs"]
mod bstr_lines;
#[path = "../snippets/compio.rs"]
mod compio_file;
#[path = "../snippets/csv.rs"]
mod csv_records;
#[path = "../snippets/glommio-direct.rs"]
mod glommio_direct;
#[path = "../snippets/glommio.rs"]
mod glommio_file;
#[path = "../snippets/memmap2.rs"]
mod map;
#[path = "../snippets/monoio.rs"]
mod monoio_file;
#[path = "../snippets/rayon.rs"]
mod parallel_map;
#[path = "../snippets/tokio-fs.rs"]
mod tokio_file;
#[path = "../snippets/tokio-lines.rs"]
mod tokio_lines;

type Count = fn(&Path) -> io::Result<u64>;

const COUNTS: [(&str, Count); 11] = [
    ("tokio-fs", tokio_file::newlines),
    ("tokio-lines", tokio_lines::lines),
    ("async-fs", async_fs_file::newlines),
    ("compio", compio_file::newlines),
    ("monoio", monoio_file::newlines),
    ("glommio", glommio_file::newlines),
    ("glommio-direct", glommio_direct::newlines),
    ("memmap2", map::newlines),
    ("rayon", parallel_map::newlines),
    ("csv", csv_records::newlines),
    ("bstr", bstr_lines::lines),
];

/// Snippets that a kernel or a file system may refuse.
const MAY_BE_REFUSED: [&str; 4] = ["compio", "monoio", "glommio", "glommio-direct"];

#[test]
fn every_snippet_counts_like_wc() {
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let path = folder.path().join("f");
    for size in [0, 1, 4096, 131_073, 300_001, (2 << 20) + 5] {
        // The last line is terminated, so the numbers of lines and newlines are equal.
        let mut bytes: Vec<u8> = (0..size).map(|at| if at % 7 == 3 { b'\n' } else { b'x' }).collect();
        bytes.last_mut().into_iter().for_each(|last| *last = b'\n');
        fs::write(&path, &bytes).unwrap();
        let newlines = wc(&path);
        for (name, count) in COUNTS {
            match count(&path) {
                Ok(found) => assert_eq!(found, newlines, "{name} of {size} bytes"),
                Err(error) if MAY_BE_REFUSED.contains(&name) => eprintln!("SKIPPED: {name}: {error}"),
                Err(error) => panic!("{name} of {size} bytes: {error}"),
            }
        }
    }
}

#[test]
fn every_snippet_is_tested() {
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/snippets")).unwrap();
    assert_eq!(files.count(), COUNTS.len());
}

fn wc(path: &Path) -> u64 {
    let said = Command::new("wc").arg("-l").stdin(fs::File::open(path).unwrap()).output().unwrap();
    String::from_utf8(said.stdout).unwrap().trim().parse().unwrap()
}
