//! The methods `walk`, `walk-sorted` and `walk-inode`: the files below a folder, as the crate
//! walkdir finds them, each read with read(2). The walk is a part of the reading, as in programs
//! that search or build. The three methods differ in the order within each folder.

use super::files::read_file;
use super::{Fault, Method, Reader};
use crate::files_answer::FilesAnswer;
use crate::scan::Visit;
use crate::setting::{Param, Settings};
use crate::source::Source;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Reads};
use std::path::Path;
use walkdir::{DirEntryExt, WalkDir};

const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);

pub(super) const WALK: Method = Method {
    name: "walk",
    about: "walkdir: each file below a folder in the order of getdents(2), read with read(2)",
    reads: Reads::Folder,
    params: &[BUFFER],
    build: |settings| Ok(walk(settings, |walk| walk)),
    ..Method::DEFAULT
};

pub(super) const WALK_SORTED: Method = Method {
    name: "walk-sorted",
    about: "walkdir with sort_by_file_name: each file below a folder by name, read with read(2)",
    build: |settings| Ok(walk(settings, WalkDir::sort_by_file_name)),
    ..WALK
};

pub(super) const WALK_INODE: Method = Method {
    name: "walk-inode",
    about: "walkdir with the entries of each folder by inode, the order in which many file systems store their tables; \
            each file is read with read(2)",
    build: |settings| Ok(walk(settings, |walk| walk.sort_by_key(|entry| entry.ino()))),
    ..WALK
};

/// A reader that walks a folder in this order.
fn walk(settings: &Settings, set_order: fn(WalkDir) -> WalkDir) -> Box<dyn Reader> {
    let buffer_bytes = settings.size(&BUFFER);
    Box::new(move |source: &Source, visit: Visit| {
        read_each(source.path(), set_order(WalkDir::new(source.path())), buffer_bytes, visit)
    })
}

fn read_each(folder: &Path, walk: WalkDir, buffer_bytes: usize, visit: Visit) -> Result<Answer, Fault> {
    let mut buffer = Buffer::new(buffer_bytes)?;
    let mut all = FilesAnswer::default();
    for entry in walk {
        let entry = entry.map_err(|error| not_walked(folder, error))?;
        if entry.file_type().is_file() {
            all.add(read_file(entry.path(), &mut buffer[..buffer_bytes], visit)?);
        }
    }
    Ok(all.finish())
}

fn not_walked(folder: &Path, error: walkdir::Error) -> Fault {
    let path = error.path().unwrap_or(folder).to_owned();
    Fault::OfFile { path, at: None, cause: error.into() }
}
