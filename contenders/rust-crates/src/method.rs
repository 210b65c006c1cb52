//! The list of all methods, in the order of reports: names, works, parameters and one sentence each.

use crate::failure::Failure;
use crate::readers::{
    async_fs_file, byte_lines, compio_file, csv_records, glommio_direct, glommio_file, map, monoio_file,
    parallel_map, tokio_file, tokio_lines,
};
use crate::request::{Request, Work};
use crate::tally::Answer;
use std::thread;

/// A way of reading, as it is listed.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) works: &'static [Work],
    pub(crate) cache: Cache,
    pub(crate) params: Vec<Param>,
    /// Checks that the method works on this machine.
    pub(crate) available: fn() -> Result<(), Failure>,
    /// Makes a reader, with its runtime.
    pub(crate) open: fn(&Request) -> Result<Box<dyn Reader>, Failure>,
}

/// How a method uses the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cache {
    Through,
    Bypass,
}

/// A setting of a method; the name carries its unit.
#[derive(Clone, Copy, serde::Serialize)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) default: u64,
    min: u64,
    max: u64,
}

/// A method with its settings, for any number of readings.
pub(crate) trait Reader {
    /// One whole reading: all of it is the window.
    fn read(&mut self) -> Result<Answer, Failure>;
}

impl Param {
    const fn new(name: &'static str, default: u64, min: u64, max: u64) -> Param {
        Param { name, default, min, max }
    }

    const fn buffer(default: u64) -> Param {
        Param::new("buffer_bytes", default, 1, 1 << 30)
    }

    /// Rayon's own default: as many threads as processors.
    fn threads() -> Param {
        let processors = thread::available_parallelism().map_or(1, |count| count.get() as u64);
        Param::new(THREADS.name, processors, THREADS.min, THREADS.max)
    }
}

/// The caller's own buffer, of which a library has no default: that of `rust/read`.
pub(crate) const BUFFER: Param = Param::buffer(256 << 10);
/// As many bytes as Tokio's `File` reads at once.
pub(crate) const TOKIO_BUFFER: Param = Param::buffer(2 << 20);
/// What Tokio's `File` reads at once; its default.
pub(crate) const TOKIO_MAX_BUF: Param = Param::new("max_buf_bytes", 2 << 20, 1, 1 << 30);
/// The default of the standard library's `BufReader`, of Tokio's and of csv's.
pub(crate) const READER_BUFFER: Param = Param::buffer(8 << 10);
/// The default of glommio's `StreamReaderBuilder`.
pub(crate) const GLOMMIO_BUFFER: Param = Param::buffer(4 << 10);
/// The default of glommio's `DmaStreamReaderBuilder`, which only works with powers of two.
pub(crate) const DIRECT_BUFFER: Param = Param::new("buffer_bytes", 128 << 10, 4096, 1 << 30);
/// Buffers that are read ahead; the default of `DmaStreamReaderBuilder`.
pub(crate) const READ_AHEAD: Param = Param::new("depth", 4, 1, 1024);
/// The size of a chunk, which Rayon has no default of.
pub(crate) const CHUNK: Param = Param::new("chunk_bytes", 1 << 20, 1 << 10, 1 << 30);
pub(crate) const THREADS: Param = Param::new("threads", 1, 1, 1024);

const IN_ORDER: &[Work] = &Work::ALL;
/// Mapped memory is read only when it is touched.
const MAPPED: &[Work] = &[Work::Newlines, Work::Lines, Work::Sum];
const MAPPED_IN_ANY_ORDER: &[Work] = &[Work::Newlines, Work::Sum];
const LINES: &[Work] = &[Work::Newlines, Work::Lines];

/// Every method: first the runtimes, then what needs none.
pub(crate) fn all() -> Vec<Method> {
    runtimes().into_iter().chain(plain()).collect()
}

fn runtimes() -> [Method; 7] {
    let through = |name, about, params, available, open| Method {
        name,
        about,
        works: IN_ORDER,
        cache: Cache::Through,
        params,
        available,
        open,
    };
    [
        through(
            "tokio-fs",
            "tokio::fs::File: read into a Vec in a loop, on the pool of a runtime that is made before",
            vec![TOKIO_BUFFER, TOKIO_MAX_BUF],
            anywhere,
            tokio_file::open,
        ),
        Method {
            works: LINES,
            ..through(
                "tokio-lines",
                "lines of tokio::io::BufReader over tokio::fs::File: a String is made for every line",
                vec![READER_BUFFER],
                anywhere,
                tokio_lines::open,
            )
        },
        through(
            "async-fs",
            "async_fs::File, of smol: read into a Vec in a loop; a thread reads ahead into a pipe of 8 MiB",
            vec![BUFFER],
            anywhere,
            async_fs_file::open,
        ),
        through(
            "compio",
            "compio::fs::File: read_at into a Vec in a loop, on io_uring; the runtime is made before",
            vec![BUFFER],
            compio_file::available,
            compio_file::open,
        ),
        through(
            "monoio",
            "monoio::fs::File: read_at into a Vec in a loop, on io_uring; the runtime is made before",
            vec![BUFFER],
            monoio_file::available,
            monoio_file::open,
        ),
        through(
            "glommio",
            "glommio::io::StreamReader over BufferedFile: read into a Vec in a loop; the executor is made before",
            vec![GLOMMIO_BUFFER],
            glommio_file::available,
            glommio_file::open,
        ),
        Method {
            cache: Cache::Bypass,
            ..through(
                "glommio-direct",
                "glommio::io::DmaStreamReader over DmaFile: get_buffer_aligned; the executor is made before",
                vec![DIRECT_BUFFER, READ_AHEAD],
                glommio_file::available,
                glommio_direct::open,
            )
        },
    ]
}

fn plain() -> [Method; 4] {
    let through = |name, about, works, params, open| Method {
        name,
        about,
        works,
        cache: Cache::Through,
        params,
        available: anywhere,
        open,
    };
    [
        through("memmap2", "memmap2::Mmap of the whole file, visited at once", MAPPED, Vec::new(), map::open),
        through(
            "rayon",
            "memmap2::Mmap, visited by par_chunks of rayon; the pool is made before",
            MAPPED_IN_ANY_ORDER,
            vec![CHUNK, Param::threads()],
            parallel_map::open,
        ),
        through(
            "csv",
            "csv::Reader: every record is read into the same ByteRecord; newlines by the reader's position",
            &[Work::Newlines],
            vec![READER_BUFFER],
            csv_records::open,
        ),
        through(
            "bstr",
            "bstr's for_byte_line over BufReader: every line is a slice of the buffer where it can be",
            LINES,
            vec![READER_BUFFER],
            byte_lines::open,
        ),
    ]
}

/// Of what needs nothing beyond any Linux.
fn anywhere() -> Result<(), Failure> {
    Ok(())
}

impl Method {
    /// The parameter and the value in name=value.
    pub(crate) fn setting(&self, word: &str) -> Result<(&'static str, u64), Failure> {
        let (name, digits) = word.split_once('=').unwrap_or((word, ""));
        let param = self.params.iter().find(|param| param.name == name);
        let param = param.ok_or_else(|| Failure::new(format!("{} has no parameter {name:?}", self.name)))?;
        match digits.parse() {
            Ok(value) if (param.min..=param.max).contains(&value) => Ok((param.name, value)),
            _ => Err(Failure::new(format!(
                "{name} must be an integer from {} to {}, got {digits:?}",
                param.min, param.max
            ))),
        }
    }
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
