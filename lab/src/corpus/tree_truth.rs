//! The true answers about the files of a tree: the oracle's about each, added up, with the numbers
//! that prove every file.

use super::oracle::{ContinueCheck, Truth, truth_of};
use super::products::Products;
use crate::trial::Answer;
use crate::units::Nanos;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xxhash_rust::xxh3::xxh3_64;

/// A tree is text if most of its bytes are in files that are.
#[derive(Default)]
struct Sums {
    answer: Answer,
    products: Products,
    digest: u64,
    text_bytes: u64,
}

impl Sums {
    fn add(&mut self, file: &Truth) {
        let add = |all: &mut Option<u64>, one: Option<u64>| {
            *all = Some(all.unwrap_or_default() + one.unwrap_or_default());
        };
        add(&mut self.answer.bytes, file.answer.bytes);
        add(&mut self.answer.newlines, file.answer.newlines);
        add(&mut self.answer.lines, file.answer.lines);
        add(&mut self.answer.sum, file.answer.sum);
        add(&mut self.answer.files, Some(1));
        self.answer.sum = self.answer.sum.map(|sum| sum % 256);
        self.products.add(file.answer.bytes.unwrap_or_default(), &file.answer);
        // The files may be in any order.
        self.digest = self.digest.wrapping_add(xxh3_64(file.digest.as_bytes()));
        self.text_bytes += if file.text { file.answer.bytes.unwrap_or_default() } else { 0 };
    }
}

/// Reads every file once.
///
/// # Errors
/// If one cannot be opened or read, with its path; or the error of `check`, which is called with
/// the bytes so far.
pub fn truth_of_files<E>(
    paths: impl Iterator<Item = Result<PathBuf, E>>,
    check: ContinueCheck,
) -> io::Result<Truth>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let start = Instant::now();
    let mut sums = Sums::default();
    for path in paths {
        let path = path.map_err(io::Error::other)?;
        let before = sums.answer.bytes.unwrap_or_default();
        let named = |cause: io::Error| of_file(&path, &cause);
        let truth = truth_of(|| File::open(&path), &|bytes| check(before + bytes)).map_err(named)?;
        sums.add(&truth);
    }
    let is_text = sums.text_bytes * 2 >= sums.answer.bytes.unwrap_or_default();
    Ok(Truth {
        answer: sums.answer,
        products: Some(sums.products),
        digest: format!("{:016x}", sums.digest),
        text: is_text,
        archive: None,
        wall_ns: Nanos::from(start.elapsed()).0,
    })
}

fn of_file(path: &Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{}: {cause}", crate::target::shown(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn answers_add_up_and_products_are_those_counted_by_hand() {
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
        // The files have as many bytes and newlines together as two of the second.
        let products = truth(&[b"\n", b"\n\nx"]).products.unwrap();
        let twice = truth(&[b"\nx", b"\nx"]).products.unwrap();
        assert!(products.agree(&answer(3, products.newlines.into()), true));
        assert!(!products.agree(&answer(3, twice.newlines.into()), true));
    }

    #[test]
    fn a_command_need_not_prove_each_file_and_a_method_must() {
        let products = truth(&[b"\n"]).products.unwrap();
        let silent = Answer { newlines: Some(1), ..Answer::default() };
        assert!(products.agree(&silent, false) && !products.agree(&silent, true));
    }

    #[test]
    fn order_changes_no_digest_and_content_does() {
        assert_eq!(truth(&[b"a", b"b"]).digest, truth(&[b"b", b"a"]).digest);
        assert_ne!(truth(&[b"a", b"b"]).digest, truth(&[b"a", b"c"]).digest);
    }

    #[test]
    fn a_tree_is_text_if_most_bytes_are() {
        assert!(truth(&[b"long text\n", b"\0"]).text);
        assert!(!truth(&[b"t\n", b"\0\0\0\0\0"]).text);
    }

    #[test]
    fn a_file_that_is_gone_is_named() {
        let gone = PathBuf::from("/nonexistent/file");
        let error = truth_of_files([Ok::<_, Infallible>(gone)].into_iter(), &|_| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("/nonexistent/file: No such file"), "{error}");
    }
}
