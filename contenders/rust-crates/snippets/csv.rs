// needs: the crate csv
use csv::{ByteRecord, ReaderBuilder};
use std::io;
use std::path::Path;

const BUFFER_BYTES: usize = 8192; // = buffer_bytes

/// Reads every record of a file without headers; counts newlines, those in quoted fields as well.
pub fn newlines(path: &Path) -> io::Result<u64> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES);
    let mut reader = builder.from_path(path)?;
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        // The fields of the record: record.iter()
    }
    // Lines are counted from 1.
    Ok(reader.position().line() - 1)
}
