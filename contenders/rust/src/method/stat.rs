//! The methods `stat-readdir`, `stat-threads` and `stat-io_uring` request the status of every name
//! below a folder, as `du`, `find -size` and `git status` do. No file is opened.

use super::io_uring::{available, refusal};
use super::names::{FoundNames, NameKind, THREADS, walk, walk_by_threads};
use super::{Fault, Feeding, Method};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use io_uring::{IoUring, opcode, types};
use readlab_protocol::{Answer, Reads, Work};
use rustix::fs::FileType;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::mem;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const DEPTH: Param = Param::new("depth", 64, 1, 4096);

const STAT_DEFAULT: Method =
    Method { reads: Reads::Folder, feeding: Feeding::Own(&[Work::Stat]), ..Method::DEFAULT };

pub(super) const STAT_READDIR: Method = Method {
    name: "stat-readdir",
    about: "std::fs::read_dir of one folder after the other, and DirEntry::metadata of each name",
    build: |_| Ok(Box::new(|source: &Source, _: Visit| sizes(source))),
    ..STAT_DEFAULT
};

pub(super) const STAT_THREADS: Method = Method {
    name: "stat-threads",
    about: "threads take the folders in turn, each with std::fs::read_dir and DirEntry::metadata of each name",
    params: &[THREADS],
    build: |settings| {
        let threads = settings.size(&THREADS);
        Ok(Box::new(move |source: &Source, _: Visit| sizes_by_threads(source, threads)))
    },
    ..STAT_DEFAULT
};

pub(super) const STAT_IO_URING: Method = Method {
    name: "stat-io_uring",
    about: "std::fs::read_dir of one folder after the other, and statx of `depth` names at once in an io_uring, across \
            folders",
    params: &[DEPTH],
    build: |settings| {
        let depth = settings.size(&DEPTH);
        Ok(Box::new(move |source: &Source, _: Visit| sizes_by_ring(source, depth)))
    },
    available,
    ..STAT_DEFAULT
};

fn sizes(source: &Source) -> Result<Answer, Fault> {
    Ok(walk(source.path(), list_with_status)?.names_and_sizes_answer())
}

fn sizes_by_threads(source: &Source, threads: usize) -> Result<Answer, Fault> {
    Ok(walk_by_threads(source.path(), threads, list_with_status)?.names_and_sizes_answer())
}

fn sizes_by_ring(source: &Source, depth: usize) -> Result<Answer, Fault> {
    let entries = u32::try_from(depth.next_power_of_two()).unwrap_or(u32::MAX);
    let mut ring = IoUring::new(entries).map_err(|cause| Fault::Unavailable(refusal(&cause)))?;
    let (mut names, mut sizes) = (Vec::with_capacity(depth), FoundNames::default());
    let found = walk(source.path(), |place, found| {
        for entry in fs::read_dir(place).map_err(|cause| path_fault(place, cause))? {
            let entry = entry.map_err(|cause| path_fault(place, cause))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|cause| path_fault(&path, cause))?;
            found.add(kind.into(), || path.clone());
            let name = CString::new(path.into_os_string().into_vec());
            names.push(name.map_err(|cause| path_fault(place, cause.into()))?);
            if names.len() == depth {
                add_sizes_in_ring(&mut ring, mem::take(&mut names), &mut sizes)?;
            }
        }
        Ok(())
    })?;
    add_sizes_in_ring(&mut ring, names, &mut sizes)?;
    Ok(Answer { bytes: sizes.names_and_sizes_answer().bytes, ..found.names_answer() })
}

/// Adds the entries of a folder, with the status of each name.
fn list_with_status(place: &Path, found: &mut FoundNames) -> Result<(), Fault> {
    for entry in fs::read_dir(place).map_err(|cause| path_fault(place, cause))? {
        let entry = entry.map_err(|cause| path_fault(place, cause))?;
        let status = entry.metadata().map_err(|cause| path_fault(&entry.path(), cause))?;
        let kind = NameKind::from(status.file_type());
        found.add_size(kind, status.len());
        found.add(kind, || entry.path());
    }
    Ok(())
}

fn path_fault(path: &Path, cause: io::Error) -> Fault {
    Fault::of_file(path, cause.into())
}

/// Requests the status of all these names at once, for which the ring has room, and adds the sizes of
/// the files.
fn add_sizes_in_ring(ring: &mut IoUring, names: Vec<CString>, sizes: &mut FoundNames) -> Result<(), Fault> {
    // SAFETY: the structure has no invalid values, and zeros are valid ones.
    let mut statuses: Vec<libc::statx> = vec![unsafe { mem::zeroed() }; names.len()];
    for (number, (name, status)) in (0..).zip(names.iter().zip(&mut statuses)) {
        let place = (&raw mut *status).cast::<types::statx>();
        let entry = opcode::Statx::new(types::Fd(libc::AT_FDCWD), name.as_ptr(), place)
            .flags(libc::AT_SYMLINK_NOFOLLOW)
            .mask(libc::STATX_BASIC_STATS)
            .build()
            .user_data(number);
        // SAFETY: the name and the status stay where they are until the operation has completed. Both
        // lists are freed after all operations have completed, and never if that is not known.
        unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)?;
    }
    let results = match complete_all(ring, names.len()) {
        Ok(results) => results,
        Err(cause) => {
            mem::forget((names, statuses));
            return Err(cause.into());
        }
    };
    for (number, result) in results {
        if result < 0 {
            let path = PathBuf::from(OsStr::from_bytes(names[number].to_bytes()));
            return Err(path_fault(&path, io::Error::from_raw_os_error(-result)));
        }
        let status = &statuses[number];
        let kind = NameKind::from(FileType::from_raw_mode(u32::from(status.stx_mode)));
        sizes.add_size(kind, status.stx_size);
    }
    Ok(())
}

/// Submits all operations, waits for them, and returns the number and the result of each.
fn complete_all(ring: &mut IoUring, count: usize) -> io::Result<Vec<(usize, i32)>> {
    let mut results = Vec::with_capacity(count);
    while results.len() < count {
        match ring.submit_and_wait(count - results.len()) {
            Err(cause) if cause.kind() != io::ErrorKind::Interrupted => return Err(cause),
            _ => {}
        }
        let done = ring.completion().map(|it| (it.user_data() as usize, it.result()));
        results.extend(done);
    }
    Ok(results)
}
