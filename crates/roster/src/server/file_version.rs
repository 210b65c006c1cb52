//! One version of the served file as a client sees it: size, `ETag` and time; and the part of the
//! file that a request asks for.

use super::request::Request;
use jiff::Timestamp;
use std::fs::Metadata;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use xxhash_rust::xxh3::xxh3_128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileVersion {
    pub(super) size_bytes: u64,
    /// The tag in quotes. It differs between files, and changes with every write. It contains a
    /// dash like the tags of objects that were uploaded in parts, so that no client treats it as a
    /// digest of the content.
    pub(super) etag: String,
    modified_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedPart {
    Whole,
    /// A non-empty range of bytes.
    Part(Range<u64>),
    /// Several non-empty ranges of bytes, in the order of the request.
    Parts(Vec<Range<u64>>),
    /// A range beyond the end of the file.
    BeyondEnd,
    /// A part of another version, which no longer exists.
    OtherVersion,
    /// Nothing, because the client already has this version.
    NothingNew,
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
            modified_at: Timestamp::from_second(metadata.mtime()).unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }

    /// The version of content that is not a file; its modification time is 1970.
    pub fn with_etag(size_bytes: u64, etag: &str) -> FileVersion {
        FileVersion { size_bytes, etag: etag.to_owned(), modified_at: Timestamp::UNIX_EPOCH }
    }

    /// The modification time in the format of HTTP heads.
    pub fn http_modified_time(&self) -> String {
        http_time_text(self.modified_at)
    }

    /// The modification time in the format of S3 documents.
    pub(super) fn xml_modified_time(&self) -> String {
        self.modified_at.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
    }

    /// The part of the file that a request asks for.
    pub fn requested_part(&self, request: &Request) -> RequestedPart {
        if request.field("if-match").is_some_and(|tags| !self.is_among(tags)) {
            return RequestedPart::OtherVersion;
        }
        if request.field("if-none-match").is_some_and(|tags| self.is_among(tags)) {
            return RequestedPart::NothingNew;
        }
        let is_for_this = request.field("if-range").is_none_or(|tag| tag.trim() == self.etag);
        let range = request.field("range").filter(|_| is_for_this && !request.is_head());
        range.map_or(RequestedPart::Whole, |range| self.selected_part(range))
    }

    /// True if this version is in a list of tags. Some S3 clients send a single tag without quotes.
    fn is_among(&self, tags: &str) -> bool {
        let bare = self.etag.trim_matches('"');
        tags.split(',').map(str::trim).any(|tag| tag == "*" || tag == self.etag || tag == bare)
    }

    /// The bytes that a `Range` field selects; an invalid field is ignored. Of several ranges,
    /// those beyond the end are left out.
    fn selected_part(&self, ranges: &str) -> RequestedPart {
        let ranges = ranges.trim().strip_prefix("bytes=");
        let ranges: Option<Vec<Range<u64>>> =
            ranges.and_then(|ranges| ranges.split(',').map(|range| self.parse_range(range)).collect());
        let Some(mut ranges) = ranges else { return RequestedPart::Whole };
        ranges.retain(|range| !range.is_empty());
        match &ranges[..] {
            [] => RequestedPart::BeyondEnd,
            [range] => RequestedPart::Part(range.clone()),
            _ => RequestedPart::Parts(ranges),
        }
    }

    /// Parses one range and limits it to the file; `None` if it is invalid.
    fn parse_range(&self, range: &str) -> Option<Range<u64>> {
        let (from, to) = range.split_once('-')?;
        match (parse_digits(from), parse_digits(to)) {
            (Some(from), Some(to)) if from <= to => Some(from..to.saturating_add(1).min(self.size_bytes)),
            (Some(from), None) if to.trim().is_empty() => Some(from..self.size_bytes),
            (None, Some(last)) if from.trim().is_empty() => {
                Some(self.size_bytes.saturating_sub(last)..self.size_bytes)
            }
            _ => None,
        }
    }
}

/// Parses a number without a sign; `None` if there is anything but digits.
fn parse_digits(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Formats a time for the head of a response.
pub(super) fn http_time_text(time: Timestamp) -> String {
    time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(size_bytes: u64) -> FileVersion {
        let modified = "2024-02-29T01:02:03Z".parse().unwrap();
        FileVersion { size_bytes, etag: "\"ab-1\"".to_owned(), modified_at: modified }
    }

    fn requested_part(size_bytes: u64, fields: &str) -> RequestedPart {
        version(size_bytes)
            .requested_part(&Request::from_text(&format!("GET / HTTP/1.1\r\n{fields}\r\n\r\n")))
    }

    #[test]
    fn a_range_is_limited_to_the_file_or_not_satisfiable() {
        for (range, part) in [
            ("bytes=0-0", RequestedPart::Part(0..1)),
            ("bytes=0-", RequestedPart::Part(0..10)),
            ("bytes=9-9", RequestedPart::Part(9..10)),
            ("bytes=3-100", RequestedPart::Part(3..10)),
            ("bytes=3-18446744073709551615", RequestedPart::Part(3..10)),
            ("bytes=-3", RequestedPart::Part(7..10)),
            ("bytes=-100", RequestedPart::Part(0..10)),
            ("bytes=10-", RequestedPart::BeyondEnd),
            ("bytes=10-20", RequestedPart::BeyondEnd),
            ("bytes=-0", RequestedPart::BeyondEnd),
            ("bytes=5-4", RequestedPart::Whole),
            ("bytes=0-1,3-4", RequestedPart::Parts(vec![0..2, 3..5])),
            ("bytes=8-, 0-0,20-30,0-0", RequestedPart::Parts(vec![8..10, 0..1, 0..1])),
            ("bytes=3-4,20-30", RequestedPart::Part(3..5)),
            ("bytes=20-30,40-50", RequestedPart::BeyondEnd),
            ("bytes=0-1,x", RequestedPart::Whole),
            ("bytes=0-1,", RequestedPart::Whole),
            ("bytes=-", RequestedPart::Whole),
            ("bytes=a-b", RequestedPart::Whole),
            ("bytes=+1-2", RequestedPart::Whole),
            ("bytes=1", RequestedPart::Whole),
            ("bytes=99999999999999999999-", RequestedPart::Whole),
            ("lines=0-1", RequestedPart::Whole),
        ] {
            assert_eq!(requested_part(10, &format!("Range: {range}")), part, "{range}");
        }
        assert_eq!(requested_part(0, "Range: bytes=0-"), RequestedPart::BeyondEnd);
        assert_eq!(requested_part(0, "Range: bytes=-1"), RequestedPart::BeyondEnd);
    }

    #[test]
    fn a_head_request_ignores_ranges() {
        let head = Request::from_text("HEAD / HTTP/1.1\r\nRange: bytes=0-0\r\n\r\n");
        assert_eq!(version(10).requested_part(&head), RequestedPart::Whole);
    }

    #[test]
    fn conditional_requests_compare_the_etag() {
        for (fields, what) in [
            ("If-Match: \"ab-1\"", RequestedPart::Whole),
            ("If-Match: ab-1", RequestedPart::Whole),
            ("If-Match: *", RequestedPart::Whole),
            ("If-Match: \"x\", \"ab-1\"\r\nRange: bytes=1-1", RequestedPart::Part(1..2)),
            ("If-Match: \"x\"\r\nRange: bytes=1-1", RequestedPart::OtherVersion),
            ("If-Match: W/\"ab-1\"", RequestedPart::OtherVersion),
            ("If-None-Match: \"ab-1\"", RequestedPart::NothingNew),
            ("If-None-Match: \"x\"", RequestedPart::Whole),
            ("If-Range: \"ab-1\"\r\nRange: bytes=1-1", RequestedPart::Part(1..2)),
            ("If-Range: \"x\"\r\nRange: bytes=1-1", RequestedPart::Whole),
        ] {
            assert_eq!(requested_part(10, fields), what, "{fields}");
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
        // A program may restore the same size and modification time, but the change time still
        // differs.
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        std::fs::write(&path, "two").unwrap();
        file.set_modified(modified).unwrap();
        assert_ne!(version().etag, before.etag);
        assert!(before.etag.starts_with('"') && before.etag.ends_with("-1\"") && before.etag.len() == 36);
    }

    #[test]
    fn times_have_the_formats_of_http_and_s3() {
        assert_eq!(version(0).http_modified_time(), "Thu, 29 Feb 2024 01:02:03 GMT");
        assert_eq!(version(0).xml_modified_time(), "2024-02-29T01:02:03.000Z");
    }
}
