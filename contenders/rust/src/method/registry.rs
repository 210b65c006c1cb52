//! The list of all methods, in the order of reports.

use super::*;

pub static ALL: &[Method] = &[
    controls::NULL,
    controls::RESIDENT,
    limits::COPY,
    limits::PAGE_FAULTS,
    limits::DEVICE,
    limits::SYSCALL,
    files::OPENS,
    files_device::FILES_DEVICE,
    places::PLACES_NULL,
    places::PLACES_COPY,
    places::PLACES_FAULTS,
    places::PLACES_DEVICE,
    server_limits::LOOPBACK,
    server_limits::DECRYPTION,
    decoder::DECODER,
    auto::AUTO,
    auto::AUTO_SAFE,
    lines::LINES,
    lines::READ_LINE,
    lines::SPLIT,
    lines::READ_UNTIL,
    whole::READ_TO_STRING,
    buffered::BUFFERED,
    read::READ,
    read::DONTCACHE,
    read_ahead::READ_AHEAD,
    whole::WHOLE,
    whole::FS_READ,
    pread::PREAD,
    vectored::VECTORED,
    direct::DIRECT,
    mmap::MMAP,
    io_uring::IO_URING,
    io_uring::IO_URING_VECTORED,
    archive::ZIP,
    inflate::ZIP,
    archive::GZIP,
    inflate::GZIP,
    gzip_blocks::GZIP_BLOCKS,
    stream::ZSTD,
    zstd_frames::ZSTD_FRAMES,
    stream::LZ4,
    stream::XZ,
    stream::BZIP2,
    stream::SNAPPY,
    stream::BROTLI,
    http::HTTP,
    http_ranged::HTTP_RANGED,
    places::HTTP_RANGES,
    places::HTTP_MULTIRANGE,
    files::FILES_AUTO,
    files::FILES_THREADS,
    files::FILES_IO_URING,
    files::FILES_AHEAD,
    walk::WALK,
    walk::WALK_SORTED,
    walk::WALK_INODE,
    names::NAMES_READDIR,
    names::NAMES_GETDENTS,
    names::NAMES_THREADS,
    stat::STAT_READDIR,
    stat::STAT_THREADS,
    stat::STAT_IO_URING,
    places::PLACES_PREAD,
    places::PLACES_PREADV,
    places::PLACES_MMAP,
    places::PLACES_IO_URING,
    places::PLACES_DIRECT,
    places::PLACES_AHEAD,
];

pub fn find(name: &str) -> Option<&'static Method> {
    ALL.iter().find(|method| method.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{Param, Settings};
    use readlab_protocol::Work;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_valid_in_a_trial() {
        let names: BTreeSet<&str> = ALL.iter().map(|method| method.name).collect();
        assert_eq!(names.len(), ALL.len());
        for name in names {
            assert!(
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
            );
        }
    }

    #[test]
    fn every_method_has_a_description_and_a_work() {
        for method in ALL {
            assert!(method.about.len() > 10, "{}", method.name);
            assert!(Work::ALL.iter().any(|work| !method.scans(*work).is_empty()), "{}", method.name);
        }
    }

    #[test]
    fn every_method_accepts_its_defaults_and_the_ends_of_its_ranges() {
        for method in ALL {
            for param in method.params {
                assert!((param.min..=param.max).contains(&param.default), "{} {}", method.name, param.name);
                assert_eq!(method.params.iter().filter(|other| other.name == param.name).count(), 1);
            }
            let mut settings = Settings::resolve(method.params, []).unwrap();
            assert!((method.build)(&mut settings).is_ok(), "{}", method.name);
            for value in [|param: &Param| param.min, |param: &Param| param.max] {
                let given = method.params.iter().map(|param| (param.name, value(param)));
                let mut settings = Settings::resolve(method.params, given).unwrap();
                assert!((method.build)(&mut settings).is_ok(), "{}", method.name);
            }
        }
    }

    #[test]
    fn params_are_listed_in_their_display_order() {
        for method in ALL {
            assert!(method.params.is_sorted_by_key(|param| param.name), "{}", method.name);
        }
    }
}
