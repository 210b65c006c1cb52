//! One state of the served file, as a client sees it: its size, `ETag` and time, and which parts of
//! it a request asks for.

use super::request::Request;
use jiff::Timestamp;
use std::fs::Metadata;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use xxhash_rust::xxh3::xxh3_128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    pub(super) size_bytes: u64,
    /// In quotes. It is another for another file, or after a write. The dash is that of objects
    /// which were uploaded in parts: no client takes it for a digest of the content.
    pub(super) etag: String,
    modified: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Whole,
    /// Some bytes, at least one.
    Part(Range<u64>),
    /// Bytes beyond the end.
    Nowhere,
    /// Another version than there is.
    OtherVersion,
    /// Nothing, if the client has this version.
    IfChanged,
}

impl FileVersion {
    pub(super) fn from_metadata(metadata: &Metadata) -> FileVersion {
        let numbers = [metadata.dev(), metadata.ino(), metadata.len()];
        let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        let bytes: Vec<u8> = numbers.chain(times.iter().flat_map(|time| time.to_le_bytes())).collect();
        FileVersion {
            size_bytes: metadata.len(),
            etag: format!("\"{:032x}-1\"", xxh3_128(&bytes)),
            modified: Timestamp::from_second(metadata.mtime()).unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }

    /// Of content that is no file, and has not changed since 1970.
    pub fn with_etag(size_bytes: u64, etag: &str) -> FileVersion {
        FileVersion { size_bytes, etag: etag.to_owned(), modified: Timestamp::UNIX_EPOCH }
    }

    /// The time of its last change, as heads have times.
    pub fn modified(&self) -> String {
        head_time(self.modified)
    }

    /// The same, as documents of S3 have times.
    pub(super) fn modified_in_xml(&self) -> String {
        self.modified.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
    }

    /// What a request asks for. Several ranges are answered with the whole, as the protocol allows.
    pub fn asked(&self, request: &Request) -> Asked {
        if request.field("if-match").is_some_and(|tags| !self.is_among(tags)) {
            return Asked::OtherVersion;
        }
        if request.field("if-none-match").is_some_and(|tags| self.is_among(tags)) {
            return Asked::IfChanged;
        }
        let is_for_this = request.field("if-range").is_none_or(|tag| tag.trim() == self.etag);
        let range = request.field("range").filter(|_| is_for_this && !request.is_head());
        range.map_or(Asked::Whole, |range| self.part(range))
    }

    /// Whether this is one of a list of tags. A list without quotes is one tag: some clients of S3
    /// send that.
    fn is_among(&self, tags: &str) -> bool {
        let bare = self.etag.trim_matches('"');
        tags.split(',').map(str::trim).any(|tag| tag == "*" || tag == self.etag || tag == bare)
    }

    /// The bytes of a field `Range`; one that is none is as if it were not there.
    fn part(&self, range: &str) -> Asked {
        let Some((from, to)) = range.trim().strip_prefix("bytes=").and_then(|range| range.split_once('-'))
        else {
            return Asked::Whole;
        };
        let part = match (number(from), number(to)) {
            (Some(from), Some(to)) if from <= to => from..to.saturating_add(1).min(self.size_bytes),
            (Some(from), None) if to.trim().is_empty() => from..self.size_bytes,
            (None, Some(last)) if from.trim().is_empty() => {
                self.size_bytes.saturating_sub(last)..self.size_bytes
            }
            _ => return Asked::Whole,
        };
        if part.is_empty() { Asked::Nowhere } else { Asked::Part(part) }
    }
}

/// Digits alone, without a sign.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// A time in the head of an answer.
pub(super) fn head_time(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(size_bytes: u64) -> FileVersion {
        let modified = "2024-02-29T01:02:03Z".parse().unwrap();
        FileVersion { size_bytes, etag: "\"ab-1\"".to_owned(), modified }
    }

    fn asked(size_bytes: u64, fields: &str) -> Asked {
        version(size_bytes).asked(&Request::of_text(&format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n")))
    }

    #[test]
    fn a_range_is_within_the_file_or_nowhere() {
        for (range, part) in [
            ("bytes=0-0", Asked::Part(0..1)),
            ("bytes=0-", Asked::Part(0..10)),
            ("bytes=9-9", Asked::Part(9..10)),
            ("bytes=3-100", Asked::Part(3..10)),
            ("bytes=3-18446744073709551615", Asked::Part(3..10)),
            ("bytes=-3", Asked::Part(7..10)),
            ("bytes=-100", Asked::Part(0..10)),
            ("bytes=10-", Asked::Nowhere),
            ("bytes=10-20", Asked::Nowhere),
            ("bytes=-0", Asked::Nowhere),
            ("bytes=5-4", Asked::Whole),
            ("bytes=0-1,3-4", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("bytes=a-b", Asked::Whole),
            ("bytes=+1-2", Asked::Whole),
            ("bytes=1", Asked::Whole),
            ("bytes=99999999999999999999-", Asked::Whole),
            ("lines=0-1", Asked::Whole),
        ] {
            assert_eq!(asked(10, &format!("Range: {range}")), part, "{range}");
        }
        assert_eq!(asked(0, "Range: bytes=0-"), Asked::Nowhere);
        assert_eq!(asked(0, "Range: bytes=-1"), Asked::Nowhere);
    }

    #[test]
    fn a_head_has_no_range() {
        let head = Request::of_text("HEAD / HTTP/1.1\r\nRange: bytes=0-0\r\n\r\n");
        assert_eq!(version(10).asked(&head), Asked::Whole);
    }

    #[test]
    fn conditions_are_about_the_tag() {
        for (fields, what) in [
            ("If-Match: \"ab-1\"", Asked::Whole),
            ("If-Match: ab-1", Asked::Whole),
            ("If-Match: *", Asked::Whole),
            ("If-Match: \"x\", \"ab-1\"\r\nRange: bytes=1-1", Asked::Part(1..2)),
            ("If-Match: \"x\"\r\nRange: bytes=1-1", Asked::OtherVersion),
            ("If-Match: W/\"ab-1\"", Asked::OtherVersion),
            ("If-None-Match: \"ab-1\"", Asked::IfChanged),
            ("If-None-Match: \"x\"", Asked::Whole),
            ("If-Range: \"ab-1\"\r\nRange: bytes=1-1", Asked::Part(1..2)),
            ("If-Range: \"x\"\r\nRange: bytes=1-1", Asked::Whole),
        ] {
            assert_eq!(asked(10, fields), what, "{fields}");
        }
    }

    #[test]
    fn a_write_makes_another_version_and_a_read_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let version = || FileVersion::from_metadata(&std::fs::metadata(&path).unwrap());
        std::fs::write(&path, "one").unwrap();
        let before = version();
        std::fs::read(&path).unwrap();
        assert_eq!(version(), before);
        // The same size and time, as a program may set them: the change of the status is another.
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "two").unwrap();
        file.set_modified(modified).unwrap();
        assert_ne!(version().etag, before.etag);
        assert!(before.etag.starts_with('"') && before.etag.ends_with("-1\"") && before.etag.len() == 36);
    }

    #[test]
    fn times_are_as_the_protocols_have_them() {
        assert_eq!(version(0).modified(), "Thu, 29 Feb 2024 01:02:03 GMT");
        assert_eq!(version(0).modified_in_xml(), "2024-02-29T01:02:03.000Z");
    }
}
