//! The archive formats that methods decode: their words, their magic numbers and their file names.
//!
//! A format is recognised by the first bytes of a file. Brotli has no magic number, so a file is
//! recognised as brotli only by its name. Zstd and lz4 share the skippable frames, which may
//! precede their first frame. Then the bytes after the skippable frames decide, if they are within
//! the bytes at hand.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The environment variable of a contender with the path of a zstd dictionary, for a method that
/// decodes with one.
pub const DICTIONARY_VARIABLE: &str = "READLAB_DICTIONARY";

/// The format of a file whose content is decoded.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Archive {
    /// A zip. Its content is the content of all its entries, in the order of its directory.
    Zip,
    /// A gzip (RFC 1952), including bgzf. Its content is the content of all its members, in order.
    Gzip,
    /// Frames of zstd (RFC 8878), in order.
    Zstd,
    /// Frames of LZ4 (LZ4 Frame Format 1.6), in order.
    Lz4,
    /// Streams of xz (The .xz File Format 1.2), in order.
    Xz,
    /// Streams of bzip2, in order.
    Bzip2,
    /// Snappy in its framing format.
    Snappy,
    /// One stream of brotli (RFC 7932).
    Brotli,
}

/// The properties of a format: its word with an article, the suffix of its file names, and its
/// magic numbers.
struct Format {
    archive: Archive,
    noun: &'static str,
    suffix: &'static str,
    magics: &'static [&'static [u8]],
}

/// The magic numbers of zip are those of a file with and without entries (APPNOTE 4.3.7, 4.3.16);
/// that of gzip is for deflated content (RFC 1952, 2.3.1).
const FORMATS: [Format; 8] = [
    Format { archive: Archive::Zip, noun: "a zip", suffix: "zip", magics: &[b"PK\x03\x04", b"PK\x05\x06"] },
    Format { archive: Archive::Gzip, noun: "a gzip", suffix: "gz", magics: &[b"\x1f\x8b\x08"] },
    Format { archive: Archive::Zstd, noun: "a zstd", suffix: "zst", magics: &[b"\x28\xb5\x2f\xfd"] },
    Format { archive: Archive::Lz4, noun: "an lz4", suffix: "lz4", magics: &[b"\x04\x22\x4d\x18"] },
    Format { archive: Archive::Xz, noun: "an xz", suffix: "xz", magics: &[b"\xfd7zXZ\0"] },
    Format { archive: Archive::Bzip2, noun: "a bzip2", suffix: "bz2", magics: &[] },
    Format { archive: Archive::Snappy, noun: "a snappy", suffix: "sz", magics: &[b"\xff\x06\0\0sNaPpY"] },
    Format { archive: Archive::Brotli, noun: "a brotli", suffix: "br", magics: &[] },
];

/// Bytes of a skippable frame before its content: a magic number and the size.
const SKIPPABLE_HEAD_BYTES: usize = 8;

impl Archive {
    /// All formats.
    pub const ALL: [Archive; 8] = [
        Archive::Zip,
        Archive::Gzip,
        Archive::Zstd,
        Archive::Lz4,
        Archive::Xz,
        Archive::Bzip2,
        Archive::Snappy,
        Archive::Brotli,
    ];

    /// The word for the format in the protocol, in files and in suites.
    #[must_use]
    pub fn word(self) -> &'static str {
        let noun = self.noun();
        noun.split_once(' ').map_or(noun, |(_, word)| word)
    }

    /// The word with its article: `a zip`, `an xz`.
    #[must_use]
    pub fn noun(self) -> &'static str {
        self.format().noun
    }

    /// The suffix of file names in this format, without the dot.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        self.format().suffix
    }

    fn format(self) -> &'static Format {
        &FORMATS[self as usize]
    }

    /// The format that the first bytes of a file identify.
    #[must_use]
    pub fn by_magic(head: &[u8]) -> Option<Archive> {
        let frame = first_frame(head);
        let begins = |it: &&Format| it.magics.iter().any(|magic| frame.starts_with(magic));
        let bzip2 = is_bzip2(frame).then_some(Archive::Bzip2);
        let found = bzip2.or_else(|| FORMATS.iter().find(begins).map(|it| it.archive));
        found.filter(|it| frame.len() == head.len() || matches!(it, Archive::Zstd | Archive::Lz4))
    }

    /// The format that the name of a file identifies, for a format without a magic number.
    #[must_use]
    pub fn by_name(path: &Path) -> Option<Archive> {
        let is_brotli = path.extension().is_some_and(|suffix| suffix == Archive::Brotli.suffix());
        is_brotli.then_some(Archive::Brotli)
    }
}

/// Whether a file begins with `BZh`, a block size, and the beginning of the first block or of the
/// end mark. The first four bytes alone are not enough, because a text may begin with them.
fn is_bzip2(head: &[u8]) -> bool {
    let [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..] = head else { return false };
    rest.starts_with(b"\x31\x41\x59\x26\x53\x59") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90")
}

/// The bytes after the skippable frames at the beginning of a file, as far as they are at hand.
#[must_use]
pub fn first_frame(head: &[u8]) -> &[u8] {
    let mut frame = head;
    while let Some(next) = skip_frame(frame) {
        frame = next;
    }
    frame
}

/// The bytes after a skippable frame (RFC 8878, 3.1.2), if `head` begins with one and they are at
/// hand.
fn skip_frame(head: &[u8]) -> Option<&[u8]> {
    let [0x50..=0x5f, 0x2a, 0x4d, 0x18, size @ ..] = head else { return None };
    let size = u32::from_le_bytes(*size.first_chunk::<4>()?);
    head.get(SKIPPABLE_HEAD_BYTES..)?.get(usize::try_from(size).ok()?..)
}

impl fmt::Display for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl FromStr for Archive {
    type Err = UnknownArchive;

    fn from_str(word: &str) -> Result<Archive, UnknownArchive> {
        let found = Archive::ALL.into_iter().find(|archive| archive.word() == word);
        found.ok_or_else(|| UnknownArchive(word.to_owned()))
    }
}

/// The error for a word that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown archive '{0}' (known: {known})", known = Archive::ALL.map(Archive::word).join(", "))]
pub struct UnknownArchive(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_known_by_its_first_bytes_and_its_word() {
        for (head, archive) in [
            (&b"PK\x03\x04\x14"[..], Some(Archive::Zip)),
            (b"PK\x05\x06", Some(Archive::Zip)),
            (b"\x1f\x8b\x08\x00", Some(Archive::Gzip)),
            (b"\x28\xb5\x2f\xfd\0", Some(Archive::Zstd)),
            (b"\x04\x22\x4d\x18", Some(Archive::Lz4)),
            (b"\xfd7zXZ\0\0", Some(Archive::Xz)),
            (b"BZh91AY&SY", Some(Archive::Bzip2)),
            (b"BZh1\x17rE8P\x90", Some(Archive::Bzip2)),
            (b"\xff\x06\0\0sNaPpY", Some(Archive::Snappy)),
            (b"\x50\x2a\x4d\x18\x04\0\0\0size\x28\xb5\x2f\xfd", Some(Archive::Zstd)),
            (b"\x5f\x2a\x4d\x18\0\0\0\0\x50\x2a\x4d\x18\0\0\0\0\x04\x22\x4d\x18", Some(Archive::Lz4)),
            (b"\x50\x2a\x4d\x18\xff\xff\xff\xffsize", None),
            (b"\x50\x2a\x4d\x18\0\0\0\0PK\x03\x04", None),
            (b"\x50\x2a\x4d\x18", None),
            (b"BZh9 is how a bzip2 begins", None),
            (b"PK", None),
            (b"\x1f\x8b\x00", None),
            (b"", None),
            (b"text.zip", None),
        ] {
            assert_eq!(Archive::by_magic(head), archive, "{head:?}");
        }
        for archive in Archive::ALL {
            assert_eq!(archive.format().archive, archive);
            assert_eq!(archive.word().parse(), Ok(archive));
            assert_eq!(serde_json::to_value(archive).unwrap(), archive.word());
        }
        let said = "rar".parse::<Archive>().unwrap_err().to_string();
        assert!(said.starts_with("unknown archive 'rar' (known: zip, gzip, zstd, "), "{said}");
    }

    #[test]
    fn only_a_brotli_is_known_by_its_name() {
        assert_eq!(Archive::by_name(Path::new("/data/page.html.br")), Some(Archive::Brotli));
        for other in ["/data/a.gz", "/data/br", ".br", "/data.br/a", "a.br.txt"] {
            assert_eq!(Archive::by_name(Path::new(other)), None, "{other}");
        }
    }
}
