//! The methods `zip` and `gzip`, which decode an archive with zlib-rs, as a stream through one
//! buffer.
//!
//! The content of a zip is the content of all its entries in the order of its directory. Folders
//! have no content. The content of a gzip is the content of all its members. Every checksum is
//! compared: a wrong archive is an error, never shorter content. [`super::inflate`] decodes whole
//! buffers, and [`super::stream`] decodes other formats.

use super::read::drain;
use super::stream::is_at_end;
use super::{Fault, Method, Reader};
use crate::consumer::Consumer;
use crate::scan::Visit;
use crate::setting::Param;
use crate::source::Source;
use flate2::bufread::GzDecoder;
use readlab_auto::buffer::Buffer;
use readlab_protocol::{Answer, Archive};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

/// Size of the input buffer, and of the output buffer.
const BUFFER: Param = Param::new("buffer_bytes", 64 << 10, 1, 1 << 30);

pub(super) const ZIP: Method = Method {
    name: "zip",
    about: "the entries of a zip through crate zip with zlib-rs, from a buffered file into one buffer",
    decodes: &[Archive::Zip],
    params: &[BUFFER],
    build: |settings| Ok(Box::new(Unzip { buffer_bytes: settings.size(&BUFFER) })),
    ..Method::DEFAULT
};

pub(super) const GZIP: Method = Method {
    name: "gzip",
    about: "the members of a gzip through flate2 with zlib-rs, from a buffered file into one buffer",
    decodes: &[Archive::Gzip],
    params: &[BUFFER],
    build: |settings| Ok(Box::new(Gunzip { buffer_bytes: settings.size(&BUFFER) })),
    ..Method::DEFAULT
};

struct Unzip {
    buffer_bytes: usize,
}

pub(super) struct Gunzip {
    pub(super) buffer_bytes: usize,
}

impl Reader for Unzip {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let file = BufReader::with_capacity(self.buffer_bytes, File::open(source.path())?);
        let mut archive = ZipArchive::new(file).map_err(zip_fault)?;
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        for index in entries(&mut archive)? {
            let mut entry = archive.by_index(index).map_err(zip_fault)?;
            let name = entry_name(&entry);
            drain(&mut entry, &mut buffer[..self.buffer_bytes], &mut consumer)
                .map_err(|fault| entry_fault(&name, fault))?;
        }
        Ok(consumer.finish())
    }
}

/// The entries that have content, by their indices in the directory.
pub(super) fn entries<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Result<Vec<usize>, Fault> {
    let mut found = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(zip_fault)?;
        if entry.is_dir() {
            continue;
        }
        refuse_encrypted(&entry)?;
        found.push(index);
    }
    if found.is_empty() { Err(content_fault("the zip has no entries")) } else { Ok(found) }
}

/// Refuses an entry that only a password opens.
fn refuse_encrypted<R: Read>(entry: &ZipFile<'_, R>) -> Result<(), Fault> {
    if entry.encrypted() {
        Err(content_fault(format!("entry {:?} is encrypted", entry_name(entry))))
    } else {
        Ok(())
    }
}

pub(super) fn entry_name<R: Read>(entry: &ZipFile<'_, R>) -> String {
    String::from_utf8_lossy(entry.name_raw()).into_owned()
}

/// Adds the name of an entry to a fault within it.
pub(super) fn entry_fault(name: &str, fault: Fault) -> Fault {
    match fault {
        Fault::Io { cause, .. } => io::Error::new(
            cause.kind(),
            format!("entry {name:?}: {}", with_small_first_letter(&cause.to_string())),
        )
        .into(),
        fault @ (Fault::Unavailable(_) | Fault::OfFile { .. }) => fault,
    }
}

/// The fault of a zip with a wrong directory or a wrong head of an entry.
pub(super) fn zip_fault(error: ZipError) -> Fault {
    match error {
        ZipError::Io(cause) => cause.into(),
        error => content_fault(with_small_first_letter(&error.to_string())),
    }
}

/// The fault of content that does not match its archive.
pub(super) fn content_fault(reason: impl Into<String>) -> Fault {
    io::Error::new(ErrorKind::InvalidData, reason.into()).into()
}

/// The text with a small first letter, as reasons begin.
fn with_small_first_letter(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

impl Reader for Gunzip {
    fn read(&mut self, source: &Source, visit: Visit) -> Result<Answer, Fault> {
        let mut file = BufReader::with_capacity(self.buffer_bytes, File::open(source.path())?);
        let mut buffer = Buffer::new(self.buffer_bytes)?;
        let mut consumer = Consumer::new(visit);
        let mut at = 0;
        loop {
            let mut member = GzDecoder::new(&mut file);
            let fed = drain(&mut member, &mut buffer[..self.buffer_bytes], &mut consumer);
            let is_gzip = member.header().is_some();
            fed.map_err(|fault| member_fault(at, is_gzip, fault))?;
            at = file.stream_position()?;
            let is_padded = skip_zeros(&mut file)?;
            if is_at_end(&mut file)? {
                return Ok(consumer.finish());
            }
            if is_padded {
                return Err(bytes_after_last_member(at));
            }
        }
    }
}

/// Skips the zeros with which a gzip may be padded. Returns whether there were any.
fn skip_zeros(source: &mut impl BufRead) -> io::Result<bool> {
    let mut is_padded = false;
    loop {
        let zeros = match source.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            held => held?.iter().take_while(|byte| **byte == 0).count(),
        };
        if zeros == 0 {
            return Ok(is_padded);
        }
        source.consume(zeros);
        is_padded = true;
    }
}

fn bytes_after_last_member(at: u64) -> Fault {
    content_fault(format!("the content behind the last gzip member, from byte {at} on, is no gzip"))
}

pub(super) fn member_fault(at: u64, is_gzip: bool, fault: Fault) -> Fault {
    match fault {
        Fault::Io { .. } if !is_gzip && at > 0 => bytes_after_last_member(at),
        Fault::Io { cause, .. } if cause.kind() == ErrorKind::UnexpectedEof => {
            io::Error::new(ErrorKind::UnexpectedEof, "the gzip ends too early").into()
        }
        fault => fault,
    }
}
