//! The true answers about the files of a tree: the sum of the oracle's answers about each file, and
//! a proof for each file.

use super::oracle::{ContinueCheck, Truth, error_of_path, truth_until};
use super::products::Products;
use readlab_model::trial::Answer;
use readlab_system::visit::{processor_count, visit};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::xxh3_64;

/// Time between two calls of `check` while files are read.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Sums of the answers, proofs and digests of several files. A tree counts as text if most of its
/// bytes are in text files.
#[derive(Default)]
struct FileSums {
    answer: Answer,
    products: Products,
    digest: u64,
    text_bytes: u64,
}

impl FileSums {
    fn from_truth(file: &Truth) -> FileSums {
        let mut products = Products::default();
        products.add(file.answer.bytes.unwrap_or_default(), &file.answer);
        let text_bytes = if file.is_text { file.answer.bytes.unwrap_or_default() } else { 0 };
        let answer = Answer { files: Some(1), ..file.answer };
        FileSums { answer, products, digest: xxh3_64(file.digest.as_bytes()), text_bytes }
    }

    /// The sums over the files of `self` and `other` together.
    fn sum_with(self, other: FileSums) -> FileSums {
        let (one, two) = (self.answer, other.answer);
        let add =
            |one: Option<u64>, two: Option<u64>| Some(one.unwrap_or_default() + two.unwrap_or_default());
        FileSums {
            answer: Answer {
                bytes: add(one.bytes, two.bytes),
                newlines: add(one.newlines, two.newlines),
                lines: add(one.lines, two.lines),
                sum: add(one.sum, two.sum).map(|sum| sum % 256),
                files: add(one.files, two.files),
                ..one
            },
            products: self.products.sum_with(&other.products),
            digest: self.digest.wrapping_add(other.digest),
            text_bytes: self.text_bytes + other.text_bytes,
        }
    }
}

/// Reads every file once, with one thread for each processor.
pub fn truth_of_files<E>(
    paths: impl Iterator<Item = Result<PathBuf, E>> + Send,
    check: ContinueCheck,
) -> io::Result<Truth>
where
    E: std::error::Error + Send + Sync + 'static,
{
    truth_of_files_until(paths, check, || false)
}

/// Reads files that have this size together for at most `time`, for a run that compares no answer
/// with their bytes.
pub fn truth_of_some_files<E>(
    paths: impl Iterator<Item = Result<PathBuf, E>> + Send,
    size_bytes: u64,
    time: Duration,
    check: ContinueCheck,
) -> io::Result<Truth>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let (start, is_cut) = (Instant::now(), AtomicBool::new(false));
    let is_over = || {
        let is_over = start.elapsed() >= time;
        is_cut.fetch_or(is_over, Relaxed);
        is_over
    };
    let truth = truth_of_files_until(paths, check, is_over)?;
    Ok(if is_cut.into_inner() { truth.of_beginning(size_bytes) } else { truth })
}

/// Reads every file once, or some bytes and then until `is_enough` holds.
fn truth_of_files_until<E>(
    paths: impl Iterator<Item = Result<PathBuf, E>> + Send,
    check: ContinueCheck,
    is_enough: impl Fn() -> bool + Sync,
) -> io::Result<Truth>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let start = Instant::now();
    let (bytes, is_stopped) = (AtomicU64::new(0), AtomicBool::new(false));
    let read = |path: &Path| {
        // Without a byte, nothing would predict how long reading all of them takes.
        if bytes.load(Relaxed) > 0 && is_enough() {
            return Ok(FileSums::default());
        }
        let counted_bytes = Cell::new(0);
        let go_on = |file_bytes: u64| {
            bytes.fetch_add(file_bytes - counted_bytes.replace(file_bytes), Relaxed);
            if is_stopped.load(Relaxed) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
        };
        let truth = truth_until(|| File::open(path), &go_on, &is_enough);
        let truth = truth.map_err(|cause| error_of_path(path, &cause))?;
        bytes.fetch_add(truth.answer.bytes.unwrap_or_default() - counted_bytes.get(), Relaxed);
        Ok::<_, io::Error>(FileSums::from_truth(&truth))
    };
    let paths = paths.map(|path| path.map_err(io::Error::other));
    let sums = thread::scope(|scope| {
        let reading =
            scope.spawn(|| visit(paths, processor_count(), |_, path| read(path), FileSums::sum_with));
        while !reading.is_finished() {
            if let Err(error) = check(bytes.load(Relaxed)) {
                is_stopped.store(true, Relaxed);
                return Err(error);
            }
            thread::sleep(CHECK_INTERVAL);
        }
        reading.join().unwrap_or_else(|panic| resume_unwind(panic))
    })?;
    let FileSums { answer, products, digest, text_bytes } = sums.unwrap_or_default();
    let is_text = text_bytes * 2 >= answer.bytes.unwrap_or_default();
    let truth = Truth::new(answer, format!("{digest:016x}"), start.elapsed());
    Ok(Truth { products: Some(products), is_text, ..truth })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readlab_model::trial::Work;
    use std::convert::Infallible;
    use std::fs;

    fn truth(contents: &[&[u8]]) -> Truth {
        let folder = tempfile::tempdir().unwrap();
        let write = |(index, content): (usize, &&[u8])| {
            let path = folder.path().join(index.to_string());
            fs::write(&path, content).unwrap();
            Ok::<_, Infallible>(path)
        };
        let paths: Vec<_> = contents.iter().enumerate().map(write).collect();
        truth_of_files(paths.into_iter(), &|_| Ok(())).unwrap()
    }

    fn answer(newlines: u64, products: u64) -> Answer {
        Answer { newlines: Some(newlines), files: Some(2), products: Some(products), ..Answer::default() }
    }

    #[test]
    fn answers_about_files_are_summed_and_products_match_hand_counts() {
        let found = truth(&[b"a\nb", b"", b"\n\n"]);
        let Answer { bytes, newlines, lines, sum, files, .. } = found.answer;
        assert_eq!((bytes, newlines, lines, files), (Some(5), Some(3), Some(4), Some(3)));
        assert_eq!(sum, Some(97 + 10 + 98 + 20));
        let products = found.products.unwrap();
        assert_eq!((products.newlines, products.lines), (4 * 2 + 1 + 3 * 3, 4 * 3 + 1 + 3 * 3));
        assert_eq!((products.sum, products.bytes), (4 * 206 + 1 + 3 * 21, 4 * 4 + 1 + 3 * 3));
    }

    #[test]
    fn a_file_read_twice_in_place_of_another_is_refused() {
        // Both files together have as many bytes and newlines as reading the second file twice.
        let products = truth(&[b"\n", b"\n\nx"]).products.unwrap();
        let twice = truth(&[b"\nx", b"\nx"]).products.unwrap();
        assert!(products.agrees_with(Work::Newlines, &answer(3, products.newlines.into()), true));
        assert!(!products.agrees_with(Work::Newlines, &answer(3, twice.newlines.into()), true));
    }

    #[test]
    fn a_method_must_prove_each_file_and_a_command_need_not() {
        let products = truth(&[b"\n"]).products.unwrap();
        let silent = Answer { newlines: Some(1), ..Answer::default() };
        let agree = |must_prove| products.agrees_with(Work::Newlines, &silent, must_prove);
        assert!(agree(false) && !agree(true));
    }

    #[test]
    fn the_digest_depends_on_contents_and_not_on_order() {
        assert_eq!(truth(&[b"a", b"b"]).digest, truth(&[b"b", b"a"]).digest);
        assert_ne!(truth(&[b"a", b"b"]).digest, truth(&[b"a", b"c"]).digest);
    }

    #[test]
    fn a_tree_is_text_if_most_of_its_bytes_are_in_text_files() {
        assert!(truth(&[b"long text\n", b"\0"]).is_text);
        assert!(!truth(&[b"t\n", b"\0\0\0\0\0"]).is_text);
    }

    #[test]
    fn of_some_files_only_the_size_of_all_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| fs::write(path, "a line\n").unwrap());
        let read_for = |time| {
            let paths = paths.clone().into_iter().map(Ok::<_, Infallible>);
            truth_of_some_files(paths, 14, time, &|_| Ok(())).unwrap()
        };
        let some = read_for(Duration::ZERO);
        let only_size = Answer { bytes: Some(14), ..Answer::default() };
        assert_eq!((some.answer, some.products, some.is_whole), (only_size, None, false));
        assert_ne!(some.digest, "0000000000000000", "some bytes were read, which predict the time of all");
        let all = read_for(Duration::MAX);
        assert_eq!((all.answer.files, all.answer.newlines, all.is_whole), (Some(2), Some(2), true));
        assert!(all.products.is_some());
    }

    #[test]
    fn a_missing_file_of_a_tree_is_an_error_that_names_it() {
        let gone = PathBuf::from("/nonexistent/file");
        let error = truth_of_files([Ok::<_, Infallible>(gone)].into_iter(), &|_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("/nonexistent/file: No such file"), "{error}");
    }
}
