//! The true answers about the names below a folder: the number of names of each kind, and the sum
//! of the sizes of all files. No byte of a file is read.
//!
//! This walk shares no code with the contenders that it judges. It uses the standard library and
//! requests the status of each name, while contenders may trust the kind that a folder lists.

use super::oracle::{ContinueCheck, Truth, error_of_path};
use readlab_model::trial::Answer;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// Counts of the names that were found so far by kind, the sum of the file sizes, and a digest of
/// all names.
#[derive(Default)]
struct NameSums {
    files: u64,
    folders: u64,
    links: u64,
    others: u64,
    bytes: u64,
    digest: u64,
}

/// Walks the folder once. `check` is called after each folder with the number of names so far.
pub fn truth_of_names(folder: &Path, check: ContinueCheck) -> io::Result<Truth> {
    let start = Instant::now();
    let mut found = NameSums::default();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        let entries = fs::read_dir(&place).map_err(|cause| error_of_path(&place, &cause))?;
        for entry in entries {
            let path = entry.map_err(|cause| error_of_path(&place, &cause))?.path();
            if found.add(folder, &path).map_err(|cause| error_of_path(&path, &cause))? {
                open.push(path);
            }
        }
        check(found.name_count())?;
    }
    Ok(found.into_truth(start))
}

impl NameSums {
    /// Adds a name, and returns whether it is a folder. The digest does not depend on the order.
    fn add(&mut self, folder: &Path, path: &Path) -> io::Result<bool> {
        let status = fs::symlink_metadata(path)?;
        let kind = status.file_type();
        let (count, size_bytes) = match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
            (true, ..) => (&mut self.files, status.len()),
            (_, true, _) => (&mut self.folders, 0),
            (_, _, true) => (&mut self.links, 0),
            _ => (&mut self.others, 0),
        };
        *count += 1;
        self.bytes += size_bytes;
        let name = path.strip_prefix(folder).unwrap_or(path).as_os_str().as_bytes();
        let said = [name, &[0], &size_bytes.to_le_bytes(), &[u8::from(kind.is_dir())]].concat();
        self.digest = self.digest.wrapping_add(xxh3_64(&said));
        Ok(kind.is_dir())
    }

    fn name_count(&self) -> u64 {
        self.files + self.folders + self.links + self.others
    }

    fn into_truth(self, start: Instant) -> Truth {
        let answer = Answer {
            bytes: Some(self.bytes),
            files: Some(self.files),
            folders: Some(self.folders),
            links: Some(self.links),
            other_names: Some(self.others),
            names: Some(self.name_count()),
            ..Answer::default()
        };
        Truth::new(answer, format!("{:016x}", self.digest), start.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    fn truth_of_folder(folder: &Path) -> Truth {
        truth_of_names(folder, &|_| Ok(())).unwrap()
    }

    #[test]
    fn names_are_counted_by_kind_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("one"), [b'x'; 10]).unwrap();
        fs::write(at("a/b/two"), [b'x'; 300]).unwrap();
        fs::write(at(".hidden"), "").unwrap();
        fs::hard_link(at("one"), at("a/again")).unwrap();
        symlink("..", at("a/loop")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        drop(UnixListener::bind(at("socket")).unwrap());
        let found = truth_of_folder(folder.path());
        let Answer { bytes, files, folders, links, other_names, names, .. } = found.answer;
        assert_eq!((files, folders, links, other_names), (Some(4), Some(2), Some(2), Some(1)));
        assert_eq!((names, bytes), (Some(9), Some(320)), "a file counts once for each of its names");
        assert_eq!(truth_of_folder(folder.path()).digest, found.digest);
        fs::write(at("one"), [b'x'; 11]).unwrap();
        assert_ne!(truth_of_folder(folder.path()).digest, found.digest);
    }

    #[test]
    fn an_absent_folder_is_named_and_a_failing_check_ends_the_walk() {
        let folder = tempfile::tempdir().unwrap();
        let gone = truth_of_names(&folder.path().join("gone"), &|_| Ok(())).unwrap_err().to_string();
        assert!(gone.contains("/gone: No such file"), "{gone}");
        let stopped = truth_of_names(folder.path(), &|_| Err(io::ErrorKind::Interrupted.into()));
        assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
    }
}
