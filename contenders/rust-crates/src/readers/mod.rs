//! The readers: one file for each method. A reader opens the file, visits all its bytes and closes
//! it in one call. Values that belong to the program, such as a runtime, are made with the reader.

pub(crate) mod async_fs_file;
pub(crate) mod byte_lines;
pub(crate) mod compio_file;
pub(crate) mod csv_records;
pub(crate) mod glommio_direct;
pub(crate) mod glommio_file;
pub(crate) mod map;
pub(crate) mod monoio_file;
pub(crate) mod parallel_map;
pub(crate) mod tokio_file;
pub(crate) mod tokio_lines;

#[cfg(test)]
mod tests;
