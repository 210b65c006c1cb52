//! The answer to a request for several ranges: parts of the type `multipart/byteranges` (RFC 9110,
//! section 14.6), each with the range that it holds.
//!
//! A server may send the parts in another order, and may join ranges that overlap or are near each
//! other (section 15.3.7.2).

use super::Fault;
use super::client::failure;
use readlab_protocol::remote::content_range;
use std::io::{self, BufRead, Read};
use std::ops::Range;

/// Size limit of a line between two parts.
const LINE_BYTES_MAX: u64 = 8 << 10;

/// Most lines of the head of a part.
const HEAD_LINES_MAX: usize = 64;

/// Most bytes that are read after the last part.
const EPILOGUE_BYTES_MAX: u64 = 64 << 10;

/// The boundary between the parts, as a `Content-Type` names it; `None` if the type has no parts.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    let (kind, params) = content_type.split_once(';')?;
    let is_multipart = kind.trim().eq_ignore_ascii_case("multipart/byteranges");
    params.split(';').filter(|_| is_multipart).find_map(|param| {
        let (name, value) = param.split_once('=')?;
        let value = value.trim();
        let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let value = quoted.unwrap_or(value);
        (name.trim().eq_ignore_ascii_case("boundary") && !value.is_empty()).then_some(value)
    })
}

/// The parts of a body. After the head of a part, its bytes are read from the body.
pub(super) struct Parts<R> {
    body: R,
    delimiter: Vec<u8>,
    line: Vec<u8>,
    is_first: bool,
}

impl<R: BufRead> Parts<R> {
    pub(super) fn new(body: R, boundary: &str) -> Parts<R> {
        Parts { body, delimiter: format!("--{boundary}").into_bytes(), line: Vec::new(), is_first: true }
    }

    /// The range of the next part, whose bytes come next in the body; `None` after the last part.
    pub(super) fn next_range(&mut self) -> Result<Option<Range<u64>>, Fault> {
        // The line end before a boundary belongs to it. The first boundary needs none.
        if self.is_first {
            self.is_first = false;
            self.read_line()?;
            if self.line.is_empty() {
                self.read_line()?;
            }
        } else {
            let mut line_end = [0; 2];
            self.body.read_exact(&mut line_end)?;
            if line_end != *b"\r\n" {
                return Err(failure("a part has more or fewer bytes than its range"));
            }
            self.read_line()?;
        }
        if self.is_end() {
            io::copy(&mut Read::take(&mut self.body, EPILOGUE_BYTES_MAX), &mut io::sink())?;
            return Ok(None);
        }
        if self.line != self.delimiter {
            return Err(failure("a part does not begin with the boundary of the answer"));
        }
        self.read_head().map(Some)
    }

    /// The body, of which the bytes of a part are read after its head.
    pub(super) fn body(&mut self) -> &mut R {
        &mut self.body
    }

    pub(super) fn into_body(self) -> R {
        self.body
    }

    fn read_head(&mut self) -> Result<Range<u64>, Fault> {
        let mut range = None;
        for _ in 0..HEAD_LINES_MAX {
            self.read_line()?;
            if self.line.is_empty() {
                return range.ok_or_else(|| failure("a part has no Content-Range"));
            }
            let line = String::from_utf8_lossy(&self.line);
            if let Some((name, value)) = line.split_once(':')
                && name.trim().eq_ignore_ascii_case("content-range")
            {
                range = content_range(value).map(|(range, _)| range);
            }
        }
        Err(failure("the head of a part does not end"))
    }

    /// Reads a line, without its end. Only the last boundary may end with the body.
    fn read_line(&mut self) -> Result<(), Fault> {
        self.line.clear();
        Read::take(&mut self.body, LINE_BYTES_MAX).read_until(b'\n', &mut self.line)?;
        let is_ended = self.line.ends_with(b"\n");
        let length = self.line.trim_ascii_end().len();
        self.line.truncate(length);
        if is_ended || self.is_end() {
            return Ok(());
        }
        Err(failure("the answer ends before the boundary after its last part"))
    }

    /// Whether the line is the boundary after the last part.
    fn is_end(&self) -> bool {
        self.line.strip_prefix(self.delimiter.as_slice()).is_some_and(|rest| rest == b"--")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranges and bytes of all parts, or why they cannot be read.
    fn read_parts(body: &str) -> Result<Vec<(Range<u64>, String)>, String> {
        let mut parts = Parts::new(body.as_bytes(), "b");
        let mut found = Vec::new();
        while let Some(range) = parts.next_range().map_err(|fault| fault.to_string())? {
            let mut bytes = String::new();
            let length = range.end - range.start;
            Read::take(parts.body(), length).read_to_string(&mut bytes).unwrap();
            found.push((range, bytes));
        }
        Ok(found)
    }

    fn part(range: &str, bytes: &str) -> String {
        format!("--b\r\nContent-Type: text/plain\r\nContent-Range: bytes {range}\r\n\r\n{bytes}\r\n")
    }

    #[test]
    fn the_boundary_is_a_parameter_of_the_content_type() {
        for (content_type, boundary_of) in [
            ("multipart/byteranges; boundary=THIS", Some("THIS")),
            ("Multipart/ByteRanges;charset=x; Boundary=\"a b\"", Some("a b")),
            ("multipart/byteranges", None),
            ("multipart/byteranges; boundary=", None),
            ("multipart/mixed; boundary=THIS", None),
            ("text/plain; boundary=THIS", None),
        ] {
            assert_eq!(boundary(content_type), boundary_of, "{content_type}");
        }
    }

    #[test]
    fn parts_are_read_with_their_ranges_in_the_order_of_the_answer() {
        let two = part("7-9/20", "hij") + &part("0-4/20", "a\r\n--");
        let right = vec![(7..10, "hij".to_owned()), (0..5, "a\r\n--".to_owned())];
        for body in [
            format!("{two}--b--\r\n"),
            format!("\r\n{two}--b--"),
            format!("{two}--b-- \r\nan epilogue is ignored"),
            format!("{two}--b--\r\n").replace("Content-Range", "content-range"),
        ] {
            assert_eq!(read_parts(&body), Ok(right.clone()), "{body}");
        }
        assert_eq!(read_parts("--b--\r\n"), Ok(Vec::new()));
    }

    #[test]
    fn an_answer_that_is_not_made_of_parts_is_a_failure() {
        let one = part("0-2/20", "abc");
        for (body, why) in [
            (one.replace("--b", "--c"), "a part does not begin with the boundary of the answer"),
            (one.replace("--b", "--bc"), "a part does not begin with the boundary of the answer"),
            (format!("{one}--c--\r\n"), "a part does not begin with the boundary of the answer"),
            (one.clone(), "the answer ends before the boundary after its last part"),
            (String::new(), "the answer ends before the boundary after its last part"),
            (part("0-2/20", "abcd") + "--b--\r\n", "a part has more or fewer bytes than its range"),
            ("--b\r\nContent-Type: text/plain\r\n\r\nabc\r\n--b--".to_owned(), "a part has no Content-Range"),
            (part("*/20", "abc"), "a part has no Content-Range"),
            ("--b\r\n".to_owned() + &"x: y\r\n".repeat(65), "the head of a part does not end"),
            ("x".repeat(9000), "the answer ends before the boundary after its last part"),
        ] {
            assert_eq!(read_parts(&body), Err(why.to_owned()), "{body}");
        }
        // The boundary is then a part of the bytes that the range promises.
        let short = part("0-9/20", "abc") + "--b--\r\n";
        assert!(read_parts(&short).is_err());
    }
}
