//! The methods `lines`, `read_line`, `split` and `read_until`, with which the standard library gets
//! the lines of a file through a `BufReader`. `lines` and `read_line` make text, `split` and
//! `read_until` make bytes. `lines` and `split` allocate every line, the others reuse one buffer.
//!
//! If text is made, the standard library returns an error for a line that is not UTF-8. The line
//! still counts, because it was read and checked. Only `read_until` knows the number of bytes.

use super::{Fault, Feeding, Method};
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use readlab_protocol::{Answer, Work};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader, ErrorKind, Seek};

const LINES_BUFFER: Param = Param::new("buffer_bytes", 16 << 10, 1, 1 << 30);
const BUFFER: Param = Param::new("buffer_bytes", 8 << 10, 1, 1 << 30);

pub(super) const LINES: Method = Method {
    name: "lines",
    about: "BufReader::lines over the file: a String is made for every line",
    feeding: Feeding::Own(&[Work::Newlines, Work::Lines]),
    params: &[LINES_BUFFER],
    build: |settings| {
        let buffer_bytes = settings.size(&LINES_BUFFER);
        Ok(Box::new(move |source: &Source, _: Visit| count_lines(source, buffer_bytes)))
    },
    ..Method::DEFAULT
};

fn count_lines(source: &Source, buffer_bytes: usize) -> Result<Answer, Fault> {
    let file = File::open(source.path())?;
    let reader = BufReader::with_capacity(buffer_bytes, &file);
    let mut lines = 0;
    for line in reader.lines() {
        match line {
            Ok(line) => drop(black_box(line)),
            Err(error) if error.kind() == ErrorKind::InvalidData => {}
            Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
        }
        lines += 1;
    }
    Ok(Answer { lines: Some(lines), ..Answer::default() })
}

pub(super) const READ_LINE: Method = Method {
    name: "read_line",
    about: "BufRead::read_line over the file: every line is put into the same String",
    params: &[BUFFER],
    build: |settings| {
        let buffer_bytes = settings.size(&BUFFER);
        Ok(Box::new(move |source: &Source, _: Visit| count_by_read_line(source, buffer_bytes)))
    },
    ..LINES
};

fn count_by_read_line(source: &Source, buffer_bytes: usize) -> Result<Answer, Fault> {
    let file = File::open(source.path())?;
    let mut reader = BufReader::with_capacity(buffer_bytes, &file);
    let mut line = String::new();
    let mut lines = 0;
    loop {
        match reader.read_line(&mut line) {
            Ok(0) => return Ok(Answer { lines: Some(lines), ..Answer::default() }),
            Ok(_) => {
                black_box(line.as_str());
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {}
            Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
        }
        lines += 1;
        line.clear();
    }
}

pub(super) const SPLIT: Method = Method {
    name: "split",
    about: "BufRead::split at newlines over the file: a Vec is made for every line",
    params: &[BUFFER],
    build: |settings| {
        let buffer_bytes = settings.size(&BUFFER);
        Ok(Box::new(move |source: &Source, _: Visit| count_by_split(source, buffer_bytes)))
    },
    ..LINES
};

fn count_by_split(source: &Source, buffer_bytes: usize) -> Result<Answer, Fault> {
    let file = File::open(source.path())?;
    let reader = BufReader::with_capacity(buffer_bytes, &file);
    let mut lines = 0;
    for line in reader.split(b'\n') {
        match line {
            Ok(line) => drop(black_box(line)),
            Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
        }
        lines += 1;
    }
    Ok(Answer { lines: Some(lines), ..Answer::default() })
}

pub(super) const READ_UNTIL: Method = Method {
    name: "read_until",
    about: "BufRead::read_until a newline over the file: every line is put into the same Vec",
    params: &[BUFFER],
    build: |settings| {
        let buffer_bytes = settings.size(&BUFFER);
        Ok(Box::new(move |source: &Source, _: Visit| count_by_read_until(source, buffer_bytes)))
    },
    ..LINES
};

fn count_by_read_until(source: &Source, buffer_bytes: usize) -> Result<Answer, Fault> {
    let file = File::open(source.path())?;
    let mut reader = BufReader::with_capacity(buffer_bytes, &file);
    let mut line = Vec::new();
    let (mut bytes, mut lines) = (0, 0);
    loop {
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(count) => bytes += count as u64,
            Err(cause) => return Err(Fault::at((&file).stream_position()?, cause)),
        }
        black_box(line.as_slice());
        lines += 1;
        line.clear();
    }
    Ok(Answer { bytes: Some(bytes), lines: Some(lines), ..Answer::default() })
}
