//! The ranges in the user's list, which has an offset and a length in each line. The list is read
//! once, and its ranges are checked against each target (a file, or the content of a server).

use super::FilePlaces;
use crate::target::error::refusal;
use crate::target::{Place, Target, TargetError};
use readlab_model::target::places::RangesFacts;
use readlab_model::units::Bytes;
use readlab_protocol::{BlockBytes, Part, Places};
use readlab_system::memory::page_bytes;
use readlab_system::terminal::printable::display_path;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const STANDARD_INPUT: &str = "-";

/// Largest length of a range, because methods hold a whole range in memory.
const RANGE_BYTES_MAX: u64 = 1 << 30;

/// Number of characters of a malformed line that an error shows.
const SHOWN_CHARS_MAX: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangesRequest {
    list: PathBuf,
    /// True if the ranges are read in the order of the file.
    is_sorted: bool,
    ranges: Arc<Vec<Part>>,
}

impl RangesRequest {
    /// Reads a list; `-` is standard input.
    pub fn read(list: &Path, is_sorted: bool) -> Result<RangesRequest, TargetError> {
        let failed = |cause| refusal(list, cause);
        let mut ranges = if list.as_os_str() == STANDARD_INPUT {
            parse_ranges(list, io::stdin().lock())?
        } else {
            parse_ranges(list, BufReader::new(File::open(list).map_err(failed)?))?
        };
        if ranges.is_empty() {
            return Err(TargetError::about(list, "no range in it: offset and length a line"));
        }
        if is_sorted {
            ranges.sort_unstable_by_key(|range| (range.start_bytes, range.length_bytes));
        }
        Ok(RangesRequest { list: list.to_owned(), is_sorted, ranges: Arc::new(ranges) })
    }

    /// Reads the list of a record again, if it still exists.
    pub fn from_facts(facts: &RangesFacts) -> Result<RangesRequest, TargetError> {
        if facts.list_path == STANDARD_INPUT {
            let why = "its ranges came from standard input, which does not have them again: begin anew";
            return Err(TargetError::Refused(why.to_owned()));
        }
        RangesRequest::read(Path::new(&facts.list_path), facts.is_sorted)
    }
}

impl Target {
    /// Restricts the target to these ranges. Another server must declare the size of the content,
    /// and that it answers requests for ranges.
    pub fn restrict_to_ranges(&mut self, request: &RangesRequest) -> Result<(), TargetError> {
        let (file_bytes, ranges) = (self.facts.size_bytes, &request.ranges);
        let Some(file) = self.path_for_ranges()? else { return Ok(()) };
        if let Some(beyond) = ranges.iter().find(|range| range.range().end > file_bytes) {
            let Part { start_bytes, length_bytes } = beyond;
            let file = format!("{}, which has {file_bytes} bytes", display_path(&file));
            let why = format!("{length_bytes} bytes from byte {start_bytes} end behind {file}");
            return Err(TargetError::about(&request.list, why));
        }
        let lengths: Vec<u64> = ranges.iter().map(|range| range.length_bytes).collect();
        let size_bytes: u64 = lengths.iter().sum();
        let list = if request.list.as_os_str() == STANDARD_INPUT {
            request.list.clone()
        } else {
            std::path::absolute(&request.list).unwrap_or_else(|_| request.list.clone())
        };
        let (shortest, longest) = (lengths.iter().min().copied(), lengths.iter().max().copied());
        let offsets = ranges.iter().map(|range| range.start_bytes).collect();
        let places = Places { file, block_bytes: BlockBytes::Each(lengths), offsets };
        let covered = places.covered_ranges();
        let useful_bytes: u64 = covered.iter().map(|range| range.end - range.start).sum();
        let facts = RangesFacts {
            list_path: list.to_string_lossy().into_owned(),
            is_sorted: request.is_sorted,
            read_count: ranges.len() as u64,
            shortest_bytes: shortest.unwrap_or_default(),
            longest_bytes: longest.unwrap_or_default(),
            repeated_bytes: size_bytes - useful_bytes,
            pages_bytes: bytes_of_pages(&covered, page_bytes()),
            file_bytes,
        };
        let places = Arc::new(FilePlaces::write(places)?);
        self.facts.size_bytes = size_bytes;
        self.facts.ranges = Some(facts);
        match &mut self.place {
            Place::Web(remote) => remote.ranges = Some(places),
            place => *place = Place::Blocks(places),
        }
        Ok(())
    }
}

/// Size of the pages that contain these ranges. The ranges are in the order of the file and do not
/// overlap. A page that contains several ranges counts once.
fn bytes_of_pages(covered: &[Range<u64>], page_bytes: u64) -> u64 {
    let (mut bytes, mut counted_to) = (0, 0);
    for range in covered {
        let start = (range.start - range.start % page_bytes).max(counted_to);
        let end = range.end.checked_next_multiple_of(page_bytes).unwrap_or(range.end);
        bytes += end.saturating_sub(start);
        counted_to = end;
    }
    bytes
}

/// Parses the ranges of all lines. Blank lines are ignored.
fn parse_ranges(list: &Path, mut lines: impl BufRead) -> Result<Vec<Part>, TargetError> {
    let (mut ranges, mut line) = (Vec::new(), Vec::new());
    for number in 1_u64.. {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(|cause| refusal(list, cause))? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if !text.is_empty() {
            let wrong = || {
                let shown: String = text.chars().take(SHOWN_CHARS_MAX).flat_map(char::escape_debug).collect();
                let form = "offset and length in bytes, from 1 byte to 1 GiB";
                TargetError::about(list, format!("line {number}: '{shown}' is no range: {form}"))
            };
            ranges.push(parse_range(text).ok_or_else(wrong)?);
        }
    }
    Ok(ranges)
}

/// Parses an offset and a length, separated by white space or a comma; `None` if the text is not a
/// range.
fn parse_range(text: &str) -> Option<Part> {
    let mut words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let mut next = || words.next()?.parse::<Bytes>().ok().map(|bytes| bytes.0);
    let (start_bytes, length_bytes) = (next()?, next()?);
    let is_range = words.next().is_none() && (1..=RANGE_BYTES_MAX).contains(&length_bytes);
    is_range.then_some(Part { start_bytes, length_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::source::Source;
    use crate::target::web::RemoteTarget;
    use readlab_model::target::{ServerOptions, TargetFacts};
    use readlab_protocol::Reads;

    fn parsed_ranges(list: &str) -> Result<Vec<(u64, u64)>, String> {
        let found = parse_ranges(Path::new("l"), list.as_bytes()).map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(|range| (range.start_bytes, range.length_bytes)).collect())
    }

    #[test]
    fn the_list_of_a_url_is_in_the_environment_and_its_ranges_come_from_the_whole_content() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("l");
        std::fs::write(&list, "3 4\n5 5\n18 2\n").unwrap();
        let request = RangesRequest::read(&list, false).unwrap();
        let target = |has_ranges, size_bytes| {
            let source = Source::Url("https://h/f?X-Amz-Signature=secret".parse().unwrap());
            let mut remote = RemoteTarget::new(source, &ServerOptions::default());
            remote.has_range_support = has_ranges;
            let facts = TargetFacts { path: remote.source.to_string(), size_bytes, ..TargetFacts::default() };
            let place = Place::Web(Box::new(remote));
            Target { place, part: None, copies: None, facts, evictable: Vec::new() }
        };
        for (has_ranges, size_bytes, why) in [
            (false, 20, "(Accept-Ranges)"),
            (true, 0, "(Content-Length)"),
            (true, 19, "from byte 18 end behind"),
        ] {
            let error = target(has_ranges, size_bytes).restrict_to_ranges(&request).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{error}");
        }
        let mut whole = target(true, 20);
        whole.restrict_to_range("3:4".parse().unwrap()).unwrap();
        let range = whole.facts.range.unwrap();
        assert_eq!((range.start_bytes, range.length_bytes, range.before_bytes), (3, 4, 0), "no page");
        let mut target = target(true, 20);
        target.restrict_to_ranges(&request).unwrap();
        let facts = target.facts.ranges.as_ref().unwrap();
        assert_eq!((target.facts.size_bytes, facts.repeated_bytes, facts.file_bytes), (11, 2, 20));
        let given = target.request(Reads::Url).unwrap();
        let (_, given_list) = given.env.iter().find(|(name, _)| name == "READLAB_RANGES").unwrap();
        let given_list = Places::read(Path::new(given_list)).unwrap();
        assert_eq!((given.word.to_str(), given_list.offsets), (Some("-"), vec![3, 5, 18]));
        assert!(!given_list.file.to_string_lossy().contains("secret"));
        let blocks = target.blocks().unwrap();
        let copied = blocks.copy_from(&b"abcdefghijklmnopqrst and more"[..]).unwrap();
        let content = std::fs::read(&copied.file).unwrap();
        assert_eq!((&content[3..10], &content[18..]), (&b"defghij"[..], &b"st"[..]));
        assert!(blocks.copy_from(&b"abc"[..]).unwrap_err().to_string().contains("https://h/f"));
    }

    #[test]
    fn a_page_that_contains_several_ranges_counts_once() {
        let bytes_of = |ranges: &[(u64, u64)]| {
            let (offsets, lengths) = ranges.iter().copied().unzip();
            let places = Places { file: "/f".into(), block_bytes: BlockBytes::Each(lengths), offsets };
            bytes_of_pages(&places.covered_ranges(), 4096)
        };
        let (byte, page) = ((0, 1), 4096);
        assert_eq!(bytes_of(&[]), 0);
        assert_eq!(bytes_of(&[byte, (10, 1), byte]), page);
        let over_an_edge = (4095, 2);
        assert_eq!(bytes_of(&[over_an_edge]), 2 * page);
        assert_eq!(bytes_of(&[over_an_edge, byte]), 2 * page);
        let adjacent: Vec<(u64, u64)> = (0..10_000).map(|number| (100 * number, 100)).collect();
        assert_eq!(bytes_of(&adjacent), 245 * page, "a megabyte in a hundred bytes each");
        // The uneven ranges cover the pages 0 to 3 and 24 to 36. Two of them overlap, and one is
        // within another.
        let uneven = [(100_000, 50_000), (8192, 4096), (12_000, 1000), (12_288, 1), over_an_edge];
        assert_eq!(bytes_of(&uneven), 17 * page);
    }

    #[test]
    fn each_line_of_a_list_has_an_offset_and_a_length() {
        assert_eq!(parsed_ranges("0 1\n\n 4KiB,\t64KiB \r\n7 1"), Ok(vec![(0, 1), (4096, 65_536), (7, 1)]));
        assert_eq!(parsed_ranges(""), Ok(Vec::new()));
        for (list, line) in [
            ("1", 1),
            ("0 1\nx 1", 2),
            ("0 0", 1),
            ("0 1 2", 1),
            ("0 1\n\n-1 1", 3),
            ("0 2GiB", 1),
            ("\u{1b}[1m", 1),
        ] {
            let error = parsed_ranges(list).unwrap_err();
            assert!(error.starts_with(&format!("l: line {line}: ")) && !error.contains('\u{1b}'), "{error}");
        }
    }

    #[test]
    fn the_error_for_a_range_beyond_the_end_names_the_list_and_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (file, list) = (folder.path().join("f"), folder.path().join("l"));
        std::fs::write(&file, [b'x'; 100]).unwrap();
        std::fs::write(&list, "90 10\n0 50\n40 20\n").unwrap();
        let mut target = Target::examine(&file).unwrap();
        target.restrict_to_ranges(&RangesRequest::read(&list, true).unwrap()).unwrap();
        let facts = target.facts.ranges.as_ref().unwrap();
        assert_eq!((target.facts.size_bytes, facts.read_count, facts.repeated_bytes), (80, 3, 10));
        assert_eq!((facts.shortest_bytes, facts.longest_bytes, facts.file_bytes), (10, 50, 100));
        assert_eq!(facts.pages_bytes, page_bytes());
        let Place::Blocks(blocks) = &target.place else { panic!("{:?}", target.place) };
        assert_eq!(blocks.places.offsets, [0, 40, 90]);
        std::fs::write(&list, "0 1\n95 6\n").unwrap();
        let mut target = Target::examine(&file).unwrap();
        let error =
            target.restrict_to_ranges(&RangesRequest::read(&list, false).unwrap()).unwrap_err().to_string();
        assert!(
            error.contains("l: 6 bytes from byte 95 end behind ") && error.ends_with("has 100 bytes"),
            "{error}"
        );
    }
}
