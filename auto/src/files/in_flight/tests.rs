//! Tests of files in flight: sizes around a buffer, short reads, errors and panics of visits.

use super::*;
use proptest::prelude::*;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;

const BUFFER_BYTES: usize = 1000;

/// A ring, unless the kernel allows none.
fn in_ring(depth: u16, files: usize) -> Option<FilesInFlight> {
    let plan = Plan { buffer_bytes: BUFFER_BYTES, depth, direct: false };
    let prepared = Ring::new(depth).and_then(|ring| FilesInFlight::prepare(ring, &plan, files));
    prepared.inspect_err(|cause| eprintln!("SKIPPED: files in flight: {cause}")).ok()
}

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at / 7) as u8).collect()
}

/// Files with sizes around that of one buffer, and files of several buffers.
fn files(folder: &Path) -> Vec<PathBuf> {
    let sizes = [0, 1, 2, 998, 999, 1000, 1001, 1002, 1999, 2000, 2001, 2002, 10_000, 0, 5];
    let path = |(number, bytes): (usize, usize)| {
        let path = folder.join(number.to_string());
        fs::write(&path, content(bytes)).unwrap();
        path
    };
    sizes.into_iter().enumerate().map(path).collect()
}

fn bytes_of(file: &mut OneOfFiles<'_>) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    file.for_each(|offset, piece| {
        assert_eq!(offset, bytes.len() as u64);
        bytes.extend_from_slice(piece);
    })?;
    Ok(bytes)
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn every_byte_of_every_file_is_visited_in_order_at_every_depth() {
    let folder = tempfile::tempdir().unwrap();
    let paths = files(folder.path());
    for depth in [1, 2, 5, 64] {
        let Some(ring) = in_ring(depth, paths.len()) else { return };
        let mut seen = vec![0; paths.len()];
        let mut visit = |file: &mut OneOfFiles<'_>| {
            assert_eq!(file.path(), paths[file.index()]);
            assert_eq!(bytes_of(file)?, fs::read(file.path()).unwrap(), "{}", file.path().display());
            assert_eq!(bytes_of(file)?, [0; 0], "at its end a file has no further bytes");
            seen[file.index()] += 1;
            Ok(())
        };
        ring.run(&paths[..], &mut (0..paths.len()), &mut visit).unwrap();
        assert_eq!(seen, vec![1; paths.len()]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn a_file_whose_reads_end_short_of_its_end_is_read_to_its_end() {
    // Files of the kernel have a size of 0, and give as many whole lines as fit.
    let paths = ["/proc/self/limits", "/proc/kallsyms", "/proc/filesystems"];
    let Some(ring) = in_ring(2, paths.len()) else { return };
    let mut visit = |file: &mut OneOfFiles<'_>| {
        let before = fs::read(file.path())?;
        let read = bytes_of(file)?;
        // The kernel may have loaded a module in between.
        let unchanged = fs::read(file.path())? == before;
        assert!(read == before || !unchanged, "{}", file.path().display());
        Ok(())
    };
    ring.run(&paths[..], &mut (0..paths.len()), &mut visit).unwrap();
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn a_file_that_is_not_visited_to_its_end_leaves_nothing_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let paths = files(folder.path());
    let Some(ring) = in_ring(1, paths.len()) else { return };
    let mut visit = |file: &mut OneOfFiles<'_>| {
        if file.index() % 2 == 1 {
            assert_eq!(bytes_of(file)?, fs::read(file.path()).unwrap());
        }
        Ok(())
    };
    ring.run(&paths[..], &mut (0..paths.len()), &mut visit).unwrap();
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn an_error_names_the_file_that_cannot_be_opened_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut paths = files(folder.path());
    for (wrong, kind) in [
        (folder.path().join("absent"), ErrorKind::NotFound),
        (folder.path().to_owned(), ErrorKind::IsADirectory),
        (PathBuf::from("a\0b"), ErrorKind::InvalidInput),
    ] {
        paths[7] = wrong;
        let Some(ring) = in_ring(4, paths.len()) else { return };
        let run = ring.run(&paths[..], &mut (0..paths.len()), &mut |file| match kind {
            ErrorKind::NotFound => Ok(()),
            _ => bytes_of(file).map(drop),
        });
        let error = run.unwrap_err();
        assert_eq!((error.path(), error.cause().cause().kind()), (paths[7].as_path(), kind));
        let is_of_reading = kind == ErrorKind::IsADirectory;
        assert_eq!(error.cause().offset(), is_of_reading.then_some(0), "{error}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn after_an_error_or_a_panic_of_a_visit_no_file_is_left_open() {
    let folder = tempfile::tempdir().unwrap();
    let paths = files(folder.path());
    if !has_no_reader(&paths[0]) {
        return eprintln!("SKIPPED: whether files are left open: this file system gives no leases");
    }
    for panics in [false, true] {
        let Some(ring) = in_ring(4, paths.len()) else { return };
        let mut started = 0;
        let mut visit = |file: &mut OneOfFiles<'_>| match file.index() {
            6 if panics => panic!("a visit panics"),
            6 => Err(ReadError::at(3, io::Error::other("broken"))),
            _ => Ok(()),
        };
        let mut numbers = (0..paths.len()).inspect(|_| started += 1);
        let run = panic::catch_unwind(AssertUnwindSafe(|| ring.run(&paths[..], &mut numbers, &mut visit)));
        assert_eq!(run.is_err(), panics);
        if let Ok(run) = run {
            assert_eq!(run.unwrap_err().to_string(), format!("{}: broken at byte 3", paths[6].display()));
        }
        assert!(started <= 6 + 4, "{started} files were started");
        assert!(paths.iter().all(|path| has_no_reader(path)), "a file is still open");
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri has no io_uring_setup(2)")]
fn after_a_failed_wait_the_slot_is_not_used_even_if_the_visit_hides_the_error() {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, content(5 * BUFFER_BYTES)).unwrap();
    let Some(files) = in_ring(1, 1) else { return };
    let (ring, none) = (files.ring.as_raw_fd(), File::open("/dev/null").unwrap());
    let mut errors = Vec::new();
    let mut visit = |file: &mut OneOfFiles<'_>| {
        // SAFETY: the new descriptor is used nowhere else.
        let kept = unsafe { OwnedFd::from_raw_fd(libc::dup(ring)) };
        // SAFETY: the ring's descriptor number stays open, so that it is not given to another file;
        // waits on it fail.
        let replaced = unsafe { libc::dup2(none.as_raw_fd(), ring) };
        assert_eq!(replaced, ring);
        errors.extend(bytes_of(file).map_err(|error| error.to_string()).err());
        errors.extend(bytes_of(file).map_err(|error| error.to_string()).err());
        drop(kept);
        Ok(())
    };
    let run = files.run(&[&path, &path][..], &mut (0..2), &mut visit);
    let [wait, again] = &errors[..] else { panic!("{errors:?}") };
    assert!(!wait.contains("has not completed") && again.contains("has not completed"), "{errors:?}");
    let error = run.unwrap_err().to_string();
    assert!(error.contains("an earlier read of the file has not completed"), "{error}");
}

proptest! {
    #[test]
    fn short_reads_past_the_cache_lose_no_byte_whether_or_not_reads_may_begin_within_a_block(
        size in 0_usize..30_000,
        begins_within in any::<bool>(),
        most in proptest::collection::vec(prop_oneof![1_usize..9000, (1_usize..16).prop_map(|it| it * 512)], 0..12),
    ) {
        const PART_BYTES: usize = 2 * BLOCK_BYTES;
        let bytes = content(size);
        let plan = Plan { buffer_bytes: PART_BYTES, depth: 1, direct: true };
        let (mut slot, mut memory, mut seen) = (Slot::new(0, &plan), vec![0; PART_BYTES], Vec::new());
        let (mut most, mut is_within) = (most.iter(), false);
        while !slot.is_at_end {
            slot.begin(seen.len() as u64);
            while !slot.is_complete() {
                let at = slot.at as usize + slot.filled;
                let rest = bytes.get(at..).unwrap_or_default();
                if !begins_within && !rest.is_empty() && !at.is_multiple_of(512) {
                    slot.take_read(-libc::EINVAL);
                    continue;
                }
                let whole = rest.len().min(PART_BYTES - slot.filled);
                let shorter = if is_within { None } else { most.next() };
                let count = shorter.map_or(whole, |&most| most.min(whole));
                is_within = count < whole && !(at + count).is_multiple_of(512);
                memory[slot.filled..][..count].copy_from_slice(&rest[..count]);
                slot.take_read(i32::try_from(count).unwrap());
            }
            prop_assert_eq!(slot.read_error, 0);
            seen.extend_from_slice(&memory[..slot.filled]);
        }
        prop_assert!(seen == bytes, "{} of {size}", seen.len());
    }
}

/// Whether no process has the file open. A lease for writing is given only then.
fn has_no_reader(path: &Path) -> bool {
    use std::os::fd::AsRawFd;
    let file = File::options().read(true).write(true).open(path).unwrap();
    // SAFETY: the call takes no pointer.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) == 0 }
}
