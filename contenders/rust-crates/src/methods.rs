//! The list of all methods, in the order of reports: names, works, parameters and one sentence each.

use crate::readers::{async_fs_file, compio_file, glommio_files, maps, monoio_file, records, tokio_files};
use readlab_protocol::contender::{Job, Method, ReadTarget};
use readlab_protocol::serve::Refusal;
use readlab_protocol::setting::Param;
use readlab_protocol::{Cache, Reads, Work};
use std::thread;

const fn buffer(default: u64) -> Param {
    Param::new("buffer_bytes", default, 1, 1 << 30)
}

/// The parameter of rayon, whose default is the number of processors.
fn threads() -> Param {
    let processors = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    Param { default: processors, ..THREADS }
}

/// The size of the caller's buffer, for which a library has no default. The default here is that of
/// `rust/read`.
pub(crate) const BUFFER: Param = buffer(256 << 10);
/// The default is the number of bytes that Tokio's `File` reads at once.
pub(crate) const TOKIO_BUFFER: Param = buffer(2 << 20);
/// The largest size of a read of Tokio's `File`, with its default.
pub(crate) const TOKIO_MAX_BUF: Param = Param::new("max_buf_bytes", 2 << 20, 1, 1 << 30);
/// The default is that of the standard library's `BufReader`, of Tokio's and of csv's.
pub(crate) const READER_BUFFER: Param = buffer(8 << 10);
/// The default is that of glommio's `StreamReaderBuilder`.
pub(crate) const GLOMMIO_BUFFER: Param = buffer(4 << 10);
/// The default is that of glommio's `DmaStreamReaderBuilder`, which only works with powers of two.
pub(crate) const DIRECT_BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 4096, 1 << 30);
/// Number of buffers that are read ahead, with the default of `DmaStreamReaderBuilder`.
pub(crate) const READ_AHEAD: Param = Param::new("depth", 4, 1, 1024);
/// The size of a chunk, for which Rayon has no default.
pub(crate) const CHUNK: Param = Param::new("chunk_bytes", 1 << 20, 1 << 10, 1 << 30);
pub(crate) const THREADS: Param = Param::new("threads", 1, 1, 1024);

/// Mapped memory is read only when it is touched.
const MAPPED: &[Work] = &[Work::Newlines, Work::Lines, Work::Sum];
const MAPPED_IN_ANY_ORDER: &[Work] = &[Work::Newlines, Work::Sum];
const LINES: &[Work] = &[Work::Newlines, Work::Lines];

/// Makes a method for files in the page cache that works on any Linux.
fn method(
    name: &'static str,
    about: &'static str,
    works: &'static [Work],
    params: Vec<Param>,
    open: fn(Job) -> Result<Box<dyn ReadTarget>, Refusal>,
) -> Method {
    let (cache, reads) = (Cache::Through, Reads::File);
    Method { name, about, works, cache, reads, ranges: false, tls: false, params, available: || Ok(()), open }
}

/// Every method: first those with a runtime, then the others.
pub(crate) fn all() -> Vec<Method> {
    vec![
        method(
            "tokio-fs",
            "tokio::fs::File: read into a Vec in a loop, on the pool of a runtime that is made before",
            &Work::OF_BYTES,
            vec![TOKIO_BUFFER, TOKIO_MAX_BUF],
            tokio_files::open_file,
        ),
        method(
            "tokio-lines",
            "lines of tokio::io::BufReader over tokio::fs::File: a String is made for every line",
            LINES,
            vec![READER_BUFFER],
            tokio_files::open_lines,
        ),
        method(
            "async-fs",
            "async_fs::File, of smol: read into a Vec in a loop; a thread reads ahead into a pipe of 8 MiB",
            &Work::OF_BYTES,
            vec![BUFFER],
            async_fs_file::open,
        ),
        Method {
            available: compio_file::available,
            ..method(
                "compio",
                "compio::fs::File: read_at into a Vec in a loop, on io_uring; the runtime is made before",
                &Work::OF_BYTES,
                vec![BUFFER],
                compio_file::open,
            )
        },
        Method {
            available: monoio_file::available,
            ..method(
                "monoio",
                "monoio::fs::File: read_at into a Vec in a loop, on io_uring; the runtime is made before",
                &Work::OF_BYTES,
                vec![BUFFER],
                monoio_file::open,
            )
        },
        Method {
            available: glommio_files::available,
            ..method(
                "glommio",
                "glommio::io::StreamReader over BufferedFile: read into a Vec in a loop; the executor is made before",
                &Work::OF_BYTES,
                vec![GLOMMIO_BUFFER],
                glommio_files::open_buffered,
            )
        },
        Method {
            cache: Cache::Bypass,
            available: glommio_files::available,
            ..method(
                "glommio-direct",
                "glommio::io::DmaStreamReader over DmaFile: get_buffer_aligned; the executor is made before",
                &Work::OF_BYTES,
                vec![DIRECT_BUFFER, READ_AHEAD],
                glommio_files::open_direct,
            )
        },
        method("memmap2", "memmap2::Mmap of the whole file, visited at once", MAPPED, Vec::new(), maps::open),
        method(
            "rayon",
            "memmap2::Mmap, visited by par_chunks of rayon; the pool is made before",
            MAPPED_IN_ANY_ORDER,
            vec![CHUNK, threads()],
            maps::open_in_chunks,
        ),
        method(
            "csv",
            "csv::Reader: every record is read into the same ByteRecord; newlines by the reader's position",
            &[Work::Newlines],
            vec![READER_BUFFER],
            records::open_csv,
        ),
        method(
            "bstr",
            "bstr's for_byte_line over BufReader: every line is a slice of the buffer where it can be",
            LINES,
            vec![READER_BUFFER],
            records::open_lines,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_defaults_are_in_their_ranges() {
        let methods = all();
        let names: BTreeSet<&str> = methods.iter().map(|method| method.name).collect();
        assert_eq!(names.len(), methods.len());
        for method in &methods {
            assert!(!method.works.is_empty() && method.about.len() > 10, "{}", method.name);
            for param in &method.params {
                assert!((param.min..=param.max).contains(&param.default), "{} {}", method.name, param.name);
            }
            assert!(method.params.is_sorted_by_key(|param| param.name), "{}", method.name);
        }
    }
}
