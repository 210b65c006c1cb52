//! Passes the input to `inputs::archive`. Its first byte chooses a format that is one stream.
#![no_main]

#[allow(dead_code)]
#[path = "../inputs.rs"]
mod inputs;

use readlab_protocol::Archive;

const STREAMS: [Archive; 6] =
    [Archive::Zstd, Archive::Lz4, Archive::Xz, Archive::Bzip2, Archive::Snappy, Archive::Brotli];

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((first, bytes)) = input.split_first() else { return };
    let file = std::env::temp_dir().join(format!("readlab-fuzz-compressed-{}", std::process::id()));
    inputs::archive(bytes, &file, STREAMS[usize::from(*first) % STREAMS.len()]);
});
