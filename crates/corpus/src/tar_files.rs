//! The answers about the files in a tar, computed while the bytes of the tar arrive. A folder and a
//! tar of it have the same files, although the bytes of the tar also contain headers.
//!
//! The bytes that belong to no file are counted: headers, padding, and the data of extended
//! headers. Subtracting these counts from the answers about all bytes gives the answers about the
//! files. The formats are ustar, pax and GNU. A tar with sparse files, or with a file of 8 GiB or
//! more in the format pax, is not recognised as a tar.

use super::oracle::ByteSums;
use readlab_model::trial::Answer;

/// Headers, and the data after them, fill whole blocks of this size.
const BLOCK_BYTES: usize = 512;

/// Positions of the fields in a header.
const SIZE_FIELD: std::ops::Range<usize> = 124..136;
const CHECKSUM_FIELD: std::ops::Range<usize> = 148..156;
const KIND_OFFSET: usize = 156;
const MAGIC_FIELD: std::ops::Range<usize> = 257..262;

/// Reads the headers of a tar, and skips the bytes of its files.
#[derive(Default)]
pub(super) struct TarFiles {
    /// The bytes of the current header that have arrived.
    header: Vec<u8>,
    /// Number of bytes of the current file that have not arrived yet.
    file_left_bytes: u64,
    /// Number of bytes of padding or of an extended header that have not arrived yet.
    other_left_bytes: u64,
    file_count: u64,
    /// Sums over the bytes that belong to no file.
    other_bytes: ByteSums,
    /// True if a block of zeros has arrived, which ends the tar.
    has_ended: bool,
    /// True if the bytes so far cannot be those of a tar.
    is_not_tar: bool,
}

impl TarFiles {
    pub(super) fn take(&mut self, mut piece: &[u8]) {
        while !piece.is_empty() && !self.is_not_tar {
            if self.has_ended {
                // Bytes other than zeros after the end belong to another tar, or to a file that is
                // too large for its header.
                self.is_not_tar |= piece.iter().any(|byte| *byte != 0);
                self.other_bytes.take(piece);
                return;
            }
            piece = if self.file_left_bytes > 0 {
                let (now, rest) = split_at_most(piece, self.file_left_bytes);
                self.file_left_bytes -= now.len() as u64;
                rest
            } else if self.other_left_bytes > 0 {
                let (now, rest) = split_at_most(piece, self.other_left_bytes);
                self.other_bytes.take(now);
                self.other_left_bytes -= now.len() as u64;
                rest
            } else {
                let (now, rest) = split_at_most(piece, (BLOCK_BYTES - self.header.len()) as u64);
                self.header.extend_from_slice(now);
                if self.header.len() == BLOCK_BYTES {
                    let header = std::mem::take(&mut self.header);
                    self.other_bytes.take(&header);
                    self.is_not_tar = self.follow_header(&header).is_none();
                }
                rest
            };
        }
    }

    /// Determines from a header how many bytes of a file and of padding follow it; `None` if these
    /// bytes are not a header, or if the tar ends before any file.
    fn follow_header(&mut self, header: &[u8]) -> Option<()> {
        if header.iter().all(|byte| *byte == 0) {
            self.has_ended = true;
            return (self.file_count > 0).then_some(());
        }
        let sum_of = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        // The checksum is the sum of the header's bytes, with spaces in the checksum field.
        let sum = sum_of(header) - sum_of(&header[CHECKSUM_FIELD]) + 8 * u64::from(b' ');
        if header[MAGIC_FIELD] != *b"ustar" || parse_number(&header[CHECKSUM_FIELD])? != sum {
            return None;
        }
        let size_bytes = parse_number(&header[SIZE_FIELD])?;
        let padded_bytes = size_bytes.checked_next_multiple_of(BLOCK_BYTES as u64)?;
        match header[KIND_OFFSET] {
            b'0' | 0 | b'7' => {
                // The data of a sparse file in the format pax is a map and parts of the file.
                if header[..100].windows(14).any(|name| name == b"GNUSparseFile.") {
                    return None;
                }
                self.file_count += 1;
                (self.file_left_bytes, self.other_left_bytes) = (size_bytes, padded_bytes - size_bytes);
            }
            // Links, devices, folders and pipes have no data.
            b'1'..=b'6' => {}
            // Extended headers: of pax, and long names of GNU.
            b'x' | b'g' | b'K' | b'L' => self.other_left_bytes = padded_bytes,
            _ => return None,
        }
        Some(())
    }

    /// The answers about the files, computed from the answers about all bytes; `None` if the bytes
    /// are not a whole tar.
    pub(super) fn finish(self, all: &Answer) -> Option<Answer> {
        let is_whole = self.header.is_empty() && self.file_left_bytes == 0 && self.other_left_bytes == 0;
        if self.is_not_tar || !is_whole || self.file_count == 0 {
            return None;
        }
        let ByteSums { bytes, newlines, sum } = self.other_bytes;
        Some(Answer {
            bytes: all.bytes?.checked_sub(bytes),
            newlines: all.newlines?.checked_sub(newlines),
            sum: Some((all.sum? + 256 - u64::from(sum)) % 256),
            files: Some(self.file_count),
            ..Answer::default()
        })
    }
}

/// Splits a piece after this many bytes, or at its end if it is shorter.
fn split_at_most(piece: &[u8], bytes: u64) -> (&[u8], &[u8]) {
    piece.split_at(usize::try_from(bytes).unwrap_or(usize::MAX).min(piece.len()))
}

/// Parses a number in a field of a header: octal digits, or GNU's form for large numbers, which is
/// a byte of 128 and then a big-endian number.
fn parse_number(field: &[u8]) -> Option<u64> {
    match field {
        [0x80, large @ ..] => {
            large.iter().try_fold(0_u64, |all, byte| all.checked_mul(256)?.checked_add(u64::from(*byte)))
        }
        digits => {
            let digits = std::str::from_utf8(digits.split(|byte| *byte == 0).next()?).ok()?.trim();
            if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::ContentTally;

    /// A header of this kind, followed by its data and padding.
    fn entry(kind: u8, name: &str, data: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; BLOCK_BYTES];
        entry[..name.len()].copy_from_slice(name.as_bytes());
        entry[SIZE_FIELD].copy_from_slice(format!("{:011o}\0", data.len()).as_bytes());
        entry[CHECKSUM_FIELD].fill(b' ');
        entry[KIND_OFFSET] = kind;
        entry[MAGIC_FIELD].copy_from_slice(b"ustar");
        let sum: u64 = entry.iter().map(|byte| u64::from(*byte)).sum();
        entry[CHECKSUM_FIELD].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        entry.extend_from_slice(data);
        entry.resize(entry.len().next_multiple_of(BLOCK_BYTES), 0);
        entry
    }

    /// The answers about the files of a tar that arrives in pieces of this size.
    fn files_of(tar: &[u8], piece_bytes: usize) -> Option<Answer> {
        let (mut files, mut tally) = (TarFiles::default(), ContentTally::default());
        for piece in tar.chunks(piece_bytes) {
            files.take(piece);
            tally.take(piece);
        }
        files.finish(&tally.finish().0)
    }

    fn tar() -> Vec<u8> {
        let long = "line\n".repeat(200);
        [
            entry(b'x', "header", b"30 mtime=1350244992.023960108\n"),
            entry(b'5', "folder/", b""),
            entry(b'0', "folder/a\nb", b"one\ntwo"),
            entry(b'2', "folder/link", b""),
            entry(0, "long", long.as_bytes()),
            entry(b'0', "empty", b""),
            vec![0; 2 * BLOCK_BYTES],
        ]
        .concat()
    }

    #[test]
    fn headers_and_padding_are_not_content_whatever_the_size_of_the_pieces() {
        let content = [b"one\ntwo".to_vec(), "line\n".repeat(200).into_bytes()].concat();
        let sum = content.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let expected = Answer {
            bytes: Some(1007),
            newlines: Some(201),
            sum: Some(sum.into()),
            files: Some(3),
            ..Answer::default()
        };
        for piece_bytes in [1, 500, 512, 700, 1 << 18] {
            assert_eq!(files_of(&tar(), piece_bytes), Some(expected), "{piece_bytes}");
        }
    }

    #[test]
    fn bytes_that_are_no_whole_tar_have_no_files() {
        let whole = tar();
        let mut broken = whole.clone();
        broken[5] ^= 1;
        let sparse = entry(b'S', "sparse", b"");
        let folder = [entry(b'5', "folder/", b""), vec![0; 2 * BLOCK_BYTES]].concat();
        let two = [whole.clone(), whole.clone()].concat();
        // In the format pax, a header says 0 bytes of a file that is too large for it.
        let (small, large) = (entry(b'0', "small", b"x"), entry(b'0', "large", b""));
        let large = [small, large, vec![0; 2 * BLOCK_BYTES], b"data".to_vec()].concat();
        let pax_sparse = entry(b'0', "GNUSparseFile.7/sparse", b"map and data");
        for (bytes, what) in [
            (&two[..], "two tars"),
            (&large, "a large file"),
            (&pax_sparse, "sparse in the format pax"),
            (&whole[..BLOCK_BYTES * 4 - 1], "cut"),
            (&broken, "a wrong checksum"),
            (&sparse, "sparse"),
            (&folder, "no file"),
            (b"plain text\n", "text"),
            (&[0; 2048], "zeros"),
            (b"", "empty"),
        ] {
            assert_eq!(files_of(bytes, 4096), None, "{what}");
        }
    }

    #[test]
    fn numbers_are_octal_or_as_gnu_writes_large_ones() {
        assert_eq!(parse_number(b"00000000017\0"), Some(15));
        assert_eq!(parse_number(b"   17 \0     "), Some(15));
        assert_eq!(parse_number(&[0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1]), Some((2 << 32) + 1));
        assert_eq!((parse_number(b"9\0"), parse_number(&[0xff; 12])), (None, None));
    }
}
