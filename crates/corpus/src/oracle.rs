//! The oracle: the true answers about a file or any other sequence of bytes, computed by the
//! simplest code of the lab: one read after another, and one loop for each answer.
//!
//! The oracle must not depend on what it judges, so it shares no code with any contender or scan.

use super::archive::{self, PackedFile};
use super::products::Products;
use super::tar_files::TarFiles;
use readlab_model::trial::Answer;
use readlab_model::units::Nanos;
use readlab_protocol::Archive;
use readlab_system::terminal::printable::display_path;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};
use xxhash_rust::xxh3::Xxh3;

/// Size of one read; large enough that the oracle reads a large file in seconds.
const CHUNK_BYTES: usize = 1 << 18;

/// Number of bytes at the beginning of a file that decide whether the file is text.
const HEAD_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truth {
    /// Every answer that a contender can give.
    pub answer: Answer,
    /// The sums of products that prove each file or block, if the target has several.
    pub products: Option<Products>,
    /// XXH3 of the content, 64 bits, 16 hexadecimal digits.
    pub digest: String,
    /// True if the content looks like text ([`is_text`]); its lines are then counted.
    pub is_text: bool,
    /// The kind of archive, recognised by the first bytes; `None` if it is not an archive.
    pub archive: Option<Archive>,
    /// The answers about the files in the content, if it is a tar.
    pub tar_files: Option<Answer>,
    /// How long the oracle took to read the target; if it read only a part, how long it would take at
    /// the same rate.
    pub wall_ns: u64,
    /// False if the oracle read only the beginning, or some of the files: then the answer is only the
    /// number of bytes, and the digest is that of the bytes that were read.
    pub is_whole: bool,
}

/// Computes the answers about bytes that arrive piece by piece, and their digest.
#[derive(Default)]
pub struct ContentTally {
    sums: ByteSums,
    last: Option<u8>,
    digest: Xxh3,
}

/// The counts that do not depend on the order of the bytes.
#[derive(Default)]
pub(super) struct ByteSums {
    pub(super) bytes: u64,
    pub(super) newlines: u64,
    pub(super) sum: u8,
}

impl ByteSums {
    pub(super) fn take(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.newlines += count_newlines(piece);
        self.sum = piece.iter().fold(self.sum, |sum, &byte| sum.wrapping_add(byte));
    }
}

impl ContentTally {
    pub fn take(&mut self, piece: &[u8]) {
        self.sums.take(piece);
        self.last = piece.last().copied().or(self.last);
        self.digest.update(piece);
    }

    /// Returns the answers, and the digest of all bytes.
    pub fn finish(self) -> (Answer, String) {
        let unterminated = u64::from(self.last.is_some_and(|byte| byte != b'\n'));
        let ByteSums { bytes, newlines, sum } = self.sums;
        let answer = Answer {
            bytes: Some(bytes),
            newlines: Some(newlines),
            lines: Some(newlines + unterminated),
            sum: Some(sum.into()),
            ..Answer::default()
        };
        (answer, format!("{:016x}", self.digest.digest()))
    }
}

/// Counts newlines in runs that are so short that their count fits into a byte, so that the
/// compiler can vectorise the loop. Users wait for this count, and its time is used to predict the
/// time of other readings.
fn count_newlines(piece: &[u8]) -> u64 {
    let runs = piece.chunks(usize::from(u8::MAX));
    runs.map(|run| u64::from(run.iter().fold(0_u8, |count, &byte| count + u8::from(byte == b'\n')))).sum()
}

#[derive(Default)]
struct TruthBuilder {
    tally: ContentTally,
    head: Vec<u8>,
    tar: TarFiles,
}

impl Truth {
    /// The truth about a target that is neither a text nor an archive. `wall` is how long it took to
    /// read the target.
    pub fn new(answer: Answer, digest: String, wall: Duration) -> Truth {
        let wall_ns = Nanos::from(wall).0;
        let (products, archive, tar_files) = (None, None, None);
        Truth { answer, products, digest, is_text: false, archive, tar_files, wall_ns, is_whole: true }
    }

    /// What the truth about the bytes that were read says of the target, which has this size.
    pub(super) fn of_beginning(self, size_bytes: u64) -> Truth {
        let read_bytes = self.answer.bytes.unwrap_or(0).max(1);
        let wall_ns = u128::from(self.wall_ns) * u128::from(size_bytes) / u128::from(read_bytes);
        let wall_ns = u64::try_from(wall_ns).unwrap_or(u64::MAX);
        let answer = Answer { bytes: Some(size_bytes), ..Answer::default() };
        Truth { answer, products: None, tar_files: None, wall_ns, is_whole: false, ..self }
    }
}

impl TruthBuilder {
    fn take(&mut self, piece: &[u8]) {
        self.tally.take(piece);
        self.tar.take(piece);
        self.head.extend_from_slice(&piece[..piece.len().min(HEAD_BYTES - self.head.len())]);
    }

    fn finish(self, start: Instant) -> Truth {
        let (answer, digest) = self.tally.finish();
        let (is_text, archive) = (is_text(&self.head), Archive::by_magic(&self.head));
        let tar_files = self.tar.finish(&answer);
        Truth { is_text, archive, tar_files, ..Truth::new(answer, digest, start.elapsed()) }
    }
}

/// A function that is called before every piece with the number of bytes so far. If it returns an
/// error, the reading ends.
pub type ContinueCheck<'a> = &'a dyn Fn(u64) -> io::Result<()>;

/// Reads the whole file once, without a time limit.
pub fn truth_of_file(path: &Path) -> io::Result<Truth> {
    truth_of(|| File::open(path), &|_| Ok(()))
}

/// Reads the source that `open` returns to its end, and computes the truth about its bytes.
pub fn truth_of<R: Read>(open: impl FnOnce() -> io::Result<R>, check: ContinueCheck) -> io::Result<Truth> {
    truth_until(open, check, || false)
}

/// Reads a source of this size for at most `time`, for a run that compares no answer with its bytes.
pub fn truth_of_beginning<R: Read>(
    open: impl FnOnce() -> io::Result<R>,
    size_bytes: u64,
    time: Duration,
    check: ContinueCheck,
) -> io::Result<Truth> {
    let (start, is_cut) = (Instant::now(), Cell::new(false));
    let is_over = || {
        is_cut.set(start.elapsed() >= time);
        is_cut.get()
    };
    let truth = truth_until(open, check, is_over)?;
    let is_whole = !is_cut.get() || truth.answer.bytes == Some(size_bytes);
    Ok(if is_whole { truth } else { truth.of_beginning(size_bytes) })
}

/// Reads the source to its end, or until `is_enough` holds after a piece.
pub(super) fn truth_until<R: Read>(
    open: impl FnOnce() -> io::Result<R>,
    check: ContinueCheck,
    is_enough: impl Fn() -> bool,
) -> io::Result<Truth> {
    let start = Instant::now();
    let mut source = open()?;
    let mut chunk = vec![0_u8; CHUNK_BYTES];
    let mut truth = TruthBuilder::default();
    loop {
        check(truth.tally.sums.bytes)?;
        match source.read(&mut chunk) {
            Ok(0) => return Ok(truth.finish(start)),
            Ok(got) => {
                truth.take(&chunk[..got]);
                if is_enough() {
                    return Ok(truth.finish(start));
                }
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(error_at_byte(truth.tally.sums.bytes, &cause)),
        }
    }
}

/// Adds the offset at which a read failed to its error.
pub fn error_at_byte(at: u64, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{cause} at byte {at}"))
}

/// Adds the path of a file or folder to an error about it.
pub(super) fn error_of_path(path: &Path, cause: &io::Error) -> io::Error {
    io::Error::new(cause.kind(), format!("{}: {cause}", display_path(path)))
}

/// The truth about the content of an archive, which is decoded once.
pub fn truth_of_content(packed: &PackedFile, check: ContinueCheck) -> io::Result<Truth> {
    let start = Instant::now();
    let mut truth = TruthBuilder::default();
    archive::decode(packed, &mut |piece| {
        truth.take(piece);
        check(truth.tally.sums.bytes)
    })?;
    Ok(truth.finish(start))
}

/// True if the beginning of a file looks like text: it has no zero byte, and at most one byte in
/// ten is invalid UTF-8 or a control character other than tab, newline, carriage return, form feed
/// and escape. Text in old single-byte encodings counts as text. UTF-16 does not, because its lines
/// do not end in a single byte 0x0A. An empty file is text.
pub fn is_text(head: &[u8]) -> bool {
    if head.contains(&0) {
        return false;
    }
    let odd = |c: &char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b');
    let strange: usize = if head.is_ascii() {
        // Checking bytes instead of characters takes a tenth of the time, which matters for many
        // small files.
        head.iter().filter(|&&byte| odd(&char::from(byte))).count()
    } else {
        let parts = head.utf8_chunks();
        parts.map(|part| part.invalid().len() + part.valid().chars().filter(odd).count()).sum()
    };
    strange * 10 <= head.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth_of(content: &[u8]) -> Truth {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        truth_of_file(file.path()).unwrap()
    }

    fn answer(bytes: u64, newlines: u64, lines: u64, sum: u64) -> Answer {
        let [bytes, newlines, lines, sum] = [bytes, newlines, lines, sum].map(Some);
        Answer { bytes, newlines, lines, sum, ..Answer::default() }
    }

    #[test]
    fn the_oracle_gives_answers_that_were_counted_by_hand() {
        for (content, expected) in [
            (&b""[..], answer(0, 0, 0, 0)),
            (b"\n", answer(1, 1, 1, 10)),
            (b"a", answer(1, 0, 1, 97)),
            (b"a\nb", answer(3, 1, 2, 205)),
            (b"a\r\nb\n\n", answer(6, 3, 3, 238)),
            (&[0xff, 0xff], answer(2, 0, 1, 254)),
        ] {
            assert_eq!(truth_of(content).answer, expected, "{content:?}");
        }
    }

    #[test]
    fn counting_newlines_in_a_byte_loses_none() {
        for count in [254, 255, 256, 510, 511, 65_537] {
            assert_eq!(truth_of(&vec![b'\n'; count]).answer.newlines, Some(count as u64));
        }
    }

    #[test]
    fn answers_do_not_depend_on_chunk_boundaries() {
        let content: Vec<u8> = b"0123456789\n".iter().copied().cycle().take(3 * CHUNK_BYTES + 5).collect();
        let found = truth_of(&content);
        let newlines = content.len() as u64 / 11;
        assert_eq!(found.answer.newlines, Some(newlines));
        assert_eq!(found.answer.lines, Some(newlines + 1));
        assert_eq!(found.digest, format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&content)));
    }

    #[test]
    fn of_a_beginning_the_size_and_the_kind_are_known_and_no_answer() {
        let content: Vec<u8> = b"a line\n".repeat(CHUNK_BYTES);
        let size_bytes = content.len() as u64;
        let read_for = |time| truth_of_beginning(|| Ok(&content[..]), size_bytes, time, &|_| Ok(())).unwrap();
        let beginning = read_for(Duration::ZERO);
        let only_size = Answer { bytes: Some(size_bytes), ..Answer::default() };
        assert_eq!((beginning.answer, beginning.is_whole, beginning.is_text), (only_size, false, true));
        let whole = read_for(Duration::MAX);
        assert_eq!((whole.answer.newlines, whole.is_whole), (Some(CHUNK_BYTES as u64), true));
        let declared = size_bytes * 2;
        let short = truth_of_beginning(|| Ok(&content[..]), declared, Duration::MAX, &|_| Ok(())).unwrap();
        assert_eq!((short.answer.bytes, short.is_whole), (Some(size_bytes), true), "a server declared more");
    }

    #[test]
    fn digests_match_published_values_of_xxh3() {
        assert_eq!(truth_of(b"").digest, "2d06800538d394c2");
    }

    #[test]
    fn text_is_recognized() {
        let latin1 = b"Stra\xdfe und Gr\xf6\xdfe, wie man es fr\xfcher schrieb.\n";
        for text in
            [&b""[..], b"plain\n", "Größe\t\u{20ac}\r\n".as_bytes(), latin1, b"\x1b[1mbold\x1b[0m text\n"]
        {
            assert!(is_text(text), "{text:?}");
        }
        for other in [&b"has a\0zero"[..], b"\x7fELF\x02\x01\x01", b"\xff\xfea\x01b\x02", &[0x9f; 100]] {
            assert!(!is_text(other), "{other:?}");
        }
    }

    #[test]
    fn a_character_cut_off_at_the_end_of_the_head_does_not_make_it_binary() {
        let long = "ö".repeat(HEAD_BYTES);
        assert!(is_text(&long.as_bytes()[..HEAD_BYTES - 1]));
    }
}
