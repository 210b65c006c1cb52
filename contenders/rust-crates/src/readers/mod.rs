//! The readers, one file for each library. `open…` makes what belongs to the program, such as a
//! runtime, and returns the function that does a reading: it opens the file, visits all its bytes and
//! closes it.

pub(crate) mod async_fs_file;
pub(crate) mod compio_file;
pub(crate) mod glommio_files;
pub(crate) mod maps;
pub(crate) mod monoio_file;
pub(crate) mod records;
pub(crate) mod tokio_files;

#[cfg(test)]
mod tests;
